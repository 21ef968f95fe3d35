#!/usr/bin/env bash
# Every mechanism has its page and its test beside it, and the page has its parts. Usage: mechanism_files.sh [ROOT]
set -euo pipefail
cd "${1:-.}"
bad=0
complain() { echo "$*"; bad=1; }
found=0
for header in src/gauze/mechanism/*.h; do
  [[ $header == *_internal.h ]] && continue
  grep -q 'Release<.*run(' "$header" || continue  # helpers without a run() are no mechanisms
  found=$((found + 1))
  stem=${header%.h}
  [[ -f $stem.md ]] || complain "$header has no page ${stem##*/}.md"
  grep -lq "\"gauze/mechanism/${header##*/}\"" src/gauze/mechanism/*_test.cc || complain "no test includes $header"
  for line in Privacy Accuracy Numerics Argument; do
    grep -q "^///* *$line " "$header" || complain "$header does not say its $line"
  done
  grep -rq "\"gauze/mechanism/${header##*/}\"" src/gauze/mechanism/register*.cc || complain "$header is not in the registry"
done
((found)) || complain "found no mechanisms"
# Every page that the registry names exists.
while read -r page; do
  [[ -f $page ]] || complain "the registry names $page, which does not exist"
done < <(grep -rhoE 'src/gauze/[a-z_/]+\.md' src/gauze --include='register*.cc' | sort -u)
exit $bad

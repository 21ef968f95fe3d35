#!/usr/bin/env bash
# The tables in tests/mutation are in order: each text to break is found exactly once, each test exists, and every test that
# docs/known-bugs.md and docs/checks.md name is made to fail by a mutation of its row. Whether it does fail is what
# tests/mutation/run finds out. Usage: mutations.sh [ROOT]
set -euo pipefail
cd "${1:-.}"
# shellcheck source=tests/mutation/table.sh
source tests/mutation/table.sh
read_tables
wrong=0
complain() {
  echo "tests/mutation: $*" >&2
  wrong=1
}

declare -A exists=() named=() broken=()
while read -r name; do exists[$name]=1; done < <(
  grep -rhoE '^TEST(_F|_P)?\([A-Za-z]+, *[A-Za-z0-9_]+' src tests | sed -E 's/^[^(]*\(//; s/, */./'
  find tests/static -name '*.sh' -printf 'static.%f\n' | sed 's/\.sh$//'
  find tests/compile_fail -name '*.cc' -printf 'compile_fail.%f\n' | sed 's/\.cc$//'
)
while IFS= read -r line; do
  row=${line#'| **'} row=${row%%'**'*}
  while read -r name; do named["$row $name"]=1; done < <(grep -oE '`[A-Za-z_]+\.[A-Za-z0-9_]+`' <<<"$line" | tr -d '`')
done < <(grep -hE '^\| \*\*' docs/known-bugs.md docs/checks.md)

for id in "${ids[@]}"; do
  found=$(occurrences "${olds[$id]}" "${files[$id]}")
  [[ $found == 1 ]] || complain "$id: its text is found $found times in ${files[$id]}; bring old: and new: up to date"
  for test in ${fails[$id]}; do
    [[ -v exists[$test] ]] || complain "$id: there is no test $test"
    in_documents=0
    for row in ${rows[$id]}; do
      broken["$row $test"]=1
      [[ -v named["$row $test"] ]] && in_documents=1
    done
    ((in_documents)) || complain "$id: none of the rows ${rows[$id]} of the documents names $test"
  done
done
for each in "${!named[@]}"; do
  [[ -v exists[${each#* }] ]] || complain "row ${each% *} names ${each#* }, which does not exist"
  [[ -v broken[$each] ]] || complain "row ${each% *} names ${each#* }, but no mutation of that row makes it fail"
done
exit "$wrong"

#!/usr/bin/env bash
# Every test that docs/known-bugs.md names exists: `Suite.Name` in a source, `kind.name` among the system tests.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
page=${1:-$root/docs/known-bugs.md}
missing=0
while read -r name; do
  suite=${name%%.*} test=${name#*.}
  case $suite in
    static) [[ -f $root/tests/static/$test.sh ]] && continue ;;
    compile_fail) [[ -f $root/tests/compile_fail/$test.cc ]] && continue ;;
    *) grep -rqE "^TEST(_F|_P)?\($suite, *$test\)" "$root/src" "$root/tests" && continue ;;
  esac
  echo "docs/known-bugs.md names $name, which does not exist" >&2
  missing=1
done < <(grep -oE '`[A-Za-z_]+\.[A-Za-z0-9_]+`' "$page" | tr -d '`' | sort -u)
exit "$missing"

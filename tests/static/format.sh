#!/usr/bin/env bash
# Every C++ file is as clang-format writes it. Usage: format.sh [ROOT]
set -euo pipefail
cd "${1:-.}"
folders=(src apps)
[[ -d tests ]] && folders+=(tests)
[[ -d bench ]] && folders+=(bench)
mapfile -t files < <(find "${folders[@]}" -name '*.h' -o -name '*.cc' | sort)
((${#files[@]})) || { echo "found no C++ files"; exit 1; }
clang-format --dry-run --Werror "${files[@]}" >/dev/null 2>&1 && exit 0
clang-format --dry-run "${files[@]}" 2>&1 | sed -n 's/^\([^ ]*\.\(h\|cc\)\):[0-9].*/\1/p' | sort -u
echo "these are not as clang-format writes them; run clang-format -i on them"
exit 1

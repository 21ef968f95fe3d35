#!/usr/bin/env bash
# The check must fail on a source that lacks an include, also where another source beside it has it.
# Usage: compiles_alone_catches.sh COMPILER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '#include <string>\nstd::string name();\n' >"$folder/whole.cc"
printf 'std::string other();\n' >"$folder/lacks.cc"
check() { bash tests/static/compiles_alone.sh "$1" "$folder" "${@:2}" 2>/dev/null; }
for time in first second; do
  check "$1" "$folder/whole.cc" || { echo "compiles_alone fails on a whole source, the $time time"; exit 1; }
  if check "$1" "$folder/whole.cc" "$folder/lacks.cc"; then
    echo "compiles_alone does not notice a missing include, the $time time"
    exit 1
  fi
done

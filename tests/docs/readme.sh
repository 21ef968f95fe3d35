#!/usr/bin/env bash
# Every `./run` and `gauze` command in the shell blocks of README.md works. Usage: readme.sh PROGRAM
set -euo pipefail
program=$1
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
gauze() { "$program" "$@"; }

# Lines of ```sh blocks that call the program; a line ending in \ goes on.
mapfile -t commands < <(awk '
  /^```sh/ { on = 1; next } /^```/ { on = 0 }
  on { line = line $0; if (line ~ /\\$/) { sub(/\\$/, "", line); next }
       if (line ~ /(^|[| ])(\.\/run|gauze)( |$)/) print line; line = "" }' "$root/README.md")
((${#commands[@]} >= 5)) || { echo "found only ${#commands[@]} commands in README.md"; exit 1; }
for command in "${commands[@]}"; do
  [[ $command == ./run ]] && command="./run tour"
  echo "\$ $command"
  eval "${command//.\/run/gauze}" || { echo "README.md shows a command that fails: $command"; exit 1; }
done

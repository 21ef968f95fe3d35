#!/usr/bin/env bash
# Compiles a file twice: as it is it must compile, with its bad line on it must not. Usage: check.sh COMPILER FILE
set -euo pipefail
compile() { "$1" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -Isrc "${@:3}" "$2" 2>&1; }
compile "$1" "$2" || { echo "$2 must compile as it is"; exit 1; }
if compile "$1" "$2" -DBAD_LINE >/dev/null; then
  echo "$2 compiles with its bad line on"
  exit 1
fi

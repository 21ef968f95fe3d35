#!/usr/bin/env bash
# Each source of the library and of the program compiles alone. Builds that join several sources into one, or precompile headers,
# hide an include that is missing. Tests are left out to save time: the preset `dev`, which joins nothing, compiles them.
# What a source came to after preprocessing is noted in BUILD, so that it is compiled once: the first run takes five minutes of
# two processors, later ones less than one. Usage: compiles_alone.sh COMPILER BUILD [SOURCE...]
set -euo pipefail
compiler=$1
noted=$2/compiles_alone
shift 2
sources=("$@")
((${#sources[@]})) || mapfile -t sources < <(find src apps -name '*.cc' ! -name '*_test.cc' ! -name '*_bench.cc' ! -name '*_fuzz.cc' | sort)
mkdir -p "$noted"

check() {
  local source=$1 flags whole
  read -ra flags <<<"$FLAGS"
  whole=$("$COMPILER" "${flags[@]}" -E -P "$source" | sha256sum) || return 1
  [[ -e $NOTED/${whole%% *} ]] && return
  "$COMPILER" "${flags[@]}" -fsyntax-only "$source" || { echo "$source does not compile alone" >&2; return 1; }
  touch "$NOTED/${whole%% *}"
}
export -f check
export COMPILER=$compiler NOTED=$noted
FLAGS="-std=c++20 -w -DGAUZE_VERSION=\"\" -Isrc -Iapps -Ibuild/deps/duckdb/include -isystem /usr/include/eigen3 $(pkg-config --cflags libpq sqlite3 libedit)"
export FLAGS
printf '%s\n' "${sources[@]}" | xargs -P 2 -I {} bash -c 'check {}'

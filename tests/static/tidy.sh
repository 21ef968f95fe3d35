#!/usr/bin/env bash
# clang-tidy over every library and program source. Usage: tidy.sh BUILD [FILE...]
set -euo pipefail
build=$1
shift
files=("$@")
((${#files[@]})) || mapfile -t files < <(find src apps -name '*.cc' ! -name '*_test.cc' ! -name '*_bench.cc' ! -name '*_fuzz.cc' | sort)
# Headers precompiled for one compiler are of no use to another, and files are checked one by one.
cmake --preset test -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_UNITY_BUILD=OFF >/dev/null
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$build" 2>/dev/null

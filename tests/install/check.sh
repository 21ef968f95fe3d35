#!/usr/bin/env bash
# Installs the build into a fresh prefix; a small project finds the package there, builds and runs.
# Usage: check.sh CMAKE BUILD
set -euo pipefail
cmake=$1
build=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
"$cmake" --install "$build" --prefix "$prefix/gauze" >/dev/null
"$prefix/gauze/bin/gauze" version
[[ ! -e $prefix/gauze/include/gauze/testing ]] || { echo "test code was installed"; exit 1; }
[[ -z $(find "$prefix/gauze" -name '*_internal.h') ]] || { echo "internal headers were installed"; exit 1; }
"$cmake" -S tests/install -B "$prefix/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix/gauze" -DCMAKE_BUILD_TYPE=Release >/dev/null
"$cmake" --build "$prefix/build" >/dev/null
"$prefix/build/hello"

#!/usr/bin/env bash
# Nothing that can be released uses a generator that can be seeded, a std:: distribution, or a test's source of bits.
# Usage: no_seeds.sh [ROOT]
set -euo pipefail
cd "${1:-.}"
mapfile -t files < <(find src apps \( -name '*.h' -o -name '*.cc' \) ! -path 'src/gauze/testing/*' \
  ! -name '*_test.cc' ! -name '*_bench.cc' ! -name '*_fuzz.cc' ! -name '*_test_internal.h' | sort)
((${#files[@]})) || { echo "found no C++ files"; exit 1; }
forbidden='std::(mt19937|minstd|ranlux|knuth|random_device|default_random_engine|linear_congruential|mersenne_twister'
forbidden+='|[a-z_]*_distribution|random_shuffle|shuffle\()|(^|[^_a-zA-Z0-9])(s?rand|[dljm]rand48|random)\(|#include <random>'
forbidden+='|SeededBits|boost/random|boost::random'
if grep -nE "$forbidden" "${files[@]}"; then
  echo "use a BitSource and the exact samplers in src/gauze/random and src/gauze/noise"
  exit 1
fi

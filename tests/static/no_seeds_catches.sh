#!/usr/bin/env bash
set -euo pipefail
source tests/static/broken_twin.sh
for line in 'std::mt19937 generator;' 'std::random_device device;' 'std::normal_distribution<double> noise;' \
  'int x = rand();' 'srand(1);' 'testing::SeededBits bits(1);' '#include <random>'; do
  broken "'$line'" no_seeds "echo '$line' >> src/gauze/registry/algorithm.h"
done

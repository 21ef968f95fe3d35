#!/usr/bin/env bash
# The check of the layers must fail on an include that goes upward, on a guarded one, and on a bad dependency.
set -euo pipefail
source tests/static/broken_twin.sh

broken "an include that goes upward" layers 'echo "#include \"gauze/engine/registry.h\"" >> src/gauze/noise/additive.h'
broken "an include of a guarded folder" layers 'echo "#include \"gauze/noise/additive.h\"" >> src/gauze/engine/registry.h'
broken "a use of testing in the library" layers 'echo "#include \"gauze/testing/seeded_bits.h\"" >> src/gauze/engine/registry.h'
broken "a dependency that goes upward" layers 'echo "gauze_module(extra DEPS engine)" >> src/gauze/CMakeLists.txt'

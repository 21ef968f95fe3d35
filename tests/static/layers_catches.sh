#!/usr/bin/env bash
# The check of the layers must fail on an include that goes upward, on a guarded one, and on a bad dependency.
set -euo pipefail
source tests/static/broken_twin.sh

broken "an include that goes upward" layers 'echo "#include \"gauze/engine/families.h\"" >> src/gauze/noise/additive.h'
broken "an include of a guarded folder" layers 'echo "#include \"gauze/noise/additive.h\"" >> src/gauze/engine/families.h'
broken "a use of testing in the library" layers 'echo "#include \"gauze/testing/seeded_bits.h\"" >> src/gauze/engine/families.h'
broken "a dependency that goes upward" layers 'echo "gauze_module(extra DEPS engine)" >> src/gauze/CMakeLists.txt'
broken "a mechanism that knows the registry" layers 'echo "#include \"gauze/registry/task.h\"" >> src/gauze/mechanism/sum.h'
broken "an entry below the registry" layers 'echo "#include \"gauze/registry/task.h\"" > src/gauze/accounting/register.h'
broken "a public dependency on the registry" layers 'sed -i "s/PRIVATE_DEPS registry/DEPS registry/" src/gauze/CMakeLists.txt'
broken "a front end that knows a family" layers 'echo "#include \"gauze/histogram/axis.h\"" >> apps/cli/show.h'
broken "a service that knows a family" layers 'echo "#include \"gauze/query/plan.h\"" >> src/gauze/service/ask.h'

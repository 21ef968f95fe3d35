#!/usr/bin/env bash
# The check of the mutations must fail when what they break, or whom they name, is gone.
set -euo pipefail
source tests/static/broken_twin.sh

broken "a text that is gone" mutations 'sed -i s/saturating_add/saturated_sum/ src/gauze/mechanism/additive_internal.cc'
broken "a test that is gone" mutations 'sed -i s/EstimatesEachPosition/EstimatesSomething/ src/gauze/mechanism/randomized_response_test.cc'
broken "a test that no mutation breaks" mutations 'echo "| **F99** x | \`Error.CodesKeepTheirNumbersAndNames\` |" >> docs/checks.md'
broken "a mutation that no document names" mutations 'sed -i "/BOOK-A18/d" docs/checks.md'

#!/usr/bin/env bash
set -euo pipefail
source tests/static/broken_twin.sh
broken "a code without explanation" error_codes 'sed -i "/budget_exceeded/d" docs/errors.md'
broken "a renumbered code" error_codes 'sed -i "s/kIo = 402/kIo = 403/" src/gauze/base/error.h'

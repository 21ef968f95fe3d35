#!/usr/bin/env bash
set -euo pipefail
source tests/static/broken_twin.sh
broken "a badly formatted line" format 'echo "int   x ;" >> src/gauze/base/error.h'

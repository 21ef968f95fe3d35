#!/usr/bin/env bash
# check.sh SHIM FOLDER: runs check.py with pyarrow, which it installs from PyPI into an environment below FOLDER
# unless python3 has it. 77, which means skipped, where neither can be had.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
shim=$1
venv=$2/pyarrow
skip() { echo "skipped: $1"; exit 77; }
command -v python3 >/dev/null || skip "there is no python3"
python=python3
if ! python3 -c 'import pyarrow' 2>/dev/null; then
  python=$venv/bin/python
  if ! "$python" -c 'import pyarrow' 2>/dev/null; then
    python3 -m venv "$venv" >/dev/null 2>&1 || skip "python3 makes no environments (python3-venv)"
    "$venv/bin/pip" install --quiet --disable-pip-version-check pyarrow || skip "pyarrow does not install"
  fi
fi
exec "$python" "$here/check.py" "$shim"

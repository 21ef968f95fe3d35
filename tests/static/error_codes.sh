#!/usr/bin/env bash
# Every error code, with its number, is explained in docs/errors.md. Usage: error_codes.sh [ROOT]
set -euo pipefail
cd "${1:-.}"
bad=0
found=0
while read -r constant number; do
  found=$((found + 1))
  name=$(sed -n "/ErrorCode::$constant:/{n;s/.*\"\(.*\)\".*/\1/p}" src/gauze/base/error.cc)
  grep -qE "^\| *$number *\| *\`$name\`" docs/errors.md || { echo "docs/errors.md does not explain $number $name ($constant)"; bad=1; }
done < <(sed -n 's/^ *\(k[A-Za-z]*\) = \([0-9]*\),.*/\1 \2/p' src/gauze/base/error.h)
((found >= 10)) || { echo "found only $found codes in error.h"; bad=1; }
exit $bad

#!/usr/bin/env bash
set -euo pipefail
source tests/static/broken_twin.sh
broken "a missing page" mechanism_files 'rm src/gauze/mechanism/laplace.md'
broken "a missing test" mechanism_files 'rm $(grep -l "mechanism/laplace.h" src/gauze/mechanism/*_test.cc)'
broken "a header that does not state its guarantee" mechanism_files 'sed -i "s/Privacy/Secrecy/" src/gauze/mechanism/laplace.h'
broken "a mechanism that is not registered" mechanism_files 'sed -i "/mechanism\/laplace.h/d" src/gauze/mechanism/register*.cc'

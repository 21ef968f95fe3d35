#!/bin/sh
# How many rows FILE has, with noise: count.sh FILE RUNS prints RUNS answers. Claims epsilon 1.
seed=$(od -An -N4 -tu4 /dev/urandom)
awk -v runs="$2" -v seed="$seed" '
  function geometric(  n) { n = 0; while (rand() < exp(-1)) n++; return n }
  END {
    srand(seed)
    for (i = 0; i < runs; i++) print NR + geometric() - geometric()
  }' "$1"

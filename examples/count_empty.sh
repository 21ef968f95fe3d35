#!/bin/sh
# count.sh with a mistake: an empty file needs no noise, somebody thought. Claims epsilon 1, keeps none.
seed=$(od -An -N4 -tu4 /dev/urandom)
awk -v runs="$2" -v seed="$seed" '
  function geometric(  n) { n = 0; while (rand() < exp(-1)) n++; return n }
  END {
    srand(seed)
    for (i = 0; i < runs; i++) print NR == 0 ? 0 : NR + geometric() - geometric()
  }' "$1"

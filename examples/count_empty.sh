#!/bin/sh
# count.sh with a mistake: an empty file needs no noise, somebody thought. Claims epsilon 1, keeps none.
awk -v runs="$2" '
  # Whole numbers alone: below(k) is uniform, coin() is 1 with probability 1/e (Forsythe).
  function below(k,  v) {
    do { "od -An -v -w4 -tu4 /dev/urandom" | getline v } while (v >= 4294967296 - 4294967296 % k)
    return v % k
  }
  function coin(  k) { k = 1; while (below(k) == 0) k++; return k % 2 }
  function geometric(  n) { n = 0; while (coin()) n++; return n }
  END { for (i = 0; i < runs; i++) print NR == 0 ? 0 : NR + geometric() - geometric() }' "$1"

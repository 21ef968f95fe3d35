#!/bin/sh
# How many rows FILE has, with noise: count.sh FILE RUNS prints RUNS answers. Claims epsilon 1.
awk -v runs="$2" '
  # Whole numbers alone: below(k) is uniform, coin() is 1 with probability 1/e (Forsythe).
  function below(k,  v) {
    do { "od -An -v -w4 -tu4 /dev/urandom" | getline v } while (v >= 4294967296 - 4294967296 % k)
    return v % k
  }
  function coin(  k) { k = 1; while (below(k) == 0) k++; return k % 2 }
  function geometric(  n) { n = 0; while (coin()) n++; return n }
  END { for (i = 0; i < runs; i++) print NR + geometric() - geometric() }' "$1"

#!/usr/bin/env python3
# sum.py with a mistake: noise as if nobody moved the sum by more than 1. Claims epsilon 1, has 10.
import math, random, sys

random, upper, epsilon, step = random.SystemRandom(), 10.0, 1.0, 2.0**-10
numbers = [float(line) for line in open(sys.argv[1])]
total = sum(round(min(max(x, 0.0), upper) / step) for x in numbers if x == x)

def geometric():
    return int(-math.log(1 - random.random()) / step / epsilon)

for _ in range(int(sys.argv[2])):
    print((total + geometric() - geometric()) * step)

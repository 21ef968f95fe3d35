#!/usr/bin/env python3
# sum.py with a mistake: noise as if nobody moved the sum by more than 1. Claims epsilon 1, has 10.
import sys
from secrets import randbelow

upper, step = 10, 2.0**-10
scale = 1024  # of the noise, in steps: epsilon 1
numbers = [float(line) for line in open(sys.argv[1])]
total = sum(round(min(max(x, 0.0), upper) / step) for x in numbers if x == x)

def coin(x, y):  # true with probability e^(-x/y), in whole numbers (Canonne, Kamath and Steinke)
    k = 1
    while randbelow(y * k) < x:
        k += 1
    return k % 2 == 1

def geometric():
    while not coin(u := randbelow(scale), scale):
        pass
    while coin(1, 1):
        u += scale
    return u

for _ in range(int(sys.argv[2])):
    print((total + geometric() - geometric()) * step)

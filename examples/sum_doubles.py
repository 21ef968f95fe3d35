#!/usr/bin/env python3
# sum.py with a mistake: the textbook's noise, added in floating point. Claims epsilon 1, keeps none.
import math, random, sys

random, upper, epsilon = random.SystemRandom(), 10.0, 1.0
numbers = [float(line) for line in open(sys.argv[1])]
total = sum(min(max(x, 0.0), upper) for x in numbers if x == x)

def laplace(scale):
    return random.choice((-1, 1)) * scale * math.log(1 - random.random())

for _ in range(int(sys.argv[2])):
    print(total + laplace(upper / epsilon))

"""Arrays of counts that no rule of `auto_histogram` was chosen on, for bench/histogram:

    python3 bench/held_out.py FOLDER [DATA]
    bench/histogram --data FOLDER ...

Writes FOLDER/1d/*.npy and FOLDER/2d/*.npy (planes and a cube): shapes of data that are made up, with fixed seeds,
and, where DATA holds adult/adult.data (UCI) or graphs/as20000102.txt and graphs/ca-AstroPh.txt
(SNAP), real columns.
"""
import math
import os
import random
import struct
import sys


def write(folder, name, shape, counts):
    dimensions = "1d" if len(shape) == 1 else "2d"
    os.makedirs(f"{folder}/{dimensions}", exist_ok=True)
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header = header.ljust(117) + "\n"
    size = "x".join(map(str, shape))
    with open(f"{folder}/{dimensions}/{name}_{size}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(counts)}d", *counts))


def bells(cells, centres, generator):
    """A mixture of normal bells, of widths between a cell and a tenth of the domain."""
    parts = [(generator.random() * cells, cells / 10 ** (1 + 2 * generator.random()), generator.random())
             for _ in range(centres)]
    return [sum(w / s * math.exp(-((i - m) / s) ** 2 / 2) for m, s, w in parts) for i in range(cells)]


def cascade(cells, generator):
    """Rough at every scale: each block gives its halves random shares."""
    counts = [1.0]
    while len(counts) < cells:
        halves = []
        for count in counts:
            share = generator.betavariate(2, 2)
            halves += [share * count, (1 - share) * count]
        counts = halves
    return counts


def zipf_heaps(cells, heaps, generator):
    counts = [0.0] * cells
    for rank, cell in enumerate(generator.sample(range(cells), heaps)):
        counts[cell] = 1 / (1 + rank)
    return counts


def lines(generator):
    return {
        "bells": bells(2048, 30, generator),
        "bells_with_gaps": [c if i // 512 % 2 else 0 for i, c in enumerate(bells(4096, 20, generator))],
        "cascade": cascade(512, generator),
        "cascade_sparse": [c ** 3 for c in cascade(4096, generator)],
        "comb": [1.0 if i % 7 == 3 else 0.0 for i in range(4096)],
        "comb_on_slope": [i * (10.0 if i % 10 == 0 else 1.0) for i in range(1000)],
        "decay": [math.exp(-i / 3000) for i in range(65536)],
        "heaps": zipf_heaps(2048, 60, generator),
        "heaps_few": zipf_heaps(65536, 12, generator),
        "heaps_on_floor": [c + 2e-5 for c in zipf_heaps(4096, 40, generator)],
        "lognormal": [math.exp(-(math.log((i + 1) / 80)) ** 2) / (i + 1) for i in range(1000)],
        "one_cell": [1.0 if i == 1234 else 0.0 for i in range(2048)],
        "sine": [1.1 + math.sin(i / 40) for i in range(512)],
        "steps": [float(i // 130 * 2654435761 // 64 % 7) for i in range(2048)],
        "uniform": [1.0] * 1000,
        "zipf": [1 / (1 + i) for i in range(4096)],
        "zipf_shuffled": generator.sample([1 / (1 + i) for i in range(2048)], 2048),
    }


def plane(rows, columns, count):
    return (rows, columns), [count(i, j) for i in range(rows) for j in range(columns)]


def planes(generator):
    spots = [(generator.random(), generator.random(), 10 ** (-1 - 1.5 * generator.random())) for _ in range(25)]
    heaps = zipf_heaps(300 * 200, 400, generator)
    cube = [[generator.gauss(16, 4) for _ in range(3)] for _ in range(20000)]
    counts = [0.0] * 32 ** 3
    for x, y, z in cube:
        if 0 <= min(x, y, z) and max(x, y, z) < 32:
            counts[(int(x) * 32 + int(y)) * 32 + int(z)] += 1
    bell = bells(1024, 8, generator)
    rough = cascade(1024, generator)
    return {
        "band": plane(200, 300, lambda i, j: math.exp(-((1.5 * i - j) / 12) ** 2)),
        "checkers": plane(128, 128, lambda i, j: float((i // 8 + j // 8) % 2)),
        "crossing_roads": plane(256, 256, lambda i, j: float(i in (40, 90, 200) or j in (17, 130) or i == j)),
        "cube": ((32, 32, 32), counts),
        "heaps": ((300, 200), heaps),
        "long": plane(1024, 16, lambda i, j: bell[i] * (1 + j % 3)),
        "ring": plane(256, 256, lambda i, j: math.exp(-((math.hypot(i - 120, j - 140) - 80) / 4) ** 2)),
        "spots": plane(128, 128, lambda i, j: sum(
            math.exp(-((i / 128 - x) ** 2 + (j / 128 - y) ** 2) / (2 * s * s)) / s for x, y, s in spots)),
        "uniform": plane(100, 100, lambda i, j: 1.0),
        "wide": plane(12, 900, lambda i, j: rough[j] * (1 + (i * 5) % 12)),
        "zipf_by_zipf": plane(128, 256, lambda i, j: 1 / ((1 + i) * (1 + j))),
    }


def histogram(values, low, high, cells):
    counts = [0.0] * cells
    for value in values:
        counts[min(cells - 1, max(0, int((value - low) * cells / (high - low))))] += 1
    return counts


def real(data):
    """Columns of Adult, and who is linked to whom in graphs, by their numbers."""
    made = {}
    path = f"{data}/adult/adult.data"
    if os.path.exists(path):
        people = [line.split(",") for line in open(path) if line[0].isdigit()]
        made["adult_age"] = (128,), histogram([int(p[0]) for p in people], 0, 128, 128)
        made["adult_weight"] = (2048,), histogram([int(p[2]) for p in people], 0, 1_500_000, 2048)
        made["adult_hours"] = (100,), histogram([int(p[12]) for p in people], 0, 100, 100)
        both = [0.0] * (80 * 100)
        for p in people:
            both[min(79, int(p[0]) - 17) * 100 + min(99, int(p[12]))] += 1
        made["adult_age_by_hours"] = (80, 100), both
    for name in ("as20000102", "ca-AstroPh"):
        path = f"{data}/graphs/{name}.txt"
        if not os.path.exists(path):
            continue
        edges = [tuple(map(int, line.split()[:2])) for line in open(path) if line[0] != "#"]
        most = 1 + max(map(max, edges))
        ends = [0.0] * most
        pairs = [0.0] * (160 * 160)
        for a, b in edges:
            ends[a] += 1
            pairs[a * 160 // most * 160 + b * 160 // most] += 1
        made[name + "_degrees"] = (1000,), histogram(ends, 0, 1000, 1000)
        made[name + "_ends"] = (4096,), histogram([a for a, _ in edges], 0, most, 4096)
        made[name + "_links"] = (160, 160), pairs
    return made


def main(folder, data):
    generator = random.Random(20261116)
    for name, counts in lines(generator).items():
        write(folder, name, (len(counts),), counts)
    for name, (shape, counts) in planes(generator).items():
        write(folder, name, shape, counts)
    for name, (shape, counts) in (real(data) if data else {}).items():
        write(folder, name, shape, counts)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")

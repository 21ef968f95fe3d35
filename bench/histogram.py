"""Sums up the CSV of bench/histogram: for each kind of question and each scale, how many times the error of the
best method in hindsight a method has, on geometric average over the arrays, and at worst. First over all
scales, then `auto_histogram` alone, then scale by scale. Of lines about the same the last one counts.

    python3 bench/histogram.py FILE.csv
"""
import csv
import math
import re
import sys
from collections import defaultdict

QUESTIONS = ("cells", "prefixes", "ranges")


def read(path):
    errors = defaultdict(dict)  # (dimensions, array, scale * epsilon, question) -> method -> error
    seconds = defaultdict(list)
    for row in csv.DictReader(open(path)):
        dimensions = "2-D" if re.search(r"256_256|\d+x\d+$", row["array"]) else "1-D"
        for question in QUESTIONS:
            key = (dimensions, row["array"], float(row["scale"]), float(row["epsilon"]), question)
            errors[key][row["method"]] = float(row[question])
        seconds[dimensions, row["method"]].append(float(row["seconds"]))
    return errors, seconds


def suits(method, question):
    """Methods with an aim are judged by the questions they aim at."""
    aim = method.partition(":")[2]
    return aim not in ("cells", "ranges") or (aim == "cells") == (question == "cells")


def summary(errors, seconds):
    """One line for each method: over all arrays and scales, for the questions that suit it."""
    logs = defaultdict(list)
    for (dimensions, _, _, _, question), by_method in errors.items():
        best = min(e for m, e in by_method.items() if suits(m, question))
        for method, error in by_method.items():
            if suits(method, question):
                logs[method.removesuffix(":cells").removesuffix(":ranges"), dimensions, question].append(
                    math.log(error / best) if best > 0 else 0.0)
    columns = [(d, q) for d in ("1-D", "2-D") for q in QUESTIONS]
    print("| method | " + " | ".join(f"{d} {q}" for d, q in columns) + " | seconds 1-D, 2-D |")
    print("|---" * (len(columns) + 2) + "|")
    for method in sorted({m for m, _, _ in logs}):
        times = []
        for dimensions in ("1-D", "2-D"):
            each = [t for (d, m), ts in seconds.items() if d == dimensions and m.startswith(method) for t in ts]
            times.append(f"{sum(each) / len(each):.2g}" if each else "")
        print(f"| {method} | " + " | ".join(shown(logs[method, d, q]) for d, q in columns) + f" | {', '.join(times)} |")


def chooser(errors):
    """How far auto_histogram is from the best of those with its aim, and of all."""
    for dimensions in ("1-D", "2-D"):
        for everybody in (False, True):
            ratios, over_flat = [], []
            for key, by_method in errors.items():
                own = by_method.get("auto_histogram:" + ("cells" if key[4] == "cells" else "ranges"))
                if key[0] != dimensions or own is None:
                    continue
                best, method = min((e, m) for m, e in by_method.items() if everybody or suits(m, key[4]))
                ratios.append((own / best if best > 0 else 1.0, key, method))
                if by_method.get("flat_histogram", 0) > 0:
                    over_flat.append((own / by_method["flat_histogram"], key))
            if not ratios:
                continue
            mean = math.exp(sum(math.log(r) for r, _, _ in ratios) / len(ratios))
            print(f"\nauto_histogram, {dimensions}, beside {'all' if everybody else 'those with its aim'}: {mean:.3f}, "
                  f"above 1.5 in {sum(r > 1.5 for r, _, _ in ratios)} of {len(ratios)}; over flat_histogram at most "
                  f"{max(over_flat)[0]:.3f}")
            for ratio, (_, array, scale, epsilon, question), method in sorted(ratios, reverse=True)[:6]:
                print(f"  {ratio:.2f} {array}, {scale:g} rows, epsilon {epsilon:g}, {question}: {method}")


def main(path):
    errors, seconds = read(path)
    summary(errors, seconds)
    chooser(errors)
    for dimensions in ("1-D", "2-D"):
        for question in QUESTIONS:
            cells = {k: v for k, v in errors.items() if k[0] == dimensions and k[4] == question}
            if not cells:
                continue
            scales = sorted({k[2] * k[3] for k in cells})
            methods = sorted({m for v in cells.values() for m in v if suits(m, question)})
            print(f"\n{dimensions}, {question}: error over that of the best in hindsight, geometric mean (largest)\n")
            print("| method | " + " | ".join(f"ε·rows = {s:g}" for s in scales) + " | all | seconds |")
            print("|---" * (len(scales) + 3) + "|")
            for method in methods:
                line, everything = [], []
                for scale in scales:
                    logs = []
                    for key, by_method in cells.items():
                        if key[2] * key[3] != scale or method not in by_method:
                            continue
                        best = min(e for m, e in by_method.items() if suits(m, question))
                        logs.append(math.log(by_method[method] / best) if best > 0 else 0.0)
                    everything += logs
                    line.append(shown(logs))
                time = sum(seconds[dimensions, method]) / len(seconds[dimensions, method])
                print(f"| {method} | " + " | ".join(line) + f" | {shown(everything)} | {time:.2g} |")


def shown(logs):
    if not logs:
        return ""
    return f"{math.exp(sum(logs) / len(logs)):.2f} ({math.exp(max(logs)):.1f})"


if __name__ == "__main__":
    main(sys.argv[1])

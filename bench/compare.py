#!/usr/bin/env python3
"""Draws and accountants of Gauze beside other libraries, in one run on one machine, as one CSV.

Usage: bench/compare [-o FILE]

Rows: task, parameters, library, version, nanoseconds (per draw) or seconds (per answer), value, ratio to Gauze.
Machines are noisy: compare the ratios within one run, not the times of two runs.
"""

import argparse
import csv
import importlib.metadata
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
GAUZE = ROOT / "build/bench/apps/cli/gauze"
NOISE_BENCH = ROOT / "build/bench/src/gauze/noise_bench"


def version(package):
    return importlib.metadata.version(package)


def best_of(runs, work):
    """The shortest of several runs, and what the last one returned."""
    shortest, value = float("inf"), None
    for _ in range(runs):
        start = time.perf_counter()
        value = work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, value


def gauze_draws():
    """Nanoseconds per draw by noise_bench, keyed by (law, log2 of the scale)."""
    report = json.loads(
        subprocess.run(
            [NOISE_BENCH, "--benchmark_format=json", "--benchmark_min_time=0.3",
             "--benchmark_filter=std_normal|^discrete_(laplace|gaussian)/"],
            check=True, capture_output=True, text=True).stdout)
    rows = {}
    for bench in report["benchmarks"]:
        name = bench["name"].replace("/real_time", "")
        rows[name] = 1e9 / bench["items_per_second"]
    return rows


def draw_rows():
    ours = gauze_draws()
    yield "draw", "normal, unsafe", "std::normal_distribution", "libstdc++", ours["std_normal_mt19937_64/threads:1"], ""
    for law in ("discrete_laplace", "discrete_gaussian"):
        for log2 in (0, 12, 30):
            yield "draw", f"{law} scale 2^{log2}", "gauze", gauze_version(), ours[f"{law}/{log2}"], ""
            yield from peer_draws(law, log2)
        yield "draw", f"{law} scale 2^10, two threads", "gauze", gauze_version(), ours[f"{law}/10/threads:2"], "per draw, both threads together"


def peer_draws(law, log2):
    scale, count = 2.0**log2, 20_000
    label = f"{law} scale 2^{log2}"

    import opendp.prelude as dp
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), (
        dp.l1_distance(T="i64") if law == "discrete_laplace" else dp.l2_distance(T=float))
    make = dp.m.make_laplace if law == "discrete_laplace" else dp.m.make_gaussian
    mechanism = make(*space, scale)
    zeros = [0] * count
    seconds, _ = best_of(3, lambda: mechanism(zeros))
    yield "draw", label, "opendp", version("opendp"), seconds / count * 1e9, "vector of 20,000"

    from pydp.algorithms import numerical_mechanisms as google
    # Laplace noise of this scale; for the Gaussian the calibration to (1, 1e-5) sets sigma = 3.73 l2.
    if law == "discrete_laplace":
        noise = google.LaplaceMechanism(1.0 / scale, 1.0)
    else:
        noise = google.GaussianMechanism(1.0, 1e-5, scale / 3.730632)
    seconds, _ = best_of(3, lambda: [noise.add_noise(0.0) for _ in range(count)])
    yield "draw", label, "google (python-dp)", version("python-dp"), seconds / count * 1e9, "one call per draw, wrapper included"

    from diffprivlib.mechanisms import GaussianDiscrete, Geometric
    few = 200 if law == "discrete_gaussian" else 20_000
    if law == "discrete_laplace":
        noise = Geometric(epsilon=1.0 / scale, sensitivity=1)
    elif log2 <= 12:
        # Its own calibration searches for sigma and takes minutes at large scales.
        noise = GaussianDiscrete(epsilon=3.730632 / scale if log2 else 1.0, delta=1e-5, sensitivity=1)
    else:
        return
    seconds, _ = best_of(2, lambda: [noise.randomise(0) for _ in range(few)])
    yield "draw", label, "diffprivlib", version("diffprivlib"), seconds / few * 1e9, "one call per draw"


def gauze_version():
    return subprocess.run([GAUZE, "version"], check=True, capture_output=True, text=True).stdout.split()[-1]


def gauze_json(*arguments, text=None):
    answer = subprocess.run([GAUZE, *arguments, "--json"], check=True, capture_output=True, text=True, input=text)
    return json.loads(answer.stdout)


def sampled_run(rate, sigma, steps):
    return json.dumps({"events": [{"type": "poisson_sampled", "rate": rate, "count": steps,
                                   "event": {"type": "gaussian", "sigma": sigma, "l2_sensitivity": 1}}]})


def accountant_rows():
    import dp_accounting
    from dp_accounting import pld, rdp

    def theirs(accountant, event):
        accountant.compose(event)
        return accountant.get_epsilon(1e-5)

    def dp_event(rate, sigma, steps):
        step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
        return dp_accounting.SelfComposedDpEvent(step, steps)

    for rate, sigma, steps in ((256 / 60000, 1.1, 14063), (0.01, 4, 10_000), (0.01, 1, 1000), (0.001, 0.8, 1_000_000)):
        label = f"epsilon at 1e-5: rate {rate:.4g}, sigma {sigma}, {steps} steps"
        text = sampled_run(rate, sigma, steps)
        for kind, make in (("pld", pld.PLDAccountant), ("rdp", rdp.RdpAccountant)):
            seconds, answer = best_of(3, lambda: gauze_json("account", "--delta", "1e-5", "--accountant", kind, "-", text=text))
            yield f"account {kind}", label, "gauze", gauze_version(), seconds, answer["epsilon"]
            seconds, value = best_of(1, lambda: theirs(make(), dp_event(rate, sigma, steps)))
            yield f"account {kind}", label, "dp-accounting", version("dp-accounting"), seconds, value

    label = "sigma for epsilon 1, delta 1e-5, rate 0.01, 1000 steps"
    seconds, answer = best_of(3, lambda: gauze_json("calibrate", "gaussian", "--epsilon", "1", "--delta", "1e-5",
                                                    "--l2-sensitivity", "1", "--rate", "0.01", "--steps", "1000"))
    yield "calibrate", label, "gauze", gauze_version(), seconds, answer["sigma"]
    seconds, value = best_of(1, lambda: dp_accounting.calibrate_dp_mechanism(
        pld.PLDAccountant, lambda sigma: dp_event(0.01, sigma, 1000), 1.0, 1e-5))
    yield "calibrate", label, "dp-accounting", version("dp-accounting"), seconds, value

    label = "sigma for epsilon 0.01, delta 1e-6, rate 0.01, 1000 steps"
    seconds, answer = best_of(3, lambda: gauze_json("calibrate", "gaussian", "--epsilon", "0.01", "--delta", "1e-6",
                                                    "--l2-sensitivity", "1", "--rate", "0.01", "--steps", "1000"))
    yield "calibrate", label, "gauze", gauze_version(), seconds, answer["sigma"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", help="CSV file; standard output if left out")
    output = parser.parse_args().output
    out = open(output, "w", newline="") if output else sys.stdout
    writer = csv.writer(out)
    writer.writerow(["task", "parameters", "library", "version", "time", "unit", "value or note", "times gauze"])
    ours = {}
    for rows, unit in ((draw_rows(), "ns"), (accountant_rows(), "s")):
        for task, parameters, library, release, taken, note in rows:
            if library == "gauze":
                ours[task, parameters] = taken
            base = ours.get((task, parameters))
            writer.writerow([task, parameters, library, release, f"{taken:.4g}", unit, note,
                             f"{taken / base:.3g}" if base else ""])
            out.flush()


if __name__ == "__main__":
    main()

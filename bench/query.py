#!/usr/bin/env python3
"""Private questions beside the same questions without privacy, and beside other libraries, as one CSV.

Usage: bench/query [--rows 1e7] [--peer-rows 1e6] [--peers a,b] [--limit 1800] [--repeat 3] [--epsilon 1] [--memory]
                   [--tasks WORDS] [--written "COMPRESSION zstd"] [--folder TMP] [--venvs DIR] [--bench BINARY]

Columns: task, rows, groups, data, system, seconds and processor seconds (all processors together; each the least of the runs), both over
Gauze's, and errors: the mean over groups and runs of |count - true count| and of |sum - true sum| or |mean - true mean|: noise and what bounding
cuts off. Gauze plans, calibrates, reads, adds up and draws noise. Everybody answers the whole question.

`file`: everybody reads the same Parquet file, and that counts. `memory` (with --memory): the data is at hand in the form in which a library
takes it, frames and arrays; for Gauze a `Table`, for DuckDB a table of its own that an earlier run has read. On files Gauze and DuckDB
take turns in one process; machines are noisy: compare ratios, and processor seconds where others are at work.
"""

import argparse
import csv
import json
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

import duckdb

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNITS = 1_000_000
MEMORY = 18 << 30  # bytes that another library may take

SCHEMA = {
    "version": 1, "dataset": "bench", "tables": {"d": {"columns": {
        "u": {"type": "integer"},
        "g": {"type": "integer", "lower": 0, "upper": 999, "nulls": False},
        "h": {"type": "integer"},
        "x": {"type": "integer", "lower": 0, "upper": 99, "nulls": False},
        "y": {"type": "double", "lower": 0, "upper": 1000, "nulls": False}}}}}
BOUNDS = {"unit": "u", "rows_per_unit": 20, "groups_per_unit": 10, "rows_per_group": 2}

# task: (whose rows, delta, Gauze's SQL, DuckDB's own, in columns that query_bench reads)
TASKS = {
    "rows, 10^3 groups, count": (
        "row", "0", "SELECT g, COUNT(*) FROM d GROUP BY g", "SELECT CAST(g AS BIGINT), COUNT(*) FROM {} GROUP BY g"),
    "rows, 10^3 groups, count and sum": (
        "row", "0", "SELECT g, COUNT(*), SUM(x) FROM d GROUP BY g",
        "SELECT CAST(g AS BIGINT), COUNT(*), CAST(SUM(x) AS BIGINT) FROM {} GROUP BY g"),
    "rows, 10^3 groups, count and mean": (
        "row", "0", "SELECT g, COUNT(*), AVG(y) FROM d GROUP BY g",
        "SELECT CAST(g AS BIGINT), COUNT(*), AVG(y) FROM {} GROUP BY g"),
    "units, 10^3 groups, count": (
        "unit", "1e-6", "SELECT g, COUNT(DISTINCT u) FROM d GROUP BY g",
        "SELECT CAST(g AS BIGINT), COUNT(DISTINCT u) FROM {} GROUP BY g"),
    "units, 10^6 groups, selected keys": (
        "unit", "1e-6", "SELECT h, COUNT(DISTINCT u) FROM d GROUP BY h",
        "SELECT CAST(h AS BIGINT), COUNT(DISTINCT u) FROM {} GROUP BY h"),
}
PEERS = ["opendp", "diffprivlib", "smartnoise", "pipelinedp", "tumult"]


def generate(rows, path, written):
    duckdb.sql(f"""COPY (SELECT (hash(i) % {UNITS})::BIGINT u, (hash(i + 1000000007) % 1000)::INT g,
      (hash(i + 77) % 1000000)::INT h, (hash(i + 99) % 100)::INT x, ((hash(i + 123) % 100000) / 100.0)::DOUBLE y
      FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet{written and ", " + written})""")


def as_table(parquet, path):
    """The same rows in the form that the embedded engine keeps."""
    base = duckdb.connect(path)
    base.execute(f"CREATE TABLE d AS FROM '{parquet}'")
    base.close()


class Times:
    def __init__(self, runs, what=""):
        self.clock = min(run[what + "seconds"] for run in runs)
        self.processors = min(run[what + "processor_seconds"] for run in runs)

    def cells(self, base):
        return [f"{self.clock:.4f}", f"{self.processors:.4f}", f"{self.clock / base.clock:.3g}",
                f"{self.processors / base.processors:.3g}"]


def ask(options, path, schema, sql, delta, plain):
    """What query_bench prints of each run, without the first line, which says how long opening took; or the reason why not."""
    result = subprocess.run(
        [options.bench, path, sql, schema, options.epsilon, delta, "0", str(options.repeat)] + plain,
        capture_output=True, text=True)
    if result.returncode != 0:
        return None, result.stderr.strip()
    return [json.loads(line) for line in result.stdout.splitlines()][1:], ""


def gauze(options, path, table, schema, sql, delta, plain):
    """Times of Gauze and of the plain question, and the answer; or nothing, nothing and the reason. `table`: a file of the embedded
    engine, for the plain question, where Gauze has the rows of `path` in memory."""
    plain = [plain.format("d")]
    runs, failure = ask(options, f"memory:{path}" if table else path, schema, sql, delta, [] if table else plain)
    plain_runs = ask(options, table, schema, sql, delta, plain)[0] if table else runs
    if not runs or not plain_runs:
        return None, None, failure
    return Times(runs), Times(plain_runs, "plain_"), [row for run in runs for row in run.get("rows", [])]


def errors(rows, truth):
    """Mean |count - true count|, and the same of sums or means, over the groups both know."""
    known = {row[0]: row for row in truth}
    result = []
    for column in (1, 2):
        differences = [abs(float(row[column]) - known[int(row[0])][column]) for row in rows
                       if int(row[0]) in known and len(row) > column and row[column] is not None]
        result.append(f"{sum(differences) / len(differences):.4g}" if differences else "")
    return result


def peer(options, name, task, path, where):
    python = pathlib.Path(options.venvs) / name / "bin/python"
    if not python.exists():
        return None, "not installed"
    try:
        result = subprocess.run([python, ROOT / "bench/query_peers.py", name, task, path, options.epsilon, where,
                                 str(options.repeat)], capture_output=True, text=True, timeout=options.limit,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
    except subprocess.TimeoutExpired:
        return None, f"more than {options.limit:g} s"
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    if result.returncode != 0 or not lines:
        return None, (result.stderr.strip().splitlines() or ["no answer"])[-1][:120]
    answer = json.loads(lines[-1])
    return Times([answer]), answer["rows"]


def report(out, options, folder, schemas, rows, peers):
    parquet = str(folder / f"d{rows}.parquet")
    generate(rows, parquet, options.written)
    held = {"file": ""}
    if options.memory:
        held["memory"] = str(folder / f"d{rows}.duckdb")
        as_table(parquet, held["memory"])
    for task, (whose, delta, ours, theirs) in TASKS.items():
        if options.tasks not in task:
            continue
        truth = duckdb.sql(theirs.format(f"'{parquet}'")).fetchall()
        for where, table in held.items():
            line = [task, rows, len(truth), where]
            base, plain, answer = gauze(options, parquet, table, schemas[whose], ours, delta, theirs)
            if base is None:
                out.writerow(line + ["gauze", answer])
                continue
            out.writerow(line + ["gauze"] + base.cells(base) + errors(answer, truth))
            out.writerow(line + ["DuckDB, no privacy"] + plain.cells(base))
            for name in peers:
                times, found = peer(options, name, task, parquet, where)
                if times is None:
                    out.writerow(line + [name, found])
                else:
                    out.writerow(line + [name] + times.cells(base) + errors(found, truth))
                sys.stdout.flush()
            sys.stdout.flush()
    for path in filter(None, [parquet, *held.values()]):
        pathlib.Path(path).unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1e7", help="for Gauze and DuckDB; several with commas")
    parser.add_argument("--peer-rows", default="1e6", help="with the other libraries beside; several with commas, 0 for none")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--limit", type=float, default=1800, help="seconds that one question may take another library, start included")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--memory", action="store_true", help="also with the data in memory")
    parser.add_argument("--tasks", default="", help="only tasks that contain this")
    parser.add_argument("--written", default="", help="how DuckDB writes the file: COMPRESSION zstd, DICTIONARY_SIZE_LIMIT 0 ...")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--folder")
    parser.add_argument("--venvs", default=str(ROOT / "build/bench/venvs"))
    parser.add_argument("--bench", default=str(ROOT / "build/bench/src/gauze/query_bench"))
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gauze_bench_", dir=options.folder))
    try:
        schemas = {}
        for whose, unit in (("row", {"unit": "row"}), ("unit", BOUNDS)):
            schema = json.loads(json.dumps(SCHEMA))
            schema["tables"]["d"] = {**unit, **schema["tables"]["d"]}
            schemas[whose] = str(folder / f"{whose}.schema.json")
            pathlib.Path(schemas[whose]).write_text(json.dumps(schema))
        out = csv.writer(sys.stdout)
        out.writerow(["task", "rows", "groups", "data", "system", "seconds", "processor seconds", "times", "times, processors",
                      "count error", "value error"])
        alone, beside = ({int(float(rows)) for rows in sizes.split(",")} for sizes in (options.rows, options.peer_rows))
        for rows in sorted((alone | beside) - {0}):
            report(out, options, folder, schemas, rows, options.peers.split(",") if rows in beside else [])
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()

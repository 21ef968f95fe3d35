#!/usr/bin/env python3
"""One question to one other library, in that library's own environment.

Usage: query_peers.py LIBRARY TASK FILE EPSILON file|memory REPEATS

Prints {"seconds": ..., "processor_seconds": ..., "rows": [[group, count, sum or mean], ...]}, the least of the runs and the rows of
all; one that took long is not repeated. With `file`, reading the file counts, as it does for Gauze; with `memory`, the data is at hand in the
form in which the library takes it. Importing the library and starting its engine do not count. A task the library cannot
express ends with an error.
"""

import json
import os
import sys
import tempfile
import time
import warnings

K = 10  # groups per unit
DELTA = 1e-6
LONG = 20  # seconds


class CannotAsk(Exception):
    pass


class Task:
    def __init__(self, text, epsilon):
        self.epsilon = epsilon
        self.by_row = text.startswith("rows")
        self.key = "h" if "keys" in text else "g"
        self.keys_are_public = self.key == "g"
        self.value = "sum" if "sum" in text else "mean" if "mean" in text else None
        self.column = {"sum": "x", "mean": "y", None: None}[self.value]
        self.bounds = {"sum": (0, 99), "mean": (0, 1000), None: None}[self.value]
        self.columns = [c for c in (None if self.by_row else "u", self.key, self.column) if c]


def opendp(task, path):
    import opendp.prelude as dp
    import polars as pl
    dp.enable_features("contrib")

    most = pl.scan_parquet(path).select(pl.len()).collect().item()  # rows in a group, for the rounding of sums

    def load(in_memory):
        return pl.read_parquet(path, columns=task.columns).lazy() if in_memory else pl.scan_parquet(path)

    def work(data):
        loss = dp.loss_of(epsilon=task.epsilon) if task.by_row else dp.loss_of(epsilon=task.epsilon, delta=DELTA)
        margins = [dp.polars.Margin(by=["g"], invariant="keys", max_length=most, max_groups=1000)]
        unit = dp.unit_of(contributions=1) if task.by_row else dp.unit_of(contributions=1, identifier="u")
        context = dp.Context.compositor(data=data, privacy_unit=unit, privacy_loss=loss, split_evenly_over=1,
                                        margins=margins if task.keys_are_public else [])
        query = context.query()
        if not task.by_row:
            query = query.truncate_per_group(K)  # rows of a unit: truncate_num_groups fails in 0.16
        what = [dp.len()]
        if task.value == "sum":
            what.append(pl.col("x").cast(pl.Int64).fill_null(0).dp.sum(bounds=task.bounds))
        if task.value == "mean":
            what.append(pl.col("y").fill_null(0).fill_nan(0).dp.sum(bounds=(0.0, 1000.0)))
        query = query.group_by(task.key).agg(*what)
        if task.keys_are_public and not task.by_row:
            query = query.with_keys(pl.LazyFrame({"g": pl.Series(range(1000), dtype=pl.Int32)}))
        rows = query.release().collect().rows()
        return [[r[0], r[1], r[2] / max(1, r[1])] for r in rows] if task.value == "mean" else rows
    return load, work


def diffprivlib(task, path):
    import diffprivlib.tools as tools
    import pandas
    warnings.simplefilter("ignore")
    if not task.by_row:
        raise CannotAsk("no units with several rows")

    def load(_):
        return pandas.read_parquet(path, columns=task.columns)

    def work(frame):
        epsilon = task.epsilon / 2 if task.value else task.epsilon
        counts, _ = tools.histogram(frame["g"].to_numpy(), epsilon=epsilon, bins=1000, range=(0, 1000))
        if not task.value:
            return [[g, n] for g, n in enumerate(counts)]
        tool = tools.sum if task.value == "sum" else tools.mean
        values = {g: tool(own.to_numpy(), epsilon=epsilon, bounds=task.bounds)
                  for g, own in frame.groupby("g")[task.column]}
        return [[g, n, values.get(g, 0)] for g, n in enumerate(counts)]
    return load, work


def smartnoise(task, path):
    import pandas
    import snsql
    columns = {"u": {"type": "int", "private_id": not task.by_row}, "g": {"type": "int"}, "h": {"type": "int"},
               "x": {"type": "int", "lower": 0, "upper": 99}, "y": {"type": "float", "lower": 0.0, "upper": 1000.0}}
    table = {"row_privacy": task.by_row, "max_ids": 1 if task.by_row else K, "censor_dims": not task.keys_are_public,
             **columns}
    metadata = {"": {"s": {"d": table}}}
    more = {"sum": ", SUM(x) AS s", "mean": ", AVG(y) AS s", None: ""}[task.value]
    count = "COUNT(*)" if task.by_row else "COUNT(DISTINCT u)"

    def load(_):
        return pandas.read_parquet(path)

    def work(frame):
        epsilon = task.epsilon / 2 if more else task.epsilon
        reader = snsql.from_df(frame, privacy=snsql.Privacy(epsilon=epsilon, delta=DELTA), metadata=metadata)
        return reader.execute(f"SELECT {task.key}, {count} AS n{more} FROM s.d GROUP BY {task.key}")[1:]
    return load, work


def pipelinedp(task, path):
    import pandas
    import pipeline_dp

    def load(_):
        return pandas.read_parquet(path, columns=["u", task.key, task.column or "x"])

    def work(frame):
        units = range(len(frame)) if task.by_row else frame["u"]
        rows = list(zip(units, frame[task.key], frame[task.column or "x"]))
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=task.epsilon, total_delta=DELTA)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        metrics = [pipeline_dp.Metrics.COUNT if task.by_row else pipeline_dp.Metrics.PRIVACY_ID_COUNT]
        if task.value:
            metrics.append(pipeline_dp.Metrics.SUM if task.value == "sum" else pipeline_dp.Metrics.MEAN)
        bounds = {"min_value": task.bounds[0], "max_value": task.bounds[1]} if task.value else {}
        params = pipeline_dp.AggregateParams(
            metrics=metrics, max_partitions_contributed=1 if task.by_row else K, max_contributions_per_partition=1,
            noise_kind=pipeline_dp.NoiseKind.LAPLACE if task.by_row else pipeline_dp.NoiseKind.GAUSSIAN, **bounds)
        extractors = pipeline_dp.DataExtractors(partition_extractor=lambda r: r[1], privacy_id_extractor=lambda r: r[0],
                                                value_extractor=lambda r: r[2])
        result = engine.aggregate(rows, params, extractors,
                                  public_partitions=list(range(1000)) if task.keys_are_public else None)
        accountant.compute_budgets()
        names = ["count" if task.by_row else "privacy_id_count"] + ([task.value] if task.value else [])
        return [[key] + [getattr(metrics, name) for name in names] for key, metrics in result]
    return load, work


def tumult(task, path):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession
    from tmlt.analytics import (AddMaxRows, AddRowsWithID, ApproxDPBudget, KeySet, MaxGroupsPerID,
                                MaxRowsPerGroupPerID, PureDPBudget, QueryBuilder, Session)
    spark = SparkSession.builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "8g").config(
        "spark.sql.warehouse.dir", tempfile.mkdtemp(prefix="gauze_spark_")).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")

    def load(in_memory):
        frame = spark.read.parquet(path)
        if in_memory:
            frame.cache().count()
        return frame

    def work(frame):
        change = AddMaxRows(1) if task.by_row else AddRowsWithID("u")
        budget = PureDPBudget(task.epsilon) if task.by_row else ApproxDPBudget(task.epsilon, DELTA)
        session = Session.from_dataframe(budget, "d", frame, protected_change=change)
        query = QueryBuilder("d")
        part = PureDPBudget(task.epsilon / 2) if task.value else budget
        if not task.by_row:
            query = query.enforce(MaxGroupsPerID(task.key, K)).enforce(MaxRowsPerGroupPerID(task.key, 1))
        if task.keys_are_public:
            keys = KeySet.from_dict({"g": list(range(1000))})
        else:  # names are selected with half of the budget and counted with the other
            part = ApproxDPBudget(task.epsilon / 2, DELTA / 2)
            keys = KeySet.from_dataframe(session.evaluate(query.get_groups(["h"]), part))
        query = query.groupby(keys)
        rows = {row[task.key]: [row["count"]] for row in session.evaluate(query.count(), part).collect()}
        if task.value:
            low, high = task.bounds
            asked = query.sum("x", low=low, high=high, name="v") if task.value == "sum" else query.average(
                "y", low=low, high=high, name="v")
            for row in session.evaluate(asked, part).collect():
                rows[row["g"]].append(row["v"])
        return [[g, *cells] for g, cells in rows.items()]
    return load, work


LIBRARIES = {"opendp": opendp, "diffprivlib": diffprivlib, "smartnoise": smartnoise, "pipelinedp": pipelinedp,
             "tumult": tumult}


def main():
    library, text, path, epsilon, where, repeats = sys.argv[1:]
    load, work = LIBRARIES[library](Task(text, float(epsilon)), path)
    in_memory = where == "memory"
    data = load(in_memory) if in_memory else None
    best = None
    rows = []
    for _ in range(int(repeats)):
        start = time.perf_counter(), time.process_time()
        rows += work(data if in_memory else load(in_memory))
        times = time.perf_counter() - start[0], time.process_time() - start[1]
        best = times if best is None else tuple(map(min, best, times))
        if times[0] > LONG:
            break
    print(json.dumps({"seconds": best[0], "processor_seconds": best[1],
                      "rows": [[float(cell) for cell in r] for r in rows if all(cell is not None for cell in r)]}))


if __name__ == "__main__":
    main()

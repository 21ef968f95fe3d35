#!/usr/bin/env python3
"""One question to one other library, in that library's own environment: query_peers.py LIBRARY TASK FILE EPSILON.

Prints {"seconds": ..., "rows": [[group, count], ...]}. Reading the file counts, as it does for Gauze; importing the library and
starting its engine does not. A task the library cannot express ends with an error.
"""

import json
import os
import sys
import time

K, R = 10, 2  # groups per unit, rows per group
DELTA = 1e-6


class CannotAsk(Exception):
    pass


def opendp(task, path, epsilon):
    import opendp.prelude as dp
    import polars as pl
    dp.enable_features("contrib")
    by_row = task.startswith("rows")

    def work():
        loss = dp.loss_of(epsilon=epsilon) if by_row else dp.loss_of(epsilon=epsilon, delta=DELTA)
        margins = [] if "keys" in task else [dp.polars.Margin(by=["g"], invariant="keys", max_length=10**8, max_groups=1000)]
        unit = dp.unit_of(contributions=1) if by_row else dp.unit_of(contributions=1, identifier="u")
        context = dp.Context.compositor(data=pl.scan_parquet(path), privacy_unit=unit, privacy_loss=loss,
                                        split_evenly_over=1, margins=margins)
        key = "h" if "keys" in task else "g"
        query = context.query()
        if not by_row:
            query = query.truncate_per_group(K)  # rows of a unit: truncate_num_groups fails in 0.16
        what = [dp.len()]
        if "sum" in task:
            what.append(pl.col("x").cast(pl.Int64).fill_null(0).dp.sum(bounds=(0, 99)))
        if "mean" in task:
            what.append(pl.col("y").fill_null(0).fill_nan(0).dp.sum(bounds=(0.0, 1000.0)))
        return query.group_by(key).agg(*what).release().collect().rows()
    return work


def diffprivlib(task, path, epsilon):
    import diffprivlib.tools as tools
    import pandas
    if not task.startswith("rows"):
        raise CannotAsk("no units with several rows")

    def work():
        frame = pandas.read_parquet(path, columns=["g"])
        counts, _ = tools.histogram(frame["g"].to_numpy(), epsilon=epsilon / 2, bins=1000, range=(0, 1000))
        return [[g, float(n)] for g, n in enumerate(counts)]
    return work


def smartnoise(task, path, epsilon):
    import pandas
    import snsql
    key = "h" if "keys" in task else "g"
    by_row = task.startswith("rows")
    columns = {"u": {"type": "int", "private_id": not by_row}, "g": {"type": "int"}, "h": {"type": "int"},
               "x": {"type": "int", "lower": 0, "upper": 99}, "y": {"type": "float", "lower": 0.0, "upper": 1000.0}}
    table = {"row_privacy": by_row, "max_ids": 1 if by_row else K, "censor_dims": "keys" in task, **columns}
    metadata = {"": {"s": {"d": table}}}
    more = ", SUM(x) AS s" if "sum" in task else ", AVG(y) AS s" if "mean" in task else ""
    count = "COUNT(*)" if by_row else "COUNT(DISTINCT u)"

    def work():
        frame = pandas.read_parquet(path)
        reader = snsql.from_df(frame, privacy=snsql.Privacy(epsilon=epsilon / 2 if more else epsilon, delta=DELTA),
                               metadata=metadata)
        return reader.execute(f"SELECT {key}, {count} AS n{more} FROM s.d GROUP BY {key}")[1:]
    return work


def pipelinedp(task, path, epsilon):
    import pandas
    import pipeline_dp
    key = "h" if "keys" in task else "g"
    by_row = task.startswith("rows")

    def work():
        frame = pandas.read_parquet(path, columns=["u", key, "x", "y"])
        units = range(len(frame)) if by_row else frame["u"]
        rows = list(zip(units, frame[key], frame["y" if "mean" in task else "x"]))
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=DELTA)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        metrics = [pipeline_dp.Metrics.COUNT if by_row else pipeline_dp.Metrics.PRIVACY_ID_COUNT]
        if "sum" in task:
            metrics.append(pipeline_dp.Metrics.SUM)
        if "mean" in task:
            metrics.append(pipeline_dp.Metrics.MEAN)
        bounds = {"min_value": 0, "max_value": 1000 if "mean" in task else 99} if len(metrics) > 1 else {}
        params = pipeline_dp.AggregateParams(
            metrics=metrics, max_partitions_contributed=1 if by_row else K,
            max_contributions_per_partition=1, noise_kind=pipeline_dp.NoiseKind.LAPLACE if by_row
            else pipeline_dp.NoiseKind.GAUSSIAN, **bounds)
        extractors = pipeline_dp.DataExtractors(partition_extractor=lambda r: r[1], privacy_id_extractor=lambda r: r[0],
                                                value_extractor=lambda r: r[2])
        public = None if "keys" in task else list(range(1000))
        result = engine.aggregate(rows, params, extractors, public_partitions=public)
        accountant.compute_budgets()
        name = "count" if by_row else "privacy_id_count"
        return [[int(k), getattr(m, name)] for k, m in result]
    return work


def tumult(task, path, epsilon):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession
    from tmlt.analytics import (AddMaxRows, AddRowsWithID, ApproxDPBudget, KeySet, MaxGroupsPerID,
                                MaxRowsPerGroupPerID, PureDPBudget, QueryBuilder, Session)
    spark = SparkSession.builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "8g").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    by_row = task.startswith("rows")
    if "keys" in task:
        raise CannotAsk("left out: key selection is another session")

    def work():
        frame = spark.read.parquet(path)
        change = AddMaxRows(1) if by_row else AddRowsWithID("u")
        budget = PureDPBudget(epsilon) if by_row else ApproxDPBudget(epsilon, DELTA)
        session = Session.from_dataframe(budget, "d", frame, protected_change=change)
        query = QueryBuilder("d")
        if not by_row:
            query = query.enforce(MaxGroupsPerID("g", K)).enforce(MaxRowsPerGroupPerID("g", 1))
        query = query.groupby(KeySet.from_dict({"g": list(range(1000))}))
        if by_row:
            counted = session.evaluate(query.count(), PureDPBudget(epsilon / 2)).collect()
            if "sum" in task:
                session.evaluate(query.sum("x", low=0, high=99), PureDPBudget(epsilon / 2)).collect()
            else:
                session.evaluate(query.average("y", low=0, high=1000), PureDPBudget(epsilon / 2)).collect()
        else:
            counted = session.evaluate(query.count(), budget).collect()
        return [[row["g"], row["count"]] for row in counted]
    return work


def main():
    library, task, path, epsilon = sys.argv[1:]
    work = {"opendp": opendp, "diffprivlib": diffprivlib, "smartnoise": smartnoise, "pipelinedp": pipelinedp,
            "tumult": tumult}[library](task, path, float(epsilon))
    start = time.perf_counter()
    rows = work()
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "rows": [[int(r[0]), float(r[1])] for r in rows if r[0] is not None]}))


if __name__ == "__main__":
    main()

"""The tables of results, made of rows of one run each: those of a simulation, and those of stored shards."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.problem import RECORDS, Outcome
from lowregret.environments import Bandit, DriftingBandit


def run_rows(
    first_run: int, regret: Floats, pulls: Integers, eliminated: Integers | None, records: Mapping[str, Any]
) -> pl.DataFrame:
    """Return one row per run: its number, regret at each time, pulls and eliminations by arm, and records."""
    runs, arms = pulls.shape
    columns = [
        pl.Series("run", np.arange(first_run, first_run + runs)),
        _lists("regret", regret, np.float64, regret.shape[1]),
        _lists("pulls", pulls, np.int64, arms),
        _lists("eliminated", [None] * runs if eliminated is None else eliminated, np.int64, arms),
    ]
    columns += [
        _lists(name, values, RECORDS[name].dtype, values.shape[1]) for name, values in records.items()
    ]
    return pl.DataFrame(columns)


def _lists(name: str, values: Any, dtype: type, width: int) -> pl.Series:
    kind = pl.Float64 if dtype is np.float64 else pl.Int64
    return pl.Series(name, values, pl.Array(kind, width)).cast(pl.List(kind))


def outcome_table(bandit: Bandit, horizon: int, outcomes: Mapping[str, Outcome], name: str) -> pl.LazyFrame:
    """Return one of the tables finals, curves, pulls, events and arms of a simulation."""
    arms = table_of_arms(bandit, bandit.name, horizon)
    rows = []
    for policy, outcome in outcomes.items():
        records = {key: values for key, values in outcome.records.items() if RECORDS[key].column}
        own = run_rows(0, outcome.regret, outcome.pulls, outcome.eliminated, records).lazy()
        rows.append(own.with_columns(environment=pl.lit(bandit.name), policy=pl.lit(policy)))
        times = outcome.grid.tolist()  # the same of all policies
    return run_tables(pl.concat(rows), {bandit.name: times}, arms)[name]


def run_tables(
    rows: pl.LazyFrame, times: Mapping[str, Sequence[int]], arms: pl.DataFrame
) -> dict[str, pl.LazyFrame]:
    """Return the tables of runs, from their rows with the names of environment and policy.

    ``times`` are those of each environment at which regret is recorded.
    """
    counts = dict(arms.group_by("environment").len().iter_rows())
    lists = pl.LazyFrame(
        {
            "environment": list(times),
            "t": list(times.values()),
            "arm": [range(counts[environment]) for environment in times],
        },
        schema={"environment": pl.String, "t": pl.List(pl.Int64), "arm": pl.List(pl.Int64)},
    )
    rows = rows.join(lists, on="environment", how="left", maintain_order="left")
    who = ("environment", "policy", "run")
    stored = rows.collect_schema().names()
    columns: dict[str, dict[str, str]] = {"arm": {}, "time": {}, "run": {}}
    for name, record in RECORDS.items():
        if record.column and name in stored:
            columns[record.axis][name] = record.column
    totals = {column: pl.col(name).list.sum() for name, column in columns["arm"].items()}
    totals |= {column: pl.col(name).list.first() for name, column in columns["run"].items()}
    by_arm, by_time = ("arm", "pulls", *columns["arm"]), ("t", "regret", *columns["time"])
    return {
        "finals": rows.select(*who, regret=pl.col("regret").list.last(), **totals),
        "curves": rows.select(*who, *by_time).explode(by_time).rename(columns["time"]),
        "pulls": rows.select(*who, *by_arm).explode(by_arm).rename(columns["arm"]),
        "events": rows.filter(pl.col("eliminated").is_not_null())
        .select(*who, t="eliminated", arm="arm")
        .explode("t", "arm")
        .filter(pl.col("t") > 0)
        .with_columns(event=pl.lit("eliminated")),
        "arms": arms.lazy(),
    }


def table_of_arms(bandit: Bandit, name: str, horizon: int) -> pl.DataFrame:
    """Return the arms of a bandit as a table; where means change, with averages up to the horizon."""
    means, gaps, optimal = bandit.means, bandit.gaps, bandit.optimal
    if isinstance(bandit, DriftingBandit):
        means, best = bandit.averages(horizon)
        gaps, optimal = best - means, means == means.max()
    columns = {
        "arm": np.arange(len(bandit)),
        "mean": means,
        "variance": bandit.variances,
        "gap": gaps,
        "optimal": optimal,
    }
    return pl.DataFrame(columns).select(pl.lit(name).alias("environment"), pl.all())

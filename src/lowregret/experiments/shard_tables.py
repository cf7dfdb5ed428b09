"""The tables of an experiment, with a row for each number, from the rows of its shards, one for each run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import polars as pl

from lowregret.engine.problem import RECORDS
from lowregret.experiments.sharding import ShardPlan
from lowregret.results import arm_table

NamedPair: TypeAlias = tuple[str, str, Sequence[str]]
"""The names of an environment, of a policy, and of the shards of the two in the order of runs."""
Rows: TypeAlias = Callable[[Sequence[str]], pl.LazyFrame]
"""Returns the rows of some shards, given by their names, with the name of each one's ``shard``."""


def scan_shards(folder: Path) -> Rows:
    """Return a function that scans shards of a folder lazily, each row with the name of its shard."""

    def rows(shards: Sequence[str]) -> pl.LazyFrame:
        paths = [folder / f"{shard}.parquet" for shard in shards]
        scan = pl.scan_parquet(paths, glob=False, include_file_paths="shard")
        ends = len(shards[0]) + len(paths[0].suffix)
        return scan.with_columns(pl.col("shard").str.slice(-ends, len(shards[0])))

    return rows


def plan_tables(plan: ShardPlan, rows: Rows) -> dict[str, pl.LazyFrame]:
    pairs = [(pair.environment, pair.policy, [shard.name for shard in pair.shards]) for pair in plan.pairs]
    return long_tables(pairs, *times_and_arms(plan), rows)


def times_and_arms(plan: ShardPlan) -> tuple[dict[str, Sequence[int]], pl.DataFrame]:
    cases = plan.experiment.resolved_environments
    arms = pl.concat([arm_table(case.bandit, case.name, case.horizon) for case in cases])
    return {case.name: case.times for case in cases}, arms


def long_tables(
    pairs: Sequence[NamedPair], times: Mapping[str, Sequence[int]], arms: pl.DataFrame, rows: Rows
) -> dict[str, pl.LazyFrame]:
    counts = dict(arms.group_by("environment").len().iter_rows())
    lists = pl.LazyFrame(
        {
            "environment": list(times),
            "t": list(times.values()),
            "arm": [range(counts[environment]) for environment in times],
        },
        schema={"environment": pl.String, "t": pl.List(pl.Int64), "arm": pl.List(pl.Int64)},
    )
    # One scan for many pairs: with a scan for each the time would grow faster than their number.
    named = pl.concat([_named(part, rows) for part in _apart(pairs)])
    return {
        **_of_runs(named.join(lists, on="environment", how="left", maintain_order="left")),
        "arms": arms.lazy(),
    }


def _apart(pairs: Sequence[NamedPair]) -> Iterator[list[NamedPair]]:
    """Yield the pairs in their order, in groups in which no shard occurs twice."""
    part: list[NamedPair] = []
    seen: set[str] = set()
    for pair in pairs:
        if not seen.isdisjoint(pair[2]):
            yield part
            part, seen = [], set()
        part.append(pair)
        seen.update(pair[2])
    yield part


def _named(pairs: Sequence[NamedPair], rows: Rows) -> pl.LazyFrame:
    """Return the rows of pairs that share no shard, with the names of environment and policy."""
    named = [(shard, environment, policy) for environment, policy, shards in pairs for shard in shards]
    names = pl.LazyFrame(named, schema=["shard", "environment", "policy"], orient="row")
    return rows([shard for shard, *_ in named]).join(names, on="shard", how="left", maintain_order="left")


def _of_runs(rows: pl.LazyFrame) -> dict[str, pl.LazyFrame]:
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
    }

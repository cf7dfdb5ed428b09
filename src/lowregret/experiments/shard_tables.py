"""The rows of an experiment: which shards its pairs of environment and policy are in, and their tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import polars as pl

from lowregret.experiments.sharding import ShardPlan
from lowregret.results.run_tables import run_tables, table_of_arms

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
    return tables_of_pairs(pairs, *times_and_arms(plan), rows)


def times_and_arms(plan: ShardPlan) -> tuple[dict[str, Sequence[int]], pl.DataFrame]:
    cases = plan.experiment.resolved_environments
    arms = pl.concat([table_of_arms(case.bandit, case.name, case.horizon) for case in cases])
    return {case.name: case.times for case in cases}, arms


def tables_of_pairs(
    pairs: Sequence[NamedPair], times: Mapping[str, Sequence[int]], arms: pl.DataFrame, rows: Rows
) -> dict[str, pl.LazyFrame]:
    # One scan for many pairs: with a scan for each the time would grow faster than their number.
    return run_tables(pl.concat([_named_rows(part, rows) for part in _apart(pairs)]), times, arms)


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


def _named_rows(pairs: Sequence[NamedPair], rows: Rows) -> pl.LazyFrame:
    """Return the rows of pairs that share no shard, with the names of environment and policy."""
    named = [(shard, environment, policy) for environment, policy, shards in pairs for shard in shards]
    names = pl.LazyFrame(named, schema=["shard", "environment", "policy"], orient="row")
    return rows([shard for shard, *_ in named]).join(names, on="shard", how="left", maintain_order="left")

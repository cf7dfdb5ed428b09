"""The tables of an experiment, from the rows of its shards; `lowregret.results.results` lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from lowregret.experiments.plan import Pair, Plan, Shard
from lowregret.results import arm_table


def long_tables(plan: Plan, rows: Callable[[Sequence[Shard]], pl.LazyFrame]) -> dict[str, pl.LazyFrame]:
    """Return the tables of all results.

    ``rows`` returns the rows of some shards in their order, with the name of each one's ``shard``.
    """
    cases = plan.experiment.cases
    lists = pl.LazyFrame(
        {
            "environment": [case.name for case in cases],
            "t": [case.times for case in cases],
            "arm": [range(len(case.bandit)) for case in cases],
        },
        schema={"environment": pl.String, "t": pl.List(pl.Int64), "arm": pl.List(pl.Int64)},
    )
    # One scan for many pairs: with a scan for each the time would grow faster than their number.
    named = pl.concat([_named(pairs, rows) for pairs in _apart(plan.pairs)])
    arms = pl.concat([arm_table(case.bandit, case.name) for case in cases]).lazy()
    return {**_of_runs(named.join(lists, on="environment", how="left", maintain_order="left")), "arms": arms}


def _apart(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Yield the pairs in their order, in groups in which no shard occurs twice."""
    part: list[Pair] = []
    seen: set[str] = set()
    for pair in pairs:
        names = {shard.name for shard in pair.shards}
        if seen & names:
            yield part
            part, seen = [], set()
        part.append(pair)
        seen |= names
    yield part


def _named(pairs: Sequence[Pair], rows: Callable[[Sequence[Shard]], pl.LazyFrame]) -> pl.LazyFrame:
    """Return the rows of pairs that share no shard, with the names of environment and policy."""
    owned = [(pair, shard) for pair in pairs for shard in pair.shards]
    names = {
        "shard": [shard.name for _, shard in owned],
        "environment": [pair.environment for pair, _ in owned],
        "policy": [pair.policy for pair, _ in owned],
    }
    given = rows([shard for _, shard in owned])
    return given.join(pl.LazyFrame(names), on="shard", how="left", maintain_order="left")


def _of_runs(rows: pl.LazyFrame) -> dict[str, pl.LazyFrame]:
    who = ("environment", "policy", "run")
    return {
        "finals": rows.select(*who, regret=pl.col("regret").list.last()),
        "curves": rows.select(*who, "t", "regret").explode("t", "regret"),
        "pulls": rows.select(*who, "arm", "pulls").explode("arm", "pulls"),
        "events": rows.filter(pl.col("eliminated").is_not_null())
        .select(*who, t="eliminated", arm="arm")
        .explode("t", "arm")
        .filter(pl.col("t") > 0)
        .with_columns(event=pl.lit("eliminated")),
    }

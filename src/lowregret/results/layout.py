"""The long tables of an experiment, from the rows of its shards.

==========  ==================================================  ============================================
table       columns                                             one row for
==========  ==================================================  ============================================
finals      environment, policy, run, regret                    every run: the regret at the horizon
curves      environment, policy, run, t, regret                 every run and recorded time
pulls       environment, policy, run, arm, pulls                every run and arm
events      environment, policy, run, t, arm, event             every arm that was eliminated
arms        environment, arm, mean, variance, gap, optimal      every arm of every environment
==========  ==================================================  ============================================

Rows follow the order of the experiment: environments, policies, runs, then times or arms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import polars as pl

from lowregret.environments import Bandit
from lowregret.experiments.plan import Pair, Plan, Shard

TABLES = ("finals", "curves", "pulls", "events", "arms")
"""The names of the tables."""


def long_tables(plan: Plan, rows: Callable[[Sequence[Shard]], pl.LazyFrame]) -> dict[str, pl.LazyFrame]:
    """Lay out all results.

    Parameters
    ----------
    plan : Plan
        What was run.
    rows : callable
        Gives the rows of some shards in their order, with the name of each one's ``shard``.
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


def arm_table(bandit: Bandit, name: str) -> pl.DataFrame:
    """Lay out the arms of a bandit, under the name of its environment."""
    columns = {
        "arm": np.arange(len(bandit)),
        "mean": bandit.means,
        "variance": bandit.variances,
        "gap": bandit.gaps,
        "optimal": bandit.optimal,
    }
    return pl.DataFrame(columns).select(pl.lit(name).alias("environment"), pl.all())


def _apart(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Cut the pairs, in their order, where a shard would come a second time."""
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
    """Give the rows of pairs that share no shard, with the names of environment and policy."""
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

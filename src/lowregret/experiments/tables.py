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

from collections.abc import Callable

import numpy as np
import polars as pl

from lowregret.experiments.cases import Case
from lowregret.experiments.plan import Pair, Plan

TABLES = ("finals", "curves", "pulls", "events", "arms")
"""The names of the tables."""


def long_tables(plan: Plan, rows: Callable[[Pair], pl.LazyFrame]) -> dict[str, pl.LazyFrame]:
    """Lay out all results; ``rows`` gives the rows of a pair's shards, in the order of runs."""
    parts: dict[str, list[pl.LazyFrame]] = {name: [] for name in TABLES}
    cases = {case.name: case for case in plan.experiment.cases}
    for case in cases.values():
        parts["arms"].append(_arms(case))
    for pair in plan.pairs:
        given = rows(pair).with_columns(environment=pl.lit(pair.environment), policy=pl.lit(pair.policy))
        for name, table in _of_pair(given, cases[pair.environment]).items():
            parts[name].append(table)
    return {name: pl.concat(tables) for name, tables in parts.items()}


def _of_pair(rows: pl.LazyFrame, case: Case) -> dict[str, pl.LazyFrame]:
    times = pl.lit(pl.Series([list(case.times)], dtype=pl.List(pl.Int64))).first()
    arms = pl.lit(pl.Series([list(range(len(case.bandit)))], dtype=pl.List(pl.Int64))).first()
    who = ("environment", "policy", "run")
    return {
        "finals": rows.select(*who, regret=pl.col("regret").list.last()),
        "curves": rows.select(*who, t=times, regret="regret").explode("t", "regret"),
        "pulls": rows.select(*who, arm=arms, pulls="pulls").explode("arm", "pulls"),
        "events": rows.filter(pl.col("eliminated").is_not_null())
        .select(*who, t="eliminated", arm=arms)
        .explode("t", "arm")
        .filter(pl.col("t") > 0)
        .with_columns(event=pl.lit("eliminated")),
    }


def _arms(case: Case) -> pl.LazyFrame:
    bandit = case.bandit
    columns = {
        "arm": np.arange(len(bandit)),
        "mean": bandit.means,
        "variance": bandit.variances,
        "gap": bandit.gaps,
        "optimal": bandit.optimal,
    }
    return pl.LazyFrame(columns).select(pl.lit(case.name).alias("environment"), pl.all())

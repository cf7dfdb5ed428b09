"""Ranks of the policies in each run, averaged over runs and environments: 1 is the lowest regret."""

import polars as pl

from lowregret.analysis.columns import KEYS
from lowregret.analysis.intervals import NEGLIGIBLE
from lowregret.analysis.tables import Tables

SE = pl.col("rank").std() / pl.len().sqrt()
"""The standard error of a mean rank, null for a single one."""


def ranks(tables: Tables) -> pl.DataFrame:
    """Rank the policies by their final regret in every run that all of an environment have, and average."""
    return _mean_ranks(tables.finals, _with_ranks(tables.finals))


def average_ranks(tables: Tables) -> pl.DataFrame:
    """Average the ranks over the environments, of the policies that play in every one, the best first.

    ``se`` is over the runs, for these environments; run r has the same random numbers in all of them, so it
    counts once. ``se_environments`` is for environments that are a sample of others like them.
    """
    count = tables.finals["environment"].n_unique()
    shared = tables.finals.filter(pl.col("environment").n_unique().over("policy") == count)
    placed = _with_ranks(shared)
    runs = placed.group_by("policy", "run").agg(pl.len(), pl.col("rank").mean()).filter(len=count)
    errors = runs.group_by("policy").agg(se=SE)
    return (
        _mean_ranks(shared, placed)
        .group_by("policy", maintain_order=True)
        .agg(environments=pl.len(), rank=pl.col("rank").mean(), se_environments=SE)
        .join(errors, on="policy", how="left", maintain_order="left")
        .select("policy", "environments", "rank", "se", "se_environments")
        .sort("rank", maintain_order=True)
    )


def _with_ranks(finals: pl.DataFrame) -> pl.DataFrame:
    """Add the rank to every run that all policies of its environment have."""
    run = ("environment", "run")
    regret = pl.col("regret")
    # A level of equal regrets ends where the next larger one is larger by more than rounding.
    step = regret.diff().over(run, order_by="regret") > NEGLIGIBLE * regret.abs().max().over("environment")
    level = step.fill_null(value=False).cum_sum().over(run, order_by="regret")
    common = finals.filter(
        pl.col("policy").n_unique().over("environment") == pl.len().over("environment", "run")
    )
    return common.with_columns(level.alias("level")).with_columns(
        pl.col("level").rank("average").over(run).alias("rank")
    )


def _mean_ranks(finals: pl.DataFrame, placed: pl.DataFrame) -> pl.DataFrame:
    """Average the ranks over the runs, in the order of the results."""
    averages = placed.group_by(KEYS).agg(runs=pl.len(), rank=pl.col("rank").mean(), se=SE)
    order = finals.select(KEYS).unique(maintain_order=True)
    return order.join(averages, on=KEYS, how="left", maintain_order="left").with_columns(
        pl.col("runs").fill_null(0).cast(pl.Int64)
    )

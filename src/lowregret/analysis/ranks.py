"""Ranks of the policies: 1 is the lowest regret."""

from __future__ import annotations

import polars as pl

from lowregret.analysis.intervals import NEGLIGIBLE
from lowregret.analysis.tables import Tables


def ranks(tables: Tables) -> pl.DataFrame:
    """Rank the policies in every run by their final regret, and average over the runs.

    Equal regrets share the mean of their ranks. Only runs that every policy of the environment has count.
    The columns are environment, policy, runs, rank and its standard error se, null below two runs.
    """
    return _ranked(tables.finals)


def average_ranks(tables: Tables) -> pl.DataFrame:
    """Average the ranks over the environments.

    The policies that play in every environment are ranked among themselves, so that a rank means the same
    everywhere. The columns are policy, environments, rank, se and se_environments, the best first; there are
    no rows where no policy plays everywhere. The standard error ``se`` is over the runs, for these
    environments; ``se_environments`` is for environments that are a sample of others like them.
    """
    finals = tables.finals
    everywhere = (
        finals.group_by("policy", maintain_order=True)
        .agg(pl.col("environment").n_unique())
        .filter(pl.col("environment") == finals["environment"].n_unique())
    )
    shared = _ranked(finals.filter(pl.col("policy").is_in(everywhere["policy"].to_list())))
    return (
        shared.group_by("policy", maintain_order=True)
        .agg(
            environments=pl.len(),
            rank=pl.col("rank").mean(),
            # The sum of squares is null where one of them is.
            se=pl.when(pl.col("se").is_not_null().all()).then((pl.col("se") ** 2).sum().sqrt() / pl.len()),
            se_environments=pl.col("rank").std() / pl.len().sqrt(),
        )
        .sort("rank", maintain_order=True)
    )


def _ranked(finals: pl.DataFrame) -> pl.DataFrame:
    run = ("environment", "run")
    regret = pl.col("regret")
    # A level of equal regrets ends where the next larger one is larger by more than rounding.
    step = regret.diff().over(run, order_by="regret") > NEGLIGIBLE * regret.abs().max().over("environment")
    level = step.fill_null(value=False).cum_sum().over(run, order_by="regret")
    common = finals.filter(
        pl.col("policy").n_unique().over("environment") == pl.len().over("environment", "run")
    )
    placed = common.with_columns(level.alias("level")).with_columns(
        pl.col("level").rank("average").over(run).alias("rank")
    )
    found = placed.group_by("environment", "policy").agg(
        runs=pl.len(), rank=pl.col("rank").mean(), se=pl.col("rank").std() / pl.len().sqrt()
    )
    order = finals.select("environment", "policy").unique(maintain_order=True)
    return order.join(found, on=["environment", "policy"], how="left", maintain_order="left").with_columns(
        pl.col("runs").fill_null(0).cast(pl.Int64)
    )

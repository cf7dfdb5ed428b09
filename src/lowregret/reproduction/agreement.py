"""Simulated final regret in the three readings, beside the published regret and uniform play."""

import polars as pl

from lowregret.reproduction.interpretations import AS_PLOTTED, AS_PRINTED, RELEASED_WIDTH, configurations
from lowregret.reproduction.published import published_regret
from lowregret.reproduction.stated import PAPER, UNIFORM_PLAY

NEAR_UNIFORM = 10.0
"""A policy ends near uniform play if its regret differs by at most this percentage. The threshold is ours."""


def regret_by_reading(summary: pl.DataFrame, seed: int | None) -> pl.DataFrame:
    """Summarise the final regret of every configuration that was run: one row each.

    The summary is that of the results of `lowregret.reproduction.interpretations.experiments_to_run`, or of
    some of these.
    ``policy`` is the paper's name, ``our_policy`` the policy of this package, ``published`` the regret in the
    paper's figure, ``seed`` the seed of the rewards. The other columns are those of `summarise`.
    """
    rows = [
        {**case._asdict(), "published": published_regret(case.experiment, case.policy)}
        for experiment in PAPER
        for case in configurations(experiment.number)
    ]
    planned = pl.DataFrame(rows, schema_overrides={"published": pl.Float64})
    summary = summary.rename({"policy": "our_policy"})
    return planned.join(summary, on=["environment", "our_policy"], maintain_order="left").with_columns(
        pl.selectors.float().round(9),  # a sum of equal gaps differs from their product in the last bits
        seed=pl.lit(seed, pl.UInt64),
    )


def pivot_readings(table: pl.DataFrame) -> pl.DataFrame:
    """Pivot the table of `regret_by_reading` to one row per experiment and policy.

    ``plotted``, ``printed`` and ``released`` are the means in the three readings, ``plotted_se`` and so on
    their standard errors; ``optimal_arm_eliminated`` is as printed.
    """
    keys = ["experiment", "policy"]
    pivoted = table.select(*keys, "published").unique(maintain_order=True)
    for reading, name in ((AS_PLOTTED, "plotted"), (AS_PRINTED, "printed"), (RELEASED_WIDTH, "released")):
        columns = {name: "mean", f"{name}_se": "se"}
        part = table.filter(reading=reading).select(*keys, **columns)
        pivoted = pivoted.join(part, on=keys, how="left")
    printed = table.filter(reading=AS_PRINTED).select(*keys, "optimal_arm_eliminated")
    return pivoted.join(printed, on=keys, how="left")


def near_uniform_play(table: pl.DataFrame) -> pl.DataFrame:
    """Count the policies that end near uniform play as printed, from the table of `regret_by_reading`.

    ``policies`` counts the policies of the text that were run, uniform play excluded, ``near`` those whose
    mean final regret is within 10% of that of uniform play, and ``most`` says whether these are more than
    half. An experiment without uniform play is omitted.
    """
    printed = table.filter(reading=AS_PRINTED)
    uniform = printed.filter(policy=UNIFORM_PLAY).select("experiment", uniform_play="mean")
    joined = printed.filter(pl.col("policy") != UNIFORM_PLAY).join(uniform, on="experiment")
    distance = 100.0 * (pl.col("mean") / pl.col("uniform_play") - 1.0).abs()
    counted = joined.group_by("experiment", "uniform_play", maintain_order=True).agg(
        policies=pl.len().cast(pl.Int64), near=(distance <= NEAR_UNIFORM).sum().cast(pl.Int64)
    )
    return counted.with_columns(most=2 * pl.col("near") > pl.col("policies"))

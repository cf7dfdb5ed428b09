"""Agreement with the paper: simulated regret in the three readings beside the published regret.

All functions take the results of `lowregret.reproduction.readings.experiments_to_run`, or of some of these
experiments.
"""

from __future__ import annotations

from math import isclose, sqrt
from typing import Any

import polars as pl

from lowregret.analysis.summary import summarise, summarise_curves
from lowregret.analysis.tables import Tables
from lowregret.reproduction.plotted import Curve
from lowregret.reproduction.published import PUBLISHED_RUNS, REGRETS, TIMES, published_regret
from lowregret.reproduction.readings import AS_PLOTTED, AS_PRINTED, RELEASED_WIDTH, configurations
from lowregret.reproduction.stated import PAPER, PaperExperiment

MATCHED, NOT_MATCHED, NOT_REPRODUCED = "matched", "not matched", "not reproduced"
"""The verdicts on a published curve."""

MAX_Z_SCORE = 3.0
"""A curve is matched within this many standard errors of the difference,"""
MAX_PERCENT = 5.0
"""or within this percentage of the published regret."""

_MATCH_SCHEMA = {
    "experiment": pl.Int64,
    "policy": pl.String,
    "our_policy": pl.String,
    "environment": pl.String,
    "published": pl.Float64,
    "mean": pl.Float64,
    "se": pl.Float64,
    "published_se": pl.Float64,
    "z_score": pl.Float64,
    "percent": pl.Float64,
    "verdict": pl.String,
    "reason": pl.String,
}


def regret_by_reading(results: Tables) -> pl.DataFrame:
    """Summarise the final regret of every configuration that was run: one row each.

    ``policy`` is the paper's name, ``our_policy`` the policy of this package, ``published`` the regret in the
    paper's figure, ``seed`` the seed of the rewards. The other columns are those of `summarise`.
    """
    rows = [
        {**each._asdict(), "published": published_regret(each.experiment, each.policy)}
        for experiment in PAPER
        for each in configurations(experiment.number)
    ]
    planned = pl.DataFrame(rows, schema_overrides={"published": pl.Float64})
    summary = summarise(results).rename({"policy": "our_policy"})
    return planned.join(summary, on=["environment", "our_policy"], maintain_order="left").with_columns(
        pl.selectors.float().round(9),  # a sum of equal gaps differs from their product in the last bits
        seed=pl.lit(results.seed, pl.UInt64),
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


def compare_points(results: Tables) -> pl.DataFrame:
    """Return the simulated regret as plotted at every published point, null for a curve not reproduced."""
    points = [
        (experiment.number, curve.policy, t, regret, curve.environment, curve.our_policy)
        for experiment in _plotted_experiments(results)
        for curve in experiment.curves
        for t, regret in zip(TIMES[experiment.number], REGRETS[experiment.number][curve.policy], strict=True)
    ]
    keys = ["environment", "our_policy", "t"]
    schema = ["experiment", "policy", "t", "published", *keys[:2]]
    simulated = summarise_curves(results).select("environment", "t", "mean", "se", our_policy="policy")
    joined = pl.DataFrame(points, schema=schema, orient="row").join(
        simulated, on=keys, how="left", maintain_order="left"
    )
    return joined.drop(keys[:2]).with_columns(pl.col("mean", "se").round(9))


def match_curves(results: Tables) -> pl.DataFrame:
    """Decide for each published curve whether its configuration reproduces it.

    A curve is matched if our mean at the horizon is within 3 standard errors of the difference, or within
    5%, of the published mean. Published means are averages of 100 runs of unknown variance, which is
    estimated from our runs. Published regret is realised: the reward of the best arm minus the reward
    received. Its variance is that of our pseudo-regret plus that of the noise, which is the sum over the
    suboptimal arms of pulls times (variance of the arm + variance of the best arm). The covariance of the two
    is ignored. It is negative, since arms with high rewards by chance are pulled more often, so the standard
    error is rather too large than too small. ``z_score`` is the difference divided by its standard error,
    null if that is 0 or unknown.
    """
    summary = {(row["environment"], row["policy"]): row for row in summarise(results).to_dicts()}
    noise = {(environment, policy): value for environment, policy, value in _noise(results).iter_rows()}
    rows = []
    for experiment in _plotted_experiments(results):
        for curve in experiment.curves:
            key = curve.environment, curve.our_policy or ""
            if curve.our_policy is None or key in summary:
                rows.append(_match(curve, summary.get(key), noise.get(key, 0.0)))
    return pl.DataFrame(rows, schema=_MATCH_SCHEMA)


def _plotted_experiments(results: Tables) -> list[PaperExperiment]:
    """Return the experiments of which some testbed as plotted was run."""
    environments = set(results.arms["environment"])
    return [each for each in PAPER if environments & {curve.environment for curve in each.curves}]


def _match(curve: Curve, row: dict[str, Any] | None, noise: float) -> dict[str, Any]:
    """Compare a published curve with the summary of its configuration."""
    published = published_regret(curve.experiment, curve.policy)
    assert published is not None
    match = {"experiment": curve.experiment, "policy": curve.policy, "our_policy": curve.our_policy}
    match |= {"environment": curve.environment, "published": published}
    if row is None:
        return match | {"verdict": NOT_REPRODUCED, "reason": f"{curve.script}: {curve.deviation}"}
    difference = row["mean"] - published
    percent = 100.0 * difference / published
    match |= {"mean": round(row["mean"], 9), "percent": round(percent, 9)}
    matched = abs(percent) <= MAX_PERCENT
    if row["se"] is not None:
        published_se = sqrt((row["se"] ** 2 * row["runs"] + noise) / PUBLISHED_RUNS)
        se = sqrt(row["se"] ** 2 + published_se**2)
        match |= {"se": round(row["se"], 9), "published_se": round(published_se, 9)}
        if not isclose(se, 0.0, abs_tol=1e-9):
            match["z_score"] = difference / se
            matched = matched or abs(difference) <= MAX_Z_SCORE * se
    if matched:
        return match | {"verdict": MATCHED, "reason": ""}
    return match | {"verdict": NOT_MATCHED, "reason": curve.deviation or "no reason is known"}


def _noise(results: Tables) -> pl.DataFrame:
    """Compute the mean variance of realised regret given the pulls, by environment and policy."""
    best = pl.col("variance").filter("optimal").first().over("environment")
    arms = results.arms.with_columns(both=best + pl.col("variance")).filter(~pl.col("optimal"))
    noise = results.pulls.join(arms.select("environment", "arm", "both"), on=["environment", "arm"])
    runs = noise.group_by("environment", "policy", "run").agg(noise=(pl.col("pulls") * pl.col("both")).sum())
    return runs.group_by("environment", "policy").agg(pl.col("noise").mean())

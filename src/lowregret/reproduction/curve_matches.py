"""The EUCBV paper in three readings beside what it shows, and which published curves they account for.

All functions take the tables of the runs that `lowregret.reproduction.paper_experiments.experiments` lists, or of some of
them; the environments' names say which.
"""

from __future__ import annotations

from math import isclose, sqrt
from typing import Any

import polars as pl

from lowregret.analysis.summary import summarise, summarise_curves
from lowregret.results.tables import Tables
from lowregret.reproduction.paper_experiments import AS_PLOTTED, AS_PRINTED, PAPER, RELEASED_WIDTH, configurations
from lowregret.reproduction.plotted_curves import CURVES, Curve
from lowregret.reproduction.published_curves import PUBLISHED_RUNS, final, points
from lowregret.reproduction.plotted_testbeds import paper_testbed

MATCHED, NOT_MATCHED, NOT_REPRODUCED = "matched", "not matched", "not reproduced"
"""What can be said of a published curve."""

MOST_ERRORS = 3.0
"""A curve matches within this many standard errors of the difference,"""
MOST_PERCENT = 5.0
"""or within this many percent of what was published."""

KEYS = ["environment", "plays"]


def readings(tables: Tables) -> pl.DataFrame:
    """Give the final regrets in all readings.

    Parameters
    ----------
    tables : Tables
        The results.

    Returns
    -------
    polars.DataFrame
        One row per experiment, reading and policy. ``policy`` is the paper's name, ``plays`` ours,
        ``published`` the regret in the paper's figure, ``seed`` what the rewards were drawn from; the rest is
        what `summarise` gives.

    Examples
    --------
    >>> from lowregret.reproduction.curve_matches import readings
    >>> from lowregret.reproduction.paper_experiments import experiments
    >>> table = readings(experiments(3, runs=2)[1].run())
    >>> table.select("policy", "reading", "published", "mean").row(0)
    ('EUCBV', 'as plotted', 894.61, 894.61)
    """
    rows = [
        {**each._asdict(), "published": final(each.experiment, each.policy)}
        for experiment in PAPER
        for each in configurations(experiment.number)
    ]
    plan = pl.DataFrame(rows, schema_overrides={"published": pl.Float64})
    found = summarise(tables).rename({"policy": "plays"})
    return plan.join(found, on=KEYS, maintain_order="left").with_columns(
        pl.selectors.float().round(9),  # a sum of equal gaps is rarely their product to the last bit
        seed=pl.lit(tables.seed, pl.UInt64),
    )


def side_by_side(table: pl.DataFrame) -> pl.DataFrame:
    """Put the readings beside each other: one row per experiment and policy.

    Parameters
    ----------
    table : polars.DataFrame
        What `readings` gave.

    Returns
    -------
    polars.DataFrame
        Columns experiment, policy, published, and mean and standard error of each reading: ``plotted``,
        ``plotted_se``, ``printed``, ``printed_se``, ``released``, ``released_se``; last
        ``optimal_arm_eliminated`` as printed.
    """
    found = table.select("experiment", "policy", "published").unique(maintain_order=True)
    for reading, name in ((AS_PLOTTED, "plotted"), (AS_PRINTED, "printed"), (RELEASED_WIDTH, "released")):
        part = table.filter(reading=reading)
        columns = {name: pl.col("mean"), f"{name}_se": pl.col("se")}
        if reading == AS_PRINTED:
            columns["optimal_arm_eliminated"] = pl.col("optimal_arm_eliminated")
        found = found.join(
            part.select("experiment", "policy", **columns), on=["experiment", "policy"], how="left"
        )
    return found.select(pl.exclude("optimal_arm_eliminated"), "optimal_arm_eliminated")


def curve_points(tables: Tables) -> pl.DataFrame:
    """Give the regret as plotted at every published point.

    Parameters
    ----------
    tables : Tables
        The results.

    Returns
    -------
    polars.DataFrame
        Columns experiment, policy, t, published, mean and se; the last two are null where the curve is not
        reproduced.
    """
    there = set(tables.arms["environment"].unique())
    numbers = [each.number for each in PAPER if any(_environment(c) in there for c in each.curves)]
    plan = pl.DataFrame(
        [
            (*point[:3], point.regret, _environment(curve), curve.plays)
            for number in numbers
            for point in points(number)
            for curve in CURVES
            if curve[:2] == point[:2]
        ],
        schema=["experiment", "policy", "t", "published", *KEYS],
        orient="row",
    )
    found = summarise_curves(tables).select("environment", "t", "mean", "se", plays="policy")
    joined = plan.join(found, on=[*KEYS, "t"], how="left", maintain_order="left")
    return joined.drop(KEYS).with_columns(pl.col("mean", "se").round(9))


def matches(tables: Tables) -> pl.DataFrame:
    """Say of each published curve whether its configuration accounts for it.

    A curve is matched if our mean at the horizon lies within 3 standard errors of the difference, or within
    5%, of the published one. Published means are of 100 runs whose spread is not known. It is taken from our
    runs: the variance of our pseudo-regret, plus that of the noise which the published regret has besides,
    the sum over the worse arms of pulls times (variance of that arm + variance of the best), since it is the
    reward of the best arm less the reward received. The covariance of the two is left out; it is negative, as
    arms with lucky rewards are pulled more often, so the error is rather too large than too small.

    Parameters
    ----------
    tables : Tables
        The results.

    Returns
    -------
    polars.DataFrame
        One row per curve: experiment, policy, ``plays``, ``environment``, ``published``, ``mean``, ``se``,
        ``published_se``, ``errors`` (the difference in standard errors; null where both are 0 or not known),
        ``percent``, ``verdict`` and ``reason``.
    """
    summary = {(row["environment"], row["policy"]): row for row in summarise(tables).to_dicts()}
    noise = {(e, p): value for e, p, value in _noise(tables).iter_rows()}
    there = set(tables.arms["environment"].unique())
    rows = []
    for experiment in PAPER:
        if any(_environment(curve) in there for curve in experiment.curves):
            for curve in experiment.curves:
                key = _environment(curve), curve.plays or ""
                if curve.plays is None or key in summary:
                    rows.append(_match(curve, summary.get(key), noise.get(key, 0.0)))
    return pl.DataFrame(rows, schema=_MATCH)


_MATCH = {
    "experiment": pl.Int64,
    "policy": pl.String,
    "plays": pl.String,
    "environment": pl.String,
    "published": pl.Float64,
    "mean": pl.Float64,
    "se": pl.Float64,
    "published_se": pl.Float64,
    "errors": pl.Float64,
    "percent": pl.Float64,
    "verdict": pl.String,
    "reason": pl.String,
}


def _environment(curve: Curve) -> str:
    return paper_testbed(curve.experiment, curve.testbed).name


def _match(curve: Curve, row: dict[str, Any] | None, noise: float) -> dict[str, Any]:
    """Compare a published curve with the summary of its configuration."""
    published = final(curve.experiment, curve.policy)
    assert published is not None
    match = {"experiment": curve.experiment, "policy": curve.policy, "plays": curve.plays}
    match |= {"environment": _environment(curve), "published": published}
    if row is None:
        return match | {"verdict": NOT_REPRODUCED, "reason": f"{curve.script}: {curve.differs}"}
    difference = row["mean"] - published
    percent = 100.0 * difference / published
    match |= {"mean": round(row["mean"], 9), "percent": round(percent, 9)}
    good = abs(percent) <= MOST_PERCENT
    if row["se"] is not None:
        error = sqrt((row["se"] ** 2 * row["runs"] + noise) / PUBLISHED_RUNS)
        both = sqrt(row["se"] ** 2 + error**2)
        match |= {"se": round(row["se"], 9), "published_se": round(error, 9)}
        if not isclose(both, 0.0, abs_tol=1e-9):
            match["errors"] = difference / both
            good = good or abs(difference) <= MOST_ERRORS * both
    reason = curve.differs or "no reason is known"
    return match | {"verdict": MATCHED if good else NOT_MATCHED, "reason": "" if good else reason}


def _noise(tables: Tables) -> pl.DataFrame:
    """Give the mean variance that realised regret has beside the pseudo-regret, by environment and policy."""
    best = pl.col("variance").filter("optimal").first().over("environment")
    arms = tables.arms.with_columns(both=best + pl.col("variance")).filter(~pl.col("optimal"))
    noise = tables.pulls.join(arms.select("environment", "arm", "both"), on=["environment", "arm"])
    runs = noise.group_by("environment", "policy", "run").agg(noise=(pl.col("pulls") * pl.col("both")).sum())
    return runs.group_by("environment", "policy").agg(pl.col("noise").mean())

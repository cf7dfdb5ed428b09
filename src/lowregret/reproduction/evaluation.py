"""Evaluation of the results: everything the report says about the paper, as tables."""

from dataclasses import dataclass, fields

import polars as pl

from lowregret.analysis.summary import summarise, summarise_curves
from lowregret.environments import paper
from lowregret.reproduction.estimates import ESTIMATE_SCHEMA, elimination_estimate, lemma_3_estimates
from lowregret.reproduction.interpretations import AS_PLOTTED, AS_PRINTED, RELEASED_WIDTH, configurations
from lowregret.reproduction.matching import candidate_points, compare_points, match_curves
from lowregret.reproduction.published import published_regret
from lowregret.reproduction.stated import PAPER, UNIFORM_PLAY
from lowregret.reproduction.verdicts import claim_comparisons, claim_verdicts, group_verdicts
from lowregret.results import Results
from lowregret.theory.regret_bounds import bounds

NEAR_UNIFORM = 10.0
"""A policy ends near uniform play if its regret differs by at most this percentage. The threshold is ours."""


def regret_by_reading(summary: pl.DataFrame, seed: int | None) -> pl.DataFrame:
    """Summarise the final regret of every configuration that was run, beside the published one."""
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
    """Pivot the table of `regret_by_reading` to one row per experiment and policy."""
    keys = ["experiment", "policy"]
    pivoted = table.select(*keys, "published").unique(maintain_order=True)
    for reading, name in ((AS_PLOTTED, "plotted"), (AS_PRINTED, "printed"), (RELEASED_WIDTH, "released")):
        columns = {name: "mean", f"{name}_se": "se"}
        part = table.filter(reading=reading).select(*keys, **columns)
        pivoted = pivoted.join(part, on=keys, how="left")
    printed = table.filter(reading=AS_PRINTED).select(*keys, "optimal_arm_eliminated")
    return pivoted.join(printed, on=keys, how="left")


def near_uniform_play(table: pl.DataFrame) -> pl.DataFrame:
    """Count the policies whose mean regret as printed is within 10% of that of uniform play."""
    printed = table.filter(reading=AS_PRINTED)
    uniform = printed.filter(policy=UNIFORM_PLAY).select("experiment", uniform_play="mean")
    joined = printed.filter(pl.col("policy") != UNIFORM_PLAY).join(uniform, on="experiment")
    distance = 100.0 * (pl.col("mean") / pl.col("uniform_play") - 1.0).abs()
    counted = joined.group_by("experiment", "uniform_play", maintain_order=True).agg(
        policies=pl.len().cast(pl.Int64), near=(distance <= NEAR_UNIFORM).sum().cast(pl.Int64)
    )
    return counted.with_columns(most=2 * pl.col("near") > pl.col("policies"))


LEMMA_3_DRAWS = 100_000


@dataclass(frozen=True)
class Evaluation:
    """What the results say about the paper."""

    results: Results
    summary: pl.DataFrame  # of the final regrets
    curves: pl.DataFrame  # the regret over time
    readings: pl.DataFrame  # the final regret in every reading beside the published one
    uniform: pl.DataFrame  # how many policies end near uniform play, by experiment
    matches: pl.DataFrame  # whether each published curve is reproduced, and by how many other policies
    points: pl.DataFrame  # published and simulated curves at the published times
    claims: pl.DataFrame  # the verdicts on every claim, in each reading
    groups: pl.DataFrame  # the comparisons behind each group of claims, each counted once
    comparisons: pl.DataFrame  # the comparisons behind the claims
    bounds: pl.DataFrame  # the table of ``lr.bounds`` for every experiment
    estimates: pl.DataFrame  # estimated probabilities beside their bounds, for every experiment

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return all tables on the paper by name, without the results of the runs."""
        runs = ("results", "summary", "curves")
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in runs}


def evaluate(results: Results) -> Evaluation:
    summary, curves = summarise(results), summarise_curves(results)
    readings, comparisons = regret_by_reading(summary, results.seed), claim_comparisons(results)
    points = candidate_points(results, curves)
    numbers = readings["experiment"].unique(maintain_order=True).to_list()
    return Evaluation(
        results,
        summary,
        curves,
        readings,
        near_uniform_play(readings),
        match_curves(points),
        compare_points(points),
        claim_verdicts(comparisons),
        group_verdicts(comparisons),
        comparisons,
        bounds=pl.concat(_numbered(number, bounds(paper(number))) for number in numbers),
        estimates=pl.concat(_numbered(number, _estimates(number, readings)) for number in numbers),
    )


def _estimates(number: int, readings: pl.DataFrame) -> pl.DataFrame:
    """Compare eliminations of the optimal arm as printed, and draws of Lemma 3, with their bounds."""
    bandit = paper(number)
    assert bandit.horizon is not None
    rows = [
        elimination_estimate(bandit, bandit.horizon, int(row["optimal_arm_eliminated"] or 0), row["runs"])
        for row in readings.filter(experiment=number, reading=AS_PRINTED, policy="EUCBV").to_dicts()
    ]
    rows += lemma_3_estimates(bandit, bandit.horizon, LEMMA_3_DRAWS, seed=1)
    return pl.DataFrame(rows, schema=ESTIMATE_SCHEMA, orient="row")


def _numbered(number: int, table: pl.DataFrame) -> pl.DataFrame:
    return table.select(pl.lit(number).alias("experiment"), pl.all())

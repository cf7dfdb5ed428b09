"""Evaluation of the results: everything the report says about the paper, as tables."""

from dataclasses import dataclass, fields

import polars as pl

from lowregret.analysis.summary import summarise, summarise_curves
from lowregret.environments import paper
from lowregret.reproduction.agreement import near_uniform_play, regret_by_reading
from lowregret.reproduction.estimates import ESTIMATE_SCHEMA, elimination_estimate, lemma_3_estimates
from lowregret.reproduction.interpretations import AS_PRINTED
from lowregret.reproduction.matching import candidate_points, compare_points, match_curves
from lowregret.reproduction.verdicts import claim_comparisons, claim_verdicts, group_verdicts
from lowregret.results import Results
from lowregret.theory.regret_bounds import bounds

LEMMA_3_DRAWS = 100_000
"""The number of draws of the event of Lemma 3."""


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
    """Compare results with the curves, claims and bounds of the paper."""
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

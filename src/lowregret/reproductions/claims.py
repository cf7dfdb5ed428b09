"""Verdicts on the claims of a paper, in each reading and by the published numbers.

A comparison holds if the 95% interval of its mean difference is below 0, and does not hold if it is above 0:
paired if both sides have equal numbers of runs, else by Welch. Two quantities are similar if the interval
lies within the margin of the claim.
"""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats
from lowregret.analysis.comparison import INCONCLUSIVE, Paired, differences, fragility, paired, welch
from lowregret.analysis.tables import largest_regrets
from lowregret.reproductions.quantities import run_values
from lowregret.reproductions.sheet import Claim, Reading, Sheet
from lowregret.results import Results

HOLDS, FAILS, NOT_SHOWN = "holds", "does not hold", "not shown"
"""The verdicts on a comparison and a claim, beside `INCONCLUSIVE`. No published number shows some claims."""
VERDICT_COLUMNS = {"holding": HOLDS, "failing": FAILS, "inconclusive": INCONCLUSIVE}
CRITERIA = {
    "lower": "lower regret",
    "higher": "higher regret",
    "similar": "regrets within {:g}%",
    "most": "lower regret in more than half of the comparisons",
    "ranks": "each has a lower regret than the next",
}
COMPARISON_COLUMNS: dict[str, Any] = {"claim": pl.Int64}
COMPARISON_COLUMNS |= dict.fromkeys(("reading", "environment", "better", "worse"), pl.String)
COMPARISON_COLUMNS |= dict.fromkeys(("runs", "other_runs"), pl.Int64)
COMPARISON_COLUMNS |= dict.fromkeys(("difference", "low", "high"), pl.Float64)
COMPARISON_COLUMNS |= {"verdict": pl.String, "fragility": pl.Float64}
"""A comparison: a difference that a claim says is below 0, and the share of runs that could reverse it."""


def compare_claims(sheet: Sheet, results: Results) -> pl.DataFrame:
    """Compute the comparisons behind the claims, as far as their policies were run."""
    cases = product(range(len(sheet.claims)), sheet.readings)
    rows = [
        {"claim": i + 1, "reading": reading.name, "environment": environment} | row
        for i, reading in cases
        for environment in claim_environments(sheet, sheet.claims[i])
        for row in _claim_comparisons(sheet, results, sheet.claims[i], reading, environment)
    ]
    return pl.DataFrame(rows, schema=COMPARISON_COLUMNS)


def judge_claims(sheet: Sheet, comparisons: pl.DataFrame) -> pl.DataFrame:
    """Decide every claim from its comparisons, in each reading and by the published numbers.

    A claim holds if all its comparisons hold, or for "most" more than half, in all its environments; it does
    not hold if one does not, or for "most" half do not. A claim of which nothing was run is omitted.
    """
    rows = []
    for number, claim in enumerate(sheet.claims, 1):
        own, environments = comparisons.filter(claim=number), claim_environments(sheet, claim)
        if own.is_empty():
            continue
        row: dict[str, Any] = {"claim": number, "group": claim.group, "place": claim.place}
        row |= {"quote": claim.quote, "better": ", ".join(claim.policies)}
        row |= {"worse": ", ".join(map(str, claim.than)), "environments": ", ".join(environments)}
        row["criterion"] = claim.criterion or CRITERIA[claim.kind].format(claim.margin)
        for reading in sheet.readings:
            part = own.filter(reading=reading.name)
            count = count_verdicts(part)
            row |= {f"{reading.column}_{name}": count[verdict] for name, verdict in VERDICT_COLUMNS.items()}
            row[reading.column] = _decide(claim, count, set(part["environment"]) == set(environments))
        rows.append(row | {"published": published_verdict(sheet, claim)})
    return pl.DataFrame(rows, infer_schema_length=None)


def published_verdict(sheet: Sheet, claim: Claim) -> str:
    """Decide a claim by the published means at the horizon, without intervals, as far as there are any."""
    lower = []
    for environment in claim_environments(sheet, claim):
        place = sheet.environments.get(environment)
        points = [point for point in sheet.published if point.quantity == "mean"]
        here = [p for p in points if (p.place == place if place else p.environment == environment)]
        means: dict[str | float | None, float] = {p.policy: p.value for p in here}  # of a curve the last
        for sides in _sides(claim):
            names = [side if side in means else sheet.versions.get(str(side)) for side in sides]
            if all(name in means for name in names):
                lower.append(means[names[0]] < means[names[1]])
    if not lower or claim.quantity != "regret" or claim.kind == "similar":
        return NOT_SHOWN
    return HOLDS if all(lower) or (claim.kind == "most" and 2 * sum(lower) > len(lower)) else FAILS


def claim_environments(sheet: Sheet, claim: Claim) -> list[str]:
    return claim.environments or [*sheet.environments] or sheet.places


def count_verdicts(comparisons: pl.DataFrame) -> dict[str, int]:
    verdicts = comparisons["verdict"].to_list()
    return {verdict: verdicts.count(verdict) for verdict in VERDICT_COLUMNS.values()}


def _sides(claim: Claim) -> Iterator[tuple[str | float, str | float]]:
    """Yield the two sides of every comparison, first the one that the claim says is lower."""
    if claim.kind == "ranks":
        yield from pairwise(claim.policies)
    for one, other in product(claim.policies, claim.than):
        yield (other, one) if claim.kind == "higher" else (one, other)


def _claim_comparisons(
    sheet: Sheet, results: Results, claim: Claim, reading: Reading, environment: str
) -> Iterator[dict[str, Any]]:
    """Yield the comparisons that a claim makes in an environment; random problems count once each."""
    members, played = sheet.members(environment), set(results.pairs)
    arms = [results.arms.filter(environment=name) for name in members]
    if not all((members[0], policy) in played for policy in reading.names.values()):
        return

    def values(side: str | float) -> tuple[str, Floats]:
        if not isinstance(side, str):
            return f"{side:g}", np.array([side])
        label, ours = sheet.ours(side, environment, reading.names)
        if (members[0], ours) not in played:
            return label, np.array([])
        outcomes = zip([results.outcome(ours, name) for name in members], arms, strict=True)
        parts = [run_values(*each, claim.quantity, sheet.function) for each in outcomes]
        return label, parts[0] if len(parts) == 1 else np.array([part.mean() for part in parts])

    for sides in _sides(claim):
        (one, first), (two, second) = map(values, sides)
        if not len(first) or not len(second):
            continue
        one, two = claim.sides or ((two, one) if claim.kind == "higher" else (one, two))
        row = {"better": one, "worse": two, "runs": len(first), "other_runs": len(second)}
        if not all(isinstance(side, str) for side in sides):
            row["runs"] = row["other_runs"] = max(len(first), len(second))
            test = paired(first - second)
        elif len(first) == len(second):
            test = paired(differences(pl.Series(first), pl.Series(second)))
        else:
            test = welch(first, second)
        margin = claim.margin / 100.0 * abs(float(second.mean())) if claim.kind == "similar" else 0.0
        row |= {"difference": test.difference, "low": test.low, "high": test.high}
        row["verdict"] = _verdict(test, margin)
        if (claim.quantity, len(members), margin) == ("regret", 1, 0.0) and row["verdict"] != INCONCLUSIVE:
            row["fragility"] = fragility(test.difference, largest_regrets(results)[environment])
        yield row


def _verdict(test: Paired, margin: float) -> str:
    """Decide whether an interval is below 0, or within the margin if there is one."""
    if test.low is None or test.high is None:
        return INCONCLUSIVE
    if margin:
        outside = test.high < -margin or test.low > margin
        return HOLDS if -margin <= test.low and test.high <= margin else FAILS if outside else INCONCLUSIVE
    if test.high < 0.0:
        return HOLDS
    return FAILS if test.low > 0.0 or test.low == test.high == 0.0 else INCONCLUSIVE


def _decide(claim: Claim, count: dict[str, int], complete: bool) -> str:
    total = sum(count.values())
    if claim.kind == "most" and complete:
        if 2 * count[HOLDS] > total:
            return HOLDS
        return FAILS if 2 * (count[HOLDS] + count[INCONCLUSIVE]) <= total else INCONCLUSIVE
    if claim.kind != "most" and count[FAILS]:
        return FAILS
    return HOLDS if complete and count[HOLDS] == total else INCONCLUSIVE

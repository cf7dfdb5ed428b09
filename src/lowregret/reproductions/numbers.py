"""The published numbers beside ours, and the verdicts on them (`analysis.equivalence`).

Where the published regret is realised, it has the noise of the rewards, and ours has none: at the horizon its
variance is `reward_noise`; before, we take it as proportional to the mean regret.
"""

from collections import Counter
from functools import cache
from typing import Any

import polars as pl

from lowregret.analysis.equivalence import (
    MATCHED,
    NOT_MATCHED,
    TOO_IMPRECISE,
    Agreement,
    compare_published,
    judge_agreement,
    runs_to_decide,
)
from lowregret.reproductions.published import Point
from lowregret.reproductions.quantities import estimate_quantity, reward_noise, run_values
from lowregret.reproductions.sheet import Sheet
from lowregret.results import Results

KINDS = {"t": pl.Int64, "needed": pl.Int64, "reason": pl.String}


def judge_numbers(sheet: Sheet, results: Results) -> pl.DataFrame:
    """Judge every published number whose configuration was run, as a row each."""
    rows = []
    for point, agreements in compare_numbers(sheet, results):
        ours = our_policy(sheet, point)
        if ours in agreements:
            own, row = agreements[ours], point._asdict()
            verdict = judge_agreement([own], sheet.margin)
            row |= own._asdict() | {"ours": ours, "published": row.pop("value"), "verdict": verdict}
            row["needed"] = runs_to_decide(own, point.value, point.reading_error, sheet.margin)
            rows.append(row | {"reason": reason(point, own, verdict)})
    kinds = KINDS if rows else {}
    return pl.DataFrame(rows, schema_overrides=kinds, infer_schema_length=None).fill_nan(None)


def compare_numbers(sheet: Sheet, results: Results) -> list[tuple[Point, dict[str, Agreement]]]:
    """Compare every published number with each policy that played in its environment."""
    arms = results.arms.partition_by("environment", as_dict=True)
    shared = Counter(_shares_level(sheet, point) for point in sheet.published)

    def outcomes(environment: str, policy: str) -> list[tuple[Any, pl.DataFrame]]:
        names = sheet.members(environment)
        return [(results.outcome(policy, name), arms[(name,)]) for name in names]

    @cache
    def noise(environment: str, policy: str) -> tuple[float, float]:
        """Return the noise of realised regret at the horizon, and the mean regret there."""
        played = outcomes(environment, policy)
        horizon = sum(float(runs.regret[:, -1].mean()) for runs, _ in played)
        return sum(reward_noise(*each) for each in played) / len(played), horizon / len(played)

    def agreement(point: Point, policy: str) -> Agreement:
        played = outcomes(point.environment, policy)
        problems = [run_values(*each, point.quantity, sheet.function, point.t) for each in played]
        ours, variance = estimate_quantity(problems, point.quantity), 0.0
        if sheet.regret == "realised" and point.quantity == "mean":
            variance, horizon = noise(point.environment, policy)
            variance *= ours.value / horizon if horizon > 0 else 1.0
        return compare_published(
            *(ours, point.value, point.runs),
            sd=point.sd if point.quantity == "mean" else None,
            rounding=point.reading_error,
            noise=variance,
            numbers=shared[_shares_level(sheet, point)],
        )

    compared = []
    for point in sheet.published:
        first = sheet.members(point.environment)[0]
        policies = dict.fromkeys(policy for name, policy in results.pairs if name == first)
        compared.append((point, {policy: agreement(point, policy) for policy in policies}))
    return compared


def our_policy(sheet: Sheet, point: Point) -> str:
    return point.ours or sheet.ours(point.policy, point.environment)[1]


def reason(point: Point, own: Agreement, verdict: str) -> str:
    """Say why a number, or a curve with this as its farthest point, is not matched."""
    known = point.deviation or "no reason is known"
    if verdict in (MATCHED, NOT_MATCHED):
        return "" if verdict == MATCHED else known
    if own.within != own.within:
        return "our runs are too few for an interval"
    result = f"a difference is found ({known})" if own.beyond > 0.0 else "no difference is found"
    if verdict == TOO_IMPRECISE:
        return (
            f"{result}; the published number of {point.runs:,} runs is too imprecise, whatever our runs are"
        )
    return f"{result}; our number is too imprecise to decide, and more runs may"


def _shares_level(sheet: Sheet, point: Point) -> tuple[str, ...]:
    return (point.place,) if sheet.joint == "place" else point.curve

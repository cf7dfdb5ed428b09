"""Verdicts on the claims of the EUCBV paper, as printed, with the released width and in the figures."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats
from lowregret.analysis.comparison import INCONCLUSIVE, Paired, differences, fragility, paired
from lowregret.analysis.intervals import LEVEL, NEGLIGIBLE
from lowregret.analysis.tables import largest_regrets
from lowregret.reproduction.claims import CLAIMS, GAUSSIAN_NAMES, Claim
from lowregret.reproduction.interpretations import AS_PRINTED, RELEASED_WIDTH
from lowregret.reproduction.plotted import RELEASED, paper_testbed
from lowregret.reproduction.published import published_regret
from lowregret.reproduction.stated import paper_experiment
from lowregret.results import Results

HOLDS, FAILS, NOT_SHOWN = "holds", "does not hold", "not shown"
"""The verdicts on a comparison and on a claim, beside `INCONCLUSIVE`. No figure shows some claims."""

READINGS = {AS_PRINTED: "printed", RELEASED_WIDTH: "released"}
"""The readings in which claims are judged, and the names of their columns."""

ALL_GROUPS, EUCBV_ALONE = "All comparisons", "EUCBV against each other policy"
"""The rows of `group_verdicts` for all groups, and for the regret of EUCBV."""

SIMILAR = 0.1
"""Regrets are similar if they differ by at most this fraction of the second. The paper states no measure."""


class Comparison(NamedTuple):
    """A difference of two quantities, which a claim says is below 0, or within the margin if there is one."""

    better: str
    worse: str
    test: Paired
    runs: int
    other_runs: int
    margin: float = 0.0
    largest: float | None = None  # the largest possible difference of regrets


Comparisons = Iterator[Comparison]
Regrets = dict[str, Floats]

_COMPARISON_SCHEMA = {
    "claim": pl.Int64,
    "reading": pl.String,
    "experiment": pl.Int64,
    "better": pl.String,
    "worse": pl.String,
    "runs": pl.Int64,
    "other_runs": pl.Int64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "verdict": pl.String,
    "fragility": pl.Float64,
}
_COUNTS = ("holding", "failing", "inconclusive")
_CLAIM_SCHEMA = {
    "claim": pl.Int64,
    **dict.fromkeys(("group", "place", "quote", "better", "worse", "experiments", "criterion"), pl.String),
    # how many comparisons hold, do not hold, and are inconclusive, in each reading, and the verdict
    **{
        f"{name}{suffix}": pl.Int64 if suffix else pl.String
        for name in READINGS.values()
        for suffix in (*(f"_{count}" for count in _COUNTS), "")
    },
    "figures": pl.String,  # the verdict by the published curves at the horizon, without intervals
}


def claim_comparisons(results: Results) -> pl.DataFrame:
    """Compute the comparisons behind the claims, from results on the testbeds as stated.

    A comparison holds if the 95% interval of the mean difference is below 0, and does not hold if it is above
    0: paired if both sides have equal numbers of runs, else by Welch. Regret: that of the better policy minus
    that of the worse. Elimination: one half minus the share of suboptimal arms that were eliminated. Pulls:
    those at lower variance minus those at higher, at equal gaps. Regrets are similar if the interval lies
    within 10% of the second.
    """
    regrets: dict[str, Regrets] = {}
    for (environment, policy), finals in results.finals.group_by("environment", "policy"):
        regrets.setdefault(str(environment), {})[str(policy)] = finals.sort("run")["regret"].to_numpy()
    rows = []
    for number, claim in enumerate(CLAIMS, 1):
        for reading in READINGS:
            for experiment in claim.experiments:
                regret = regrets.get(paper_testbed(experiment).name, {})
                if not regret or (reading == RELEASED_WIDTH and RELEASED not in regret):
                    continue
                better = _policies(claim.better, experiment, reading, regret)
                worse = _policies(claim.worse, experiment, reading, regret)
                for comparison in _comparisons(claim, experiment, better, worse, regret, results):
                    rows.append((number, reading, experiment, *_judged(comparison)))
    return pl.DataFrame(rows, schema=_COMPARISON_SCHEMA, orient="row")


def claim_verdicts(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Decide every claim of the paper from its comparisons, in each reading.

    A claim holds if all its comparisons hold, or for "most" more than half, in all its experiments; it does
    not hold if one does not, or for "most" half do not. A claim of which no experiment was run is omitted.
    """
    rows = []
    for number, claim in enumerate(CLAIMS, 1):
        own = comparisons.filter(claim=number)
        if own.is_empty():
            continue
        compared = [", ".join(map(str, side)) for side in (claim.better, claim.worse, claim.experiments)]
        row = [number, claim.group, claim.place, claim.quote, *compared, claim.criterion]
        for reading in READINGS:
            part = own.filter(reading=reading)
            verdicts = part["verdict"].to_list()
            count = {verdict: verdicts.count(verdict) for verdict in (HOLDS, FAILS, INCONCLUSIVE)}
            complete = set(part["experiment"]) == set(claim.experiments)
            row += [*count.values(), _claim_verdict(claim, count, complete=complete)]
        rows.append((*row, figure_verdict(claim)))
    return pl.DataFrame(rows, schema=_CLAIM_SCHEMA, orient="row")


def group_verdicts(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Count the verdicts of each group of claims, every comparison once, and of all together."""
    groups = {number: claim.group for number, claim in enumerate(CLAIMS, 1)}
    named = comparisons.with_columns(group=pl.col("claim").replace_strict(groups, return_dtype=pl.String))
    count = {
        f"{name}_{kind}": ((pl.col("reading") == reading) & (pl.col("verdict") == verdict))
        .sum()
        .cast(pl.Int64)
        for reading, name in READINGS.items()
        for kind, verdict in zip(_COUNTS, (HOLDS, FAILS, INCONCLUSIVE), strict=True)
    }
    parts = []
    regrets = [number for number, claim in enumerate(CLAIMS, 1) if claim.kind in ("lower", "most")]
    of_eucbv = (pl.col("better") == "EUCBV") & pl.col("claim").is_in(regrets)
    together = named.with_columns(group=pl.lit(ALL_GROUPS))
    for part in (named, together, named.filter(of_eucbv).with_columns(group=pl.lit(EUCBV_ALONE))):
        claims = part.group_by("group", maintain_order=True).agg(
            claims=pl.col("claim").n_unique().cast(pl.Int64)
        )
        distinct = part.drop("claim").unique(maintain_order=True).group_by("group").agg(**count)
        parts.append(claims.join(distinct, on="group", maintain_order="left"))
    return pl.concat(parts)


def figure_verdict(claim: Claim) -> str:
    """Decide a claim by the published curves at the horizon, as far as the figures show them."""
    if claim.kind not in ("lower", "most"):
        return NOT_SHOWN
    lower = []
    for experiment in claim.experiments:
        sides = [[_shown_name(experiment, name) for name in names] for names in (claim.better, claim.worse)]
        regrets = [[published_regret(experiment, name or "") for name in names] for names in sides]
        lower += [first < second for first in regrets[0] for second in regrets[1] if first and second]
    if not lower:
        return NOT_SHOWN
    return HOLDS if all(lower) or (claim.kind == "most" and 2 * sum(lower) > len(lower)) else FAILS


def _claim_verdict(claim: Claim, count: dict[str, int], *, complete: bool) -> str:
    if claim.kind == "most":
        total = sum(count.values())
        if not complete:
            return INCONCLUSIVE
        if 2 * count[HOLDS] > total:
            return HOLDS
        return FAILS if 2 * (count[HOLDS] + count[INCONCLUSIVE]) <= total else INCONCLUSIVE
    if count[FAILS]:
        return FAILS
    return HOLDS if complete and not count[INCONCLUSIVE] else INCONCLUSIVE


def _judged(comparison: Comparison) -> tuple[object, ...]:
    better, worse, test, runs, other_runs, margin, largest = comparison
    verdict, share = _verdict(test, margin), None
    if largest is not None and verdict != INCONCLUSIVE and not margin:
        share = fragility(test.difference, largest)
    return better, worse, runs, other_runs, test.difference, test.low, test.high, verdict, share


def _verdict(test: Paired, margin: float) -> str:
    """Decide whether an interval is below 0, or within the margin if there is one."""
    if test.low is None or test.high is None:
        return INCONCLUSIVE
    if margin:
        if -margin <= test.low and test.high <= margin:
            return HOLDS
        return FAILS if test.high < -margin or test.low > margin else INCONCLUSIVE
    if test.high < 0.0:
        return HOLDS
    return FAILS if test.low > 0.0 or test.low == test.high == 0.0 else INCONCLUSIVE


def _shown_name(experiment: int, name: str) -> str | None:
    """Return the paper's name of a policy in an experiment, which differs where rewards are Gaussian."""
    if name == "KLUCB" and experiment == 1:  # run there as plotted, though the text does not list it
        return name
    policies = paper_experiment(experiment).policies
    return next((alias for alias in (name, GAUSSIAN_NAMES.get(name)) if alias in policies), None)


def _policies(names: tuple[str, ...], experiment: int, reading: str, regret: Regrets) -> dict[str, str]:
    """Return the policies of this package that were run in an experiment, by their names in the paper."""
    policies = {}
    for name in names:
        shown = _shown_name(experiment, name)
        ours = paper_experiment(experiment).policies.get(shown or "", "KLUCB" if shown == "KLUCB" else "")
        if name == "EUCBV" and reading == RELEASED_WIDTH:
            ours = RELEASED
        if shown and ours in regret:
            policies[shown] = ours
    return policies


def _comparisons(
    claim: Claim,
    experiment: int,
    better: dict[str, str],
    worse: dict[str, str],
    regret: Regrets,
    results: Results,
) -> Comparisons:
    """Yield the comparisons that a claim makes in an experiment."""
    testbed = paper_testbed(experiment).name
    if claim.kind == "eliminates":
        return _eliminations(testbed, better, regret, results)
    if claim.kind == "variance":
        return _pulls(testbed, better, results)
    margin = SIMILAR if claim.kind == "similar" else 0.0
    return _regrets(better, worse, regret, largest_regrets(results)[testbed], margin)


def _regrets(
    better: dict[str, str], worse: dict[str, str], regret: Regrets, largest: float, margin: float
) -> Comparisons:
    for name, ours in better.items():
        for other_name, other in worse.items():
            first, second = regret[ours], regret[other]
            same = len(first) == len(second)
            test = (
                paired(differences(pl.Series(first), pl.Series(second))) if same else unpaired(first, second)
            )
            allowed = margin * float(second.mean())
            yield Comparison(name, other_name, test, len(first), len(second), allowed, largest)


def unpaired(first: Floats, second: Floats) -> Paired:
    """Compute the difference of two means with the interval of Welch, which needs no equal variances."""
    mean, runs = float(first.mean() - second.mean()), np.array([len(first), len(second)])
    if runs.min() < 2:
        return Paired(mean, None, None, None, 1.0)
    from scipy.stats import t

    squares = np.array([first.var(ddof=1), second.var(ddof=1)]) / runs
    se = float(np.sqrt(squares.sum()))
    if se <= NEGLIGIBLE * max(np.abs(first).max(), np.abs(second).max()):
        return Paired(mean, 0.0, mean, mean, 1.0 if mean == 0.0 else 0.0)
    test = t(squares.sum() ** 2 / (squares**2 / (runs - 1)).sum())
    half = float(test.ppf((1 + LEVEL) / 2)) * se
    return Paired(mean, se, mean - half, mean + half, 2.0 * float(test.sf(abs(mean) / se)))


def _eliminations(testbed: str, policies: dict[str, str], regret: Regrets, results: Results) -> Comparisons:
    suboptimal = results.arms.filter(~pl.col("optimal"), environment=testbed)
    for name, ours in policies.items():
        eliminated = (
            results.events.filter(environment=testbed, policy=ours, event="eliminated")
            .join(suboptimal, on=["environment", "arm"], how="semi")
            .group_by("run")
            .agg(fraction=pl.len() / len(suboptimal))
        )
        runs = pl.DataFrame({"run": range(len(regret[ours]))}, schema={"run": eliminated.schema["run"]})
        fractions = runs.join(eliminated, on="run", how="left")["fraction"].fill_null(0.0).to_numpy()
        test = paired(0.5 - fractions)
        yield Comparison(name, "half of the suboptimal arms", test, len(runs), len(runs))


def _pulls(testbed: str, policies: dict[str, str], results: Results) -> Comparisons:
    suboptimal = results.arms.filter(~pl.col("optimal"), environment=testbed)
    gap = suboptimal["gap"].round(9).mode().sort()[0]  # the most frequent one
    equal = suboptimal.filter(pl.col("gap").round(9) == gap)
    lower = (pl.col("variance") < pl.col("variance").median()).alias("lower")
    arms = equal.select("arm", lower)
    for ours in policies.values():
        runs = (
            results.pulls.filter(environment=testbed, policy=ours)
            .join(arms, on="arm")
            .group_by("run", maintain_order=True)
            .agg(
                low=pl.col("pulls").filter("lower").mean(),
                high=pl.col("pulls").filter(~pl.col("lower")).mean(),
            )
            .drop_nulls()
        )
        if len(runs):
            test = paired(np.asarray(runs["low"] - runs["high"]))
            yield Comparison(
                "pulls at lower variance", "pulls at higher variance", test, len(runs), len(runs)
            )

"""Verdicts on the claims of the EUCBV paper, from the results as printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from lowregret.analysis.comparison import Paired, differences, paired
from lowregret.analysis.tables import Floats, Tables
from lowregret.reproduction.claims import CLAIMS, GAUSSIAN_NAMES, Claim
from lowregret.reproduction.plotted import RELEASED, paper_testbed
from lowregret.reproduction.stated import paper_experiment

HOLDS, FAILS, INCONCLUSIVE = "holds", "does not hold", "inconclusive"
"""The verdicts on a comparison and on a claim."""

SIMILAR = 0.1
"""Regrets are similar if they differ by at most this fraction of the second. The paper states no measure."""

Comparison = tuple[str, str, Floats, float]
"""The names of two quantities, their paired differences, and a margin."""
Comparisons = Iterator[Comparison]

_COMPARISON_SCHEMA = {
    "claim": pl.Int64,
    "experiment": pl.Int64,
    "better": pl.String,
    "worse": pl.String,
    "runs": pl.Int64,
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "verdict": pl.String,
}
_CLAIM_SCHEMA = {
    "claim": pl.Int64,
    "place": pl.String,
    "quote": pl.String,
    "better": pl.String,
    "worse": pl.String,
    "experiments": pl.String,
    # how many comparisons hold, do not hold, and are inconclusive
    "holding": pl.Int64,
    "failing": pl.Int64,
    "inconclusive": pl.Int64,
    "verdict": pl.String,
}


def claim_comparisons(results: Tables) -> pl.DataFrame:
    """Compute the paired comparisons behind the claims, from results on the testbeds as stated.

    A comparison takes a difference in every run, on rewards that both sides shared. It holds if the 95%
    interval of the mean difference is below 0, and does not hold if the interval is above 0. The difference
    depends on the claim. Regret: that of the better policy minus that of the worse. Elimination: one half
    minus the fraction of suboptimal arms that were eliminated. Pulls: those per suboptimal arm of the lowest
    variance minus those per other suboptimal arm. Regrets are similar if the interval lies within 10% of the
    second regret, and not if it lies outside. The intervals are not adjusted for multiple comparisons.
    """
    regrets = {}
    printed = results.finals.filter(pl.col("policy") != RELEASED)  # which has other numbers of runs
    for (environment,), finals in printed.group_by("environment"):
        regrets[environment] = finals.pivot("policy", index="run", values="regret").sort("run")
    rows = []
    for number, claim in enumerate(CLAIMS, 1):
        for experiment in claim.experiments:
            regret = regrets.get(paper_testbed(experiment).name)
            if regret is None:
                continue
            for better, worse, sample, margin in _COMPARE[claim.kind](claim, experiment, regret, results):
                test = paired(sample)
                result = test.difference, test.low, test.high, _verdict(test, margin)
                rows.append((number, experiment, better, worse, len(sample), *result))
    return pl.DataFrame(rows, schema=_COMPARISON_SCHEMA, orient="row")


def claim_verdicts(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Decide every claim of the paper from its comparisons.

    A claim holds if all its comparisons hold in all its experiments, and does not hold if one comparison
    does not. A claim about "most" policies holds if more than half of its comparisons hold, and does not hold
    if at least half do not. A claim of which some experiments were not run cannot hold; one of which none was
    run is omitted. ``holding``, ``failing`` and ``inconclusive`` count the comparisons.
    """
    rows = []
    for number, claim in enumerate(CLAIMS, 1):
        own = comparisons.filter(claim=number)
        if own.is_empty():
            continue
        verdicts = own["verdict"].to_list()
        count = {verdict: verdicts.count(verdict) for verdict in (HOLDS, FAILS, INCONCLUSIVE)}
        complete = set(own["experiment"]) == set(claim.experiments)
        compared = (", ".join(map(str, each)) for each in (claim.better, claim.worse, claim.experiments))
        verdict = _claim_verdict(claim, count, complete=complete)
        rows.append((number, claim.place, claim.quote, *compared, *count.values(), verdict))
    return pl.DataFrame(rows, schema=_CLAIM_SCHEMA, orient="row")


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


def _our_policy(experiment: int, name: str) -> str | None:
    """Return the policy of this package that the paper means in an experiment."""
    policies = paper_experiment(experiment).policies
    if name == "KLUCB" and experiment == 1:  # run there as plotted, though the text does not list it
        return "KLUCB"
    return policies.get(name) or policies.get(GAUSSIAN_NAMES.get(name, ""))


def _present(claim: Claim, experiment: int, regret: pl.DataFrame) -> list[str]:
    return [name for name in claim.better if _our_policy(experiment, name) in regret.columns]


def _regrets(claim: Claim, experiment: int, regret: pl.DataFrame, results: Tables) -> Comparisons:
    for better in _present(claim, experiment, regret):
        for worse in claim.worse:
            ours, other = _our_policy(experiment, better), _our_policy(experiment, worse)
            if ours is not None and other in regret.columns:
                margin = SIMILAR * float(regret[other].to_numpy().mean()) if claim.kind == "similar" else 0.0
                yield better, worse, differences(regret[ours], regret[other]), margin


def _eliminations(claim: Claim, experiment: int, regret: pl.DataFrame, results: Tables) -> Comparisons:
    name = paper_testbed(experiment).name
    suboptimal = results.arms.filter(~pl.col("optimal"), environment=name)
    for better in _present(claim, experiment, regret):
        eliminated = (
            results.events.filter(
                environment=name, policy=_our_policy(experiment, better), event="eliminated"
            )
            .join(suboptimal, on=["environment", "arm"], how="semi")
            .group_by("run")
            .agg(fraction=pl.len() / len(suboptimal))
        )
        runs = regret.select("run").join(eliminated, on="run", how="left")
        yield better, "half of the suboptimal arms", 0.5 - runs["fraction"].fill_null(0.0).to_numpy(), 0.0


def _pulls(claim: Claim, experiment: int, regret: pl.DataFrame, results: Tables) -> Comparisons:
    name = paper_testbed(experiment).name
    lowest = (pl.col("variance") == pl.col("variance").min()).alias("lowest")
    suboptimal = results.arms.filter(~pl.col("optimal"), environment=name).select("arm", lowest)
    for better in _present(claim, experiment, regret):
        pulls = results.pulls.filter(environment=name, policy=_our_policy(experiment, better))
        runs = (
            pulls.join(suboptimal, on="arm")
            .group_by("run", maintain_order=True)
            .agg(
                low=pl.col("pulls").filter("lowest").mean(),
                high=pl.col("pulls").filter(~pl.col("lowest")).mean(),
            )
        )
        sample = np.asarray(runs["low"] - runs["high"])
        yield "pulls of a low-variance arm", "pulls of a high-variance arm", sample, 0.0


_COMPARE: dict[str, Callable[[Claim, int, pl.DataFrame, Tables], Comparisons]] = {
    "lower": _regrets,
    "most": _regrets,
    "similar": _regrets,
    "eliminates": _eliminations,
    "variance": _pulls,
}

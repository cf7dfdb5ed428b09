"""What becomes of the EUCBV paper's claims when its text is played as printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl

from lowregret.analysis.comparison import Paired, differences, paired
from lowregret.analysis.intervals import Floats
from lowregret.results.tables import Tables
from lowregret.reproduction.claims import CLAIMS, GAUSSIAN_NAMES, Claim
from lowregret.reproduction.paper_experiments import chosen
from lowregret.reproduction.plotted_testbeds import paper_testbed

HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "cannot be told"
"""What can be said of a claim."""

ALIKE = 0.1
"""Regrets are alike if they differ by at most this part of the second; the paper gives no measure."""

Check = tuple[str, str, Floats, float]
"""Two things that are compared, their paired differences, and a margin."""


def claims(tables: Tables) -> pl.DataFrame:
    """Judge every claim of the paper by the runs as printed.

    A claim holds if all its `comparisons` do, and does not hold if one of them does not; one that speaks of
    several experiments must hold in each. If some of its experiments were not played it can only fail.
    "Most" holds if more than half of the comparisons do, and does not if that can no longer be. Claims on
    experiments of which none was played are left out.

    Parameters
    ----------
    tables : Tables
        The results.

    Returns
    -------
    polars.DataFrame
        One row per claim: ``claim`` (its number), ``place``, ``quote``, ``better``, ``worse``,
        ``experiments``, how many comparisons hold (``holding``), do not hold (``failing``) and cannot be told
        (``open``), and ``verdict``.
    """
    found = comparisons(tables)
    rows = []
    for number, claim in enumerate(CLAIMS, 1):
        verdicts = found.filter(claim=number)["verdict"].to_list()
        if verdicts:
            count = {verdict: verdicts.count(verdict) for verdict in (HOLDS, FAILS, UNKNOWN)}
            played = set(found.filter(claim=number)["experiment"])
            rows.append(
                {
                    "claim": number,
                    "place": claim.place,
                    "quote": claim.quote,
                    "better": ", ".join(claim.better),
                    "worse": ", ".join(claim.worse),
                    "experiments": ", ".join(map(str, claim.experiments)),
                    "holding": count[HOLDS],
                    "failing": count[FAILS],
                    "open": count[UNKNOWN],
                    "verdict": _judge(claim, count, whole=played == set(claim.experiments)),
                }
            )
    return pl.DataFrame(rows, schema=_CLAIM)


def comparisons(tables: Tables) -> pl.DataFrame:
    """Give the paired comparisons that the claims rest on.

    Each takes a difference in every run, on rewards that both sides shared, and holds if the 95% interval of
    the mean difference lies below 0; it does not hold if the interval lies above. For regrets it is that of
    the better policy less that of the worse. For the elimination of arms it is one half less the share of
    worse arms that were dropped. For pulls it is those of the worse arms of the least variance, per arm, less
    those of the others. Regrets are alike if the interval lies within 10% of the second, and not if it lies
    outside. The intervals are not adjusted for their number.

    Parameters
    ----------
    tables : Tables
        The results.

    Returns
    -------
    polars.DataFrame
        Columns claim (its number), experiment, better, worse, runs, difference, low, high, verdict.
    """
    cache: dict[int, pl.DataFrame] = {}
    rows = []
    for number, claim in enumerate(CLAIMS, 1):
        for experiment in claim.experiments:
            name = paper_testbed(experiment).name
            if experiment not in cache:
                finals = tables.finals.filter(environment=name)
                cache[experiment] = finals.pivot("policy", index="run", values="regret").sort("run")
            if cache[experiment].width > 1:
                for better, worse, sample, margin in _CHECKS[claim.kind](
                    claim, experiment, cache[experiment], tables
                ):
                    test = paired(sample)
                    row: dict[str, Any] = {"claim": number, "experiment": experiment, "better": better}
                    row |= {"worse": worse, "runs": len(sample), "difference": test.difference}
                    row |= {"low": test.low, "high": test.high, "verdict": _verdict(test, margin)}
                    rows.append(row)
    return pl.DataFrame(rows, schema=_COMPARISON)


_CLAIM = {
    "claim": pl.Int64,
    "place": pl.String,
    "quote": pl.String,
    "better": pl.String,
    "worse": pl.String,
    "experiments": pl.String,
    "holding": pl.Int64,
    "failing": pl.Int64,
    "open": pl.Int64,
    "verdict": pl.String,
}
_COMPARISON = {
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


def _judge(claim: Claim, count: dict[str, int], *, whole: bool) -> str:
    if claim.kind == "most":
        total = sum(count.values())
        if not whole:
            return UNKNOWN
        if 2 * count[HOLDS] > total:
            return HOLDS
        return FAILS if 2 * (count[HOLDS] + count[UNKNOWN]) <= total else UNKNOWN
    if count[FAILS]:
        return FAILS
    return HOLDS if whole and not count[UNKNOWN] else UNKNOWN


def _verdict(test: Paired, margin: float) -> str:
    """Judge an interval: below 0, or within the margin where there is one."""
    if test.low is None or test.high is None:
        return UNKNOWN
    if margin:
        if -margin <= test.low and test.high <= margin:
            return HOLDS
        return FAILS if test.high < -margin or test.low > margin else UNKNOWN
    if test.high < 0.0:
        return HOLDS
    return FAILS if test.low > 0.0 or test.low == test.high == 0.0 else UNKNOWN


def _plays(experiment: int, name: str) -> str | None:
    """Give the policy of ours that the paper means in an experiment."""
    printed = chosen(experiment)[0].printed
    if name == "KLUCB" and experiment == 1:  # not in the text's list, but it plays there as plotted
        return "KLUCB"
    return printed.get(name) or printed.get(GAUSSIAN_NAMES.get(name, ""))


def _present(claim: Claim, experiment: int, wide: pl.DataFrame) -> list[str]:
    return [name for name in claim.better if _plays(experiment, name) in wide.columns]


def _regrets(claim: Claim, experiment: int, wide: pl.DataFrame, tables: Tables) -> Iterator[Check]:
    for better in _present(claim, experiment, wide):
        for worse in claim.worse:
            first, second = _plays(experiment, better), _plays(experiment, worse)
            if first is not None and second in wide.columns:
                margin = ALIKE * float(wide[second].to_numpy().mean()) if claim.kind == "similar" else 0.0
                yield better, worse, differences(wide[first], wide[second]), margin


def _eliminations(claim: Claim, experiment: int, wide: pl.DataFrame, tables: Tables) -> Iterator[Check]:
    name = paper_testbed(experiment).name
    worse = tables.arms.filter(~pl.col("optimal"), environment=name)
    for better in _present(claim, experiment, wide):
        dropped = (
            tables.events.filter(environment=name, policy=_plays(experiment, better), event="eliminated")
            .join(worse, on=["environment", "arm"], how="semi")
            .group_by("run")
            .agg(share=pl.len() / len(worse))
        )
        runs = wide.select("run").join(dropped, on="run", how="left")
        yield better, "half of the worse arms", 0.5 - runs["share"].fill_null(0.0).to_numpy(), 0.0


def _pulls(claim: Claim, experiment: int, wide: pl.DataFrame, tables: Tables) -> Iterator[Check]:
    name = paper_testbed(experiment).name
    worse = tables.arms.filter(~pl.col("optimal"), environment=name)
    quiet = pl.col("variance") == pl.col("variance").min()
    for better in _present(claim, experiment, wide):
        pulls = tables.pulls.filter(environment=name, policy=_plays(experiment, better))
        runs = (
            pulls.join(worse.with_columns(quiet=quiet).select("arm", "quiet"), on="arm")
            .group_by("run", maintain_order=True)
            .agg(
                quiet=pl.col("pulls").filter("quiet").mean(),
                loud=pl.col("pulls").filter(~pl.col("quiet")).mean(),
            )
        )
        yield "pulls of a loud arm", "of a quiet one", np.asarray(runs["quiet"] - runs["loud"]), 0.0


_CHECKS: dict[str, Callable[[Claim, int, pl.DataFrame, Tables], Iterator[Check]]] = {
    "lower": _regrets,
    "most": _regrets,
    "similar": _regrets,
    "eliminates": _eliminations,
    "loud": _pulls,
}

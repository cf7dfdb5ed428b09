"""Paired comparisons: which policy has the lower regret, as far as the runs can tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from lowregret.analysis.intervals import NEGLIGIBLE, Floats, bootstrap_intervals, student_factor
from lowregret.analysis.power import ALPHA, runs_needed
from lowregret.errors import InputError
from lowregret.results.tables import Tables
from lowregret.special.tails import student_tail

LOWER, HIGHER, UNKNOWN = "lower regret", "higher regret", "cannot be told"

SCHEMA = {
    "environment": pl.String,
    "policy": pl.String,
    "baseline": pl.String,
    "runs": pl.Int64,
    "difference": pl.Float64,
    "se": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "bootstrap_low": pl.Float64,
    "bootstrap_high": pl.Float64,
    "wins": pl.Float64,
    "p_value": pl.Float64,
    "p_holm": pl.Float64,
    "verdict": pl.String,
    "runs_needed": pl.Int64,
}
"""The columns of a comparison."""


class Paired(NamedTuple):
    """What the paired differences of two policies say.

    Attributes
    ----------
    difference, se : float
        The mean difference and its standard error; the latter is None below two runs.
    low, high : float
        Student's 95% interval; None below two runs.
    p_value : float
        That of the paired t test, to both sides. Where every run gives the same difference that test has
        nothing to go by, and the sign test takes its place; 1 below two runs.
    """

    difference: float
    se: float | None
    low: float | None
    high: float | None
    p_value: float


def paired(differences: Floats) -> Paired:
    """Test whether the mean of paired differences is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from lowregret.analysis.comparison import paired
    >>> found = paired(np.array([-1.0, -2.0, -3.0, -2.0]))
    >>> found.difference, round(found.p_value, 4)
    (-2.0, 0.0163)
    >>> paired(np.zeros(5)).p_value
    1.0
    """
    runs, mean = len(differences), float(differences.mean())
    factor = student_factor(runs)
    if factor is None:
        return Paired(mean, None, None, None, 1.0)
    if np.ptp(differences) <= NEGLIGIBLE * np.abs(differences).max():
        return Paired(mean, 0.0, mean, mean, 1.0 if mean == 0.0 else 2.0 ** (1 - runs))
    se = float(differences.std(ddof=1)) / sqrt(runs)
    p_value = min(2.0 * student_tail(runs - 1, abs(mean) / se), 1.0)
    return Paired(mean, se, mean - factor * se, mean + factor * se, p_value)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that the chance of one false finding among all of them stays below alpha.

    Examples
    --------
    >>> from lowregret.analysis.comparison import holm
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, highest = [1.0] * len(p_values), 0.0
    for position, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min((len(p_values) - position) * p_values[place], 1.0))
        adjusted[place] = highest
    return adjusted


def verdict(difference: float, p_holm: float) -> str:
    """Say in words what a difference from the baseline and its adjusted p-value mean.

    Examples
    --------
    >>> from lowregret.analysis.comparison import verdict
    >>> verdict(-3.0, 0.01), verdict(3.0, 0.2)
    ('lower regret', 'cannot be told')
    """
    if difference == 0.0 or p_holm > ALPHA:
        return UNKNOWN
    return LOWER if difference < 0.0 else HIGHER


def compare(tables: Tables, baseline: str | None = None, seed: int = 0) -> pl.DataFrame:
    """Compare policies in pairs, on the runs that both made.

    Run r of two policies saw the same rewards, so what is looked at is the difference of their final
    regrets in each run. All comparisons of the call are one family for Holm's correction.

    Parameters
    ----------
    tables : Tables
        The results.
    baseline : str, optional
        The policy that every other one is compared with; every pair is compared if not given.
    seed : int, default 0
        What the bootstrap's resamples are drawn from.

    Returns
    -------
    polars.DataFrame
        One row per comparison. ``difference`` is the policy's mean regret less the baseline's, with its
        standard error ``se``, Student's 95% interval ``low`` to ``high`` and the bootstrap's. ``wins`` is
        the share of runs with the lower regret, where a tie is half a win. ``p_value`` is that of the
        paired t test, ``p_holm`` the adjusted one, which ``verdict`` puts into words. ``runs_needed`` is
        how many runs it takes to find a difference like this one with probability 0.8, whatever the other
        comparisons of the call give.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.analysis.comparison import compare
    >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=100, runs=10)
    >>> compare(result.tables(), baseline="RoundRobin").select("policy", "runs", "verdict").row(0)
    ('MOSS', 10, 'lower regret')
    """
    pairs = list(_pairs(tables.finals, baseline))
    samples = [sample for *_, sample in pairs]
    bootstraps = _bootstraps(samples, seed)
    tests = [paired(sample) for sample in samples]
    adjusted = holm([test.p_value for test in tests])
    rows = []
    for (environment, policy, other, sample), test, bootstrap, p_holm in zip(
        pairs, tests, bootstraps, adjusted, strict=True
    ):
        row: dict[str, Any] = {"environment": environment, "policy": policy, "baseline": other}
        row |= {"runs": len(sample), **test._asdict()}
        row["bootstrap_low"], row["bootstrap_high"] = bootstrap or (None, None)
        row["wins"] = float((sample < 0).mean() + 0.5 * (sample == 0).mean())
        row["p_holm"], row["verdict"] = p_holm, verdict(test.difference, p_holm)
        row["runs_needed"] = None
        if test.se is not None:
            spread = test.se * sqrt(len(sample))
            row["runs_needed"] = runs_needed(test.difference, spread, ALPHA / len(tests))
        rows.append(row)
    return pl.DataFrame(rows, schema=SCHEMA)


def _pairs(finals: pl.DataFrame, baseline: str | None) -> Iterator[tuple[str, str, str, Floats]]:
    """Give every environment, policy and baseline with the differences of their runs."""
    policies = finals["policy"].unique(maintain_order=True).to_list()
    if baseline is not None and baseline not in policies:
        raise InputError(f"compare: no policy {baseline!r} in these results: they have {', '.join(policies)}")
    if len(policies) < 2:
        raise InputError(f"compare: two policies are needed, and these results have only {policies[0]}")
    for (environment,), part in finals.group_by("environment", maintain_order=True):
        names = part["policy"].unique(maintain_order=True).to_list()
        wide = part.pivot("policy", index="run", values="regret")
        if baseline is None:
            chosen = [(policy, other) for other, policy in combinations(names, 2)]
        else:
            chosen = [(policy, baseline) for policy in names if policy != baseline and baseline in names]
        for policy, other in chosen:
            both = wide.select(policy, other).drop_nulls()
            if len(both):
                yield str(environment), policy, other, differences(both[policy], both[other])


def differences(regret: pl.Series, other: pl.Series) -> Floats:
    """Give the differences of the runs; what is only rounding counts as 0."""
    first, second = regret.to_numpy(), other.to_numpy()
    differences: Floats = first - second
    size = max(np.abs(first).max(), np.abs(second).max())
    differences[np.abs(differences) <= NEGLIGIBLE * size] = 0.0
    return differences


def _bootstraps(samples: Sequence[Floats], seed: int) -> list[tuple[float, float] | None]:
    """Find the bootstrap's intervals; samples of one size share their resamples, which saves time."""
    found: dict[int, tuple[float, float] | None] = {}
    for size in {len(sample) for sample in samples}:
        places = [place for place, sample in enumerate(samples) if len(sample) == size]
        intervals = bootstrap_intervals(np.column_stack([samples[place] for place in places]), seed=seed)
        found |= dict(zip(places, intervals, strict=True))
    return [found[place] for place in range(len(samples))]

"""Paired comparisons of policies: differences of regret, intervals, tests and verdicts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats
from lowregret._common.forks import check_threads
from lowregret._common.text import unknown_name_message
from lowregret.analysis.columns import COMPARISON, KEYS
from lowregret.analysis.intervals import (
    CONFIDENCE,
    NEGLIGIBLE,
    bounded_interval,
    bounded_p_value,
)
from lowregret.analysis.metrics import Metric, metric_values
from lowregret.analysis.power import ALPHA, runs_needed
from lowregret.analysis.tables import Tables, largest_regrets
from lowregret.errors import InputError

LOWER, HIGHER, INCONCLUSIVE = "lower regret", "higher regret", "inconclusive"
"""The verdicts on a policy, compared with a baseline, by the bounded interval."""

LOWER_HERE, HIGHER_HERE = "lower in these runs", "higher in these runs"
"""The verdicts where a t test is significant, but rare failures that no run shows are not excluded."""

BETTER_HERE, WORSE_HERE = "better in these runs", "worse in these runs"
"""The verdicts by a user-defined metric, which has no known bounds."""


class Paired(NamedTuple):
    """The mean of paired differences, its standard error, Student's 95% interval and the two-sided p-value.

    Where every run has the same difference, the p-value is that of the sign test. Below two runs it is 1.
    """

    difference: float
    se: float | None
    low: float | None
    high: float | None
    p_value: float


def paired(differences: Floats) -> Paired:
    runs, mean = len(differences), float(differences.mean())
    mean = mean if abs(mean) > NEGLIGIBLE * np.abs(differences).max() else 0.0  # they cancel but for rounding
    if runs < 2:
        return Paired(mean, None, None, None, 1.0)
    if np.ptp(differences) <= NEGLIGIBLE * np.abs(differences).max():
        return Paired(mean, 0.0, mean, mean, 1.0 if mean == 0.0 else 2.0 ** (1 - runs))
    from scipy.stats import ttest_1samp

    test = ttest_1samp(differences, 0.0)
    low, high = test.confidence_interval(CONFIDENCE)
    se = float(differences.std(ddof=1)) / sqrt(runs)
    return Paired(mean, se, float(low), float(high), float(test.pvalue))


def welch(first: Floats, second: Floats) -> Paired:
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
    half = float(test.ppf((1 + CONFIDENCE) / 2)) * se
    return Paired(mean, se, mean - half, mean + half, 2.0 * float(test.sf(abs(mean) / se)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values by the method of Holm (1979), which controls the family-wise error rate."""
    adjusted, highest = [1.0] * len(p_values), 0.0
    for position, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min((len(p_values) - position) * p_values[place], 1.0))
        adjusted[place] = highest
    return adjusted


def verdict(difference: float, p_bounded: float | None, p_holm: float) -> str:
    """Return the verdict on a difference from the baseline with its adjusted p-values."""
    if difference != 0.0 and p_bounded is not None and p_bounded <= ALPHA:
        return LOWER if difference < 0.0 else HIGHER
    if difference == 0.0 or p_holm > ALPHA:
        return INCONCLUSIVE
    return LOWER_HERE if difference < 0.0 else HIGHER_HERE


def fragility(difference: float, largest: float) -> float:
    """Return the share e of runs with (1 - e) |difference| = e largest: these could reverse it."""
    return abs(difference) / (abs(difference) + largest)


def compare(
    tables: Tables, baseline: str | Tables | None = None, metric: Metric | None = None
) -> pl.DataFrame:
    """Compare the final regrets, or a metric, of policies in pairs; see `lowregret.Results.compare`."""
    check_threads("compare")
    if isinstance(baseline, Tables):
        return _compare_same_policies(tables, baseline, metric)
    values = tables.finals if metric is None else metric_values(tables, metric).rename({"value": "regret"})
    policies = values["policy"].unique(maintain_order=True).to_list()
    if baseline is not None and baseline not in policies:
        available = f"these results have {', '.join(policies)}"
        raise InputError(f"compare: {unknown_name_message('policy', baseline, policies, available)}")
    if len(policies) < 2:
        raise InputError(f"compare: two policies are needed, and these results have only {policies[0]}")
    baselines = None if baseline is None else dict.fromkeys(values["environment"].unique(), baseline)
    if metric is None:
        return compare_with(tables, baselines)
    comparison = _comparison_table(list(_pairs(values, baselines)), None)
    lower, higher = (BETTER_HERE, WORSE_HERE) if metric.lower_is_better else (WORSE_HERE, BETTER_HERE)
    wins = pl.col("wins") if metric.lower_is_better else (1.0 - pl.col("wins")).alias("wins")
    return comparison.with_columns(wins, pl.col("verdict").replace({LOWER_HERE: lower, HIGHER_HERE: higher}))


def compare_with(tables: Tables, baselines: Mapping[str, str] | None) -> pl.DataFrame:
    """Compare the final regret of every policy with that of another one of its environment, or every pair."""
    return _comparison_table(list(_pairs(tables.finals, baselines)), largest_regrets(tables))


def _compare_same_policies(tables: Tables, others: Tables, metric: Metric | None) -> pl.DataFrame:
    """Compare every policy with itself in other results; the baseline is its name with theirs."""
    if metric is not None:
        raise InputError("compare: give either other results or a metric")
    if tables.seed is None or tables.seed != others.seed:
        raise InputError(
            f"compare: the seeds differ ({tables.seed} and {others.seed}), so that run r has other rewards: "
            "run both with one seed"
        )
    changed = [
        name for name, horizon in tables.horizons.items() if others.horizons.get(name, horizon) != horizon
    ]
    if changed:
        raise InputError(f"compare: {changed[0]!r} has other horizons in the two results: use the same")
    label = others.name if others.name != tables.name else "other"
    keys = [*KEYS, "run"]
    both = tables.finals.join(others.finals.select(*keys, other="regret"), on=keys, maintain_order="left")
    if both.is_empty():
        raise InputError("compare: these results have no environment, policy and run in common")
    pairs = [
        (str(environment), str(policy), f"{policy} ({label})", differences(part["regret"], part["other"]))
        for (environment, policy), part in both.group_by(KEYS, maintain_order=True)
    ]
    return _comparison_table(pairs, largest_regrets(tables))


def _comparison_table(
    pairs: Sequence[tuple[str, str, str, Floats]], largest: Mapping[str, float] | None
) -> pl.DataFrame:
    """Compare samples of differences; ``largest`` has the largest possible ones, None if not known."""
    samples = [sample for *_, sample in pairs]
    tests = [paired(sample) for sample in samples]
    adjusted = holm([test.p_value for test in tests])
    limits = [0.0] * len(pairs) if largest is None else [largest[environment] for environment, *_ in pairs]
    bounded: list[float | None] = [None] * len(pairs)
    if largest is not None:
        bounded = [*holm(list(map(bounded_p_value, samples, limits)))]
    rows = []
    for (environment, policy, other, sample), test, limit, p_holm, p_bounded in zip(
        pairs, tests, limits, adjusted, bounded, strict=True
    ):
        row: dict[str, Any] = {"environment": environment, "policy": policy, "baseline": other}
        row |= {"runs": len(sample), "difference": test.difference, "se": test.se}
        row |= {"student_low": test.low, "student_high": test.high, "p_value": test.p_value}
        row["wins"] = float((sample < 0).mean() + 0.5 * (sample == 0).mean())
        row["p_holm"], row["p_bounded"] = p_holm, p_bounded
        if largest is not None:
            row["low"], row["high"] = bounded_interval(sample, -limit, limit)
        row["verdict"] = verdict(test.difference, p_bounded, p_holm)
        if test.se is not None:
            spread = test.se * sqrt(len(sample))
            row["runs_needed"] = runs_needed(test.difference, spread, ALPHA / len(tests), largest=limit)
        rows.append(row)
    return pl.DataFrame(rows, schema=COMPARISON)


def _pairs(
    finals: pl.DataFrame, baselines: Mapping[str, str] | None
) -> Iterator[tuple[str, str, str, Floats]]:
    """Yield every environment, policy and baseline with the differences of their runs."""
    for (environment,), part in finals.group_by("environment", maintain_order=True):
        names = part["policy"].unique(maintain_order=True).to_list()
        wide = part.pivot("policy", index="run", values="regret")
        if baselines is None:
            chosen = [(policy, other) for other, policy in combinations(names, 2)]
        else:
            other = baselines[str(environment)]
            chosen = [(policy, other) for policy in names if policy != other and other in names]
        for policy, other in chosen:
            both = wide.select(policy, other).drop_nulls()
            if len(both):
                yield str(environment), policy, other, differences(both[policy], both[other])


def differences(regret: pl.Series, other: pl.Series) -> Floats:
    """Return the differences of the runs; those that are only rounding become 0."""
    first, second = regret.to_numpy(), other.to_numpy()
    differences: Floats = first - second
    size = max(np.abs(first).max(), np.abs(second).max())
    differences[np.abs(differences) <= NEGLIGIBLE * size] = 0.0
    return differences

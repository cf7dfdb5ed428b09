"""Summaries of the regret: mean, confidence interval, quantiles and tail, at the horizon and over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats, Integers
from lowregret._common.forks import check_threads
from lowregret.analysis.columns import KEYS, SUMMARY
from lowregret.analysis.intervals import (
    bounded_interval,
    share_intervals,
    share_limit,
    student_factor,
    tail_intervals,
)
from lowregret.analysis.metrics import add_metrics
from lowregret.analysis.tables import Tables, largest_regrets

TAIL_SHARE = 0.05
TAIL_POINTS = 200
"""At most how many values of the regret a table of the tail has."""


def tail_mean(values: Floats) -> float:
    """Return the mean of the worst 5% of the runs; a run at the border counts in part."""
    worst = np.sort(values)[::-1]
    weights = np.clip(TAIL_SHARE * len(worst) - np.arange(len(worst)), 0.0, 1.0)
    return float(weights @ worst / weights.sum())


def summarise(tables: Tables) -> pl.DataFrame:
    """Summarise the final regrets of every policy in every environment; see `Results.summary`."""
    check_threads("summary")
    optimal = {
        str(environment): arms["optimal"].to_numpy()
        for (environment,), arms in tables.arms.group_by("environment", maintain_order=True)
    }
    regrets = {
        (str(environment), str(policy)): finals["regret"].to_numpy()
        for (environment, policy), finals in tables.finals.group_by(KEYS)
    }
    largest = largest_regrets(tables)
    bounds = [(0.0, largest[environment]) for environment, _ in tables.pairs]
    tails = tail_intervals([regrets[pair] for pair in tables.pairs], bounds, TAIL_SHARE)
    rows = []
    for (environment, policy), (worst_low, worst_high) in zip(tables.pairs, tails, strict=True):
        runs, values = tables.outcome(policy, environment), regrets[environment, policy]
        low, high = bounded_interval(values, 0.0, largest[environment])
        rows.append(
            {"environment": environment, "policy": policy, "low": low, "high": high}
            | {"worst05_low": worst_low, "worst05_high": worst_high}
            | regret_statistics(values)
            | _arm_statistics(runs.pulls, runs.eliminated, optimal[environment])
        )
    return add_metrics(pl.DataFrame(rows, schema=SUMMARY), tables)


def tail(tables: Tables, regret: float | Sequence[float] | None = None) -> pl.DataFrame:
    """Estimate the probability that the final regret exceeds values; see `Results.tail`."""
    check_threads("tail")
    parts = []
    for (environment, policy), finals in tables.finals.group_by(KEYS, maintain_order=True):
        values = np.sort(finals["regret"].to_numpy())
        runs = len(values)
        if regret is None:  # the values that 0, 1, 2, ... runs exceed, fewer and fewer of them
            ranks = np.unique(np.geomspace(1, runs, TAIL_POINTS).astype(np.int64))
            at = np.unique(values[runs - ranks])
        else:
            at = np.atleast_1d(np.asarray(regret, np.float64))
        counts = runs - np.searchsorted(values, at, side="right")
        low, high = share_intervals(counts, runs)
        columns = {"regret": at, "runs": runs, "share": counts / runs, "low": low, "high": high}
        parts.append(pl.DataFrame({"environment": environment, "policy": policy, **columns}))
    return pl.concat(parts).cast({"runs": pl.Int64})


def summarise_curves(tables: Tables) -> pl.DataFrame:
    """Summarise the regret of every policy at each recorded time; see `Results.curves`."""
    check_threads("curves")
    parts = []
    for environment, policy in tables.pairs:
        runs = tables.outcome(policy, environment)
        named = {"environment": environment, "policy": policy, "t": runs.grid, "runs": len(runs.regret)}
        parts.append(pl.DataFrame({**named, **_column_statistics(runs.regret)}))
    return pl.concat(parts).cast({"runs": pl.Int64}).fill_nan(None)


def _column_statistics(values: Floats) -> dict[str, Floats]:
    """Summarise the columns of an array whose rows are runs; se and interval are nan below two runs."""
    runs = len(values)
    p05, median, p95 = np.quantile(values, [0.05, 0.5, 0.95], axis=0)
    mean = values.mean(axis=0)
    se = values.std(axis=0, ddof=1) / np.sqrt(runs) if runs > 1 else np.full(values.shape[1], np.nan)
    half_width = (student_factor(runs) or np.nan) * se
    return {
        "mean": mean,
        "se": se,
        "student_low": mean - half_width,
        "student_high": mean + half_width,
        "median": median,
        "p05": p05,
        "p95": p95,
    }


def regret_statistics(values: Floats) -> dict[str, Any]:
    """Summarise the regrets of runs: mean, interval, quantiles, the worst 5% and the worst."""
    statistics = {key: float(column[0]) for key, column in _column_statistics(values[:, None]).items()}
    row = {key: None if np.isnan(value) else value for key, value in statistics.items()}
    p25, p75 = np.quantile(values, [0.25, 0.75]).tolist()
    return row | {
        "runs": len(values), "p25": p25, "p75": p75, "worst05": tail_mean(values), "worst": values.max()
    }  # fmt: skip


def _arm_statistics(pulls: Integers, eliminated: Integers | None, optimal: np.ndarray) -> dict[str, Any]:
    """Summarise how often the optimal arms were pulled, pulled most, and all eliminated."""
    most_pulled = pulls == pulls.max(axis=1, keepdims=True)
    runs, lost = len(pulls), None
    if eliminated is not None:
        lost = int((eliminated[:, optimal] > 0).all(axis=1).sum())
    return {
        "best_arm_pulls": float((pulls[:, optimal].sum(axis=1) / pulls.sum(axis=1)).mean()),
        "best_arm_found": float((most_pulled[:, optimal].sum(axis=1) / most_pulled.sum(axis=1)).mean()),
        "optimal_arm_eliminated": lost,
        "failures": None if lost is None else lost / runs,
        "failures_high": None if lost is None else share_limit(lost, runs),
    }

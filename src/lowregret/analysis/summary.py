"""Summaries of the regret: mean, confidence interval, quantiles and tail, at the horizon and over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from lowregret.analysis.intervals import student_factor
from lowregret.analysis.tables import Floats, Integers, Tables

TAIL = 0.05
"""The share of the runs that the tail mean is the mean of."""

SUMMARY = {
    "environment": pl.String,
    "policy": pl.String,
    "runs": pl.Int64,
    "mean": pl.Float64,
    "se": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p05": pl.Float64,
    "p25": pl.Float64,
    "median": pl.Float64,
    "p75": pl.Float64,
    "p95": pl.Float64,
    "worst05": pl.Float64,
    "worst": pl.Float64,
    "best_arm_pulls": pl.Float64,
    "best_arm_found": pl.Float64,
    "optimal_arm_eliminated": pl.Int64,
}
"""The columns of a summary."""


def tail_mean(values: Floats, share: float = TAIL) -> float:
    """Return the mean of the worst 5% of the runs.

    A run at the border counts in part: of 30 runs it is the worst one and half of the second worst, divided
    by 1.5. So it is the mean of the empirical distribution beyond its 95% quantile (the expected shortfall),
    and with 20 runs or fewer the worst run.

    Examples
    --------
    >>> import numpy as np
    >>> from lowregret.analysis.summary import tail_mean
    >>> tail_mean(np.arange(1.0, 101.0)), tail_mean(np.array([3.0, 8.0]))
    (98.0, 8.0)
    """
    worst = np.sort(values)[::-1]
    weights = np.clip(share * len(worst) - np.arange(len(worst)), 0.0, 1.0)
    return float(weights @ worst / weights.sum())


def summarise(tables: Tables) -> pl.DataFrame:
    """Summarise the final regrets of every policy in every environment.

    Parameters
    ----------
    tables : Results
        The results.

    Returns
    -------
    polars.DataFrame
        One row per environment and policy. ``mean``, its standard error ``se`` and Student's 95% interval
        ``low`` to ``high`` (null below two runs); ``median``, ``p05``, ``p25``, ``p75``, ``p95``;
        ``worst05``, the mean of the worst 5% of the runs, and the ``worst`` run. ``best_arm_pulls`` is the
        share of pulls of an optimal arm. ``best_arm_found`` is the share of runs in which an optimal arm was
        pulled most; where arms tie for that the run counts in part. ``optimal_arm_eliminated`` is the number
        of runs in which no optimal arm was left; null for a policy that eliminates no arms.

    Examples
    --------
    >>> import lowregret as lr
    >>> result = lr.simulate("RoundRobin", "bernoulli:0.25,0.75", horizon=100, runs=5)
    >>> result.summary().select("mean", "best_arm_pulls", "best_arm_found").row(0)
    (25.0, 0.5, 0.5)
    """
    optimal = {
        str(environment): arms["optimal"].to_numpy()
        for (environment,), arms in tables.arms.group_by("environment", maintain_order=True)
    }
    regrets = {
        (str(environment), str(policy)): finals["regret"].to_numpy()
        for (environment, policy), finals in tables.finals.group_by("environment", "policy")
    }
    rows = []
    for environment, policy in tables.pairs:
        runs = tables.outcome(policy, environment)
        rows.append(
            {"environment": environment, "policy": policy}
            | _regret(regrets[environment, policy])
            | _arms(runs.pulls, runs.eliminated, optimal[environment])
        )
    return pl.DataFrame(rows, schema=SUMMARY)


def summarise_curves(tables: Tables) -> pl.DataFrame:
    """Summarise the regret of every policy in every environment at each recorded time.

    Parameters
    ----------
    tables : Results
        The results.

    Returns
    -------
    polars.DataFrame
        Columns environment, policy, t, runs, mean, se, low, high, median, p05 and p95, as in `summarise`.

    Examples
    --------
    >>> import lowregret as lr
    >>> result = lr.simulate("RoundRobin", "bernoulli:0.25,0.75", horizon=100, runs=5, grid=2)
    >>> result.curves().select("t", "mean").rows()
    [(50, 12.5), (100, 25.0)]
    """
    parts = []
    for environment, policy in tables.pairs:
        runs = tables.outcome(policy, environment)
        named = {"environment": environment, "policy": policy, "t": runs.grid, "runs": len(runs.regret)}
        parts.append(pl.DataFrame({**named, **_statistics(runs.regret)}))
    return pl.concat(parts).fill_nan(None)


def _statistics(values: Floats) -> dict[str, Floats]:
    """Summarise the columns of an array whose rows are runs; se, low and high are nan below two runs."""
    runs = len(values)
    p05, median, p95 = np.quantile(values, [0.05, 0.5, 0.95], axis=0)
    mean = values.mean(axis=0)
    se = values.std(axis=0, ddof=1) / np.sqrt(runs) if runs > 1 else np.full(values.shape[1], np.nan)
    half_width = (student_factor(runs) or np.nan) * se
    return {
        "mean": mean,
        "se": se,
        "low": mean - half_width,
        "high": mean + half_width,
        "median": median,
        "p05": p05,
        "p95": p95,
    }


def _regret(values: Floats) -> dict[str, Any]:
    """Summarise the final regrets of one policy."""
    found = {key: float(column[0]) for key, column in _statistics(values[:, None]).items()}
    row = {key: None if np.isnan(value) else value for key, value in found.items()}
    p25, p75 = np.quantile(values, [0.25, 0.75]).tolist()
    return row | {
        "runs": len(values), "p25": p25, "p75": p75, "worst05": tail_mean(values), "worst": values.max()
    }  # fmt: skip


def _arms(pulls: Integers, eliminated: Integers | None, optimal: np.ndarray) -> dict[str, Any]:
    """Summarise how often the optimal arms were pulled, pulled most, and all eliminated."""
    most = pulls == pulls.max(axis=1, keepdims=True)
    lost = None if eliminated is None else int((eliminated[:, optimal] > 0).all(axis=1).sum())
    return {
        "best_arm_pulls": float((pulls[:, optimal].sum(axis=1) / pulls.sum(axis=1)).mean()),
        "best_arm_found": float((most[:, optimal].sum(axis=1) / most.sum(axis=1)).mean()),
        "optimal_arm_eliminated": lost,
    }

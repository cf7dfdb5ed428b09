"""Means, intervals, quantiles and tails of regrets, as tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from lowregret.analysis.intervals import Floats, student_factor
from lowregret.errors import InputError
from lowregret.results.tables import Tables

Integers = npt.NDArray[np.int64]

TAIL = 0.05
"""The worst runs that the tail mean is the mean of, as a share."""
KEYS = ("environment", "policy")


def statistics(values: Floats) -> dict[str, Floats]:
    """Summarise the columns of an array whose rows are runs.

    Examples
    --------
    >>> import numpy as np
    >>> from lowregret.analysis.summary import statistics
    >>> {name: float(column[0]) for name, column in statistics(np.array([[1.0], [3.0]])).items()}
    {'mean': 2.0, 'se': 1.0, 'median': 2.0, 'p05': 1.1, 'p95': 2.9}
    """
    runs = len(values)
    p05, median, p95 = np.quantile(values, [0.05, 0.5, 0.95], axis=0)
    spread = values.std(axis=0, ddof=1) if runs > 1 else np.full(values.shape[1], np.nan)
    return {
        "mean": values.mean(axis=0),
        "se": spread / np.sqrt(runs),
        "median": median,
        "p05": p05,
        "p95": p95,
    }


def summary_table(finals: Mapping[str, Floats]) -> pl.DataFrame:
    """Summarise the final regrets of several policies, one row each."""
    rows = [
        {"policy": name, **{key: column[0] for key, column in statistics(values[:, None]).items()}}
        for name, values in finals.items()
    ]
    return pl.DataFrame(rows).fill_nan(None)


def curve_table(curves: Mapping[str, tuple[Integers, Floats]]) -> pl.DataFrame:
    """Summarise the regrets of several policies at each of their times, one row per time."""
    parts = [
        pl.DataFrame({"policy": [name] * len(times), "t": times, **statistics(regret)})
        for name, (times, regret) in curves.items()
    ]
    return pl.concat(parts).fill_nan(None)


def run_table(curves: Mapping[str, tuple[Integers, Floats]]) -> pl.DataFrame:
    """Lay out the regrets of several policies, one row per run and time."""
    parts = []
    for name, (times, regret) in curves.items():
        runs = len(regret)
        columns = {
            "policy": [name] * regret.size,
            "run": np.repeat(np.arange(runs), len(times)),
            "t": np.tile(times, runs),
            "regret": regret.ravel(),
        }
        parts.append(pl.DataFrame(columns))
    return pl.concat(parts)


def tail_mean(values: Floats, share: float = TAIL) -> float:
    """Give the mean of the worst 5% of the runs.

    A run at the border counts in part: of 30 runs it is the worst one and half of the second worst, divided
    by 1.5. So it is the mean of the empirical law beyond its 95% quantile, and below 20 runs the worst run.

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
    tables : Tables
        The results.

    Returns
    -------
    polars.DataFrame
        One row per environment and policy. ``mean``, its standard error ``se`` and Student's 95% interval
        ``low`` to ``high`` (null below two runs); ``median``, ``p05``, ``p25``, ``p75``, ``p95``;
        ``tail_mean`` of the worst 5% of the runs and the ``worst`` run. ``best_arm_pulls`` is the share of
        pulls that went to an optimal arm. ``best_arm_found`` is the share of runs in which an optimal arm was
        pulled most; where arms tie for that the run counts in part. ``optimal_arm_eliminated`` counts the
        runs in which no optimal arm was left; null for a policy that eliminated no arm.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.analysis.summary import summarise
    >>> result = lr.simulate("RoundRobin", "bernoulli:0.25,0.75", horizon=100, runs=5)
    >>> summarise(result.tables()).select("mean", "best_arm_pulls", "best_arm_found").row(0)
    (25.0, 0.5, 0.5)
    """
    rows = []
    for (environment, policy), part in tables.finals.group_by(*KEYS, maintain_order=True):
        regret = part["regret"].to_numpy()
        p25, p75 = np.quantile(regret, [0.25, 0.75])
        rows.append(
            {"environment": environment, "policy": policy, "runs": len(regret)}
            | {key: float(column[0]) for key, column in statistics(regret[:, None]).items()}
            | {"p25": p25, "p75": p75, "tail_mean": tail_mean(regret), "worst": regret.max()}
        )
    table = _with_interval(pl.DataFrame(rows).fill_nan(None))
    for more in (_best_arm(tables), _optimal_arm_eliminated(tables)):
        table = table.join(more, on=KEYS, how="left", maintain_order="left")
    first = ("runs", "mean", "se", "low", "high", "p05", "p25", "median", "p75", "p95")
    return table.select(*KEYS, *first, pl.exclude(*KEYS, *first))


def summarise_curves(tables: Tables) -> pl.DataFrame:
    """Summarise the regret of every policy in every environment at each recorded time.

    Parameters
    ----------
    tables : Tables
        The results.

    Returns
    -------
    polars.DataFrame
        Columns environment, policy, t, runs, mean, se, low, high, median, p05 and p95, as in `summarise`.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.analysis.summary import summarise_curves
    >>> result = lr.simulate("RoundRobin", "bernoulli:0.25,0.75", horizon=100, runs=5, grid=2)
    >>> summarise_curves(result.tables()).select("t", "mean").rows()
    [(50, 12.5), (100, 25.0)]
    """
    parts = []
    for (environment, policy), part in tables.curves.group_by(*KEYS, maintain_order=True):
        times = part["t"].unique().sort()
        if len(part) != part["run"].n_unique() * len(times):
            raise InputError(f"the curves of {policy} on {environment} must have every run at every time")
        regret = part.sort("run", "t")["regret"].to_numpy().reshape(-1, len(times))
        named = {"environment": environment, "policy": policy, "t": times, "runs": len(regret)}
        parts.append(pl.DataFrame({**named, **statistics(regret)}))
    return _with_interval(pl.concat(parts).fill_nan(None))


def _with_interval(table: pl.DataFrame) -> pl.DataFrame:
    """Add Student's interval to a table with the columns runs, mean and se."""
    factors = {runs: student_factor(runs) for runs in table["runs"].unique().to_list()}
    reach = pl.col("runs").replace_strict(factors, return_dtype=pl.Float64) * pl.col("se")
    return table.with_columns(low=pl.col("mean") - reach, high=pl.col("mean") + reach)


def _best_arm(tables: Tables) -> pl.DataFrame:
    """Say how often an optimal arm was pulled, and how often one was pulled most."""
    optimal = tables.arms.select("environment", "arm", "optimal")
    pulls = tables.pulls.join(optimal, on=["environment", "arm"], how="left")
    best, most = pl.col("optimal"), pl.col("pulls") == pl.col("pulls").max()
    runs = pulls.group_by(*KEYS, "run").agg(
        best_arm_pulls=pl.col("pulls").filter(best).sum() / pl.col("pulls").sum(),
        best_arm_found=best.filter(most).mean(),
    )
    return runs.group_by(*KEYS).agg(pl.col("best_arm_pulls", "best_arm_found").mean())


def _optimal_arm_eliminated(tables: Tables) -> pl.DataFrame:
    """Count the runs that lost every optimal arm, for the policies that eliminated any arm."""
    dropped = tables.events.filter(pl.col("event") == "eliminated")
    best = tables.arms.filter("optimal").select("environment", "arm")
    several = best.group_by("environment").agg(several=pl.len())
    lost = (
        dropped.join(best, on=["environment", "arm"], how="semi")
        .group_by(*KEYS, "run")
        .agg(lost=pl.col("arm").n_unique())
        .join(several, on="environment")
        .filter(pl.col("lost") == pl.col("several"))
        .group_by(*KEYS)
        .agg(optimal_arm_eliminated=pl.len().cast(pl.Int64))
    )
    found = dropped.select(*KEYS).unique().join(lost, on=KEYS, how="left")
    return found.with_columns(pl.col("optimal_arm_eliminated").fill_null(0))

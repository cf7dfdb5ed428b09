"""Means, standard errors and quantiles of regrets, as tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


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

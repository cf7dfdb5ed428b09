"""Intervals for means, Student's and the bootstrap's, and for probabilities."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from lowregret.special.quantiles import beta_upper, student_upper

Floats = npt.NDArray[np.float64]
Interval = tuple[float, float] | None

LEVEL = 0.95
RESAMPLES = 10_000
NEGLIGIBLE = 1e-9
"""What is smaller than this part of the numbers it comes from is rounding, and counts as 0."""
_CHUNK = 4_000_000
"""How many draws the bootstrap holds at once."""


def student_factor(runs: int, level: float = LEVEL) -> float | None:
    """Give how many standard errors the interval of a mean reaches to each side; None below two runs.

    Examples
    --------
    >>> from lowregret.analysis.intervals import student_factor
    >>> round(student_factor(10), 3), student_factor(1)
    (2.262, None)
    """
    return student_upper(runs - 1, (1 - level) / 2) if runs > 1 else None


def mean_interval(values: Floats, level: float = LEVEL) -> Interval:
    """Give Student's interval of the mean; None below two runs.

    Examples
    --------
    >>> import numpy as np
    >>> from lowregret.analysis.intervals import mean_interval
    >>> low, high = mean_interval(np.array([1.0, 2.0, 3.0]))
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    factor = student_factor(len(values), level)
    if factor is None:
        return None
    mean, reach = float(values.mean()), factor * float(values.std(ddof=1)) / sqrt(len(values))
    return mean - reach, mean + reach


def share_interval(count: int, runs: int, level: float = LEVEL) -> tuple[float, float]:
    """Give the interval of Clopper and Pearson (1934) for the probability of what was seen in some runs.

    It covers the probability at least as often as the level says, whatever that probability is, also where
    the event was seen in no run or in all.

    Examples
    --------
    >>> from lowregret.analysis.intervals import share_interval
    >>> low, high = share_interval(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    tail = (1 - level) / 2
    low = beta_upper(count, runs - count + 1, 1 - tail) if count > 0 else 0.0
    high = beta_upper(count + 1, runs - count, tail) if count < runs else 1.0
    return low, high


def bootstrap_intervals(
    columns: Floats, level: float = LEVEL, seed: int = 0, resamples: int = RESAMPLES
) -> list[Interval]:
    """Give the bootstrap interval of the mean of each column, whose rows are runs.

    The ends are bias-corrected and accelerated (Efron 1987): unlike plain percentiles they follow the
    skewness that rare bad runs bring. All columns share their resamples, and the same numbers and seed
    always give the same intervals.

    Parameters
    ----------
    columns : array of float
        One row per run and one column per mean.
    level : float, default 0.95
        How often the interval should cover.
    seed : int, default 0
        What the resamples are drawn from.
    resamples : int, default 10000
        How many there are.

    Returns
    -------
    list of (float, float)
        One interval per column; None each below two runs.

    Examples
    --------
    >>> import numpy as np
    >>> from lowregret.analysis.intervals import bootstrap_intervals
    >>> bootstrap_intervals(np.array([[1.0], [1.0], [1.0]]))
    [(1.0, 1.0)]
    """
    runs = len(columns)
    if runs < 2:
        return [None] * columns.shape[1]
    # Centred, so that no digits are lost where the spread is small beside the mean.
    centre = columns.mean(axis=0)
    spread = columns - centre
    means = _resampled_means(spread, seed, resamples)
    return [
        (float(middle) + low, float(middle) + high)
        for middle, (low, high) in zip(
            centre,
            (_accelerated(spread[:, i], means[:, i], level) for i in range(len(centre))),
            strict=True,
        )
    ]


def _resampled_means(spread: Floats, seed: int, resamples: int) -> Floats:
    """Draw the runs again, with replacement, and give the means; one row per resample."""
    runs, random = len(spread), np.random.default_rng(seed)
    rows = max(1, _CHUNK // runs)
    parts = []
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = random.integers(runs, size=(size, runs)) + runs * np.arange(size)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=size * runs).reshape(size, runs)
        parts.append(weights.astype(np.float64) @ spread / runs)
    return np.concatenate(parts)


def _accelerated(spread: Floats, means: Floats, level: float) -> tuple[float, float]:
    """Find the ends among the resampled means of a column with mean 0."""
    squares = float((spread**2).sum())
    if squares == 0.0:
        return 0.0, 0.0
    normal = NormalDist()
    near = NEGLIGIBLE * sqrt(squares)  # sums that are 0 on paper come out a little above or below it
    below = ((means < -near).sum() + 0.5 * (np.abs(means) <= near).sum()) / len(means)
    bias = normal.inv_cdf(min(max(float(below), 0.5 / len(means)), 1.0 - 0.5 / len(means)))
    acceleration = float((spread**3).sum()) / (6.0 * squares**1.5)
    shares = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        place = bias + normal.inv_cdf(tail)
        shares.append(normal.cdf(bias + place / (1.0 - acceleration * place)))
    low, high = np.quantile(means, shares)
    return float(low), float(high)

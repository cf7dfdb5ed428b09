"""Confidence intervals of means (Student, bootstrap) and of probabilities (Clopper-Pearson)."""

from __future__ import annotations

from functools import partial

import numpy as np

from lowregret.analysis.tables import Floats, Integers

Interval = tuple[float, float] | None

LEVEL = 0.95
RESAMPLES = 10_000
NEGLIGIBLE = 1e-9
"""A difference below this fraction of the numbers it comes from is rounding, and counts as 0."""
_BATCH = 4_000_000
"""About how many resampled run numbers the bootstrap holds at once."""


def student_factor(runs: int) -> float | None:
    """Return the half-width of the 95% interval of a mean, in standard errors; None below two runs."""
    from scipy.special import stdtrit  # quicker to load than scipy.stats, and the same function

    return float(stdtrit(runs - 1, (1 + LEVEL) / 2)) if runs > 1 else None


def share_interval(count: int, runs: int) -> tuple[float, float]:
    """Return the 95% interval of Clopper and Pearson (1934) for the probability of an event.

    Its coverage is at least 95%, whatever the probability is, also where the event occurred in no run or in
    all.
    """
    from scipy.stats import binomtest

    found = binomtest(count, runs).proportion_ci(LEVEL, method="exact")
    return float(found.low), float(found.high)


def bootstrap_intervals(columns: Floats, seed: int = 0, resamples: int = RESAMPLES) -> list[Interval]:
    """Return the 95% BCa bootstrap interval of the mean of each column, whose rows are runs.

    The interval is bias-corrected and accelerated (Efron 1987): unlike plain percentiles it follows the
    skewness that rare bad runs cause. All columns share their resamples. Below two runs every interval is
    None; a constant column has an interval of width 0.
    """
    runs = len(columns)
    if runs < 2:
        return [None] * columns.shape[1]
    means: list[float] = columns.mean(axis=0).tolist()
    found: list[Interval] = [(mean, mean) for mean in means]
    varying = np.flatnonzero(np.ptp(columns, axis=0) > NEGLIGIBLE * np.abs(columns).max(axis=0))
    if not len(varying):
        return found
    from scipy.stats import bootstrap

    interval = bootstrap(
        (np.arange(runs),),
        partial(_means, columns[:, varying]),
        n_resamples=resamples,
        batch=max(_BATCH // runs, 1),
        vectorized=True,
        axis=-1,
        confidence_level=LEVEL,
        rng=np.random.default_rng(seed),
    ).confidence_interval
    for column, low, high in zip(varying.tolist(), interval.low, interval.high, strict=True):
        found[column] = None if np.isnan(low) or np.isnan(high) else (float(low), float(high))
    return found


def _means(columns: Floats, rows: Integers, axis: int) -> Floats:
    """Return the mean of every column over each row of run numbers, which is a resample.

    It is computed from how often a run occurs: far faster than gathering the numbers of every resample.
    """
    resamples, runs = rows.reshape(-1, rows.shape[axis]), len(columns)
    places = resamples + runs * np.arange(len(resamples))[:, None]
    counts = np.bincount(places.ravel(), minlength=runs * len(resamples)).reshape(-1, runs)
    means: Floats = counts.astype(np.float64) @ columns / rows.shape[axis]
    return means.T.reshape(-1, *rows.shape[:-1])

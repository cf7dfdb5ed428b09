"""Confidence intervals of means (Student, bounded), of tails and of probabilities."""

from collections.abc import Sequence

import numpy as np

from lowregret._common.arrays import Floats, Integers

Interval = tuple[float, float] | None

CONFIDENCE = 0.95
RESAMPLES = 10_000
NEGLIGIBLE = 1e-9
"""A difference below this fraction of the numbers it comes from is rounding, and counts as 0."""
_BATCH_VALUES = 4_000_000
"""The approximate number of resampled values that are held in memory at once."""


def student_factor(runs: int) -> float | None:
    """Return the half-width of the 95% interval of a mean, in standard errors; None below two runs."""
    from scipy.special import stdtrit  # quicker to load than scipy.stats, and the same function

    return float(stdtrit(runs - 1, (1 + CONFIDENCE) / 2)) if runs > 1 else None


def share_interval(count: int, runs: int) -> tuple[float, float]:
    """Return the 95% interval of Clopper and Pearson for the probability of one event."""
    low, high = share_intervals(np.array([count]), runs)
    return float(low[0]), float(high[0])


def share_intervals(counts: Integers, runs: Integers | int) -> tuple[Floats, Floats]:
    """Return the intervals of Clopper and Pearson (1934) for probabilities; they cover 95% or more."""
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = np.where(counts > 0, betaincinv(np.maximum(counts, 1), runs - counts + 1, tail), 0.0)
    high = np.where(counts < runs, betaincinv(counts + 1, np.maximum(runs - counts, 1), 1 - tail), 1.0)
    return low, high


def share_limit(count: int, runs: int) -> float:
    """Return the one-sided upper 95% limit of Clopper and Pearson for the probability of an event."""
    from scipy.special import betaincinv

    return float(betaincinv(count + 1, runs - count, CONFIDENCE)) if count < runs else 1.0


def bounded_interval(values: Floats, low: float, high: float) -> tuple[float, float]:
    """Return the 95% interval of Learned-Miller and Thomas (2019) of the mean of values between known bounds.

    It has the quantiles of the mean if the probabilities between ordered values are those of ordered uniform
    numbers, at the lower or the upper end of each gap: so about 1 / n always lies at the bound. That it has
    the mean with probability 95% is conjectured; it is proved for one value and for two-point distributions.
    """
    return 0.0 - _upper_limit(-values, -low), _upper_limit(values, high)


def bounded_p_value(values: Floats, largest: float) -> float:
    """Return the level at which the bounded interval, from -largest to largest, has 0 at an end."""
    bound = max(largest, float(np.abs(values).max()))
    points, middle, size = _standardized(-values if values.mean() > 0.0 else values, bound)
    if middle >= 0.0:
        return 1.0
    from scipy.optimize import brentq

    tilt = brentq(lambda tilt: middle + size * _saddlepoint(points, tilt)[0], 0.0, 1.0 - 1e-13)
    return min(2.0 * _saddlepoint(points, tilt)[1], 1.0)


def _upper_limit(values: Floats, bound: float) -> float:
    """Return the 97.5% quantile of the mean of values and their bound under random weights."""
    points, middle, size = _standardized(values, bound)
    if size == 0.0:
        return middle
    from scipy.optimize import brentq

    first = min(0.2 / float(np.sqrt(points @ points)), 0.5)  # below it the tail is 30% or more
    beyond = (1 - CONFIDENCE) / 2
    tilt = brentq(lambda tilt: _saddlepoint(points, tilt)[1] - beyond, first, 1.0 - 1e-13)
    return middle + size * _saddlepoint(points, tilt)[0]


def _standardized(values: Floats, bound: float) -> tuple[Floats, float, float]:
    """Return values and their upper bound, less their mean and divided by its distance to the largest."""
    points = np.append(values, max(bound, float(values.max())))
    middle = float(points.mean())
    size = float(points.max()) - middle
    if size <= NEGLIGIBLE * float(np.abs(points).max()):
        return points, middle, 0.0
    return (points - middle) / size, middle, size


def _saddlepoint(points: Floats, tilt: float) -> tuple[float, float]:
    """Return a value, and the probability that the mean of the points under random weights exceeds it.

    The weights are uniform on the simplex; the approximation is that of Lugannani and Rice (1980).
    """
    from scipy.special import ndtr

    rates = 1.0 - tilt * points
    value = float((points / rates).sum() / (1.0 / rates).sum())
    scale = 1.0 - tilt * value
    exponent = float(np.log(rates / scale).sum())
    root = float(np.sqrt(2.0 * max(exponent, 0.0)))
    slope = tilt * float(np.sqrt(np.square((points - value) / rates).sum()))
    if min(root, slope) < 1e-4:
        return value, 0.5
    density = float(np.exp(-exponent)) / float(np.sqrt(2.0 * np.pi))
    return value, max(float(ndtr(-root)) + density * (1.0 / slope - 1.0 / root), 0.0)


def tail_intervals(
    samples: Sequence[Floats], bounds: Sequence[tuple[float, float]], share: float
) -> list[tuple[float, float]]:
    """Return the 95% bounded interval of the mean of each sample's largest values, a share of all."""
    intervals: dict[int, tuple[float, float]] = {}
    for runs in {len(sample) for sample in samples}:
        places = [place for place, sample in enumerate(samples) if len(sample) == runs]
        ordered = -np.sort(-np.column_stack([samples[place] for place in places]), axis=0)
        lower, upper = np.array([bounds[place] for place in places]).T
        top = min(int(share * runs + 8 * np.sqrt(runs)) + 20, runs + 1)
        ends = np.vstack([ordered, np.minimum(lower, ordered[-1])])[:top]
        starts = np.vstack([np.maximum(upper, ordered[0]), ordered])[:top]
        rng, batch = np.random.default_rng(0), max(_BATCH_VALUES // top, 1)
        low, high = [], []
        for first in range(0, RESAMPLES, batch):
            size = min(batch, RESAMPLES - first)
            weights = rng.standard_exponential((size, top))
            weights /= (weights.sum(axis=1) + rng.standard_gamma(runs + 1 - top, size))[:, None]
            weights = np.diff(np.minimum(weights.cumsum(axis=1), share), axis=1, prepend=0.0) / share
            low.append(weights @ ends)
            high.append(weights @ starts)
        lows = np.quantile(np.vstack(low), (1 - CONFIDENCE) / 2, axis=0).tolist()
        highs = np.quantile(np.vstack(high), (1 + CONFIDENCE) / 2, axis=0).tolist()
        intervals |= dict(zip(places, zip(lows, highs, strict=True), strict=True))
    return [intervals[place] for place in range(len(samples))]

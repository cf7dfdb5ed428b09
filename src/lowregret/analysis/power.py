"""How many runs it takes to tell two policies apart."""

from __future__ import annotations

from math import ceil, erfc, log2, sqrt

import numpy as np

from lowregret.errors import InputError
from lowregret.special.quantiles import student_upper

ALPHA = 0.05
POWER = 0.8
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(300)


def power(runs: int, effect: float, alpha: float = ALPHA) -> float:
    """Give the chance that a paired t test of this many runs finds a difference.

    Parameters
    ----------
    runs : int
        At least 2.
    effect : float
        The mean difference, divided by the standard deviation of the differences.
    alpha : float, default 0.05
        How often the test, which looks to both sides, may be wrong where there is no difference.

    Examples
    --------
    >>> from lowregret.analysis.power import power
    >>> round(power(34, 0.5), 3)
    0.808
    """
    degrees = runs - 1
    limit, shift = student_upper(degrees, alpha / 2), abs(effect) * sqrt(runs)
    # Given the ratio of the estimated to the true standard deviation the test is a normal one; so its
    # power is the mean of the normal one over the law of that ratio.
    reach = 9.0 / sqrt(2.0 * degrees)
    low, high = max(0.0, 1.0 - reach), 1.0 + reach
    ratios = low + (high - low) * (_NODES + 1.0) / 2.0
    depth = (degrees - 1) * np.log(ratios) - degrees * (ratios**2 - 1.0) / 2.0
    weights = _WEIGHTS * np.exp(depth - depth.max())
    beyond = [_tail(limit * ratio - shift) + _tail(limit * ratio + shift) for ratio in ratios.tolist()]
    return float(weights @ np.array(beyond) / weights.sum())


def runs_needed(
    difference: float, deviation: float, alpha: float = ALPHA, wanted: float = POWER
) -> int | None:
    """Give the number of runs after which a paired t test tells two policies apart.

    Parameters
    ----------
    difference : float
        The mean difference that should be found.
    deviation : float
        The standard deviation of the paired differences, such as a small trial gave it.
    alpha : float, default 0.05
        How often the test may be wrong where there is no difference.
    wanted : float, default 0.8
        How often it should find the difference.

    Returns
    -------
    int or None
        None where there is no difference to find.

    Examples
    --------
    >>> from lowregret.analysis.power import runs_needed
    >>> runs_needed(difference=5, deviation=10)
    34
    >>> runs_needed(difference=0, deviation=10) is None
    True
    """
    if deviation < 0:
        raise InputError(f"runs_needed: deviation must not be negative, got {deviation}")
    if not 0 < alpha < wanted < 1:
        raise InputError(f"runs_needed: 0 < alpha < wanted < 1 must hold, got {alpha} and {wanted}")
    if difference == 0:
        return None
    least = ceil(1 - log2(alpha))  # what the sign test asks for where all runs agree
    effect = abs(difference) / deviation if deviation > 0 else float("inf")
    if effect > 1e6:
        return least
    high = 2
    while power(high, effect, alpha) < wanted:
        high *= 2
    low = max(high // 2, 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle, effect, alpha) >= wanted else (middle, high)
    return high


def _tail(x: float) -> float:
    """Give the upper tail of the normal law."""
    return 0.5 * erfc(x * sqrt(0.5))

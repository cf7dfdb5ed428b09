"""The level of verdicts, the power of the paired t test, and the number of runs that a comparison needs."""

from bisect import bisect_left
from math import ceil, log, log2, sqrt

from lowregret.errors import InputError

ALPHA = 0.05
LEVEL = f"{ALPHA:.0%}"
"""The level of verdicts, and how sentences write it."""
POWER = 0.8


def power(runs: int, effect: float, alpha: float = ALPHA) -> float:
    """Return the probability that a two-sided paired t test detects a difference of ``effect`` deviations."""
    from scipy.stats import nct, t

    degrees, shift = runs - 1, abs(effect) * sqrt(runs)
    limit = t.isf(alpha / 2, degrees)
    return float(nct.sf(limit, degrees, shift) + nct.cdf(-limit, degrees, shift))


def runs_needed(
    difference: float,
    deviation: float,
    alpha: float = ALPHA,
    wanted: float = POWER,
    *,
    largest: float = 0.0,
) -> int | None:
    """Return the smallest number of runs with which a comparison has the wanted power; None if above 2^62.

    ``deviation`` is that of the paired differences. With ``largest``, the largest possible difference, the
    comparison is by the bounded interval, and the number is approximate. Both are taken for the true values:
    a pilot that shows no failure understates them where failures are rare.
    """
    if deviation < 0:
        raise InputError(f"runs_needed: deviation must not be negative, got {deviation}")
    if not 0 < alpha < wanted < 1:
        raise InputError(f"runs_needed: 0 < alpha < wanted < 1 must hold, got {alpha} and {wanted}")
    if abs(difference) <= 1e-8 * deviation or difference == 0.0:  # rounding
        return None
    if largest > 0.0:
        return _bounded_runs_needed(abs(difference), deviation, alpha, wanted, largest)
    effect = abs(difference) / deviation if deviation > 0 else float("inf")
    if effect > 1e6:
        return ceil(1 - log2(alpha))  # the sign test, which replaces the t test where all runs agree
    enough = 2
    while power(enough, effect, alpha) < wanted:
        enough *= 2
        if enough > 2**62:
            return None
    counts = range(2, enough + 1)
    return counts[bisect_left(counts, wanted, key=lambda runs: power(runs, effect, alpha))]


def _bounded_runs_needed(
    size: float, deviation: float, alpha: float, wanted: float, largest: float
) -> int | None:
    """Return n with size = (z + z') deviation / sqrt(n) + log(2 / alpha) (largest + size) / n."""
    from scipy.stats import norm

    spread = float(norm.isf(alpha / 2) + norm.ppf(wanted)) * deviation
    root = (spread + sqrt(spread * spread + 4 * size * (largest + size) * log(2 / alpha))) / (2 * size)
    return ceil(root * root) if root < 2**31 else None

"""Kullback-Leibler divergences, and the upper confidence bound that one of them defines.

Everything here is a plain function of numbers, so that a policy's method can call it both as Python and
compiled, with the same result to the last bit.
"""

from __future__ import annotations

from math import expm1, inf, log, log1p, sqrt


def poisson_kl(p: float, q: float, change: float) -> float:
    """Return p log(p / q) - p + q, the divergence of two Poisson distributions of positive means.

    ``change`` is q - p, which the caller may know better than the difference of the rounded means does. Every
    divergence below is a sum of such terms. None is negative, so nothing cancels between them, and each is
    computed here without cancellation, with a relative error of about 1e-14.
    """
    ratio = change / (p + q)
    if abs(ratio) > 0.1:
        return p * log(p / q) + change
    # log(q / p) = 2 atanh(ratio), of which the first term of the series cancels against `change`.
    square = ratio * ratio
    series = 1.0 / 13.0 + square * (1.0 / 15.0)
    series = 1.0 / 9.0 + square * (1.0 / 11.0 + square * series)
    series = 1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0 + square * series))
    return ratio * (change - 2.0 * p * square * series)


def bernoulli_kl(p: float, q: float) -> float:
    """Return p log(p / q) + (1 - p) log((1 - p) / (1 - q)), also for close means to about 1e-14."""
    if p == q:
        return 0.0
    if q <= 0.0 or q >= 1.0:
        return inf
    if p <= 0.0:
        return -log1p(-q)
    if p >= 1.0:
        return -log(q)
    change = q - p
    return poisson_kl(p, q, change) + poisson_kl(1.0 - p, 1.0 - q, -change)


def bernoulli_kl_upper(p: float, level: float) -> float:
    """Return the largest q in [p, 1] whose divergence from p, kl(p, q), is at most a level.

    The bound is accurate to a few units in the last place; a level of at most 0 gives p. The unknown is
    w = log((1 - p) / (1 - q)): in w the divergence is a convex function that is a parabola near 0 and a line
    far out, so that from a start that joins the two, one or two steps of a high order are enough.
    """
    if level < 1e-300 or p >= 1.0:
        return p
    if p <= 0.0:
        return -expm1(-level)
    rest = 1.0 - p
    least = level / rest
    w = max(_start(p, rest, level), least)
    for _ in range(20):
        change = -expm1(-w) * rest
        q = p + change
        far = poisson_kl(rest, rest - change, -change) if w < 0.2 else rest * w - change
        excess = poisson_kl(p, q, change) + far - level
        newton = excess * q / change
        ratio = (rest - change) / q
        bend = 0.5 * newton * ratio * p / change
        third = newton * bend * (1.0 + 2.0 * ratio) / 3.0
        # Householder's step of the fourth order, held near Newton's, and never below a w known too small.
        step = newton * min(max((1.0 - bend) / (1.0 - 2.0 * bend - third), 0.5), 2.0)
        w = max(w - step, least)
        if abs(step) < 3e-4 * w:
            # The error is now about the fourth power of the last one, so another step would change nothing.
            break
    return min(p - expm1(-w) * rest, 1.0)


def _start(p: float, rest: float, level: float) -> float:
    """Return w to a few percent: its expansion for a small level, faded into level / rest for a large one."""
    spread = p * rest
    bend = level * (0.5 + (1.0 - 2.0 * p) / 6.0 * spread / (spread + 0.25 * level))
    w = (bend + sqrt(bend * bend + 2.0 * spread * level)) / rest
    share = level / (spread + level)
    return w * (1.0 + (p * p - 2.0 * rest) * share * (1.0 - share) / 36.0)


def gaussian_kl(p: float, q: float, variance: float) -> float:
    """Return (p - q)^2 / (2 variance), the divergence of two normal distributions of the same variance."""
    change = p - q
    return change * change / (2.0 * variance)


def exponential_kl(p: float, q: float) -> float:
    """Return p / q - 1 - log(p / q), the divergence of two exponential distributions of these means."""
    return poisson_kl(1.0, p / q, (p - q) / q)


def normal_kl_free(gap: float, variance: float) -> float:
    """Return log(1 + gap^2 / variance) / 2, the least divergence to a normal mean that is ``gap`` away."""
    return 0.5 * log1p(gap * gap / variance)


def uniform_kl_free(low: float, high: float, mean: float) -> float:
    """Return the least divergence from a uniform distribution to a wider one with this mean."""
    return log(2.0 * (mean - low) / (high - low))

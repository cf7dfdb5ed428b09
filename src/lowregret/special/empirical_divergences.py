"""K_inf of rewards in [0, 1]: the least divergence to a distribution with a larger mean, and its inverse.

Plain functions of an array of rewards, so that a policy's method can call them both as Python and compiled.
``bounded_divergences`` has K_inf of distributions.
"""

from __future__ import annotations

from math import exp, inf, log, log1p, sqrt
from typing import Any


def empirical_kl_free(rewards: Any, mean: float) -> float:
    """Return K_inf from rewards to a mean that is not smaller than theirs.

    By Honda and Takemura (2010) it is the maximum over u in [0, 1] of the mean of log(1 + u e), with
    e = (1 - x) / (1 - mean) - 1 for each reward x. The mean is concave in u, and Newton's method finds where
    its slope is 0.
    """
    n = len(rewards)
    if n == 0 or mean >= 1.0:
        return 0.0 if n == 0 else inf
    scale = 1.0 / (1.0 - mean)
    first, second = 0.0, 0.0
    for k in range(n):
        excess = (1.0 - rewards[k]) * scale - 1.0
        first += excess
        second += excess * excess
    if first <= 0.0 or second <= 0.0:
        return 0.0
    low, high, u = 0.0, 1.0, min(first / second, 1.0 - 1e-9)
    for _ in range(100):
        slope, bend = 0.0, 0.0
        for k in range(n):
            excess = (1.0 - rewards[k]) * scale - 1.0
            part = excess / (1.0 + u * excess)
            slope += part
            bend += part * part
        if slope > 0.0:
            low = u
        else:
            high = u
        step = slope / bend
        if abs(step) <= 1e-9 * (1.0 - u) or high - low <= 1e-15:  # its square is the error of the maximum
            break
        u = u + step if low < u + step < high else 0.5 * (low + high)
    total = 0.0
    for k in range(n):
        total += log1p(u * ((1.0 - rewards[k]) * scale - 1.0))
    return total / n


def empirical_kl_upper(rewards: Any, mean: float, level: float) -> float:
    """Return the largest mean to which K_inf from rewards of this mean is at most a level.

    The distribution with that mean gives each reward x a probability proportional to 1 / (l - x), l > 1, or
    l = 1 and the rest to the value 1. With y = (x - mean) s, s = 1 / (l - mean), the divergence to it is the
    mean of log(1 - y) plus the logarithm of the mean of 1 / (1 - y). Its square root is nearly linear in s,
    and Newton's method finds where it is that of the level.
    """
    n = len(rewards)
    if n == 0 or level <= 0.0 or mean >= 1.0:
        return 1.0 if n == 0 else mean
    largest, squares = 0.0, 0.0
    for k in range(n):
        largest = max(largest, rewards[k])
        squares += (rewards[k] - mean) * (rewards[k] - mean)
    last = 1.0 / (1.0 - mean)
    if largest < 1.0:
        divergence, first, _ = _tilted(rewards, mean, last)
        if divergence <= level:
            rest = exp(divergence - level)
            return 1.0 - rest * (1.0 - mean) / first
    low, high = 0.0, last
    s = min(sqrt(2.0 * level * n / squares), 0.5 * last)
    for _ in range(200):
        divergence, first, second = _tilted(rewards, mean, s)
        if divergence > level:
            high = s
        else:
            low = s
        slope = (second / first - first) / s
        root = sqrt(max(divergence, 0.0))
        step = 2.0 * root * (sqrt(level) - root) / slope if slope > 0.0 else 0.0
        if (slope > 0.0 and abs(step) <= 1e-12 * s) or high - low <= 1e-15 * high:
            break
        s = s + step if slope > 0.0 and low < s + step < high else 0.5 * (low + high)
    return min(mean + (first - 1.0) / (s * first), 1.0)


def _tilted(rewards: Any, mean: float, s: float) -> tuple[float, float, float]:
    """Return the divergence to the tilted distribution, and the means of 1 / (1 - y) and of its square."""
    n = len(rewards)
    logs, first, second = 0.0, 0.0, 0.0
    for k in range(n):
        rest = 1.0 - (rewards[k] - mean) * s
        share = 1.0 / rest
        logs += log(rest)
        first += share
        second += share * share
    return logs / n + log(first / n), first / n, second / n

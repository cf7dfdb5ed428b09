"""The second arm of top-two sampling: the one with the largest of new samples, given that it is another one.

To sample until another arm than the leader i comes first takes long if that is rare. So an arm j is chosen,
the samples of i and j are drawn with one mean for both, and the draw counts with the inverse of a weight that
is at least 1 where j exceeds i, if j also exceeds the samples of all others. With j chosen in proportion to
U_j, the expectation of the weight, this rejection is exact. U_j is Chernoff's bound on the probability that j
exceeds i.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import jittable
from lowregret.engine.kernels.posteriors import draw, of_family
from lowregret.special.tails import beta_depth, log_peak

MAX_DRAWS = 1_000
"""After so many draws in vain for each arm, as of numbers that are not finite, the leader is returned."""


def _tilt_betas(policy: Any, a: float, b: float, c: float, d: float) -> tuple[float, float, float]:
    """Return log U, the common mean of Beta(a, b), the leader's, and Beta(c, d), and the power of the weight.

    The weight is a power of the ratio of the odds.
    """
    n, k = a + b, c + d
    mean, rest = (a + c) / (n + k), (b + d) / (n + k)
    if not a * k > c * n or not min(c, b, d) > 0.0:
        return 0.0, mean, 0.0
    lost = beta_depth(a, b, mean, rest) + beta_depth(c, d, mean, rest)
    peaks = log_peak(a, b) + log_peak(c, d) - log_peak(n * mean, n * rest) - log_peak(k * mean, k * rest)
    return peaks - lost, mean, (a * k - c * n) / (n + k)


def _tilt_normals(policy: Any, m: float, s: float, other: float, r: float) -> tuple[float, float, float]:
    """Do so for normal samples of means m and ``other``; the weight is exp(power times the difference)."""
    gap, v, w = m - other, s * s, r * r
    if not gap > 0.0:
        return 0.0, m, 0.0
    if not v + w > 0.0:
        return -np.inf, m, 0.0
    return -0.5 * gap * gap / (v + w), (m * w + other * v) / (v + w), gap / (v + w)


tilt = of_family(_tilt_normals, _tilt_betas)
draw_at = of_family(
    lambda policy, m, s, mean, rng: mean + s * rng.normal(),
    lambda policy, a, b, mean, rng: rng.beta((a + b) * mean, (a + b) * (1.0 - mean)),
)
log_ratio = of_family(
    lambda policy, x, y: x - y,
    lambda policy, x, y: log(x / y * ((1.0 - y) / (1.0 - x))) if 0.0 < y < x < 1.0 else np.inf,
)


@jittable
def second_arm(policy: Any, leader: int, first: Floats, second: Floats, weights: Floats, rng: Any) -> int:
    """Return the second arm; ``first`` and ``second`` have the parameters, nan for arms that are excluded."""
    size, highest, total = len(first), -np.inf, 0.0
    a, b = float(first[leader]), float(second[leader])
    for j in range(size):
        weights[j] = -np.inf
        if j != leader and first[j] == first[j]:
            weights[j] = tilt(policy, a, b, float(first[j]), float(second[j]))[0]
            if weights[j] > highest:
                highest = weights[j]
    if not highest > -np.inf:
        return leader
    for j in range(size):
        weights[j] = exp(weights[j] - highest) if weights[j] > -np.inf else 0.0
        total += weights[j]
    for _ in range(MAX_DRAWS * size):
        position, j = rng.uniform() * total, 0
        while j < size - 1 and position >= weights[j]:
            position -= weights[j]
            j += 1
        if weights[j] == 0.0:
            continue
        c, d = float(first[j]), float(second[j])
        _, mean, power = tilt(policy, a, b, c, d)
        if power > 0.0:
            x, y = draw_at(policy, c, d, mean, rng), draw_at(policy, a, b, mean, rng)
            wins = x > y and rng.uniform() < exp(-power * log_ratio(policy, x, y))
        else:
            x, y = draw(policy, c, d, rng), draw(policy, a, b, rng)
            wins = x > y
        k = 0
        while wins and k < size:
            if k != j and k != leader and first[k] == first[k]:
                wins = draw(policy, first[k], second[k], rng) < x
            k += 1
        if wins:
            return j
    return leader

"""Evidence that one mean is larger than another one, and how much of it is needed at an error level.

The evidence is the logarithm of the generalised likelihood ratio: how much more likely the rewards are than
under any equal means.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt

from lowregret.special.divergences import bernoulli_kl


def bernoulli_evidence(n: int, mean: float, other_n: int, other_mean: float) -> float:
    """Return the evidence that the first of two Bernoulli means is the larger one, 0 if it seems smaller."""
    if mean <= other_mean or n == 0 or other_n == 0:
        return 0.0
    middle = (n * mean + other_n * other_mean) / (n + other_n)
    return n * bernoulli_kl(mean, middle) + other_n * bernoulli_kl(other_mean, middle)


def bernoulli_limit(t: int, arms: int, delta: float) -> float:
    """Return log(2 t (K - 1) / delta): Garivier and Kaufmann (COLT 2016), Theorem 10."""
    return log(2.0 * max(t, 1) * max(arms - 1, 1) / delta)


def gaussian_limit(t: int, arms: int, delta: float) -> float:
    """Return 2 C(log((K - 1) / delta) / 2) + 4 log(4 + log(t / 2)), for normal rewards of a known variance.

    Kaufmann and Koolen, "Mixture martingales revisited", JMLR 22, 2021, where C(x) is the least (g(u) + x) /
    u over u in (1/2, 1]. Every u is valid; ours is a formula that is close to the best one.
    """
    x = log(max(arms - 1, 1) / delta) / 2.0
    u = 1.0 - 1.0 / (11.08 + 2.08 * x)
    least = (_g(u) + x) / u
    return 2.0 * least + 4.0 * log(4.0 + log(max(t, 2) / 2.0))


def _g(u: float) -> float:
    return 2.0 * u - 2.0 * u * log(4.0 * u) + log(_zeta(2.0 * u)) - 0.5 * log(1.0 - u)


def _zeta(s: float) -> float:
    """Return Riemann's zeta function for s from 1 to 2, by Euler and Maclaurin's formula."""
    total = 0.0
    for n in range(1, 8):
        total += exp(-s * log(n))
    end = exp(-s * log(8.0))
    return (
        total
        + 8.0 * end / (s - 1.0)
        + end / 2.0
        + s * end / 96.0
        - s * (s + 1.0) * (s + 2.0) * end / 368640.0
    )


def optimal_ratio(best: float, mean: float, level: float) -> float:
    """Return the x with d(best, m) + x d(mean, m) = level, m = (best + x mean) / (1 + x).

    It is how often an arm is pulled for one pull of the best one if the evidence against it is ``level`` for
    each of these (Garivier and Kaufmann 2016, Section 2.2). The left side is concave in x, so that Newton's
    steps from the left increase to the solution. ``level`` is below d(best, mean).
    """
    x = 1e-12
    for _ in range(60):
        middle = (best + x * mean) / (1.0 + x)
        slope = bernoulli_kl(mean, middle)
        step = (level - bernoulli_kl(best, middle) - x * slope) / slope if slope > 0.0 else inf
        if not step > 1e-9 * (1.0 + x):
            break
        x += step
    return x


def gaussian_width(n: int, other_n: int, variance: float) -> float:
    """Return the standard deviation of the difference of two means of normal rewards."""
    return sqrt(variance * (1.0 / n + 1.0 / other_n))

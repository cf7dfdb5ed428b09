"""The distributions from which a policy may sample its scores, normal or beta, and their tails.

A distribution is two numbers: mean and deviation, or a and b. The tail above a threshold is bounded by the
tangent to the logarithm of the density there: an exponential tail, which is easy to draw from. For a beta
variable X this is done for log(X / (1 - X)), whose density is log-concave for all a and b, and a threshold is
a value of that.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p, sqrt
from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import by_policy_class, jittable, jittable_inline
from lowregret.engine.kernels.rng import beta, normal
from lowregret.special.divergences import poisson_kl
from lowregret.special.tails import beta_depth, log_peak, stirling_rest

for _function in (beta_depth, log_peak, poisson_kl, stirling_rest):
    jittable(_function)


_DENSITY = 0.3989422804014327  # of a standard normal variable at 0
MIN_NORMAL_ARMS, MIN_BETA_ARMS = 80, 16
"""With fewer arms than this, a sample of every arm is faster."""
DIRECT_NORMAL, DIRECT_BETA = 1.35, 0.4
"""An arm is drawn at every step if the threshold is fewer standard deviations than this above its mean, or
if the bound on its probability to exceed the threshold is larger than this."""


class QuantileLevel(NamedTuple):
    """A threshold, the least steepness, the sample that the threshold is, and 1 less that for a beta."""

    threshold: float
    steepness: float
    x: float
    rest: float


class Exceedance(NamedTuple):
    """How an arm relates to a threshold.

    ``rate`` is the rate of its Poisson process, or less than 0 for an arm that is drawn at every step. Its
    absolute value counts in the weight of the threshold, and falls by ``slope`` as the threshold rises by 1.
    The logarithm of its density falls by at least ``steepness`` as a sample above the threshold rises by 1;
    infinite for an arm that is drawn at every step.
    """

    rate: float
    slope: float
    steepness: float


def _beta_level(policy: Any, threshold: float, steepness: float) -> QuantileLevel:
    small = exp(-abs(threshold))
    large = 1.0 / (1.0 + small)
    small *= large
    x, rest = (large, small) if threshold > 0.0 else (small, large)
    return QuantileLevel(threshold, steepness, x, rest)


def _beta_distance(policy: Any, level: QuantileLevel, x: float) -> float:
    return log(x / (1.0 - x)) - level.threshold if x < 1.0 else np.inf


@jittable_inline
def drawn_always(z: float, scale: float) -> Exceedance:
    """Return how an arm that is drawn at every step relates to a threshold z deviations above its mean.

    About half the logarithm of the probability to stay below the threshold. Half, since such an arm costs the
    same wherever the threshold is.
    """
    if z > 0.0:
        weight = 0.35 * exp(-z * (1.15 + 0.4 * z))
        return Exceedance(-weight, weight * (1.15 + 0.8 * z) / scale, np.inf)
    u = min(-z, 10.0)
    return Exceedance(-(0.35 + u * (0.4 + 0.195 * u)), (0.4 + 0.39 * u) / scale, np.inf)


def _normal_exceedance(policy: Any, mean: float, deviation: float, level: QuantileLevel) -> Exceedance:
    """Return the bound density(z) / z on the tail above z as a rate."""
    scale = abs(deviation)
    if scale == 0.0:
        if mean >= level.x:
            return Exceedance(-1.0, 0.0, np.inf)
        return Exceedance(0.0 if mean < level.x else np.nan, 0.0, np.inf)
    z = (level.x - mean) / scale
    if z != z:
        return Exceedance(np.nan, 0.0, np.inf)
    steepness = z / scale
    if z < DIRECT_NORMAL or steepness < level.steepness:
        return drawn_always(z, scale)
    bound = _DENSITY * exp(-0.5 * z * z) / z
    return Exceedance(-log1p(-bound), bound * (steepness + 1.0 / (z * scale)), steepness)


def _beta_exceedance(policy: Any, a: float, b: float, level: QuantileLevel) -> Exceedance:
    """Return the bound on the tail of log(X / (1 - X)) as a rate: its density over the slope of its log."""
    total = a + b
    fall = total * level.x - a if level.x < level.rest else b - total * level.rest
    if not fall > 0.0:
        if fall != fall:
            return Exceedance(np.nan, 0.0, np.inf)
        root = sqrt(a * b / total)
        return drawn_always(fall / root, 1.0 / root)
    bound = exp(log_peak(a, b) - beta_depth(a, b, level.x, level.rest)) / fall
    if bound > DIRECT_BETA or fall < level.steepness:
        root = sqrt(a * b / total)
        return drawn_always(fall / root, 1.0 / root)
    return Exceedance(-log1p(-bound), bound * (fall + total * level.x * level.rest / fall), fall)


@jittable_inline
def exponential_draw(rng: Any) -> float:
    """Draw from the exponential distribution of mean 1."""
    return -log(1.0 - rng.uniform())


@jittable_inline
def survives(excess: float, rng: Any) -> bool:
    """Return True with probability exp(-excess)."""
    u = rng.uniform()
    if u < 1.0 - excess:
        return True
    return u * (1.0 + excess) < 1.0 and u < exp(-excess)


def _normal_draw_above(
    policy: Any, mean: float, deviation: float, level: QuantileLevel, ahead: float, best: float, rng: Any
) -> float:
    """Draw from the tangent; keep the draw with the ratio of the density to the tangent, if it leads.

    On the scale of the tangent, the draw is above the threshold by at least ``ahead``.
    """
    scale = abs(deviation)
    step = (ahead + exponential_draw(rng)) * scale / (level.x - mean)
    x = level.x + scale * step
    return x if x > best and survives(0.5 * step * step, rng) else -np.inf


def _beta_draw_above(
    policy: Any, a: float, b: float, level: QuantileLevel, ahead: float, best: float, rng: Any
) -> float:
    total = a + b
    fall = total * level.x - a if level.x < level.rest else b - total * level.rest
    step = min((ahead + exponential_draw(rng)) / fall, 700.0)
    growth = level.x * expm1(step)
    odds = level.x + growth
    x = odds / (odds + level.rest)
    return x if x > best and survives(total * (log1p(growth) - level.x * step), rng) else -np.inf


def _draw_normals(
    policy: Any, mean: Floats, deviation: Floats, key: Any, drawn: int, samples: Floats
) -> None:
    for i in range(len(samples)):
        samples[i] = mean[i] + deviation[i] * normal(key, drawn + i + 1)


def _draw_betas(policy: Any, a: Floats, b: Floats, key: Any, drawn: int, samples: Floats) -> None:
    for i in range(len(samples)):
        samples[i] = beta(a[i], b[i], key, drawn + i + 1)


def of_family(normal: Any, beta: Any, inline: bool = True) -> Any:
    """Make a function whose body is one of these, by the family of a policy's posteriors."""
    return by_policy_class(lambda kind: normal if kind.overrides("normal_posterior") else beta, inline)


posterior = of_family(
    lambda policy, arm: policy.normal_posterior(arm), lambda policy, arm: policy.beta_posterior(arm)
)
draw = of_family(
    lambda policy, mean, deviation, rng: mean + deviation * rng.normal(),
    lambda policy, a, b, rng: rng.beta(a, b),
)
draw_all = of_family(_draw_normals, _draw_betas, inline=False)
draw_above = of_family(_normal_draw_above, _beta_draw_above)
exceedance = of_family(_normal_exceedance, _beta_exceedance, inline=False)
min_arms = of_family(lambda policy: MIN_NORMAL_ARMS, lambda policy: MIN_BETA_ARMS)
level_of = of_family(
    lambda policy, threshold, steepness: QuantileLevel(threshold, steepness, threshold, 0.0), _beta_level
)
distance_of = of_family(lambda policy, level, x: x - level.x, _beta_distance)
quantile_of = of_family(
    lambda policy, mean, deviation, z: mean + z * abs(deviation),
    lambda policy, a, b, z: log(a / b) + z * sqrt(1.0 / a + 1.0 / b),
    inline=False,
)

"""Intervals and differences of means that hold at all times, whatever arms a policy chose.

Everything here is a test supermartingale: for means m of the arms, a product of one factor per reward whose
expectation is at most 1 given the past. So it exceeds 1 / error with probability at most ``error``, at
whatever time one looks (Ville's inequality), and a choice of arms that depends on the past changes nothing.
It depends on the pulls of an arm, the sum of its rewards and that of their squares alone.

For a reward x in [0, 1] with mean m there are two kinds of factors:

- a tilt, exp(t x) / (1 + m (exp(t) - 1)): exp(t x) is convex, so it lies below its chord, whose mean is the
  denominator. For rewards 0 and 1 it is a likelihood ratio. A mixture of tilts with a beta distribution as
  its weights is the beta-binomial one.
- a bet, exp(c y - (-log(1 - c) - c) y^2) <= 1 + c y with y = (x - m) / m or (m - x) / (1 - m), both at least
  -1, and 0 < c < 1 (Fan, Grama and Liu, "Exponential inequalities for martingales with applications",
  Electronic Journal of Probability 20, 2015). It gains where the variance is less than m (1 - m).

Tests of a mean m say something of all means beyond it. 1 + c y decreases with m for y = (x - m) / m and
increases for the other, so at means further out the products of 1 + c y, which are martingales, are not
smaller; the beta-binomial mixture is convex. So every mean below that of the sample that bets on a larger
mean and this mixture exclude is a valid lower end, wherever a search finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Booleans, Floats

PRIOR_REWARDS = 125.0
"""The prior number of rewards of a mixture, which makes it tightest at about 1,000 rewards."""
TILT_SHARE = 0.75
"""The weight of tilts where bets are mixed with them."""
BETS = 0.9 * 3.0 ** -np.arange(9.0)
"""The parameters c of the bets on one mean."""
SIDES = np.array([[0.0], [1.0]])
SMALLEST_MEAN = 1e-12
ITERATIONS = 50
MIN_PULLS = 100
"""The rewards from which on the variance of a sample is used; with 30, skew rewards gave false verdicts."""
ANGLE_TOLERANCE = 1e-11
"""How precisely ends are computed, as an angle."""


class Totals(NamedTuple):
    """The rewards of arms: how many, their sum, and the sum of their squares, one entry for each arm."""

    pulls: Floats
    total: Floats
    squares: Floats

    @property
    def means(self) -> Floats:
        """The means, 0 for an arm without rewards."""
        return self.total / np.maximum(self.pulls, 1.0)

    @property
    def variances(self) -> Floats:
        squares = self.squares / np.maximum(self.pulls, 1.0) - self.means**2
        return np.maximum(squares, 0.0)

    @property
    def binary(self) -> Booleans:
        """Whether all rewards of an arm in [0, 1] are 0 or 1."""
        whole: Booleans = self.squares >= self.total * (1.0 - 1e-12)
        return whole

    def at(self, places: Any) -> Totals:
        """Return some of the arms, or a new shape of them."""
        return Totals(*(values[places] for values in self))


def normal_width(pulls: Floats, deviations: Floats, error: float) -> Floats:
    """Compute the half-widths of the normal mixture of Robbins (1970) for sub-Gaussian rewards."""
    count = pulls + PRIOR_REWARDS
    widths: Floats = deviations * np.sqrt(count * np.log(count / (PRIOR_REWARDS * error**2))) / pulls
    return widths


def mean_intervals(arms: Totals, error: float) -> tuple[Floats, Floats]:
    """Compute intervals for the means of rewards in [0, 1], each of which ever misses with this probability.

    For rewards 0 and 1 it is the beta-binomial mixture of Howard, Ramdas, McAuliffe and Sekhon,
    "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49, 2021, with
    ``TILT_SHARE`` of the weight. For other rewards the bets have the rest. An arm without rewards has the
    interval from 0 to 1.
    """
    limit = log(1.0 / error)
    pairs = Totals(*(np.tile(values, (2, 1)) for values in arms))
    outer = np.broadcast_to(SIDES, pairs.pulls.shape)
    # Less than one success or failure excludes nothing; see the convexity of `beta_binomial`.
    possible = np.where(SIDES == 0.0, pairs.total, pairs.pulls - pairs.total) > 1.0

    def of_tilts(means: Floats) -> Floats:
        return beta_binomial(pairs, means) + log(TILT_SHARE) - limit

    ends = _crossing(of_tilts, outer, pairs.means, possible)
    other = ~arms.binary & (arms.pulls > 0)
    if other.any():
        others, middles = pairs.at((slice(None), other)), arms.means[other]

        def of_all(means: Floats) -> Floats:
            tilts = beta_binomial(others, means)
            tilts = np.where(convex & (tilts > 0.0), tilts + log(TILT_SHARE), -np.inf)
            return np.logaddexp(tilts, single_bets(others, means, SIDES) + log(1.0 - TILT_SHARE)) - limit

        convex = possible[:, other]
        ends[:, other] = _crossing(of_all, ends[:, other], np.tile(middles, (2, 1)), np.array(True))
    return ends[0], ends[1]


def single_intervals(low: Totals, high: Totals, bounded: bool, error: float) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of single means, infinite where nothing is known."""
    if bounded:
        ends = mean_intervals(low, error)
        return ends if high is low else (ends[0], mean_intervals(high, error)[1])
    estimable = (low.pulls >= MIN_PULLS) & (low.variances > 0.0)
    deviations = np.sqrt(low.variances)
    width = np.where(estimable, normal_width(np.where(estimable, low.pulls, 1.0), deviations, error), np.inf)
    return low.means - width, low.means + width


def beta_binomial(arms: Totals, means: Floats) -> Floats:
    """Return the logarithm of the beta-binomial mixture for these means.

    Its weights are Beta(k m, k (1 - m)) with k = ``PRIOR_REWARDS``. With S the sum of the rewards and F that
    of 1 - x, its derivative by m is g(F, 1 - m) - g(S, m), g(S, m) = S / m - k (psi(k m + S) - psi(k m)). g
    decreases with m if S >= 1, so the logarithm is convex and the means that it does not exclude are an
    interval. If S < 1, g is negative: the logarithm increases with m, and the interval begins at 0.
    """
    m = np.clip(means, SMALLEST_MEAN, 1.0 - SMALLEST_MEAN)
    failures = arms.pulls - arms.total
    k = PRIOR_REWARDS
    successes = log_gamma(k * m + arms.total) - log_gamma(k * m) - arms.total * np.log(m)
    others = log_gamma(k * (1.0 - m) + failures) - log_gamma(k * (1.0 - m)) - failures * np.log1p(-m)
    whole: Floats = successes + others + log_gamma(np.asarray(k)) - log_gamma(k + arms.pulls)
    return whole


def single_bets(arms: Totals, means: Floats, sides: Floats) -> Floats:
    """Return the logarithm of the mixture of bets that a mean is larger, where the side is 0, or smaller.

    The other half of the weight is that of the other side.
    """
    m = np.clip(means, SMALLEST_MEAN, 1.0 - SMALLEST_MEAN)[..., None]
    spread = (arms.squares[..., None] - 2.0 * m * arms.total[..., None]) + arms.pulls[..., None] * m * m
    excess = arms.total[..., None] - arms.pulls[..., None] * m
    cost = -np.log1p(-BETS) - BETS
    worst = np.where(np.broadcast_to(sides, means.shape)[..., None] == 0.0, m, m - 1.0)
    return log_sum(BETS * excess / worst - cost * spread / worst**2) - log(2 * len(BETS))


def log_sum(logarithms: Floats) -> Floats:
    largest = logarithms.max(axis=-1)
    sums: Floats = largest + np.log(np.exp(logarithms - largest[..., None]).sum(axis=-1))
    return sums


def log_gamma(z: Floats) -> Floats:
    """Return the logarithm of the gamma function of positive numbers, by Stirling's series at z + 8."""
    product = z * (z + 1.0) * (z + 2.0) * (z + 3.0) * (z + 4.0) * (z + 5.0) * (z + 6.0) * (z + 7.0)
    y = z + 8.0
    w = 1.0 / (y * y)
    series = 1 / 1188 - w * (691 / 360360 - w / 156)
    series = 1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w * series)))
    whole: Floats = (y - 0.5) * np.log(y) - y + 0.5 * log(2.0 * np.pi) + series / y - np.log(product)
    return whole


def _crossing(
    function: Callable[[Floats], Floats], outer: Floats, inner: Floats, possible: Booleans
) -> Floats:
    """Return where functions cross 0 between a place where they are positive and one where they are not.

    Regula falsi by the Illinois rule on the angle whose squared sine is the mean. The place that is returned
    lies on the outer side; it is ``outer`` itself where the function is not positive there, or where no
    crossing is possible.
    """
    a, b = np.arcsin(np.sqrt(np.clip(outer, 0.0, 1.0))), np.arcsin(np.sqrt(np.clip(inner, 0.0, 1.0)))
    high, low = function(outer), function(inner)
    open_ends = possible & (high > 0.0) & (low < 0.0)
    a_value, b_value = np.where(open_ends, high, 1.0), np.where(open_ends, low, -1.0)
    last_side = np.zeros(a.shape)  # 1 after a step from the outer side, -1 after one from the inner side
    for _ in range(ITERATIONS):
        if not (open_ends & (np.abs(b - a) > ANGLE_TOLERANCE) & (a_value > 0.0)).any():
            break
        c = (a * b_value - b * a_value) / (b_value - a_value)
        value = function(np.sin(c) ** 2)
        outside = value >= 0.0
        a_value = np.where(outside, value, np.where(last_side < 0.0, 0.5, 1.0) * a_value)
        b_value = np.where(outside, np.where(last_side > 0.0, 0.5, 1.0) * b_value, value)
        a, b, last_side = np.where(outside, c, a), np.where(outside, b, c), np.where(outside, 1.0, -1.0)
    return np.where(open_ends, np.sin(a) ** 2, outer)

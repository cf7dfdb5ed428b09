"""Evidence that one mean exceeds another, which holds at all times, whatever arms a policy chose.

Let a be an arm whose mean may exceed that of b. For a number m consider the supermartingale of
`confidence_sequences` that tilts the rewards of a upwards and those of b downwards:

    E(m) = sum over j of w_j exp(t_j S_a - n_a log(1 + m (e^t_j - 1)) - u_j S_b - n_b log(1 + m (e^-u_j - 1)))

with t_j, u_j >= 0, n the pulls and S the sums of the rewards. If mean a <= m <= mean b, every factor has an
expectation of at most 1. So if a is not better than b, min over m of E(m) stays below 1 / error at all times
with probability 1 - error. There is one nuisance parameter, m. Each logarithm is convex in m, so the
minimum is found by a search on one line. With E(m_a, m_b), m_a = factor m_b + shift, the same holds for
"mean a <= factor mean b + shift", and for all shifts at once: t_j, u_j >= 0 makes E decrease with m_a and
increase with m_b, so whatever false shift is rejected, E at the two true means is as large.

All this needs means that stay the same, and rewards that are known or not for reasons of their own: if large
rewards arrive sooner than small ones, those known so far are no fair sample.

The weights have a log-uniform effect l = t + u and a direction t : u. If the arms have shares W and 1 - W of
the pulls, the direction 1 - W : W is the one to which m does not matter. The shares depend on the policy,
so some directions are mixed, the extremes included.

Bets take ``1 - TILT_SHARE`` of the weight where rewards are not 0 or 1. Their logarithms are not convex in m,
nor monotone in m_a and m_b. But each bet is at most 1 + c y, whose products are martingales that decrease
with m_a and increase with m_b. So all shifts beyond an end are rejected with it, and `proved` bounds the
minimum from below. The search alone, which the ends of intervals use, is tested and not proved to find it.
For rewards of unknown range, tilts are those of a normal distribution with the variance of the sample, and
that of both arms together where it is larger: this is asymptotic. Where most rewards are 0, few of them may
have a tiny mean and a tiny variance by chance, so that their own variance alone gave false verdicts.
If the rewards of one arm are rare and large, that is not enough: agents also ask for effective rewards, which
``nonnegative_means`` explains.
"""

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.analysis.confidence_sequences import (
    MIN_PULLS,
    SMALLEST_MEAN,
    TILT_SHARE,
    Totals,
    log_sum,
    single_intervals,
)

DIRECTIONS = {0.0: 0.1, 0.5: 0.5, 0.9: 0.2, 1.0: 0.2}
"""The share of an effect that the worse arm has, and its weight."""
EFFECTS = 0.005 * 1.6 ** np.arange(15)
"""Differences of log odds, or differences in units of the standard deviation: from 0.005 to 3.6."""
SLOPES = 0.02 * 2.5 ** np.arange(10)
"""Differences divided by the variance of a reward, for bets: from 0.02 to 76."""
MAX_BET = 0.9
MAX_COMPARED = 50
"""Up to how many arms pairs are compared one by one, since a summary must be quick."""
COARSE = np.linspace(-1.0, 2.0, 25)
FINE = np.linspace(-1.0, 1.0, 9)
REFINEMENTS = 4
"""Where the minimum is searched, 0 and 1 being the observed means: a grid, and how often it is refined."""
CELL_HALVINGS = 12
"""How often cells are halved to prove that a minimum is large enough."""
STEPS = 6
MARGIN = 3.0


def _terms(effects: Any) -> tuple[Floats, Floats, Floats]:
    """Return the tilts of both arms and the logarithms of the weights, one entry for each term."""
    shares = np.repeat(list(DIRECTIONS), len(effects))
    weights = np.repeat(list(DIRECTIONS.values()), len(effects)) / len(effects)
    sizes = np.tile(effects, len(DIRECTIONS))
    return (1.0 - shares) * sizes, shares * sizes, np.log(weights)


TILT_TERMS, BET_TERMS = _terms(EFFECTS), _terms(SLOPES)


def log_evidence(
    first: Totals, second: Totals, shift: Floats | float = 0.0, factor: Floats | float = 1.0, *, bounded: bool
) -> Floats:
    """Compute the logarithm of the evidence that a mean exceeds ``factor`` times another plus ``shift``.

    For each pair of arms: if it does not, the evidence ever exceeds 1 / error with probability at most error.
    ``bounded`` is whether rewards lie in [0, 1].
    """
    shift, factor = np.broadcast_to(shift, first.pulls.shape), np.broadcast_to(factor, first.pulls.shape)
    low = second.means
    gap = (first.means - shift) / factor - low
    enough = 1 if bounded else MIN_PULLS
    usable = (gap > 0.0) & (np.minimum(first.pulls, second.pulls) >= enough)
    if not bounded:
        first, second = _pooled(first, second)
        usable &= first.variances > 0.0
    evidence = np.zeros(gap.shape)
    if not usable.any():
        return evidence
    a, b = first.at(usable).at((..., None)), second.at(usable).at((..., None))
    shift, factor, low, gap = (values[usable, None] for values in (shift, factor, low, gap))
    ends = (np.maximum(0.0, -shift / factor), np.minimum(1.0, (1.0 - shift) / factor))

    def at(places: Floats) -> Floats:
        means = low + gap * places
        if not bounded:
            return _normal_mixture(a, b, factor * means + shift, means)
        means = np.clip(means, *ends)
        return _bounded_mixture(a, b, factor * means + shift, means)

    coarse = at(np.broadcast_to(COARSE, (len(gap), len(COARSE))))
    lowest = coarse.argmin(axis=1)
    inside = (lowest > 0) & (lowest < len(COARSE) - 1)
    middle, width = COARSE[lowest][:, None], COARSE[1] - COARSE[0]
    for _ in range(REFINEMENTS):
        places = middle + width * FINE
        values = at(places)
        middle = np.take_along_axis(places, values.argmin(axis=1)[:, None], 1)
        width *= FINE[1] - FINE[0]
    evidence[usable] = np.where(inside, np.maximum(values.min(axis=1), 0.0), 0.0)
    return evidence


def proved(first: Totals, second: Totals, shift: float, limit: float) -> bool:
    """Return whether evidence is at least exp(limit) for all pairs, at all means of rewards in [0, 1].

    For m between l and r, a martingale that is not below E(m + shift, m) is at least E(r + shift, l). Cells
    from l to r are halved until that is enough.
    """
    middle, size = second.means[:, None], len(second.pulls)
    places = middle + (first.means[:, None] - shift - middle) * COARSE
    edges = np.clip(
        np.pad(places, ((0, 0), (1, 1)), constant_values=(-1.0, 2.0)), max(0.0, -shift), min(1.0, 1.0 - shift)
    )
    pair, left, right = (
        np.repeat(np.arange(size), len(COARSE) + 1),
        edges[:, :-1].ravel(),
        edges[:, 1:].ravel(),
    )
    for _ in range(CELL_HALVINGS):
        a, b = first.at(pair).at((..., None)), second.at(pair).at((..., None))
        small = _bounded_mixture(a, b, (right + shift)[:, None], left[:, None])[:, 0] < limit
        if not small.any():
            return True
        pair, left, right = pair[small], left[small], right[small]
        centre = 0.5 * (left + right)
        pair, left, right = np.tile(pair, 2), np.append(left, centre), np.append(centre, right)
    return False


def _pooled(a: Totals, b: Totals) -> tuple[Totals, Totals]:
    """Return the totals with variances that are not below the one of both arms together."""
    both = (a.pulls * a.variances + b.pulls * b.variances) / np.maximum(a.pulls + b.pulls, 1.0)
    added = [arm.pulls * np.maximum(both - arm.variances, 0.0) for arm in (a, b)]
    return a._replace(squares=a.squares + added[0]), b._replace(squares=b.squares + added[1])


def _bounded_mixture(a: Totals, b: Totals, m_a: Floats, m_b: Floats) -> Floats:
    """Return the logarithm of E(m_a, m_b) for rewards in [0, 1]."""
    up, down, weights = TILT_TERMS
    n_a, s_a, _, n_b, s_b, _ = (values[..., None] for values in (*a, *b))
    cost = n_a * np.log1p(m_a[..., None] * np.expm1(up)) + n_b * np.log1p(m_b[..., None] * np.expm1(-down))
    tilts = log_sum(weights + up * s_a - down * s_b - cost)
    other = ~(a.binary & b.binary)[..., 0]
    tilts += log(TILT_SHARE)
    if other.any():
        bets = _bets(a.at(other), b.at(other), m_a[other], m_b[other])
        tilts[other] = np.logaddexp(tilts[other], bets + log(1.0 - TILT_SHARE))
    return tilts


def _bets(a: Totals, b: Totals, m_a: Floats, m_b: Floats) -> Floats:
    up, down, weights = BET_TERMS
    m_a, m_b = (np.clip(m, SMALLEST_MEAN, 1.0 - SMALLEST_MEAN)[..., None] for m in (m_a, m_b))
    gains: Any = 0.0
    for arm, m, worst, slopes, sign in ((a, m_a, m_a, up, 1.0), (b, m_b, 1.0 - m_b, down, -1.0)):
        n, s, squares = (values[..., None] for values in arm)
        bet = np.minimum(slopes * worst, MAX_BET)
        spread = squares - 2.0 * m * s + n * m * m
        gains = gains + sign * bet * (s - n * m) / worst + (np.log1p(-bet) + bet) * spread / worst**2
    return log_sum(weights + gains)


def _normal_mixture(a: Totals, b: Totals, m_a: Floats, m_b: Floats) -> Floats:
    """Return the logarithm of E(m_a, m_b) for normal rewards with the variances of the sample."""
    up, down, weights = TILT_TERMS
    scale = np.sqrt(0.5 * (a.variances + b.variances))[..., None]
    logarithms = weights
    for arm, m, effects, sign in ((a, m_a, up, 1.0), (b, m_b, down, -1.0)):
        n, s, _ = (values[..., None] for values in arm)
        tilt = sign * effects * scale / arm.variances[..., None]
        logarithms = logarithms + tilt * (s - n * m[..., None]) - 0.5 * tilt**2 * n * arm.variances[..., None]
    return log_sum(logarithms)


def lower_differences(first: Totals, second: Totals, error: float, *, bounded: bool) -> Floats:
    """Compute lower bounds of differences of two means, each of which ever fails with this probability."""
    centre, lowest = first.means - second.means, -1.0 if bounded else -np.inf

    def evidence(widths: Floats) -> Floats:
        return log_evidence(first, second, np.maximum(centre - widths, lowest), bounded=bounded)

    bounds: Floats = np.maximum(centre - _evidence_reach(first, second, error, evidence, bounded), lowest)
    return bounds


def difference_intervals(
    low: Totals, high: Totals, place: int | None, bounded: bool, error: float
) -> tuple[Floats, Floats]:
    """Compute intervals for the difference between each mean and the one at ``place``.

    With all intervals of all pairs of arms, they ever miss with probability at most ``error``; so the arm at
    ``place`` may be chosen after a look at the data. ``low`` and ``high`` are the totals with which an arm
    looks worst and best. Infinite ends say nothing; those of the arm itself are both infinite. For more than
    ``MAX_COMPARED`` arms, ends are differences of those of the intervals of single means, which is wider.
    """
    size = len(low.pulls)
    ends = np.full((2, size), np.inf) * np.array([[-1.0], [1.0]])
    others = np.arange(size) != place
    if place is None or not others.any():
        return ends[0], ends[1]
    if size > MAX_COMPARED:
        least, most = single_intervals(low, high, bounded, error / size)
        ends[:, others] = np.stack([least - most[place], most - least[place]])[:, others]
        return ends[0], ends[1]
    share, fixed = error / (size * (size - 1)), np.full(size - 1, place)
    ends[0, others] = lower_differences(low.at(others), high.at(fixed), share, bounded=bounded)
    ends[1, others] = -lower_differences(low.at(fixed), high.at(others), share, bounded=bounded)
    return ends[0], ends[1]


def lower_ratios(first: Totals, second: Totals, error: float) -> Floats:
    """Compute lower bounds of ratios of two means of rewards in [0, 1], as ``lower_differences`` does.

    It is 0 where nothing better is known.
    """
    usable = (first.total > 0.0) & (second.total > 0.0)
    mean, other = (np.where(usable, arm.means, 1.0) for arm in (first, second))

    def ratios(widths: Floats) -> Floats:
        lower: Floats = mean / other * np.exp(-widths / mean)
        return lower

    def evidence(widths: Floats) -> Floats:
        return log_evidence(first, second, 0.0, np.maximum(ratios(widths), SMALLEST_MEAN), bounded=True)

    return np.where(usable, ratios(_evidence_reach(first, second, error, evidence, True)), 0.0)


def _evidence_reach(
    first: Totals, second: Totals, error: float, evidence: Callable[[Floats], Floats], bounded: bool
) -> Floats:
    """Return how far below the centre evidence reaches 1 / error; it is nearly a square there.

    The last steps only widen, so that the evidence is enough; infinite where that does not suffice.
    """
    limit, added = log(1.0 / error), 1.0 if bounded else 0.0
    variances = sum(
        (arm.variances * arm.pulls + added) / np.maximum(arm.pulls, 0.5) ** 2 for arm in (first, second)
    )
    widths: Floats = np.sqrt(2.0 * (limit + MARGIN) * variances)
    for step in range(2 * STEPS):
        reached = evidence(widths)
        change = np.sqrt((limit + MARGIN) / (reached + MARGIN))
        if step >= STEPS:
            if (reached >= limit).all():
                break
            change = np.where(reached >= limit, 1.0, np.maximum(change, 1.01))
        widths = widths * np.clip(change, 0.5, 2.0)
    return np.where(evidence(widths) >= limit, widths, np.inf)

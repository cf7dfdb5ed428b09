"""Means that are adjusted for periods in which all arms do better or worse, such as days.

The mean of arm i in period p is taken to be theta_i phi_p, with factors phi_p around 1 that all arms share.
``Periods`` is an adjustment of the table of arms: a policy sees theta_i for the mean, and for the number of
pulls what they are worth, so no policy knows of periods. The rows of the arms stay as they are.
``docs/explanation/calendar.md`` explains the estimates and what they assume.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import jittable, jittable_inline, register_tuple_methods
from lowregret.policies.views import variance_of

TOTAL, SQUARES, EXPOSURE, PULLS = range(4)
"""The columns of ``Periods.arms``: sums of rewards, of their squares, of the factors of their periods; their
number."""
PRESENT, LATEST, SINCE, DUE, LEADER = range(5)
"""The entries of ``Periods.state``: the period of the next reward, the latest period, the number of rewards
since it began, with how many of them factors are estimated, and the arm to which the others are compared."""
PRIOR_VARIANCE = 0.1
"""The least variance of the factors, divided by the number of periods."""
VARIANCE_FACTOR = 10.0
"""By how much the estimated variance of the factors is enlarged: means must not lean on the shrinkage."""
LEAST_DISPERSION = 1e-9


class Periods(NamedTuple):
    """The rewards of each arm in each period, by the number of the arm, and what follows from them.

    ``length`` is the number of decisions of a period; ``counts`` and ``totals`` have a row for each arm and a
    column for each period, ``arms`` a row for each arm, ``factors`` a number for each period.
    """

    length: int
    counts: Floats
    totals: Floats
    arms: Floats
    factors: Floats
    excess: Floats  # by how much the comparison with the leader is less certain than its pulls say
    state: Integers
    seen: Floats  # of each arm: see ``policies.views.Adjustment``, which has the methods as well

    def forget(self) -> None:
        self.counts[:], self.totals[:], self.factors[:] = 0.0, 0.0, 1.0
        self.arms[:], self.excess[:], self.state[:], self.seen[:] = 0.0, 0.0, 0, 0.0

    def enter(self, t: int) -> None:
        self.state[PRESENT] = (t - 1) // self.length

    def add(self, number: int, x: float, warmup: int) -> None:
        add_to_period(self, number, x, warmup)


register_tuple_methods(Periods)


def new_periods(length: int, arms: int, periods: int) -> Periods:
    """Return room for the rewards of some arms in some periods."""
    counts, totals = np.zeros((2, arms, periods))
    return Periods(
        length,
        counts,
        totals,
        np.zeros((arms, 4)),
        np.ones(periods),
        np.zeros(1),
        np.zeros(5, np.int64),
        np.zeros((arms, 3)),
    )


@jittable
def add_to_period(periods: Periods, number: int, x: float, warmup: int) -> None:
    """Add a reward of an arm to the present period, and adjust what the policy sees."""
    state = periods.state
    period = int(state[PRESENT])
    periods.counts[number, period] += 1.0
    periods.totals[number, period] += x
    arm = periods.arms[number]
    arm[TOTAL] += x
    arm[SQUARES] += x * x
    arm[EXPOSURE] += periods.factors[period]
    arm[PULLS] += 1.0
    if period > state[LATEST]:
        state[LATEST], state[SINCE], state[DUE] = period, 0, 1
    state[SINCE] += 1
    if state[LATEST] > 0 and state[SINCE] >= state[DUE]:
        state[DUE] = max(state[DUE] * 3 // 2, state[DUE] + 1) + state[LATEST] // 8
        estimate_factors(periods)
        adjust_all(periods, warmup)
    else:
        adjust(periods, number, warmup)


@jittable
def adjust_all(periods: Periods, warmup: int) -> None:
    """Adjust what the policy sees of every arm."""
    for number in range(len(periods.arms)):
        adjust(periods, number, warmup)


@jittable
def adjust(periods: Periods, number: int, warmup: int) -> None:
    """Compute what the policy sees of an arm: what its pulls are worth, its adjusted mean and variance."""
    arm, seen = periods.arms[number], periods.seen[number]
    pulls = int(arm[PULLS])
    if pulls == 0:
        return
    raw, exposure = arm[TOTAL] / pulls, arm[EXPOSURE]
    mean, variance = arm[TOTAL] / exposure, max(arm[SQUARES] / pulls - raw * raw, 0.0)
    largest = raw * (1.0 - raw)  # variance of rewards in [0, 1]
    if variance <= largest + 1e-12:
        mean = min(mean, 1.0)
        variance = min(variance / largest, 1.0) * mean * (1.0 - mean) if largest > 0.0 else 0.0
    elif raw > 0.0:
        variance *= mean / raw
    weight = exposure if number == periods.state[LEADER] else exposure / (1.0 + periods.excess[0] * exposure)
    count = max(int(weight + 0.5), min(pulls, max(warmup, 1)))
    seen[0], seen[1], seen[2] = count, mean, variance_of(count, 0.0, count * variance)


@jittable
def estimate_factors(periods: Periods) -> None:
    """Estimate the factors of all periods, the exposure of the arms, and the excess of the leader."""
    counts, arms, factors = periods.counts, periods.arms, periods.factors
    size, last = len(counts), int(periods.state[LATEST]) + 1
    total, spread, leader, most = 0.0, 0.0, 0, 0.0
    for i in range(size):
        pulls = counts[i, :last].sum()
        if pulls > 0.0:
            total += arms[i, TOTAL]
            spread += arms[i, SQUARES] - arms[i, TOTAL] * arms[i, TOTAL] / pulls
            if pulls > most:
                leader, most = i, pulls
    if not total > 0.0:
        return
    dispersion = max(spread / total, LEAST_DISPERSION)  # variance divided by mean
    variance = variance_of_factors(periods, last, dispersion)
    scale, pulls = 0.0, 0.0
    for p in range(last):
        earned, expected, seen = in_period(periods, p)
        factors[p] = (variance * earned + dispersion) / (variance * expected + dispersion)
        scale += seen * factors[p]
        pulls += seen
    for p in range(last):
        factors[p] *= pulls / scale
    for i in range(size):
        exposure = 0.0
        for p in range(last):
            exposure += counts[i, p] * factors[p]
        arms[i, EXPOSURE] = exposure
    periods.state[LEADER] = leader
    periods.excess[0] = excess_of(periods, leader, last, dispersion / variance)


@jittable_inline
def in_period(periods: Periods, p: int) -> tuple[float, float, float]:
    """Return the sum of the rewards of a period, the sum expected from the arms' means, and its pulls."""
    earned, expected, seen = 0.0, 0.0, 0.0
    for i in range(len(periods.counts)):
        pulls = periods.counts[i, p]
        if pulls > 0.0:
            earned += periods.totals[i, p]
            expected += pulls * periods.arms[i, TOTAL] / periods.arms[i, EXPOSURE]
            seen += pulls
    return earned, expected, seen


@jittable
def variance_of_factors(periods: Periods, last: int, dispersion: float) -> float:
    """Return the variance of the factors: by moments, enlarged, and never 0."""
    deviance, weights, squares, used = 0.0, 0.0, 0.0, 0
    for p in range(last):
        earned, expected, _ = in_period(periods, p)
        if expected > 0.0:
            weight = expected / dispersion
            distance = earned / expected - 1.0
            deviance += weight * distance * distance
            weights += weight
            squares += weight * weight
            used += 1
    free = used - 1.0
    variance = 0.0
    if free >= 1.0 and weights * weights > squares:
        variance = VARIANCE_FACTOR * max(deviance - free, 0.0) / (weights - squares / weights)
    return max(variance, PRIOR_VARIANCE / last)


@jittable
def excess_of(periods: Periods, leader: int, last: int, prior: float) -> float:
    """Return by how much the leader's mean is less certain, beside those of the others, than its pulls say.

    Pulls of the leader in a period without other pulls carry information on the factor of this period only.
    So the mean to which the others are compared must not be taken to be known.
    """
    counts, arms, factors = periods.counts, periods.arms, periods.factors
    own_mean = arms[leader, TOTAL] / arms[leader, EXPOSURE]
    if not own_mean > 0.0:
        return 0.0
    own, rest, information = 0.0, 0.0, 0.0
    for p in range(last):
        mine, others = counts[leader, p] * factors[p], prior / own_mean
        for i in range(len(counts)):
            if i != leader and counts[i, p] > 0.0:
                others += counts[i, p] * factors[p] * arms[i, TOTAL] / (arms[i, EXPOSURE] * own_mean)
        own, rest = own + mine, rest + others
        information += mine * others / (mine + others)
    if not information > 0.0:
        return 0.0
    return max(1.0 / information - (own + rest) / (own * rest), 0.0)

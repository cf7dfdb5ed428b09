"""Lower ends of means of rewards that are at least 0 and may be of any size, which hold at all times.

For a reward x >= 0 with mean m and a rate r > 0, (1 + r x) / (1 + r m) is at least 0 and its expectation is
1. So its products over the rewards of an arm, and a mixture of them over rates, are non-negative
martingales, whatever chose the arm: the mixture ever exceeds 1 / error with probability at most ``error``.
It decreases with m, so all means below the one where it is 1 / error are excluded at once. (With
c = r m / (1 + r m) the factor is 1 + c (x / m - 1).) It needs no range and no variance.

A reward of 0 leaves the product of 1 + r x as it is. So an arm has one product for each rate, and how many
rewards these have; and m is needed only when somebody looks. The rates must be of the size of 1 / x, whose
unit is not known before: the first reward above 0 sets it, and the products begin after that reward.

No upper end exists without an assumption: a reward that is rare and large enough to raise every mean may
still be to come (Bahadur and Savage, "The nonexistence of certain statistical procedures in nonparametric
problems", Annals of Mathematical Statistics 27, 1956). ``effective_rewards`` says when one is worth showing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp, log
from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.analysis.confidence_sequences import log_sum

RATES = 4.0 ** np.arange(-8.0, 4.0)
"""The rates in units of 1 / x of the first reward x above 0: the best one for S such rewards is about
sqrt(6 / S), so these do from one reward to a thousand million."""
MAX_FACTOR = 1e300
"""A factor is at most this: a smaller one leaves a supermartingale."""
MAX_UNIT = 900
"""The largest and, negated, the smallest power of 2 by which rates are divided, so that they stay finite."""
MAX_FACTORS = 500
"""How many factors of at least 1 / 2 are multiplied at a time: their product is no subnormal number."""
END_HALVINGS = 60
MIN_EFFECTIVE_PAIR, MIN_EFFECTIVE = 30.0, 100.0
"""The effective number of rewards from which on means of unbounded rewards are compared, and from which on
one has an upper end; see docs/evidence/intervals.md for what is missed without."""


class Products(NamedTuple):
    """The products of 1 + r x over the rewards of an arm after its first reward above 0.

    A product is ``mantissas`` times 2 to the power of ``exponents``; both have an entry for each rate and are
    empty before that reward. Scaling by powers of 2 rounds nothing, so products do not depend on how the
    rewards were grouped.
    """

    pulls: int = 0
    """All rewards that were counted, those of 0 included."""
    first: int = 0
    """Which of them was the first above 0."""
    unit: int = 0
    """The rates are ``RATES`` divided by 2 to this power."""
    mantissas: tuple[float, ...] = ()
    exponents: tuple[int, ...] = ()


def add_rewards(arms: Sequence[Products], rewards: Sequence[Sequence[float]]) -> list[Products]:
    """Return the products of arms after further rewards of each, none of which may be negative."""
    for start in range(0, max(map(len, rewards), default=0), MAX_FACTORS):
        arms = _add_some(arms, [own[start : start + MAX_FACTORS] for own in rewards])
    return list(arms)


def _add_some(arms: Sequence[Products], rewards: Sequence[Sequence[float]]) -> list[Products]:
    """Do the same for at most ``MAX_FACTORS`` rewards of each arm."""
    new, positive = [], []
    for arm, own in zip(arms, rewards, strict=True):
        above = [float(reward) for reward in own if reward]
        if above and not arm.first:
            first = next(place for place, reward in enumerate(own, arm.pulls + 1) if reward)
            unit = min(max(frexp(above.pop(0))[1], -MAX_UNIT), MAX_UNIT)
            arm = Products(arm.pulls, first, unit, (1.0,) * len(RATES), (0,) * len(RATES))
        new.append(arm._replace(pulls=arm.pulls + len(own)))
        positive.append(above)
    changed = [place for place, above in enumerate(positive) if above]
    if not changed:
        return new
    before, sizes = [new[place] for place in changed], [len(positive[place]) for place in changed]
    units = np.repeat([arm.unit for arm in before], sizes)
    with np.errstate(over="ignore"):
        factors = 1.0 + np.concatenate(positive)[:, None] * np.ldexp(RATES, -units[:, None])
    parts, powers = np.frexp(np.minimum(factors, MAX_FACTOR))
    starts = np.cumsum([0, *sizes])
    parts[starts[:-1]] *= np.array([arm.mantissas for arm in before])
    # One factor after another: their order decides how products are rounded.
    products = [np.multiply.accumulate(part)[-1] for part in np.split(parts, starts[1:-1])]
    mantissas, more = np.frexp(products)
    exponents = np.array([arm.exponents for arm in before]) + np.add.reduceat(powers, starts[:-1]) + more
    for place, row, powers_of_2 in zip(changed, mantissas.tolist(), exponents.tolist(), strict=True):
        new[place] = new[place]._replace(mantissas=tuple(row), exponents=tuple(powers_of_2))
    return new


def lower_ends(arms: Sequence[Products], error: float) -> Floats:
    """Compute the lower ends of means, each of which ever exceeds its mean with probability at most error."""
    ends = np.zeros(len(arms))
    places = [place for place, arm in enumerate(arms) if arm.first]
    if not places:
        return ends
    parts = [arms[place] for place in places]
    pulls = np.array([arm.pulls - arm.first for arm in parts], dtype=float)[:, None]
    logarithms = np.log([arm.mantissas for arm in parts]) + log(2.0) * np.array(
        [arm.exponents for arm in parts], dtype=float
    )
    limit = log(len(RATES) / error)
    excluded, possible = np.zeros(len(places)), np.ones(len(places))

    def evidence(means: Floats) -> Floats:
        return log_sum(logarithms - pulls * np.log1p(RATES * means[:, None])) - limit

    while (larger := evidence(possible) > 0.0).any():
        possible = np.where(larger, 4.0 * possible, possible)
    for _ in range(END_HALVINGS):
        middle = 0.5 * (excluded + possible)
        out = evidence(middle) > 0.0
        excluded, possible = np.where(out, middle, excluded), np.where(out, possible, middle)
    ends[places] = np.ldexp(excluded, [arm.unit for arm in parts])
    return ends


def effective_rewards(total: float, squares: float) -> float:
    """Return the effective number of rewards: so many equal ones would have this sum, and of the squares.

    Of rewards that are mostly 0 it is the number of the others, less where these differ in size. Where it is
    small, the sample may lack the few large rewards that make the mean: mean and variance then look small.
    """
    return total**2 / squares if squares > 0.0 else 0.0

"""Bandits whose means all change by a common factor: by the day of the week, with a trend, on single days."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lowregret._common.arrays import Floats
from lowregret._common.validation import MAX_HORIZON, POSITIVE, Rule, as_list, integer, number
from lowregret.environments.bandit import Bandit
from lowregret.environments.drift import (
    CYCLIC,
    PIECEWISE,
    Drift,
    DriftingBandit,
    add_drift,
    row_of,
    with_means,
)
from lowregret.errors import InputError

WEEK, WEEKEND = 7, 2
"""The number of days of a week, and of its weekend."""
MAX_PERIODS = 100_000

_WEEKEND = Rule(
    "{name} must lie between 0 and 3.5, since the average of a week is 1", lambda value: 0.0 < value < 3.5
)


def rhythm(
    bandit: Bandit,
    every: int,
    *,
    weekend: float | None = None,
    trend: Sequence[float] | None = None,
    days: Mapping[int, float] | None = None,
    factors: Sequence[float] | None = None,
    periods: int | None = None,
) -> DriftingBandit:
    """Make a bandit whose means are multiplied by a factor of the period, the same for all arms.

    Factors are multiplied where several are given. A weekend alone repeats for ever; otherwise the factor of
    the last period holds later.

    Parameters
    ----------
    bandit : Bandit
        The arms with their means.
    every : int
        The number of steps of a period, such as the visitors of a day.
    weekend : float, optional
        The factor of the last two periods of every seven; that of the others makes the average of a week 1.
    trend : pair of float, optional
        The factors of the first and the last period, with a line between them; needs ``periods``.
    days : mapping of int to float, optional
        The factors of single periods, of which the first is 1.
    factors : sequence of float, optional
        The factor of each period.
    periods : int, optional
        The number of periods.

    Examples
    --------
    >>> shop = lr.rhythm(lr.bernoulli([0.10, 0.12]), every=1_000, weekend=1.3)
    >>> shop.means_at([1, 5_001, 7_001]).round(3)
    array([[0.088, 0.106],
           [0.13 , 0.156],
           [0.088, 0.106]])
    >>> lr.environment("bernoulli:0.1,0.12 | rhythm: every=1000; 3=2.5").means_at(2_001)
    array([0.25, 0.3 ])
    """
    row_of("rhythm", bandit, "means", 0.0)  # refuses what is no bandit
    every = integer("rhythm", "every", every, MAX_HORIZON)
    values = period_factors(weekend, trend, days, factors, periods)
    table = tuple(map(tuple, np.outer(values, bandit.means).tolist()))
    repeats = trend is None and days is None and factors is None and periods is None
    times = (every,) if repeats else tuple(1 + every * k for k in range(len(table)))
    first = replace(bandit, arms=with_means(bandit, np.array(table[0])))
    return add_drift(first, Drift(CYCLIC if repeats else PIECEWISE, times, table))


def period_factors(
    weekend: object = None,
    trend: object = None,
    days: object = None,
    factors: object = None,
    periods: int | None = None,
) -> Floats:
    """Return the factor of each period; without a number of periods, those of a week if that suffices."""
    if weekend is None and trend is None and days is None and factors is None:
        raise InputError(
            "rhythm: give weekend, trend, factors or a file of them, or the factors of single days"
        )
    given = None if factors is None else _factors("factors", factors)
    single = _single(days)
    if trend is not None and periods is None and given is None:
        raise InputError("rhythm: a trend needs the number of periods, as in trend=0.5,1.5; periods=14")
    last = max(single, default=0)
    default = len(given) if given is not None else -(-(last + 1) // WEEK) * WEEK
    size = default if periods is None else integer("rhythm", "periods", periods, MAX_PERIODS)
    if given is not None and len(given) < size:
        raise InputError(f"rhythm: {size} periods need as many factors, got {len(given)}")
    if last > size:
        raise InputError(f"rhythm: there are {size} periods, got a factor of period {last}")
    values = np.ones(size) if given is None else np.array(given[:size])
    if weekend is not None:
        high = number("rhythm", "weekend", weekend, _WEEKEND)
        low = (WEEK - WEEKEND * high) / (WEEK - WEEKEND)
        values *= np.where(np.arange(size) % WEEK >= WEEK - WEEKEND, high, low)
    if trend is not None:
        ends = _factors("trend", trend)
        if len(ends) != 2:
            raise InputError(f"rhythm: trend must be two factors, the first and the last, got {len(ends)}")
        values *= np.linspace(ends[0], ends[1], size)
    for day, factor in single.items():
        values[day - 1] *= factor
    return values


def _single(days: object) -> dict[int, float]:
    if days is not None and not isinstance(days, Mapping):
        raise InputError(f"rhythm: days must be periods with their factors, as in {{5: 3.0}}, got {days!r}")
    return {
        integer("rhythm", "the number of a period", day, MAX_PERIODS): number(
            "rhythm", "each factor", factor, POSITIVE
        )
        for day, factor in (days or {}).items()
    }


def _factors(name: str, values: object) -> list[float]:
    numbers = as_list(values)
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= MAX_PERIODS:
        raise InputError(f"rhythm: {name} must be a list of factors, got {values!r:.80}")
    return [number("rhythm", f"each of {name}", value, POSITIVE) for value in numbers]

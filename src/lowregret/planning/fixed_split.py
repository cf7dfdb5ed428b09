"""A fixed split, or A/B test: its power, and how long it has to run."""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from lowregret.engine.state import Floats
from lowregret.planning.assumptions import Assumptions

REPETITIONS = 100_000
"""How often the test is simulated for its power: the standard error is at most 0.0016."""
WANTED = 0.8
"""The power for which the days are computed."""


class FixedSplit(NamedTuple):
    """An equal split of the visitors among all options.

    The test compares one option with the control, two-sided, at the level ``alpha`` divided by the number of
    comparisons (Bonferroni): a z test with pooled variance for rates, a z test for means. ``power`` is the
    probability that it is significant for an option that is better than the control by the lift.
    """

    each: int  # visitors of an option whose reward is known at the end
    power: float
    days_needed: float  # for a power of 80%


def fixed_split(given: Assumptions) -> FixedSplit:
    """Return the power of an equal split, and the days that it needs for a power of 80%."""
    known = given.visitors * max(given.days - given.delay_days, 0.0)
    each = int(known / given.options)
    level = given.alpha / (given.options - 1)
    random = np.random.default_rng([given.seed, 0, 2])
    return FixedSplit(each, power(given, each, level, random), days_needed(given, level))


def power(given: Assumptions, each: int, level: float, random: np.random.Generator) -> float:
    """Simulate the test and return how often it is significant."""
    from scipy.stats import norm

    if each < 1:
        return 0.0
    limit = norm.isf(level / 2.0)
    if given.rate is not None:
        better = given.rate * (1.0 + given.lift)
        first, second = (random.binomial(each, p, REPETITIONS) / each for p in (given.rate, better))
        pooled = (first + second) / 2.0
        error: float | Floats = np.sqrt(2.0 * pooled * (1.0 - pooled) / each)
    else:
        assert given.sd is not None
        error = given.sd * sqrt(2.0 / each)
        first = np.zeros(REPETITIONS)
        second = random.normal(given.difference, error, REPETITIONS)
    return float((np.abs(second - first) > limit * error).mean())


def days_needed(given: Assumptions, level: float) -> float:
    """Return the days for a power of 80%, by the normal approximation, the delay included."""
    from scipy.stats import norm

    limit, reach = norm.isf(level / 2.0), norm.isf(1.0 - WANTED)
    if given.rate is not None:
        rates = given.rate, given.rate * (1.0 + given.lift)
        pooled = sum(rates) / 2.0
        null = sqrt(2.0 * pooled * (1.0 - pooled))
        other = sqrt(sum(rate * (1.0 - rate) for rate in rates))
    else:
        null = other = sqrt(2.0) * (given.sd or inf)
    each = ((limit * null + reach * other) / given.difference) ** 2
    return float(each * given.options / given.visitors + given.delay_days)


def best_observed(given: Assumptions, means: Floats, each: int, random: np.random.Generator) -> int:
    """Return the option with the largest observed mean, of so many visitors each; a random one if of none."""
    if each < 1:
        return int(random.integers(len(means)))
    if given.rate is not None:
        seen = random.binomial(each, means) / each
    else:
        seen = random.normal(means, (given.sd or 0.0) / sqrt(each))
    return int(np.argmax(seen + 1e-12 * random.random(len(means))))

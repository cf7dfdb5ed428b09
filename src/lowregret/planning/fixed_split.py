"""A fixed split, or A/B test: its power, and how long it has to run."""

from math import hypot, sqrt
from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.planning.scenario import Scenario
from lowregret.planning.visitor_rewards import Conversions

REPETITIONS = 100_000
"""How often the test is simulated for its power: the standard error is at most 0.0016."""
TARGET_POWER = 0.8


class FixedSplit(NamedTuple):
    """An equal split of the visitors among all options, and a z test of one option against the control.

    Its level is ``alpha`` divided by the number of comparisons. ``power`` is that for an option with the
    lift.
    """

    visitors: int  # of an option, whose reward is known at the end
    power: float
    days_needed: float  # for a power of 80%


def fixed_split(scenario: Scenario) -> FixedSplit:
    """Return the power of an equal split, and the days that it needs for a power of 80%."""
    rewarded = scenario.visitors * max(scenario.days - scenario.delay_days, 0.0)
    visitors = int(rewarded / scenario.options)
    level = scenario.alpha / (scenario.options - 1)
    random = np.random.default_rng([scenario.seed, 0, 2])
    return FixedSplit(visitors, z_test_power(scenario, visitors, level, random), days_needed(scenario, level))


def z_test_power(scenario: Scenario, visitors: int, level: float, random: np.random.Generator) -> float:
    """Simulate the test with so many visitors of an option, and return how often it is significant."""
    from scipy.stats import norm

    if visitors < 1:
        return 0.0
    limit = norm.isf(level / 2.0)
    rewards, better = scenario.rewards, 1.0 + scenario.lift
    if isinstance(rewards, Conversions):
        first, second = (
            random.binomial(visitors, p, REPETITIONS) / visitors
            for p in (rewards.rate, rewards.rate * better)
        )
        pooled = (first + second) / 2.0
        error: float | Floats = np.sqrt(2.0 * pooled * (1.0 - pooled) / visitors)
    else:
        error = hypot(rewards.sd(), rewards.sd(better)) / sqrt(visitors)
        first = np.zeros(REPETITIONS)
        second = random.normal(scenario.difference, error, REPETITIONS)
    return float((np.abs(second - first) > limit * error).mean())


def days_needed(scenario: Scenario, level: float) -> float:
    """Return the days for a power of 80%, by the normal approximation, the delay included."""
    from scipy.stats import norm

    limit, reach = norm.isf(level / 2.0), norm.isf(1.0 - TARGET_POWER)
    rewards, better = scenario.rewards, 1.0 + scenario.lift
    null = other = hypot(rewards.sd(), rewards.sd(better))
    if isinstance(rewards, Conversions):
        pooled = rewards.rate * (1.0 + better) / 2.0
        null = sqrt(2.0 * pooled * (1.0 - pooled))
    visitors = ((limit * null + reach * other) / scenario.difference) ** 2
    return float(visitors * scenario.options / scenario.visitors + scenario.delay_days)


def best_observed(scenario: Scenario, means: Floats, visitors: int, random: np.random.Generator) -> int:
    """Return the option with the largest mean of so many visitors; a random option if there are none."""
    if visitors < 1:
        return int(random.integers(len(means)))
    observed = scenario.rewards.observe(random, np.array(visitors), means).sums / visitors
    return int(np.argmax(observed + 1e-12 * random.random(len(means))))

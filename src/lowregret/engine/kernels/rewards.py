"""Rewards: the distribution of each arm, and the n-th reward of its stream."""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import compiled, compiled_inline, external
from lowregret.engine.bridge.own_sampler import call_sampler
from lowregret.engine.kernels.rng import beta, exponential, normal, poisson, positive, uniform
from lowregret.engine.kernels.state import GIVEN as GIVEN
from lowregret.engine.kernels.statistics import clipped
from lowregret.environments import families
from lowregret.special.quantiles import normal_upper

external(normal_upper)


class RewardSource(NamedTuple):
    """Where the rewards of one arm come from: a family with its encoding, and a random stream."""

    kind: int
    key: np.uint64
    a: float
    b: float
    c: float
    d: float


@compiled
def reward_source(row: np.void) -> RewardSource:
    """Read the reward source of an arm from its row."""
    return RewardSource(int(row["kind"]), row["key"], row["a"], row["b"], row["c"], row["d"])


@compiled_inline
def exhausted(source: RewardSource, n: int) -> bool:
    """Return whether an arm's rewards are given, and fewer than n."""
    return source.kind == GIVEN and n > source.b


@compiled_inline
def draw(source: RewardSource, n: int) -> float:
    """Draw the n-th reward of an arm, or return its position in the data.

    No array is passed in here: Numba would count references to it at every pull.
    """
    if source.kind == families.BERNOULLI:
        return source.c if uniform(source.key, n) < source.a else source.b
    if source.kind == families.GAUSSIAN:
        return source.a + source.b * normal(source.key, n)
    return _draw_other(source.kind, source.key, source.a, source.b, source.c, source.d, n)


@external
def _draw_other(kind: int, key: Any, a: float, b: float, c: float, d: float, n: int) -> float:
    """Draw from a family that is used less often; apart, so that the others stay fast."""
    if kind == families.BETA:
        return c + d * beta(a, b, key, n)
    if kind == families.EXPONENTIAL:
        return a + b * exponential(key, n)
    if kind == families.POISSON:
        return b + c * poisson(a, key, n)
    if kind == families.UNIFORM:
        return a + b * uniform(key, n)
    if kind == families.EMPIRICAL:
        return a + int(uniform(key, n) * b)
    if kind == families.LOGNORMAL:
        return c + exp(a + b * normal(key, n))
    if kind == families.PARETO:
        return c + b * positive(key, n) ** (-1.0 / a)
    if kind == families.TRUNCNORMAL:
        return a + b * normal_upper(c + uniform(key, n) * (d - c))
    if kind == families.REVENUE:
        share = positive(key, n)
        return d + exp(b + c * normal_upper(share / a * (1.0 - 2.0**-53))) if share <= a else d
    if kind == families.SAMPLED:
        return b + c * call_sampler(int(a), key, n)
    return a + n - 1.0


@compiled_inline
def nth_reward(source: RewardSource, data: Floats, n: int) -> float:
    """Return the n-th reward of an arm."""
    x = draw(source, n)
    return data[int(x)] if source.kind < 0 else x


@compiled
def reward(row: np.void, data: Floats, n: int) -> float:
    """Return the n-th reward of an arm, nan if a table of given rewards has ended."""
    source = reward_source(row)
    return np.nan if exhausted(source, n) else nth_reward(source, data, n)


@compiled
def draw_rewards(
    source: RewardSource, data: Floats, after: int, count: int, clip: bool, rewards: Floats
) -> None:
    """Write the next rewards of an arm after its first ``after`` ones, clipped to [0, 1] if wanted."""
    if source.kind == families.BERNOULLI:  # in vectors
        for k in range(count):
            rewards[k] = source.c if uniform(source.key, after + 1 + k) < source.a else source.b
    elif source.kind == families.GAUSSIAN:
        for k in range(count):
            rewards[k] = source.a + source.b * normal(source.key, after + 1 + k)
    else:
        for k in range(count):
            rewards[k] = nth_reward(source, data, after + 1 + k)
    if clip:
        for k in range(count):
            rewards[k] = clipped(rewards[k], clip)

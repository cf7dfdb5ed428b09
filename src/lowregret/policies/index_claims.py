"""Test what a class of policies says about its index, on random arms; used by ``lowregret.testing``."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock, clock_at


def _score(policy: Policy, arm: Arm, clock: Clock) -> float:
    no_draws: Any = None
    return policy.arm_index(arm, clock, policy.first_round(clock), no_draws)


def _states(policy: Policy) -> list[tuple[Arm, Clock]]:
    """Return some arms with rewards in [0, 1] and clocks at which their scores are computed."""
    draws, states = np.random.default_rng(9), []
    for _ in range(300):
        pulls = max(int(10.0 ** (4.0 * draws.random())), policy.warmup, 2)
        t = 1 + pulls + int(10.0 ** (5.0 * draws.random()))
        mean, best = np.sort(draws.random(2).round(3)).tolist()
        clock = clock_at(t, t + int(1e4 * draws.random()), 5, best if policy.uses_best else 0.0)
        states.append((Arm(1, pulls, mean, float(draws.random()) * mean * (1.0 - mean)), clock))
    return states


def constant_index_ignores_time(policy: Policy) -> None:
    """Scores and lower bounds do not depend on time, as index_trend = "constant" says."""
    if policy.index_trend != "constant" or policy.uses_best or policy.uses_arms or policy.uses_rewards:
        return
    no_draws: Any = None
    for arm, clock in _states(policy):
        round, later = (
            policy.first_round(clock),
            clock_at(clock.t + 37, clock.horizon, clock.arms, clock.best),
        )
        if policy.Memory is None and not policy.overrides("list_index"):
            here, there = (policy.arm_index(arm, at, round, no_draws) for at in (clock, later))
            assert here == there, f"the score of {arm} is {here:g} at {clock}, and {there:g} at {later}"
        here, there = (policy.lower_bound(arm, at, round) for at in (clock, later))
        assert here == there, f"the lower bound of {arm} is {here:g} at {clock}, and {there:g} at {later}"


def index_moves_as_it_says(policy: Policy) -> None:
    """Scores of arms that are not pulled increase or decrease with time, as index_trend says."""
    sees_more = policy.uses_best or policy.uses_arms or policy.uses_rewards or policy.Memory is not None
    compared = policy.overrides("score") or policy.overrides("list_index")
    if policy.index_trend not in ("increasing", "decreasing") or sees_more or not compared:
        return
    sign, trend, no_draws = (1.0 if policy.index_trend == "increasing" else -1.0), policy.index_trend, None
    for arm, clock in _states(policy):
        clock, later = (clock_at(clock.t + more, clock.horizon + 50, clock.arms, 0.0) for more in (0, 37))
        round: Any = policy.first_round(clock)
        here, there = (policy.arm_index(arm, at, round, cast(Any, no_draws)) for at in (clock, later))
        slack = 1e-12 * (1.0 + min(abs(here), 1e300))
        assert sign * (there - here) >= -slack or here == there, (
            f"index_trend = {trend!r} is false: the score of {arm} is {here:g} at {clock}, "
            f"and {there:g} at {later}"
        )


def index_depends_on_what_it_says(policy: Policy) -> None:
    """Scores depend on what index_depends_on says, and do not decrease with it."""
    if not policy.index_depends_on:
        return
    uses_variance = "variance" in policy.index_depends_on

    for arm, clock in _states(policy):
        here, at = _score(policy, arm, clock), f"{arm} at {clock}"
        slack = 1e-12 * (1.0 + min(abs(here), 1e300))
        assert here == _score(policy, arm._replace(number=3), clock), f"it depends on arm.number for {at}"
        wider = _score(policy, arm._replace(variance=arm.mean * (1.0 - arm.mean)), clock)
        assert wider == here or uses_variance, f"it depends on arm.variance for {at}"
        assert wider >= here - slack, f"it decreases with the variance of {at}"
        for step in (1e-15, 1e-6, 0.01, 0.3):
            top = clock.best if policy.uses_best else 1.0
            higher = _score(policy, arm._replace(mean=min(arm.mean + step, top)), clock)
            assert higher >= here - slack, f"it decreases with the mean of {at}"


def width_is_separable(policy: Policy) -> None:
    """Widths are a function of the pulls times one of time, as separable_width says."""
    if not policy.separable_width:
        return

    def score(pulls: int, mean: float, clock: Clock) -> float:
        return _score(policy, Arm(0, pulls, mean, 0.0), clock)

    for arm, clock in _states(policy):
        clock = clock_at(clock.t, clock.horizon + 50, 5, 0.0)
        other = clock_at(clock.t + 50, clock.horizon, 5, 0.0)
        width, one = score(arm.pulls, 0.0, clock), score(2, 0.0, clock)
        later, one_later = score(arm.pulls, 0.0, other), score(2, 0.0, other)
        slack = 1e-12 * (1.0 + arm.mean + abs(width))
        assert abs(score(arm.pulls, arm.mean, clock) - arm.mean - width) <= slack, (
            f"the score is not the mean and a width for {arm} at {clock}"
        )
        assert abs(width * one_later - later * one) <= 1e-12 * abs(width * one_later), (
            f"the width is no such product for {arm} at {clock}"
        )

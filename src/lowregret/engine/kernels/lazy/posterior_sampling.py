"""One run of a policy that states the distribution of its samples.

An arm's distribution changes only with its pulls. While there is no threshold, a step is one draw for each
arm and the search for the largest. With a threshold the table of ``exceedances`` is kept from step to step,
and a reward changes one arm of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled, compiled_inline
from lowregret.engine.encoding import Encoding
from lowregret.engine.kernels import exceedances
from lowregret.engine.kernels.posteriors import draw_all, exceedance, level_of, posterior
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.simulated_run import Run, draw_reward, end_step, record_step, warm_up
from lowregret.engine.kernels.state import State
from lowregret.engine.kernels.statistics import first_largest, observe
from lowregret.engine.problem import Problem
from lowregret.engine.status import ARM_FAILED, NOT_A_NUMBER, PLAYING
from lowregret.policies import Policy
from lowregret.policies.base import samples_posteriors
from lowregret.policies.views import arm_view, clock_at


class Scratch(NamedTuple):
    """The working memory: that of a choice, places of arms, and two numbers for each arm."""

    scores: Floats
    places: Integers
    posteriors: Floats


def applies(problem: Problem) -> bool:
    """Return whether a policy samples from posteriors that change with the pulls of their arm alone."""
    return samples_posteriors(type(problem.policy)) and not problem.policy.uses_arms


def new_scratch(policy: Policy, encoding: Encoding, horizon: int) -> Scratch:
    size = len(encoding.rows)
    return Scratch(exceedances.new_scores(policy, size), np.zeros(size, np.int64), np.zeros((2, size)))


@compiled_inline
def set_always_drawn(always: Floats, count: int, i: int, wanted: bool) -> int:
    """Add an arm to the sorted list of those drawn at every step, or remove it; return its length."""
    place = 0
    while place < count and always[place] < i:
        place += 1
    if wanted:
        for k in range(count, place, -1):
            always[k] = always[k - 1]
        always[place] = i
        return count + 1
    for k in range(place, count - 1):
        always[k] = always[k + 1]
    return count - 1


@compiled
def play_drawing_all(policy: Any, state: State, rng: Rng, run: Run, scratch: Scratch) -> State:
    """Draw every arm until a threshold is due."""
    table, rows, places = run.table, run.table.rows, scratch.places
    first, second, active = scratch.posteriors[0], scratch.posteriors[1], 0
    round, _, t, at, status = state
    for i in range(len(rows)):
        if rows[i]["active"]:
            places[active] = i
            first[active], second[active] = posterior(policy, arm_view(policy, table, i))
            active += 1
    scores, key, stream = scratch.scores[:active], rng.state["key"], rng.state
    while t < run.horizon and status == PLAYING:
        drawn = stream["drawn"]
        draw_all(policy, first, second, key, drawn, scores)
        stream["drawn"] = drawn + active
        chosen = first_largest(scores)
        if chosen < 0:
            return State(round, active, t, at, NOT_A_NUMBER)
        i = places[chosen]
        x = draw_reward(run, i)
        if x != x:
            return State(round, active, t, at, ARM_FAILED - rows[i]["number"])
        t += 1
        observe(policy, table, i, x, clock_at(t, run.horizon, len(rows), 0.0), rng)
        first[chosen], second[chosen] = posterior(policy, arm_view(policy, table, i))
        record_step(run.path, t, rows[i]["number"], round.number, active)
        at, status = end_step(run, t, at, status)
        if exceedances.is_due(round, t):
            break
    return State(round, active, t, at, status)


@compiled
def play_with_threshold(policy: Any, state: State, rng: Rng, run: Run, scratch: Scratch) -> State:
    """Draw few arms at a step, until another threshold is due."""
    table, rows = run.table, run.table.rows
    round, active, t, at, status = state
    arms = exceedances.posteriors_in(scratch.scores, len(rows))
    level = level_of(policy, round.threshold, round.steepness)
    first, second, rates, always, _, tree = arms
    count, weight = exceedances.fill(policy, table, level, arms), round.weight
    while t < run.horizon and status == PLAYING:
        i = exceedances.largest(policy, arms, count, level, rng)
        x = draw_reward(run, i)
        if x != x:
            return State(round, active, t, at, ARM_FAILED - rows[i]["number"])
        t += 1
        observe(policy, table, i, x, clock_at(t, run.horizon, len(rows), 0.0), rng)
        record_step(run.path, t, rows[i]["number"], round.number, len(rows))
        at, status = end_step(run, t, at, status)
        before = rates[i]
        first[i], second[i] = posterior(policy, arm_view(policy, table, i))
        rate = exceedance(policy, first[i], second[i], level).rate
        rates[i] = rate
        weight = weight - abs(before) + abs(rate)
        if exceedances.is_due(exceedances.with_weight(round, weight), t):
            break
        if (rate < 0.0) != (before < 0.0):
            count = set_always_drawn(always, count, i, rate < 0.0)
        if rate >= 0.0 or before >= 0.0:
            exceedances.set_rate(tree, i, max(rate, 0.0))
    return State(exceedances.with_weight(round, weight), active, t, at, status)


def play(policy: Any, state: State, rng: Rng, run: Run, scratch: Scratch) -> State:
    """Play one run of a policy with posteriors."""
    state = warm_up(policy, state, rng, run)
    while state.status == PLAYING and state.t < run.horizon and state.active_arms > 1:
        if state.round.threshold == -np.inf:
            state = play_drawing_all(policy, state, rng, run, scratch)
        else:
            state = play_with_threshold(policy, state, rng, run, scratch)
        round, active, t, at, status = state
        if status == PLAYING and t < run.horizon:
            state = State(exceedances.with_new_threshold(policy, run.table, t, round), active, t, at, status)
    return state

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
from lowregret.engine.kernels.exceedances import (
    Table,
    fill,
    is_due,
    largest_above,
    largest_below,
    new_scores,
    set_rate,
    table_in,
    with_new_threshold,
    with_weight,
)
from lowregret.engine.kernels.observe import observe
from lowregret.engine.kernels.posteriors import Level, draw, draw_all, exceedance, level_of, posterior
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.simulated_run import (
    STOPPED,
    Run,
    clock_now,
    draw_reward,
    finish,
    record_if_due,
    record_step,
    warm_up,
)
from lowregret.engine.kernels.state import Rows
from lowregret.engine.kernels.statistics import first_largest
from lowregret.engine.kernels.step import NOT_A_NUMBER, count_active
from lowregret.policies import Policy
from lowregret.policies.base import samples_posteriors
from lowregret.policies.views import arm_view


class Scratch(NamedTuple):
    """The working memory: that of a choice, places of arms, and two numbers for each arm."""

    scores: Floats
    places: Integers
    posteriors: Floats


def applies(policy: Policy, arms: int, horizon: int) -> bool:
    """Return whether a policy samples from posteriors that change with the pulls of their arm alone."""
    return samples_posteriors(type(policy)) and not policy.uses_arms


def new_scratch(policy: Policy, rows: Rows, horizon: int) -> Scratch:
    """Return the working memory for runs on a table of arms."""
    size = len(rows)
    return Scratch(new_scores(policy, size), np.zeros(size, np.int64), np.zeros((2, size)))


@compiled_inline
def set_always_drawn(always: Integers, count: int, i: int, wanted: bool) -> int:
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
def list_always_drawn(table: Table, always: Integers) -> int:
    """List the arms that are drawn at every step, in their order; return how many."""
    count = 0
    for i in range(len(table.rate)):
        if table.rate[i] < 0.0:
            always[count] = i
            count += 1
    return count


@compiled_inline
def choose_lazily(policy: Any, table: Table, always: Integers, count: int, level: Level, rng: Rng) -> int:
    """Choose as ``engine.kernels.exceedances.largest_sample`` does, from a table that is up to date."""
    chosen, best = -1, -np.inf
    for k in range(count):
        i = always[k]
        x = draw(policy, table.first[i], table.second[i], rng)
        if chosen < 0 or x > best:
            chosen, best = i, x
    chosen, best = largest_above(policy, table, level, rng, chosen, best)
    return chosen if best >= level.x else largest_below(policy, table, level, rng, chosen, best)


@compiled
def play_drawing_all(
    policy: Any, round: Any, rng: Rng, run: Run, scratch: Scratch, t: int, at: int
) -> tuple[int, int, Any]:
    """Draw every arm until a threshold is due; return the time, the next grid entry and the round."""
    rows, horizon, places = run.rows, run.horizon, scratch.places
    first, second, active = scratch.posteriors[0], scratch.posteriors[1], 0
    for i in range(len(rows)):
        if rows[i]["active"]:
            places[active] = i
            first[active], second[active] = posterior(policy, arm_view(policy, rows, i))
            active += 1
    scores, key, state = scratch.scores[:active], rng.state["key"], rng.state
    while t < horizon:
        drawn = state["drawn"]
        draw_all(policy, first, second, key, drawn, scores)
        state["drawn"] = drawn + active
        chosen = first_largest(scores)
        if chosen < 0:
            return NOT_A_NUMBER, at, round
        i = places[chosen]
        x = draw_reward(run, i)
        if x != x:
            return -i - 1, at, round
        t += 1
        observe(policy, rows, i, x, clock_now(run, t, 0.0), rng)
        first[chosen], second[chosen] = posterior(policy, arm_view(policy, rows, i))
        record_step(run, t, rows[i]["number"], round.number, active)
        at = record_if_due(run, t, at)
        if run.stop[0]:
            return STOPPED, at, round
        if is_due(round, t):
            break
    return t, at, round


@compiled
def play_with_threshold(
    policy: Any, round: Any, rng: Rng, run: Run, scratch: Scratch, t: int, at: int
) -> tuple[int, int, Any]:
    """Draw few arms at a step, until another threshold is due; return as above."""
    rows, horizon, always = run.rows, run.horizon, scratch.places
    table, level = table_in(scratch.scores, len(rows)), level_of(policy, round.threshold, round.steepness)
    first, second, rates, tree, _ = table
    fill(policy, rows, None, level, table)
    count, weight = list_always_drawn(table, always), round.weight
    while t < horizon:
        i = choose_lazily(policy, table, always, count, level, rng)
        x = draw_reward(run, i)
        if x != x:
            return -i - 1, at, round
        t += 1
        observe(policy, rows, i, x, clock_now(run, t, 0.0), rng)
        record_step(run, t, rows[i]["number"], round.number, len(rows))
        at = record_if_due(run, t, at)
        if run.stop[0]:
            return STOPPED, at, round
        before = rates[i]
        first[i], second[i] = posterior(policy, arm_view(policy, rows, i))
        rate = exceedance(policy, first[i], second[i], level).rate
        rates[i] = rate
        weight = weight - abs(before) + abs(rate)
        if is_due(with_weight(round, weight), t):
            break
        if (rate < 0.0) != (before < 0.0):
            count = set_always_drawn(always, count, i, rate < 0.0)
        if rate >= 0.0 or before >= 0.0:
            set_rate(tree, i, max(rate, 0.0))
    return t, at, with_weight(round, weight)


def play(policy: Any, first: Any, rng: Rng, run: Run, scratch: Scratch) -> int:
    """Play one run of a policy with posteriors."""
    t, at = warm_up(policy, rng, first.number, run)
    if 0 <= t < run.horizon and count_active(run.rows) == 1:
        return finish(run, first.number, t)
    round = first
    while 0 <= t < run.horizon:
        if round.threshold == -np.inf:
            t, at, round = play_drawing_all(policy, round, rng, run, scratch, t, at)
        else:
            t, at, round = play_with_threshold(policy, round, rng, run, scratch, t, at)
        if 0 <= t < run.horizon:
            round = with_new_threshold(policy, run.rows, None, t, round)
    return t

"""One step of any policy as two questions, compiled: which arm is next, and what follows from its reward.

It is what ``reference.Game`` does, for rewards that come from elsewhere: a log.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.compile import compiled, inlined
from lowregret.engine.lazy.arm_lists import plays_lists, write_list
from lowregret.engine.protocol import value
from lowregret.engine.rng import Rng
from lowregret.engine.run_parts import Rules, best_mean, clock_now, end_round, leave, look, sweep
from lowregret.engine.scan import first_active, first_largest
from lowregret.engine.state import Floats, Rows
from lowregret.policies import Clock


@compiled
def active_place(rows: Rows, count: int) -> int:
    """Give the place of the arm in play that has so many others in play before it."""
    place = first_active(rows)
    while count > 0:
        place += 1
        if rows[place]["active"]:
            count -= 1
    return place


@inlined
def decided(policy: Any, rules: Rules, left: int) -> bool:
    """Say whether one arm is left for good."""
    return rules.final and left == 1 and not plays_lists(policy)


@inlined
def choose(policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, scores: Floats) -> int:
    """Give the place of the arm to pull after the warm-up, or -1 where a score is nan."""
    if plays_lists(policy):
        return first_active(rows)
    for i in range(len(rows)):
        scores[i] = value(policy, look(rows, i), clock, round, rng) if rows[i]["active"] else -np.inf
    chosen = first_largest(scores)
    return first_active(rows) if chosen >= 0 and scores[chosen] == -np.inf else chosen


@inlined
def settle(
    policy: Any, rules: Rules, rows: Rows, place: int, clock: Clock, round: Any, rng: Rng, left: int
) -> tuple[Any, int]:
    """Let arms leave after a pull, or come back, and end the round if it is due.

    Gives the round and the number of arms left, or as that number what is wrong.
    """
    if plays_lists(policy):
        best = best_mean(rows) if rules.uses_best else 0.0  # which the last reward has moved
        clock = clock_now(clock.t, clock.horizon, clock.arms, best)
        return round, write_list(policy, rows, place, clock, round, rng)
    if rules.drops and sweep(policy, rows, clock, round, rng):
        left = leave(rows, clock.t)
    if clock.t >= round.until and left > 0:
        round, left = end_round(policy, rows, clock, round)
    return round, left

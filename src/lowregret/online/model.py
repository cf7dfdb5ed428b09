"""The numbers of a live agent, and the two things it does with them: choose an arm, apply a reward.

Both are those of ``engine.kernels.step``, by which the simulator plays delayed rewards.
"""

from typing import Any

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import jittable, register_tuple_methods
from lowregret.engine.kernels.rng import STATE, Rng, bits, uniform
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.state import ArmTable, Rows, State
from lowregret.engine.kernels.statistics import best_mean
from lowregret.engine.kernels.step import (
    choose,
    clock_with_pending,
    count_active,
    count_playing,
    in_warmup,
    update,
)
from lowregret.engine.status import PLAYING
from lowregret.policies import Clock

MODEL = np.dtype(
    [
        *((name, STATE[name]) for name in STATE.names or ()),  # the policy's random stream
        ("told", np.int64),  # rewards that are known
        ("waiting", np.int64),  # pulls that are pending
        ("discarded", np.int64),  # pulls that were discarded
        ("defaulted", np.int64),  # rewards among those that are known that are the default
        ("horizon", np.int64),
    ],
    align=True,
)
"""What an agent knows besides its table of arms."""


class LiveRng(Rng):
    """A policy's random stream that never repeats the draw of a step."""

    __slots__ = ()

    def uniform_at(self, t: int) -> float:
        """Return the uniform draw of step ``t``; time goes back when a pull is discarded, draws do not."""
        return uniform(bits(self.state["key"], 0), t + self.state["discarded"])


register_tuple_methods(LiveRng)


@jittable
def live_clock(policy: Any, table: ArmTable, model: np.void, t: int) -> Clock:
    """Return the clock at time ``t``; a policy that needs the horizon never sees a later time."""
    best = best_mean(table) if rules_of(policy).uses_best else 0.0
    return clock_with_pending(policy, t, int(model["horizon"]), len(table.rows), best, int(model["waiting"]))


@jittable
def choose_live(policy: Any, table: ArmTable, model: np.void, round: Any, scores: Floats, rng: Any) -> Any:
    """Choose and pull an arm; return its place (-1 if an index is nan), the time and the draws so far."""
    waiting = int(model["waiting"])
    t = int(model["told"]) + waiting + 1
    state = State(round, count_playing(table.rows), int(model["told"]), 0, PLAYING)
    clock = live_clock(policy, table, model, t)
    place = choose(policy, table, state, clock, rng, scores, True, waiting)
    if place >= 0:
        table.rows[place]["pending"] += 1
        model["waiting"] += 1
    return place, t, int(model["drawn"])


@jittable
def apply_live(
    policy: Any, table: ArmTable, model: np.void, round: Any, place: int, reward: float, rng: Any
) -> Any:
    """Apply the reward of a pending pull; return the status and the round."""
    table.rows[place]["pending"] -= 1
    model["waiting"] -= 1
    model["told"] += 1
    t = int(model["told"])
    clock = live_clock(policy, table, model, t)
    warm = in_warmup(table.rows, rules_of(policy).warmup)
    state = State(round, count_active(table.rows), t, 0, PLAYING)
    state = update(policy, table, state, place, reward, clock, rng, warm)
    return state.status, state.round


def choose_step(
    policy: Any, rows: Rows, models: Rows, round: Any, scores: Floats, rewards: Any, adjustment: Any
) -> Any:
    """Call ``choose_live`` with the agent's random stream; also an entry point for compiled code."""
    table = ArmTable(rows, rewards, adjustment, False)
    return choose_live(policy, table, models[0], round, scores, LiveRng(models[0]))


def apply_step(
    policy: Any,
    rows: Rows,
    models: Rows,
    round: Any,
    place: int,
    reward: float,
    rewards: Any,
    adjustment: Any,
) -> Any:
    """Call ``apply_live`` with the agent's random stream; also an entry point for compiled code."""
    table = ArmTable(rows, rewards, adjustment, False)
    return apply_live(policy, table, models[0], round, place, reward, LiveRng(models[0]))

"""The numbers of a live agent, and the two things it does with them: choose an arm, apply a reward.

Both are those of ``engine.kernels.pending_step``, by which the simulator plays delayed rewards.
"""

from typing import Any

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import jittable, register_tuple_methods
from lowregret.engine.kernels.pending_step import apply_pending, choose_pending, clock_with_pending
from lowregret.engine.kernels.rng import STATE, Rng, bits, uniform
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.state import Rows
from lowregret.engine.kernels.statistics import best_mean
from lowregret.engine.kernels.step import count_active, count_playing, in_warmup
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
def live_clock(policy: Any, rows: Rows, model: np.void, t: int) -> Clock:
    """Return the clock at time ``t``; a policy that needs the horizon never sees a later time."""
    best = best_mean(rows) if rules_of(policy).uses_best else 0.0
    return clock_with_pending(policy, t, int(model["horizon"]), len(rows), best, int(model["waiting"]))


@jittable
def choose_live(policy: Any, rows: Rows, model: np.void, round: Any, scores: Floats, rng: Any) -> Any:
    """Choose and pull an arm; return its place (-1 if an index is nan), the time and the draws so far."""
    waiting = int(model["waiting"])
    t = int(model["told"]) + waiting + 1
    clock = live_clock(policy, rows, model, t)
    place = choose_pending(policy, rows, clock, round, rng, scores, True, count_playing(rows), waiting)
    if place >= 0:
        model["waiting"] += 1
    return place, t, int(model["drawn"])


@jittable
def apply_live(
    policy: Any, rows: Rows, model: np.void, round: Any, place: int, reward: float, rng: Any
) -> Any:
    """Apply the reward of a pending pull; return the number of active arms and the round."""
    model["waiting"] -= 1
    model["told"] += 1
    t = int(model["told"])
    clock = live_clock(policy, rows, model, t)
    warm = in_warmup(rows, rules_of(policy).warmup)
    active = count_active(rows)
    round, active = apply_pending(policy, rows, place, reward, t, clock, round, rng, warm, active)
    return active, round


def choose_step(policy: Any, rows: Rows, models: Rows, round: Any, scores: Floats, rewards: Any) -> Any:
    """Call ``choose_live`` with the agent's random stream; also an entry point for compiled code."""
    return choose_live(policy, rows, models[0], round, scores, LiveRng(models[0], rewards, None))


def apply_step(
    policy: Any, rows: Rows, models: Rows, round: Any, place: int, reward: float, rewards: Any, periods: Any
) -> Any:
    """Call ``apply_live`` with the agent's random stream; also an entry point for compiled code."""
    return apply_live(policy, rows, models[0], round, place, reward, LiveRng(models[0], rewards, periods))

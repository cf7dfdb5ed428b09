"""The numbers of a live agent, and the two things it does with them: choose an arm, apply a reward.

Both are those of ``engine.pending_step``, by which the simulator plays where rewards are late.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.compile import adopt, shared
from lowregret.engine.pending_step import apply_pending, choose_pending, clock_with_pending
from lowregret.engine.rng import STATE, Rng, bits, uniform
from lowregret.engine.rules import rules_of
from lowregret.engine.state import Floats, Rows
from lowregret.engine.statistics import best_mean
from lowregret.engine.step import count_active, count_playing, in_warmup
from lowregret.policies import Clock

MODEL = np.dtype(
    [
        *((name, STATE[name]) for name in STATE.names or ()),  # the policy's random stream
        ("told", np.int64),  # rewards that are known
        ("waiting", np.int64),  # pulls that are pending
        ("discarded", np.int64),  # pulls that were discarded
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


adopt(LiveRng)


@shared
def live_clock(policy: Any, rows: Rows, model: np.void, t: int) -> Clock:
    """Return the clock at time ``t``; a policy that needs the horizon never sees a later time."""
    best = best_mean(rows) if rules_of(policy).uses_best else 0.0
    return clock_with_pending(policy, t, int(model["horizon"]), len(rows), best, int(model["waiting"]))


@shared
def choose_live(policy: Any, rows: Rows, model: np.void, round: Any, scores: Floats, rng: Any) -> Any:
    """Choose and pull an arm; return its place (-1 if an index is nan), the time and the draws so far."""
    waiting = int(model["waiting"])
    t = int(model["told"]) + waiting + 1
    clock = live_clock(policy, rows, model, t)
    place = choose_pending(policy, rows, clock, round, rng, scores, True, count_playing(rows), waiting)
    if place >= 0:
        model["waiting"] += 1
    return place, t, int(model["drawn"])


@shared
def apply_live(
    policy: Any, rows: Rows, model: np.void, round: Any, place: int, reward: float, rng: Any
) -> Any:
    """Apply the reward of a pending pull; return the number of active arms and the round."""
    model["waiting"] -= 1
    model["told"] += 1
    t = int(model["told"])
    clock = live_clock(policy, rows, model, t)
    warm = in_warmup(rows, rules_of(policy).warmup)
    left = count_active(rows)
    round, left = apply_pending(policy, rows, place, reward, t, clock, round, rng, warm, left)
    return left, round


def choose_step(policy: Any, rows: Rows, models: Rows, round: Any, scores: Floats, rewards: Any) -> Any:
    """Call ``choose_live`` with the agent's random stream; also an entry point for compiled code."""
    return choose_live(policy, rows, models[0], round, scores, LiveRng(models[0], rewards))


def apply_step(
    policy: Any, rows: Rows, models: Rows, round: Any, place: int, reward: float, rewards: Any
) -> Any:
    """Call ``apply_live`` with the agent's random stream; also an entry point for compiled code."""
    return apply_live(policy, rows, models[0], round, place, reward, LiveRng(models[0], rewards))

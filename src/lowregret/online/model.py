"""The numbers of a live agent, and the two things it does with them: choose an arm, apply a reward.

The choice and the update are those of ``engine.step``; here they get the time of a live agent, in which some
pulls are pending. With no pull pending they are, step by step, those of the simulator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.compile import adopt, shared
from lowregret.engine.rng import STATE, Rng, bits, uniform
from lowregret.engine.state import Floats, Rows
from lowregret.engine.statistics import best_mean
from lowregret.engine.step import choose, count_active, count_playing, in_warmup, rules_of, update
from lowregret.policies import Clock
from lowregret.policies.views import clock_at

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
    rules, best, horizon = rules_of(policy), 0.0, int(model["horizon"])
    if rules.uses_best:
        best = best_mean(rows)
        if best == -np.inf and model["waiting"] > 0:  # no reward is known yet, and arms count at mean 0
            best = 0.0
    return clock_at(min(t, horizon) if rules.needs_horizon else t, horizon, len(rows), best)


@shared
def choose_live(policy: Any, rows: Rows, model: np.void, round: Any, scores: Floats, rng: Any) -> Any:
    """Choose and pull an arm; return its place (-1 if an index is nan), the time and the draws so far."""
    waiting = int(model["waiting"])
    t = int(model["told"]) + waiting + 1
    clock = live_clock(policy, rows, model, t)
    place = choose(policy, rows, clock, round, rng, scores, True, count_playing(rows), waiting)
    if place >= 0:
        rows[place]["pending"] += 1
        model["waiting"] += 1
    return place, t, int(model["drawn"])


@shared
def apply_live(
    policy: Any, rows: Rows, model: np.void, round: Any, place: int, reward: float, rng: Any
) -> Any:
    """Apply the reward of a pending pull; return the number of active arms and the round.

    Arms are eliminated and rounds end by the rewards that are known, not by the pulls that are pending.
    """
    rows[place]["pending"] -= 1
    model["waiting"] -= 1
    model["told"] += 1
    t = int(model["told"])
    clock = live_clock(policy, rows, model, t)
    warm = in_warmup(rows, rules_of(policy).warmup)
    round, left = update(policy, rows, place, reward, t, clock, round, rng, warm, count_active(rows))
    return left, round


def choose_step(policy: Any, rows: Rows, models: Rows, round: Any, scores: Floats, rewards: Any) -> Any:
    """Call ``choose_live`` with the agent's random stream; also an entry point for compiled code."""
    return choose_live(policy, rows, models[0], round, scores, LiveRng(models[0], rewards))


def apply_step(
    policy: Any, rows: Rows, models: Rows, round: Any, place: int, reward: float, rewards: Any
) -> Any:
    """Call ``apply_live`` with the agent's random stream; also an entry point for compiled code."""
    return apply_live(policy, rows, models[0], round, place, reward, LiveRng(models[0], rewards))

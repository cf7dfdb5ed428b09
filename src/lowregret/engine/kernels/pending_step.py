"""A step where some rewards are pending: what the live agent and the simulator with delayed rewards share.

The choice and the update are those of ``step``; here they get the time and the counts of a game in which some
pulls are pending. With no pull pending they are, step by step, those of the scan.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import jittable_inline
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.state import Rows
from lowregret.engine.kernels.step import choose, update
from lowregret.policies import Clock
from lowregret.policies.views import clock_at


@jittable_inline
def clock_with_pending(policy: Any, t: int, horizon: int, arms: int, best: float, waiting: int) -> Clock:
    """Return the clock at time ``t``; a policy that needs the horizon never sees a later time.

    ``best`` is the largest known mean, minus infinity if no reward is known. While rewards are pending, that
    counts as 0, as the means of arms without a reward do.
    """
    rules = rules_of(policy)
    if rules.uses_best and waiting > 0 and best == -np.inf:
        best = 0.0
    time = min(t, horizon) if rules.needs_horizon else t
    return clock_at(time, horizon, arms, best if rules.uses_best else 0.0)


@jittable_inline
def choose_pending(
    policy: Any,
    rows: Rows,
    clock: Clock,
    round: Any,
    rng: Rng,
    scores: Floats,
    warm: bool,
    playing: int,
    waiting: int,
) -> int:
    """Choose an arm as ``step.choose`` does, and count its pull as pending."""
    place = choose(policy, rows, clock, round, rng, scores, warm, playing, waiting)
    if place >= 0:
        rows[place]["pending"] += 1
    return place


@jittable_inline
def apply_pending(
    policy: Any,
    rows: Rows,
    place: int,
    reward: float,
    told: int,
    clock: Clock,
    round: Any,
    rng: Rng,
    warm: bool,
    active: int,
) -> tuple[Any, int]:
    """Apply the reward of a pending pull as ``step.update`` does; return the round and the active arms.

    Arms are eliminated and rounds end by the rewards that are known, ``told`` with this one, not by the pulls
    that are pending.
    """
    rows[place]["pending"] -= 1
    return update(policy, rows, place, reward, told, clock, round, rng, warm, active)

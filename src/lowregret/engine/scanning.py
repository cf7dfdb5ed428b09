"""One run of any policy, looking at all arms at every step."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.arms import Floats, Integers, Rows
from lowregret.engine.protocol import turn, value
from lowregret.engine.rng import Rng
from lowregret.engine.steps import (
    DROPPED_ALL,
    NOT_A_NUMBER,
    STOPPED,
    Rules,
    best_mean,
    clock_now,
    finish,
    leave,
    look,
    mark,
    note,
    pull,
    warm_up,
)
from lowregret.engine.still import sweep
from lowregret.policies import Arms


def play_scanning(
    policy: Any,
    rules: Rules,
    first: Any,
    rng: Rng,
    rows: Rows,
    data: Floats,
    horizon: int,
    grid: Integers,
    regret: Floats,
    path: Integers,
    stop: Integers,
) -> int:
    """Play one run of any policy, looking at all arms at every step."""
    size = len(rows)
    round = first
    t, at = warm_up(policy, rules, rng, round.number, rows, data, horizon, grid, regret, path)
    if t < 0:
        return t
    left = size
    while t < horizon and (left > 1 or not rules.final):
        t += 1
        clock = clock_now(t, horizon, size, best_mean(rows) if rules.uses_best else 0.0)
        chosen, top = -1, -np.inf
        for i in range(size):
            if rows[i]["active"]:
                score = value(policy, look(rows, i), clock, round, rng)
                if score != score:
                    return NOT_A_NUMBER
                if chosen < 0 or score > top:
                    chosen, top = i, score
        if not pull(policy, rules, rng, rows, data, chosen):
            return -chosen - 1
        if sweep(policy, rows, clock, round, rng):
            left = leave(rows, t)
        if t >= round.until:
            round = turn(policy, Arms(rows), clock, round)
            left = leave(rows, t)
            if left == 0:
                return DROPPED_ALL
        note(path, t, rows[chosen]["number"], round.number, left)
        at = mark(rows, grid, regret, t, at)
        if stop[0]:
            return STOPPED
    return finish(rows, data, round.number, t, horizon, grid, regret, path) if t < horizon else t

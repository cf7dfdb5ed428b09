"""One run of any policy, looking at all arms at every step."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.compile import compiled, inlined
from lowregret.engine.protocol import value
from lowregret.engine.rng import Rng
from lowregret.engine.run_parts import (
    NOT_A_NUMBER,
    STOPPED,
    Rules,
    Run,
    best_mean,
    clock_now,
    end_round,
    finish,
    leave,
    look,
    mark,
    note,
    pull,
    sweep,
    warm_up,
)
from lowregret.engine.state import Floats, Rows
from lowregret.policies import Arms


@inlined
def first_largest(values: Floats) -> int:
    """Give the place of the first of the largest values, or -1 if one is nan."""
    a = b = c = d = -np.inf  # four at a time, since a comparison must wait for the one before it
    i = j = k = m = 0
    nan = False
    whole = len(values) - len(values) % 4
    for n in range(0, whole, 4):
        e, f, g, h = values[n], values[n + 1], values[n + 2], values[n + 3]
        i, j = n if e > a else i, n + 1 if f > b else j
        k, m = n + 2 if g > c else k, n + 3 if h > d else m
        a, b, c, d = max(e, a), max(f, b), max(g, c), max(h, d)
        nan |= (e != e) | (f != f) | (g != g) | (h != h)
    for n in range(whole, len(values)):
        e = values[n]
        i = n if e > a else i
        a = max(e, a)
        nan |= e != e
    i = j if (b > a) | ((b == a) & (j < i)) else i
    a = max(a, b)
    k = m if (d > c) | ((d == c) & (m < k)) else k
    c = max(c, d)
    i = k if (c > a) | ((c == a) & (k < i)) else i
    return -1 if nan else i


@compiled
def first_active(rows: Rows) -> int:
    """Give the first arm in play."""
    place = 0
    while not rows[place]["active"]:
        place += 1
    return place


def play_scanning(policy: Any, rules: Rules, first: Any, rng: Rng, run: Run) -> int:
    """Play one run of any policy, looking at all arms at every step.

    It chooses and settles as ``asking`` does, but calls no function for that, which would slow it down.
    """
    rows, data, horizon = run.rows, run.data, run.horizon
    size = len(rows)
    round = first
    t, at = warm_up(policy, rules, rng, round.number, run)
    if t < 0:
        return t
    left, scores = Arms(rows).left(), run.scratch.scores
    while t < horizon and (left > 1 or not rules.final):
        t += 1
        clock = clock_now(t, horizon, size, best_mean(rows) if rules.uses_best else 0.0)
        for i in range(size):
            if left == size or rows[i]["active"]:
                scores[i] = value(policy, look(rows, i), clock, round, rng)
            else:
                scores[i] = -np.inf
        chosen = first_largest(scores)
        if chosen < 0:
            return NOT_A_NUMBER
        if scores[chosen] == -np.inf:
            chosen = first_active(rows)
        if not pull(policy, rules, rng, rows, data, chosen):
            return -chosen - 1
        if rules.drops and sweep(policy, rows, clock, round, rng):
            left = leave(rows, t)
        if t >= round.until and left > 0:
            round, left = end_round(policy, rows, clock, round)
        if left < 0:
            return left
        note(run, t, rows[chosen]["number"], round.number, left)
        at = mark(run, t, at)
        if run.stop[0]:
            return STOPPED
    return finish(run, round.number, t) if t < horizon else t

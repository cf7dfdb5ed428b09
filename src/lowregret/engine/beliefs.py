"""One run of a policy that samples every arm from a normal law of its own.

The law of an arm changes only with its pulls, so a step is one normal draw an arm and the search for the
largest.
"""

from __future__ import annotations

from typing import Any

from lowregret.engine.arms import Floats, Integers, Rows
from lowregret.engine.protocol import belief
from lowregret.engine.rng import Rng, normal
from lowregret.engine.scanning import first_largest
from lowregret.engine.steps import (
    NOT_A_NUMBER,
    STOPPED,
    Rules,
    Scratch,
    finish,
    look,
    mark,
    note,
    pull,
    warm_up,
)


def play_beliefs(
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
    scratch: Scratch,
) -> int:
    """Play one run of a policy with beliefs."""
    t, at = warm_up(policy, rules, rng, first.number, rows, data, horizon, grid, regret, path)
    if t < 0:
        return t
    places, left = scratch.places, 0
    centres, spreads = scratch.lines[0], scratch.lines[1]
    for i in range(len(rows)):
        if rows[i]["active"]:
            places[left] = i
            centres[left], spreads[left] = belief(policy, look(rows, i))
            left += 1
    if left == 1 and t < horizon:
        return finish(rows, data, first.number, t, horizon, grid, regret, path)
    scores, key, state = scratch.scores[:left], rng.state["key"], rng.state
    while t < horizon:
        drawn = state["drawn"]
        for k in range(left):
            scores[k] = centres[k] + spreads[k] * normal(key, drawn + k + 1)
        state["drawn"] = drawn + left
        chosen = first_largest(scores)
        if chosen < 0:
            return NOT_A_NUMBER
        i = places[chosen]
        if not pull(policy, rules, rng, rows, data, i):
            return -i - 1
        centres[chosen], spreads[chosen] = belief(policy, look(rows, i))
        t += 1
        note(path, t, rows[i]["number"], first.number, left)
        at = mark(rows, grid, regret, t, at)
        if stop[0]:
            return STOPPED
    return t

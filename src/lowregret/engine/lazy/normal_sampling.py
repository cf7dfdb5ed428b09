"""One run of a policy that samples every arm from a normal law of its own.

The law of an arm changes only with its pulls, so a step is one normal draw an arm and the search for the
largest.
"""

from __future__ import annotations

from typing import Any

from lowregret.engine.protocol import belief
from lowregret.engine.rng import Rng, normal
from lowregret.engine.run_parts import (
    NOT_A_NUMBER,
    STOPPED,
    Rules,
    Run,
    finish,
    look,
    mark,
    note,
    pull,
    warm_up,
)
from lowregret.engine.scan import first_largest


def play_beliefs(policy: Any, rules: Rules, first: Any, rng: Rng, run: Run) -> int:
    """Play one run of a policy with beliefs."""
    rows, data, horizon, recording = run.rows, run.data, run.horizon, len(run.path) > 0
    t, at = warm_up(policy, rules, rng, first.number, run)
    if t < 0:
        return t
    places, left = run.scratch.places, 0
    centres, spreads = run.scratch.lines[0], run.scratch.lines[1]
    for i in range(len(rows)):
        if rows[i]["active"]:
            places[left] = i
            centres[left], spreads[left] = belief(policy, look(rows, i))
            left += 1
    if left == 1 and t < horizon:
        return finish(run, first.number, t)
    scores, key, state = run.scratch.scores[:left], rng.state["key"], rng.state
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
        if recording:
            note(run, t, rows[i]["number"], first.number, left)
        at = mark(run, t, at)
        if run.stop[0]:
            return STOPPED
    return t

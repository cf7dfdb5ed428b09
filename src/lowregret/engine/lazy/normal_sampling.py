"""One run of a policy that samples every arm from a normal distribution of its own.

An arm's distribution changes only with its pulls, so a step is one normal draw for each arm and the search
for the largest.
"""

from __future__ import annotations

from typing import Any

from lowregret.engine.observe import observe
from lowregret.engine.rng import Rng, normal
from lowregret.engine.simulated_run import (
    STOPPED,
    Run,
    clock_now,
    draw_reward,
    finish,
    record_if_due,
    record_step,
    warm_up,
)
from lowregret.engine.statistics import first_largest
from lowregret.engine.step import NOT_A_NUMBER
from lowregret.policies.views import arm_view


def play_normal_sampling(policy: Any, first: Any, rng: Rng, run: Run) -> int:
    """Play one run of a policy with beliefs."""
    rows, horizon, recording = run.rows, run.horizon, len(run.path) > 0
    t, at = warm_up(policy, rng, first.number, run)
    if t < 0:
        return t
    places, left = run.scratch.places, 0
    centres, spreads = run.scratch.lines[0], run.scratch.lines[1]
    for i in range(len(rows)):
        if rows[i]["active"]:
            places[left] = i
            centres[left], spreads[left] = policy.normal_posterior(arm_view(policy, rows, i))
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
        x = draw_reward(run, i)
        if x != x:
            return -i - 1
        t += 1
        observe(policy, rows, i, x, clock_now(run, t, 0.0), rng)
        centres[chosen], spreads[chosen] = policy.normal_posterior(arm_view(policy, rows, i))
        if recording:
            record_step(run, t, rows[i]["number"], first.number, left)
        at = record_if_due(run, t, at)
        if run.stop[0]:
            return STOPPED
    return t

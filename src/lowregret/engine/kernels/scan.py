"""One run of any policy that evaluates all arms at every step."""

from __future__ import annotations

from typing import Any

from lowregret._common.arrays import Floats
from lowregret.engine.kernels.exceedances import new_scores
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.simulated_run import (
    STOPPED,
    Run,
    clock_now,
    draw_reward,
    finish,
    record_if_due,
    record_step,
    warm_up,
)
from lowregret.engine.kernels.state import Rows
from lowregret.engine.kernels.statistics import best_mean
from lowregret.engine.kernels.step import NOT_A_NUMBER, choose, count_active, in_warmup, update
from lowregret.policies import Policy


def new_scratch(policy: Policy, rows: Rows, horizon: int) -> Floats:
    """Return the working memory of a choice."""
    return new_scores(policy, len(rows))


def play(policy: Any, first: Any, rng: Rng, run: Run, scores: Floats) -> int:
    """Play one run of any policy."""
    rows, horizon, rules = run.rows, run.horizon, rules_of(policy)
    round = first
    t, at = warm_up(policy, rng, round.number, run)
    if t < 0:
        return t
    active = count_active(rows)
    while t < horizon and (active > 1 or rules.plays_lists or not rules.eliminates_permanently):
        t += 1
        clock = clock_now(run, t, best_mean(rows) if rules.uses_best else 0.0)
        warm = rules.admits_later and in_warmup(rows, rules.warmup)
        chosen = choose(policy, rows, clock, round, rng, scores, warm, active, 0)
        if chosen < 0:
            return NOT_A_NUMBER
        x = draw_reward(run, chosen)
        if x != x:
            return -chosen - 1
        round, active = update(policy, rows, chosen, x, t, clock, round, rng, warm, active)
        if active < 0:
            return active
        record_step(run, t, rows[chosen]["number"], round.number, active)
        at = record_if_due(run, t, at)
        if run.stop[0]:
            return STOPPED
    return finish(run, round.number, t) if t < horizon else t

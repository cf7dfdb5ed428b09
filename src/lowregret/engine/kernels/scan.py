"""One run of any policy that evaluates all arms at every step."""

from __future__ import annotations

from typing import Any, NamedTuple

from lowregret._common.arrays import Floats
from lowregret.engine.encoding import Encoding
from lowregret.engine.kernels.answers import answer, answer_rest
from lowregret.engine.kernels.exceedances import new_scores
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.simulated_run import Run, draw_reward, end_step, record_step
from lowregret.engine.kernels.state import State
from lowregret.engine.kernels.statistics import best_mean
from lowregret.engine.kernels.step import choose, in_warmup, update
from lowregret.engine.problem import Problem
from lowregret.engine.status import ARM_FAILED, NOT_A_NUMBER, PLAYING
from lowregret.policies import Policy
from lowregret.policies.views import clock_at


class Scratch(NamedTuple):
    """The working memory: that of a choice."""

    scores: Floats


def applies(problem: Problem) -> bool:
    """Return True: every arm is evaluated at every step, whatever the policy."""
    return True


def new_scratch(policy: Policy, encoding: Encoding, horizon: int) -> Scratch:
    return Scratch(new_scores(policy, len(encoding.rows)))


def play(policy: Any, state: State, rng: Rng, run: Run, scratch: Scratch) -> State:
    """Play one run of any policy."""
    table, horizon, rules = run.table, run.horizon, rules_of(policy)
    warm_steps = rules.warmup * state.active_arms
    while state.status == PLAYING and state.t < horizon:
        round, active, t, at, _ = state
        warm = t < warm_steps or (rules.admits_later and in_warmup(table.rows, rules.warmup))
        if active == 1 and rules.ends_alone and not warm:
            break
        t += 1
        clock = clock_at(t, horizon, len(table.rows), best_mean(table) if rules.uses_best else 0.0)
        chosen = choose(policy, table, state, clock, rng, scratch.scores, warm, 0)
        if chosen < 0:
            return State(round, active, t, at, NOT_A_NUMBER)
        number, x = table.rows[chosen]["number"], draw_reward(run, chosen)
        if x != x:
            return State(round, active, t, at, ARM_FAILED - number)
        state = update(policy, table, State(round, active, t, at, PLAYING), chosen, x, clock, rng, warm)
        record_step(run.path, t, number, state.round.number, state.active_arms)
        entry = at
        at, status = end_step(run, t, at, state.status)
        answer(policy, run.answers, run, state, clock, entry, at)
        state = State(state.round, state.active_arms, t, at, status)
    answer_rest(policy, run.answers, run, state, clock_at(state.t, horizon, len(table.rows), 0.0))
    return state

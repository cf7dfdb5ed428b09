"""One run of any policy with delayed rewards, batches of decisions, or means that change or are adjusted."""

from __future__ import annotations

from typing import Any, NamedTuple

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled, compiled_inline
from lowregret.engine.encoding import Encoding
from lowregret.engine.kernels import delayed_rewards
from lowregret.engine.kernels.drifting import MeanPath, drifting_reward, path_of_run
from lowregret.engine.kernels.exceedances import new_scores
from lowregret.engine.kernels.rewards import reward
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.simulated_run import Run, end_step, record_step
from lowregret.engine.kernels.state import Rows, State
from lowregret.engine.kernels.statistics import best_mean, clipped, enter_step, forget_adjustment
from lowregret.engine.kernels.step import choose, clock_with_pending, in_warmup, update
from lowregret.engine.problem import Problem
from lowregret.engine.status import ARM_FAILED, NOT_A_NUMBER, PLAYING
from lowregret.environments.drift import DriftingBandit
from lowregret.policies import Policy


@compiled
def record_eliminated(rows: Rows, t: int, times: Integers) -> None:
    """Record the decision after which arms were eliminated; their rows have the number of known rewards."""
    for i in range(len(rows)):
        if rows[i]["eliminated"] > 0 and times[i] == 0:
            times[i] = t


@compiled_inline
def draw_at(run: Run, i: int, n: int, t: int, path: Any, part: int) -> tuple[float, float, int]:
    """Return the n-th reward of an arm, drawn at step ``t``, nan if it has fewer, and the gap then.

    ``path`` is how the means change, None if they do not; ``part`` is the part of it used last, and returned.
    Where means change, the reward is added to those of the run if they are recorded.
    """
    rows = run.table.rows
    if path is None:
        return reward(rows[i], run.data, n), 0.0, part
    x, gap, part = drifting_reward(path, rows, i, run.data, n, t, part)
    if len(run.rewards) > 0:
        run.rewards[rows[i]["number"]] += x
    return x, gap, part


class Scratch(NamedTuple):
    """The working memory: that of a choice, when rewards are known, those pending, and how means change."""

    scores: Floats
    delays: delayed_rewards.DelayModel
    queue: delayed_rewards.Queue
    means: MeanPath | None


def applies(problem: Problem) -> bool:
    """Return whether a reward is known later, or counts differently, than at the end of its own step."""
    drifts = isinstance(problem.bandit, DriftingBandit)
    return problem.delayed or drifts or problem.period is not None


def new_scratch(policy: Policy, encoding: Encoding, horizon: int) -> Scratch:
    delays = encoding.delays or delayed_rewards.delay_model(None, 1)
    queue = encoding.new_queue(delays, horizon)
    path = None if encoding.means is None else path_of_run(encoding.means)
    return Scratch(new_scores(policy, len(encoding.rows)), delays, queue, path)


def play(policy: Any, state: State, rng: Rng, run: Run, scratch: Scratch) -> State:
    """Play one run; the choices are those of a live agent that is told the rewards when they are due.

    ``state.t`` is the number of rewards that are known, ``t`` that of the decisions made.
    """
    table, horizon, rules = run.table, run.horizon, rules_of(policy)
    rows, adjustment = table.rows, table.adjustment
    scores, model, queue, path = scratch
    key = delayed_rewards.delay_key(run.seed, run.number)
    drifts, part, lost = path is not None, 0, 0.0
    delayed_rewards.clear(queue)
    forget_adjustment(adjustment)
    in_warm_up = in_warmup(rows, rules.warmup)
    t, at, slot, status = 0, 0, -1, PLAYING
    best = best_mean(table) if rules.uses_best else 0.0
    while status == PLAYING and t < horizon and (drifts or state.active_arms > 1 or not rules.ends_alone):
        pending = t - state.t
        t += 1
        slot = slot + 1 if slot + 1 < len(queue.first) else 0
        clock = clock_with_pending(policy, t, horizon, len(rows), best, pending)
        chosen = choose(policy, table, state, clock, rng, scores, in_warm_up, pending)
        if chosen < 0:
            return State(state.round, state.active_arms, state.t, at, NOT_A_NUMBER)
        rows[chosen]["pending"] += 1
        number, n = rows[chosen]["number"], rows[chosen]["pulls"] + rows[chosen]["pending"]
        x, gap, part = draw_at(run, chosen, n, t, path, part)
        lost += gap
        if x != x:
            return State(state.round, state.active_arms, state.t, at, ARM_FAILED - number)
        delay = delayed_rewards.nth_delay(model, key, number, n, x)
        due = delayed_rewards.due_after(t, delay, model.batch)
        if delay >= 0 and due <= horizon:
            delayed_rewards.enqueue(queue, slot, due - t, chosen, clipped(x, run.clip))
        now, queue.first[slot] = queue.first[slot], -1
        while now >= 0 and state.status == PLAYING:
            round, active, known_rewards, _, _ = state
            known_rewards += 1
            enter_step(adjustment, t - (slot - now if now <= slot else slot - now + len(queue.first)))
            clock = clock_with_pending(policy, known_rewards, horizon, len(rows), best, t - known_rewards)
            before = State(round, active, known_rewards, at, PLAYING)
            place = queue.place[now]
            rows[place]["pending"] -= 1
            state = update(policy, table, before, place, queue.reward[now], clock, rng, in_warm_up)
            if state.active_arms < active:
                record_eliminated(rows, t, queue.eliminated)
            if in_warm_up or rules.admits_later:
                in_warm_up = in_warmup(rows, rules.warmup)
            if rules.uses_best:
                best = best_mean(table)
            now = queue.following[now]
        record_step(run.path, t, number, state.round.number, state.active_arms)
        entry = at
        at, status = end_step(run, t, at, state.status)
        if drifts and at > entry:
            run.regret[entry] = max(0.0, lost)  # a sum of gaps of both signs, which is 0 up to rounding
    for i in range(len(rows)):
        if queue.eliminated[i] > 0:
            rows[i]["eliminated"] = queue.eliminated[i]
    return State(state.round, state.active_arms, t, at, status)  # for what follows, by decisions

"""The definition of correct: runs in plain Python that evaluate all arms at every step."""

from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.encoding import Encoding, arm_table, encode, rows_of_runs
from lowregret.engine.failures import raise_for
from lowregret.engine.kernels.answers import answer_now
from lowregret.engine.kernels.delayed_rewards import delay_key, nth_delay
from lowregret.engine.kernels.drifting import drifting_reward
from lowregret.engine.kernels.exceedances import new_scores
from lowregret.engine.kernels.rewards import reward
from lowregret.engine.kernels.rng import policy_rng, shuffle
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.state import Rows, State, lay_out
from lowregret.engine.kernels.statistics import best_mean, clipped, enter_step
from lowregret.engine.kernels.step import choose, clock_with_pending, in_warmup, update
from lowregret.engine.problem import Control, Outcome, Problem, eliminates
from lowregret.engine.status import ARM_FAILED, NOT_A_NUMBER, PLAYING


class Played(NamedTuple):
    """One run: ``path`` has arm, round and active arms of each step, ``regret`` an entry for each time."""

    path: Integers
    regret: Floats
    pulls: Integers
    eliminated: Integers
    rewards: Floats
    recommended: Integers
    loss: Floats
    stopped: Integers


def run(problem: Problem, control: Control) -> Outcome:
    began, played = perf_counter(), []
    for number in range(problem.first_run, problem.first_run + problem.runs):
        played.append(play(problem, number))
        if control.progress:
            control.progress(1)
    arrays = {name: np.stack([getattr(one, name) for one in played]) for name in Played._fields}
    times = arrays["eliminated"] if eliminates(problem.policy) else None
    records = {name: arrays[name] for name in problem.record}
    seconds = perf_counter() - began
    return Outcome(
        problem.policy, problem.grid, arrays["regret"], arrays["pulls"], times, records, seconds, 1
    )


def play(problem: Problem, number: int) -> Played:
    encoding = encode(problem)
    rows, order, seed = encoding.rows.copy(), np.arange(len(encoding.rows)), np.uint64(problem.seed)
    if encoding.shuffled:
        shuffle(seed, number, order)
    lay_out(rows_of_runs(problem, encoding, number, 1)[0], order, seed, number, rows)
    return play_rows(problem, encoding, rows, number)


def play_rows(problem: Problem, encoding: Encoding, rows: Rows, number: int) -> Played:
    """Play run ``number``, anew with compiled methods if the policy divides by 0, which is inf there."""
    start = rows.copy()
    try:
        return _play_rows(problem, encoding, rows, number)
    except ArithmeticError:
        from lowregret.engine.bridge.compiler import with_compiled_methods

        rows[:] = start
        problem = replace(problem, policy=with_compiled_methods(problem.policy))
        return _play_rows(problem, encoding, rows, number)


def _play_rows(problem: Problem, encoding: Encoding, rows: Rows, number: int) -> Played:
    """Play run ``number`` on a table of arms: at the end of a step, the rewards that are due are applied."""
    policy, horizon, size, delays = problem.policy, problem.horizon, len(rows), encoding.delays
    key = np.uint64(delay_key(np.uint64(problem.seed), number))
    table, rng = arm_table(problem, rows), policy_rng(problem.seed, number)
    state = State(encoding.first_round, int(rows["active"].sum()), 0, 0, PLAYING)
    path, scores = np.zeros((horizon, 3), np.int64), new_scores(policy, size)
    pulls, eliminated = np.zeros((2, size), np.int64)
    rewards, regret, lost, part = np.zeros(size), [], 0.0, 0
    answers, stopped = list[tuple[int, float]](), 0
    ends_alone = rules_of(policy).ends_alone
    times, pending = {int(time) for time in problem.grid}, list[tuple[int, int, int, float]]()
    for t in range(1, horizon + 1):
        waiting, warm = t - 1 - state.t, in_warmup(rows, policy.warmup)
        best = best_mean(table) if policy.uses_best else 0.0
        clock = clock_with_pending(policy, t, horizon, size, best, waiting)
        place = choose(policy, table, state, clock, rng, scores, warm, waiting)
        raise_for(policy, NOT_A_NUMBER if place < 0 else PLAYING)
        arm = int(rows[place]["number"])
        pulls[arm] += 1
        row, n = rows[place], int(pulls[arm])
        row["pending"] += 1
        if encoding.means is None:
            x, gap = float(reward(row, encoding.data, n)), float(row["gap"])
        else:
            x, gap, part = drifting_reward(encoding.means, rows, place, encoding.data, n, t, part)
        raise_for(policy, ARM_FAILED - arm if np.isnan(x) else PLAYING, problem.bandit)
        rewards[arm], lost = rewards[arm] + x, lost + gap
        due = t
        if delays is not None:
            delay = nth_delay(delays, key, arm, int(pulls[arm]), x)
            due = horizon + 1 if delay < 0 else -(-(t + delay) // delays.batch) * delays.batch
        pending.append((due, t, place, clipped(x, problem.clip)))
        for decision in sorted(decision for decision in pending if decision[0] <= t):
            pending.remove(decision)
            rows[decision[2]]["pending"] -= 1
            state = state._replace(t=state.t + 1)
            enter_step(table.adjustment, decision[1])
            best = best_mean(table) if policy.uses_best else 0.0
            clock = clock_with_pending(policy, state.t, horizon, size, best, t - state.t)
            warm = in_warmup(rows, policy.warmup)
            state = update(policy, table, state, *decision[2:], clock, rng, warm)
            raise_for(policy, state.status)
            gone = rows["number"][rows["eliminated"] > 0]
            eliminated[gone] = np.where(eliminated[gone] == 0, t, eliminated[gone])
        path[t - 1] = arm, state.round.number, state.active_arms
        if t in times:
            gaps = sum(float(row["gap"]) * int(pulls[row["number"]]) for row in rows)
            regret.append(gaps if encoding.means is None else max(0.0, lost))
        ready, alone = not in_warmup(rows, policy.warmup), state.active_arms == 1 and ends_alone
        stopped = stopped or (t if ready and alone else 0)
        if t in times and encoding.sides is not None:
            answers.append(answer_now(policy, table, clock, alone, encoding.sides) if ready else (-1, np.nan))
    recommended, loss = (np.array([answer[part] for answer in answers]) for part in (0, 1))
    return Played(path, np.array(regret), pulls, eliminated, rewards, recommended, loss, np.array([stopped]))

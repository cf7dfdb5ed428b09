"""The definition of correct: runs in plain Python that evaluate all arms at every step."""

from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.encoding import Encoding, encode, periods_for
from lowregret.engine.failures import raise_for
from lowregret.engine.kernels.delayed_rewards import delay_key, nth_delay
from lowregret.engine.kernels.drifting import MeanPath, drifting_reward, mean_at, part_at
from lowregret.engine.kernels.exceedances import new_scores
from lowregret.engine.kernels.pending_step import apply_pending, choose_pending, clock_with_pending
from lowregret.engine.kernels.periods import enter_period
from lowregret.engine.kernels.rewards import reward
from lowregret.engine.kernels.rng import policy_rng, shuffle
from lowregret.engine.kernels.state import Rows, lay_out
from lowregret.engine.kernels.statistics import best_mean, clipped
from lowregret.engine.kernels.step import NOT_A_NUMBER, in_warmup
from lowregret.engine.prior import room_for_rewards
from lowregret.engine.problem import Control, Outcome, Problem, eliminates
from lowregret.environments.drift import PIECEWISE


class Played(NamedTuple):
    """One run: ``path`` has arm, round and active arms of each step, ``regret`` an entry for each time."""

    path: Integers
    regret: Floats
    pulls: Integers
    eliminated: Integers
    rewards: Floats


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
    lay_out(encoding.rows, order, seed, number, rows)
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
    rewards_of_arms = room_for_rewards(policy, size, horizon, problem.prior)
    rng = policy_rng(problem.seed, number, rewards_of_arms, periods_for(problem))
    round, active, told = encoding.first_round, int(rows["active"].sum()), 0
    path, scores = np.zeros((horizon, 3), np.int64), new_scores(policy, size)
    pulls, eliminated = np.zeros((2, size), np.int64)
    rewards, regret, lost = np.zeros(size), [], 0.0
    times, pending = {int(time) for time in problem.grid}, list[tuple[int, int, int, float]]()
    for t in range(1, horizon + 1):
        waiting, warm = t - 1 - told, in_warmup(rows, policy.warmup)
        best = best_mean(rows) if policy.uses_best else 0.0
        clock = clock_with_pending(policy, t, horizon, size, best, waiting)
        playing = int(np.count_nonzero(rows["allowed"] & rows["active"]))
        place = choose_pending(policy, rows, clock, round, rng, scores, warm, playing, waiting)
        raise_for(policy, NOT_A_NUMBER if place < 0 else 0)
        arm = int(rows[place]["number"])
        pulls[arm] += 1
        x, gap = _reward_and_gap(rows[place], encoding.data, int(pulls[arm]), t, encoding.means)
        raise_for(policy, -arm - 1 if np.isnan(x) else 0, problem.bandit)
        rewards[arm], lost = rewards[arm] + x, lost + gap
        due = t
        if delays is not None:
            delay = nth_delay(delays, key, arm, int(pulls[arm]), x)
            due = horizon + 1 if delay < 0 else -(-(t + delay) // delays.batch) * delays.batch
        pending.append((due, t, place, clipped(x, problem.clip)))
        for row in sorted(row for row in pending if row[0] <= t):
            pending.remove(row)
            told += 1
            enter_period(rng.periods, row[1])
            best = best_mean(rows) if policy.uses_best else 0.0
            clock = clock_with_pending(policy, told, horizon, size, best, t - told)
            warm = in_warmup(rows, policy.warmup)
            round, active = apply_pending(policy, rows, row[2], row[3], told, clock, round, rng, warm, active)
            raise_for(policy, active)
            gone = rows["number"][rows["eliminated"] > 0]
            eliminated[gone] = np.where(eliminated[gone] == 0, t, eliminated[gone])
        path[t - 1] = arm, round.number, active
        if t in times:
            gaps = sum(float(row["gap"]) * int(pulls[row["number"]]) for row in rows)
            regret.append(gaps if encoding.means is None else lost)
    return Played(path, np.array(regret), pulls, eliminated, rewards)


def _reward_and_gap(row: Any, data: Floats, n: int, t: int, path: MeanPath | None) -> tuple[float, float]:
    """Return the n-th reward of an arm, drawn at step ``t``, and how far its mean is below the best."""
    if path is None:
        return float(reward(row, data, n)), float(row["gap"])
    number, part = int(row["number"]), part_at(path, 0, t) if path.kind == PIECEWISE else 0
    mean = float(mean_at(path, part, t, number))
    return drifting_reward(row, data, n, mean, float(path.first[number])), float(path.best[t - 1]) - mean

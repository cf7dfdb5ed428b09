"""The definition of correct: runs in plain Python that evaluate all arms at every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from lowregret.engine.drifting import MeanPath, drifting_reward, mean_at, mean_path, part_at
from lowregret.engine.exceedances import new_scores
from lowregret.engine.late_rewards import Lateness, delay_key, lateness_of, nth_delay
from lowregret.engine.outcome import Outcome, eliminates
from lowregret.engine.pending_step import apply_pending, choose_pending, clock_with_pending
from lowregret.engine.rewards import reward
from lowregret.engine.rng import POLICY_STREAM, STATE, Rng, shuffle, stream
from lowregret.engine.state import Floats, Integers, Rows, lay_out, new_rewards, rows_of, start
from lowregret.engine.statistics import best_mean, clipped
from lowregret.engine.step import MESSAGES, NOT_A_NUMBER, choose, count_playing, in_warmup, update
from lowregret.environments import Bandit, Delay, DriftingBandit
from lowregret.environments.drift import PIECEWISE
from lowregret.errors import InputError
from lowregret.policies import Policy
from lowregret.policies.views import clock_at


class Played(NamedTuple):
    """One run, step by step.

    ``arm``, ``round``, ``active`` and ``reward`` have one entry for each step: the arm that was pulled, the
    round and the number of active arms after it, and the reward. ``regret`` has one entry for each time of
    the grid, ``pulls`` and ``eliminated`` one for each arm. ``delay`` is that of every reward, None
    where each is known before the next decision.
    """

    arm: Integers
    round: Integers
    active: Integers
    reward: Floats
    regret: Floats
    pulls: Integers
    eliminated: Integers
    delay: Integers | None = None


class Late(NamedTuple):
    """When the rewards of a run are known: their lateness, and the key of their delays."""

    lateness: Lateness
    key: np.uint64


def late_in(delay: Delay | None, batch: int, seed: int, number: int) -> Late | None:
    """Return when the rewards of run ``number`` are known, None if each is before the next decision."""
    lateness = lateness_of(delay, batch)
    return Late(lateness, np.uint64(delay_key(np.uint64(seed), number))) if lateness else None


def play(
    policy: Policy,
    rows: Rows,
    data: Floats,
    horizon: int,
    rng: Rng,
    clip: bool = False,
    grid: Sequence[int] | Integers = (),
    late: Late | None = None,
    path: MeanPath | None = None,
) -> Played:
    """Play one run on a table of arms, in the order of its rows; their means change along a path."""
    if late:
        return _play_late(policy, rows, data, horizon, rng, clip, grid, late, path)
    round, size = start(policy, rows, horizon), len(rows)
    rng = rng._replace(rewards=new_rewards(policy, size, horizon))
    steps, rewards, scores = np.zeros((3, horizon), np.int64), np.zeros(horizon), new_scores(policy, size)
    left, regret = int(rows["active"].sum()), []
    times, lost = {int(time) for time in grid}, 0.0
    for t in range(1, horizon + 1):
        clock = clock_at(t, horizon, size, best_mean(rows) if policy.uses_best else 0.0)
        warm = in_warmup(rows, policy.warmup)
        place = choose(policy, rows, clock, round, rng, scores, warm, count_playing(rows), 0)
        if place < 0:
            raise InputError(f"{policy}: {MESSAGES[NOT_A_NUMBER]}")
        row = rows[place]
        x, gap = _reward_and_gap(row, data, int(row["pulls"]) + 1, t, path)
        lost += gap
        if np.isnan(x):
            raise InputError(f"{policy}: {ran_out(row['number'])}")
        round, left = update(policy, rows, place, clipped(x, clip), t, clock, round, rng, warm, left)
        if left < 0:
            raise InputError(f"{policy}: {MESSAGES[left]}")
        steps[:, t - 1] = row["number"], round.number, left
        rewards[t - 1] = x
        if t in times:
            gaps = sum(float(row["gap"]) * int(row["pulls"]) for row in rows)
            regret.append(gaps if path is None else lost)
    pulls, eliminated = np.zeros((2, size), np.int64)
    pulls[rows["number"]], eliminated[rows["number"]] = rows["pulls"], np.maximum(rows["eliminated"], 0)
    arms, rounds, active = steps
    return Played(arms, rounds, active, rewards, np.array(regret), pulls, eliminated)


def _reward_and_gap(row: Any, data: Floats, n: int, t: int, path: MeanPath | None) -> tuple[float, float]:
    """Return the n-th reward of an arm, drawn at step ``t``, and how far its mean is below the best."""
    if path is None:
        return float(reward(row, data, n)), float(row["gap"])
    number, part = int(row["number"]), part_at(path, 0, t) if path.kind == PIECEWISE else 0
    mean = float(mean_at(path, part, t, number))
    return drifting_reward(row, data, n, mean, float(path.first[number])), float(path.best[t - 1]) - mean


def _play_late(
    policy: Policy,
    rows: Rows,
    data: Floats,
    horizon: int,
    rng: Rng,
    clip: bool,
    grid: Sequence[int] | Integers,
    late: Late,
    path: MeanPath | None,
) -> Played:
    """Play one run whose rewards are late: at the end of a step, those that are due by then are applied."""
    round, size = start(policy, rows, horizon), len(rows)
    rng = rng._replace(rewards=new_rewards(policy, size, horizon))
    steps, rewards, scores = np.zeros((4, horizon), np.int64), np.zeros(horizon), new_scores(policy, size)
    left, told, regret, total = int(rows["active"].sum()), 0, [], 0.0
    times, pending = {int(time) for time in grid}, list[tuple[int, int, int, float]]()
    pulls, eliminated = np.zeros((2, size), np.int64)
    for t in range(1, horizon + 1):
        best, waiting = best_mean(rows), t - 1 - told
        clock = clock_with_pending(policy, t, horizon, size, best, waiting)
        place = choose_pending(policy, rows, clock, round, rng, scores, True, count_playing(rows), waiting)
        if place < 0:
            raise InputError(f"{policy}: {MESSAGES[NOT_A_NUMBER]}")
        number = int(rows[place]["number"])
        pulls[number] += 1
        x, gap = _reward_and_gap(rows[place], data, int(pulls[number]), t, path)
        total += gap
        if np.isnan(x):
            raise InputError(f"{policy}: {ran_out(number)}")
        delay = nth_delay(late.lateness, late.key, number, int(pulls[number]), x)
        if delay >= 0:
            blocks = -(-(t + delay) // late.lateness.batch)
            pending.append((blocks * late.lateness.batch, t, place, clipped(x, clip)))
        for due in sorted(each for each in pending if each[0] <= t):
            pending.remove(due)
            told += 1
            clock = clock_with_pending(policy, told, horizon, size, best_mean(rows), t - told)
            warm = in_warmup(rows, policy.warmup)
            round, left = apply_pending(policy, rows, due[2], due[3], told, clock, round, rng, warm, left)
            if left < 0:
                raise InputError(f"{policy}: {MESSAGES[left]}")
            lost = rows["number"][rows["eliminated"] > 0]
            eliminated[lost] = np.where(eliminated[lost] == 0, t, eliminated[lost])
        steps[:, t - 1] = number, round.number, left, delay
        rewards[t - 1] = x
        if t in times:
            gaps = sum(float(row["gap"]) * int(pulls[row["number"]]) for row in rows)
            regret.append(gaps if path is None else total)
    arms, rounds, active, delays = steps
    return Played(arms, rounds, active, rewards, np.array(regret), pulls, eliminated, delays)


def run(
    policy: Policy,
    bandit: Bandit,
    horizon: int,
    seed: int,
    number: int,
    clip: bool = False,
    grid: Sequence[int] | Integers = (),
    delay: Delay | None = None,
    batch: int = 1,
) -> Played:
    """Play run ``number`` of a policy on a bandit, as the simulator does."""
    given = rows_of(bandit, policy)
    rows, order = given.copy(), np.zeros(len(given), np.int64)
    shuffle(np.uint64(seed), number, order)
    lay_out(given, order, np.uint64(seed), number, rows)
    late = late_in(delay, batch, seed, number)
    path = mean_path(bandit, horizon) if isinstance(bandit, DriftingBandit) else None
    return play(policy, rows, bandit.data, horizon, policy_rng(seed, number), clip, grid, late, path)


def simulate(
    policy: Policy,
    bandit: Bandit,
    horizon: int,
    runs: int,
    seed: int,
    grid: Integers,
    progress: Callable[[int], None] | None = None,
    clip: bool = False,
    record_rewards: bool = False,
    delay: Delay | None = None,
    batch: int = 1,
) -> Outcome:
    """Simulate many runs of a policy in plain Python; ``engine.cpu.simulate`` returns the same."""
    began, played = perf_counter(), []
    for number in range(runs):
        played.append(run(policy, bandit, horizon, seed, number, clip, grid, delay, batch))
        if progress:
            progress(1)
    regret, pulls, eliminated = (
        np.stack([getattr(each, name) for each in played]) for name in ("regret", "pulls", "eliminated")
    )
    seconds = perf_counter() - began
    rewards = np.zeros((runs, len(bandit)))
    for number, each in enumerate(played):
        np.add.at(rewards[number], each.arm, each.reward)
    lost, recorded = eliminated if eliminates(policy) else None, rewards if record_rewards else None
    return Outcome(policy, grid, regret, pulls, lost, seconds, 1, recorded)


def policy_rng(seed: int, number: int) -> Rng:
    """Return a policy's random stream in run ``number``."""
    states = np.zeros(1, STATE)
    states["key"] = stream(np.uint64(seed), number, POLICY_STREAM)
    return Rng(states[0])


def ran_out(number: int) -> str:
    """Say that a table of given rewards is too short."""
    return f"the rewards of arm {number} ran out: give it a longer row or a shorter horizon"

"""The definition of correct: runs in plain Python that evaluate all arms at every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from lowregret.engine.exceedances import new_scores
from lowregret.engine.outcome import Outcome, eliminates
from lowregret.engine.rewards import reward
from lowregret.engine.rng import POLICY_STREAM, STATE, Rng, shuffle, stream
from lowregret.engine.state import Floats, Integers, Rows, lay_out, new_rewards, rows_of, start
from lowregret.engine.statistics import best_mean, clipped
from lowregret.engine.step import MESSAGES, NOT_A_NUMBER, choose, count_playing, in_warmup, update
from lowregret.environments import Bandit
from lowregret.errors import InputError
from lowregret.policies import Policy
from lowregret.policies.views import clock_at


class Played(NamedTuple):
    """One run, step by step.

    ``arm``, ``round``, ``active`` and ``reward`` have one entry for each step: the arm that was pulled, the
    round and the number of active arms after it, and the reward. ``regret`` has one entry for each time of
    the grid, ``pulls`` and ``eliminated`` one for each arm.
    """

    arm: Integers
    round: Integers
    active: Integers
    reward: Floats
    regret: Floats
    pulls: Integers
    eliminated: Integers


def play(
    policy: Policy,
    rows: Rows,
    data: Floats,
    horizon: int,
    rng: Rng,
    clip: bool = False,
    grid: Sequence[int] | Integers = (),
) -> Played:
    """Play one run on a table of arms, in the order of its rows."""
    round, size = start(policy, rows, horizon), len(rows)
    rng = rng._replace(rewards=new_rewards(policy, size, horizon))
    steps, rewards, scores = np.zeros((3, horizon), np.int64), np.zeros(horizon), new_scores(policy, size)
    left, regret = int(rows["active"].sum()), []
    times = {int(time) for time in grid}
    for t in range(1, horizon + 1):
        clock = clock_at(t, horizon, size, best_mean(rows) if policy.uses_best else 0.0)
        warm = in_warmup(rows, policy.warmup)
        place = choose(policy, rows, clock, round, rng, scores, warm, count_playing(rows), 0)
        if place < 0:
            raise InputError(f"{policy}: {MESSAGES[NOT_A_NUMBER]}")
        row = rows[place]
        x = reward(row, data, int(row["pulls"]) + 1)
        if np.isnan(x):
            raise InputError(f"{policy}: {ran_out(row['number'])}")
        round, left = update(policy, rows, place, clipped(x, clip), t, clock, round, rng, warm, left)
        if left < 0:
            raise InputError(f"{policy}: {MESSAGES[left]}")
        steps[:, t - 1] = row["number"], round.number, left
        rewards[t - 1] = x
        if t in times:
            regret.append(sum(float(row["gap"]) * int(row["pulls"]) for row in rows))
    pulls, eliminated = np.zeros((2, size), np.int64)
    pulls[rows["number"]], eliminated[rows["number"]] = rows["pulls"], np.maximum(rows["eliminated"], 0)
    arms, rounds, active = steps
    return Played(arms, rounds, active, rewards, np.array(regret), pulls, eliminated)


def run(
    policy: Policy,
    bandit: Bandit,
    horizon: int,
    seed: int,
    number: int,
    clip: bool = False,
    grid: Sequence[int] | Integers = (),
) -> Played:
    """Play run ``number`` of a policy on a bandit, as the simulator does."""
    given = rows_of(bandit, policy)
    rows, order = given.copy(), np.zeros(len(given), np.int64)
    shuffle(np.uint64(seed), number, order)
    lay_out(given, order, np.uint64(seed), number, rows)
    return play(policy, rows, bandit.data, horizon, policy_rng(seed, number), clip, grid)


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
) -> Outcome:
    """Simulate many runs of a policy in plain Python; ``engine.cpu.simulate`` returns the same."""
    began, played = perf_counter(), []
    for number in range(runs):
        played.append(run(policy, bandit, horizon, seed, number, clip, grid))
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

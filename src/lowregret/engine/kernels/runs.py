"""Many runs of one policy, one after the other: the entry point of compiled code.

A way to play is a module with ``play(policy, first, rng, run, scratch)``, which plays one run, and
``new_scratch(policy, rows, horizon)``, its working memory. ``ways.py`` selects one; the bridge puts its
``play`` in place of the name in ``play_runs``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled
from lowregret.engine.kernels.delayed_rewards import DelayModel, nth_delay
from lowregret.engine.kernels.drifting import drifting_reward, mean_at, part_at
from lowregret.engine.kernels.periods import Periods
from lowregret.engine.kernels.rewards import RewardSource, nth_reward, reward, reward_source
from lowregret.engine.kernels.rng import POLICY_STREAM, STATE, Rng, shuffle, stream
from lowregret.engine.kernels.simulated_run import POLL_STEPS, Run
from lowregret.engine.kernels.state import Rows, in_lines, lay_out
from lowregret.environments.drift import PIECEWISE


class Setup(NamedTuple):
    """What all runs of a simulation share."""

    first_round: Any
    rows: Rows
    data: Floats
    horizon: int
    clip: bool
    grid: Integers
    seed: Any
    shuffled: bool


class Outputs(NamedTuple):
    """Where runs write, an entry for each; ``rewards`` and ``path`` have one empty entry if not recorded."""

    regret: Floats
    pulls: Integers
    eliminated: Integers
    rewards: Floats
    path: Integers
    stop: Integers


class RunMemory(NamedTuple):
    """The working memory of a run, whatever the way to play; compiled code allocates none."""

    rows: Rows
    order: Integers
    states: Rows  # of the policy's random numbers
    rewards: Any  # of each arm so far, for a policy that uses them
    periods: Any  # their rewards by period, where means are adjusted


def new_memory(rows: Rows, rewards: Floats | None, periods: Periods | None = None) -> RunMemory:
    """Return the working memory for runs on a table of arms, of which the policy may use the rewards."""
    return RunMemory(in_lines(rows), np.arange(len(rows)), np.zeros(1, STATE), rewards, periods)


@compiled
def prepare_run(rows: Rows, seed: Any, number: int, memory: RunMemory) -> None:
    """Lay out the arms of run ``number`` in their order, and start the policy's random stream."""
    lay_out(rows, memory.order, seed, number, memory.rows)
    state = memory.states[0]
    state["key"] = stream(seed, number, POLICY_STREAM)
    state["drawn"] = 0


def play(policy: Any, first: Any, rng: Rng, run: Run, scratch: Any) -> int:
    """Play one run; stands for the function of the same name of a way to play."""
    raise NotImplementedError  # the bridge puts another function in its place


def play_runs(
    policy: Any, setup: Setup, first_run: int, outputs: Outputs, memory: RunMemory, scratch: Any
) -> int:
    """Play as many runs as the outputs have entries, the first being run number ``first_run``."""
    first, arms, data, horizon, clip, grid, seed, shuffled = setup
    rows, order, rng = memory.rows, memory.order, Rng(memory.states[0], memory.rewards, memory.periods)
    for entry in range(len(outputs.regret)):
        number = first_run + entry
        if shuffled:
            shuffle(seed, number, order)
        prepare_run(arms, seed, number, memory)
        regret, rewards = outputs.regret[entry], outputs.rewards[entry % len(outputs.rewards)]
        path, stop = outputs.path[entry % len(outputs.path)], outputs.stop
        run = Run(rows, data, horizon, clip, grid, seed, number, regret, rewards, path, stop)
        answer = play(policy, first, rng, run, scratch)
        if answer < 0:
            return answer
        for i in range(len(rows)):
            outputs.pulls[entry, order[i]] = rows[i]["pulls"] + rows[i]["pending"]
            outputs.eliminated[entry, order[i]] = max(rows[i]["eliminated"], 0)
    return 0


@compiled
def sum_rewards(
    rows: Rows, data: Floats, seed: Any, first_run: int, pulls: Integers, sums: Floats, stop: Integers
) -> None:
    """Draw again the rewards of runs, the first of which has a number, and add them up by arm."""
    for entry in range(len(pulls)):
        for i in range(len(rows)):
            kind, _, a, b, c, d = reward_source(rows[i])
            source = RewardSource(kind, stream(seed, first_run + entry, i), a, b, c, d)
            for n in range(1, pulls[entry, i] + 1):
                sums[entry, i] += nth_reward(source, data, n)
                if n % POLL_STEPS == 0 and stop[0]:
                    return


@compiled
def draw_path_rewards(
    rows: Rows, data: Floats, arms: Integers, pulls: Integers, rewards: Floats, path: Any
) -> None:
    """Draw again the rewards of one run; ``rows`` are the arms by number, ``pulls`` are counted in it.

    ``path`` is how the means change, None if they do not.
    """
    part = 0
    for t in range(1, len(arms) + 1):
        number = arms[t - 1]
        pulls[number] += 1
        if path is None:
            rewards[t - 1] = reward(rows[number], data, pulls[number])
        else:
            part = part_at(path, part, t) if path.kind == PIECEWISE else 0
            mean = mean_at(path, part, t, number)
            rewards[t - 1] = drifting_reward(rows[number], data, pulls[number], mean, path.first[number])


@compiled
def draw_path_delays(
    model: DelayModel, key: Any, arms: Integers, rewards: Floats, pulls: Integers, delays: Integers
) -> None:
    """Draw again the delays of one run with these arms and rewards; ``pulls`` are counted."""
    for t in range(len(arms)):
        pulls[arms[t]] += 1
        delays[t] = nth_delay(model, key, arms[t], pulls[arms[t]], rewards[t])

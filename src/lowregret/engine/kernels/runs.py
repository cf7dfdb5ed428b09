"""Many runs of one policy, one after the other: the entry point of compiled code."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import call_by_address, compiled, jittable
from lowregret.engine.kernels.delayed_rewards import nth_delay
from lowregret.engine.kernels.drifting import drifting_reward
from lowregret.engine.kernels.modes import play_run
from lowregret.engine.kernels.rewards import RewardSource, nth_reward, reward, reward_source
from lowregret.engine.kernels.rng import POLICY_STREAM, STATE, Rng, shuffle, stream
from lowregret.engine.kernels.simulated_run import POLL_STEPS, Run, finish
from lowregret.engine.kernels.state import ArmTable, Rows, State, in_lines, lay_out
from lowregret.engine.kernels.step import count_active
from lowregret.engine.status import PLAYING


class Setup(NamedTuple):
    """What all runs of a simulation share."""

    first_round: Any
    rows: Rows  # a row for each run, or one for all
    data: Floats
    horizon: int
    clip: bool
    grid: Integers
    seed: Any
    shuffled: bool
    addresses: Addresses


class Addresses(NamedTuple):
    """Where the machine code of the functions is that each run calls once, and that know no policy."""

    prepare_run: int
    pull_each: int
    finish: int


class Outputs(NamedTuple):
    """Where runs write, an entry for each; what is not recorded has one empty entry."""

    regret: Floats
    pulls: Integers
    eliminated: Integers
    rewards: Floats
    path: Integers
    answers: Any  # an ``Answers``, None if they are not recorded
    stop: Integers


class RunMemory(NamedTuple):
    """The working memory of a run, whatever the mode; compiled code allocates none."""

    table: ArmTable
    order: Integers
    states: Rows  # of the policy's random numbers


def new_memory(table: ArmTable) -> RunMemory:
    """Return the working memory for runs on a table of arms."""
    rows = in_lines(table.rows)
    return RunMemory(table._replace(rows=rows), np.arange(len(rows)), np.zeros(1, STATE))


@jittable
def prepare_run(rows: Rows, seed: Any, number: int, shuffled: bool, memory: RunMemory) -> None:
    """Lay out the arms of run ``number`` in their order, and start the policy's random stream."""
    if shuffled:
        shuffle(seed, number, memory.order)
    lay_out(rows, memory.order, seed, number, memory.table.rows)
    state = memory.states[0]
    state["key"] = stream(seed, number, POLICY_STREAM)
    state["drawn"] = 0


prepare_run_at, finish_at = call_by_address(prepare_run), call_by_address(finish)


def play_runs(
    policy: Any, setup: Setup, first_run: int, outputs: Outputs, memory: RunMemory, scratch: Any
) -> int:
    """Play as many runs as the outputs have entries, the first being run number ``first_run``.

    Return the status of the run that failed, else ``PLAYING``.
    """
    arms, order, rng, rows = setup.rows, memory.order, Rng(memory.states[0]), memory.table.rows
    for entry in range(len(outputs.regret)):
        number = first_run + entry
        prepare_run_at(
            setup.addresses.prepare_run, arms[entry % len(arms)], setup.seed, number, setup.shuffled, memory
        )
        regret, rewards = outputs.regret[entry], outputs.rewards[entry % len(outputs.rewards)]
        path = outputs.path[entry % len(outputs.path)]
        run = Run(
            memory.table, setup.data, setup.horizon, setup.clip, setup.grid, setup.seed, number,
            regret, rewards, path, outputs.answers, entry, outputs.stop, setup.addresses.pull_each,
        )  # fmt: skip
        first = State(setup.first_round, count_active(rows), 0, 0, PLAYING)
        state = play_run(policy, first, rng, run, scratch)
        status = state.status
        if status == PLAYING:
            status = finish_at(setup.addresses.finish, run, state.round.number, state.t)
        if status != PLAYING:
            return status
        for i in range(len(rows)):
            outputs.pulls[entry, order[i]] = rows[i]["pulls"] + rows[i]["pending"]
            eliminated = rows[i]["eliminated"]
            outputs.eliminated[entry, order[i]] = eliminated if eliminated > 0 else 0
    return PLAYING


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
def draw_path(
    rows: Rows,
    data: Floats,
    arms: Integers,
    path: Any,
    model: Any,
    key: Any,
    rewards: Floats,
    delays: Integers,
) -> None:
    """Draw again the rewards of one run that pulled these arms, and their delays.

    ``rows`` are the arms by number, not pulled yet. ``path`` is how the means change, and ``model`` when
    rewards are known; either may be None.
    """
    part = 0
    for t in range(1, len(arms) + 1):
        row = rows[arms[t - 1]]
        row["pulls"] += 1
        if path is None:
            rewards[t - 1] = reward(row, data, row["pulls"])
        else:
            rewards[t - 1], _, part = drifting_reward(path, rows, arms[t - 1], data, row["pulls"], t, part)
        if model is not None:
            delays[t - 1] = nth_delay(model, key, arms[t - 1], row["pulls"], rewards[t - 1])

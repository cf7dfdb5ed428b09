"""One simulated run: what it plays on, where it writes, and the parts that all modes share.

A run writes into ``table``, ``regret`` (at the times of ``grid``) and ``path``, which is empty or has one row
for each step: the number of the arm, the round and the number of active arms after it. Every loop over steps
ends a step by ``end_step``. What follows the loop, ``finish``, is the same for all modes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import (
    by_policy_class,
    call_by_address,
    compiled,
    compiled_inline,
    jittable,
)
from lowregret.engine.kernels.rewards import exhausted, nth_reward, reward_source
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.state import ArmTable, Rows, State
from lowregret.engine.kernels.statistics import clipped, observe, observes_plainly
from lowregret.engine.kernels.step import count_active
from lowregret.engine.status import ARM_FAILED, PLAYING, STOPPED
from lowregret.policies import Policy
from lowregret.policies.views import clock_at

POLL_STEPS = 2**18
"""After how many steps a run looks at ``stop`` at the latest: some 10 ms, at which it costs nothing."""


class Run(NamedTuple):
    """What a run plays on, and where it writes."""

    table: ArmTable
    data: Floats
    horizon: int
    clip: bool  # whether rewards are clipped to [0, 1] first
    grid: Integers
    seed: Any
    number: int
    regret: Floats
    rewards: Floats  # the sum of each arm's, or empty
    path: Integers
    answers: Any  # an ``answers.Answers``, None if they are not recorded
    entry: int  # its row
    stop: Integers
    pull_each: int  # the address of ``pull_each`` for no observer


@compiled
def record_regret(rows: Rows, regret: Floats, at: int) -> None:
    """Record the regret as entry ``at`` of the grid."""
    total = 0.0
    for i in range(len(rows)):
        total += rows[i]["gap"] * (rows[i]["pulls"] + rows[i]["pending"])
    regret[at] = total


@compiled_inline
def record_if_due(run: Run, t: int, at: int) -> int:
    """Record the regret if ``t`` is entry ``at`` of the grid; return the next entry."""
    due = at < len(run.grid) and t == run.grid[at]
    if due:
        record_regret(run.table.rows, run.regret, at)
    return at + due


@compiled_inline
def end_step(run: Run, t: int, at: int, status: int) -> tuple[int, int]:
    """Record the regret if that is due after ``t`` steps; return the next grid entry and the status."""
    at = record_if_due(run, t, at)
    return at, STOPPED if run.stop[0] and status == PLAYING else status


@compiled
def record_step(path: Integers, t: int, number: int, round: int, active: int) -> None:
    """Record step ``t`` if the path is wanted."""
    if len(path) > 0:
        path[t - 1, 0] = number
        path[t - 1, 1] = round
        path[t - 1, 2] = active


@compiled_inline
def draw_reward(run: Run, i: int) -> float:
    """Draw the next reward of the arm in place ``i``, as the policy sees it; nan if it has none left."""
    row = run.table.rows[i]
    source, n = reward_source(row), row["pulls"] + 1
    return np.nan if exhausted(source, n) else clipped(nth_reward(source, run.data, n), run.clip)


def finish(run: Run, number: int, t: int) -> int:
    """End a run that has played well up to step ``t``, in a round; return its status.

    If the run has not reached the horizon, one arm is left: credit it with all other pulls, which no reward
    can change.
    """
    rows, grid, horizon = run.table.rows, run.grid, run.horizon
    if t == horizon:
        return PLAYING
    last = 0
    for i in range(len(rows)):
        if rows[i]["active"]:
            last = i
    if exhausted(reward_source(rows[last]), rows[last]["pulls"] + rows[last]["pending"] + horizon - t):
        return ARM_FAILED - rows[last]["number"]
    if len(run.path) > 0:
        for step in range(t + 1, horizon + 1):
            record_step(run.path, step, rows[last]["number"], number, 1)
    for at in range(len(grid)):
        if grid[at] > t:
            rows[last]["pulls"] += grid[at] - t
            t = grid[at]
            record_if_due(run, t, at)
    rows[last]["pulls"] += horizon - t
    return PLAYING


@jittable
def pull_each(observer: Any, times: int, rng: Rng, number: int, run: Run) -> tuple[int, int, int]:
    """Pull every active arm in turn, a number of times; return the time, the next grid entry and the status.

    The observer is the policy, or None if its statistics are those that every policy has: machine code for
    None serves all such policies.
    """
    table, rows = run.table, run.table.rows
    t, at, active = 0, 0, count_active(rows)
    for _ in range(times):
        if run.stop[0]:
            return t, at, STOPPED
        for i in range(len(rows)):
            if not rows[i]["active"]:
                continue
            if t == run.horizon:
                return t, at, PLAYING
            x = draw_reward(run, i)
            if x != x:
                return t, at, ARM_FAILED - rows[i]["number"]
            t += 1
            observe(observer, table, i, x, clock_at(t, run.horizon, len(rows), 0.0), rng)
            record_step(run.path, t, rows[i]["number"], number, active)
            at = record_if_due(run, t, at)
    return t, at, PLAYING


pull_each_at = call_by_address(pull_each)


def _warm_up_plainly(policy: Any, state: State, rng: Rng, run: Run) -> State:
    times, number = rules_of(policy).warmup, state.round.number
    t, at, status = pull_each_at(run.pull_each, None, times, rng, number, run)
    return State(state.round, state.active_arms, t, at, status)


def _warm_up_observed(policy: Any, state: State, rng: Rng, run: Run) -> State:
    t, at, status = pull_each(policy, rules_of(policy).warmup, rng, state.round.number, run)
    return State(state.round, state.active_arms, t, at, status)


@by_policy_class
def warm_up(kind: type[Policy]) -> Any:
    """Pull every active arm in turn, as often as the policy asks; return the state."""
    return _warm_up_plainly if observes_plainly(kind) else _warm_up_observed

"""One simulated run: what it plays on, where it writes, and the parts that every way to play shares.

A run writes into ``rows`` (the table of arms), ``regret`` (at the times of ``grid``) and ``path``, which is
empty or has one row for each step: the number of the arm, the round and the number of active arms after it.
It returns the horizon, or a negative number: ``ELIMINATED_ALL``, ``NOT_A_NUMBER``, ``STOPPED`` if ``stop``
was set, or -1 - i if the given rewards of the arm in place i ran out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import by_policy_class, compiled, compiled_inline
from lowregret.engine.kernels.observe import observe, observes_plainly
from lowregret.engine.kernels.rewards import exhausted, nth_reward, reward_source
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.state import Rows
from lowregret.engine.kernels.statistics import best_mean, clipped
from lowregret.engine.kernels.step import count_active
from lowregret.policies import Clock, Policy
from lowregret.policies.views import clock_at

STOPPED = -(2**62) - 2

POLL_STEPS = 2**18
"""After how many steps a run looks at ``stop`` at the latest: some 10 ms, at which it costs nothing."""


class Run(NamedTuple):
    """What a run plays on, and where it writes."""

    rows: Rows
    data: Floats
    horizon: int
    clip: bool  # whether rewards are clipped to [0, 1] first
    grid: Integers
    seed: Any
    number: int
    regret: Floats
    rewards: Floats  # the sum of each arm's, or empty
    path: Integers
    stop: Integers


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
        record_regret(run.rows, run.regret, at)
    return at + due


@compiled
def record_step(run: Run, t: int, number: int, round: int, active: int) -> None:
    """Record step ``t`` if the path is wanted."""
    path = run.path
    if len(path) > 0:
        path[t - 1, 0] = number
        path[t - 1, 1] = round
        path[t - 1, 2] = active


@compiled_inline
def clock_now(run: Run, t: int, best: float) -> Clock:
    """Return the clock of step ``t``."""
    return clock_at(t, run.horizon, len(run.rows), best)


@compiled_inline
def draw_reward(run: Run, i: int) -> float:
    """Draw the next reward of the arm in place ``i``, nan if it has none left."""
    row = run.rows[i]
    source, n = reward_source(row), row["pulls"] + 1
    return np.nan if exhausted(source, n) else clipped(nth_reward(source, run.data, n), run.clip)


@compiled_inline
def draw_nth_reward(run: Run, i: int, n: int) -> tuple[float, float]:
    """Draw the n-th reward of the arm in place ``i``, nan if it has fewer; return it as it is and as seen."""
    source = reward_source(run.rows[i])
    x = np.nan if exhausted(source, n) else nth_reward(source, run.data, n)
    return x, clipped(x, run.clip)


@compiled
def finish(run: Run, number: int, t: int) -> int:
    """Credit the remaining arm with all pulls up to the horizon, which no reward can change."""
    rows, grid, horizon = run.rows, run.grid, run.horizon
    last = 0
    for i in range(len(rows)):
        if rows[i]["active"]:
            last = i
    if exhausted(reward_source(rows[last]), rows[last]["pulls"] + rows[last]["pending"] + horizon - t):
        return -last - 1
    if len(run.path) > 0:
        for step in range(t + 1, horizon + 1):
            record_step(run, step, rows[last]["number"], number, 1)
    for at in range(len(grid)):
        if grid[at] > t:
            rows[last]["pulls"] += grid[at] - t
            t = grid[at]
            record_if_due(run, t, at)
    rows[last]["pulls"] += horizon - t
    return horizon


@compiled
def pull_each(observer: Any, times: int, rng: Rng, number: int, run: Run) -> tuple[int, int]:
    """Pull every active arm in turn, a number of times; return the time and the next grid entry.

    The observer is the policy, or None if its statistics are those that every policy has: machine code for
    None serves all such policies.
    """
    rows = run.rows
    t, at, active, rules = 0, 0, count_active(rows), rules_of(observer)
    for _ in range(times):
        if run.stop[0]:
            return STOPPED, at
        for i in range(len(rows)):
            if not rows[i]["active"]:
                continue
            if t == run.horizon:
                return t, at
            x = draw_reward(run, i)
            if x != x:
                return -i - 1, at
            t += 1
            best = best_mean(rows) if rules.remembers and rules.uses_best else 0.0
            observe(observer, rows, i, x, clock_now(run, t, best), rng)
            record_step(run, t, rows[i]["number"], number, active)
            at = record_if_due(run, t, at)
    return t, at


def _warm_up_plainly(policy: Any, rng: Rng, number: int, run: Run) -> tuple[int, int]:
    return pull_each(None, rules_of(policy).warmup, rng, number, run)


def _warm_up_observed(policy: Any, rng: Rng, number: int, run: Run) -> tuple[int, int]:
    return pull_each(policy, rules_of(policy).warmup, rng, number, run)


@by_policy_class
def warm_up(kind: type[Policy]) -> Any:
    """Pull every active arm in turn, as often as the policy asks; return the time and the next grid entry."""
    return _warm_up_plainly if observes_plainly(kind) else _warm_up_observed

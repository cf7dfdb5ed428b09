"""One simulated run: what it plays on, where it writes, and the parts that every way to play shares.

A run writes into ``rows`` (the table of arms), ``regret`` (at the times of ``grid``) and ``path``, which is
empty or has one row for each step: the number of the arm, the round and the number of active arms after it.
It returns the horizon, or a negative number: ``ELIMINATED_ALL``, ``NOT_A_NUMBER``, ``STOPPED`` if ``stop``
was set, or -1 - i if the given rewards of the arm in place i ran out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret.engine.compile import by_policy_class, compiled, compiled_inline
from lowregret.engine.exceedances import new_scores
from lowregret.engine.lazy.arm_groups import Groups, in_lines, new_groups
from lowregret.engine.lazy.paces import Paces, new_paces
from lowregret.engine.lazy.streaks import Ahead, new_ahead
from lowregret.engine.lazy.tournament import Tournament, new_tournament
from lowregret.engine.observe import observe, observes_plainly
from lowregret.engine.rewards import exhausted, nth_reward, reward_source
from lowregret.engine.rng import POLICY_STREAM, STATE, Rng, stream
from lowregret.engine.rules import rules_of
from lowregret.engine.state import Floats, Integers, Rows, lay_out, new_rewards
from lowregret.engine.statistics import best_mean, clipped
from lowregret.engine.step import count_active
from lowregret.policies import Clock, Policy
from lowregret.policies.views import clock_at

STOPPED = -(2**62) - 2

POLL_STEPS = 2**18
"""After how many steps a run looks at ``stop`` at the latest: some 10 ms, at which it costs nothing."""


class Scratch(NamedTuple):
    """The working memory of a run; compiled code allocates none."""

    rows: Rows
    order: Integers
    states: Rows  # of the policy's random numbers
    tree: Tournament
    means: Tournament
    stack: Integers
    scores: Floats
    places: Integers
    lines: Floats  # four numbers for each arm
    groups: Groups
    ahead: Ahead
    padded: Floats  # five numbers for each of up to 255 arms
    paces: Paces
    rewards: Any  # of each arm so far, for a policy that uses them


def new_scratch(policy: Policy, rows: Rows, horizon: int) -> Scratch:
    """Return the working memory for runs of a policy on a table of arms."""
    size = len(rows)
    return Scratch(
        rows=in_lines(rows),
        order=np.arange(size),
        states=np.zeros(1, STATE),
        tree=new_tournament(size),
        means=new_tournament(size),
        stack=np.zeros(128, np.int64),
        scores=new_scores(policy, size),
        places=np.zeros(size, np.int64),
        lines=np.zeros((4, size)),
        groups=new_groups(size),
        ahead=new_ahead(policy, size),
        padded=np.zeros((5, 256)),
        paces=new_paces(policy, horizon),
        rewards=new_rewards(policy, size, horizon),
    )


@compiled
def prepare_run(given: Rows, seed: np.uint64, number: int, scratch: Scratch) -> None:
    """Lay out the arms of run ``number`` in their order, and start the policy's random stream."""
    lay_out(given, scratch.order, seed, number, scratch.rows)
    state = scratch.states[0]
    state["key"] = stream(seed, number, POLICY_STREAM)
    state["drawn"] = 0


class Run(NamedTuple):
    """What a run plays on, and where it writes."""

    rows: Rows
    data: Floats
    horizon: int
    clip: bool  # whether rewards are clipped to [0, 1] first
    grid: Integers
    regret: Floats
    path: Integers
    stop: Integers
    scratch: Scratch


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
    """Return the only arm that is left all pulls to the horizon, which no reward can change."""
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

"""One run of a policy that plays lists of arms (DMED).

After every pull the policy asks for the index of each arm that is not on the list. Where the policy states a
slope, each such arm has a line above its index, and the index itself is computed only when the line is above
0. The line touches the index where it was computed last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import compiled, compiled_inline
from lowregret.engine.encoding import Encoding
from lowregret.engine.kernels.lazy.tournament import Tournament, enter, new_tournament, rebuild
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.simulated_run import Run, draw_reward, end_step, record_step, warm_up
from lowregret.engine.kernels.state import ArmTable, Rows, State
from lowregret.engine.kernels.statistics import observe
from lowregret.engine.kernels.step import start_list
from lowregret.engine.problem import Problem
from lowregret.engine.status import ARM_FAILED, NOT_A_NUMBER, PLAYING
from lowregret.policies import Arm, Clock, Policy
from lowregret.policies.views import arm_view, clock_at


class Scratch(NamedTuple):
    """The working memory: the means of all arms, and a line for each arm, of four numbers."""

    means: Tournament
    lines: Floats


def applies(problem: Problem) -> bool:
    """Return whether the policy plays lists."""
    return problem.policy.overrides("list_index")


def new_scratch(policy: Policy, encoding: Encoding, horizon: int) -> Scratch:
    return Scratch(new_tournament(len(encoding.rows)), np.zeros((4, len(encoding.rows))))


@compiled_inline
def evaluate(lines: Floats, i: int, always: bool) -> None:
    """Compute the index of an arm at every step until it has a line, or never."""
    lines[0, i] = np.inf if always else -np.inf
    lines[1, i], lines[2, i], lines[3, i] = 0.0, 0.0, 0.0


@compiled_inline
def set_line(policy: Any, arm: Arm, clock: Clock, index: float, lines: Floats, i: int) -> None:
    """Set the line above the index of an arm, slightly higher than needed since both are rounded."""
    slope = policy.list_index_slope(arm, clock)
    if slope < np.inf:
        lines[0, i] = index + 1e-9 + 1e-12 * abs(index)
        lines[1, i], lines[2, i], lines[3, i] = clock.log_t, clock.best, slope
    else:
        evaluate(lines, i, True)


@compiled_inline
def list_arms(policy: Any, table: ArmTable, clock: Clock, round: Any, rng: Rng, lines: Floats) -> int:
    """Put arms with a positive index on the next list; return how many, -1 if an index is nan."""
    rows, listed = table.rows, 0
    for i in range(len(rows)):
        height = lines[0, i] + (clock.log_t - lines[1, i]) - lines[3, i] * (clock.best - lines[2, i])
        if not height <= 0.0:
            arm = arm_view(policy, table, i)
            index = policy.arm_index(arm, clock, round, rng)
            if index != index:
                return -1
            if index > 0.0:
                rows[i]["listed"] = True
                listed += 1
                evaluate(lines, i, False)
            else:
                set_line(policy, arm, clock, index, lines, i)
    return listed


@compiled
def next_list(rows: Rows, listed: int, lines: Floats) -> int:
    """Start the next list; return how many arms are on it. The index of none of them is computed."""
    if listed == 0:
        for i in range(len(rows)):
            evaluate(lines, i, False)
    return start_list(rows, listed)


def play(policy: Any, state: State, rng: Rng, run: Run, scratch: Scratch) -> State:
    """Play one run, computing at each step only the indices that could be positive."""
    table, rows, uses_best = run.table, run.table.rows, rules_of(policy).uses_best
    round, _, t, at, status = warm_up(policy, state, rng, run)
    means, lines = scratch.means, scratch.lines
    for i in range(len(rows)):
        means.best[len(means.best) // 2 + i] = rows[i]["mean"] if rows[i]["pulls"] > 0 else -np.inf
    rebuild(means)
    i, remaining, listed = 0, next_list(rows, 0, lines), 0
    while status == PLAYING and t < run.horizon:
        while not rows[i]["active"]:
            i += 1
        row = rows[i]
        number, x = row["number"], draw_reward(run, i)
        if x != x:
            return State(round, remaining, t, at, ARM_FAILED - number)
        t += 1
        observe(policy, table, i, x, clock_at(t, run.horizon, len(rows), 0.0), rng)
        row["active"] = False
        remaining -= 1
        evaluate(lines, i, True)
        if uses_best:
            enter(means, i, row["mean"])
        clock = clock_at(t, run.horizon, len(rows), means.best[1] if uses_best else 0.0)
        more = list_arms(policy, table, clock, round, rng, lines)
        if more < 0:
            return State(round, remaining, t, at, NOT_A_NUMBER)
        listed += more
        if remaining == 0:
            i, remaining, listed = 0, next_list(rows, listed, lines), 0
        record_step(run.path, t, number, round.number, remaining)
        at, status = end_step(run, t, at, status)
    return State(round, remaining, t, at, status)

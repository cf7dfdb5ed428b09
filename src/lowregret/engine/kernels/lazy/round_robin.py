"""One run of a policy whose arms are pulled in turn: several round-robin passes at once.

Between two rounds no reward matters, so how often each arm is pulled until then is known beforehand. The
rewards are drawn arm by arm, and where no round follows that could look at them, not at all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import compiled
from lowregret.engine.encoding import Encoding
from lowregret.engine.kernels.rewards import exhausted, nth_reward, reward_source
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.simulated_run import POLL_STEPS, Run, end_step, record_step, warm_up
from lowregret.engine.kernels.state import Rows, State
from lowregret.engine.kernels.statistics import add_reward, clipped, read_sums, write_sums
from lowregret.engine.kernels.step import end_round
from lowregret.engine.problem import Problem
from lowregret.engine.status import ARM_FAILED, ELIMINATED_ALL, PLAYING
from lowregret.policies import Policy
from lowregret.policies.views import NEVER, clock_at, count_of, mean_of


@compiled
def pull_repeatedly(row: Any, data: Floats, pulls: int, clip: bool) -> None:
    """Pull an arm a number of times in a row."""
    source, sums = reward_source(row), read_sums(row)
    start = sums.before + sums.n
    for n in range(start + 1, start + pulls + 1):
        sums = add_reward(sums, clipped(nth_reward(source, data, n), clip))
    write_sums(row, sums, mean_of(sums.n, sums.origin, sums.total))


@compiled
def least(rows: Rows) -> tuple[int, int, int]:
    """Return the fewest pulls of an active arm, how many have those, and the next higher number of pulls."""
    fewest, sharing, more = NEVER, 0, NEVER
    for row in rows:
        if row["active"]:
            pulls = count_of(row)
            if pulls < fewest:
                fewest, sharing, more = pulls, 1, fewest
            elif pulls == fewest:
                sharing += 1
            elif pulls < more:
                more = pulls
    return fewest, sharing, more


@compiled
def deal_out(rows: Rows, data: Floats, steps: int, wanted: bool, clip: bool) -> tuple[int, int, int]:
    """Pull the arms in turn for at most a number of steps; return how many, the last arm, and the status."""
    fewest, sharing, more = least(rows)
    steps = min(steps, sharing * (more - fewest)) if more - fewest < steps else steps
    passes, extra = steps // sharing, steps % sharing
    last = 0
    for i in range(len(rows)):
        row = rows[i]
        if row["active"] and count_of(row) == fewest:
            pulls = passes + (extra > 0)
            if extra > 0 or steps % sharing == 0:
                last = i
            extra -= 1
            if exhausted(reward_source(row), row["pulls"] + pulls):
                return 0, i, ARM_FAILED - row["number"]
            if wanted:
                pull_repeatedly(row, data, pulls, clip)
            else:
                row["pulls"] += pulls
    return steps, last, PLAYING


class Scratch(NamedTuple):
    """The working memory, of which this mode needs none."""


def applies(problem: Problem) -> bool:
    """Return whether arms are pulled in turn, and nothing looks at each reward."""
    policy = problem.policy
    looks_at_rewards = policy.uses_best or any(map(policy.overrides, ("transform_reward", "lower_bound")))
    return policy.round_robin and not looks_at_rewards


def new_scratch(policy: Policy, encoding: Encoding, horizon: int) -> Scratch:
    return Scratch()


def play(policy: Any, state: State, rng: Rng, run: Run, scratch: Scratch) -> State:
    """Play one run of a policy whose arms are pulled in turn."""
    table, data, horizon, grid = run.table, run.data, run.horizon, run.grid
    rows = table.rows
    round, active, t, at, status = warm_up(policy, state, rng, run)
    while status == PLAYING and t < horizon and (active > 1 or not rules_of(policy).ends_alone):
        end = t + 1 if len(run.path) > 0 else int(np.ceil(min(horizon, max(round.until, t + 1))))
        if at < len(grid):
            end = min(end, grid[at])
        if round.until <= horizon:  # else no reward is drawn, and any number of steps takes no time
            end = min(end, t + POLL_STEPS)
        last = 0
        while t < end and status == PLAYING:
            steps, last, status = deal_out(rows, data, end - t, round.until <= horizon, run.clip)
            t += steps
        if t >= round.until and status == PLAYING:
            round, active = end_round(policy, table, t, clock_at(t, horizon, len(rows), 0.0), round, rng)
            status = PLAYING if active > 0 else ELIMINATED_ALL
        record_step(run.path, t, rows[last]["number"], round.number, active)
        at, status = end_step(run, t, at, status)
    return State(round, active, t, at, status)

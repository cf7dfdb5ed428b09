"""One run of a policy whose arms take turns: the pulls of many turns are dealt out at once.

Between two rounds no reward matters, so how often each arm is pulled until then is known beforehand. The
rewards are drawn arm by arm, and where no round follows that could look at them, not at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import compiled
from lowregret.engine.kernels.rewards import exhausted, nth_reward, reward_source
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.simulated_run import (
    POLL_STEPS,
    STOPPED,
    Run,
    clock_now,
    finish,
    record_if_due,
    record_step,
    warm_up,
)
from lowregret.engine.kernels.state import Rows
from lowregret.engine.kernels.statistics import add_reward, clipped, read_sums, write_sums
from lowregret.engine.kernels.step import count_active, end_round
from lowregret.policies import NEVER, Policy
from lowregret.policies.views import mean_of


@compiled
def pull_repeatedly(row: Any, data: Floats, pulls: int, clip: bool) -> None:
    """Pull an arm a number of times in a row."""
    source, sums = reward_source(row), read_sums(row)
    start = sums.before + sums.pulls
    for n in range(start + 1, start + pulls + 1):
        sums = add_reward(sums, clipped(nth_reward(source, data, n), clip))
    write_sums(row, sums, mean_of(sums.pulls, sums.origin, sums.total))


@compiled
def least(rows: Rows) -> tuple[int, int, int]:
    """Return the fewest pulls of an active arm, how many have those, and the next higher number of pulls."""
    fewest, sharing, more = NEVER, 0, NEVER
    for row in rows:
        if row["active"]:
            pulls = row["pulls"] - row["reset"]
            if pulls < fewest:
                fewest, sharing, more = pulls, 1, fewest
            elif pulls == fewest:
                sharing += 1
            elif pulls < more:
                more = pulls
    return fewest, sharing, more


@compiled
def deal_out(rows: Rows, data: Floats, steps: int, wanted: bool, clip: bool) -> tuple[int, int]:
    """Pull the arms in turn for at most a number of steps; return how many, or -1 - i, and the last arm."""
    fewest, sharing, more = least(rows)
    steps = min(steps, sharing * (more - fewest)) if more - fewest < steps else steps
    turns, extra = steps // sharing, steps % sharing
    last = 0
    for i in range(len(rows)):
        row = rows[i]
        if row["active"] and row["pulls"] - row["reset"] == fewest:
            pulls = turns + (extra > 0)
            if extra > 0 or steps % sharing == 0:
                last = i
            extra -= 1
            if exhausted(reward_source(row), row["pulls"] + pulls):
                return -i - 1, i
            if wanted:
                pull_repeatedly(row, data, pulls, clip)
            else:
                row["pulls"] += pulls
    return steps, last


def applies(policy: Policy, arms: int, horizon: int) -> bool:
    """Return whether arms take turns, and nothing looks at each reward."""
    looks_at_rewards = policy.uses_best or any(map(policy.overrides, ("transform_reward", "lower_bound")))
    return policy.round_robin and not looks_at_rewards


def new_scratch(policy: Policy, rows: Rows, horizon: int) -> None:
    """Return the working memory, of which this needs none."""


def play(policy: Any, first: Any, rng: Rng, run: Run, scratch: None) -> int:
    """Play one run of a policy whose arms take turns."""
    rows, data, horizon, grid, path = run.rows, run.data, run.horizon, run.grid, run.path
    round = first
    t, at = warm_up(policy, rng, round.number, run)
    if t < 0:
        return t
    active = count_active(rows)
    while t < horizon and (active > 1 or not rules_of(policy).eliminates_permanently):
        end = t + 1 if len(path) > 0 else int(np.ceil(min(horizon, max(round.until, t + 1))))
        if at < len(grid):
            end = min(end, grid[at])
        if round.until <= horizon:  # else no reward is drawn, and any number of steps takes no time
            end = min(end, t + POLL_STEPS)
        while t < end:
            steps, last = deal_out(rows, data, end - t, round.until <= horizon, run.clip)
            if steps < 0:
                return steps
            t += steps
        if t >= round.until:
            round, active = end_round(policy, rows, t, clock_now(run, t, 0.0), round, rng)
            if active < 0:
                return active
        record_step(run, t, rows[last]["number"], round.number, active)
        at = record_if_due(run, t, at)
        if run.stop[0]:
            return STOPPED
    return finish(run, round.number, t) if t < horizon else t

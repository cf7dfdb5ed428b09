"""One run of a policy whose arms take turns: the pulls of many turns are dealt out at once.

Between two rounds no reward matters, so how often each arm is pulled until then is known beforehand. The
rewards are drawn arm by arm, and where no round follows that could look at them, not at all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.compile import compiled
from lowregret.engine.rewards import exhausted, nth_reward, reward_source
from lowregret.engine.rng import Rng
from lowregret.engine.rules import rules_of
from lowregret.engine.simulated_run import (
    POLL_STEPS,
    STOPPED,
    Run,
    clock_now,
    finish,
    record_if_due,
    record_step,
    warm_up,
)
from lowregret.engine.state import Floats, Rows
from lowregret.engine.statistics import add_reward, clipped, read_sums, write_sums
from lowregret.engine.step import count_active, end_round
from lowregret.policies import NEVER
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
    """Pull the arms in turn for at most a number of steps; give how many, or -1 - i, and the last arm."""
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


def play_round_robin(policy: Any, first: Any, rng: Rng, run: Run) -> int:
    """Play one run of a policy whose arms take turns."""
    rows, data, horizon, grid, path = run.rows, run.data, run.horizon, run.grid, run.path
    round = first
    t, at = warm_up(policy, rng, round.number, run)
    if t < 0:
        return t
    left = count_active(rows)
    while t < horizon and (left > 1 or not rules_of(policy).eliminates_permanently):
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
            round, left = end_round(policy, rows, t, clock_now(run, t, 0.0), round, rng)
            if left < 0:
                return left
        record_step(run, t, rows[last]["number"], round.number, left)
        at = record_if_due(run, t, at)
        if run.stop[0]:
            return STOPPED
    return finish(run, round.number, t) if t < horizon else t

"""Replay of a log with a policy and of resamples of the log: compiled, over threads."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.backends.threads import run_in_threads
from lowregret.engine.bridge.compiler import entry
from lowregret.engine.failures import call, raise_for
from lowregret.engine.kernels.exceedances import new_scores
from lowregret.engine.kernels.log_replay import LogArrays, Replay, replay_runs
from lowregret.engine.kernels.runs import new_memory
from lowregret.engine.kernels.state import GIVEN, ArmTable, new_rows
from lowregret.engine.problem import Control
from lowregret.engine.start import new_rewards, start
from lowregret.policies import Policy


class ReplayOutcome(NamedTuple):
    """The replays with one policy: rows matched and the sum of their rewards, and the rows of replay 0."""

    matched: Integers
    total: Floats
    events: Integers


def replay(
    policy: Policy,
    log: LogArrays,
    arms: int,
    horizon: int,
    resamples: int,
    seed: int,
    clip: bool,
    control: Control,
) -> ReplayOutcome:
    """Replay a log with a policy, and resamples of the log; each replay ends at the horizon."""
    rows = new_rows(arms, policy)
    rows["kind"] = GIVEN
    runs = Replay(start(policy, rows, horizon), rows, log, horizon, clip, np.uint64(seed), control.halt)
    matched, total = np.zeros(1 + resamples, np.int64), np.zeros(1 + resamples)
    longest = min(horizon, len(log.arm))
    events, none = np.zeros(longest, np.int64), np.zeros(0, np.int64)

    def block(start: int, stop: int) -> int:
        outputs = matched[start:stop], total[start:stop], none if start else events
        memory = new_memory(ArmTable(rows, new_rewards(policy, arms, longest)))
        arguments = runs, start, *outputs, memory, new_scores(policy, arms)
        raise_for(policy, call(entry(replay_runs, policy, *arguments), policy, *arguments))
        return stop - start

    steps = len(log.arm) + longest * arms
    run_in_threads(block, 1, steps, replace(control, threads=1))
    if resamples:
        run_in_threads(lambda start, stop: block(start + 1, stop + 1), resamples, steps, control)
    return ReplayOutcome(matched, total, events[: matched[0]])

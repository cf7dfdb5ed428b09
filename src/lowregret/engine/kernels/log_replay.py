"""A policy on a log of pulls that others made.

The policy is asked for an arm, and its answer stands until a row of the log has that arm and is accepted.
The policy learns the reward of that row and is asked again. Resample 0 is the log as it is. Each further one
is as many of its rows, drawn with replacement.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled
from lowregret.engine.kernels.rng import ACCEPT_STREAM, RESAMPLE_STREAM, Rng, shuffle, stream, uniform
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.runs import RunMemory, prepare_run
from lowregret.engine.kernels.simulated_run import STOPPED
from lowregret.engine.kernels.state import Rows
from lowregret.engine.kernels.statistics import best_mean, clipped
from lowregret.engine.kernels.step import NOT_A_NUMBER, choose, count_active, in_warmup, update
from lowregret.policies.views import clock_at


class LogArrays(NamedTuple):
    """A log as kernels read it: the number of the arm and the reward of every row.

    ``share`` is the probability with which a row is accepted where the policy wants its arm.
    """

    arm: Integers
    reward: Floats
    share: Floats


def replay_runs(
    policy: Any,
    clip: bool,
    first: Any,
    arms: Rows,
    log: LogArrays,
    seed: Any,
    start: int,
    horizon: int,
    matched: Integers,
    total: Floats,
    events: Integers,
    stop: Integers,
    memory: RunMemory,
    scores: Floats,
) -> int:
    """Read the log as often as the outputs have entries, the first time as resample number ``start``."""
    rows, rng = memory.rows, Rng(memory.states[0], memory.rewards, None)
    for number in range(start, start + len(matched)):
        shuffle(seed, number, memory.order)
        prepare_run(arms, seed, number, memory)
        answer, earned = replay_once(
            policy, clip, first, rng, rows, log, seed, number, horizon, events, stop, scores
        )
        if answer < 0:
            return answer
        matched[number - start], total[number - start] = answer, earned
    return 0


@compiled
def replay_once(
    policy: Any,
    clip: bool,
    first: Any,
    rng: Rng,
    rows: Rows,
    log: LogArrays,
    seed: Any,
    number: int,
    horizon: int,
    events: Integers,
    stop: Integers,
    scores: Floats,
) -> tuple[int, float]:
    """Read a log once; return how many rows matched, or a negative number, and the sum of their rewards."""
    size, round, rules = len(rows), first, rules_of(policy)
    active = count_active(rows)
    warm_steps, t, event, earned = rules.warmup * active, 0, 0, 0.0
    while t < horizon:
        warm = t < warm_steps or (rules.admits_later and in_warmup(rows, rules.warmup))
        clock = clock_at(t + 1, horizon, size, best_mean(rows) if rules.uses_best else 0.0)
        place = choose(policy, rows, clock, round, rng, scores, warm, active, 0)
        if place < 0:
            return NOT_A_NUMBER, 0.0
        event, at = search(log, rows[place]["number"], event, seed, number)
        if at < 0:
            break
        t, x = t + 1, log.reward[at]
        earned += x
        if len(events) > 0:
            events[t - 1] = at
        round, active = update(policy, rows, place, clipped(x, clip), t, clock, round, rng, warm, active)
        if active < 0:
            return active, 0.0
        if stop[0]:
            return STOPPED, 0.0
    return t, earned


@compiled
def search(log: LogArrays, wanted: int, event: int, seed: Any, number: int) -> tuple[int, int]:
    """Read on to the next accepted row of an arm; return how many rows are read, and the row or -1."""
    rows = stream(seed, number, RESAMPLE_STREAM)
    draws = stream(seed, number, ACCEPT_STREAM)
    size = len(log.arm)
    while event < size:
        at = event if number == 0 else int(uniform(rows, event) * size)
        event += 1
        if log.arm[at] == wanted and (log.share[at] >= 1.0 or uniform(draws, event) < log.share[at]):
            return event, at
    return event, -1

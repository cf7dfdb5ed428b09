"""A policy on a log of pulls that others made.

The policy is asked for an arm, and its answer stands until a row of the log has that arm and is accepted.
The policy learns the reward of that row and is asked again. Resample 0 is the log as it is. Each further one
is as many of its rows, drawn with replacement.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled
from lowregret.engine.kernels.rng import ACCEPT_STREAM, RESAMPLE_STREAM, Rng, stream, uniform
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.runs import RunMemory, prepare_run
from lowregret.engine.kernels.state import Rows, State
from lowregret.engine.kernels.statistics import best_mean, clipped
from lowregret.engine.kernels.step import choose, count_active, in_warmup, update
from lowregret.engine.status import NOT_A_NUMBER, PLAYING, STOPPED
from lowregret.policies.views import clock_at


class LogArrays(NamedTuple):
    """A log as kernels read it: the number of the arm and the reward of every row.

    ``share`` is the probability with which a row is accepted where the policy wants its arm.
    """

    arm: Integers
    reward: Floats
    share: Floats


class Replay(NamedTuple):
    """What all replays of a log share."""

    first_round: Any
    arms: Rows
    log: LogArrays
    horizon: int
    clip: bool  # whether the policy sees rewards clipped to [0, 1]
    seed: Any
    stop: Integers


def replay_runs(
    policy: Any,
    replay: Replay,
    start: int,
    matched: Integers,
    total: Floats,
    events: Integers,
    memory: RunMemory,
    scores: Floats,
) -> int:
    """Read the log as often as the outputs have entries, the first time as resample number ``start``."""
    for number in range(start, start + len(matched)):
        prepare_run(replay.arms, replay.seed, number, True, memory)
        state, earned = replay_once(policy, replay, number, memory, events, scores)
        if state.status < 0:
            return state.status
        matched[number - start], total[number - start] = state.t, earned
    return PLAYING


@compiled
def replay_once(
    policy: Any, replay: Replay, number: int, memory: RunMemory, events: Integers, scores: Floats
) -> tuple[State, float]:
    """Read a log once; return the state, in which ``t`` rows have matched, and the sum of their rewards."""
    first, _, log, horizon, clip, seed, stop = replay
    table, rng, rules = memory.table, Rng(memory.states[0]), rules_of(policy)
    rows = table.rows
    state = State(first, count_active(rows), 0, 0, PLAYING)
    warm_steps, event, earned = rules.warmup * state.active_arms, 0, 0.0
    while state.t < horizon and state.status == PLAYING:
        round, active, t, _, _ = state
        warm = t < warm_steps or (rules.admits_later and in_warmup(rows, rules.warmup))
        clock = clock_at(t + 1, horizon, len(rows), best_mean(table) if rules.uses_best else 0.0)
        place = choose(policy, table, state, clock, rng, scores, warm, 0)
        if place < 0:
            return State(round, active, t, 0, NOT_A_NUMBER), 0.0
        event, at = next_accepted(log, rows[place]["number"], event, seed, number)
        if at < 0:
            break
        t, x = t + 1, log.reward[at]
        earned += x
        if len(events) > 0:
            events[t - 1] = at
        status = STOPPED if stop[0] else PLAYING
        state = update(
            policy, table, State(round, active, t, 0, status), place, clipped(x, clip), clock, rng, warm
        )
    return state, earned


@compiled
def next_accepted(log: LogArrays, wanted: int, event: int, seed: Any, number: int) -> tuple[int, int]:
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

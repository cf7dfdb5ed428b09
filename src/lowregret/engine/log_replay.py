"""Walk a policy through a log of pulls that others made: compiled, over threads.

The policy is asked for an arm, and its answer stands until a row of the log has that arm and is accepted.
The policy learns the reward of that row and is asked again. Walk 0 reads the log as it is. Each further walk
reads a resample of it: as many rows, drawn with replacement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lowregret.engine.compile import compiled, entry
from lowregret.engine.cpu import raise_for, share_out
from lowregret.engine.rewards import GIVEN
from lowregret.engine.rng import ACCEPT_STREAM, RESAMPLE_STREAM, Rng, shuffle, stream, uniform
from lowregret.engine.rules import rules_of
from lowregret.engine.simulated_run import STOPPED, Scratch, new_scratch, prepare_run
from lowregret.engine.state import Floats, Integers, Rows, new_rows, start
from lowregret.engine.statistics import best_mean, clipped
from lowregret.engine.step import NOT_A_NUMBER, choose, count_active, in_warmup, update
from lowregret.policies import Policy
from lowregret.policies.views import clock_at


class Pages(NamedTuple):
    """A log as the engine reads it: the number of the arm and the reward of every row.

    ``share`` is the probability with which a row is accepted where the policy wants its arm.
    """

    arm: Integers
    reward: Floats
    share: Floats


class Walks(NamedTuple):
    """What the walks of one policy gave: rows matched and their rewards' sum, and the rows of walk 0."""

    matched: Integers
    total: Floats
    events: Integers


def replay(
    policy: Policy,
    pages: Pages,
    arms: int,
    horizon: int,
    resamples: int,
    seed: int,
    clip: bool = False,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Walks:
    """Walk a policy through a log once, and through resamples of it; each walk ends at the horizon.

    A walk depends on the seed and its number alone, and walk w of every policy reads the same rows.
    """
    rows = new_rows(arms, policy)
    rows["kind"] = GIVEN
    first = start(policy, rows, horizon)
    matched, total = np.zeros(1 + resamples, np.int64), np.zeros(1 + resamples)
    longest = min(horizon, len(pages.arm))
    events, none, halt = (np.zeros(size, np.int64) for size in (longest, 0, 1))

    def block(start: int, stop: int) -> int:
        outputs = matched[start:stop], total[start:stop], none if start else events, halt
        key = np.uint64(seed)
        arguments = (
            clip,
            first,
            rows,
            pages,
            key,
            start,
            horizon,
            *outputs,
            new_scratch(policy, rows, longest),
        )
        raise_for(policy, entry(_walk_all, policy, *arguments)(policy, *arguments))
        return stop - start

    steps = len(pages.arm) + longest * arms
    share_out(block, 1, steps, 1, halt, progress)
    if resamples:
        later = lambda start, stop: block(start + 1, stop + 1)  # noqa: E731
        share_out(later, resamples, steps, threads, halt, progress)
    return Walks(matched, total, events[: matched[0]])


def _walk_all(
    policy: Any,
    clip: bool,
    first: Any,
    given: Rows,
    pages: Pages,
    seed: np.uint64,
    start: int,
    horizon: int,
    matched: Integers,
    total: Floats,
    events: Integers,
    stop: Integers,
    scratch: Scratch,
) -> int:
    """Make as many walks as the outputs have places, the first being walk number ``start``."""
    rows, rng = scratch.rows, Rng(scratch.states[0], scratch.rewards)
    for number in range(start, start + len(matched)):
        shuffle(seed, number, scratch.order)
        prepare_run(given, seed, number, scratch)
        answer, earned = walk(
            policy, clip, first, rng, rows, pages, seed, number, horizon, events, stop, scratch.scores
        )
        if answer < 0:
            return answer
        matched[number - start], total[number - start] = answer, earned
    return 0


@compiled
def walk(
    policy: Any,
    clip: bool,
    first: Any,
    rng: Rng,
    rows: Rows,
    pages: Pages,
    seed: np.uint64,
    number: int,
    horizon: int,
    events: Integers,
    stop: Integers,
    scores: Floats,
) -> tuple[int, float]:
    """Make one walk; give how many rows matched, or a negative number, and the sum of their rewards."""
    size, round, rules = len(rows), first, rules_of(policy)
    left = count_active(rows)
    warm_steps, t, event, earned = rules.warmup * left, 0, 0, 0.0
    while t < horizon:
        warm = t < warm_steps or (rules.admits_later and in_warmup(rows, rules.warmup))
        clock = clock_at(t + 1, horizon, size, best_mean(rows) if rules.uses_best else 0.0)
        place = choose(policy, rows, clock, round, rng, scores, warm, left, 0)
        if place < 0:
            return NOT_A_NUMBER, 0.0
        event, at = search(pages, rows[place]["number"], event, seed, number)
        if at < 0:
            break
        t, x = t + 1, pages.reward[at]
        earned += x
        if len(events) > 0:
            events[t - 1] = at
        round, left = update(policy, rows, place, clipped(x, clip), t, clock, round, rng, warm, left)
        if left < 0:
            return left, 0.0
        if stop[0]:
            return STOPPED, 0.0
    return t, earned


@compiled
def search(pages: Pages, wanted: int, event: int, seed: np.uint64, number: int) -> tuple[int, int]:
    """Read on to the next accepted row of an arm; give how many rows are read, and the row or -1."""
    rows = stream(seed, number, RESAMPLE_STREAM)
    draws = stream(seed, number, ACCEPT_STREAM)
    size = len(pages.arm)
    while event < size:
        at = event if number == 0 else int(uniform(rows, event) * size)
        event += 1
        if pages.arm[at] == wanted and (pages.share[at] >= 1.0 or uniform(draws, event) < pages.share[at]):
            return event, at
    return event, -1

"""Walk a policy through a log of pulls that others made: compiled, over threads.

The policy is asked for an arm, and its answer stands until a row of the log has that arm and is accepted.
The policy learns the reward of that row and is asked again. Walk 0 reads the log as it is. Each further walk
reads a resample of it: as many rows, drawn with replacement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lowregret.engine.compile import compiled
from lowregret.engine.cpu import call, rules_of, share_out
from lowregret.engine.protocol import begin, book, open_arms
from lowregret.engine.rng import ACCEPT_STREAM, RESAMPLE_STREAM, Rng, shuffle, stream, uniform
from lowregret.engine.run_parts import (
    NOT_A_NUMBER,
    STOPPED,
    Rules,
    Scratch,
    best_mean,
    clock_now,
    lay_out,
    scratch,
)
from lowregret.engine.scan import first_active
from lowregret.engine.state import GIVEN, ROW, Floats, Integers, Rows
from lowregret.engine.step import active_place, choose, decided, settle
from lowregret.policies import Arms, Policy, clock_at


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
    first = begin(policy, clock_at(0, horizon, arms, 0.0))
    rows = fresh_rows(arms)
    open_arms(policy, rows)
    matched, total = np.zeros(1 + resamples, np.int64), np.zeros(1 + resamples)
    longest = min(horizon, len(pages.arm))
    events, none, halt = (np.zeros(size, np.int64) for size in (longest, 0, 1))
    rules = rules_of(policy, clip)

    def block(start: int, stop: int) -> int:
        outputs = matched[start:stop], total[start:stop], none if start else events, halt
        key = np.uint64(seed)
        call(_walk_all, policy, rules, first, rows, pages, key, start, horizon, *outputs, scratch(rows))
        return stop - start

    block(0, 1)
    if progress:
        progress(1)
    if resamples:
        share_out(
            lambda start, stop: block(start + 1, stop + 1),
            resamples,
            len(pages.arm) + longest * arms,
            threads,
            halt,
            progress,
        )
    return Walks(matched, total, events[: matched[0]])


def fresh_rows(arms: int) -> Rows:
    """Make the table of arms whose rewards come from a log."""
    rows = np.zeros(arms, ROW)
    rows["number"] = np.arange(arms)
    rows["kind"] = GIVEN
    rows["active"] = True
    return rows


def _walk_all(
    policy: Any,
    rules: Rules,
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
    rows, rng = scratch.rows, Rng(scratch.states[0])
    for number in range(start, start + len(matched)):
        shuffle(seed, number, scratch.order)
        lay_out(given, seed, number, scratch)
        answer, earned = walk(
            policy, rules, first, rng, rows, pages, seed, number, horizon, events, stop, scratch.scores
        )
        if answer < 0:
            return answer
        matched[number - start], total[number - start] = answer, earned
    return 0


@compiled
def walk(
    policy: Any,
    rules: Rules,
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
    size, round, opened = len(rows), first, Arms(rows).left()
    left, t, event, earned = opened, 0, 0, 0.0
    while t < horizon:
        step = t + 1
        clock = clock_now(step, horizon, size, best_mean(rows) if rules.uses_best else 0.0)
        warm, over = step <= rules.warmup * opened, decided(policy, rules, left)
        if warm:
            place = active_place(rows, t % opened)
        elif over:
            place = first_active(rows)
        else:
            place = choose(policy, rows, clock, round, rng, scores)
            if place < 0:
                return NOT_A_NUMBER, 0.0
        event, at = search(pages, rows[place]["number"], event, seed, number)
        if at < 0:
            break
        t, x = step, pages.reward[at]
        Arms(rows).observe(place, book(policy, x, rules.clip, rng))
        earned += x
        if len(events) > 0:
            events[t - 1] = at
        if not warm and not over:
            round, left = settle(policy, rules, rows, place, clock, round, rng, left)
            if left < 0:
                return left, 0.0
        if stop[0]:
            return STOPPED, 0.0
    return t, earned


@compiled
def search(pages: Pages, wanted: int, event: int, seed: np.uint64, number: int) -> tuple[int, int]:
    """Read on to the next accepted row of an arm; give how many rows are read, and the row or -1."""
    rows = stream(seed, number, RESAMPLE_STREAM)
    coins = stream(seed, number, ACCEPT_STREAM)
    size = len(pages.arm)
    while event < size:
        at = event if number == 0 else int(uniform(rows, event) * size)
        event += 1
        if pages.arm[at] == wanted and (pages.share[at] >= 1.0 or uniform(coins, event) < pages.share[at]):
            return event, at
    return event, -1

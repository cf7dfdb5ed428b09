"""The definition of correct: runs in plain Python that look at all arms at every step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lowregret.engine.arms import Floats, Integers, Rows, deal, reward, rows_of
from lowregret.engine.protocol import begin, lower, turn, value
from lowregret.engine.rng import POLICY_STREAM, Rng, shuffle, stream
from lowregret.environments import Bandit
from lowregret.errors import InputError
from lowregret.policies import Arms, Clock, Policy


class Played(NamedTuple):
    """One run: arm, round and number of active arms after each step; elimination times by arm."""

    arm: Integers
    round: Integers
    active: Integers
    eliminated: Integers


def run(policy: Policy, bandit: Bandit, horizon: int, seed: int, number: int) -> Played:
    """Play run ``number`` of a policy on a bandit, as ``simulate`` does."""
    given = rows_of(bandit)
    rows, order = given.copy(), np.zeros(len(given), np.int64)
    shuffle(np.uint64(seed), number, order)
    deal(given, order, np.uint64(seed), number, rows)
    return play(policy, rows, bandit.data, horizon, policy_rng(seed, number))


def policy_rng(seed: int, number: int) -> Rng:
    """Give a policy's own stream in run ``number``."""
    key = stream(np.uint64(seed), number, POLICY_STREAM)
    return Rng(np.uint64(key), np.zeros(1, np.int64))


def play(policy: Policy, rows: Rows, data: Floats, horizon: int, rng: Rng) -> Played:
    """Play one run on a table of arms, which breaks ties in its own order."""
    arms, size = Arms(rows), len(rows)
    round = begin(policy, Clock(0, horizon, size))
    eliminated = np.zeros(size, np.int64)
    steps = np.zeros((3, horizon), np.int64)
    for t in range(1, horizon + 1):
        clock = Clock(t, horizon, size)
        active = [i for i in range(size) if arms.active(i)]
        decided = len(active) == 1 and policy.final
        if t <= policy.warmup * size:
            chosen = (t - 1) % size
        elif decided:
            chosen = active[0]
        else:
            chosen = _first_best([value(policy, arms.at(i), clock, round, rng) for i in active], active)
        x = reward(rows[chosen], data, int(rows[chosen]["pulls"]) + 1)
        if np.isnan(x):
            raise InputError(f"{policy}: {ran_out(rows[chosen]['number'])}")
        arms.observe(chosen, x)
        if t > policy.warmup * size and not decided:
            largest = max(lower(policy, arms.at(i), clock, round) for i in active)
            for i in active:
                if largest > -np.inf and value(policy, arms.at(i), clock, round, rng) < largest:
                    arms.drop(i)
            if t >= round.until:
                round = turn(policy, arms, clock, round)
                if arms.left() == 0:
                    raise InputError(f"{policy}: {DROPPED_EVERY_ARM}")
            for i in active:
                if not arms.active(i) and eliminated[rows[i]["number"]] == 0:
                    eliminated[rows[i]["number"]] = t
        steps[:, t - 1] = rows[chosen]["number"], round.number, arms.left()
    return Played(steps[0], steps[1], steps[2], eliminated)


DROPPED_EVERY_ARM = "turn dropped every arm; it must leave at least one"


def ran_out(number: int) -> str:
    """Say that a table of given rewards is too short."""
    return f"the rewards of arm {number} ran out: give it a longer row or a shorter horizon"


def _first_best(scores: list[float], places: list[int]) -> int:
    """Give the first of the places with the largest score."""
    if any(score != score for score in scores):
        raise InputError(f"a score must be a number, got nan among {scores}")
    return places[scores.index(max(scores))]

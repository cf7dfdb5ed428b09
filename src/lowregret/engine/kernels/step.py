"""One step of any policy: choose an arm, and update its statistics with a reward.

Both are plain Python that also compiles. The reference engine loops over them in Python; the scan, the replay
of a log and the live agent call them compiled. Arms are named by their place in the table, the order in which
ties are broken. Whatever plays faster (``engine.kernels.lazy``) is tested against them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import by_policy_class, compiled_as, jittable, jittable_inline
from lowregret.engine.kernels.exceedances import largest_sample, update_threshold, without_weight
from lowregret.engine.kernels.observe import observe
from lowregret.engine.kernels.periods import adjust
from lowregret.engine.kernels.posteriors import posterior
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.second_arm import second_arm
from lowregret.engine.kernels.state import CLOSED, Rows
from lowregret.engine.kernels.statistics import best_mean, first_largest
from lowregret.policies import Arm, Arms, Clock, Policy
from lowregret.policies.base import samples_posteriors
from lowregret.policies.views import arm_with_rewards, clock_at

ELIMINATED_ALL, NOT_A_NUMBER = -(2**62), -(2**62) - 1
"""Returned in place of a number of arms: no arm is left, or an index was nan."""


@jittable
def next_in_warmup(rows: Rows, warmup: int) -> int:
    """Return the allowed arm with the fewest pulls of those still in their warm-up, -1 if none is."""
    place, fewest = -1, warmup
    for i in range(len(rows)):
        row = rows[i]
        if row["active"] and row["allowed"]:
            pulls = int(row["pulls"]) + int(row["pending"])
            if pulls < fewest:
                place, fewest = i, pulls
    return place


def in_warmup(rows: Rows, warmup: int) -> bool:
    """Return whether an active arm has fewer rewards than the warm-up gives it."""
    return bool((rows["active"] & (rows["pulls"] < warmup)).any())


@compiled_as(in_warmup)
def _in_warmup(rows: Rows, warmup: int) -> bool:
    """Do what ``in_warmup`` does, without an array."""
    warm = False
    for i in range(len(rows)):
        warm |= bool(rows[i]["active"] and rows[i]["pulls"] < warmup)
    return warm


def count_active(rows: Rows) -> int:
    """Return how many arms are active."""
    return int(np.count_nonzero(rows["active"]))


@compiled_as(count_active)
def _count_active(rows: Rows) -> int:
    """Do what ``count_active`` does, without an array."""
    active = 0
    for i in range(len(rows)):
        active += int(rows[i]["active"])
    return active


@jittable
def is_candidate(row: np.void, playing: int) -> bool:
    """Return whether an arm may be chosen: it is allowed, and active if any allowed arm is."""
    return bool(row["allowed"] and (playing == 0 or row["active"]))


@jittable
def count_playing(rows: Rows) -> int:
    """Return how many arms are allowed and active."""
    playing = 0
    for i in range(len(rows)):
        if rows[i]["allowed"] and rows[i]["active"]:
            playing += 1
    return playing


@jittable
def first_candidate(rows: Rows, playing: int) -> int:
    """Return the candidate with the fewest pending pulls, the first in case of a tie."""
    place = -1
    for i in range(len(rows)):
        if is_candidate(rows[i], playing) and (place < 0 or rows[i]["pending"] < rows[place]["pending"]):
            place = i
    return place


@jittable_inline
def arm_as_seen(policy: Any, rows: Rows, i: int, waiting: int, rng: Rng) -> Arm:
    """Return an arm as it is compared: pending pulls, if any, count at the mean known so far.

    For a policy that does not count them, they do so only until the arm has the pulls of its warm-up, without
    which its index may not exist.
    """
    arm, rules = arm_with_rewards(policy, rows, i, rng.rewards), rules_of(policy)
    pending = int(rows[i]["pending"]) if waiting > 0 else 0
    if not rules.counts_pending:
        pending = max(min(pending, rules.warmup - int(rows[i]["pulls"])), 0)
    return Arm(arm.number, arm.pulls + pending, arm.mean, arm.variance, arm.memory, arm.arms, arm.rewards)


@jittable_inline
def _largest_index(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, scores: Floats, playing: int, waiting: int
) -> int:
    """Return the candidate with the largest index."""
    size = len(rows)
    for i in range(size):
        if playing == size or is_candidate(rows[i], playing):
            scores[i] = policy.arm_index(arm_as_seen(policy, rows, i, waiting, rng), clock, round, rng)
        else:
            scores[i] = -np.inf
    chosen = first_largest(scores)
    if chosen < 0:
        return chosen
    if waiting > 0 or scores[chosen] == -np.inf:
        best = scores[chosen]
        chosen = -1
        for i in range(size):
            equal = scores[i] == best and is_candidate(rows[i], playing)
            if equal and (chosen < 0 or rows[i]["pending"] < rows[chosen]["pending"]):
                chosen = i
    return chosen


def _next_on_list(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, scores: Floats, playing: int, waiting: int
) -> int:
    """Return the next arm of the list."""
    return first_candidate(rows, playing)


def _tournament_winner(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, scores: Floats, playing: int, waiting: int
) -> int:
    """Return the winner of a knock-out tournament between the candidates in random order.

    Of ``size`` arms in a row, part k of ``parts`` begins with arm ``k * size // parts``, and ends up with its
    winner in this place. Two parts that are joined differ by one arm at most.
    """
    size = 0
    for i in range(len(rows)):
        if playing == len(rows) or is_candidate(rows[i], playing):
            j = int(rng.uniform() * (size + 1))
            scores[size] = scores[j]
            scores[j] = i
            size += 1
    parts = 1
    while parts < size:
        parts *= 2
    while parts > 1:
        for k in range(1, parts, 2):
            first, second, end = (k - 1) * size // parts, k * size // parts, (k + 1) * size // parts
            if first < second < end:
                one = arm_as_seen(policy, rows, int(scores[first]), waiting, rng)
                other = arm_as_seen(policy, rows, int(scores[second]), waiting, rng)
                if not policy.duel(one, other, clock, rng):
                    scores[first] = scores[second]
        parts //= 2
    return int(scores[0])


def _largest_sample(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, scores: Floats, playing: int, waiting: int
) -> int:
    """Return the candidate with the largest sample; most are not drawn if all arms are candidates."""
    size = len(rows)
    if round.threshold == -np.inf or waiting > 0 or playing < size:
        return _largest_index(policy, rows, clock, round, rng, scores[:size], playing, waiting)
    return largest_sample(policy, rows, round, rng, scores)


def _top_two(
    policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, scores: Floats, playing: int, waiting: int
) -> int:
    """Return the candidate with the largest sample or, as often, another one with that of a later draw."""
    size = len(rows)
    leader = _largest_index(policy, rows, clock, round, rng, scores[:size], playing, waiting)
    if leader < 0 or rng.uniform() < policy.leader_share:
        return leader
    first, second = scores[:size], scores[size : 2 * size]
    for i in range(size):
        first[i] = np.nan
        if playing == size or is_candidate(rows[i], playing):
            first[i], second[i] = posterior(policy, arm_as_seen(policy, rows, i, waiting, rng))
    return second_arm(policy, leader, first, second, scores[2 * size : 3 * size], rng)


@by_policy_class
def best_candidate(kind: type[Policy]) -> Any:
    """Return the place of the arm that the policy prefers, -1 if an index is nan."""
    if kind.top_two:
        return _top_two
    if kind.overrides("duel"):
        return _tournament_winner
    if kind.overrides("list_index"):
        return _next_on_list
    return _largest_sample if samples_posteriors(kind) else _largest_index


@jittable_inline
def choose(
    policy: Any,
    rows: Rows,
    clock: Clock,
    round: Any,
    rng: Rng,
    scores: Floats,
    warm: bool,
    playing: int,
    waiting: int,
) -> int:
    """Return the place of the arm to pull next, -1 if an index is nan.

    ``warm`` says whether an arm may still be in its warm-up, ``playing`` how many arms are allowed and
    active: if none is, those that were eliminated are compared. ``waiting`` is the number of pending pulls;
    with any, a tie goes to the arm with the fewest of them, then to the first. ``scores`` is working memory.
    """
    rules = rules_of(policy)
    if warm:
        place = next_in_warmup(rows, rules.warmup)
        if place >= 0:
            return place
    if playing == 1 and rules.eliminates_permanently:
        return first_candidate(rows, playing)
    return best_candidate(policy, rows, clock, round, rng, scores, playing, waiting)


@jittable
def eliminate_dominated(policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng) -> bool:
    """Eliminate the arms whose index is below the largest lower bound; return whether there was one."""
    highest, eliminated = -np.inf, False
    for i in range(len(rows)):
        if rows[i]["active"]:
            arm = arm_with_rewards(policy, rows, i, rng.rewards)
            highest = max(highest, policy.lower_bound(arm, clock, round))
    if highest > -np.inf:
        for i in range(len(rows)):
            if rows[i]["active"]:
                arm = arm_with_rewards(policy, rows, i, rng.rewards)
                index = policy.arm_index(arm, clock, round, rng)
                if index < highest:
                    rows[i]["active"] = False
                    eliminated = True
    return eliminated


@jittable
def log_eliminated(rows: Rows, t: int) -> int:
    """Record the time of new eliminations; return how many arms are active, ``ELIMINATED_ALL`` if none."""
    active = 0
    for i in range(len(rows)):
        if rows[i]["active"]:
            active += 1
        elif rows[i]["eliminated"] == 0:
            rows[i]["eliminated"] = t
    return active if active > 0 else ELIMINATED_ALL


@jittable
def end_round(policy: Any, rows: Rows, t: int, clock: Clock, round: Any, rng: Rng) -> tuple[Any, int]:
    """Return the following round, and how many arms are active."""
    following = policy.next_round(Arms(policy, rows, rng.rewards), clock, round)
    return following, log_eliminated(rows, t)


def _eliminate_none(
    policy: Any, rows: Rows, place: int, t: int, clock: Clock, round: Any, rng: Rng, active: int
) -> tuple[Any, int]:
    """Leave all arms as they are, for a policy without lower bounds and rounds."""
    return round, active


def _eliminate(
    policy: Any, rows: Rows, place: int, t: int, clock: Clock, round: Any, rng: Rng, active: int
) -> tuple[Any, int]:
    """Eliminate dominated arms, and end the round if it is due."""
    if rules_of(policy).eliminates_dominated and eliminate_dominated(policy, rows, clock, round, rng):
        active = log_eliminated(rows, t)
    if t >= round.until and active > 0:
        round, active = end_round(policy, rows, t, clock, round, rng)
    return round, active


def _extend_list(
    policy: Any, rows: Rows, place: int, t: int, clock: Clock, round: Any, rng: Rng, active: int
) -> tuple[Any, int]:
    """Take the pulled arm off the list, and put arms with a positive index on the next one.

    Returns as the number of arms those on the present list.
    """
    best = best_mean(rows) if rules_of(policy).uses_best else 0.0  # which the reward has changed
    after = clock_at(clock.t, clock.horizon, clock.arms, best)
    remaining, listed = 0, 0
    rows[place]["active"] = False
    for i in range(len(rows)):
        if rows[i]["active"]:
            remaining += 1
        elif rows[i]["eliminated"] != CLOSED:
            arm = arm_with_rewards(policy, rows, i, rng.rewards)
            index = policy.arm_index(arm, after, round, rng)
            if index != index:
                return round, NOT_A_NUMBER
            if index > 0.0:
                rows[i]["listed"] = True
            if rows[i]["listed"]:
                listed += 1
    return round, remaining if remaining > 0 else start_list(rows, listed)


@jittable
def start_list(rows: Rows, listed: int) -> int:
    """Start the next list with the listed arms, or with all if there are none; return how many they are."""
    active = 0
    for i in range(len(rows)):
        if rows[i]["listed"] or (listed == 0 and rows[i]["eliminated"] != CLOSED):
            rows[i]["active"] = True
            active += 1
        rows[i]["listed"] = False
    return active


def _keep_round(policy: Any, rows: Rows, place: int, round: Any, rng: Rng) -> Any:
    """Return the round as it is, for a policy without a threshold."""
    return round


@by_policy_class
def before_reward(kind: type[Policy]) -> Any:
    """Return the round without the arm that is about to change."""
    return without_weight if samples_posteriors(kind) else _keep_round


@by_policy_class
def after_reward(kind: type[Policy]) -> Any:
    """Change which arms are active, and the round, after a reward; return the round and the active arms."""
    if kind.overrides("list_index"):
        return _extend_list
    if samples_posteriors(kind):
        return update_threshold
    return _eliminate if any(map(kind.overrides, ("first_round", "lower_bound"))) else _eliminate_none


@jittable_inline
def update(
    policy: Any,
    rows: Rows,
    place: int,
    reward: float,
    t: int,
    clock: Clock,
    round: Any,
    rng: Rng,
    warm: bool,
    active: int,
) -> tuple[Any, int]:
    """Add the reward of a pull, then eliminate arms and end the round if that is due.

    ``t`` is the number of rewards known with this one; the clock has the best mean before it. ``warm`` says
    whether an arm was still in its warm-up: then no arm is eliminated. Returns the round, and how many arms
    are active: ``ELIMINATED_ALL`` if none is, ``NOT_A_NUMBER`` if an index is nan.
    """
    rules = rules_of(policy)
    round = before_reward(policy, rows, place, round, rng)
    observe(policy, rows, place, reward, clock, rng)
    adjust(rows, place, rules.warmup, rng.periods)
    if warm or (active == 1 and rules.eliminates_permanently and not rules.plays_lists):
        return round, active
    return after_reward(policy, rows, place, t, clock, round, rng, active)

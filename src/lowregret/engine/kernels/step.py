"""One step of any policy: choose an arm, and update its statistics with a reward.

Both are plain Python that also compiles. The reference engine loops over them in Python; the scan, the replay
of a log and the live agent call them compiled. Arms are named by their place in the table, the order in which
ties are broken. Whatever plays faster (``engine.kernels.lazy``) is tested against them.

Where rewards are delayed, the clock is ``clock_with_pending``, and who plays counts in the row of an arm
which of its pulls are ``pending``. Arms are eliminated and rounds end by the ``State.t`` known rewards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import by_policy_class, compiled_as, jittable, jittable_inline
from lowregret.engine.kernels.exceedances import largest_sample, update_threshold, without_weight
from lowregret.engine.kernels.posteriors import posterior
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.second_arm import second_arm
from lowregret.engine.kernels.state import CLOSED, ArmTable, Rows, State
from lowregret.engine.kernels.statistics import best_mean, first_largest, observe
from lowregret.engine.status import ELIMINATED_ALL, NOT_A_NUMBER, PLAYING
from lowregret.policies import Arm, Arms, Clock, Policy
from lowregret.policies.base import samples_posteriors, takes_rng
from lowregret.policies.views import UNDATED, arm_view, clock_at


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
def arm_as_seen(policy: Any, table: ArmTable, i: int, waiting: int) -> Arm:
    """Return an arm as it is compared: pending pulls, if any, count at the mean known so far.

    For a policy that does not count them, they do so only until the arm has the pulls of its warm-up, without
    which its index may not exist.
    """
    arm, rules, row = arm_view(policy, table, i), rules_of(policy), table.rows[i]
    pending = int(row["pending"]) if waiting > 0 else 0
    if not rules.counts_pending:
        pending = max(min(pending, rules.warmup - int(row["pulls"])), 0)
    return Arm(arm.number, arm.pulls + pending, arm.mean, arm.variance, arm.memory, arm.arms, arm.rewards)


@jittable_inline
def _largest_index(
    policy: Any, table: ArmTable, state: State, clock: Clock, rng: Rng, scores: Floats, waiting: int
) -> int:
    """Return the candidate with the largest index."""
    rows, playing, size = table.rows, state.active_arms, len(table.rows)
    for i in range(size):
        if playing == size or is_candidate(rows[i], playing):
            scores[i] = policy.arm_index(arm_as_seen(policy, table, i, waiting), clock, state.round, rng)
        else:
            scores[i] = -np.inf
    chosen = first_largest(scores)
    if chosen < 0:
        return chosen
    if (waiting > 0 and not table.ties_first) or scores[chosen] == -np.inf:
        best = scores[chosen]
        chosen = -1
        for i in range(size):
            equal = scores[i] == best and is_candidate(rows[i], playing)
            if equal and (chosen < 0 or rows[i]["pending"] < rows[chosen]["pending"]):
                chosen = i
    return chosen


def _next_on_list(
    policy: Any, table: ArmTable, state: State, clock: Clock, rng: Rng, scores: Floats, waiting: int
) -> int:
    return first_candidate(table.rows, state.active_arms)


def _tournament_winner(
    policy: Any, table: ArmTable, state: State, clock: Clock, rng: Rng, scores: Floats, waiting: int
) -> int:
    """Return the winner of a knock-out tournament between the candidates in random order.

    Of ``size`` arms in a row, part k of ``parts`` begins with arm ``k * size // parts``, and ends up with its
    winner in this place. Two parts that are joined differ by one arm at most.
    """
    rows, playing, size = table.rows, state.active_arms, 0
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
                one = arm_as_seen(policy, table, int(scores[first]), waiting)
                other = arm_as_seen(policy, table, int(scores[second]), waiting)
                if not policy.duel(one, other, clock, rng):
                    scores[first] = scores[second]
        parts //= 2
    return int(scores[0])


def _largest_sample(
    policy: Any, table: ArmTable, state: State, clock: Clock, rng: Rng, scores: Floats, waiting: int
) -> int:
    """Return the candidate with the largest sample; most are not drawn if all arms are candidates."""
    size = len(table.rows)
    if state.round.threshold == -np.inf or waiting > 0 or state.active_arms < size:
        return _largest_index(policy, table, state, clock, rng, scores[:size], waiting)
    return largest_sample(policy, table, state.round, rng, scores)


def _top_two(
    policy: Any, table: ArmTable, state: State, clock: Clock, rng: Rng, scores: Floats, waiting: int
) -> int:
    """Return the candidate with the largest sample or, as often, another one with that of a later draw."""
    rows, playing, size = table.rows, state.active_arms, len(table.rows)
    leader = _largest_index(policy, table, state, clock, rng, scores[:size], waiting)
    if leader < 0 or rng.uniform() < policy.leader_share:
        return leader
    first, second = scores[:size], scores[size : 2 * size]
    for i in range(size):
        first[i] = np.nan
        if playing == size or is_candidate(rows[i], playing):
            first[i], second[i] = posterior(policy, arm_as_seen(policy, table, i, waiting))
    return second_arm(policy, leader, first, second, scores[2 * size : 3 * size], rng)


@by_policy_class
def chosen_place(kind: type[Policy]) -> Any:
    """Return the place that the policy chooses itself."""
    if kind.overrides("first_round"):
        return lambda policy, arms, clock, rng, round: policy.choose(arms, clock, rng, round)
    return lambda policy, arms, clock, rng, round: policy.choose(arms, clock, rng)


def _own_choice(
    policy: Any, table: ArmTable, state: State, clock: Clock, rng: Rng, scores: Floats, waiting: int
) -> int:
    """Return the place that the policy chooses; if that arm may not be pulled, that of one which may."""
    arms = Arms(policy, table)
    place = int(chosen_place(policy, arms, clock, rng, state.round))
    arms.active(place)  # raises for a place without an arm
    if not is_candidate(table.rows[place], state.active_arms):
        return first_candidate(table.rows, state.active_arms)
    return place if place >= 0 else place + len(table.rows)


@by_policy_class
def best_candidate(kind: type[Policy]) -> Any:
    """Return the place of the arm that the policy prefers, -1 if an index is nan."""
    if kind.overrides("choose"):
        return _own_choice
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
    table: ArmTable,
    state: State,
    clock: Clock,
    rng: Rng,
    scores: Floats,
    warm: bool,
    waiting: int,
) -> int:
    """Return the place of the arm to pull next, -1 if an index is nan.

    ``state.active_arms`` is how many arms are allowed and active: if none is, those that were eliminated are
    compared. ``warm`` says whether an arm may still be in its warm-up. ``waiting`` is the number of pending
    pulls; with any, a tie goes to the arm with the fewest of them, then to the first. ``scores`` is working
    memory.
    """
    rules = rules_of(policy)
    if warm:
        place = next_in_warmup(table.rows, rules.warmup)
        if place >= 0:
            return place
    if state.active_arms == 1 and rules.eliminates_permanently:
        return first_candidate(table.rows, 1)
    return best_candidate(policy, table, state, clock, rng, scores, waiting)


@jittable
def eliminate_dominated(policy: Any, table: ArmTable, clock: Clock, round: Any, rng: Rng) -> bool:
    """Eliminate the arms whose index is below the largest lower bound; return whether there was one."""
    rows, highest, eliminated = table.rows, -np.inf, False
    for i in range(len(rows)):
        if rows[i]["active"]:
            highest = max(highest, policy.lower_bound(arm_view(policy, table, i), clock, round))
    if highest > -np.inf:
        for i in range(len(rows)):
            if rows[i]["active"]:
                index = policy.arm_index(arm_view(policy, table, i), clock, round, rng)
                if index < highest:
                    rows[i]["active"] = False
                    eliminated = True
    return eliminated


@jittable
def log_eliminated(rows: Rows, t: int) -> int:
    """Record the time of new eliminations; return how many arms are active."""
    active = 0
    for i in range(len(rows)):
        if rows[i]["active"]:
            active += 1
        elif rows[i]["eliminated"] == 0 or rows[i]["eliminated"] == UNDATED:
            rows[i]["eliminated"] = t
    return active


@by_policy_class
def end_round(kind: type[Policy]) -> Any:
    """Return the following round, and how many arms are active."""
    if not kind.overrides("first_round"):
        return lambda policy, table, t, clock, round, rng: (round, count_active(table.rows))
    if takes_rng(kind, "next_round"):
        return lambda policy, table, t, clock, round, rng: (
            policy.next_round(Arms(policy, table), clock, round, rng),
            log_eliminated(table.rows, t),
        )
    return lambda policy, table, t, clock, round, rng: (
        policy.next_round(Arms(policy, table), clock, round),
        log_eliminated(table.rows, t),
    )


def _eliminate(policy: Any, table: ArmTable, state: State, place: int, clock: Clock, rng: Rng) -> State:
    """Eliminate dominated arms, and end the round if it is due."""
    round, active, t, at, status = state
    if rules_of(policy).eliminates_dominated and eliminate_dominated(policy, table, clock, round, rng):
        active = log_eliminated(table.rows, t)
    if t >= round.until and active > 0:
        round, active = end_round(policy, table, t, clock, round, rng)
    return State(round, active, t, at, status if active > 0 else ELIMINATED_ALL)


def _extend_list(policy: Any, table: ArmTable, state: State, place: int, clock: Clock, rng: Rng) -> State:
    """Take the pulled arm off the list, and put arms with a positive index on the next one."""
    rows, round = table.rows, state.round
    best = best_mean(table) if rules_of(policy).uses_best else 0.0  # which the reward has changed
    after = clock_at(clock.t, clock.horizon, clock.arms, best)
    remaining, listed = 0, 0
    rows[place]["active"] = False
    for i in range(len(rows)):
        if rows[i]["active"]:
            remaining += 1
        elif rows[i]["eliminated"] != CLOSED:
            index = policy.arm_index(arm_view(policy, table, i), after, round, rng)
            if index != index:
                return State(round, state.active_arms, state.t, state.recorded, NOT_A_NUMBER)
            if index > 0.0:
                rows[i]["listed"] = True
            if rows[i]["listed"]:
                listed += 1
    remaining = remaining if remaining > 0 else start_list(rows, listed)
    return State(round, remaining, state.t, state.recorded, state.status)


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


def _update_threshold(
    policy: Any, table: ArmTable, state: State, place: int, clock: Clock, rng: Rng
) -> State:
    """Keep the threshold up to date with the arm that has changed."""
    round = update_threshold(policy, table, place, state.t, state.round)
    return State(round, state.active_arms, state.t, state.recorded, state.status)


@by_policy_class
def before_reward(kind: type[Policy]) -> Any:
    """Return the round without the arm that is about to change."""
    return without_weight if samples_posteriors(kind) else lambda policy, table, place, round: round


@jittable
def recommended(policy: Any, table: ArmTable, clock: Clock, alone: bool) -> int:
    """Return the place of the arm that the policy recommends; ``alone`` says that one arm is left."""
    if alone:
        return first_candidate(table.rows, 1)
    place = int(policy.recommend(Arms(policy, table), clock))
    Arms(policy, table).active(place)  # raises for a place without an arm
    return place if place >= 0 else place + len(table.rows)


def _stop_if_due(policy: Any, table: ArmTable, state: State, place: int, clock: Clock, rng: Rng) -> State:
    """End the round if it is due, and commit to the recommended arm if the policy stops."""
    round, active, t, at, status = before_stop(policy, table, state, place, clock, rng)
    rows = table.rows
    if status == PLAYING and active > 1 and policy.stop(Arms(policy, table), clock):
        best = recommended(policy, table, clock, False)
        for i in range(len(rows)):
            rows[i]["active"] = i == best
        active = log_eliminated(rows, t)
    return State(round, active, t, at, status)


@by_policy_class
def after_reward(kind: type[Policy]) -> Any:
    """Return the state after a reward: arms may be eliminated, the round may end, the policy may stop."""
    return _stop_if_due if kind.overrides("stop") else before_stop_of(kind)


def before_stop_of(kind: type[Policy]) -> Any:
    if kind.overrides("list_index"):
        return _extend_list
    if samples_posteriors(kind):
        return _update_threshold
    if any(map(kind.overrides, ("first_round", "lower_bound"))):
        return _eliminate
    return lambda policy, table, state, place, clock, rng: state


before_stop = by_policy_class(before_stop_of)
"""Return the state after a reward, of a policy that then may stop."""


@jittable_inline
def update(
    policy: Any, table: ArmTable, state: State, place: int, reward: float, clock: Clock, rng: Rng, warm: bool
) -> State:
    """Add the reward of a pull, then eliminate arms and end the round if that is due; return the state.

    ``state.t`` is the number of rewards known with this one; the clock has the best mean before it. ``warm``
    says whether an arm was still in its warm-up: then no arm is eliminated.
    """
    rules = rules_of(policy)
    round = before_reward(policy, table, place, state.round)
    observe(policy, table, place, reward, clock, rng)
    after = State(round, state.active_arms, state.t, state.recorded, state.status)
    if warm or (state.active_arms == 1 and rules.ends_alone):
        return after
    return after_reward(policy, table, after, place, clock, rng)


@jittable_inline
def clock_with_pending(policy: Any, t: int, horizon: int, arms: int, best: float, waiting: int) -> Clock:
    """Return the clock at time ``t``; a policy that needs the horizon never sees a later time.

    ``best`` is the largest known mean, minus infinity if no reward is known. While rewards are pending, that
    counts as 0, as the means of arms without a reward do.
    """
    rules = rules_of(policy)
    if rules.uses_best and waiting > 0 and best == -np.inf:
        best = 0.0
    time = min(t, horizon) if rules.needs_horizon else t
    return clock_at(time, horizon, arms, best if rules.uses_best else 0.0)

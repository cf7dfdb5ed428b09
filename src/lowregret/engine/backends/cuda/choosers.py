"""How a thread finds the next arm: a ``Chooser`` for each mode that a GPU has.

``prepare`` is called after the warm-up and wherever a round or an elimination changes more than one arm,
``choose`` at each step, and ``refresh`` after the pull of an arm. Threads of a warp that take different paths
wait for each other, so all take the same path wherever they can.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from numba import int64

from lowregret.engine.backends.cuda.constants import (
    ARMS,
    BOUNDED,
    FEW,
    GROUP,
    GROUPS,
    LANES,
    PADDED,
    REFERENCE,
    WARMUP,
    by_problem,
)
from lowregret.engine.backends.cuda.device import cuda
from lowregret.engine.backends.cuda.table import Table, arm_at, is_active, statistics
from lowregret.engine.kernels import scan
from lowregret.engine.kernels.lazy import (
    constant_index,
    posterior_sampling,
    separable_index,
    time_varying_index,
)
from lowregret.engine.kernels.lazy.leaves import SLACK, slack
from lowregret.engine.kernels.lazy.tournament import MIN_SCORE
from lowregret.engine.kernels.modes import Mode
from lowregret.engine.kernels.posteriors import draw, posterior
from lowregret.engine.kernels.rng import Rng
from lowregret.policies.views import Arm, Clock, clock_at

LOWEST, HIGHEST = 0, 1
"""Places in ``Table.bounds``."""
TIME, PULLS = 0, 1
"""Rows of ``Table.widths``."""
NEVER_EXPIRES, EXPIRED, INVALID = 2**62, 0, -1
"""Values of ``Table.until``: the values hold, they are to be computed anew, one of them is nan."""


def best_of_group(table: Table, group: int) -> tuple[float, int]:
    """Return the largest value of a group, and the first arm that has it."""
    start = group * GROUP
    top, place = table.values[start, table.lane], start
    for k in range(1, GROUP):
        value = table.values[start + k, table.lane]
        if value > top:
            top, place = value, start + k
    return top, place


def rank(table: Table, group: int) -> None:
    """Store the largest value of a group after a change of one; with few arms all are compared anyhow."""
    if not FEW:
        top, place = best_of_group(table, group)
        table.best[group, table.lane], table.leader[group, table.lane] = top, place


def best_in(table: Table, group: int) -> tuple[float, int]:
    """Return the largest value of a group, and the first arm that has it."""
    if FEW:
        return best_of_group(table, group)
    return table.best[group, table.lane], int64(table.leader[group, table.lane])


def leading_arm(table: Table) -> int:
    top, place = best_in(table, 0)
    for g in range(1, GROUPS):
        value, leader = best_in(table, g)
        if value > top:
            top, place = value, leader
    return place


def store_all(policy: Any, table: Table, clock: Clock, round: Any, rng: Rng) -> None:
    """Store the values of all active arms; those of others, and of the rest of the last group, are -inf."""
    for i in range(PADDED):
        table.values[i, table.lane] = -inf
        if i < ARMS and is_active(table, i):
            store(policy, table, i, clock, round, rng)
    for g in range(GROUPS):
        rank(table, g)


def store_score(policy: Any, table: Table, i: int, clock: Clock, round: Any, rng: Rng) -> None:
    """Store the score of an arm, and the smallest one and the largest lower bound.

    No arm is dominated until these two cross. A nan is noted, since it is the largest of all.
    """
    arm, bounds = arm_at(policy, table, i), table.bounds
    score = policy.arm_index(arm, clock, round, rng)
    if score != score:
        table.until[0] = INVALID
    value = max(score, MIN_SCORE)
    table.values[i, table.lane] = value
    if BOUNDED:
        bounds[LOWEST] = min(bounds[LOWEST], value)
        bounds[HIGHEST] = max(bounds[HIGHEST], policy.lower_bound(arm, clock, round))


def prepare_constant(policy: Any, table: Table, clock: Clock, round: Any, rng: Rng) -> None:
    table.bounds[LOWEST], table.bounds[HIGHEST], table.until[0] = inf, -inf, NEVER_EXPIRES
    store_all(policy, table, clock, round, rng)


def choose_constant(policy: Any, table: Table, clock: Clock, round: Any, rng: Rng) -> int:
    return leading_arm(table) if table.until[0] > INVALID else -1


def refresh_constant(policy: Any, table: Table, i: int, clock: Clock, round: Any, rng: Rng) -> None:
    store(policy, table, i, clock, round, rng)
    rank(table, i // GROUP)


def store_bound(policy: Any, table: Table, i: int, clock: Clock, round: Any, rng: Rng) -> None:
    """Store a bound that is not below any earlier score, since scores are rounded; a nan is the largest."""
    score = policy.arm_index(arm_at(policy, table, i), clock, round, rng)
    table.values[i, table.lane] = inf if score != score else max(score, MIN_SCORE) + slack(score)


def prepare_increasing(policy: Any, table: Table, clock: Clock, round: Any, rng: Rng) -> None:
    """Bound the scores of all active arms from above for the next steps, by those at the last of them."""
    until = min(clock.t + max(ARMS, 2) - 1, clock.horizon)
    table.until[0] = until
    store_all(policy, table, clock_at(until, clock.horizon, ARMS, 0.0), round, rng)


def choose_increasing(policy: Any, table: Table, clock: Clock, round: Any, rng: Rng) -> int:
    """Return the arm with the largest score: that of the largest bound, unless another bound exceeds it."""
    place = leading_arm(table)
    group, second = place // GROUP, -inf
    for g in range(GROUPS):
        if g != group:
            second = max(second, best_in(table, g)[0])
    for k in range(GROUP):
        i = group * GROUP + k
        if i != place:
            second = max(second, table.values[i, table.lane])
    top = policy.arm_index(arm_at(policy, table, place), clock, round, rng)
    if top != top:
        return -1
    if second >= top:
        for i in range(ARMS):
            if i != place and table.values[i, table.lane] >= top:
                score = policy.arm_index(arm_at(policy, table, i), clock, round, rng)
                if score != score:
                    return -1
                if score > top or (score == top and i < place):
                    top, place = score, i
    return place


def refresh_increasing(policy: Any, table: Table, i: int, clock: Clock, round: Any, rng: Rng) -> None:
    until = clock_at(int(table.until[0]), clock.horizon, ARMS, 0.0)
    store(policy, table, i, until, round, rng)
    rank(table, i // GROUP)


def width(policy: Any, pulls: int, t: int, horizon: int, round: Any) -> float:
    """Return the score of an arm of mean 0."""
    arm = Arm(0, pulls, 0.0, 0.0, None, None, None)
    return policy.arm_index(arm, clock_at(t, horizon, ARMS, 0.0), round, None)


def fill_widths(policy: Any, first: Any, horizon: int, widths: Any) -> None:
    """Compute, for each number n, the width of one pull at time n, and that of n pulls over that of one."""
    n = cuda.blockIdx.x * LANES + cuda.threadIdx.x + 1
    if n <= horizon:
        if n > WARMUP:  # no score is computed in the warm-up
            widths[TIME, n] = width(policy, 1, n, horizon, first)
        unit = width(policy, 1, REFERENCE, horizon, first)
        widths[PULLS, n] = width(policy, n, REFERENCE, horizon, first) / unit


def prepare_each(policy: Any, table: Table, clock: Clock, round: Any, rng: Rng) -> None:
    """Compute what is kept of each arm as after a pull of it."""
    table.until[0] = NEVER_EXPIRES
    for i in range(ARMS):
        refresh(policy, table, i, clock, round, rng)


def choose_separable(policy: Any, table: Table, clock: Clock, round: Any, rng: Rng) -> int:
    """Return the arm with the largest score: the mean plus the width of its pulls times that of the time.

    This differs from the scores by rounding, so arms within the slack are compared by their scores. Those
    with the same mean and width are not: the first of them comes first.
    """
    factor = table.widths[TIME, clock.t]
    if factor != factor:
        return -1
    top, second, place, mean, spread = -inf, -inf, 0, 0.0, 0.0
    for i in range(ARMS):
        other, wide = table.values[i, table.lane], table.spreads[i, table.column]
        value = other + wide * factor
        if value > top:
            second, top, place, mean, spread = top, value, i, other, wide
        elif other != mean or wide != spread:
            second = max(second, value)
    cutoff = top - 2.0 * SLACK * (1.0 + abs(top))
    if second >= cutoff:
        largest = -inf
        for i in range(ARMS):
            if table.values[i, table.lane] + table.spreads[i, table.column] * factor >= cutoff:
                score = policy.arm_index(arm_at(policy, table, i), clock, round, rng)
                if score > largest:
                    largest, place = score, i
    return place


def refresh_separable(policy: Any, table: Table, i: int, clock: Clock, round: Any, rng: Rng) -> None:
    pulls, mean, _ = statistics(table, i)
    active = is_active(table, i)
    table.values[i, table.lane] = mean if active else -inf
    table.spreads[i, table.column] = table.widths[PULLS, pulls] if active else 0.0


def choose_posterior(policy: Any, table: Table, clock: Clock, round: Any, rng: Rng) -> int:
    top, place = -inf, -1
    for i in range(ARMS):
        if is_active(table, i):
            first, second = table.values[i, table.lane], table.spreads[i, table.column]
            sample = draw(policy, first, second, rng)
            if sample != sample:
                return -1
            if sample > top or place < 0:
                top, place = sample, i
    return place


def refresh_posterior(policy: Any, table: Table, i: int, clock: Clock, round: Any, rng: Rng) -> None:
    table.values[i, table.lane], table.spreads[i, table.column] = posterior(policy, arm_at(policy, table, i))


def prepare_scan(policy: Any, table: Table, clock: Clock, round: Any, rng: Rng) -> None:
    table.until[0] = NEVER_EXPIRES


def choose_scan(policy: Any, table: Table, clock: Clock, round: Any, rng: Rng) -> int:
    """Return the arm with the largest index, all of which are computed."""
    top, place = -inf, -1
    for i in range(ARMS):
        if is_active(table, i):
            index = policy.arm_index(arm_at(policy, table, i), clock, round, rng)
            if index != index:
                return -1
            if index > top or place < 0:
                top, place = index, i
    return place


def refresh_scan(policy: Any, table: Table, i: int, clock: Clock, round: Any, rng: Rng) -> None:
    """Store nothing."""


class Chooser(NamedTuple):
    """The functions of a mode, how it stores a value to compare, and whether it has two for each arm."""

    prepare: Any
    choose: Any
    refresh: Any
    store: Any = None  # None for a mode that compares no values
    keeps_spreads: bool = False


CONSTANT = Chooser(prepare_constant, choose_constant, refresh_constant, store_score)
INCREASING = Chooser(prepare_increasing, choose_increasing, refresh_increasing, store_bound)
SEPARABLE = Chooser(prepare_each, choose_separable, refresh_separable, keeps_spreads=True)
POSTERIOR = Chooser(prepare_each, choose_posterior, refresh_posterior, keeps_spreads=True)
SCAN = Chooser(prepare_scan, choose_scan, refresh_scan)
CHOOSERS: dict[Mode, Chooser] = {
    posterior_sampling: POSTERIOR,
    constant_index: CONSTANT,
    separable_index: SEPARABLE,
    time_varying_index: INCREASING,
    scan: SCAN,
}
"""By the modes of ``kernels.modes``."""
prepare = by_problem(lambda plan: plan.chooser.prepare)
"""Compute what is kept of all arms."""
choose = by_problem(lambda plan: plan.chooser.choose)
"""Return the place of the next arm, -1 if an index is nan."""
refresh = by_problem(lambda plan: plan.chooser.refresh)
"""Follow the pull of one arm."""
store = by_problem(lambda plan: plan.chooser.store)
"""Store by what an arm is compared."""

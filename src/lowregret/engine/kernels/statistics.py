"""The statistics of an arm: sums of its rewards, and ``observe``, which adds a reward to all that is kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret.engine.bridge.compile import by_policy_class, compiled_as, jittable_inline
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.state import ArmTable, add_exactly
from lowregret.policies import Arm, Clock, Policy
from lowregret.policies.base import takes_rng
from lowregret.policies.views import arm_view, mean_of, statistics_of, variance_of


class Sums(NamedTuple):
    """The sums of the ``n`` rewards of an arm that count; it has ``before`` more pulls than these."""

    before: int
    n: int
    origin: float
    total: float
    squares: float


@jittable_inline
def read_sums(row: np.void) -> Sums:
    """Read the sums of an arm."""
    before = row["forgotten"] - row["prior"]
    return Sums(before, row["pulls"] - before, row["origin"], row["total"], row["squares"])


@jittable_inline
def add_reward(sums: Sums, x: float) -> Sums:
    """Return the sums after a reward."""
    origin = x if sums.n == 0 else sums.origin
    distance = x - origin
    squares = sums.squares + distance * distance
    return Sums(sums.before, sums.n + 1, origin, sums.total + distance, squares)


@jittable_inline
def arm_from_sums(policy: Any, table: ArmTable, number: int, sums: Sums) -> Arm:
    """Return an arm of a policy without memory; the table of arms may not have its latest rewards."""
    mean = mean_of(sums.n, sums.origin, sums.total)
    variance = variance_of(sums.n, sums.total, sums.squares)
    return Arm(number, sums.n, mean, variance, None, policy.view_arms(table), None)


@jittable_inline
def write_sums(row: np.void, sums: Sums, mean: float) -> None:
    """Write the sums and the mean of an arm into its row."""
    row["pulls"], row["origin"] = sums.before + sums.n, sums.origin
    row["total"], row["squares"], row["mean"] = sums.total, sums.squares, mean


@jittable_inline
def clipped(reward: float, clip: bool) -> float:
    """Return a reward, clipped to [0, 1] if wanted."""
    return min(max(reward, 0.0), 1.0) if clip else reward


def best_mean(table: ArmTable) -> float:
    """Return the largest mean that the policy sees of an arm with rewards, minus infinity if none has any."""
    rows = table.rows
    if table.adjustment is None:
        counts, means = rows["pulls"] + rows["prior"] - rows["forgotten"], rows["mean"]
    else:
        counts, means, _ = table.adjustment.seen[rows["number"]].T
    return float(means.max(where=counts > 0, initial=-np.inf))


@compiled_as(best_mean)
def _best_mean(table: ArmTable) -> float:
    """Do what ``best_mean`` does, without an array."""
    best = -np.inf
    for i in range(len(table.rows)):
        seen = statistics_of(table.rows[i], table.adjustment)
        if seen.pulls > 0:
            best = max(best, seen.mean)
    return best


@jittable_inline
def first_largest(values: Floats) -> int:
    """Return the place of the first of the largest values, -1 if one is nan."""
    a = b = c = d = -np.inf  # four at a time, since a comparison must wait for the one before it
    i = j = k = m = 0
    nan = False
    fours = len(values) - len(values) % 4
    for n in range(0, fours, 4):
        e, f, g, h = values[n], values[n + 1], values[n + 2], values[n + 3]
        i, j = n if e > a else i, n + 1 if f > b else j
        k, m = n + 2 if g > c else k, n + 3 if h > d else m
        a, b, c, d = max(e, a), max(f, b), max(g, c), max(h, d)
        nan |= (e != e) | (f != f) | (g != g) | (h != h)
    for n in range(fours, len(values)):
        e = values[n]
        i = n if e > a else i
        a = max(e, a)
        nan |= e != e
    i = j if (b > a) | ((b == a) & (j < i)) else i
    a = max(a, b)
    k = m if (d > c) | ((d == c) & (m < k)) else k
    c = max(c, d)
    i = k if (c > a) | ((c == a) & (k < i)) else i
    return -1 if nan else i


@jittable_inline
def _add(policy: Any, table: ArmTable, place: int, x: float, clock: Clock, rng: Rng) -> None:
    """Add a reward to the sums of an arm, and to an adjustment."""
    row = table.rows[place]
    sums = add_reward(read_sums(row), x)
    write_sums(row, sums, mean_of(sums.n, sums.origin, sums.total))
    _adjust(table.adjustment, int(row["number"]), x, rules_of(policy).warmup)


@jittable_inline
def _adjust(adjustment: Any, number: int, x: float, warmup: int) -> None:
    if adjustment is not None:
        adjustment.add(number, x, warmup)


@jittable_inline
def forget_adjustment(adjustment: Any) -> None:
    """Forget what an adjustment, if there is one, knows of an earlier run."""
    if adjustment is not None:
        adjustment.forget()


@jittable_inline
def enter_step(adjustment: Any, t: int) -> None:
    """Tell an adjustment, if there is one, that the next reward is one of decision ``t``."""
    if adjustment is not None:
        adjustment.enter(t)


@by_policy_class
def memory_after(kind: type[Policy]) -> Any:
    """Return the memory of an arm after a reward."""
    if takes_rng(kind, "update_memory"):
        return lambda policy, arm, x, clock, rng: policy.update_memory(arm, x, clock, rng)
    return lambda policy, arm, x, clock, rng: policy.update_memory(arm, x, clock)


def _store(policy: Any, table: ArmTable, place: int, x: float, clock: Clock) -> None:
    row = table.rows[place]
    table.rewards[int(row["number"]), int(row["prior"]) + int(row["pulls"])] = x


def _store_with_time(policy: Any, table: ArmTable, place: int, x: float, clock: Clock) -> None:
    row = table.rows[place]
    number, n = int(row["number"]), int(row["prior"]) + int(row["pulls"])
    table.rewards[number, n, 0] = x
    table.rewards[number, n, 1] = clock.t


def _store_with_total(policy: Any, table: ArmTable, place: int, x: float, clock: Clock) -> None:
    row = table.rows[place]
    number, n = int(row["number"]), int(row["prior"]) + int(row["pulls"])
    table.rewards[number, n, 0] = x
    table.rewards[number, n, 1] = add_exactly(table.rewards[number, n - 1, 1] if n > 0 else 0.0, x)


@by_policy_class
def store_reward(kind: type[Policy]) -> Any:
    """Store the next reward of an arm, if the policy looks at its rewards."""
    if not kind.uses_rewards:
        return lambda policy, table, place, x, clock: None
    if kind.uses_totals:
        return _store_with_total
    return _store_with_time if kind.uses_times else _store


def _observe(policy: Any, table: ArmTable, place: int, reward: float, clock: Clock, rng: Rng) -> None:
    x = policy.transform_reward(reward, rng)
    store_reward(policy, table, place, x, clock)
    memory = memory_after(policy, arm_view(policy, table, place), x, clock, rng)
    _add(policy, table, place, x, clock, rng)
    policy.write_memory(table.rows[place], memory)


@by_policy_class
def observe(kind: type[Policy]) -> Any:
    """Add a reward to all that is kept of an arm."""
    return _add if observes_plainly(kind) else _observe


def observes_plainly(kind: type[Policy]) -> bool:
    """Return whether a class of policies keeps no statistics but those that every policy has."""
    keeps = kind.Memory is not None or kind.uses_rewards
    return not keeps and not kind.overrides("transform_reward")

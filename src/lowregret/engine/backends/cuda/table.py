"""The arms of one run, and what a policy sees of them.

A thread plays one run. Its arms are a column of tables ``[arm, thread]``: in shared memory each thread then
reads its own bank, whichever arm it reads, and in global memory those that read one arm read side by side.
"""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any, NamedTuple

from numba import float64, int32, int64

from lowregret.engine.backends.cuda.constants import (
    ARMS,
    CHECKED,
    COUNT,
    COUNTS,
    GONE,
    LANES,
    MEMORY,
    PADDED,
    PLACE,
    RANKS,
    RESETS,
    SPREADS,
    SUMS,
    USES_BEST,
    by_problem,
)
from lowregret.engine.backends.cuda.device import cuda
from lowregret.engine.kernels.statistics import Sums, add_reward
from lowregret.policies.views import UNDATED, Arm, mean_of, variance_of


class Table(NamedTuple):
    """The state of one run: arrays ``[arm, thread]``, arms in the order in which ties are broken."""

    column: int  # of the statistics of arms
    entry: int  # the column of the times of elimination, which are in global memory
    lane: int  # the column of values
    order: Any  # the number of each arm
    pulls: Any
    counts: Any  # rewards of 1, where all are 0 or 1
    sums: Any  # else the first reward, the sum of the distances from it and that of their squares
    resets: Any  # pulls before the latest reset
    memory: Any  # the numbers that the policy keeps of an arm
    gone: Any  # when an arm was eliminated, 0 for an active one, CLOSED for one that never was
    spreads: Any  # the second of the numbers by which arms are compared, or the widths of their scores
    values: Any  # by which arms are compared, or the first parameter of a posterior, or the mean
    best: Any  # the largest value of each group of arms
    leader: Any  # the first arm that has it
    bounds: Any  # the smallest value and the largest lower bound
    widths: Any  # for each number n, the width of one pull at time n, and that of n pulls over that of one
    until: Any  # up to which step the values hold: 0 if they are to be computed anew, -1 if one is nan
    beyond: Any  # a place beyond the arms that the policy asked for, 0 if it has asked for none


def shared_table(lane: int, entry: int, floats: Any, integers: Any, widths: Any) -> Table:
    order = cuda.shared.array((ARMS, LANES), PLACE)
    pulls = cuda.shared.array((ARMS, LANES), COUNT)
    counts = cuda.shared.array((COUNTS, LANES), COUNT)
    sums = cuda.shared.array((SUMS, LANES), float64)
    resets = cuda.shared.array((RESETS, LANES), int32)
    memory = cuda.shared.array((MEMORY, LANES), float64)
    spreads = cuda.shared.array((SPREADS, LANES), float64)
    values = cuda.shared.array((PADDED, LANES), float64)
    best = cuda.shared.array((RANKS, LANES), float64)
    leader = cuda.shared.array((RANKS, LANES), PLACE)
    bounds, until = cuda.local.array(2, float64), cuda.local.array(1, int64)
    return Table(
        lane, entry, lane, order, pulls, counts, sums, resets, memory, integers, spreads, values, best,
        leader, bounds, widths, until, cuda.local.array(1, int64),
    )  # fmt: skip


def split_table(lane: int, entry: int, floats: Any, integers: Any, widths: Any) -> Table:
    """Return a table whose values are in shared memory, and the statistics of arms in global memory."""
    cold = global_table(lane, entry, floats, integers, widths)
    values = cuda.shared.array((PADDED, LANES), float64)
    best = cuda.shared.array((RANKS, LANES), float64)
    leader = cuda.shared.array((RANKS, LANES), PLACE)
    return Table(
        entry, entry, lane, cold.order, cold.pulls, cold.counts, cold.sums, cold.resets, cold.memory,
        cold.gone, cold.spreads, values, best, leader, cold.bounds, widths, cold.until, cold.beyond,
    )  # fmt: skip


def global_table(lane: int, entry: int, floats: Any, integers: Any, widths: Any) -> Table:
    bounds, until = cuda.local.array(2, float64), cuda.local.array(1, int64)
    a, b, c, d = GONE, GONE + ARMS, GONE + 2 * ARMS, GONE + 2 * ARMS + COUNTS
    p, q, r = SUMS, SUMS + MEMORY, SUMS + MEMORY + SPREADS
    e, s = d + RESETS, r + PADDED
    return Table(
        entry, entry, entry, integers[a:b], integers[b:c], integers[c:d], floats[:p], integers[d:e],
        floats[p:q], integers, floats[q:r], floats[r:s], floats[s : s + RANKS], integers[e : e + RANKS],
        bounds, widths, until, cuda.local.array(1, int64),
    )  # fmt: skip


new_table = by_problem(lambda plan: plan.new_table)
"""Return the table of a thread: where its arms lie depends on how large they are."""


def is_active(table: Table, i: int) -> bool:
    return GONE == 1 or table.gone[i, table.entry] == 0


def count_active(table: Table) -> int:
    active = 0
    for i in range(ARMS):
        if is_active(table, i):
            active += 1
    return active


def log_eliminated(table: Table, t: int) -> int:
    """Record the time of new eliminations; return how many arms are active."""
    active = 0
    for i in range(ARMS):
        if is_active(table, i):
            active += 1
        elif table.gone[i, table.entry] == UNDATED:
            table.gone[i, table.entry] = t
    return active


def counted_pulls(table: Table, i: int) -> int:
    """Return how many pulls of an arm count, those since the latest reset."""
    pulls = int64(table.pulls[i, table.column])
    return pulls - int64(table.resets[i, table.column]) if RESETS > 1 else pulls


def statistics(table: Table, i: int) -> tuple[int, float, float]:
    """Return the pulls, the mean and the variance of an arm."""
    pulls = counted_pulls(table, i)
    if SUMS > 1:
        total = table.sums[3 * i + 1, table.column]
        mean = mean_of(pulls, table.sums[3 * i, table.column], total)
        return pulls, mean, variance_of(pulls, total, table.sums[3 * i + 2, table.column])
    total = float(table.counts[i, table.column])
    return pulls, total / pulls if pulls > 0 else 0.0, variance_of(pulls, total, total)


def clear_sums(table: Table, i: int) -> None:
    if SUMS > 1:
        table.sums[3 * i + 1, table.column], table.sums[3 * i + 2, table.column] = 0.0, 0.0
    else:
        table.counts[i, table.column] = 0


def add(table: Table, i: int, x: float) -> None:
    """Add a reward to the sums of an arm."""
    if SUMS > 1:
        origin, total, squares = 3 * i, 3 * i + 1, 3 * i + 2
        before = Sums(
            0,
            counted_pulls(table, i),
            table.sums[origin, table.column],
            table.sums[total, table.column],
            table.sums[squares, table.column],
        )
        sums = add_reward(before, x)
        table.sums[origin, table.column], table.sums[total, table.column] = sums.origin, sums.total
        table.sums[squares, table.column] = sums.squares
    elif x > 0.5:
        table.counts[i, table.column] += 1
    table.pulls[i, table.column] += 1


@cache
def memory_functions(kind: Any) -> tuple[Any, Any]:
    """Return functions that read and write a ``Memory``, whose fields a kernel must find by their names."""
    if kind is None:
        return (lambda table, i: None), (lambda table, i, memory: None)
    values = kind()._asdict()
    places = [f"table.memory[{len(values)} * i + {k}, table.column]" for k in range(len(values))]
    types = [type(value).__name__ for value in values.values()]
    reads = ", ".join(f"{name}({place})" for name, place in zip(types, places, strict=True))
    writes = "\n".join(f"    {place} = memory.{name}" for place, name in zip(places, values, strict=True))
    source = f"def read(table, i):\n    return Memory({reads})\ndef write(table, i, memory):\n{writes}\n"
    scope: dict[str, Any] = {"Memory": kind, "__name__": __name__}
    exec(compile(source, "<memory on a GPU>", "exec"), scope)
    return scope["read"], scope["write"]


read_memory = by_problem(lambda plan: memory_functions(plan.policy.Memory)[0])
"""Return the policy's memory of an arm."""
write_memory = by_problem(lambda plan: memory_functions(plan.policy.Memory)[1])
"""Set the policy's memory of an arm."""


def arm_at(policy: Any, table: Table, i: int) -> Arm:
    pulls, mean, variance = statistics(table, i)
    memory, arms = read_memory(table, i), see_arms(policy, table)
    return Arm(int64(table.order[i, table.column]), pulls, mean, variance, memory, arms, None)


def checked_place(table: Table, i: int) -> int:
    """Return a place among the arms; one beyond them is noted, and the first arm stands for it until then."""
    if CHECKED and not -ARMS <= i < ARMS:
        table.beyond[0] = i
        return 0
    return i


class DeviceArms(NamedTuple):
    """All arms: what ``policies.Arms`` is on the processor."""

    policy: Any
    table: Table

    def at(self, i: int) -> Arm:
        return arm_at(self.policy, self.table, checked_place(self.table, i))

    def active(self, i: int) -> bool:
        return is_active(self.table, checked_place(self.table, i))

    def pending(self, i: int) -> int:
        return 0  # every reward is known: a GPU plays no delays

    def is_eliminated(self, i: int) -> bool:
        return not self.active(i)

    def eliminate(self, i: int) -> None:
        i = checked_place(self.table, i)
        if is_active(self.table, i):
            self.table.gone[i, self.table.entry] = UNDATED

    def reactivate(self, i: int) -> None:
        self.table.gone[checked_place(self.table, i), self.table.entry] = 0

    def reset(self, i: int) -> None:
        table, i = self.table, checked_place(self.table, i)
        table.resets[i, table.column] = table.pulls[i, table.column]
        clear_sums(table, i)
        write_memory(table, i, self.policy.initial_memory())

    def set_memory(self, i: int, memory: Any) -> None:
        write_memory(self.table, checked_place(self.table, i), memory)

    def count_active(self) -> int:
        return count_active(self.table)


def see_none(policy: Any, table: Table) -> None:
    return None


def see_all(policy: Any, table: Table) -> DeviceArms:
    return DeviceArms(policy, table)


see_arms = by_problem(lambda plan: see_all if plan.policy.uses_arms else see_none)
"""Return all arms, for a policy that looks at them."""


def best_mean(table: Table) -> float:
    """Return the best mean, 0 for a policy that does not look at it."""
    if not USES_BEST:
        return 0.0
    best = -inf
    for i in range(ARMS):
        pulls, mean, _ = statistics(table, i)
        if pulls > 0:
            best = max(best, mean)
    return best

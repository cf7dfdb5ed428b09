"""The state of a run: the table of arms, changed in place, and numbers, which are passed and returned.

``ROW`` is the only list of the fields of an arm. Its statistics fill one line of the processor's cache, and
its source of rewards a second one. Between two steps every row has this invariant:

- An arm has ``pulls`` rewards, and those of its ``prior`` before them. The first ``forgotten`` of all these
  no longer count, since the policy has reset its statistics: 0 <= forgotten <= prior + pulls. What follows
  is about the rewards that count, ``count_of(row)`` = prior + pulls - forgotten of them.
- ``origin`` is the first of them, ``total`` the sum of their distances from it, ``squares`` the sum of the
  squares of these distances, and ``mean`` is ``mean_of(count_of(row), origin, total)``. Where none counts,
  ``total``, ``squares`` and ``mean`` are 0.
- ``pending`` pulls have no reward yet, and are not among the ``pulls``.

No adjustment changes a row: what a policy sees instead is in ``ArmTable.adjustment``. A mode of ``lazy`` may
let rows run ahead or behind while it plays. Two modes also leave them so at the end of a run, where only the
pulls are read: ``round_robin`` draws no reward that no round looks at, and ``separable_index`` draws the next
reward of each arm before it is known whether the arm is pulled. ``tests/engine/test_rows.py`` checks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import floor
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled, jittable, jittable_inline, register_tuple_methods
from lowregret.engine.kernels.exceedances import first_sampling_round
from lowregret.engine.kernels.rng import stream
from lowregret.policies import Arms, Policy
from lowregret.policies.arm_memory import memory_fields
from lowregret.policies.base import samples_posteriors
from lowregret.policies.views import arm_view, clock_at, count_of, mean_of, statistics_of, variance_of

if TYPE_CHECKING:
    from lowregret.environments import Bandit, Sampled

for _function in (arm_view, clock_at, count_of, mean_of, statistics_of, variance_of):
    jittable_inline(_function)
register_tuple_methods(Arms)

Rows = npt.NDArray[np.void]

LINE = 64
"""The length of a line of the processor's cache in bytes."""

CLOSED = -1
"""The time of elimination of an arm that was never active."""

GIVEN = -2
"""The kind of an arm whose rewards are given: ``data[a : a + b]``."""

ROW = np.dtype(
    [
        ("pulls", np.int64),  # with a reward
        ("forgotten", np.int64),  # of the rewards of its prior and its pulls, those before the latest reset
        ("pending", np.int64),  # pulls whose reward is not known yet
        ("origin", np.float64),  # the first reward
        ("total", np.float64),  # sum of the rewards' distances from it
        ("squares", np.float64),  # sum of their squares
        ("mean", np.float64),
        ("kind", np.int8),  # the family of its rewards, encoded in a to d
        ("active", np.bool_),
        ("listed", np.bool_),  # on the next list of a policy that plays lists
        ("allowed", np.bool_),  # in the present choice
        ("prior", np.int32),  # rewards of its prior, which are before its first pull
        ("number", np.int64),
        ("key", np.uint64),  # of its random stream
        ("a", np.float64),
        ("b", np.float64),
        ("c", np.float64),
        ("d", np.float64),
        ("gap", np.float64),
        ("eliminated", np.int64),  # when, 0 for never, CLOSED for an arm that was never active
    ],
    align=True,
)


class ArmTable(NamedTuple):
    """The arms of a run: arrays, which are changed in place.

    ``rewards`` has the rewards of each arm by its number, those of its prior first, for a policy that looks
    at them. ``adjustment`` is None, or what the policy sees in place of the statistics of a row: see
    ``policies.views.Adjustment``. ``ties_first`` says that a tie goes to the first arm while rewards are
    pending, not to the one with the fewest pending pulls.
    """

    rows: Rows
    rewards: Any = None
    adjustment: Any = None
    ties_first: bool = False


class State(NamedTuple):
    """Where a run stands: numbers, which functions take and return."""

    round: Any
    active_arms: int  # of a policy of lists, those on the list
    t: int  # how many rewards are known
    recorded: int  # at how many times of the grid the regret is recorded
    status: int  # one of ``engine.status``


def new_rows(size: int, policy: Policy | None = None) -> Rows:
    """Return the table of arms that have not been pulled, with room for a policy's memory."""
    fields = [(name, ROW[name]) for name in ROW.names or ()]
    memory = memory_fields(None if policy is None else policy.Memory)
    rows = np.zeros(size, np.dtype([*fields, *memory], align=True))
    rows["number"] = np.arange(size)
    rows["active"] = rows["allowed"] = True
    return rows


def in_lines(records: Rows) -> Rows:
    """Copy records to where a line of the cache begins, so that none lies in more lines than it must."""
    memory = np.zeros(records.nbytes + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    copied = memory[start : start + records.nbytes].view(records.dtype)
    copied[:] = records
    return copied


@jittable
def add_exactly(total: float, x: float) -> float:
    """Return a sum with one more number, nan from the first on that is not an integer.

    Any two of the sums are integers below 2^52, so their difference is exact: it is what adding up the
    numbers between them, one after the other, gives.
    """
    total += x
    return total if abs(total) < 2.0**52 and x == floor(x) else np.nan


def new_rewards(policy: Policy, arms: int, pulls: int) -> Floats | None:
    """Return room for the rewards of each arm, by its number, for a policy that uses them."""
    if not policy.uses_rewards:
        return None
    return np.empty((arms, pulls, 2) if policy.uses_times or policy.uses_totals else (arms, pulls))


def fill_rewards(
    policy: Policy, rewards: Floats, number: int, values: npt.ArrayLike, times: npt.ArrayLike
) -> None:
    """Set the first rewards of an arm, and the steps at which they became known."""
    values = np.asarray(values, np.float64)
    if not (policy.uses_times or policy.uses_totals):
        rewards[number, : len(values)] = values
        return
    rewards[number, : len(values), 0] = values
    rewards[number, : len(values), 1] = (
        [*accumulate(values.tolist(), add_exactly, initial=0.0)][1:] if policy.uses_totals else times
    )


def rows_of(bandit: Bandit, policy: Policy | None = None) -> Rows:
    """Return the table of a bandit's arms in their order, not pulled yet and without keys."""
    from lowregret.engine.bridge.own_sampler import sampler_address
    from lowregret.environments.families import SAMPLED

    rows = new_rows(len(bandit), policy)
    rows["gap"] = bandit.gaps
    rows["kind"] = bandit.kinds
    for column, name in enumerate("abcd"):
        rows[name] = bandit.encodings[:, column]
    for number in np.flatnonzero(bandit.kinds == SAMPLED):
        rows[number]["a"] = sampler_address(cast("Sampled", bandit.arms[number]))
    return rows


def rows_of_table(rewards: Sequence[Floats], policy: Policy | None = None) -> tuple[Rows, Floats]:
    """Return the table of arms whose rewards are given, and the data it points into."""
    rows = new_rows(len(rewards), policy)
    lengths = np.array([len(row) for row in rewards], np.int64)
    rows["kind"] = GIVEN
    rows["a"] = np.cumsum(lengths) - lengths
    rows["b"] = lengths
    data = np.concatenate([np.asarray(row, np.float64) for row in rewards])
    data.flags.writeable = False  # as a bandit's is, so that Numba compiles for one type of data
    return rows, data


def first_round(policy: Policy, arms: int, horizon: int) -> Any:
    """Return the first round of a policy."""
    if samples_posteriors(type(policy)):
        return first_sampling_round()
    return policy.first_round(clock_at(0, horizon, arms, 0.0))


def initialise_memory(policy: Policy, rows: Rows) -> None:
    """Set the policy's memory of each arm to its initial value."""
    for row in rows if policy.Memory else ():
        policy.write_memory(row, policy.initial_memory())


def activate(policy: Policy, rows: Rows) -> None:
    """Activate the arms with which the policy starts."""
    rows["active"] = [policy.initially_active(int(number)) for number in rows["number"]]
    rows["eliminated"] = np.where(rows["active"], 0, CLOSED)


@compiled
def lay_out(arms: Rows, order: Integers, seed: np.uint64, run: int, rows: Rows) -> None:
    """Copy the arms into the order of one run, each with the key of its stream."""
    for i in range(len(arms)):
        rows[i] = arms[order[i]]
        rows[i]["key"] = stream(seed, run, order[i])

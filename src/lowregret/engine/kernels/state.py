"""The table of arms: one row for each arm, with its statistics and its source of rewards.

This is the only list of the fields. The statistics of an arm fill one line of the processor's cache, and its
source of rewards a second one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled, jittable_inline, register_tuple_methods
from lowregret.engine.kernels.exceedances import first_sampling_round
from lowregret.engine.kernels.rng import stream
from lowregret.policies import Arms, Policy
from lowregret.policies.arm_memory import memory_fields
from lowregret.policies.base import samples_posteriors
from lowregret.policies.views import arm_view, arm_with_rewards, clock_at, mean_of, variance_of

if TYPE_CHECKING:
    from lowregret.environments import Bandit, Sampled

for _function in (arm_view, arm_with_rewards, clock_at, mean_of, variance_of):
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
        ("reset", np.int64),  # of those, pulls before the latest reset of the statistics; -prior before one
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
    room = np.zeros(records.nbytes + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    copied = room[start : start + records.nbytes].view(records.dtype)
    copied[:] = records
    return copied


def new_rewards(policy: Policy, arms: int, pulls: int) -> Floats | None:
    """Return room for the rewards of each arm, by its number, for a policy that uses them."""
    if not policy.uses_rewards:
        return None
    return np.empty((arms, pulls, 2) if policy.uses_times else (arms, pulls))


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

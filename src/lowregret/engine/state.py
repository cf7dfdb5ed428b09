"""The table of arms: one row for each arm, with its statistics and its source of rewards.

This is the only list of the fields. The statistics of an arm fill one line of the processor's cache, and its
source of rewards a second one.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from lowregret.engine.compile import adopt, compiled, shared_inline
from lowregret.engine.exceedances import first_sampling_round
from lowregret.engine.own_sampler import sampler_address
from lowregret.engine.rng import stream
from lowregret.environments import Bandit, Sampled
from lowregret.environments.families import SAMPLED
from lowregret.errors import InputError
from lowregret.policies import Arms, Policy
from lowregret.policies.arm_memory import memory_fields
from lowregret.policies.base import samples_posteriors
from lowregret.policies.views import arm_view, arm_with_rewards, clock_at, mean_of, variance_of

for _function in (arm_view, arm_with_rewards, clock_at, mean_of, variance_of):
    shared_inline(_function)
adopt(Arms)

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.void]

CLOSED = -1
"""The time of elimination of an arm that was never active."""

ROW = np.dtype(
    [
        ("pulls", np.int64),  # with a reward
        ("reset", np.int64),  # of those, pulls before the latest reset of the statistics
        ("pending", np.int64),  # pulls whose reward is not known yet
        ("origin", np.float64),  # the first reward
        ("total", np.float64),  # sum of the rewards' distances from it
        ("squares", np.float64),  # sum of their squares
        ("mean", np.float64),
        ("kind", np.int8),  # the family of its rewards, encoded in a to d
        ("active", np.bool_),
        ("listed", np.bool_),  # on the next list of a policy that plays lists
        ("allowed", np.bool_),  # in the present choice
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


def new_rewards(policy: Policy, arms: int, pulls: int) -> Floats | None:
    """Return room for the rewards of each arm, by its number, for a policy that uses them."""
    if not policy.uses_rewards:
        return None
    try:
        return np.empty((arms, pulls, 2) if policy.uses_times else (arms, pulls))
    except (MemoryError, ValueError):
        gigabytes = arms * pulls * (16 if policy.uses_times else 8) / 1e9
        raise InputError(
            f"{policy}: the rewards of {arms} arms over {pulls} steps need {gigabytes:.3g} GB of memory: "
            "use a shorter horizon"
        ) from None


def rows_of(bandit: Bandit, policy: Policy | None = None) -> Rows:
    """Return the table of a bandit's arms in their order, not pulled yet and without keys."""
    rows = new_rows(len(bandit), policy)
    rows["gap"] = bandit.gaps
    rows["kind"] = bandit.kinds
    for column, name in enumerate("abcd"):
        rows[name] = bandit.encodings[:, column]
    for number in np.flatnonzero(bandit.kinds == SAMPLED):
        rows[number]["a"] = sampler_address(cast(Sampled, bandit.arms[number]))
    return rows


def rows_of_table(rewards: Sequence[Floats], kind: int, policy: Policy | None = None) -> tuple[Rows, Floats]:
    """Return the table of arms whose rewards are given, and the data it points into."""
    rows = new_rows(len(rewards), policy)
    lengths = np.array([len(row) for row in rewards], np.int64)
    rows["kind"] = kind
    rows["a"] = np.cumsum(lengths) - lengths
    rows["b"] = lengths
    data = np.concatenate([np.asarray(row, np.float64) for row in rewards])
    data.flags.writeable = False  # as a bandit's is, so that Numba compiles for one type of data
    return rows, data


def start(policy: Policy, rows: Rows, horizon: int) -> Any:
    """Prepare the table of arms for a policy, and return the first round."""
    first = first_round(policy, len(rows), horizon)
    activate(policy, rows)
    initialise_memory(policy, rows)
    return first


def first_round(policy: Policy, arms: int, horizon: int) -> Any:
    """Return the first round of a policy, once it is known to suit the problem."""
    _validate_methods(policy)
    clock = clock_at(0, horizon, arms, 0.0)
    policy.validate_problem(clock)
    first = first_sampling_round() if samples_posteriors(type(policy)) else policy.first_round(clock)
    fields = getattr(first, "_fields", ())
    if not {"number", "until"} <= set(fields):
        raise InputError(
            f"{policy}: first_round must return a NamedTuple with number and until, got {first!r}"
        )
    for name, value in zip(fields, first, strict=True):
        if not isinstance(value, int | float):  # an array would be shared by all runs
            raise InputError(f"{policy}: {name} of a round must be a number, got {value!r}")
    return first


def initialise_memory(policy: Policy, rows: Rows) -> None:
    """Set the policy's memory of each arm to its initial value."""
    for row in rows if policy.Memory else ():
        policy.write_memory(row, policy.initial_memory())


def activate(policy: Policy, rows: Rows) -> None:
    """Activate the arms with which the policy starts."""
    rows["active"] = [policy.initially_active(int(number)) for number in rows["number"]]
    rows["eliminated"] = np.where(rows["active"], 0, CLOSED)
    if not rows["active"].any():
        raise InputError(f"{policy}: initially_active must return True for at least one arm")


def _validate_methods(policy: Policy) -> None:
    """Refuse a policy whose methods the engine could not call."""
    signatures = {
        "score": "arm, clock, round" if policy.overrides("first_round") else "arm, clock",
        "sample": "arm, clock, rng",
        "normal_posterior": "arm",
        "beta_posterior": "arm",
        "list_index": "arm, clock",
        "duel": "one, other, clock, rng",
        "list_index_slope": "arm, clock",
        "lower_bound": "arm, clock, round",
        "next_round": "arms, clock, round",
        "transform_reward": "reward, rng",
        "update_memory": "arm, reward, clock",
        "propensities": "arms, clock",
    }
    if not policy.round_robin and not any(hasattr(policy, name) for name in list(signatures)[:6]):
        raise InputError(
            f"{policy}: define score(self, arm, clock), sample(self, arm, clock, rng), "
            "normal_posterior(self, arm), beta_posterior(self, arm), list_index(self, arm, clock) or "
            "duel(self, one, other, clock, rng), or set round_robin"
        )
    for method, wanted in signatures.items():
        if hasattr(policy, method):
            given = len(signature(getattr(policy, method)).parameters)
            if given != len(wanted.split(",")):
                raise InputError(f"{policy}: write {method}(self, {wanted})")


@compiled
def lay_out(given: Rows, order: Integers, seed: np.uint64, run: int, rows: Rows) -> None:
    """Copy the arms into the order of one run, each with the key of its stream."""
    for i in range(len(given)):
        rows[i] = given[order[i]]
        rows[i]["key"] = stream(seed, run, order[i])

"""What simulations, experiments and replays share: limits, times of recording, clipping, policies, seeds."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Literal

from lowregret.errors import InputError
from lowregret.policies import Policy
from lowregret.policies.text import policy as read_policy

LONGEST = 2**53
"""The longest horizon: up to here every count is exact as a float."""

LARGEST_SEED = 2**64 - 1
"""The largest seed."""

Scale = Literal["linear", "log"]


def recording_times(horizon: int, points: int, scale: Scale = "linear") -> tuple[int, ...]:
    """Give the times at which the regret is recorded, spaced evenly or by a constant factor.

    Examples
    --------
    >>> from lowregret.experiments.settings import recording_times
    >>> recording_times(1_000, 4)
    (250, 500, 750, 1000)
    >>> recording_times(1_000, 4, "log")
    (1, 10, 100, 1000)
    """
    if scale == "linear":
        count = min(points, horizon)
        return tuple(horizon * (i + 1) // count for i in range(count))
    steps = max(points - 1, 1)
    return tuple(sorted({round(float(horizon) ** (i / steps)) for i in range(points - 1)} | {horizon}))


def clips(policy: Policy, support: tuple[float, float], where: str, clip: bool) -> bool:
    """Decide whether a policy sees clipped rewards; refuse it where it would need to and must not."""
    low, high = support
    if "rewards in [0, 1]" not in policy.needs or (low >= 0.0 and high <= 1.0):
        return False
    if not clip:
        raise InputError(
            f"{policy} needs rewards in [0, 1], and those of {where} lie in [{low:g}, {high:g}]: "
            "scale them, or say clip=True (--clip on the command line, clip = true in a file)"
        )
    return True


def policy_of(policy: Policy | str) -> Policy:
    """Give a policy, or read it from its name."""
    if isinstance(policy, str):
        return read_policy(policy)
    if isinstance(policy, type) and issubclass(policy, Policy):
        raise InputError(f"{policy.__name__} is a class: write {policy.__name__}()")
    if not isinstance(policy, Policy):
        raise InputError(f"a policy must be a Policy or its name, got {policy!r}")
    return policy


def policies_of(owner: str, policies: Policy | str | Iterable[Policy | str]) -> dict[str, Policy]:
    """Give the policies by their names; refuse none at all, and the same twice."""
    chosen: dict[str, Policy] = {}
    given = policies if isinstance(policies, Iterable) and not isinstance(policies, str) else [policies]
    for policy in map(policy_of, given):
        if str(policy) in chosen:
            raise InputError(f"{owner}: {policy} is given twice")
        chosen[str(policy)] = policy
    if not chosen:
        raise InputError(f"{owner}: give at least one policy")
    return chosen


def seed_of(seed: int) -> int:
    """Give a seed as a plain int."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"seed must be a whole number from 0 to 2^64 - 1, got {seed!r}")
    return int(seed)

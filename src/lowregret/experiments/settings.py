"""What a simulation and an experiment share: limits, times of recording, and clipping."""

from __future__ import annotations

from typing import Literal

from lowregret.errors import InputError
from lowregret.policies import Policy

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

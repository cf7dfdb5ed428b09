"""Policies that do not learn, to compare the others with."""

from __future__ import annotations

from typing import ClassVar

from lowregret.policies.base import Arm, Clock, Policy


class Uniform(Policy):
    """Every arm in turn, so that each gets its equal share of the pulls.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.trace(lr.Uniform(), [[1, 1], [0, 0], [0, 0]]).arm.tolist()
    [0, 1, 2, 0, 1, 2]
    """

    moves = "still"
    source: ClassVar[str] = "baseline"

    def score(self, arm: Arm, clock: Clock) -> float:
        """Prefer the arm with the fewest pulls."""
        return -float(arm.pulls)


class FixedArm(Policy):
    """One arm, always.

    Parameters
    ----------
    arm : int
        The number of the arm, counted from 0.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.trace(lr.FixedArm(1), [[], [0, 1, 0]]).arm.tolist()
    [1, 1, 1]
    """

    arm: int

    moves = "still"
    warmup = 0
    source: ClassVar[str] = "baseline"

    def check(self) -> None:
        """Refuse a number that no arm can have."""
        self.require("arm", "0 or more", self.arm >= 0)

    def fits(self, clock: Clock) -> None:
        """Refuse a number beyond the last arm."""
        self.require("arm", f"below the number of arms ({clock.arms})", self.arm < clock.arms)

    def score(self, arm: Arm, clock: Clock) -> float:
        """Prefer the one arm."""
        return 1.0 if arm.number == self.arm else 0.0

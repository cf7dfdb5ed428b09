"""Policies that do not learn, to compare the others with."""

from __future__ import annotations

from typing import ClassVar

from lowregret.policies.base import Arm, Clock, Policy, Random


class Uniform(Policy):
    """Every arm in turn, so that each gets its equal share of the pulls.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.trace(lr.Uniform(), [[1, 1], [0, 0], [0, 0]]).arm.tolist()
    [0, 1, 2, 0, 1, 2]
    """

    in_turn = True
    learns = False
    source: ClassVar[str] = "baseline"


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

    in_turn = True
    warmup = 0
    learns = False
    source: ClassVar[str] = "baseline"

    def check(self) -> None:
        """Refuse a number that no arm can have."""
        self.require("arm", "0 or more", self.arm >= 0)

    def fits(self, clock: Clock) -> None:
        """Refuse a number beyond the last arm."""
        self.require("arm", f"below the number of arms ({clock.arms})", self.arm < clock.arms)

    def opens(self, number: int) -> bool:
        """Let the one arm be the only one in play."""
        return number == self.arm


class EpsilonGreedy(Policy):
    """With probability epsilon an arm at random, else the arm with the best mean.

    Parameters
    ----------
    epsilon : float, default 0.1
        The share of random pulls, from 0 to 1.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.trace(lr.EpsilonGreedy(0), [[0, 1, 1], [1, 0, 0]], horizon=4).arm.tolist()
    [0, 1, 1, 1]
    """

    epsilon: float = 0.1

    source: ClassVar[str] = "baseline"

    def check(self) -> None:
        """Refuse what is not a probability."""
        self.require("epsilon", "between 0 and 1", 0 <= self.epsilon <= 1)

    def sample(self, arm: Arm, clock: Clock, rng: Random) -> float:
        """Give the mean or, if this step explores, a random number."""
        return rng.uniform() if rng.coin(clock.t) < self.epsilon else arm.mean

    def chance(self, best: bool, playing: int) -> float:
        """Give the probability of an arm among those ``playing``; ``best`` says whether its mean is."""
        return self.epsilon / playing + (1.0 - self.epsilon if best else 0.0)

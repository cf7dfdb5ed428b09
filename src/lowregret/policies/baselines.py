"""Policies that do not learn, to compare the others with."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from lowregret.policies.annotations import Probability, Rule
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock, Random


class RoundRobin(Policy):
    """Every arm in turn, so that each gets its equal share of the pulls.

    Examples
    --------
    >>> lr.trace(lr.RoundRobin(), [[1, 1], [0, 0], [0, 0]], engine="reference").arm.tolist()
    [0, 1, 2, 0, 1, 2]
    """

    round_robin = True
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
    >>> lr.trace(lr.FixedArm(1), [[], [0, 1, 0]], engine="reference").arm.tolist()
    [1, 1, 1]
    """

    arm: Annotated[int, Rule("0 or more", lambda value: value >= 0)]

    round_robin = True
    warmup = 0
    learns = False
    source: ClassVar[str] = "baseline"

    def validate_problem(self, clock: Clock) -> None:
        self.require("arm", f"below the number of arms ({clock.arms})", self.arm < clock.arms)

    def initially_active(self, number: int) -> bool:
        return number == self.arm


class EpsilonGreedy(Policy):
    """With probability epsilon an arm at random, else the arm with the best mean.

    Parameters
    ----------
    epsilon : float, default 0.1
        The share of random pulls, from 0 to 1.

    Examples
    --------
    >>> lr.trace(lr.EpsilonGreedy(0), [[0, 1, 1], [1, 0, 0]], horizon=4, engine="reference").arm.tolist()
    [0, 1, 1, 1]
    """

    epsilon: Probability = 0.1

    source: ClassVar[str] = "baseline"

    def sample(self, arm: Arm, clock: Clock, rng: Random) -> float:
        """Return the mean or, if this step explores, a random number."""
        return rng.uniform() if rng.uniform_at(clock.t) < self.epsilon else arm.mean

    def propensities(self, arms: Arm, clock: Clock) -> Any:
        """Return epsilon / K for each of K arms, and the rest for the arm with the best mean."""
        means: Any = arms.mean
        shares = 0.0 * means + self.epsilon / len(means)
        shares[means.argmax()] += 1.0 - self.epsilon
        return shares

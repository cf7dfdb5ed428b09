"""Policies that do not learn, to compare the others with."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from lowregret.policies.annotations import Probability, Rule
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Clock, Random


class RoundRobin(Policy):
    """Share the pulls equally, as a fixed split does; the baseline that every policy must beat.

    Every arm in turn, so that each gets its equal share of the pulls.

    See Also
    --------
    EpsilonGreedy : Explore a fixed share of the time, else take what looks best.
    FixedArm : Pull one arm, always.

    Examples
    --------
    >>> lr.trace(lr.RoundRobin(), [[1, 1], [0, 0], [0, 0]], engine="reference").arm.tolist()
    [0, 1, 2, 0, 1, 2]
    """

    round_robin = True
    learns = False
    source: ClassVar[str] = "baseline"


class FixedArm(Policy):
    """Pull one arm, always; as a baseline, such as the present option.

    One arm, always.

    Parameters
    ----------
    arm : int
        The number of the arm, counted from 0.

    See Also
    --------
    RoundRobin : Share the pulls equally, as a fixed split does.

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
    """Explore a fixed share of the time, else take what looks best; a baseline anyone can explain.

    With probability epsilon an arm at random, else the arm with the best mean.

    Parameters
    ----------
    epsilon : float, default 0.1
        The share of random pulls, from 0 to 1.

    See Also
    --------
    RoundRobin : Share the pulls equally, as a fixed split does.
    ThompsonBeta : Choose each arm as often as it is likely to be the best.

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

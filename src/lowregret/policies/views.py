"""What a policy sees of a run: one arm, all arms, the clock, and its own random draws."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NEVER = 2**62
"""A time after every horizon, for the ``until`` of a last round."""


class Arm(NamedTuple):
    """One arm: its number, pulls, mean reward, population variance, and the policy's memory of it.

    ``memory`` is an instance of the policy's ``Memory``, None for a policy without one. ``arms`` are all
    arms, None for a policy without ``uses_arms``. ``rewards`` is an array of the arm's rewards in their
    order, None for a policy without ``uses_rewards``; with ``uses_times`` it has a second column, the steps.
    """

    number: int
    pulls: int
    mean: float
    variance: float
    memory: Any = None
    arms: Any = None
    rewards: Any = None


class Clock(NamedTuple):
    """The time ``t`` of the pull (the first is 1), the horizon and the number of arms.

    ``log_t`` is the logarithm of t, computed once for all arms. ``best`` is the largest mean of all arms for
    a policy with ``uses_best``, else 0.
    """

    t: int
    horizon: int
    arms: int
    log_t: float
    best: float


def clock_at(t: int, horizon: int, arms: int, best: float) -> Clock:
    """Return the clock of step ``t``."""
    return Clock(t, horizon, arms, log(max(t, 1)), best)


class Random(Protocol):
    """The random draws of a policy."""

    def uniform(self) -> float:
        """Draw from [0, 1)."""

    def normal(self) -> float:
        """Draw from the standard normal distribution."""

    def beta(self, a: float, b: float) -> float:
        """Draw from a beta distribution."""

    def student(self, degrees: float) -> float:
        """Draw from Student's t distribution."""

    def binomial(self, trials: int, p: float) -> float:
        """Draw the number of successes in a number of trials, each of probability p."""

    def uniform_at(self, t: int) -> float:
        """Return the uniform draw of step ``t``, the same for every arm."""


def mean_of(pulls: int, origin: float, total: float) -> float:
    """Return a mean from the sum of the rewards' distances from ``origin``, the first reward.

    The sum stays accurate however far from 0 the rewards are. For rewards of 0 and 1 it is an integer, and
    the mean is exact up to one division, so that arms with equal counts tie in whatever order they came.
    """
    if pulls == 0:
        return 0.0
    unit = 1.0 if origin == 1.0 else 0.0  # the first reward of an arm with rewards 0 and 1
    return (unit * pulls + total) / pulls + (origin - unit)


def variance_of(pulls: int, total: float, squares: float) -> float:
    """Return a population variance from the sums of those distances and of their squares."""
    if pulls == 0:
        return 0.0
    share = 1.0 / pulls  # does not depend on the reward, so the processor can divide early
    return max((pulls * squares - total * total) * (share * share), 0.0)


def arm_view(policy: Any, rows: npt.NDArray[np.void], i: int) -> Arm:
    """Return the arm in place ``i`` of a table of arms; pulls without a reward so far do not count."""
    row = rows[i]
    pulls = int(row["pulls"]) - int(row["reset"])
    variance = variance_of(pulls, float(row["total"]), float(row["squares"]))
    memory, arms = policy.read_memory(row), policy.view_arms(rows, None)
    return Arm(int(row["number"]), pulls, float(row["mean"]), variance, memory, arms, None)


def arm_with_rewards(policy: Any, rows: npt.NDArray[np.void], i: int, rewards: Any) -> Arm:
    """Return the arm in place ``i``, with its rewards for a policy with ``uses_rewards``.

    ``rewards`` has a row for each arm by its number; it is None for other policies.
    """
    arm = arm_view(policy, rows, i)
    arms, seen = policy.view_arms(rows, rewards), policy.view_rewards(rows[i], rewards)
    return Arm(arm.number, arm.pulls, arm.mean, arm.variance, arm.memory, arms, seen[0])


class Arms(NamedTuple):
    """All arms, in the order in which ties are broken; only ``next_round`` may change them."""

    policy: Any
    rows: npt.NDArray[np.void]
    rewards: Any

    def at(self, i: int) -> Arm:
        """Return the arm in place ``i``."""
        return arm_with_rewards(self.policy, self.rows, i, self.rewards)

    def active(self, i: int) -> bool:
        """Return whether the arm in place ``i`` may be pulled."""
        return bool(self.rows[i]["active"])

    def eliminate(self, i: int) -> None:
        """Stop pulling the arm in place ``i``."""
        self.rows[i]["active"] = False

    def reactivate(self, i: int) -> None:
        """Let the arm in place ``i`` be pulled again."""
        self.rows[i]["active"] = True

    def reset(self, i: int) -> None:
        """Clear the statistics and the memory of the arm in place ``i``."""
        row = self.rows[i]
        row["reset"] = row["pulls"]
        row["total"], row["squares"], row["mean"] = 0.0, 0.0, 0.0
        self.policy.write_memory(row, self.policy.initial_memory())

    def set_memory(self, i: int, memory: Any) -> None:
        """Set the policy's memory of the arm in place ``i``."""
        self.policy.write_memory(self.rows[i], memory)

    def count_active(self) -> int:
        """Return how many arms may be pulled."""
        total = 0
        for i in range(len(self.rows)):
            if self.rows[i]["active"]:
                total += 1
        return total

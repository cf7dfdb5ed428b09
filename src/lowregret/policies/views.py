"""What a policy sees of a run: one arm, all arms, the clock, and its own random draws."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NEVER = 2**62
"""A time after every horizon, for the ``until`` of a last round."""
UNDATED = -2
"""The time of an elimination until the engine notes it, at the end of the step."""


class Arm(NamedTuple):
    """One arm, as a policy sees it.

    Attributes
    ----------
    number : int
        Its position in the bandit.
    pulls : int
        How often it was pulled.
    mean, variance : float
        Mean and population variance (divided by ``pulls``) of its rewards.
    memory
        An instance of the policy's ``Memory``, None for a policy without one.
    arms : Arms
        All arms, None for a policy without ``uses_arms``.
    rewards : array of float
        Its rewards in their order, None for a policy without ``uses_rewards``. With ``uses_times`` the array
        has a second column, the steps, and with ``uses_totals`` the sums.

    Examples
    --------
    >>> arm = lr.Arm(number=0, pulls=4, mean=0.5, variance=0.25)
    >>> round(lr.UCB1().score(arm, lr.Clock(t=100, horizon=1_000, arms=2, log_t=4.605, best=0.5)), 3)
    2.016
    """

    number: int
    pulls: int
    mean: float
    variance: float
    memory: Any = None
    arms: Any = None
    rewards: Any = None


class Clock(NamedTuple):
    """The time of a pull, and the size of the problem.

    Attributes
    ----------
    t : int
        The number of the pull; the first is 1.
    horizon, arms : int
        The number of pulls, and of arms.
    log_t : float
        The logarithm of ``t``, computed once for all arms.
    best : float
        The largest mean of all arms for a policy with ``uses_best``, else 0.

    Examples
    --------
    >>> class Greedy(lr.Policy):
    ...     def score(self, arm, clock):
    ...         return arm.mean + 1 / clock.t
    >>> clock = lr.Clock(t=4, horizon=1_000, arms=2, log_t=1.386, best=0.0)
    >>> Greedy().score(lr.Arm(0, 1, 0.5, 0.0), clock)
    0.75
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
    """The random draws of a policy: what ``sample``, ``duel`` and ``transform_reward`` see as ``rng``.

    Examples
    --------
    >>> class Draws(lr.Policy):
    ...     warmup = 0
    ...     def sample(self, arm, clock, rng):
    ...         total = rng.uniform() + rng.normal() + rng.beta(2.0, 3.0) + rng.student(5.0)
    ...         return total + rng.binomial(arm.pulls, 0.5) + rng.uniform_at(clock.t)
    >>> run = lr.trace(Draws(), lr.bernoulli([0.2, 0.8]), horizon=10, engine="reference")
    >>> len(run.arm)
    10
    """

    def uniform(self) -> float:
        """Draw from [0, 1)."""

    def normal(self) -> float:
        """Draw from the standard normal distribution."""

    def beta(self, a: float, b: float) -> float:
        """Draw from a beta distribution.

        Parameters
        ----------
        a, b : float
            The parameters of the distribution, positive.
        """

    def student(self, degrees: float) -> float:
        """Draw from Student's t distribution.

        Parameters
        ----------
        degrees : float
            The degrees of freedom, positive.
        """

    def binomial(self, trials: int, p: float) -> float:
        """Draw a number of successes.

        Parameters
        ----------
        trials : int
            The number of trials.
        p : float
            The probability of a success.
        """

    def uniform_at(self, t: int) -> float:
        """Return the uniform draw of step ``t``, the same for every arm.

        Parameters
        ----------
        t : int
            The step, ``clock.t``.
        """


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


class Statistics(NamedTuple):
    """What a policy sees of the rewards of an arm."""

    pulls: int
    mean: float
    variance: float


class Adjustment(Protocol):
    """What a policy sees instead of the statistics in the rows, as ``engine.kernels.periods.Periods``."""

    @property
    def seen(self) -> npt.NDArray[np.float64]:
        """The pulls, the mean and the variance of each arm, by its number."""

    def forget(self) -> None:
        """Forget all rewards, before a run."""

    def enter(self, t: int) -> None:
        """Let the next reward be one of decision ``t``."""

    def add(self, number: int, x: float, warmup: int) -> None:
        """Add a reward of an arm by its number, and keep ``seen`` up to date."""


class Table(Protocol):
    """The arms of a run and what does not fit into a row, as ``engine.kernels.state.ArmTable`` has it."""

    @property
    def rows(self) -> npt.NDArray[np.void]: ...
    @property
    def rewards(self) -> Any: ...
    @property
    def adjustment(self) -> Any: ...


def count_of(row: Any) -> int:
    """Return how many rewards the sums in a row have: those of its prior and its pulls, if not forgotten."""
    return int(row["pulls"]) + int(row["prior"]) - int(row["forgotten"])


def statistics_of(row: Any, adjustment: Any) -> Statistics:
    """Return the statistics that a policy sees of an arm, from its row and an adjustment or None.

    Whatever sees an arm sees it through this function. Pulls without a reward so far do not count. A problem
    has a prior, whose rewards are in the sums of the row, or a period, which is an adjustment, never both.
    """
    if adjustment is not None:
        seen = adjustment.seen[int(row["number"])]
        return Statistics(int(seen[0]), float(seen[1]), float(seen[2]))
    pulls = count_of(row)
    return Statistics(
        pulls, float(row["mean"]), variance_of(pulls, float(row["total"]), float(row["squares"]))
    )


def arm_view(policy: Any, table: Table, i: int) -> Arm:
    """Return the arm in place ``i``, as the policy sees it."""
    row = table.rows[i]
    pulls, mean, variance = statistics_of(row, table.adjustment)
    memory, arms = policy.read_memory(row), policy.view_arms(table)
    rewards = policy.view_rewards(row, table.rewards)
    return Arm(int(row["number"]), pulls, mean, variance, memory, arms, rewards[0])


class Arms(NamedTuple):
    """All arms, in the order in which ties are broken; only ``next_round`` may change them.

    Attributes
    ----------
    policy : Policy
        The policy.
    table : ArmTable
        The state of the arms, for the engine.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Round(NamedTuple):
    ...     number: int
    ...     until: int
    >>> class Seen(NamedTuple):
    ...     round: int = 0
    >>> class Cycle(lr.Policy):
    ...     round_robin = True
    ...     eliminates_permanently = False
    ...     Memory = Seen
    ...     def first_round(self, clock):
    ...         return Round(1, 20)
    ...     def next_round(self, arms, clock, round):
    ...         alone = arms.count_active() == 1
    ...         for i in range(clock.arms):
    ...             if alone and (arms.active(i) or arms.is_eliminated(i)):
    ...                 arms.reactivate(i)
    ...                 arms.reset(i)
    ...             elif arms.active(i) and arms.at(i).mean < 0.5:
    ...                 arms.eliminate(i)
    ...             arms.set_memory(i, Seen(round.number))
    ...         return Round(round.number + 1, clock.t + 20)
    >>> run = lr.trace(Cycle(), lr.bernoulli([0, 1]), horizon=60, engine="reference")
    >>> [run.arm[start : start + 20].mean().item() for start in (0, 20, 40)]
    [0.5, 1.0, 0.5]
    """

    policy: Any
    table: Table

    def at(self, i: int) -> Arm:
        """Return the arm in place ``i``.

        Parameters
        ----------
        i : int
            The place, from 0 to ``clock.arms - 1``.
        """
        return arm_view(self.policy, self.table, i)

    def active(self, i: int) -> bool:
        """Return whether the arm in place ``i`` may be pulled.

        Parameters
        ----------
        i : int
            The place, from 0 to ``clock.arms - 1``.
        """
        return bool(self.table.rows[i]["active"])

    def pending(self, i: int) -> int:
        """Return how many pulls of the arm in place ``i`` have no reward yet; ``at(i)`` leaves them out.

        Parameters
        ----------
        i : int
            The place, from 0 to ``clock.arms - 1``.

        Examples
        --------
        >>> class Fewest(lr.Policy):
        ...     def choose(self, arms, clock, rng):
        ...         least, place = 2**62, 0
        ...         for i in range(clock.arms):
        ...             pulls = arms.at(i).pulls + arms.pending(i)
        ...             if pulls < least:
        ...                 least, place = pulls, i
        ...         return place
        >>> agent = lr.Agent(Fewest(), ["red", "green"])
        >>> sorted(agent.ask().arm for _ in range(4))
        ['green', 'green', 'red', 'red']
        """
        return int(self.table.rows[i]["pending"])

    def is_eliminated(self, i: int) -> bool:
        """Return whether the arm in place ``i`` was eliminated and is not active again.

        Parameters
        ----------
        i : int
            The place, from 0 to ``clock.arms - 1``.
        """
        row = self.table.rows[i]
        return bool(row["eliminated"] != 0 and not row["active"])

    def eliminate(self, i: int) -> None:
        """Stop pulling the arm in place ``i``.

        Parameters
        ----------
        i : int
            The place, from 0 to ``clock.arms - 1``.
        """
        row = self.table.rows[i]
        row["active"] = False
        if row["eliminated"] == 0:
            row["eliminated"] = UNDATED

    def reactivate(self, i: int) -> None:
        """Let the arm in place ``i`` be pulled again.

        Parameters
        ----------
        i : int
            The place, from 0 to ``clock.arms - 1``.
        """
        self.table.rows[i]["active"] = True

    def reset(self, i: int) -> None:
        """Clear the statistics and the memory of the arm in place ``i``.

        Parameters
        ----------
        i : int
            The place, from 0 to ``clock.arms - 1``.
        """
        row = self.table.rows[i]
        row["forgotten"] = row["prior"] + row["pulls"]
        row["total"], row["squares"], row["mean"] = 0.0, 0.0, 0.0
        self.policy.write_memory(row, self.policy.initial_memory())

    def set_memory(self, i: int, memory: Any) -> None:
        """Set the policy's memory of the arm in place ``i``.

        Parameters
        ----------
        i : int
            The place, from 0 to ``clock.arms - 1``.
        memory
            An instance of ``Memory``.
        """
        self.policy.write_memory(self.table.rows[i], memory)

    def count_active(self) -> int:
        """Return how many arms may be pulled."""
        total = 0
        for i in range(len(self.table.rows)):
            if self.table.rows[i]["active"]:
                total += 1
        return total

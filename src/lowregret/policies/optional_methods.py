"""The methods that a policy may override, with their defaults.

``validate_problem``, ``first_round``, ``initially_active`` and ``propensities`` always run as Python; the
others also compiled. ``validate`` is in `base`, where parameters are checked.
"""

from __future__ import annotations

from functools import lru_cache
from inspect import signature
from itertools import repeat, starmap
from math import inf
from typing import Any, NamedTuple

from lowregret.policies.class_validation import POSTERIORS
from lowregret.policies.views import NEVER, Arm, Arms, Clock, Random

DRAWING = ("next_round", "update_memory")
"""The methods that may end with ``rng``, the random draws of the policy."""


class NoRound(NamedTuple):
    """The only round of a policy without rounds."""

    number: int
    until: int


class OptionalMethods:
    """What `Policy` inherits, and a policy overrides where it needs something else."""

    def validate_problem(self, clock: Clock) -> None:
        """Raise ``InputError`` if the parameters do not fit the horizon or the number of arms.

        Parameters
        ----------
        clock : Clock
            The time, the horizon and the number of arms. Its ``t`` is 0.

        Examples
        --------
        >>> lr.FixedArm(3).validate_problem(lr.Clock(t=0, horizon=100, arms=2, log_t=0.0, best=0.0))
        Traceback (most recent call last):
        lowregret.errors.InputError: FixedArm: arm must be below the number of arms (2), got 3
        """

    def initially_active(self, number: int) -> bool:
        """Return whether the arm of this number is active from the start.

        Parameters
        ----------
        number : int
            The position of the arm in the bandit.

        Examples
        --------
        >>> [lr.FixedArm(1).initially_active(number) for number in range(3)]
        [False, True, False]
        """
        return True

    def first_round(self, clock: Clock) -> Any:
        """Return the first round; by default it never ends.

        With it, ``score`` takes the round as a third argument.

        Parameters
        ----------
        clock : Clock
            The time, the horizon and the number of arms.

        Returns
        -------
        NamedTuple
            The round: numbers, among them ``number`` and ``until``. The round ends after the first step at or
            after ``until``.

        Examples
        --------
        >>> lr.UCB1().first_round(lr.Clock(t=0, horizon=100, arms=2, log_t=0.0, best=0.0)).until == lr.NEVER
        True
        """
        return NoRound(0, NEVER)

    def next_round(self, arms: Arms, clock: Clock, round: Any) -> Any:
        """Return the round after ``round``; eliminate or reactivate arms; see `Arms` for an example.

        It may end with ``rng``, the random draws of the policy.
        A round may also hold what is computed seldom, such as the median of the pulls of all arms. A class
        whose rounds leave all arms as they are sets ``rounds_eliminate = False``.

        Parameters
        ----------
        arms : Arms
            All arms; at least one must stay active.
        clock, round : Clock, NamedTuple
            The time with the horizon and the number of arms, and the current round.

        Returns
        -------
        NamedTuple
            The round, with fields of the same types as ``round``.

        Examples
        --------
        >>> class Epochs(lr.UCB1):
        ...     def next_round(self, arms, clock, round):
        ...         return type(round)(round.number + 1, 2 * round.until)
        >>> first = lr.UCB1().first_round(None)._replace(until=10)
        >>> Epochs().next_round(None, None, first)
        NoRound(number=1, until=20)
        """
        return round

    def lower_bound(self, arm: Arm, clock: Clock, round: Any) -> float:
        """Return a lower bound on the mean of an arm: by default minus infinity, which eliminates nothing.

        After every pull, an active arm whose score is below the largest lower bound is eliminated. With
        ``index_trend = "constant"`` it must not depend on the time either.

        Parameters
        ----------
        arm, clock, round : Arm, Clock, NamedTuple
            The arm, the time with the horizon and the number of arms, and the current round.

        Examples
        --------
        >>> clock = lr.Clock(t=100, horizon=1_000, arms=2, log_t=4.605, best=0.0)
        >>> lr.UCB1().lower_bound(lr.Arm(0, 50, 0.9, 0.1), clock, None)
        -inf
        >>> policy = lr.EUCBV()
        >>> round(policy.lower_bound(lr.Arm(0, 50, 0.9, 0.1), clock, policy.first_round(clock)), 3)
        0.645
        """
        return -inf

    def transform_reward(self, reward: float, rng: Random) -> float:
        """Return the reward as it enters the statistics.

        Parameters
        ----------
        reward : float
            The reward, scaled to [0, 1] where the policy sees scaled rewards.
        rng : Random
            The random draws of the policy.

        Returns
        -------
        float
            The transformed reward; regret and the log of an agent have the reward itself.

        Examples
        --------
        >>> class Clicks(lr.UCB1):
        ...     def transform_reward(self, reward, rng):
        ...         return 1.0 if reward > 0 else 0.0
        >>> Clicks().transform_reward(0.3, None)
        1.0
        """
        return reward

    def list_index_slope(self, arm: Arm, clock: Clock) -> float:
        """Return the slope of a bound on the list index, infinite if there is none.

        At any later time t' the list index must be at most index + log(t' / t) - slope * (best' - best). The
        simulator then evaluates fewer arms.

        Parameters
        ----------
        arm, clock : Arm, Clock
            The arm, and the time with the horizon and the number of arms.

        Examples
        --------
        >>> clock = lr.Clock(t=100, horizon=1_000, arms=2, log_t=4.605, best=0.0)
        >>> lr.UCB1().list_index_slope(lr.Arm(0, 50, 0.9, 0.1), clock)
        inf
        """
        return inf

    def update_memory(self, arm: Arm, reward: float, clock: Clock) -> Any:
        """Return the memory of an arm after a reward; it may end with ``rng``, the policy's random draws.

        Parameters
        ----------
        arm : Arm
            The arm before the reward.
        reward : float
            The reward, as ``transform_reward`` returned it.
        clock : Clock
            The time, the horizon and the number of arms.

        Examples
        --------
        >>> from typing import NamedTuple
        >>> class Last(NamedTuple):
        ...     time: int = 0
        >>> class LeastRecent(lr.Policy):
        ...     Memory = Last
        ...     def score(self, arm, clock):
        ...         return -float(arm.memory.time)
        ...     def update_memory(self, arm, reward, clock):
        ...         return Last(clock.t)
        >>> lr.trace(LeastRecent(), [[1, 1], [0, 0]], horizon=4, engine="reference").arm
        array([0, 1, 0, 1])
        """
        return arm.memory

    def recommend(self, arms: Arms, clock: Clock) -> int:
        """Return the place of the arm that the policy takes for the best.

        By default it is the arm with the largest mean of those that were pulled and not eliminated; of
        several the one with the most pulls, and then the first.

        Parameters
        ----------
        arms : Arms
            All arms.
        clock : Clock
            The time, the horizon and the number of arms.

        Examples
        --------
        >>> class MostPulled(lr.UCB1):
        ...     def recommend(self, arms, clock):
        ...         best = 0
        ...         for i in range(clock.arms):
        ...             if arms.at(i).pulls > arms.at(best).pulls:
        ...                 best = i
        ...         return best
        >>> result = lr.simulate(
        ...     [lr.UCB1(), MostPulled()], "bernoulli:0.5,0.6", 50, 100, record_recommendations=True
        ... )
        >>> result.identification()["error"].to_list()
        [0.3, 0.33]
        """
        best, first = -1, -1
        for i in range(clock.arms):
            if arms.is_eliminated(i):
                continue
            first = i if first < 0 else first
            if arms.at(i).pulls > 0:
                arm, other = arms.at(i), arms.at(max(best, 0))
                more = arm.mean == other.mean and arm.pulls > other.pulls
                if best < 0 or arm.mean > other.mean or more:
                    best = i
        return best if best >= 0 else max(first, 0)

    def stop(self, arms: Arms, clock: Clock) -> bool:
        """Return whether the policy has seen enough: by default never.

        It is asked after every pull once the warm-up is over. All later pulls are of the arm that it then
        recommends.

        Parameters
        ----------
        arms, clock : Arms, Clock
            All arms; the time, the horizon and the number of arms.

        Examples
        --------
        >>> class Fifty(lr.RoundRobin):
        ...     def stop(self, arms, clock):
        ...         return clock.t >= 50
        >>> lr.simulate(Fifty(), "bernoulli:0.1,0.9", 1_000, 3)["Fifty"].pulls.tolist()
        [[25, 975], [25, 975], [25, 975]]
        """
        return False

    def accepts(self, arm: Arm) -> bool:
        """Return whether the mean of an arm is taken to be at least a threshold; for `APT` and its like.

        A class that defines it has a parameter ``threshold``, and may have ``margin``: on arms whose mean is
        closer to the threshold, either answer is right.

        Parameters
        ----------
        arm : Arm
            The arm.

        Examples
        --------
        >>> lr.APT(threshold=0.5).accepts(lr.Arm(0, 9, 0.6, 0.1))
        True
        """
        return False

    def propensities(self, arms: Arm, clock: Clock) -> Any:
        """Return the probability of each arm, None if the policy does not state it.

        Parameters
        ----------
        arms : Arm
            An ``Arm`` whose fields are arrays, one entry for each arm that may be chosen; a tie goes to the
            first entry.
        clock : Clock
            The time, the horizon and the number of arms.

        Returns
        -------
        array of float, or None
            The probabilities. They are computed for a policy with a posterior.

        Examples
        --------
        >>> import numpy as np
        >>> arms = lr.Arm(np.arange(2), np.array([9, 9]), np.array([0.5, 0.5]), np.array([0.25, 0.25]))
        >>> lr.ThompsonGauss().propensities(arms, None).round(6)
        array([0.5, 0.5])
        """
        return posterior_propensities(self, arms) if states_posteriors(type(self)) else None

    def arm_index(self, arm: Arm, clock: Clock, round: Any, rng: Random) -> float:
        """Return the number by which arms are compared; each class has its own.

        Parameters
        ----------
        arm, clock, round, rng : Arm, Clock, NamedTuple, Random
            The arm, the time with the horizon and the number of arms, the current round, the random draws.

        Returns
        -------
        float
            The score or sample of an index or sampling policy, the list index of a policy of lists.
        """
        raise NotImplementedError


def is_randomized(kind: Any) -> bool:
    """Return whether the choices of a class of policies are random."""
    return any(map(kind.overrides, ("sample", *POSTERIORS, "duel", "choose")))


def takes_rng(kind: Any, method: str) -> bool:
    """Return whether ``next_round`` or ``update_memory`` of a class of policies ends with ``rng``."""
    names = signature(getattr(kind, method)).parameters if method in DRAWING else ()
    return "rng" in names


def states_posteriors(kind: Any) -> bool:
    """Return whether a class of policies states the distributions of its samples."""
    return any(map(kind.overrides, POSTERIORS))


def samples_posteriors(kind: Any) -> bool:
    """Return whether the largest sample of distributions that a class of policies states is pulled."""
    return states_posteriors(kind) and not kind.top_two


def posterior_propensities(policy: Any, arms: Any) -> Any:
    """Return the probability of each arm to be pulled."""
    from lowregret.special.argmax_probabilities import beta_argmax, normal_argmax, top_two_shares

    order = arms.number.argsort()  # the decisions of a call see the same arms in different orders
    columns = arms.number, arms.pulls, arms.mean, arms.variance, *(arms.memory or ())
    posteriors = _posteriors(policy, *((column.dtype, column[order].tobytes()) for column in columns))
    argmax = normal_argmax if policy.overrides("normal_posterior") else beta_argmax
    first, second = posteriors[:, order.argsort()]
    shares = argmax(first, second, far=policy.top_two)
    return top_two_shares(shares, policy.leader_share) if policy.top_two else shares


@lru_cache(maxsize=16)
def _posteriors(policy: Any, *columns: tuple[Any, bytes]) -> Any:
    """Return the parameters of the posteriors of some arms, from the bytes of their fields."""
    import numpy as np

    number, pulls, mean, variance, *memory = (np.frombuffer(data, kind).tolist() for kind, data in columns)
    memories = starmap(policy.Memory, zip(*memory, strict=True)) if policy.Memory else repeat(None)
    posterior = policy.normal_posterior if policy.overrides("normal_posterior") else policy.beta_posterior
    return np.array(list(map(posterior, map(Arm, number, pulls, mean, variance, memories))), np.float64).T

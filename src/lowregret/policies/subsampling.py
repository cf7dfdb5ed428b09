"""Sub-sampling duels: an arm is compared with as many rewards of another as it has itself."""

from __future__ import annotations

from math import ceil, exp, log, sqrt
from typing import Any, ClassVar, NamedTuple

from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Arms, Clock, Random


class DuelRound(NamedTuple):
    """The round's number, the step at which it ends, and the number of the leading arm."""

    number: int
    until: int
    leader: int


class LastPull(NamedTuple):
    """When an arm was last pulled."""

    time: int = 0


class LBSDA(Policy):
    r"""Compare arms on equal numbers of latest rewards; for rewards of unknown form.

    In rounds, each arm whose mean is at least the mean of the leader's last $n$ rewards, else the leader.

    Baudry, Russac and Cappe, "On limited-memory subsampling strategies for bandits", ICML 2021, the
    policy LB-SDA. The leader is the arm with the most pulls; of several, the one with the best mean, then
    the leader before. Only arms with fewer pulls are compared with it, and an arm with at most
    $\sqrt{\log r}$ pulls is pulled in round $r$ in any case. Constant not verified: the code of the
    authors has fewer than $\log(r)^{1/3}$ pulls, or $\sqrt{\log r}$, which is one forced pull of each arm
    less. Makes no assumption on the rewards, and needs no horizon.

    See Also
    --------
    LDSSDA : LBSDA with parts of the leader's rewards from anywhere.
    BESA : Compare two arms on equal numbers of their rewards.

    Examples
    --------
    >>> lr.trace(lr.LBSDA(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 1, 0, 0, 0, 0]
    """

    Memory = LastPull
    eliminates_permanently = False
    uses_rewards = True
    uses_totals = True
    source: ClassVar[str] = "Baudry, Russac, Cappe 2021, LB-SDA"

    def first_round(self, clock: Clock) -> DuelRound:
        """Return the round after the first pulls, in which no arm has fewer than another."""
        return DuelRound(1, 0, -1)

    def score(self, arm: Arm, clock: Clock, round: DuelRound) -> float:
        """Return what puts the arms of a round in the order of their last pulls; at first, the mean."""
        memory: LastPull = arm.memory
        return arm.mean if round.number == 1 else -float(memory.time)

    def update_memory(self, arm: Arm, reward: float, clock: Clock) -> LastPull:
        """Return the time of a pull."""
        return LastPull(clock.t)

    def next_round(self, arms: Arms, clock: Clock, round: DuelRound) -> DuelRound:
        """Compare all arms with the leader, and activate those that are pulled next."""
        number, place = round.number + 1, leading_arm(arms, clock, round.leader)
        leader, winners = arms.at(place), 0
        for i in range(clock.arms):
            n = len(arms.at(i).rewards)
            won = False
            spare = len(leader.rewards) - n
            if spare > 0:
                start = self.block_start(spare, number)
                won = (
                    n <= self.forced_pulls(number)
                    or block_sum(arms.at(i).rewards, 0, n) / n >= block_sum(leader.rewards, start, n) / n
                )
            if won:
                arms.reactivate(i)
                winners += 1
            else:
                arms.eliminate(i)
        if winners == 0:
            arms.reactivate(place)
            winners = 1
        return DuelRound(number, clock.t + winners, leader.number)

    def block_start(self, spare: int, number: int) -> int:
        """Return how many of the leader's rewards come before its block, at most ``spare``."""
        return spare

    def forced_pulls(self, number: int) -> float:
        """Return how many pulls of every arm are forced by a round."""
        return sqrt(log(number))


class LDSSDA(LBSDA):
    r"""LBSDA with parts of the leader's rewards from anywhere; for rewards of unknown form.

    As LBSDA, but the leader's $n$ rewards begin at a place that a low-discrepancy sequence selects.

    Baudry, Kaufmann and Maillard, "Sub-sampling for efficient non-parametric bandit exploration", NeurIPS
    2020, the policy LDS-SDA: in round $r$, $\lceil u (N - n) \rceil$ of the leader's $N$ rewards come
    before the block, where $u$ is the r-th number of the sequence of van der Corput. No pull is forced.
    The paper's RB-SDA draws $u$ at random, with nearly the same regret in its tables. Makes no assumption
    on the rewards, and needs no horizon.

    See Also
    --------
    LBSDA : Compare arms on equal numbers of latest rewards.
    BESA : Compare two arms on equal numbers of their rewards.

    Examples
    --------
    >>> lr.trace(lr.LDSSDA(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    source: ClassVar[str] = "Baudry, Kaufmann, Maillard 2020, LDS-SDA"

    def block_start(self, spare: int, number: int) -> int:
        """Return how many of the leader's rewards come before its block, at most ``spare``."""
        u, digit = 0.0, 0.5
        while number > 0:
            u += digit * (number % 2)
            number //= 2
            digit /= 2.0
        return ceil(u * spare)

    def forced_pulls(self, number: int) -> float:
        """Return 0: no pull is forced."""
        return 0.0


def leading_arm(arms: Arms, clock: Clock, previous: int) -> int:
    """Return the place of the arm with the most pulls, then the best mean; ``previous`` wins a tie."""
    place = 0
    for i in range(1, clock.arms):
        arm, best = arms.at(i), arms.at(place)
        rank = arm.pulls, arm.mean, arm.number == previous
        if rank > (best.pulls, best.mean, best.number == previous):
            place = i
    return place


def block_sum(rewards: Any, start: int, n: int) -> float:
    """Return the sum of n rewards from a place on; they have two columns, with their totals."""
    total: float = rewards[start + n - 1, 1] - rewards[start, 1] + rewards[start, 0]
    if total != total:  # not all rewards are integers
        total = 0.0
        for k in range(start, start + n):
            total += rewards[k, 0]
    return total


class BESA(Policy):
    """Compare two arms on equal numbers of their rewards; for rewards of unknown form, without parameters.

    The winner of a tournament of pairs: of the arm with more pulls, as many rewards count as of the other.

    Baransi, Maillard and Mannor, "Sub-sampling for multi-armed bandits", ECML PKDD 2014, the algorithm BESA.
    The rewards that count are drawn without replacement, the larger mean wins, and a tie goes to the arm with
    fewer pulls. At every step the arms are put in random order, and each half of them has a winner of its
    own. Makes no assumption on the rewards, and needs no horizon. Looks at all rewards at every step.

    See Also
    --------
    LBSDA : Compare arms on equal numbers of latest rewards.
    NPTS : Thompson sampling by random weights of the rewards seen.

    Examples
    --------
    >>> lr.trace(lr.BESA(), [[1] * 9, [0] * 9], horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 0, 0, 0, 0, 0]
    """

    uses_rewards = True
    uses_totals = True
    source: ClassVar[str] = "Baransi, Maillard, Mannor 2014, BESA"

    def duel(self, one: Arm, other: Arm, clock: Clock, rng: Random) -> bool:
        """Return whether the first of two arms wins; with equal means and pulls, it does."""
        n = min(len(one.rewards), len(other.rewards))
        first, second = subsample_sum(one.rewards, n, rng), subsample_sum(other.rewards, n, rng)
        return first > second or (first == second and one.pulls <= other.pulls)


SPARSE_RATIO = 32
"""Skips are drawn, in place of a decision for every reward, if at most 1 in this many rewards counts."""


def subsample_sum(rewards: Any, n: int, rng: Random) -> float:
    """Return the sum of n of the rewards, drawn without replacement; they have two columns."""
    if 0 < n == len(rewards):
        return block_sum(rewards, 0, n)
    total, wanted, k = 0.0, n, 0
    while wanted > 0 and len(rewards) - k >= SPARSE_RATIO * wanted:
        k += drawn_skip(wanted, len(rewards) - k, rng)
        total += rewards[k, 0]
        k += 1
        wanted -= 1
    size, left = float(len(rewards) - k), float(wanted)
    while 0.0 < left < size:  # Knuth's algorithm S
        if rng.uniform() * size < left:
            total += rewards[k, 0]
            left -= 1.0
        size -= 1.0
        k += 1
    if left > 0.0:
        for j in range(k, len(rewards)):
            total += rewards[j, 0]
    return total


def drawn_skip(n: int, size: int, rng: Random) -> int:
    """Draw how many of ``size`` items come before the first one of a random set of n.

    By rejection (Vitter, "An efficient algorithm for sequential random sampling", ACM TOMS 13, 1987, method
    D): s has the probability f(s) = n / size times the product of (size - s - j) / (size - j) for j from 1 to
    n - 1. f lies below size / (size - n + 1) times the density n / size (1 - x / size)^(n - 1).

    Most draws are accepted by the first test. It is Bernoulli's inequality for the power of a ratio in the
    second one, less what rounding may change, so that both together accept what the second alone would.
    """
    while True:
        x = size * (1.0 - exp(log(1.0 - rng.uniform()) / n))
        s = int(x)
        if s > size - n:
            continue
        scale = (1.0 - rng.uniform()) * size / (size - n + 1.0)
        ratio = (1.0 - s / (size - n + 1.0)) / (1.0 - x / size)
        if scale <= 1.0 + (n - 1.0) * (ratio - 1.0) - 1e-6:
            return s
        limit = scale * exp((n - 1.0) * log(1.0 - x / size))
        if limit <= exp((n - 1.0) * log(1.0 - s / (size - n + 1.0))):  # which is below f(s)
            return s
        product = 1.0
        if n - 1 <= s:
            for j in range(1, n):
                product *= (size - s - j) / (size - j)
        else:
            product = size / (size - s)
            for j in range(s):
                product *= (size - n - j) / (size - j)
        if limit <= product:
            return s

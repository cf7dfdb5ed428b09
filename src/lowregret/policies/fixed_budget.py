"""Policies that look for the best arm with a fixed number of pulls, the horizon."""

from __future__ import annotations

from math import ceil, sqrt
from typing import ClassVar, NamedTuple

from lowregret.policies.annotations import Positive
from lowregret.policies.base import Policy
from lowregret.policies.views import NEVER, Arm, Arms, Clock


class Phase(NamedTuple):
    """A phase in which every active arm is pulled until it has ``pulls`` pulls in all."""

    number: int
    until: int
    pulls: int


def eliminate_worst(arms: Arms, clock: Clock) -> None:
    """Eliminate the active arm with the lowest mean, the last of several."""
    worst = -1
    for i in range(clock.arms):
        if arms.active(i) and (worst < 0 or arms.at(i).mean <= arms.at(worst).mean):
            worst = i
    arms.eliminate(worst)


def pulls_by_phase(phase: int, clock: Clock) -> int:
    """Return how many pulls each arm that is active has after a phase of successive rejects."""
    logbar = 0.5
    for i in range(2, clock.arms + 1):
        logbar += 1.0 / i
    return max(ceil((clock.horizon - clock.arms) / (logbar * (clock.arms + 1 - phase))), 1)


class SuccessiveRejects(Policy):
    r"""K - 1 phases, after each of which the arm with the lowest mean is rejected.

    Audibert, Bubeck and Munos, "Best arm identification in multi-armed bandits", COLT 2010. At the end of
    phase $k$ each of the $K + 1 - k$ arms left has $\lceil (T - K) / (h (K + 1 - k)) \rceil$ pulls, where $h
    = 1/2 + 1/2 + 1/3 + \dots + 1/K$. The arm left at the end is recommended, and gets the few pulls that
    remain. Of equal arms the later one is rejected, in the paper a random one. Assumes nothing of the scale
    of the rewards; needs the horizon $T$, its budget.

    Examples
    --------
    >>> table = [[1] * 20, [0] * 20, [0.5] * 20]
    >>> lr.trace(lr.SuccessiveRejects(), table, horizon=20, engine="reference").arm.tolist()
    [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2, 0, 2, 0]
    """

    round_robin = True
    warmup = 0
    needs = ("horizon",)
    identifies = True
    source: ClassVar[str] = "Audibert, Bubeck, Munos 2010"

    def first_round(self, clock: Clock) -> Phase:
        pulls = pulls_by_phase(1, clock)
        return Phase(1, clock.arms * pulls if clock.arms > 1 else NEVER, pulls)

    def next_round(self, arms: Arms, clock: Clock, round: Phase) -> Phase:
        """Reject the worst arm, and one more for each phase that has no pulls."""
        number, before, pulls = round.number, round.pulls, round.pulls
        while number < clock.arms and pulls == before:
            eliminate_worst(arms, clock)
            number += 1
            pulls = pulls_by_phase(number, clock) if number < clock.arms else before
        until = NEVER
        if number < clock.arms:
            until = clock.t + (pulls - before) * (clock.arms + 1 - number)
        return Phase(number, until, pulls)


class SequentialHalving(Policy):
    r"""ceil(log2 K) rounds of equal length, after each of which the worse half of the arms is rejected.

    Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013, Algorithm 1:
    each of the $s$ arms left is pulled $\lfloor T / (s \lceil \log_2 K \rceil) \rfloor$ times in a round,
    and the $\lceil s / 2 \rceil$ best stay. The means are taken over all rewards, or over the round
    alone. The arm left at the end is recommended, and gets the pulls that remain. Needs the horizon $T$,
    its budget.

    Parameters
    ----------
    reset : bool, default False
        Whether a round forgets the rewards before it.

    Examples
    --------
    >>> table = [[1] * 20, [0] * 20, [0.5] * 20, [0.2] * 20]
    >>> lr.trace(lr.SequentialHalving(), table, horizon=20, engine="reference").arm[:14].tolist()
    [0, 1, 2, 3, 0, 1, 2, 3, 0, 2, 0, 2, 0, 2]
    """

    reset: bool = False

    round_robin = True
    warmup = 0
    needs = ("horizon",)
    identifies = True
    source: ClassVar[str] = "Karnin, Koren, Somekh 2013, Algorithm 1"

    def first_round(self, clock: Clock) -> Phase:
        rounds = (clock.arms - 1).bit_length()
        pulls = max(clock.horizon // (clock.arms * max(rounds, 1)), 1)
        return Phase(1, clock.arms * pulls if clock.arms > 1 else NEVER, rounds)

    def next_round(self, arms: Arms, clock: Clock, round: Phase) -> Phase:
        """Reject the worse half of the arms; ``pulls`` is the number of rounds."""
        active = arms.count_active()
        for _ in range(active // 2):
            eliminate_worst(arms, clock)
        active -= active // 2
        if self.reset and active > 1:
            for i in range(clock.arms):
                arms.reset(i)
        until = NEVER
        if active > 1:
            until = clock.t + active * max(clock.horizon // (active * round.pulls), 1)
        return Phase(round.number + 1, until, round.pulls)


class UCBE(Policy):
    r"""m + sqrt(a / n): a UCB policy that explores so much that the mean is known well.

    Audibert, Bubeck and Munos, "Best arm identification in multi-armed bandits", COLT 2010. Their bound
    allows any $a$ up to $\frac{25}{36} (T - K) / H$, where $H$ is the sum of $1/\Delta^2$ over the gaps
    $\Delta$ of all arms, with the smallest gap for the best one; the larger $a$, the better the bound. $H$ is
    not known in practice. Recommends the best mean.

    Parameters
    ----------
    a : float, default 2
        How much it explores, positive.

    Examples
    --------
    >>> table = [[1] * 9, [0.5] * 9]
    >>> lr.trace(lr.UCBE(a=2), table, horizon=9, engine="reference").arm.tolist()
    [0, 1, 0, 0, 1, 0, 0, 0, 0]
    """

    a: Positive = 2.0

    index_trend = "constant"
    index_depends_on = ("pulls", "mean")
    needs = ("bounded rewards",)
    identifies = True
    source: ClassVar[str] = "Audibert, Bubeck, Munos 2010"

    def score(self, arm: Arm, clock: Clock) -> float:
        return arm.mean + sqrt(self.a / arm.pulls)

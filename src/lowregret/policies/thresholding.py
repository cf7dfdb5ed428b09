"""Policies that find which arms have a mean of at least a threshold, with a fixed number of pulls."""

from __future__ import annotations

from math import ceil, e, floor, log, log2, sqrt
from typing import ClassVar, NamedTuple

from lowregret.policies.annotations import NonNegative, Positive
from lowregret.policies.base import Policy
from lowregret.policies.views import Arm, Arms, Clock


class APT(Policy):
    """Pull the arm with the smallest sqrt(n) (|m - threshold| + margin).

    Locatelli, Gutzeit and Carpentier, "An optimal algorithm for the thresholding bandit problem", ICML 2016,
    Algorithm 1. Accepts the arms whose mean is at least the threshold. Needs no horizon.

    Parameters
    ----------
    threshold : float, default 0.5
        The threshold, tau in the paper.
    margin : float, default 0.05
        How close to the threshold either answer is right, at least 0; epsilon in the paper.

    Examples
    --------
    >>> table = [[1] * 9, [0.6] * 9]
    >>> lr.trace(lr.APT(0.5), table, horizon=9, engine="reference").arm.tolist()
    [0, 1, 1, 1, 1, 1, 1, 1, 1]
    """

    threshold: float = 0.5
    margin: NonNegative = 0.05

    index_trend = "constant"
    identifies = True
    source: ClassVar[str] = "Locatelli et al. 2016, Algorithm 1"

    def score(self, arm: Arm, clock: Clock) -> float:
        return -sqrt(arm.pulls) * (abs(arm.mean - self.threshold) + self.margin)

    def accepts(self, arm: Arm) -> bool:
        return arm.mean >= self.threshold


class Stage(NamedTuple):
    """A round of AugUCB."""

    number: int  # m
    until: int
    epsilon: float
    scale: float  # rho psi_m log(T epsilon_m) / 4
    deadline: float  # N_m


class AugUCB(Policy):
    r"""Pull the arm with the smallest |m - threshold| - 2 s, and drop arms beyond 2 s from the threshold.

    Mukherjee, Naveen, Sudarsanam and Ravindran, "Thresholding bandits with augmented UCB", IJCAI 2017,
    Algorithm 1: $s = \sqrt{\rho \psi_k (v + 1) \log(T \epsilon_k) / (4 n)}$ in stage $k$, with the
    variance $v$, $\epsilon_k = 2^{-k}$ and $\psi_k = T \epsilon_k / (128 \log^2(\frac{3}{16} K \log K))$.
    Accepts the arms whose mean is at least the threshold. The paper does not say what is pulled once all
    arms are dropped; here the last one keeps its turn. Needs the horizon $T$.

    Parameters
    ----------
    threshold : float, default 0.5
        The threshold, tau in the paper.
    rho : float, default 1/3
        How wide the intervals are, positive.

    Examples
    --------
    >>> table = [[1] * 9, [0.6] * 9, [0.5] * 9]
    >>> lr.trace(lr.AugUCB(0.5), table, horizon=9, engine="reference").arm.tolist()
    [0, 1, 2, 2, 1, 2, 2, 2, 2]
    """

    threshold: float = 0.5
    rho: Positive = 1 / 3

    eliminates_permanently = False
    index_trend = "constant"
    identifies = True
    needs = ("horizon",)
    source: ClassVar[str] = "Mukherjee et al. 2017, Algorithm 1"

    def first_round(self, clock: Clock) -> Stage:
        return self.stage(0, 1.0, 0, clock.arms, clock)

    def next_round(self, arms: Arms, clock: Clock, round: Stage) -> Stage:
        """Drop arms, and halve epsilon if that is due; this happens after every pull."""
        active = arms.count_active()
        for i in range(clock.arms):
            if active > 1 and arms.active(i):
                arm = arms.at(i)
                if abs(arm.mean - self.threshold) > 2.0 * self.width(arm, round):
                    arms.eliminate(i)
                    active -= 1
        last = floor(log2(clock.horizon / e) / 2.0)
        if clock.t >= round.deadline and round.number <= last:
            return self.stage(round.number + 1, round.epsilon / 2.0, clock.t, active, clock)
        return Stage(round.number, clock.t + 1, round.epsilon, round.scale, round.deadline)

    def stage(self, number: int, epsilon: float, now: int, active: int, clock: Clock) -> Stage:
        hardness = log(max(3.0 / 16.0 * clock.arms * log(clock.arms), 1e-9))
        level = log(max(clock.horizon * epsilon, 1.0))
        psi = clock.horizon * epsilon / (128.0 * hardness * hardness)
        pulls = ceil(min(2.0 * psi * level / epsilon, 1e15))
        return Stage(number, now + 1, epsilon, self.rho * psi * level / 4.0, float(now + active * pulls))

    def width(self, arm: Arm, round: Stage) -> float:
        return sqrt(round.scale * (arm.variance + 1.0) / arm.pulls)

    def score(self, arm: Arm, clock: Clock, round: Stage) -> float:
        return 2.0 * self.width(arm, round) - abs(arm.mean - self.threshold)

    def accepts(self, arm: Arm) -> bool:
        return arm.mean >= self.threshold

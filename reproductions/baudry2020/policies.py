"""Policies of Baudry, Kaufmann, Maillard 2020 that lowregret lacks.

next_round has no rng, so random places are a hash of (round, arm, counter): one fixed sequence for all runs.
"""

from math import log, sqrt

import lowregret as lr
from lowregret.policies.subsampling import DuelRound, block_sum, leading_arm


def uniform(a, b, c):
    """A number in [0, 1) from three integers (a Weyl sequence, twice folded)."""
    x = (a * 0.6180339887498949 + b * 0.7548776662466927 + c * 0.5698402909980532) % 1.0
    x = (x * 104729.0 + a * 0.41421356237) % 1.0
    return (x * 611953.0 + b * 0.73205080757 + c * 0.23606797750) % 1.0


class SDA(lr.LDSSDA):
    """The rounds of a sub-sampling duel; a subclass says whether a challenger wins."""

    def wins(self, leader, arm, number, changed):
        return False

    def next_round(self, arms, clock, round):
        number, place = round.number + 1, leading_arm(arms, clock, round.leader)
        leader, winners = arms.at(place), 0
        for i in range(clock.arms):
            arm = arms.at(i)
            n, forced = len(arm.rewards), self.forced_pulls(number)
            won = False
            if n < len(leader.rewards):
                won = n < forced or self.wins(leader, arm, number, leader.number != round.leader)
            if won:
                arms.reactivate(i)
                winners += 1
            else:
                arms.eliminate(i)
        if winners == 0:
            arms.reactivate(place)
            winners = 1
        return DuelRound(number, clock.t + winners, leader.number)


class RBSDA(SDA):
    """RB-SDA: the leader's n rewards from a random place on."""

    def wins(self, leader, arm, number, changed):
        n = len(arm.rewards)
        start = int(uniform(number, arm.number, 0) * (len(leader.rewards) - n))
        return block_sum(arm.rewards, 0, n) / n >= block_sum(leader.rewards, start, n) / n


class LB0(lr.LBSDA):
    """LB-SDA of 2020: no forced pulls."""

    def forced_pulls(self, number):
        return 0.0


class SSMC(SDA):
    """SSMC: all blocks of the leader if it is new, else the last one; forced pulls below sqrt(log(r))."""

    def forced_pulls(self, number):
        return sqrt(log(number))

    def wins(self, leader, arm, number, changed):
        n, size = len(arm.rewards), len(leader.rewards)
        mean = block_sum(arm.rewards, 0, n) / n
        if not changed:
            return mean >= block_sum(leader.rewards, size - n, n) / n
        total = 0.0
        for k in range(n):
            total += leader.rewards[k, 0]
        least = total
        for k in range(n, size):
            total += leader.rewards[k, 0] - leader.rewards[k - n, 0]
            least = min(least, total)
        return mean >= least / n - 1e-12


class ReBoot(lr.Policy):
    """ReBoot with Gaussian weights."""

    sigma: float = 1.5

    def normal_posterior(self, arm):
        s = arm.pulls + 2
        return arm.mean, sqrt(arm.pulls * arm.variance + 2 * s * self.sigma * self.sigma) / s


class FlatThompson(lr.Policy):
    """Gaussian Thompson sampling with an improper prior and variance 1: N(m, 1 / n)."""

    def normal_posterior(self, arm):
        return arm.mean, 1 / sqrt(arm.pulls)


class IMEDExp(lr.Policy):
    index_trend = "constant"
    uses_best = True

    def score(self, arm, clock):
        x = arm.mean / clock.best
        return -(arm.pulls * (x - 1 - log(x)) + log(arm.pulls))


def gamma(shape, rng):
    """Draw from Gamma(shape >= 1) (Marsaglia, Tsang): rng has none."""
    d = shape - 1 / 3
    c = 1 / sqrt(9 * d)
    while True:
        z = rng.normal()
        v = 1 + c * z
        if v > 0:
            v = v * v * v
            if log(1 - rng.uniform()) < 0.5 * z * z + d - d * v + d * log(v):
                return d * v


class ThompsonExp(lr.Policy):
    """S / Gamma(n): Thompson sampling for exponential rewards with Jeffreys' prior."""

    def sample(self, arm, clock, rng):
        return arm.mean * arm.pulls / gamma(float(arm.pulls), rng)

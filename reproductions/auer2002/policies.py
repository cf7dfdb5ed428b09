from math import ceil, e, log, sqrt
from typing import NamedTuple

import lowregret as lr


class EpsilonN(lr.Policy):
    """epsilon_n-GREEDY, epsilon_n = min(1, c K / (d^2 n))."""

    c: float = 0.05
    d: float = 0.1

    def sample(self, arm, clock, rng):
        epsilon = min(1.0, self.c * clock.arms / (self.d * self.d * clock.t))
        if rng.uniform_at(clock.t) < epsilon:
            return 2.0 + rng.uniform()
        return arm.mean


class Epochs(NamedTuple):
    r: int = 0
    left: int = 0


class UCB2(lr.Policy):
    """UCB2(alpha): play the chosen arm tau(r+1) - tau(r) times, tau(r) = ceil((1 + alpha)^r)."""

    alpha: float = 0.001
    Memory = Epochs

    def score(self, arm, clock):
        if arm.memory.left > 0:
            return 1e9
        tau = ceil((1 + self.alpha) ** arm.memory.r)
        n = max(clock.t - 1, tau)
        return arm.mean + sqrt((1 + self.alpha) * log(e * n / tau) / (2 * tau))

    def update_memory(self, arm, reward, clock):
        if clock.t <= clock.arms:
            return arm.memory
        r, left = arm.memory.r, arm.memory.left
        if left == 0:
            left = ceil((1 + self.alpha) ** (r + 1)) - ceil((1 + self.alpha) ** r)
            left = max(left, 1)
        left -= 1
        if left == 0:
            r += 1
        return Epochs(r, left)

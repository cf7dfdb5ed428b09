"""Policies of Besson, Kaufmann, Maillard, Seznec (thesis, chapter 6) that lowregret lacks."""

from math import e, exp, inf, log
from typing import NamedTuple

import lowregret as lr
from lowregret.special.divergences import bernoulli_kl_upper as upper


class Piece(NamedTuple):
    number: int
    until: int
    start: int


class Oracle(lr.Policy):
    """klUCB, restarted at the true change points: k T / 5, or (4 to 7) T / 8."""

    eighths: bool = False
    needs = ("rewards in [0, 1]", "horizon")
    warmup = 0
    eliminates_permanently = False

    def first_round(self, clock):
        return Piece(0, clock.horizon * 4 // 8 if self.eighths else clock.horizon // 5, 0)

    def next_round(self, arms, clock, round):
        for i in range(clock.arms):
            arms.reset(i)
        k = round.number + 1
        until = clock.horizon * (k + 4) // 8 if self.eighths else clock.horizon * (k + 1) // 5
        return Piece(k, until, clock.t)

    def score(self, arm, clock, round):
        if arm.pulls == 0:
            return inf
        return upper(arm.mean, log(max(clock.t - round.start, 1)) / arm.pulls)


class SWKLUCB(lr.Policy):
    tau: int = 200
    uses_rewards = True
    uses_times = True
    needs = ("rewards in [0, 1]",)

    def score(self, arm, clock):
        total, n, size = 0.0, 0, len(arm.rewards)
        while n < size and arm.rewards[size - 1 - n, 1] > clock.t - 1 - self.tau:
            total += arm.rewards[size - 1 - n, 0]
            n += 1
        if n == 0:
            return inf
        return upper(total / n, log(min(clock.t, self.tau)) / n)


class Disc(NamedTuple):
    n: float = 0.0
    total: float = 0.0
    time: int = 0


class DKLUCB(lr.Policy):
    gamma: float = 0.99
    Memory = Disc
    needs = ("rewards in [0, 1]",)

    def score(self, arm, clock):
        g = self.gamma ** (clock.t - 1 - arm.memory.time)
        n = arm.memory.n * g
        if n < 1e-9:
            return inf
        everything = (1 - self.gamma ** (clock.t - 1)) / (1 - self.gamma)
        return upper(min(max(arm.memory.total * g / n, 0.0), 1.0), log(max(everything, 1.0)) / n)

    def update_memory(self, arm, reward, clock):
        g = self.gamma ** (clock.t - arm.memory.time)
        return Disc(arm.memory.n * g + 1, arm.memory.total * g + reward, clock.t)


class Place(NamedTuple):
    place: int = 0
    tested: int = 0
    start: int = 0


class MKLUCB(lr.Policy):
    """M-UCB with klUCB: restart all arms if two halves of the last w rewards differ by b."""

    w: int = 150
    b: float = 40.0
    gamma: float = 0.05
    Memory = Place
    uses_rewards = True
    warmup = 0
    eliminates_permanently = False
    needs = ("rewards in [0, 1]",)

    def first_round(self, clock):
        return Piece(0, 0, 0)

    def score(self, arm, clock, round):
        if arm.pulls == 0:
            return inf
        period = int(clock.arms / self.gamma)
        if arm.memory.place > 0 and (clock.t - round.start - arm.memory.place) % period == 0:
            return inf
        return upper(arm.mean, log(max(clock.t - round.start, 1)) / arm.pulls)

    def next_round(self, arms, clock, round):
        changed = False
        for i in range(clock.arms):
            arm = arms.at(i)
            n = len(arm.rewards)
            if n != arm.memory.tested and n >= self.w:
                half = self.w // 2
                d = 0.0
                for k in range(n - half, n):
                    d += arm.rewards[k] - arm.rewards[k - half]
                changed = changed or abs(d) > self.b
            arms.set_memory(i, Place(i + 1, n, 0))
        if not changed:
            return round
        for i in range(clock.arms):
            arms.reset(i)
            arms.set_memory(i, Place(i + 1, 0, 0))
        return Piece(round.number + 1, 0, clock.t)


class Cusum(NamedTuple):
    seen: int = 0
    base: float = 0.0
    up: float = 0.0
    down: float = 0.0
    start: int = 0
    place: int = 0


class CUSUMKLUCB(lr.Policy):
    """CUSUM-UCB with klUCB: a change restarts its arm."""

    M: int = 150
    epsilon: float = 0.1
    h: float = 7.0
    gamma: float = 0.05
    Memory = Cusum
    warmup = 0
    eliminates_permanently = False
    needs = ("rewards in [0, 1]",)

    def first_round(self, clock):
        return Piece(0, 0, 0)

    def score(self, arm, clock, round):
        if arm.pulls == 0:
            return inf
        if arm.memory.place > 0 and (clock.t - arm.memory.place) % int(clock.arms / self.gamma) == 0:
            return inf
        return upper(arm.mean, log(max(clock.t - arm.memory.start, 1)) / arm.pulls)

    def update_memory(self, arm, reward, clock):
        m = arm.memory
        if m.seen < self.M:
            return Cusum(m.seen + 1, m.base + reward / self.M, 0.0, 0.0, m.start, m.place)
        up = max(0.0, m.up + reward - m.base - self.epsilon)
        down = max(0.0, m.down + m.base - reward - self.epsilon)
        return Cusum(m.seen + 1, m.base, up, down, m.start, m.place)

    def next_round(self, arms, clock, round):
        for i in range(clock.arms):
            m = arms.at(i).memory
            if max(m.up, m.down) >= self.h:
                arms.reset(i)
                arms.set_memory(i, Cusum(0, 0.0, 0.0, 0.0, clock.t, i + 1))
            else:
                arms.set_memory(i, Cusum(m.seen, m.base, m.up, m.down, m.start, i + 1))
        return Piece(round.number + 1, 0, 0)


class Weight(NamedTuple):
    w: float = 1.0
    last: float = -1.0  # the reward of the latest step, if this arm was pulled


class Exp3S(lr.Policy):
    """Exp3.S: weights of all arms change at every step, so they are kept by next_round."""

    gamma: float = 0.05
    share: float = 0.0002  # omega = 1 / T
    Memory = Weight
    uses_arms = True
    warmup = 0
    needs = ("rewards in [0, 1]",)

    def sample(self, arm, clock, rng):
        total = 0.0
        for i in range(clock.arms):
            total += arm.arms.at(i).memory.w
        p = (1 - self.gamma) * arm.memory.w / total + self.gamma / clock.arms
        return log(p) - log(-log(1 - rng.uniform()))

    def first_round(self, clock):
        return Piece(0, 0, 0)

    def update_memory(self, arm, reward, clock):
        return Weight(arm.memory.w, reward)

    def next_round(self, arms, clock, round):
        total = 0.0
        for i in range(clock.arms):
            total += arms.at(i).memory.w
        for i in range(clock.arms):
            m = arms.at(i).memory
            gain = 0.0
            if m.last >= 0:
                p = (1 - self.gamma) * m.w / total + self.gamma / clock.arms
                gain = m.last / p
            w = m.w * exp(self.gamma * gain / clock.arms) + e * self.share * total / clock.arms
            arms.set_memory(i, Weight(w / total, -1.0))
        return Piece(round.number + 1, 0, 0)

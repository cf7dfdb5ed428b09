"""What the notebooks of eelisee/varianceinucbalgorithms compute, where no policy of the package does."""

from math import ceil, e, floor, log, log2, sqrt
from typing import NamedTuple

import lowregret as lr


class Greedy(lr.Policy):
    """epsilon-greedy: with probability epsilon any arm, else the best mean."""

    epsilon: float = 0.05
    warmup = 0

    def sample(self, arm, clock, rng):
        if rng.uniform_at(clock.t) < self.epsilon:
            return 2.0 + rng.uniform()
        return arm.mean - 1e-9 * arm.number  # a tie goes to the first arm of the file


class ExploreThenFollow(lr.Policy):
    """ETC as the notebook has it: m pulls of each arm, then at each step the best mean so far."""

    m: int = 1000

    def score(self, arm, clock):
        if clock.t <= self.m * clock.arms:
            return -float(arm.pulls)
        return arm.mean - 1e-9 * arm.number  # a tie goes to the first arm


class Pass(NamedTuple):
    number: int
    until: int


class OnePull(lr.Policy):
    """UCB-Improved as the notebook has it: each phase has one pull of each arm, for the widths of many.

    The width of a phase is that of n = ceil(2 log(T D^2) / D^2) pulls, sqrt(log(T D^2) / (2 n)). After
    floor(log2(T / e) / 2) phases the arm of the best mean is played for ever.
    """

    needs = ("horizon",)

    def first_round(self, clock):
        return Pass(0, clock.arms)

    def score(self, arm, clock, round):
        return -float(arm.pulls)

    def next_round(self, arms, clock, round):
        number, gap = round.number, 0.5**round.number
        last = number + 1 >= floor(0.5 * log2(clock.horizon / e))
        level = log(clock.horizon * gap * gap)
        width = sqrt(level / (2 * ceil(2 * level / (gap * gap))))
        best, place = -1.0, 0
        for i in range(clock.arms):
            mean = arms.at(i).mean - 1e-9 * arms.at(i).number  # a tie goes to the first arm
            if arms.active(i) and mean > best:
                best, place = mean, i
        for i in range(clock.arms):
            if arms.active(i) and i != place and (last or arms.at(i).mean + width < best - width):
                arms.eliminate(i)
        if arms.count_active() == 1:
            return Pass(number + 1, lr.NEVER)
        return Pass(number + 1, clock.t + arms.count_active())


class Tuned(lr.Policy):
    """UCB-Tuned as the code has it."""

    index_trend = "increasing"

    def score(self, arm, clock):
        v = arm.variance + sqrt(2 * clock.log_t / arm.pulls)
        return arm.mean + sqrt(clock.log_t / arm.pulls * min(0.25, v))


class V(lr.Policy):
    """UCB-V with zeta = c = b = 1 as the code has it: 3 b c E / n."""

    index_trend = "increasing"

    def score(self, arm, clock):
        return arm.mean + sqrt(2 * arm.variance * clock.log_t / arm.pulls) + 3 * clock.log_t / arm.pulls


class PAC(lr.Policy):
    """PAC-UCB with q, beta."""

    q: float = 1.3
    beta: float = 0.05
    index_trend = "constant"

    def score(self, arm, clock):
        level = max(log(clock.arms * arm.pulls**self.q / self.beta), 2.0)
        return arm.mean + sqrt(2 * arm.variance * level / arm.pulls) + 3 * level / arm.pulls

"""Two arms on which EUCBV exceeds the bound of Theorem 1 of its paper, for large horizons.

Both arms have rewards r - d and r + d, each with probability 1/2; with d = 0 there is no noise. The regret of
a run is at least that of its first steps, so a horizon of 10^20 needs no run of that length.
"""

from random import Random
from typing import NamedTuple

from lowregret.policies import EUCBV, Arm
from lowregret.policies.views import clock_at
from lowregret.theory.formulas import C_0, theorem_1


class Excess(NamedTuple):
    """The regret of EUCBV in its first steps, beside the bound on the regret of the whole run."""

    horizon: int
    pulls: int  # of the suboptimal arm
    regret: float
    bound: float


def first_steps(
    horizon: int, gap: float = 0.1, d: float = 0.0, steps: int = 300_000, seed: int = 1
) -> Excess:
    """Play the first steps of a run of EUCBV on two arms, and evaluate Theorem 1 for the whole run.

    The bound is that for a b below the gap, with the constant C_0 that the proof implies. The gap is above 2
    d, so that the optimal arm is never eliminated.
    """
    policy, clock, draw = EUCBV(), clock_at(0, horizon, 2, 0.0), Random(seed).random
    round = policy.first_round(clock)
    means, pulls, sums = (0.5 + gap, 0.5), [0, 0], [0.0, 0.0]

    def seen(i: int) -> Arm:
        deviation = sums[i] / pulls[i]
        return Arm(i, pulls[i], means[i] + deviation, max(d * d - deviation * deviation, 0.0))

    scores = [0.0, 0.0]
    for t in range(1, steps + 1):
        chosen = t - 1 if t <= 2 else int(scores[1] > scores[0])
        pulls[chosen] += 1
        sums[chosen] += d if draw() < 0.5 else -d
        scores[chosen] = policy.score(seen(chosen), clock, round)
        if t >= 2 and scores[1] < policy.lower_bound(seen(0), clock, round):
            break  # the suboptimal arm is eliminated
        if t >= round.until:
            round = policy.after(round, t, 2)
            scores = [policy.score(seen(i), clock, round) for i in (0, 1)]
    bound = theorem_1((0.0, gap), (d * d, d * d), horizon)
    return Excess(horizon, pulls[1], gap * pulls[1], bound.value + bound.c_0 * C_0)

"""What the released scripts compute, where no policy and no testbed of the package does.

The scripts are on GitHub (Subhojyoti/EUCBV, commit 7f693c7, folder AAAI2018/codes). These classes repeat what
they do, so that the curves can be compared; they are not to be used for anything else. Arms of our testbeds
are in the order of the text, which is not that of the scripts, so two classes say where it matters.
"""

from dataclasses import replace
from functools import partial
from math import ceil, inf, log, sqrt
from typing import ClassVar, NamedTuple

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats
from lowregret.analysis.runs import Runs
from lowregret.environments import Bandit, gaussian, paper
from lowregret.policies import Policy
from lowregret.policies.views import Arm, Arms, Clock


class Squares(NamedTuple):
    """What `UCBVScript` keeps of an arm: squares of its rewards, 1 / n, and sqrt(v / n)."""

    first: float = 0.0
    later: float = 0.0  # the sum over all rewards but the first
    share: float = 1.0
    spread: float = 0.0


class UCBVScript(Policy):
    """m + sqrt(2 v log(t + 1) / n) + log(t + 1) / n, where v has the squared rewards of other arms.

    v = abs(q / n - m^2). After the first pulls, the sum q of the last arm gets every squared reward.
    """

    last: int = 0  # gets the squared rewards: a suboptimal arm, the last one of the scripts

    uses_arms = True
    Memory = Squares
    source: ClassVar[str] = "ucbV_expt2.py, ucbV_expt3.py, ucbV_expt4.py"

    def score(self, arm: Arm, clock: Clock) -> float:
        level = log(clock.t + 1.0)
        share: float = arm.memory.share
        spread: float = arm.memory.spread
        if arm.number == self.last:
            squares = arm.memory.first
            for i in range(clock.arms):
                squares += arm.arms.at(i).memory.later
            spread = sqrt(abs(squares * share - arm.mean * arm.mean) * share)
        return arm.mean + sqrt(2.0 * level) * spread + level * share

    def update_memory(self, arm: Arm, reward: float, clock: Clock) -> Squares:
        """Add the square of a reward; compute what stays until the next pull of the arm."""
        square, share = reward * reward, 1.0 / (arm.pulls + 1)
        first = arm.memory.first if arm.pulls else square
        later = arm.memory.later + square if arm.pulls else 0.0
        mean = (arm.mean * arm.pulls + reward) * share
        return Squares(first, later, share, sqrt(abs(first * share - mean * mean) * share))


class ThompsonScript(Policy):
    """A normal sample of mean S / (n + 1) and deviation 1 / (n + extra), S the sum of the rewards."""

    extra: int = 1  # added to the pulls: 1 in experiments 2 and 3, 2 in experiment 4

    warmup = 0
    source: ClassVar[str] = "ThompsonSampling_expt2_eucbv.py to ThompsonSampling_expt4_eucbv.py"

    def normal_posterior(self, arm: Arm) -> tuple[float, float]:
        return arm.mean * arm.pulls / (arm.pulls + 1.0), 1.0 / (arm.pulls + self.extra)


class Block(NamedTuple):
    """A round of `UCBImprovedScript`."""

    number: int
    until: int
    gap: float  # D
    pulls: int  # of each arm by the end of the round
    width: float  # sqrt(log(T D^2) / (2 n_D))


class UCBImprovedScript(Policy):
    """Rounds of n_D = ceil(2 log(T D^2) / D^2) more pulls of each arm; one arm after the other.

    The arms of the lowest mean come first, which is the order of falling numbers in our experiment 2.
    """

    warmup = 0
    index_trend = "constant"
    needs = ("horizon",)
    source: ClassVar[str] = "UCBRevisited.py"

    def first_round(self, clock: Clock) -> Block:
        return block_after(Block(-1, 0, 2.0, 0, 0.0), clock.horizon, 0, clock.arms)

    def score(self, arm: Arm, clock: Clock, round: Block) -> float:
        """Return minus the place of an arm in the order, of those that have pulls left in the round."""
        return -float((clock.arms - 2 - arm.number) % clock.arms) if arm.pulls < round.pulls else -inf

    def next_round(self, arms: Arms, clock: Clock, round: Block) -> Block:
        """Eliminate the arms whose upper end is below the best lower end, and halve D."""
        best = -inf
        for i in range(clock.arms):
            if arms.active(i):
                best = max(best, arms.at(i).mean - round.width)
        for i in range(clock.arms):
            if arms.active(i) and arms.at(i).mean + round.width < best:
                arms.eliminate(i)
        return block_after(round, clock.horizon, clock.t, arms.count_active())


def block_after(round: Block, horizon: int, now: int, active: int) -> Block:
    """Return the round of half the gap, which begins at time ``now`` with ``active`` arms."""
    gap = round.gap / 2.0
    level = log(max(horizon * gap * gap, 1.0))
    pulls = max(ceil(2.0 * level / (gap * gap)), 1)
    width = sqrt(level / (2.0 * pulls))
    return Block(round.number + 1, now + active * pulls, gap, round.pulls + pulls, width)


def testbed(number: int, kind: str) -> Bandit:
    """Return a testbed as a released script has it.

    ``noiseless``: all variances are 0. ``squared-variances``: the stated variances are taken for standard
    deviations. ``swapped-groups``: the same, with 33 arms of mean 0.07 and 66 of mean 0.01, not 66 and 33.
    """
    stated = paper(number)
    means, variances = stated.means, stated.variances
    if kind == "swapped-groups":
        order = [0] * 33 + [66] * 66 + [99]
        means, variances = means[order], variances[order]
    plotted = gaussian(means, 0.0 if kind == "noiseless" else variances**2)
    return replace(plotted, name=f"{stated.name}-{kind}", horizon=stated.horizon)


noiseless_2, noiseless_3, noiseless_4 = (partial(testbed, number, "noiseless") for number in (2, 3, 4))
squared_2, squared_3, squared_4 = (partial(testbed, number, "squared-variances") for number in (2, 3, 4))
swapped_2 = partial(testbed, 2, "swapped-groups")


def pulls_at_higher_variance(runs: Runs, arms: pl.DataFrame) -> Floats:
    """Return the mean pulls of arms of higher variance less those of lower variance, at the commonest gap.

    There is no number where no two suboptimal arms have equal gaps and different variances.
    """
    suboptimal = arms.filter(~pl.col("optimal")).with_columns(pl.col("gap").round(9))
    equal = suboptimal.filter(gap=suboptimal["gap"].mode().sort()[0])
    lower = equal.filter(pl.col("variance") < pl.col("variance").median())["arm"].to_numpy()
    higher = equal.filter(~pl.col("arm").is_in(lower.tolist()))["arm"].to_numpy()
    if not len(lower):
        return np.zeros(0)
    difference: Floats = runs.pulls[:, higher].mean(axis=1) - runs.pulls[:, lower].mean(axis=1)
    return difference

"""What the released scripts compute, against plain loops that do what they do."""

from math import ceil, log, sqrt

import numpy as np
import pytest

import lowregret as lr
from lowregret.policies import Arm
from lowregret.reproduction.plotted import CURVES
from lowregret.reproduction.script_policies import (
    SCRIPT_POLICIES,
    ThompsonScript,
    UCBImprovedScript,
    UCBVScript,
    plotted_policy,
)


def ucbv_of_the_scripts(rewards: np.ndarray, horizon: int) -> list[int]:
    """Play as ucbV_expt2.py does: from the second pull on every square goes to the last arm."""
    arms = len(rewards)
    pulls, sums, squares = [0] * arms, [0.0] * arms, [0.0] * arms
    chosen = []
    for t in range(1, horizon + 1):
        if t <= arms:
            arm = square_to = t - 1
        else:
            indices = []
            for i in range(arms):
                v = abs(squares[i] / pulls[i] - (sums[i] / pulls[i]) ** 2)
                indices.append(
                    sums[i] / pulls[i] + sqrt(2 * v * log(t + 1) / pulls[i]) + log(t + 1) / pulls[i]
                )
            arm, square_to = indices.index(max(indices)), arms - 1
        reward = rewards[arm, pulls[arm]]
        pulls[arm] += 1
        sums[arm] += reward
        squares[square_to] += reward * reward
        chosen.append(arm)
    return chosen


@pytest.mark.parametrize("arms", [2, 5])
def test_ucbv_adds_every_later_square_to_the_last_arm(arms: int) -> None:
    random = np.random.default_rng(arms)
    rewards = random.normal(np.linspace(0.3, 0.6, arms)[:, None], 0.4, (arms, 600))
    trace = lr.trace(UCBVScript(last=arms - 1), rewards, horizon=600, engine="reference")
    expected = ucbv_of_the_scripts(rewards, 600)
    assert trace.arm.tolist() == expected
    assert len(set(expected)) == arms
    own = lr.trace("UCBV(zeta=1, c=0.3333)", rewards, horizon=600, engine="reference")
    assert own.arm.tolist() != expected  # with the squares of the arm itself


def test_thompson_sampling_has_deviation_1_over_n() -> None:
    """The scripts count every arm once before the first pull."""
    arm = Arm(0, 3, 0.8, 0.1)
    assert ThompsonScript().normal_posterior(arm) == (pytest.approx(2.4 / 4), 1 / 4)
    assert ThompsonScript(extra=2).normal_posterior(arm) == (pytest.approx(2.4 / 4), 1 / 5)
    assert ThompsonScript().normal_posterior(Arm(0, 0, 0.0, 0.0)) == (0.0, 1.0)


def test_ucb_improved_adds_the_pulls_of_a_round_to_those_before() -> None:
    """Constant rewards; the script eliminates an arm if its mean is below the best one by twice the width."""
    means, horizon = [0.75, 0.0, 0.7, 1.0], 4_000
    expected: list[int] = []
    order, gap = [2, 1, 0, 3], 1.0
    while len(expected) < horizon:
        pulls = ceil(2 * log(horizon * gap**2) / gap**2)
        expected += [arm for arm in order for _ in range(pulls)]
        width = sqrt(log(horizon * gap**2) / (2 * pulls))
        order = [arm for arm in order if means[arm] + width >= 1.0 - width]
        gap /= 2
    rewards = np.repeat(np.array(means)[:, None], horizon, axis=1)
    trace = lr.trace(UCBImprovedScript(), rewards, horizon=horizon, engine="reference")
    assert trace.arm.tolist() == expected[:horizon]
    assert trace.active[-1] == len(order) < 4


def test_the_names_in_the_report_name_the_policies() -> None:
    names = [curve.our_policy for curve in CURVES]
    assert [str(plotted_policy(name)) for name in names] == names
    assert sum(type(plotted_policy(name)).__name__ in SCRIPT_POLICIES for name in names) == 8
    with pytest.raises(lr.InputError, match="unknown policy 'UCBScript'"):
        plotted_policy("UCBScript")

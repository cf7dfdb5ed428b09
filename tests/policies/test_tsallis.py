"""Tsallis-INF: its probabilities against those computed from the whole history as printed, and its draws."""

from math import sqrt

import numpy as np
import pytest
from scipy import optimize, stats

import lowregret as lr
from lowregret.engine.backends import reference
from lowregret.engine.encoding import encode
from lowregret.engine.kernels.rewards import reward as nth_reward
from lowregret.engine.kernels.rng import policy_rng
from lowregret.engine.problem import Problem
from lowregret.policies import Arm, clock_at
from lowregret.policies.tsallis import LossEstimate


def probabilities(losses, rate):
    """Solve for the normalisation x of Algorithm 1 by bisection."""
    least, arms = min(losses), len(losses)

    def weights(x):
        return 4 / (rate * (np.array(losses) - x)) ** 2

    ends = least - 2 * sqrt(arms) / rate - 1e-9, least - 2 / rate + 1e-9
    return weights(optimize.brentq(lambda x: weights(x).sum() - 1, *ends, xtol=1e-14, rtol=1e-15))


def replayed(arms, history, reduced):
    """Return the probabilities after a history of pulls, with the estimators of the paper."""
    losses, factor = np.zeros(arms), 4 if reduced else 2
    for t, (arm, reward) in enumerate(history, 1):
        rate = factor / sqrt(t)
        weights = probabilities(losses, rate)
        baseline = np.where(reduced & (weights >= rate**2), 0.5, 0.0)
        pulled = np.arange(arms) == arm
        losses += pulled * (1 - reward - baseline) / weights + baseline
    return losses, probabilities(losses, factor / sqrt(len(history) + 1))


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize(("arms", "horizon"), [(2, 1), (2, 300), (5, 2), (5, 400), (12, 150)])
def test_probabilities_are_those_of_the_source(reduced, arms, horizon):
    policy, bandit = lr.TsallisINF(reduced_variance=reduced), lr.beta(np.arange(1, arms + 1), arms)
    problem = Problem(policy, bandit, horizon, 3)
    encoding = encode(problem)
    rows = encoding.rows
    rows["key"] = np.arange(arms)
    pulled = reference.play_rows(problem, encoding, rows, 0).path[:, 0]
    numbers = [np.count_nonzero(pulled[:t] == arm) + 1 for t, arm in enumerate(pulled)]
    rewards = [nth_reward(rows[arm], bandit.data, n) for arm, n in zip(pulled, numbers, strict=True)]
    losses, expected = replayed(arms, list(zip(pulled, rewards, strict=True)), reduced)
    assert rows["memory_loss"] == pytest.approx(losses, rel=1e-8, abs=1e-8)
    assert rows["memory_probability"] == pytest.approx(expected, rel=1e-8)
    assert rows["memory_probability"].sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.heavy
def test_an_arm_is_drawn_with_its_probability():
    """20,000 draws; a correct sampler fails for one seed in ten thousand, and the seed is fixed."""
    shares, clock, rng = (
        np.array([0.6, 0.25, 0.1, 0.05]),
        clock_at(9, 100, 4, 0.0),
        policy_rng(1, 0),
    )
    arms = [Arm(i, 1, 0.0, 0.0, LossEstimate(0.0, share)) for i, share in enumerate(shares)]
    counts = np.zeros(4)
    for _ in range(20_000):
        counts[np.argmax([lr.TsallisINF().sample(arm, clock, rng) for arm in arms])] += 1
    assert stats.chisquare(counts, 20_000 * shares).pvalue > 1e-4


@pytest.mark.parametrize("reduced", [False, True])
def test_an_agent_logs_the_probabilities(reduced):
    names, history = ["x", "y", "z"], []
    agent = lr.Agent(lr.TsallisINF(reduced_variance=reduced), names, seed=5)
    for step in range(60):
        choice, expected = agent.ask(), replayed(3, history, reduced)[1]
        assert choice.propensity == pytest.approx(expected[names.index(choice.arm)], rel=1e-8)
        history.append((names.index(choice.arm), float(step % 3 == 0)))
        agent.tell(choice, history[-1][1])


def test_an_arm_that_must_be_pulled_in_vain_keeps_a_small_probability():
    agent = lr.Agent(lr.TsallisINF(), ["bad", "good"], seed=1)
    for _ in range(40):
        agent.tell(agent.ask(only=["bad"]), 0.1)
    assert agent.ask().arm == "good"
    choice = agent.ask()
    assert choice.arm == "good"
    assert choice.propensity > 0.999

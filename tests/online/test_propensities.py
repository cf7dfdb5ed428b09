"""The probabilities that agents log with their decisions."""

from collections import Counter
from math import exp, log

import pytest

import lowregret as lr


class Softmax(lr.Policy):
    """The arm i with a probability proportional to exp(m_i / temperature)."""

    temperature: float = 0.5

    def sample(self, arm, clock, rng):
        return arm.mean / self.temperature - log(-log(max(rng.uniform(), 1e-300)))

    def propensities(self, arms, clock):
        import numpy as np

        weights = np.exp(arms.mean / self.temperature)
        return weights / weights.sum()


def after_warmup(policy, seed=0):
    agent = lr.Agent(policy, ["a", "b", "c"], seed=seed)
    for _ in range(3):
        choice = agent.ask()
        assert choice.propensity == 1.0
        agent.tell(choice, {"a": 0.0, "b": 0.5, "c": 1.0}[choice.arm])
    return agent


def test_a_softmax_policy_states_its_propensities():
    total = sum(exp(mean / 0.5) for mean in (0.0, 0.5, 1.0))
    expected = {arm: exp(mean / 0.5) / total for arm, mean in (("a", 0.0), ("b", 0.5), ("c", 1.0))}
    counts = Counter()
    for seed in range(400):
        choice = after_warmup(Softmax(), seed).ask()
        assert choice.propensity == pytest.approx(expected[choice.arm])
        counts[choice.arm] += 1
    for arm, p in expected.items():  # within 4 standard errors
        assert abs(counts[arm] / 400 - p) < 4 * (p * (1 - p) / 400) ** 0.5


def test_epsilon_greedy_states_its_propensities():
    for seed in range(20):
        choice = after_warmup(lr.EpsilonGreedy(0.3), seed).ask()
        assert choice.propensity == pytest.approx(0.8 if choice.arm == "c" else 0.1)


def test_a_tie_goes_to_the_arm_with_fewest_pending_pulls():
    agent = lr.Agent(lr.EpsilonGreedy(0.0), ["a", "b", "c"], seed=2)
    for _ in range(3):
        agent.tell(agent.ask(), 1.0)
    chosen = agent.ask(3)
    assert {choice.arm for choice in chosen} == {"a", "b", "c"}
    assert all(choice.propensity == 1.0 for choice in chosen)


def test_only_changes_the_propensities():
    choice = after_warmup(Softmax(), 3).ask(only=["a", "b"])
    expected = exp(0.0) / (exp(0.0) + exp(1.0))
    assert choice.propensity == pytest.approx(expected if choice.arm == "a" else 1 - expected)


def test_thompson_sampling_states_none_and_index_policies_are_sure():
    assert lr.Agent(lr.ThompsonBeta(), ["a", "b"]).ask().propensity is None
    assert after_warmup(lr.UCB1()).ask().propensity == 1.0

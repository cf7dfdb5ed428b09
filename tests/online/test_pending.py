"""Whether pulls whose reward is pending count as pulls: for index policies, not for sampling policies."""

from collections import Counter

import numpy as np
import pytest

import lowregret as lr
from lowregret.policies import POLICIES

SAMPLING = {"BESA", "DiscountedThompson", "EpsilonGreedy", "ExpTSPlus", "MOTS", "NPTS", "PHE", "TsallisINF"}
SAMPLING |= {"KLMS", "MaillardSampling", "ThompsonBeta", "ThompsonGauss", "ThompsonNormal"}
SAMPLING |= {"TopTwoThompson", "TopTwoThompsonGauss", "TopTwoStopping"}
SAMPLING |= {"EBTC", "KLLUCB", "LUCB", "TrackAndStop"}


class Cautious(lr.ThompsonBeta):
    """Thompson sampling that counts pending pulls, as its author wants."""

    counts_pending = True


class MoreCautious(Cautious):
    """Inherits that."""


def test_a_class_says_whether_pending_pulls_count():
    for name, kind in POLICIES.items():
        assert kind.counts_pending == (name not in SAMPLING)
    assert Cautious.counts_pending and MoreCautious.counts_pending
    with pytest.raises(lr.InputError, match="counts_pending must be True or False, got 1"):
        type("Odd", (lr.ThompsonBeta,), {"counts_pending": 1})


def batch_of(policy, size):
    agent = lr.Agent(policy, ["a", "b"], seed=5)
    for arm, reward in (("a", 1.0), ("a", 0.0), ("b", 0.0), ("b", 0.0)):
        agent.tell(agent.ask(only=[arm]), reward)
    return [choice.arm for choice in agent.ask(size)]


def test_a_batch_of_thompson_sampling_follows_the_posterior():
    """P(Beta(2, 2) > Beta(1, 3)) = 0.8: outside 74% to 86% of 1,000 less than once in 100,000."""
    arms = batch_of(lr.ThompsonBeta(), 3_000)
    for start in (0, 1_000, 2_000):
        assert 740 < arms[start : start + 1_000].count("a") < 860
    assert batch_of(MoreCautious(), 3_000)[-1_000:].count("a") > 950


def test_a_batch_of_an_index_policy_spreads_over_the_arms():
    agent = lr.Agent(lr.UCB1(), ["a", "b", "c"], seed=1)
    for _ in range(9):
        agent.tell(agent.ask(), 0.5)
    assert sorted(Counter(choice.arm for choice in agent.ask(30)).values()) == [10, 10, 10]


@pytest.mark.parametrize("policy", [lr.ThompsonNormal(), lr.ThompsonBeta(), lr.EpsilonGreedy(0.5)], ids=str)
def test_nothing_known_and_much_pending(policy):
    """Where rewards of the warm-up are pending, their pulls count, or the index would not exist."""
    plain, fast = (lr.Agent(policy, ["a", "b", "c"], seed=2, log_propensities=True) for _ in range(2))
    fast.compile()
    draws = np.random.default_rng(1)
    pending = []
    for step in range(300):
        one, other = plain.ask(), fast.ask()
        assert (one.arm, one.time) == (other.arm, other.time)
        assert one.propensity == pytest.approx(other.propensity, abs=1e-8)
        assert 0 < one.propensity <= 1
        pending.append((one, other))
        if step > 60 and draws.random() < 0.6:
            pair, reward = pending.pop(draws.integers(len(pending))), float(draws.integers(2))
            for agent, choice in zip((plain, fast), pair, strict=True):
                agent.tell(choice, reward)

"""Top-two Thompson sampling against a plain implementation, and its propensities against frequencies."""

import numpy as np
import pytest

import lowregret as lr
from lowregret.policies.base import MAX_RESAMPLES
from lowregret.policies.thompson import top_two_shares


def plain_shares(first, share):
    """Add up the probabilities of all that may happen, sample by sample."""
    total = share * first
    for i, leads in enumerate(first):
        still = leads
        for _ in range(MAX_RESAMPLES):
            for j, other in enumerate(first):
                if j != i:
                    total[j] += (1 - share) * still * other
            still *= leads
        total[i] += (1 - share) * still
    return total


@pytest.mark.parametrize("first", [[0.5, 0.3, 0.2], [0.999, 0.001], [1.0, 0.0], [1 - 1e-9, 1e-9, 0.0]])
def test_the_shares_are_those_of_sampling_until_another_arm_is_first(first):
    first = np.array(first)
    shares = top_two_shares(first, 0.3)
    assert shares == pytest.approx(plain_shares(first.copy(), 0.3), rel=1e-9, abs=1e-15)
    assert shares.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("policy", [lr.TopTwoThompson(0.4), lr.TopTwoThompsonGauss(0.25, 0.4)])
def test_the_choices_of_an_agent_have_the_stated_propensities(policy):
    """4,000 choices in one state: a difference of 4.5 standard errors has odds below 1e-5."""
    agent = lr.Agent(policy, ["a", "b", "c"], log_propensities=True, seed=3)
    told = {"a": [1, 1, 0, 1], "b": [1, 0, 1, 0, 0], "c": [0, 0, 0]}
    for arm, rewards in told.items():
        agent.tell_many((agent.ask(only=[arm]), reward) for reward in rewards)
    choices = agent.ask(4_000)
    for arm in told:
        stated = next(choice.propensity for choice in choices if choice.arm == arm)
        count = sum(choice.arm == arm for choice in choices)
        assert abs(count - 4_000 * stated) < 4.5 * np.sqrt(4_000 * stated * (1 - stated))
    assert stated > 0.05


def plain_game(rewards, horizon, seed):
    """A second implementation with NumPy's random numbers; return the pulls of the best arm."""
    random, counts = np.random.default_rng(seed), np.ones((2, 2))  # failures and successes, plus 1
    pulls = np.zeros(2, int)
    for _ in range(horizon):
        arm = first = random.beta(counts[1], counts[0]).argmax()
        if random.random() >= 0.5:
            for _ in range(MAX_RESAMPLES):
                arm = random.beta(counts[1], counts[0]).argmax()
                if arm != first:
                    break
        counts[int(rewards[arm][pulls[arm]]), arm] += 1
        pulls[arm] += 1
    return pulls[1]


def test_its_pulls_are_distributed_as_those_of_a_plain_game():
    """40 games of each: the means differ by 4.5 standard errors with odds below 1e-5."""
    random, ours, plain = np.random.default_rng(8), [], []
    for seed in range(40):
        rewards = (random.random((2, 60)) < [[0.4], [0.6]]).astype(float)
        ours.append(lr.trace("TopTwoThompson", rewards, 60, seed, engine="reference").arm.sum())
        plain.append(plain_game(rewards, 60, seed))
    error = np.sqrt((np.var(ours) + np.var(plain)) / 40)
    assert abs(np.mean(ours) - np.mean(plain)) < 4.5 * error
    assert 25 < np.mean(ours) < 45  # about half of the pulls, where Thompson sampling has nearly all

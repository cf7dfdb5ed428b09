"""Late rewards on bandits whose means change: a reward is that of the step of its decision."""

import numpy as np
import pytest

import lowregret as lr

DRIFTS = {
    "piecewise": lr.piecewise_drift(
        lr.bernoulli([0.2, 0.5, 0.4]), {101: [0.7, 0.5, 0.1], 201: [0.1, 0.2, 0.3]}
    ),
    "sinusoidal": lr.sinusoidal_drift(lr.bernoulli([0.5, 0.5, 0.6]), [0.3, 0.3, 0], 150, [0, 0.5, 0]),
}
POLICIES = ["EUCBV", "UCB1", "ThompsonBeta", "SlidingWindowUCB"]
ZERO = lr.Delay.empirical([0, 0])
HORIZON = 300


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("policy", POLICIES)
def test_both_engines_agree_and_regret_is_that_of_the_path(policy, drift):
    bandit, late = DRIFTS[drift], {"delay": "geometric(mean=20, lost=0.1)", "batch": 3}
    options = {"runs": 2, "seed": 4, "grid": 7, "record_rewards": True, **late}
    fast = lr.simulate(policy, bandit, HORIZON, **options)[policy]
    plain = lr.simulate(policy, bandit, HORIZON, **options, engine="reference")[policy]
    assert fast.regret.tolist() == plain.regret.tolist()
    assert fast.pulls.tolist() == plain.pulls.tolist()
    assert fast.rewards == pytest.approx(plain.rewards)
    means = bandit.means_at(np.arange(1, HORIZON + 1))
    path = lr.trace(policy, bandit, HORIZON, seed=4, run=1, **late)
    lost = np.cumsum(means.max(axis=1) - means[np.arange(HORIZON), path.arm])
    assert fast.regret[1] == pytest.approx(lost[fast.grid - 1])
    assert fast.rewards[1].sum() == pytest.approx(path.reward.sum())


@pytest.mark.parametrize("policy", POLICIES)
def test_a_delay_of_0_changes_nothing(policy):
    bandit = DRIFTS["piecewise"]
    plain = lr.simulate(policy, bandit, HORIZON, runs=2, record_rewards=True)[policy]
    late = lr.simulate(policy, bandit, HORIZON, runs=2, record_rewards=True, delay=ZERO)[policy]
    assert late.regret.tolist() == plain.regret.tolist()
    assert late.pulls.tolist() == plain.pulls.tolist()
    assert late.rewards.tolist() == plain.rewards.tolist()


@pytest.mark.parametrize("policy", POLICIES)
def test_an_agent_makes_the_choices_of_the_simulator(policy):
    path = lr.trace(policy, DRIFTS["piecewise"], HORIZON, seed=3, delay=20)
    agent = lr.Agent(policy, ["0", "1", "2"], horizon=HORIZON, seed=3, matures_after=20, default_reward=0)
    for arm, reward in zip(path.arm, path.reward, strict=True):
        choice = agent.ask()
        assert choice.arm == str(arm)
        if reward:
            agent.tell(choice, 1)

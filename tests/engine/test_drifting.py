"""Runs on bandits whose means change, against closed forms, an independent game, and stationary runs."""

from math import pi, sqrt, tan

import numpy as np
import pytest

import lowregret as lr

DRIFTS = {
    "piecewise": lr.piecewise_drift(
        lr.bernoulli([0.2, 0.5, 0.4]), {201: [0.7, 0.5, 0.1], 401: [0.1, 0.2, 0.3]}
    ),
    "linear": lr.linear_drift(lr.gaussian([0.2, 0.5, 0.4], 0.1), [0.8, 0.3, 0.4], 500),
    "sinusoidal": lr.sinusoidal_drift(lr.bernoulli([0.5, 0.5, 0.6]), [0.3, 0.3, 0], 150, [0, 0.5, 0]),
    "table": lr.tabulated_drift(lr.beta([2, 2, 2], 2), np.random.RandomState(1).random_sample((60, 3)), 10),
}
HORIZON = 600
POLICIES = ["EUCBV", "UCB1", "ThompsonBeta", "SlidingWindowUCB"]
"""One of each form; test_late_drift.py plays the same ones, by the same machine code."""


def test_regret_of_a_fixed_arm_in_closed_form():
    steps = {"FixedArm(0)": 200 * 0.3 + 0 + 200 * 0.2, "FixedArm(1)": 200 * 0.2 + 200 * 0.1}
    for policy, regret in steps.items():
        found = lr.simulate(policy, DRIFTS["piecewise"], HORIZON, runs=2, engine="reference")
        assert found.regret(found.policies[0]).tolist() == pytest.approx([regret] * 2)
    line = lr.linear_drift(lr.bernoulli([0.2, 0.5]), [0.8, 0.5], 101)
    found = lr.simulate(["FixedArm(0)", "FixedArm(1)"], line, 201, runs=1, engine="reference")
    # arm 0 is behind at steps 1 to 50, by 0.006 a step less each time, then equal at step 51, then ahead
    assert found.regret("FixedArm(arm=0)").item() == pytest.approx(0.006 * 50 * 51 / 2)
    assert found.regret("FixedArm(arm=1)").item() == pytest.approx(0.006 * 50 * 51 / 2 + 100 * 0.3)
    wave = lr.sinusoidal_drift(lr.bernoulli([0.5, 0.5]), 0.3, 40, [0, 0.5])
    found = lr.simulate("FixedArm(0)", wave, 120, runs=1, engine="reference")
    assert found.regret("FixedArm(arm=0)").item() == pytest.approx(3 * 0.3 * 2 / tan(pi / 40))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("drift", ["piecewise", "sinusoidal"])
def test_both_engines_agree_and_regret_is_that_of_the_path(policy, drift):
    bandit = DRIFTS[drift]
    fast = lr.simulate(policy, bandit, HORIZON, runs=2, seed=4, grid=7, record_rewards=True)
    plain = lr.simulate(
        policy, bandit, HORIZON, runs=2, seed=4, grid=7, record_rewards=True, engine="reference"
    )
    assert fast[policy].regret.tolist() == plain[policy].regret.tolist()
    assert fast[policy].pulls.tolist() == plain[policy].pulls.tolist()
    assert fast[policy].rewards == pytest.approx(plain[policy].rewards)
    means = bandit.means_at(np.arange(1, HORIZON + 1))
    for run in range(2):
        path = lr.trace(policy, bandit, HORIZON, seed=4, run=run)
        lost = np.cumsum(means.max(axis=1) - means[np.arange(HORIZON), path.arm])
        assert fast[policy].regret[run] == pytest.approx(lost[fast[policy].grid - 1])
        assert fast[policy].rewards[run].sum() == pytest.approx(path.reward.sum())
    best = means.max(axis=1).sum()
    assert fast.finals["realised_regret"][0] == pytest.approx(best - fast[policy].rewards[0].sum())


@pytest.mark.parametrize("policy", POLICIES)
def test_a_drift_that_changes_nothing_leaves_every_policy_as_it_is(policy):
    still = lr.bernoulli([0.2, 0.5, 0.4, 0.45])
    same = lr.piecewise_drift(still, {50: still.means, 120: still.means})
    one, other = (lr.simulate(policy, bandit, 200, runs=2, seed=9, grid=4) for bandit in (still, same))
    name = one.policies[0]
    assert one[name].pulls.tolist() == other[name].pulls.tolist()
    assert one[name].regret == pytest.approx(other[name].regret)


def game(bandit, runs, draws):
    """Play UCB1 in many runs at once, with NumPy's generator; return the regrets."""
    arms = len(bandit)
    pulls, sums, regret = np.zeros((runs, arms)), np.zeros((runs, arms)), np.zeros(runs)
    each, means = np.arange(runs), bandit.means_at(np.arange(1, HORIZON + 1))
    for t in range(1, HORIZON + 1):
        if t <= arms:
            arm = np.full(runs, t - 1)
        else:
            arm = np.argmax(sums / pulls + np.sqrt(2 * np.log(t - 1) / pulls), axis=1)
        mean = means[t - 1][arm]
        if isinstance(bandit.arms[0], type(lr.bernoulli(0.5).arms[0])):
            reward = (draws.random(runs) < mean).astype(float)
        elif isinstance(bandit.arms[0], type(lr.gaussian(0, 1).arms[0])):
            reward = mean + sqrt(0.1) * draws.standard_normal(runs)
        else:
            reward = draws.beta(2, 2, runs) - 0.5 + mean
        pulls[each, arm] += 1
        sums[each, arm] += reward
        regret += means[t - 1].max() - mean
    return regret


@pytest.mark.parametrize("drift", DRIFTS)
def test_mean_regret_is_that_of_an_independent_game(drift):
    bandit = DRIFTS[drift]
    naive = game(bandit, 2_000, np.random.default_rng(3))
    found = lr.simulate("UCB1", bandit, HORIZON, runs=2_000, seed=1, grid=1).regret("UCB1")
    error = sqrt((naive.var() + found.var()) / 2_000)
    assert abs(naive.mean() - found.mean()) < 3 * error


def test_the_table_of_arms_has_averages_over_the_horizon():
    bandit = lr.piecewise_drift(lr.bernoulli([0.2, 0.5]), {76: [0.9, 0.5]})
    result = lr.simulate(["UCB1", "RoundRobin"], bandit, 100, runs=20, seed=1, engine="reference")
    assert result.arms["mean"].to_list() == pytest.approx([0.375, 0.5])
    assert result.arms["gap"].to_list() == pytest.approx([0.225, 0.1])
    assert result.arms["optimal"].to_list() == [False, True]
    row = result.summary(all=True).row(1, named=True)
    assert row["mean"] == pytest.approx(100 * (0.225 + 0.1) / 2, abs=0.5)
    assert row["worst05_low"] <= row["worst05"] <= row["worst05_high"]


def test_an_experiment_stores_what_simulate_returns(tmp_path):
    text = "bernoulli:0.2,0.5 | linear: means=0.6,0.5; steps=300"
    made = lr.Experiment(
        environments=[text, "bernoulli:0.2,0.5"], policies=["UCB1"], horizon=400, runs=6, seed=2
    )
    stored = made.run(tmp_path / "results")
    for environment in (text, "bernoulli:0.2,0.5"):
        direct = lr.simulate("UCB1", environment, 400, runs=6, seed=2)
        assert stored.outcome("UCB1", environment).pulls.tolist() == direct["UCB1"].pulls.tolist()
    again = lr.open_results(tmp_path / "results")
    assert again.arms.filter(environment=text)["mean"].to_list() == direct_averages(text)


def direct_averages(text):
    return lr.environment(text).averages(400)[0].tolist()

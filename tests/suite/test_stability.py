"""What the means of a run are worth: what the rewards of each run say, and too little where it must be."""

import numpy as np
import pytest

import lowregret as lr
from lowregret.suite.stability import STABILITY, stability

GREEDY = "EpsilonGreedy(epsilon=0)"


def test_numbers_are_those_of_the_rewards_of_each_run():
    bandit, runs, found = lr.bernoulli([0.4, 0.5, 0.9]) + lr.beta([2], [8]), 12, {"best": [], "worst": []}
    result = lr.simulate(["UCB1", "MOSSV"], bandit, horizon=20, runs=runs, seed=3)
    table = stability(bandit, 3, {name: result[name].pulls for name in ("UCB1", "MOSSV")})
    for run in range(runs):
        trace = lr.trace("MOSSV", bandit, horizon=20, seed=3, run=run)
        for arm, rows in ((2, found["best"]), (3, found["worst"])):
            rewards = trace.reward[trace.arm == arm]
            error = rewards.std(ddof=1) / len(rewards) ** 0.5 if len(rewards) > 1 else np.inf
            rows.append((rewards.mean(), error, len(rewards)))
    for which, arm in (("best", 2), ("worst", 3)):
        mean, error, n = np.array(found[which]).T
        inside = np.abs(mean - bandit.means[arm]) <= 1.959964 * error
        assert table["MOSSV"][f"cover_{which}"] == pytest.approx(inside.mean())
        bias = (mean - bandit.means[arm]).mean() / bandit.variances[arm] ** 0.5
        assert table["MOSSV"][f"bias_{which}"] == pytest.approx(bias)
        assert table["MOSSV"][f"spread_{which}"] == pytest.approx(n.std() / n.mean())
    assert n.min() == 1  # a run without an interval was among them


def test_pulls_of_another_run_keep_the_level_that_pulls_by_rewards_lose():
    bandit, names = lr.gaussian([0.5] * 3, 0.25), ["RoundRobin", "MOSSV", GREEDY]
    result = lr.simulate(names, bandit, horizon=600, runs=4_000, seed=1)
    table = stability(bandit, 1, {name: result[name].pulls for name in names})
    error = (0.95 * 0.05 / 4_000) ** 0.5
    assert table["RoundRobin"]["cover_best"] == table["RoundRobin"]["fixed_best"]
    assert abs(table["RoundRobin"]["cover_best"] - 0.95) < 4 * error
    assert table["RoundRobin"]["spread_best"] == 0
    assert table["MOSSV"]["fixed_best"] > table["MOSSV"]["cover_best"] + 4 * error
    assert table[GREEDY]["bias_best"] < table["MOSSV"]["bias_best"] < -0.01


def test_policies_may_have_fewer_runs_or_no_pulls_of_an_arm():
    bandit = lr.bernoulli([0.4, 0.6])
    pulls = {"many": np.array([[5, 5]] * 4), "few": np.array([[9, 0]] * 2)}
    table = stability(bandit, 0, pulls)
    assert list(table["few"]) == list(STABILITY)
    alone = stability(bandit, 0, {"few": pulls["few"]})["few"]
    assert np.array_equal([*table["few"].values()], [*alone.values()], equal_nan=True)
    assert table["few"]["cover_best"] == 1 and np.isnan(table["few"]["bias_best"])
    assert table["few"]["spread_worst"] == 0

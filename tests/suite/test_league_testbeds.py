"""The testbeds: as many as promised, of every kind, and the halves have nothing in common."""

import numpy as np
import pytest

import lowregret as lr
from lowregret.suite import league_testbeds as suite


@pytest.fixture(scope="module")
def bandits():
    return {name: bed.bandit() for name, bed in suite.TESTBEDS.items()}


def test_there_are_25_to_50_testbeds_in_two_halves(bandits):
    halves = [bed.half for bed in suite.TESTBEDS.values()]
    assert 25 <= len(bandits) <= 50
    assert halves.count(suite.DEVELOPMENT) >= 10
    assert halves.count(suite.TEST) >= 10
    assert halves.count(suite.DEVELOPMENT) + halves.count(suite.TEST) == len(halves)


def test_every_testbed_is_a_problem_with_a_reason(bandits):
    for name, bandit in bandits.items():
        bed = suite.TESTBEDS[name]
        assert bandit.name == name
        assert bandit.horizon == bed.horizon >= len(bandit)
        assert bed.reason
        assert 0 < bandit.gaps.max() < np.inf


def test_the_halves_share_no_bandit(bandits):
    arms = {
        half: {bandit.arms for name, bandit in bandits.items() if suite.TESTBEDS[name].half == half}
        for half in (suite.DEVELOPMENT, suite.TEST)
    }
    assert not arms[suite.DEVELOPMENT] & arms[suite.TEST]


def test_the_kinds_that_were_promised_are_there(bandits):
    assert [bandits[f"paper-{k}"].arms == lr.paper(k).arms for k in (1, 2, 3, 4)] == [True] * 4
    assert max(map(len, bandits.values())) == 1000
    assert any(len(bandit) == 2 for bandit in bandits.values())
    assert any(bandit.horizon < 4 * len(bandit) for bandit in bandits.values())
    assert any(bandit.horizon == len(bandit) ** 2 for bandit in bandits.values())
    assert any(np.isinf(bandit.support[0]) for bandit in bandits.values())
    assert any(bandit.support[1] < 0.5 for bandit in bandits.values())
    low, high = bandits["gaussian-best-low"], bandits["gaussian-best-high"]
    assert low.variances[low.best] < low.variances.max()
    assert high.variances[high.best] > high.variances.min()


def test_draws_and_data_do_not_change(bandits):
    assert bandits["prior-uniform"].means[:3].tolist() == [0.07127, 0.8305, 0.534]
    assert bandits["oats"].means.tolist() == pytest.approx([0.39694, 0.49444, 0.57111, 0.61694], abs=1e-5)
    assert bandits["pareto"].means == pytest.approx([0.2] * 4 + [0.25], abs=1e-6)


def test_a_common_variance_is_known_for_gaussian_arms_alone():
    assert suite.common_variance(lr.gaussian([0.1, 0.2], 0.5)) == 0.5
    assert suite.common_variance(lr.gaussian([0.1, 0.2], [0.5, 0.4])) is None
    assert suite.common_variance(lr.bernoulli([0.5, 0.5])) is None


def test_an_unknown_testbed_is_named():
    with pytest.raises(lr.InputError, match="unknown testbed 'nope': use one of paper-1"):
        suite.testbed("nope")

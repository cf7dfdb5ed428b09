"""What the published curves were made with."""

import pytest

import lowregret as lr
from lowregret.reproduction.plotted_curves import CURVES, RELEASED
from lowregret.reproduction.published_curves import REGRETS, TIMES
from lowregret.reproduction.plotted_testbeds import paper_testbed
from lowregret.policies.policy_string import policy


def test_they_are_the_published_curves_in_the_same_order():
    known = [(number, name) for number, curves in REGRETS.items() for name in curves]
    assert [curve[:2] for curve in CURVES] == known


def test_every_configuration_is_written_as_it_prints():
    for curve in CURVES:
        assert curve.plays is None or str(policy(curve.plays)) == curve.plays


def test_what_is_not_reproduced_has_a_reason():
    assert all(curve.differs for curve in CURVES if curve.plays is None)
    missing = [curve.policy for curve in CURVES if curve.plays is None]
    assert {name: missing.count(name) for name in missing} == {"UCB-V": 4, "UCB-Improved": 1, "TS-G": 3}


@pytest.mark.parametrize("number", [2, 3, 4])
def test_eucbv_without_noise_gives_the_published_curve(number):
    """No randomness is left, so one run says all."""
    (curve,) = (curve for curve in CURVES if curve[:2] == (number, "EUCBV"))
    assert curve.plays == RELEASED
    bandit = paper_testbed(number, curve.testbed)
    result = lr.simulate(curve.plays, bandit, runs=1, seed=1, grid=list(TIMES[number]))
    found = dict(result.curve().select("t", "mean").iter_rows())
    regrets = [found[t] for t in TIMES[number]]
    assert regrets == pytest.approx(list(REGRETS[number]["EUCBV"]), abs=0.01)

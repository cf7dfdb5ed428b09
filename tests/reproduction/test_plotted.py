"""Testbeds and policies of the published curves."""

import numpy as np
import pytest

import lowregret as lr
from lowregret.environments import paper
from lowregret.errors import InputError
from lowregret.policies.policy_string import policy
from lowregret.reproduction.plotted import CURVES, RELEASED, paper_testbed
from lowregret.reproduction.published import REGRETS, TIMES


def test_the_curves_are_the_published_ones_in_the_same_order():
    known = [(number, name) for number, curves in REGRETS.items() for name in curves]
    assert [curve[:2] for curve in CURVES] == known


def test_every_policy_string_is_canonical():
    for curve in CURVES:
        assert curve.our_policy is None or str(policy(curve.our_policy)) == curve.our_policy


def test_curves_that_are_not_reproduced_have_a_reason():
    assert all(curve.deviation for curve in CURVES if curve.our_policy is None)
    missing = [curve.policy for curve in CURVES if curve.our_policy is None]
    assert {name: missing.count(name) for name in missing} == {"UCB-V": 4, "UCB-Improved": 1, "TS-G": 3}


@pytest.mark.parametrize("number", [2, 3, 4])
def test_eucbv_without_noise_gives_the_published_curve(number):
    """Runs are deterministic, so one is enough."""
    (curve,) = (curve for curve in CURVES if curve[:2] == (number, "EUCBV"))
    assert curve.our_policy == RELEASED
    bandit = paper_testbed(number, curve.testbed)
    result = lr.simulate(curve.our_policy, bandit, runs=1, seed=1, grid=list(TIMES[number]))
    found = dict(result.curves().select("t", "mean").iter_rows())
    regrets = [found[t] for t in TIMES[number]]
    assert regrets == pytest.approx(list(REGRETS[number]["EUCBV"]), abs=0.01)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_default_testbed_is_the_stated_one(number):
    assert paper_testbed(number) == paper(number)


@pytest.mark.parametrize("number", [2, 3, 4])
def test_plotted_testbeds_differ_in_variance(number):
    stated = paper(number)
    for kind, variances in (
        ("noiseless", 0.0 * stated.variances),
        ("squared-variances", stated.variances**2),
    ):
        bandit = paper_testbed(number, kind)
        assert (bandit.name, bandit.horizon) == (f"paper-{number}-{kind}", stated.horizon)
        assert np.array_equal(bandit.means, stated.means)
        assert np.array_equal(bandit.variances, variances)


def test_swapped_groups_have_each_other_s_size():
    groups = {}
    for arm in paper_testbed(2, "swapped-groups").arms:
        groups[arm.mean, round(arm.variance, 12)] = groups.get((arm.mean, round(arm.variance, 12)), 0) + 1
    assert groups == {(0.07, 1e-4): 33, (0.01, 0.0625): 66, (0.09, 0.0625): 1}


@pytest.mark.parametrize(("number", "kind"), [(1, "noiseless"), (3, "swapped-groups"), (2, "unknown")])
def test_an_unknown_testbed_is_refused(number, kind):
    with pytest.raises(InputError, match=rf"^testbed: experiment {number} has no testbed '{kind}'$"):
        paper_testbed(number, kind)


def test_what_is_inferred_from_the_result_is_said():
    """Only MOSS in experiment 1 was chosen for the regret that it gives."""
    chosen = [curve[:2] for curve in CURVES if "chosen because it gives" in curve.inferred]
    assert chosen == [curve[:2] for curve in CURVES if curve.chosen] == [(1, "MOSS")]
    assert all(curve.read.startswith(curve.file) and curve.file.endswith(".py") for curve in CURVES)
    unreleased = {curve[:2] for curve in CURVES if "not released" in curve.inferred}
    assert {(number, "MOSS") for number in (3, 4)} <= unreleased

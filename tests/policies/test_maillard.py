"""Maillard sampling: its probabilities against the printed formulas, and its draws."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import rel_entr

import lowregret as lr
from lowregret.engine.kernels.rng import policy_rng
from lowregret.policies import Arm, clock_at

PULLS, MEANS = np.array([40, 7, 12, 3]), np.array([0.5, 0.3, 0.45, 1 / 3])


def printed(policy, pulls, means, best):
    """Compute the probabilities as the papers print them."""
    if isinstance(policy, lr.KLMS):
        weights = np.exp(-pulls * (rel_entr(means, best) + rel_entr(1 - means, 1 - best)))
    else:
        weights = np.exp(-pulls * (means - best) ** 2 / (2 * policy.variance))
    return weights / weights.sum()


def view(pulls, means):
    """Return all arms at once, as an agent passes them."""
    return Arm(np.arange(len(pulls)), pulls, means, means * (1 - means))


@pytest.mark.parametrize("policy", [lr.KLMS(), lr.MaillardSampling(), lr.MaillardSampling(variance=0.02)])
def test_probabilities_are_those_of_the_source(policy):
    shares = policy.propensities(view(PULLS, MEANS), clock_at(63, 1000, 4, 0.5))
    assert shares == pytest.approx(printed(policy, PULLS, MEANS, 0.5), rel=1e-12)
    without_best = policy.propensities(view(PULLS[1:], MEANS[1:]), clock_at(63, 1000, 4, 0.5))
    assert without_best == pytest.approx(printed(policy, PULLS[1:], MEANS[1:], 0.5), rel=1e-12)


@pytest.mark.parametrize("policy", [lr.KLMS(), lr.MaillardSampling()])
def test_an_arm_is_drawn_with_its_probability(policy):
    """A correct sampler fails for one seed in ten thousand, and the seed is fixed."""
    clock, rng, counts = clock_at(63, 1000, 4, 0.5), policy_rng(1, 0), np.zeros(4)
    arms = [Arm(i, int(n), float(mean), 0.25) for i, (n, mean) in enumerate(zip(PULLS, MEANS, strict=True))]
    for _ in range(4_000):
        counts[np.argmax([policy.sample(arm, clock, rng) for arm in arms])] += 1
    assert stats.chisquare(counts, 4_000 * printed(policy, PULLS, MEANS, 0.5)).pvalue > 1e-4


def test_means_of_0_and_1_and_very_many_pulls_have_probabilities():
    pulls, means = np.array([5, 5, 10**9]), np.array([1.0, 0.0, 0.5])
    for policy in (lr.KLMS(), lr.MaillardSampling()):
        shares = policy.propensities(view(pulls, means), clock_at(10**9, 10**9, 3, 1.0))
        assert shares.sum() == pytest.approx(1.0)
        assert shares[0] > 0.99 and shares[2] < 1e-300
    all_excluded = lr.KLMS().propensities(view(pulls[1:], means[1:]), clock_at(10**9, 10**9, 3, 1.0))
    assert all_excluded.tolist() == [0.5, 0.5]


def test_kl_moss_is_kl_ucb_switch_that_does_not_switch():
    table = (np.random.default_rng(4).random((4, 120)) < [[0.2], [0.5], [0.4], [0.45]]).astype(float)
    one, other = (
        lr.trace(policy, table, horizon=120, engine="reference").arm
        for policy in (lr.KLMOSS(), lr.KLUCBSwitch(exponent=1))
    )
    assert one.tolist() == other.tolist()

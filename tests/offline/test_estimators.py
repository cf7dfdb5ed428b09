"""Inverse propensity, against numbers computed by hand and in repeated logs."""

from math import sqrt

import numpy as np
import pytest

from lowregret.offline.estimators import Estimate, doubly_robust, ips, snips

WEIGHT = np.array([2.0, 0.0, 4.0, 0.0])
REWARD = np.array([1.0, 5.0, 0.5, 7.0])


def test_ips_by_hand():
    """Terms 2, 0, 2, 0: mean 1, variance 4 / 3, so the error is sqrt(4 / 3 / 4)."""
    assert ips(WEIGHT, REWARD) == Estimate(2, 1.0, pytest.approx(sqrt(1 / 3)))


def test_snips_by_hand():
    """v = 4 / 6; sum of w^2 (x - v)^2 = 4 / 9 + 16 / 36 = 8 / 9; the error is sqrt(2 * 8 / 9) / 6."""
    assert snips(WEIGHT, REWARD) == Estimate(2, pytest.approx(2 / 3), pytest.approx(sqrt(16 / 9) / 6))


def test_doubly_robust_by_hand():
    """Arms 0, 1, 0, 1 with shares 1/4, 3/4, propensities 1/2; the mean of the log is 2.5.

    Row 1 has both at 2.5: 2.5 + 0.5 (4 - 2.5) = 3.25. Row 2 has 4 and 2.5: 2.875 + 1.5 (2 - 2.5) = 2.125.
    Row 3 has 4 and 2: 2.5 + 0.5 (1 - 4) = 1. Row 4 has 2.5 and 2: 2.125 + 1.5 (3 - 2) = 3.625.
    """
    shares, arm, reward = np.array([0.25, 0.75]), np.array([0, 1, 0, 1]), np.array([4.0, 2.0, 1.0, 3.0])
    terms = np.array([3.25, 2.125, 1.0, 3.625])
    estimate = doubly_robust(shares, arm, np.full(4, 0.5), reward)
    assert estimate == Estimate(4, pytest.approx(terms.mean()), pytest.approx(terms.std(ddof=1) / 2))
    shifted = doubly_robust(shares, arm, np.full(4, 0.5), reward + 1e6)
    assert shifted.mean == pytest.approx(estimate.mean + 1e6)
    assert shifted.se == pytest.approx(estimate.se)
    assert doubly_robust(shares, arm, np.full(4, 0.5), np.full(4, 3.0)) == Estimate(4, 3.0, None)
    assert doubly_robust(shares, arm[:1], np.full(1, 0.5), reward[:1]) == Estimate(1, 4.0, None)


def test_equal_weights_give_the_plain_mean_and_its_error():
    reward = np.array([0.0, 1.0, 1.0, 3.0])
    mean, se = reward.mean(), reward.std(ddof=1) / 2
    for estimate in (ips(np.ones(4), reward), snips(np.full(4, 7.0), reward)):
        assert estimate == Estimate(4, pytest.approx(mean), pytest.approx(se))
        low, high = estimate.interval
        assert (low + high) / 2 == pytest.approx(mean)
        assert (high - low) / 2 == pytest.approx(3.182446 * se)  # Student's, 3 degrees


def test_too_little_gives_no_error_and_no_interval():
    assert snips(np.zeros(2), np.ones(2)) == Estimate(0, None, None)
    assert snips(np.array([1.0, 0.0]), np.ones(2)) == Estimate(1, 1.0, None)
    assert ips(np.ones(1), np.ones(1)) == Estimate(1, 1.0, None)
    assert snips(np.ones(9), np.zeros(9)).interval is None
    assert ips(np.full(9, 0.1), np.full(9, 0.3)).interval is None


def test_intervals_cover():
    """1,000 skew logs: coverage of 95% has an error of 0.7%, so outside 92 to 98 less than once in 10,000."""
    draws = np.random.default_rng(11)
    chance, means = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.5, 0.6])
    covered = dict.fromkeys((ips, snips, doubly_robust), 0)
    for _ in range(1000):
        arm = draws.choice(3, 600, p=chance)
        reward = (draws.random(600) < means[arm]).astype(float)
        weight, shares = 1 / 3 / chance[arm], np.full(3, 1 / 3)
        robust = doubly_robust(shares, arm, chance[arm], reward)
        for method, estimate in (
            (ips, ips(weight, reward)),
            (snips, snips(weight, reward)),
            (doubly_robust, robust),
        ):
            low, high = estimate.interval
            covered[method] += low <= means.mean() <= high
    for count in covered.values():
        assert 920 <= count <= 980

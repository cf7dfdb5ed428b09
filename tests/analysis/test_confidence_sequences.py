"""Intervals of single means against independent formulas, and how often they miss."""

import json
from math import lgamma, log
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, optimize, special

from lowregret.analysis.confidence_sequences import (
    PRIOR_REWARDS,
    TILT_SHARE,
    Totals,
    beta_binomial,
    log_gamma,
    mean_intervals,
    single_bets,
)


def totals(pulls, total, squares=None):
    pulls, total = np.atleast_1d(pulls).astype(float), np.atleast_1d(total).astype(float)
    return Totals(pulls, total, total if squares is None else np.atleast_1d(squares).astype(float))


def test_the_logarithm_of_the_gamma_function():
    z = np.concatenate([np.geomspace(1e-9, 1e9, 200), np.arange(1.0, 30.0)])
    assert log_gamma(z) == pytest.approx([lgamma(value) for value in z], rel=4e-15, abs=2e-14)


@pytest.mark.parametrize(("pulls", "total", "mean"), [(50, 3, 0.2), (50, 0, 0.05), (40, 12.7, 0.4)])
def test_the_mixture_is_the_integral_over_likelihood_ratios(pulls, total, mean):
    def ratio(p):
        weight = special.xlogy(PRIOR_REWARDS * mean - 1, p) + special.xlog1py(
            PRIOR_REWARDS * (1 - mean) - 1, -p
        )
        weight -= special.betaln(PRIOR_REWARDS * mean, PRIOR_REWARDS * (1 - mean))
        likelihood = total * log(p / mean) + (pulls - total) * log((1 - p) / (1 - mean))
        return np.exp(weight + likelihood)

    whole = integrate.quad(ratio, 0, 1, epsabs=1e-13, epsrel=1e-12, points=[mean])[0]
    assert np.exp(beta_binomial(totals(pulls, total), np.array([mean]))) == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize(
    ("pulls", "total"),
    [(1, 0), (1, 1), (20, 1), (20, 2), (20, 20), (166, 7), (10**5, 200), (10**6, 5 * 10**5)],
)
def test_the_ends_of_an_interval_are_where_the_mixture_reaches_the_limit(pulls, total):
    low, high = (end.item() for end in mean_intervals(totals(pulls, total), 0.05))
    limit, mean = log(1 / (0.05 * TILT_SHARE)), total / pulls

    def excess(m):
        return beta_binomial(totals(pulls, total), np.array([m])).item() - limit

    for end, outer, few in ((low, 1e-12, total < 2), (high, 1 - 1e-12, pulls - total < 2)):
        if few:
            assert end == round(outer)
        else:
            assert end == pytest.approx(optimize.brentq(excess, outer, mean, xtol=1e-15), abs=2e-11)


def test_bets_are_below_what_betting_on_every_reward_earns():
    """The closed form must stay below the mean of products of 1 + c y, which are the martingales."""
    random = np.random.default_rng(4)
    for _ in range(20):
        rewards = random.beta(*random.uniform(0.2, 5, 2), 30)
        mean = random.uniform(0.05, 0.95)
        bets = 0.9 * 3.0 ** -np.arange(9.0)[:, None]
        earned = [
            (1 + bets * y).prod(axis=1) for y in ((rewards - mean) / mean, (mean - rewards) / (1 - mean))
        ]
        arm = totals(30, rewards.sum(), (rewards**2).sum())
        sides = [single_bets(arm, np.array([mean]), np.array(side)).item() for side in (0.0, 1.0)]
        ours = np.logaddexp(*sides)
        assert ours <= log(np.mean(earned)) + 1e-12


def test_an_end_is_excluded_by_bets_on_its_own_side_and_the_mixture_where_that_is_monotone():
    """What excludes an end must also exclude all means beyond: bets on the other side do not."""
    random, size = np.random.default_rng(1), 2_000
    pulls = np.exp(random.uniform(log(2), log(1e6), size)).round()
    means = np.where(random.random(size) < 0.5, 10 ** random.uniform(-5, 0, size), random.random(size))
    total = pulls * means
    arms = totals(
        pulls, total, pulls * means**2 + (total - pulls * means**2) * 10 ** random.uniform(-7, 0, size)
    )
    for smaller, end in enumerate(mean_intervals(arms, 0.05)):
        tilts = beta_binomial(arms, end)
        few = (arms.pulls - arms.total if smaller else arms.total) <= 1
        tilts = np.where(few | (tilts <= 0), 0.0, np.exp(np.minimum(tilts, 600)))
        bets = np.exp(np.minimum(single_bets(arms, end, np.array(smaller)), 600))
        excluded = TILT_SHARE * tilts + (1 - TILT_SHARE) * bets >= 20 * (1 - 1e-9)
        assert (excluded | (end == smaller)).all()
        assert (end != smaller).sum() > 500


@pytest.mark.parametrize("shape", [(0.5, 30), (8, 8), (2, 1)])
def test_intervals_of_other_rewards_are_not_wider_than_the_mixture_allows_and_rarely_miss(shape):
    """300 arms of 600 rewards, looked at every 10: 5% may ever miss; more than 31 have odds of 1e-4."""
    random = np.random.default_rng(9)
    rewards = random.beta(*shape, (300, 600))
    truth, missed = shape[0] / sum(shape), np.zeros(300, bool)
    sums, squares = rewards.cumsum(axis=1), (rewards**2).cumsum(axis=1)
    for n in range(10, 601, 10):
        low, high = mean_intervals(totals(np.full(300, n), sums[:, n - 1], squares[:, n - 1]), 0.05)
        missed |= (low > truth) | (high < truth)
    assert missed.sum() <= 31
    wide = np.diff(mean_intervals(totals(600, sums[0, -1]), 0.05), axis=0)
    assert high[0] - low[0] < 1.01 * wide.item()  # and far less where the variance is small
    if shape == (8, 8):
        assert high[0] - low[0] < 0.5 * wide.item()


def test_the_interval_of_rare_successes_that_a_dashboard_shows():
    low, high = mean_intervals(totals(166, 7), 0.05)
    assert 0.005 < low.item() < 0.02 and high.item() < 0.13  # by the deviation 1/2: 0 to 0.177
    low, high = mean_intervals(totals([0, 1, 3], [0, 0.5, 1.5], [0, 0.25, 0.9]), 0.05)
    assert low[:2].tolist() == [0, 0] and high[:2].tolist() == [1, 1]
    assert low[2] < 0.01 and high[2] > 0.99


@pytest.mark.parametrize(
    "case", json.loads((Path(__file__).parents[1] / "data" / "confseq.json").read_text(encoding="utf-8"))
)
def test_the_interval_of_another_package(case):
    """Recorded by tools/verify_confseq.py; its tuning is such that it has our prior number of rewards."""
    pulls, total, alpha, _, *expected = case
    ends = [end.item() for end in mean_intervals(totals(pulls, total), alpha / TILT_SHARE)]
    for ours, other, few in zip(ends, expected, (total < 2, pulls - total < 2), strict=True):
        assert ours == pytest.approx(other, abs=1e-8) or (few and ours in (0, 1))

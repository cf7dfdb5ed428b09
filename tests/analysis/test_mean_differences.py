"""Evidence for differences: against a plain minimum, under the null hypothesis, and what it can find."""

from math import log

import numpy as np
import pytest

from lowregret.analysis.confidence_sequences import TILT_SHARE, Totals
from lowregret.analysis.mean_differences import (
    DIRECTIONS,
    EFFECTS,
    difference_intervals,
    log_evidence,
    lower_differences,
    lower_ratios,
    proved,
)


def totals(pulls, total, squares=None):
    pulls, total = np.atleast_1d(pulls).astype(float), np.atleast_1d(total).astype(float)
    return Totals(pulls, total, total if squares is None else np.atleast_1d(squares).astype(float))


def plain_evidence(n_a, s_a, n_b, s_b, shift=0.0):
    """The definition, term by term, at 20,001 means."""
    m = np.linspace(max(0, -shift), min(1, 1 - shift), 20_001)
    whole = np.zeros(len(m))
    for share, weight in DIRECTIONS.items():
        for effect in EFFECTS:
            up, down = (1 - share) * effect, share * effect
            logarithm = up * s_a - n_a * np.log(1 + (m + shift) * (np.exp(up) - 1))
            logarithm += -down * s_b - n_b * np.log(1 + m * (np.exp(-down) - 1))
            whole += TILT_SHARE * weight / len(EFFECTS) * np.exp(np.minimum(logarithm, 700))
    return log(whole.min())


@pytest.mark.parametrize(
    "counts", [(900, 560, 900, 450), (5000, 600, 300, 8), (200, 80, 4000, 1100), (60, 30, 60, 3)]
)
@pytest.mark.parametrize("shift", [0.0, -0.03])
def test_the_evidence_is_the_smallest_over_all_common_means(counts, shift):
    n_a, s_a, n_b, s_b = counts
    ours = log_evidence(totals(n_a, s_a), totals(n_b, s_b), shift, bounded=True).item()
    assert ours == pytest.approx(plain_evidence(*counts, shift), abs=2e-3)
    assert ours > 1


@pytest.mark.parametrize("mean", [0.03, 0.5])
def test_the_terms_are_supermartingales_on_either_side_of_the_common_mean(mean):
    """One reward of each arm: the expectation of a factor is at most 1 if mean a <= m <= mean b."""
    for true, sign in ((mean * 0.9, 1), (mean, 1), (mean, -1), (min(mean * 1.2, 1), -1)):
        for effect in EFFECTS:
            factor = [np.exp(sign * effect * x) / (1 + mean * np.expm1(sign * effect)) for x in (0, 0.3, 1)]
            assert (1 - true) * factor[0] + true * factor[2] <= 1 + 1e-12
            assert factor[1] <= 0.7 * factor[0] + 0.3 * factor[2]  # convex: other rewards are below the chord


def test_equal_arms_are_rarely_told_apart():
    """500 pairs of a greedy choice, looked at every 20: at most 5% may; more than 43 have odds below 1e-4."""
    random, size = np.random.default_rng(3), 500
    pulls, sums, told = np.zeros((2, size)), np.zeros((2, size)), np.zeros(size, bool)
    every = np.arange(size)
    for step in range(1, 801):
        means = (sums + 1) / (pulls + 2)
        arm = np.where(random.random(size) < 0.2, random.integers(2, size=size), means.argmax(axis=0))
        pulls[arm, every] += 1
        sums[arm, every] += random.random(size) < 0.2
        if step % 20 == 0 and pulls.min() > 0:
            for one in (0, 1):
                evidence = log_evidence(
                    totals(pulls[one], sums[one]), totals(pulls[1 - one], sums[1 - one]), bounded=True
                )
                told |= evidence >= log(2 / 0.05)
    assert told.sum() <= 43


def test_bounds_of_differences_and_ratios_are_where_the_evidence_is_enough():
    first, second = totals([2000, 300, 5000], [240, 80, 30]), totals([1000, 900, 4000], [60, 90, 60])
    lows = lower_differences(first, second, 0.01, bounded=True)
    assert (lows < first.means - second.means).all()
    assert (log_evidence(first, second, lows, bounded=True) >= log(100) - 1e-9).all()
    near = log_evidence(first, second, lows + 0.03 * (first.means - second.means - lows), bounded=True)
    assert (near < log(100)).all()
    ratios = lower_ratios(first, second, 0.01)
    assert (log_evidence(first, second, 0.0, ratios, bounded=True) >= log(100) - 1e-9).all()
    assert np.sign(lows).tolist() == np.sign(ratios - 1).tolist() == [1, 1, -1]


def test_intervals_of_differences_mirror_each_other_and_many_arms_use_single_intervals():
    arms = totals([900, 800, 300], [120, 40, 30])
    low, high = difference_intervals(arms, arms, 0, True, 0.05)
    back = difference_intervals(arms, arms, 1, True, 0.05)
    assert np.isinf([low[0], high[0]]).all()
    assert (low[1], high[1]) == pytest.approx((-back[1][0], -back[0][0]))
    assert low[1] < 40 / 800 - 120 / 900 < high[1] < 0
    many = totals(np.full(60, 900), np.r_[300, np.full(59, 90)])
    low, high = difference_intervals(many, many, 0, True, 0.05)
    assert (high[1:] < 0).all() and (low[1:] < -210 / 900).all()


def test_rewards_of_small_variance_are_told_apart_sooner_than_the_tilts_can():
    n, sd = 2000.0, 0.05
    first, second = (totals(n, n * m, n * (m * m + sd * sd)) for m in (0.51, 0.50))
    assert log_evidence(first, second, bounded=True).item() > log(100)
    assert log_evidence(totals(n, n * 0.51), totals(n, n * 0.5), bounded=True).item() == 0
    assert log_evidence(first, second, bounded=False).item() > log(100)
    assert log_evidence(*(arm.at([0]) for arm in (first, second)), 0.02, bounded=False).item() == 0


def test_few_sales_that_are_small_by_chance_do_not_make_an_arm_worse():
    """400 pairs of equal arms, a sale in 3%: 5% may ever be told apart; more than 36 have odds below 1e-4.

    By the variances of each arm alone it was 28%: a greedy choice leaves the arm whose few sales were small.
    """
    random, size, sums = np.random.default_rng(8), 400, np.zeros((3, 2, 400))
    every, told = np.arange(size), np.zeros(size, bool)
    for step in range(1, 6_001):
        means = sums[1] / np.maximum(sums[0], 1)
        best = np.where(sums[0].min(axis=0) < 20, sums[0].argmin(axis=0), means.argmax(axis=0))
        arm = np.where(random.random(size) < 0.05, random.integers(2, size=size), best)
        reward = (random.random(size) < 0.03) * random.lognormal(0, 1, size)
        sums[:, arm, every] += np.stack([np.ones(size), reward, reward**2])
        if step % 200 == 0:
            arms = [Totals(*sums[:, one].copy()) for one in (0, 1)]
            for first, second in (arms, arms[::-1]):
                told |= log_evidence(first, second, bounded=False) >= log(2 / 0.05)
    assert told.sum() <= 36


def test_an_arm_without_a_sale_is_worse_in_the_end():
    first, second = totals([5_000], [150], [400]), totals([5_000], [0])
    assert log_evidence(first, second, bounded=False).item() > log(100)


def test_cells_prove_what_the_search_finds_and_nothing_more():
    random, cases = np.random.default_rng(5), 0
    for number in range(200):
        n = np.exp(random.uniform(log(10), log(1e5), 2)).round()
        mean, gap = 0.8 * random.random(), np.exp(random.uniform(-6, -1))
        spread = 10 ** random.uniform(-4, 0, 2) if number % 2 else np.ones(2)
        first, second = (
            totals(n[k], n[k] * m, n[k] * m * m + n[k] * m * (1 - m) * spread[k])
            for k, m in enumerate((min(mean + gap, 0.99), mean))
        )
        told = log_evidence(first, second, -0.01, bounded=True).item()
        if 3 < told < 60:
            cases += 1
            assert proved(first, second, -0.01, told - 0.1)
            assert not proved(first, second, -0.01, told + 1e-9)
    assert cases > 30

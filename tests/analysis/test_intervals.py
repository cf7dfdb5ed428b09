"""Intervals of means and of probabilities, against SciPy and by their coverage."""

import numpy as np
import pytest
from scipy import stats

from lowregret.analysis.intervals import (
    bootstrap_intervals,
    bounded_interval,
    bounded_p_value,
    share_interval,
    share_limit,
    student_factor,
    tail_intervals,
)

SKEW = np.random.default_rng(5).exponential(2.0, (40, 3))


@pytest.mark.parametrize("runs", [2, 3, 10, 1000])
def test_students_interval_is_scipys(runs: int) -> None:
    assert student_factor(runs) == pytest.approx(stats.t.ppf(0.975, runs - 1))


def test_one_run_has_no_interval() -> None:
    assert student_factor(1) is None
    assert bootstrap_intervals(np.array([[4.0, 5.0]])) == [None, None]


@pytest.mark.parametrize(("count", "runs"), [(0, 1), (1, 1), (0, 100), (3, 100), (99, 100), (500, 100_000)])
def test_the_interval_of_a_share_is_scipys(count: int, runs: int) -> None:
    known = stats.binomtest(count, runs).proportion_ci(0.95, method="exact")
    assert share_interval(count, runs) == pytest.approx((known.low, known.high), rel=1e-9)


def test_the_bootstrap_agrees_with_scipys() -> None:
    ours = bootstrap_intervals(SKEW, resamples=40_000)
    for place, interval in enumerate(ours):
        theirs = stats.bootstrap(
            (SKEW[:, place],), np.mean, n_resamples=40_000, method="BCa", rng=np.random.default_rng(1)
        ).confidence_interval
        width = theirs.high - theirs.low
        # Two sets of 40,000 resamples: the ends have a standard error of about 0.5% of the width.
        assert interval == pytest.approx((theirs.low, theirs.high), abs=0.025 * width)


def test_the_bootstrap_follows_the_skewness() -> None:
    (low, high), *_ = bootstrap_intervals(SKEW)
    middle = SKEW[:, 0].mean()
    assert high - middle > 1.1 * (middle - low)


def test_the_bootstrap_is_repeatable_and_columns_do_not_disturb_each_other() -> None:
    together = bootstrap_intervals(SKEW, seed=3)
    assert together == bootstrap_intervals(SKEW, seed=3)
    assert together != bootstrap_intervals(SKEW, seed=4)
    assert together[1] == pytest.approx(bootstrap_intervals(SKEW[:, 1:2], seed=3)[0], rel=1e-12)


def test_the_bootstrap_keeps_its_digits_far_from_zero() -> None:
    near, far = bootstrap_intervals(SKEW)[0], bootstrap_intervals(SKEW + 1e9)[0]
    assert [end - 1e9 for end in far] == pytest.approx(near, abs=1e-6)


@pytest.mark.parametrize("ones", [1, 3, 10])
def test_the_bootstrap_of_a_mirror_image_is_the_mirror_image(ones: int) -> None:
    """Resamples with the mean of the sample are ties, whatever rounding makes of them."""
    values = np.array([0.0] * (20 - ones) + [1.0] * ones)[:, None]
    (low, high), (mirrored_low, mirrored_high) = bootstrap_intervals(np.hstack([values, 1.0 - values]))
    assert (1.0 - mirrored_high, 1.0 - mirrored_low) == pytest.approx((low, high), abs=1e-9)


def test_equal_numbers_give_a_point() -> None:
    assert bootstrap_intervals(np.full((5, 1), 7.0)) == [(7.0, 7.0)]


def test_coverage() -> None:
    """Of 2,000 bootstrap intervals of skew data (exponential, 50 runs) about 93.5% cover.

    The standard error of the share is 0.6%; the bounds are more than 4 of those away, so that another seed
    would fail less than once in 10,000 times.
    """
    random, covered = np.random.default_rng(11), 0
    for _ in range(20):
        samples = random.exponential(1.0, (50, 100))
        covered += sum(low <= 1.0 <= high for low, high in bootstrap_intervals(samples, resamples=2_000))
    assert 0.905 < covered / 2_000 < 0.96


def test_coverage_of_students_interval_is_exact_for_normal_data() -> None:
    """95% of 20,000 intervals of 5 normal numbers, give or take 4 standard errors (0.6%)."""
    samples = np.random.default_rng(12).normal(2.0, 3.0, (20_000, 5))
    reach = student_factor(5) * samples.std(axis=1, ddof=1) / np.sqrt(5)
    assert abs(np.mean(np.abs(samples.mean(axis=1) - 2.0) <= reach) - 0.95) < 0.0062


def test_the_limit_of_a_share_is_about_three_by_the_runs_where_nothing_occurred() -> None:
    assert share_limit(0, 1000) == pytest.approx(1 - 0.05 ** (1 / 1000)) == pytest.approx(3 / 1000, rel=0.01)
    known = stats.binomtest(3, 100, alternative="less").proportion_ci(0.95, method="exact")
    assert (share_limit(3, 100), share_limit(5, 5)) == pytest.approx((known.high, 1.0))


@pytest.mark.parametrize(("count", "runs"), [(0, 30), (2, 100), (50, 100)])
def test_bounded_intervals_of_two_values_are_those_of_a_probability(count: int, runs: int) -> None:
    sample = np.repeat([1.0, 0.0], [count, runs - count])
    assert bounded_interval(sample, 0.0, 1.0) == pytest.approx(share_interval(count, runs), abs=0.003)


@pytest.mark.parametrize("runs", [1, 5, 40])
def test_the_bounded_interval_has_the_quantiles_of_random_weights(runs: int) -> None:
    """From 200,000 draws of weights; their quantiles have standard errors of about 1% of the tail."""
    random = np.random.default_rng(runs)
    sample = random.gamma(2.0, 10.0, runs)
    weights = random.dirichlet(np.ones(runs + 1), 200_000)
    low, high = bounded_interval(sample, 0.0, 500.0)
    assert np.mean(weights @ np.append(sample, 500.0) > high) == pytest.approx(0.025, rel=0.1)
    assert np.mean(weights @ np.append(sample, 0.0) < low) == pytest.approx(0.025, rel=0.1)
    p_value = bounded_p_value(sample - low, 500.0 + low)
    exact = 2 * np.mean(weights @ np.append(sample - low, -500.0 - low) < 0.0)
    assert p_value == pytest.approx(min(exact, 1.0), rel=0.1)


def test_the_p_value_is_the_level_of_the_interval_that_ends_at_0() -> None:
    sample = np.random.default_rng(1).exponential(3.0, 60)
    low, high = bounded_interval(sample, -40.0, 40.0)
    assert bounded_p_value(sample - low, 40.0 + low) == pytest.approx(0.05, rel=1e-6)
    assert bounded_p_value(sample - high, 40.0 - high) == pytest.approx(0.05, rel=1e-6)
    assert bounded_p_value(-sample, 40.0) == bounded_p_value(sample, 40.0)
    assert bounded_p_value(np.full(30, 1.0), 1.0) == pytest.approx(2.0**-29, rel=0.05)  # as the sign test
    assert bounded_p_value(np.zeros(5), 0.0) == bounded_p_value(np.array([9.0]), 10.0) == 1.0
    assert bounded_interval(np.zeros(5), 0.0, 0.0) == (0.0, 0.0)
    assert bounded_interval(np.full(3, 7.0), 7.0, 7.0) == (7.0, 7.0)


def test_bounded_intervals_cover_a_mean_and_a_tail_with_rare_failures() -> None:
    random = np.random.default_rng(8)
    bounds, samples = [(0.0, 2000.0)] * 300, []
    for _ in range(300):
        failed = random.random(200) < 0.01
        samples.append(np.where(failed, 2000.0, random.exponential(10.0, 200)))
    tail = 0.2 * 2000.0 + 0.8 * 10.0 * (1 - np.log(0.04))  # the failures, and the 4% of the others
    means, tails = (
        [bounded_interval(sample, 0.0, 2000.0) for sample in samples],
        tail_intervals(samples, bounds, 0.05),
    )
    for intervals, truth in ((means, 0.01 * 2000.0 + 0.99 * 10.0), (tails, tail)):
        assert np.mean([low <= truth <= high for low, high in intervals]) >= 0.95


def test_few_runs_leave_the_tail_open() -> None:
    sample = np.arange(60.0)
    assert tail_intervals([sample], [(0.0, 1000.0)], 0.05)[0][1] == 1000.0
    assert tail_intervals([np.arange(1000.0)], [(0.0, 10_000.0)], 0.05)[0][1] < 2000.0

"""Intervals of means and of probabilities, against SciPy and by their coverage."""

import numpy as np
import pytest
from scipy import stats

from lowregret.analysis.intervals import (
    bounded_interval,
    bounded_p_value,
    share_interval,
    share_limit,
    student_factor,
    tail_intervals,
)


@pytest.mark.parametrize("runs", [2, 3, 10, 1000])
def test_students_interval_is_scipys(runs: int) -> None:
    assert student_factor(runs) == pytest.approx(stats.t.ppf(0.975, runs - 1))


def test_one_run_has_no_interval() -> None:
    assert student_factor(1) is None


@pytest.mark.parametrize(("count", "runs"), [(0, 1), (1, 1), (0, 100), (3, 100), (99, 100), (500, 100_000)])
def test_the_interval_of_a_share_is_scipys(count: int, runs: int) -> None:
    known = stats.binomtest(count, runs).proportion_ci(0.95, method="exact")
    assert share_interval(count, runs) == pytest.approx((known.low, known.high), rel=1e-9)


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

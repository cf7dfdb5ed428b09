"""Equivalence with published numbers."""

import numpy as np
import pytest
from scipy import stats

from lowregret.analysis.equivalence import compare_published, estimate, judge_agreement, runs_to_decide


def judged(shift, spread=0.01, runs=400, **published):
    """Judge the mean of runs, which is off by a factor, against 100 in 100 runs."""
    noise = np.random.default_rng(1).standard_normal(runs)
    values = 100.0 * shift * (1.0 + spread * (noise - noise.mean()))
    return judge_agreement([compare_published(estimate(values), 100.0, 100, **published)], 5.0)


def test_differences_around_the_margin():
    """The published mean has a standard error of 0.1%, so 5% is 50 of them."""
    assert judged(1.0) == judged(1.03) == judged(0.97) == "matched"
    assert judged(1.06) == judged(0.94) == "not matched"
    assert judged(1.051) == "published too imprecise"  # near the margin no number of our runs decides
    assert judged(1.04, spread=0.08, runs=9, sd=1.0) == "inconclusive"


def test_imprecise_numbers_do_not_match_even_if_they_are_equal():
    assert judged(1.0, spread=0.5) == "published too imprecise"
    assert judged(1.0, spread=0.2, runs=9) == "inconclusive"


def test_a_published_spread_counts_where_ours_has_no_tail():
    """Ten equal runs of a policy that fails in one of a hundred say nothing about its mean."""
    ours = estimate(np.full(10, 20.0))
    assert judge_agreement([compare_published(ours, 50.0, 100)], 5.0) == "not matched"
    heavy = compare_published(ours, 50.0, 100, sd=150.0)
    assert judge_agreement([heavy], 5.0) != "not matched"
    assert heavy.se == pytest.approx(150.0 / 10**0.5)


def test_our_spread_counts_where_the_published_one_has_no_tail():
    """A third of all samples of 100 runs has no failure of a policy that fails in one run of a hundred."""
    random = np.random.default_rng(2)
    ours = estimate(np.where(np.arange(10_000) % 100, 20.0, 2_000.0))
    for _ in range(20):
        published = random.normal(20.0, 5.0, 100)
        found = compare_published(ours, published.mean(), 100, sd=published.std(ddof=1))
        assert judge_agreement([found], 5.0) == "published too imprecise"


def test_the_noise_of_realised_regret_widens_the_interval_and_not_our_error():
    ours = estimate(np.array([9.0, 10.0, 11.0]))
    plain, noisy = compare_published(ours, 10.0, 100), compare_published(ours, 10.0, 100, noise=25.0)
    assert noisy.published_se == pytest.approx(((1.0 + 25.0) / 100) ** 0.5)
    assert noisy.se == plain.se and noisy.high > plain.high
    stated = compare_published(ours, 10.0, 100, noise=25.0, sd=(1.0 + 25.0) ** 0.5)
    assert stated[:4] == pytest.approx(noisy[:4])  # a published spread has the noise already


def test_the_interval_by_hand():
    values = np.random.default_rng(3).normal(100.0, 10.0, 50)
    found = compare_published(estimate(values), 100.0, 25, rounding=0.5, numbers=7)
    error = values.std(ddof=1) * (1 / 50 + 1 / 25) ** 0.5
    assert found.high - found.percent == pytest.approx(stats.t.ppf(0.95, 49) * error + 0.5)
    joint = stats.t.ppf(1 - 0.05 / 14, 49) * error + 0.5
    assert found.beyond == pytest.approx(abs(found.percent) - joint)


def test_one_run_and_a_quantile_or_spread_of_few_runs_have_no_interval():
    few = np.arange(30.0)
    for ours in (estimate(np.array([5.0])), estimate(few, "q99"), estimate(few, "sd")):
        found = compare_published(ours, 5.0, 100, sd=1.0)
        assert found.within != found.within and judge_agreement([found], 5.0) == "inconclusive"


@pytest.mark.parametrize(
    ("statistic", "truth"), [("sd", 2.0), ("q50", 0.0), ("q80", 2.0 * stats.norm.ppf(0.8))]
)
def test_errors_of_spreads_and_quantiles_are_those_of_many_repeats(statistic, truth):
    random = np.random.default_rng(4)
    found = [estimate(random.normal(0.0, 2.0, 400), statistic) for _ in range(400)]
    spread = np.std([each.value for each in found])
    assert np.mean([each.value for each in found]) == pytest.approx(truth, abs=0.05)
    assert np.mean([each.se for each in found]) == pytest.approx(spread, rel=0.2)


def verdicts_of(shift, points, repeats=2_000, runs=60, spread=0.1):
    """Judge a policy that is off by a factor many times, with published values drawn anew."""
    random = np.random.default_rng(1)
    found = []
    for _ in range(repeats):
        published = 100.0 * (1.0 + spread / 10.0 * random.standard_normal())
        values = 100.0 * shift * (1.0 + spread * random.standard_normal(runs))
        agreement = compare_published(estimate(values), published, 100, numbers=points)
        found.append(judge_agreement([agreement], 5.0))
    return {verdict: found.count(verdict) / repeats for verdict in set(found)}


@pytest.mark.parametrize("shift", [0.95, 1.05])
def test_a_difference_of_the_margin_is_called_a_match_in_5_percent(shift):
    """Its standard error is 0.005 over 2,000 repeats."""
    assert verdicts_of(shift, 1)["matched"] == pytest.approx(0.05, abs=0.025)


def test_equal_means_are_seldom_called_different():
    found = verdicts_of(1.0, 20)
    assert found.get("not matched", 0.0) < 0.002 and found["matched"] > 0.7


def test_the_runs_that_decide_find_an_agreement_in_8_of_10_cases():
    random = np.random.default_rng(5)

    def compared(runs):
        ours = estimate(random.normal(100.0, 10.0, runs))
        return compare_published(ours, random.normal(100.0, 1.0), 100, sd=10.0, rounding=0.5)

    needed = [runs_to_decide(compared(20), 100.0, 0.5, 5.0) for _ in range(20)]
    assert 70 < np.median(needed) < 85  # by the published spread, where ours is smaller
    found = [judge_agreement([compared(int(np.median(needed)))], 5.0) == "matched" for _ in range(2_000)]
    assert 0.75 < np.mean(found) < 0.9


def test_a_published_number_that_is_too_imprecise_needs_no_runs():
    imprecise = compare_published(estimate(np.array([9.0, 10.0, 11.0])), 10.0, 25, sd=10.0)
    assert runs_to_decide(imprecise, 10.0, 0.0, 5.0) is None
    one = compare_published(estimate(np.array([9.0])), 10.0, 1_000_000)
    assert runs_to_decide(one, 10.0, 0.0, 5.0) is None

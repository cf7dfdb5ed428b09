"""Paired comparisons: the numbers against SciPy, the verdicts, and the corners."""

import numpy as np
import polars as pl
import pytest
from analysis_data import frames_of
from scipy import stats

from lowregret.analysis.columns import COMPARISON
from lowregret.analysis.comparison import (
    HIGHER,
    HIGHER_HERE,
    INCONCLUSIVE,
    LOWER,
    LOWER_HERE,
    compare,
    holm,
    paired,
    verdict,
)
from lowregret.analysis.intervals import bounded_p_value
from lowregret.analysis.power import runs_needed
from lowregret.errors import InputError


def two(one: list[float], other: list[float]) -> dict:
    """Compare two policies and give the only row."""
    return compare(frames_of({"e": {"A": one, "B": other}}), baseline="B").to_dicts()[0]


def test_the_numbers_are_those_of_the_paired_t_test() -> None:
    random = np.random.default_rng(1)
    one, other = random.normal(10, 2, 30), random.normal(11, 2, 30)
    row = two(one.tolist(), other.tolist())
    test = stats.ttest_rel(one, other)
    interval = test.confidence_interval(0.95)
    assert row["difference"] == pytest.approx((one - other).mean())
    assert row["p_value"] == pytest.approx(test.pvalue)
    assert (row["student_low"], row["student_high"]) == pytest.approx((interval.low, interval.high))
    assert row["se"] == pytest.approx((one - other).std(ddof=1) / np.sqrt(30))
    assert row["wins"] == pytest.approx((one < other).mean())
    assert row["runs"] == 30


def test_pairing_finds_what_means_alone_would_not() -> None:
    luck = np.random.default_rng(2).normal(0, 100, 20)
    row = two((luck + 1 + 0.1 * np.arange(20)).tolist(), luck.tolist())
    assert row["verdict"] == HIGHER_HERE
    assert stats.ttest_ind(luck + 1, luck).pvalue > 0.9


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


def test_the_family_is_every_comparison_of_the_call() -> None:
    random = np.random.default_rng(3)
    values = {f"e{number}": {name: random.normal(0, 1, 12).tolist() for name in "ABC"} for number in range(4)}
    table = compare(frames_of(values), baseline="A")
    assert len(table) == 8
    assert table["p_holm"].to_list() == holm(table["p_value"].to_list())
    assert len(compare(frames_of(values))) == 12


def test_verdicts_follow_the_adjusted_p_values() -> None:
    assert (verdict(-1.0, 0.05, 0.001), verdict(1.0, 0.05, 0.5)) == (LOWER, HIGHER)
    assert (verdict(-1.0, 0.051, 0.05), verdict(1.0, None, 0.05)) == (LOWER_HERE, HIGHER_HERE)
    assert verdict(-1.0, 0.051, 0.051) == verdict(-1.0, None, 0.051) == INCONCLUSIVE
    assert verdict(0.0, 0.0, 0.0) == INCONCLUSIVE


def test_a_found_difference_can_be_lost_to_the_correction() -> None:
    step = [1.0, 1.2, 0.9, -0.3, 0.2, 1.1]
    values = {"A": [0.0] * 6, "B": step} | {f"X{i}": [0.0] * 6 for i in range(20)}
    row = compare(frames_of({"e": values}), baseline="A").filter(policy="B").to_dicts()[0]
    assert row["p_value"] < 0.05
    assert row["student_low"] > 0.0
    assert row["verdict"] == INCONCLUSIVE


def test_an_inconclusive_difference_needs_more_runs_than_were_made() -> None:
    """At 5% the 40 runs would do; for 16 comparisons, each at 5% / 16, they do not."""
    random = np.random.default_rng(3)
    step = random.normal(0.0, 1.0, 40)
    step = (step - step.mean()) / step.std(ddof=1) + 2.9 / np.sqrt(40)
    noise = {f"X{i}": random.normal(0.0, 1.0, 40).tolist() for i in range(15)}
    values = {"A": [0.0] * 40, "B": step.tolist()} | noise
    row = compare(frames_of({"e": values}), baseline="A").filter(policy="B").to_dicts()[0]
    assert row["verdict"] == INCONCLUSIVE
    assert runs_needed(row["difference"], 1.0) <= 40 < row["runs_needed"]
    assert row["runs_needed"] == runs_needed(row["difference"], 1.0, 0.05 / 16, largest=20.0)


def test_identical_policies_are_inconclusive() -> None:
    row = two([3.0, 5.0, 4.0], [3.0, 5.0, 4.0])
    zeros = ("difference", "se", "student_low", "student_high")
    assert [row[key] for key in zeros] == [0.0] * 4
    assert (row["p_value"], row["wins"], row["verdict"]) == (1.0, 0.5, INCONCLUSIVE)
    assert row["runs_needed"] is None


def test_rounding_is_no_difference() -> None:
    one = np.random.default_rng(4).uniform(100, 1000, 50)
    row = two((one * (1 + 3e-16)).tolist(), one.tolist())
    assert (row["difference"], row["p_value"], row["verdict"]) == (0.0, 1.0, INCONCLUSIVE)


def test_differences_that_cancel_but_for_rounding_have_the_mean_0() -> None:
    row = two([1.1, 2.3], [0.8, 2.6])
    assert (1.1 - 0.8) + (2.3 - 2.6) != 0.0
    assert (row["difference"], row["runs_needed"], row["verdict"]) == (0.0, None, INCONCLUSIVE)


def test_the_same_difference_in_every_run_is_judged_by_its_sign() -> None:
    few, more = two([2.0] * 3, [1.0] * 3), two([2.1] * 6, [1.0] * 6)
    assert (few["p_value"], few["verdict"]) == (0.25, INCONCLUSIVE)
    assert (more["p_value"], more["verdict"]) == (2**-5, HIGHER_HERE)
    assert (more["student_low"], more["student_high"], more["se"]) == pytest.approx((1.1, 1.1, 0.0))


def test_one_run_tells_nothing() -> None:
    row = two([1.0], [2.0])
    assert (row["difference"], row["p_value"], row["verdict"], row["wins"]) == (-1.0, 1.0, INCONCLUSIVE, 1.0)
    assert [row[key] for key in ("se", "student_low", "student_high", "runs_needed")] == [None] * 4


def test_two_runs() -> None:
    row = two([1.0, 2.0], [2.0, 5.0])
    assert row["p_value"] == pytest.approx(stats.ttest_rel([1.0, 2.0], [2.0, 5.0]).pvalue)
    assert row["verdict"] == INCONCLUSIVE


def test_no_number_is_ever_nan() -> None:
    values = (
        {"A": [0.0], "B": [0.0]},
        {"A": [0.0, 0.0], "B": [0.0, 1.0]},
        {"A": [1e90, 1.0], "B": [0.0, 1.0]},
    )
    for each in values:
        table = compare(frames_of({"e": each}))
        numbers = table.select(pl.selectors.float()).fill_null(0.0)
        assert numbers.select(pl.all().is_nan().any()).row(0) == (False,) * numbers.width


def test_only_runs_that_both_made_count() -> None:
    assert two([1.0, 2.0, 3.0, 99.0], [2.0, 2.0, 4.0])["runs"] == 3


def test_environments_without_the_baseline_are_left_out() -> None:
    frames = frames_of({"e": {"A": [1.0, 2.0], "B": [2.0, 2.5]}, "f": {"A": [1.0, 2.0], "C": [2.0, 2.5]}})
    assert compare(frames, baseline="B")["environment"].to_list() == ["e"]
    assert dict(compare(frames).schema) == COMPARISON


def test_an_unknown_baseline_is_refused() -> None:
    with pytest.raises(InputError, match=r"^compare: unknown policy 'C': these results have A, B$"):
        compare(frames_of({"e": {"A": [1.0], "B": [1.0]}}), baseline="C")


def test_one_policy_is_refused() -> None:
    with pytest.raises(InputError, match="only A"):
        compare(frames_of({"e": {"A": [1.0]}}))


def test_p_values_are_uniform_where_there_is_no_difference() -> None:
    """5% of 4,000 tests of 8 normal differences are below 0.05, give or take 4 standard errors (1.4%)."""
    samples = np.random.default_rng(6).normal(0.0, 1.0, (4_000, 8))
    share = np.mean([paired(sample).p_value < 0.05 for sample in samples])
    assert abs(share - 0.05) < 0.014


def test_runs_that_differ_alike_give_a_verdict_only_where_unseen_failures_would_not_reverse_it() -> None:
    # The horizon is 100 and the largest gap 0.2, so that a regret is at most 20.
    steps = np.arange(12) / 100
    few, more = two((5 + steps).tolist(), [10.0] * 12), two((5 + np.arange(40) / 100).tolist(), [10.0] * 40)
    assert few["p_holm"] < 1e-20
    assert (few["verdict"], more["verdict"]) == (LOWER_HERE, LOWER)
    assert few["high"] > 0.0
    assert more["low"] < more["student_low"] < more["student_high"] < more["high"] < 0.0
    # One run of 12 has probability 1/13 on average, and may be at 20: (1 + 4.94 / 20)^-12 is the chance.
    assert few["p_bounded"] == pytest.approx(2 * np.prod(1 / (1 + (5 - steps) / 20)), rel=0.05)


def test_rare_failures_that_no_run_shows_make_no_verdict() -> None:
    """The policy is better by 0.4 but for a regret of 20 in 1 run of 40, so that it is worse on average."""
    random, verdicts = np.random.default_rng(5), []
    for _ in range(200):
        failed = random.random(30) < 0.025
        sample = np.where(failed, 18.0, -random.uniform(0.3, 0.5, 30))
        test = paired(sample)
        verdicts.append(verdict(test.difference, bounded_p_value(sample, 20.0), test.p_value))
    assert LOWER not in verdicts
    assert verdicts.count(LOWER_HERE) > 80  # a t test alone would have been false so often


def test_the_family_counts_for_the_bounded_interval_too() -> None:
    one, other = (10 - 5 + np.arange(20) / 100).tolist(), [10.0] * 20
    alone = two(one, other)
    values = {"A": one, "B": other} | {f"X{place}": other for place in range(9)}
    row = compare(frames_of({"e": values}), baseline="B").filter(policy="A").to_dicts()[0]
    assert row["p_bounded"] == pytest.approx(10 * alone["p_bounded"])
    assert (alone["verdict"], row["verdict"]) == (LOWER, LOWER_HERE)

"""Verdicts on claims, from synthetic results."""

import numpy as np
import polars as pl
import pytest
from analysis_data import changed, frames_of
from scipy.stats import ttest_ind

from lowregret.reproduction.claims import CLAIMS
from lowregret.reproduction.verdicts import claim_comparisons, claim_verdicts, group_verdicts, unpaired

LOW, HIGH = [10.0, 11.0, 12.0, 13.0], [20.0, 21.5, 22.0, 23.0]
ALL = ["paper-1", "paper-2", "paper-3", "paper-4"]


def number_of(**which):
    """Return the number of the first claim with these attributes."""
    return next(
        number
        for number, claim in enumerate(CLAIMS, 1)
        if all(getattr(claim, name) == value for name, value in which.items())
    )


BETTER_THAN_MOSS = number_of(worse=("MOSS",))


def claims(results):
    return claim_verdicts(claim_comparisons(results))


def verdict(results, number, reading="printed"):
    (found,) = claims(results).filter(claim=number)[reading]
    return found


def test_a_claim_holds_only_if_it_holds_in_every_experiment():
    good = {name: {"EUCBV": LOW, "MOSS": HIGH} for name in ALL}
    assert verdict(frames_of(good), BETTER_THAN_MOSS) == "holds"
    assert verdict(frames_of(good | {"paper-3": {"EUCBV": HIGH, "MOSS": LOW}}), BETTER_THAN_MOSS) == (
        "does not hold"
    )
    unclear = {"EUCBV": [10.0, 20.0, 10.0, 20.0], "MOSS": [20.0, 10.0, 20.0, 11.0]}
    assert verdict(frames_of(good | {"paper-3": unclear}), BETTER_THAN_MOSS) == "inconclusive"


def test_part_of_its_experiments_can_only_refute_a_claim():
    assert verdict(frames_of({"paper-1": {"EUCBV": LOW, "MOSS": HIGH}}), BETTER_THAN_MOSS) == "inconclusive"
    assert verdict(frames_of({"paper-1": {"EUCBV": HIGH, "MOSS": LOW}}), BETTER_THAN_MOSS) == "does not hold"


def test_claims_on_experiments_that_were_not_run_are_omitted():
    table = claims(frames_of({"paper-4": {"EUCBV": LOW, "MOSS": HIGH}}))
    assert "Experiment 1" not in table["place"].to_list()
    assert claims(frames_of({"paper-4-noiseless": {"EUCBV(width='released')": LOW}})).is_empty()


def test_the_paired_difference_with_its_interval():
    table = claim_comparisons(frames_of({"paper-1": {"EUCBV": HIGH, "MOSS": LOW}})).filter(
        claim=BETTER_THAN_MOSS
    )
    row = table.to_dicts()[0]
    assert (row["experiment"], row["better"], row["worse"], row["runs"]) == (1, "EUCBV", "MOSS", 4)
    assert row["difference"] == pytest.approx(10.125)
    assert 0 < row["low"] < 10.125 < row["high"]


def test_one_run_is_inconclusive():
    tables = frames_of({name: {"EUCBV": [1.0], "MOSS": [9.0]} for name in ALL})
    assert verdict(tables, BETTER_THAN_MOSS) == "inconclusive"


def test_equal_regrets_are_not_lower():
    tables = frames_of({name: {"EUCBV": LOW, "MOSS": LOW} for name in ALL})
    assert verdict(tables, BETTER_THAN_MOSS) == "does not hold"


def test_the_gaussian_form_stands_for_a_policy_where_rewards_are_gaussian():
    regrets = {name: {"EUCBV": LOW, "ThompsonGauss": HIGH} for name in ALL[1:]}
    tables = frames_of({"paper-1": {"EUCBV": LOW, "ThompsonBeta": HIGH}, **regrets})
    assert verdict(tables, number_of(worse=("TS",))) == "holds"


@pytest.mark.parametrize(
    ("shift", "expected"), [(0.0, "holds"), (5.0, "holds"), (20.0, "does not hold"), (-20.0, "does not hold")]
)
def test_similar_regrets(shift, expected):
    regrets = [100.0, 101.0, 102.0, 103.0]
    other = [regret + shift + noise for regret, noise in zip(regrets, (0.1, -0.1, 0.2, 0.0), strict=True)]
    tables = frames_of({"paper-2": {"DMED": other, "KLUCBGauss(plus=True)": regrets}})
    assert verdict(tables, number_of(kind="similar")) == expected


def test_most_is_more_than_half():
    number = number_of(kind="most")
    rivals = {"MOSS": HIGH, "OCUCB": HIGH, "UCBV": [1.0, 2.0, 3.0, 3.5]}
    tables = frames_of({name: {"EUCBV": LOW, **rivals} for name in ALL})
    assert verdict(tables, number) == "holds"
    worse = frames_of({name: {"EUCBV": HIGH, "MOSS": LOW, "OCUCB": LOW, "UCBV": LOW} for name in ALL})
    assert verdict(worse, number) == "does not hold"


def test_eliminations_are_counted_over_the_suboptimal_arms():
    """The synthetic EUCBV eliminates both suboptimal arms in every run; without events it eliminates none."""
    number = number_of(kind="eliminates")
    tables = frames_of({name: {"EUCBV": LOW, "MOSS": LOW} for name in ALL})
    assert verdict(tables, number) == "holds"
    none = changed(tables, events=tables.events.clear())
    assert verdict(none, number) == "does not hold"


def test_pulls_of_high_and_low_variance_arms():
    """The synthetic results have more pulls of arm 1 than of arm 2, so arm 1 must have the high variance.

    Arms of other gaps do not count.
    """
    number = number_of(kind="variance")
    tables = frames_of({name: {"EUCBV": LOW, "MOSS": LOW} for name in ALL})
    for high, expected in ((1, "holds"), (2, "does not hold")):
        variance = pl.when(pl.col("arm") == high).then(0.25).otherwise(0.01)
        arms = tables.arms.with_columns(variance=variance)
        equal = arms.with_columns(gap=pl.when(pl.col("arm") > 0).then(0.1).otherwise(0.0))
        assert verdict(changed(tables, arms=equal), number) == expected
        assert claims(changed(tables, arms=arms)).filter(claim=number).is_empty()


RELEASED = "EUCBV(width='released')"


def test_the_two_readings_stand_side_by_side():
    runs = {"EUCBV": HIGH, "MOSS": [15.0, 15.5, 16.0, 16.5], RELEASED: LOW}
    tables = frames_of(dict.fromkeys(ALL, runs))
    assert verdict(tables, BETTER_THAN_MOSS) == "does not hold"
    assert verdict(tables, BETTER_THAN_MOSS, "released") == "holds"


def test_all_runs_count_where_one_policy_has_more():
    """The first four runs of the released width are low, and the others high."""
    runs = {"MOSS": [15.0, 15.5, 16.0, 16.5], RELEASED: LOW + 100 * [50.0, 51.0]}
    tables = frames_of({name: {"EUCBV": LOW, **runs} for name in ALL})
    assert verdict(tables, BETTER_THAN_MOSS, "released") == "does not hold"
    row = claim_comparisons(tables).filter(claim=BETTER_THAN_MOSS, reading="released width").to_dicts()[0]
    assert (row["runs"], row["other_runs"]) == (204, 4)


def test_the_interval_of_welch():
    first, second = np.array([1.0, 2.0, 4.0]), np.array([2.0, 2.5, 6.0, 7.0, 8.0])
    expected = ttest_ind(first, second, equal_var=False)
    found = unpaired(first, second)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert found.p_value == pytest.approx(expected.pvalue)
    assert unpaired(np.ones(2), 3 * np.ones(3))[:4] == (-2.0, 0.0, -2.0, -2.0)
    assert unpaired(np.ones(1), second).low is None


def test_without_the_released_width_its_verdicts_are_inconclusive():
    tables = frames_of({name: {"EUCBV": LOW, "MOSS": HIGH} for name in ALL})
    assert verdict(tables, BETTER_THAN_MOSS, "released") == "inconclusive"


def test_a_comparison_in_several_claims_counts_once():
    """EUCBV against TS is in claims of three groups, under two names."""
    regrets = {name: {"EUCBV": LOW, "ThompsonGauss": HIGH} for name in ALL[1:]}
    comparisons = claim_comparisons(frames_of({"paper-1": {"EUCBV": LOW, "ThompsonBeta": HIGH}, **regrets}))
    groups = {row["group"]: row for row in group_verdicts(comparisons).to_dicts()}
    assert groups["EUCBV and Bayesian policies"]["printed_holding"] == 4
    assert groups["EUCBV against each other policy"]["printed_holding"] == 4
    assert groups["EUCBV against each other policy"]["released_holding"] == 0
    assert comparisons.filter(better="EUCBV", worse="TS").height < comparisons.height


def test_the_figures_support_the_claims_on_them():
    """In the published curves EUCBV has the lowest regret in every experiment."""
    tables = frames_of({name: {"EUCBV": HIGH, "MOSS": LOW} for name in ALL})
    assert verdict(tables, BETTER_THAN_MOSS, "figures") == "holds"
    assert verdict(tables, number_of(kind="eliminates"), "figures") == "not shown"


def test_a_decided_difference_of_regrets_has_a_fragility():
    """The horizon is 100 and the largest gap 0.2, so a difference of 10.125 is reversed by a third."""
    table = claim_comparisons(frames_of({"paper-1": {"EUCBV": HIGH, "MOSS": LOW}}))
    row = table.filter(claim=BETTER_THAN_MOSS).to_dicts()[0]
    assert row["fragility"] == pytest.approx(10.125 / 30.125)

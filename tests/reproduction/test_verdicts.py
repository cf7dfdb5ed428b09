"""Verdicts on claims, from synthetic results."""

import polars as pl
import pytest
from analysis_data import changed, frames_of

from lowregret.reproduction.claims import CLAIMS
from lowregret.reproduction.verdicts import claim_comparisons, claim_verdicts

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


def verdict(results, number):
    (found,) = claims(results).filter(claim=number)["verdict"]
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
    """The synthetic results have more pulls of arm 1 than of arm 2, so arm 1 must have the high variance."""
    number = number_of(kind="variance")
    tables = frames_of({name: {"EUCBV": LOW, "MOSS": LOW} for name in ALL})
    for high, expected in ((1, "holds"), (2, "does not hold")):
        variance = pl.when(pl.col("arm") == high).then(0.25).otherwise(0.01)
        other = changed(tables, arms=tables.arms.with_columns(variance=variance))
        assert verdict(other, number) == expected

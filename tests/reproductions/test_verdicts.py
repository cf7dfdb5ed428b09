"""Verdicts on the curves and claims of the EUCBV paper, from synthetic results."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from analysis_data import changed, frames_of
from scipy.stats import ttest_ind

from lowregret.analysis.comparison import welch
from lowregret.reproductions.claims import compare_claims, judge_claims
from lowregret.reproductions.sheet import paper_function, read_sheet
from lowregret.results import Results

SHEET = read_sheet()
count_groups = paper_function("eucbv", "report:count_groups")
judge_curves = paper_function("eucbv", "report:judge_curves")
LOW, HIGH = [10.0, 11.0, 12.0, 13.0], [20.0, 21.5, 22.0, 23.0]
ALL = ["paper-1", "paper-2", "paper-3", "paper-4"]
RELEASED = "EUCBV(width='released')"


def number_of(**which: Any) -> int:
    """Return the number of the first claim with these attributes."""
    return next(
        number
        for number, claim in enumerate(SHEET.claims, 1)
        if all(getattr(claim, name) == value for name, value in which.items())
    )


BETTER_THAN_MOSS = number_of(than=["MOSS"])


def verdict(results: Results, number: int, reading: str = "printed") -> str:
    (found,) = judge_claims(SHEET, compare_claims(SHEET, results)).filter(claim=number)[reading]
    return str(found)


def test_a_claim_holds_only_if_it_holds_in_every_experiment() -> None:
    good = {name: {"EUCBV": LOW, "MOSS": HIGH} for name in ALL}
    assert verdict(frames_of(good), BETTER_THAN_MOSS) == "holds"
    bad = good | {"paper-3": {"EUCBV": HIGH, "MOSS": LOW}}
    assert verdict(frames_of(bad), BETTER_THAN_MOSS) == "does not hold"
    unclear = {"EUCBV": [10.0, 20.0, 10.0, 20.0], "MOSS": [20.0, 10.0, 20.0, 11.0]}
    assert verdict(frames_of(good | {"paper-3": unclear}), BETTER_THAN_MOSS) == "inconclusive"


def test_part_of_its_experiments_can_only_refute_a_claim() -> None:
    assert verdict(frames_of({"paper-1": {"EUCBV": LOW, "MOSS": HIGH}}), BETTER_THAN_MOSS) == "inconclusive"
    assert verdict(frames_of({"paper-1": {"EUCBV": HIGH, "MOSS": LOW}}), BETTER_THAN_MOSS) == "does not hold"


def test_claims_on_experiments_that_were_not_run_are_omitted() -> None:
    results = frames_of({"paper-4": {"EUCBV": LOW, "MOSS": HIGH}})
    places = judge_claims(SHEET, compare_claims(SHEET, results))["place"].to_list()
    assert places and "Experiment 1" not in places
    assert compare_claims(SHEET, frames_of({"paper-4-noiseless": {RELEASED: LOW}})).is_empty()


def test_the_paired_difference_with_its_interval_and_fragility() -> None:
    """The horizon is 100 and the largest gap 0.2, so a difference of 10.125 is reversed by a third."""
    table = compare_claims(SHEET, frames_of({"paper-1": {"EUCBV": HIGH, "MOSS": LOW}}))
    row = table.filter(claim=BETTER_THAN_MOSS).to_dicts()[0]
    assert (row["environment"], row["better"], row["worse"], row["runs"]) == ("paper-1", "EUCBV", "MOSS", 4)
    assert row["difference"] == pytest.approx(10.125)
    assert 0 < row["low"] < 10.125 < row["high"]
    assert row["fragility"] == pytest.approx(10.125 / 30.125)


def test_one_run_is_inconclusive_and_equal_regrets_are_not_lower() -> None:
    one = frames_of({name: {"EUCBV": [1.0], "MOSS": [9.0]} for name in ALL})
    assert verdict(one, BETTER_THAN_MOSS) == "inconclusive"
    equal = frames_of({name: {"EUCBV": LOW, "MOSS": LOW} for name in ALL})
    assert verdict(equal, BETTER_THAN_MOSS) == "does not hold"


def test_the_gaussian_form_stands_for_a_policy_where_rewards_are_gaussian() -> None:
    regrets = {name: {"EUCBV": LOW, "ThompsonGauss": HIGH} for name in ALL[1:]}
    results = frames_of({"paper-1": {"EUCBV": LOW, "ThompsonBeta": HIGH}, **regrets})
    assert verdict(results, number_of(than=["TS"])) == "holds"
    shown = compare_claims(SHEET, results).filter(claim=number_of(than=["TS"]), reading="as printed")
    assert shown["worse"].to_list() == ["TS", "TS-G", "TS-G", "TS-G"]


@pytest.mark.parametrize(
    ("shift", "expected"), [(0.0, "holds"), (5.0, "holds"), (20.0, "does not hold"), (-20.0, "does not hold")]
)
def test_similar_regrets(shift: float, expected: str) -> None:
    regrets = [100.0, 101.0, 102.0, 103.0]
    other = [regret + shift + noise for regret, noise in zip(regrets, (0.1, -0.1, 0.2, 0.0), strict=True)]
    results = frames_of({"paper-2": {"DMED": other, "KLUCBGauss(plus=True)": regrets}})
    assert verdict(results, number_of(kind="similar")) == expected


def test_most_is_more_than_half() -> None:
    number = number_of(kind="most")
    rivals = {"MOSS": HIGH, "OCUCB": HIGH, "UCBV": [1.0, 2.0, 3.0, 3.5]}
    assert verdict(frames_of({name: {"EUCBV": LOW, **rivals} for name in ALL}), number) == "holds"
    worse = frames_of({name: {"EUCBV": HIGH, "MOSS": LOW, "OCUCB": LOW, "UCBV": LOW} for name in ALL})
    assert verdict(worse, number) == "does not hold"


def test_eliminations_are_counted_over_the_suboptimal_arms() -> None:
    """The synthetic EUCBV eliminates both suboptimal arms in every run; without events it eliminates none."""
    number = number_of(quantity="eliminated")
    results = frames_of({name: {"EUCBV": LOW, "MOSS": LOW} for name in ALL})
    assert verdict(results, number) == "holds"
    assert verdict(changed(results, events=results.events.clear()), number) == "does not hold"


def test_pulls_of_high_and_low_variance_arms() -> None:
    """The synthetic results have more pulls of arm 1 than of arm 2, so arm 1 must have the high variance."""
    number = number_of(quantity="policies:pulls_at_higher_variance")
    results = frames_of({name: {"EUCBV": LOW, "MOSS": LOW} for name in ALL})
    for high, expected in ((1, "holds"), (2, "does not hold")):
        variance = pl.when(pl.col("arm") == high).then(0.25).otherwise(0.01)
        arms = results.arms.with_columns(variance=variance)
        arms = arms.with_columns(gap=pl.when(pl.col("arm") > 0).then(0.1).otherwise(0.0))
        assert verdict(changed(results, arms=arms), number) == expected


def test_the_two_readings_stand_side_by_side() -> None:
    runs = {"EUCBV": HIGH, "MOSS": [15.0, 15.5, 16.0, 16.5], RELEASED: LOW}
    results = frames_of(dict.fromkeys(ALL, runs))
    assert verdict(results, BETTER_THAN_MOSS) == "does not hold"
    assert verdict(results, BETTER_THAN_MOSS, "released") == "holds"
    alone = frames_of({name: {"EUCBV": LOW, "MOSS": HIGH} for name in ALL})
    assert verdict(alone, BETTER_THAN_MOSS, "released") == "inconclusive"


def test_all_runs_count_where_one_policy_has_more() -> None:
    """The first four runs of the released width are low, and the others high."""
    runs = {"MOSS": [15.0, 15.5, 16.0, 16.5], RELEASED: LOW + 100 * [50.0, 51.0]}
    results = frames_of({name: {"EUCBV": LOW, **runs} for name in ALL})
    assert verdict(results, BETTER_THAN_MOSS, "released") == "does not hold"
    row = (
        compare_claims(SHEET, results).filter(claim=BETTER_THAN_MOSS, reading="released width").to_dicts()[0]
    )
    assert (row["runs"], row["other_runs"]) == (204, 4)


def test_the_interval_of_welch() -> None:
    first, second = np.array([1.0, 2.0, 4.0]), np.array([2.0, 2.5, 6.0, 7.0, 8.0])
    expected = ttest_ind(first, second, equal_var=False)
    found = welch(first, second)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert found.p_value == pytest.approx(expected.pvalue)
    assert welch(np.ones(2), 3 * np.ones(3))[:4] == (-2.0, 0.0, -2.0, -2.0)
    assert welch(np.ones(1), second).low is None


def test_a_comparison_in_several_claims_counts_once() -> None:
    """EUCBV against TS is in claims of three groups, under two names."""
    regrets = {name: {"EUCBV": LOW, "ThompsonGauss": HIGH} for name in ALL[1:]}
    results = frames_of({"paper-1": {"EUCBV": LOW, "ThompsonBeta": HIGH}, **regrets})
    comparisons = compare_claims(SHEET, results)
    groups = {row["group"]: row for row in count_groups(SHEET, comparisons).to_dicts()}
    assert groups["EUCBV and Bayesian policies"]["printed_holding"] == 4
    assert groups["EUCBV against each other policy"]["printed_holding"] == 4
    assert groups["EUCBV against each other policy"]["released_holding"] == 0
    assert comparisons.filter(better="EUCBV", worse="TS").height < comparisons.height


def test_the_figures_support_the_claims_on_them() -> None:
    """In the published curves EUCBV has the lowest regret in every experiment."""
    results = frames_of({name: {"EUCBV": HIGH, "MOSS": LOW} for name in ALL})
    assert verdict(results, BETTER_THAN_MOSS, "published") == "holds"
    assert verdict(results, number_of(quantity="eliminated"), "published") == "not shown"


def played(place: str, policy: str, factors: Sequence[float] = (), spread: float = 0.01) -> np.ndarray:
    """Make regrets at the published times: those of a curve times a factor at each, with relative noise."""
    regrets = np.array([p.value for p in SHEET.published if (p.place, p.policy) == (place, policy)])
    noise = 1.0 + spread * np.random.default_rng(1).standard_normal(400)
    noise -= noise.mean() - 1.0  # so that the mean is exact
    return (regrets * (np.array(factors) if factors else 1.0))[None, :] * noise[:, None]


def judged(environment: str, regrets: Mapping[str, np.ndarray], variance: float = 0.0) -> dict[str, Any]:
    """Judge the curves of an environment by regrets of policies; return the curves by policy."""
    place = f"Figure {environment[6]}"
    times = sorted({p.t for p in SHEET.published if p.place == place})
    made = frames_of({environment: {policy: list(runs[:, -1]) for policy, runs in regrets.items()}})
    rows = [
        (environment, policy, run, t, float(regret))
        for policy, runs in regrets.items()
        for run, path in enumerate(runs)
        for t, regret in zip(times, path, strict=True)
    ]
    paths = pl.DataFrame(rows, ["environment", "policy", "run", "t", "regret"], orient="row")
    arms = made.arms.with_columns(variance=pl.lit(variance))
    results = changed(made, curves=paths.cast({"run": pl.Int64}), arms=arms)
    return {row["policy"]: row for row in judge_curves(SHEET, results).to_dicts()}


def test_every_published_point_counts() -> None:
    def of(*factors: float) -> str:
        return str(judged("paper-1", {"UCB1": played("Figure 1", "UCB1", factors)})["UCB1"]["verdict"])

    assert of(1.0, 1.0, 1.0, 1.0) == of(1.03, 0.97, 1.03, 1.0) == "matched"
    for place in range(4):
        assert of(*(1.1 if place == i else 1.0 for i in range(4))) == "not matched"
    assert of(1.0, 1.0, 1.0, 1.049) == "inconclusive"  # by the error of our mean
    assert of(1.0, 1.0, 1.0, 1.051) == "published too imprecise"


def test_the_noise_of_realised_regret_is_proportional_to_the_mean() -> None:
    """The noise is 25 at the horizon: pulls of 30 and 20, and 0.25 for both arms together."""
    runs = played("Figure 1", "UCB1", spread=0.02)
    row = judged("paper-1", {"UCB1": runs}, variance=0.25)["UCB1"]
    assert row["published_se"] == pytest.approx(((runs[:, -1].var(ddof=1) + 25.0) / 100) ** 0.5)


def test_a_match_that_others_share_does_not_discriminate() -> None:
    own, name = played("Figure 3", "OCUCB"), "paper-3-squared-variances"
    others = {
        "MOSS": played("Figure 3", "OCUCB", [1.2] * 4),
        "RoundRobin": played("Figure 3", "OCUCB", [1.01] * 4),
    }
    row = judged(name, {"OCUCB(alpha=2)": own, **others})["OCUCB"]
    assert (row["verdict"], row["discriminates"]) == ("matched", False)
    assert (row["others"], row["others_matched"], row["others_not_excluded"]) == (2, 1, 1)
    assert row["which"] == "uniform play (matches)"
    others["RoundRobin"] = played("Figure 3", "OCUCB", [1.2] * 4)
    row = judged(name, {"OCUCB(alpha=2)": own, **others})["OCUCB"]
    assert (row["verdict"], row["discriminates"], row["which"]) == ("matched", True, "")
    near = {"MOSS": played("Figure 3", "OCUCB", [1.05] * 4)}
    row = judged(name, {"OCUCB(alpha=2)": own, **near})["OCUCB"]
    assert (row["discriminates"], row["others_matched"], row["which"]) == (False, 0, "MOSS")


def test_curves_whose_configuration_was_not_run_are_omitted() -> None:
    runs = played("Figure 1", "UCB1", [1.5] * 4)
    rows = judged("paper-1", {"UCB1": runs, "UCBV": runs})
    assert list(rows) == ["UCB1"] and rows["UCB1"]["reason"] == "no reason is known"

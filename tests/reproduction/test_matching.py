"""Equivalence with the published curves at all points, from synthetic results."""

import numpy as np
import polars as pl
import pytest
from analysis_data import changed, frames_of

from lowregret.analysis.summary import summarise_curves
from lowregret.reproduction.matching import (
    candidate_points,
    compare_points,
    judge_candidates,
    match_curves,
    with_intervals,
)
from lowregret.reproduction.published import REGRETS, TIMES

RELEASED = "EUCBV(width='released')"


def played(number, curve, factors=(), spread=0.01, runs=400, seed=1):
    """Make regrets at the published times: those of a curve times a factor at each, with relative noise."""
    random = np.random.default_rng(seed)
    regrets = np.array(REGRETS[number][curve]) * (np.array(factors) if len(factors) else 1.0)
    noise = 1.0 + spread * random.standard_normal(runs)
    noise -= noise.mean() - 1.0  # so that the mean is exact
    return regrets[None, :] * noise[:, None]


def results_of(environments):
    """Make results of regrets at the published times, by environment and policy; rewards have no noise."""
    finals = {env: {p: list(runs[:, -1]) for p, runs in each.items()} for env, each in environments.items()}
    made = frames_of(finals)
    rows = [
        (env, policy, run, t, float(regret))
        for env, each in environments.items()
        for policy, runs in each.items()
        for run, regrets in enumerate(runs)
        for t, regret in zip(TIMES[int(env[6])], regrets, strict=True)
    ]
    columns = ["environment", "policy", "run", "t", "regret"]
    paths = pl.DataFrame(rows, columns, orient="row").cast({"run": pl.Int64})
    return changed(made, curves=paths, arms=made.arms.with_columns(variance=pl.lit(0.0)))


def row_of(results, **which):
    (row,) = match_curves(candidate_points(results, summarise_curves(results))).filter(**which).to_dicts()
    return row


def verdict(factors, spread=0.01, runs=400):
    results = results_of({"paper-1": {"UCB1": played(1, "UCB1", factors, spread, runs)}})
    return row_of(results, policy="UCB1")["verdict"]


def test_every_published_point_counts():
    assert verdict([1.0, 1.0, 1.0, 1.0]) == "matched"
    assert verdict([1.03, 0.97, 1.03, 1.0]) == "matched"
    for place in range(4):
        factors = [1.0] * 4
        factors[place] = 1.1
        assert verdict(factors) == "not matched"


def test_a_difference_near_the_margin_is_inconclusive():
    """The published mean of 100 runs has a standard error of 0.1%, so 5% is 50 of them."""
    assert verdict([1.0, 1.0, 1.0, 1.049]) == "inconclusive"
    assert verdict([1.0, 1.0, 1.0, 1.051]) == "inconclusive"
    assert verdict([1.0, 1.0, 1.0, 1.06]) == "not matched"


def test_imprecise_means_do_not_match_even_if_they_are_equal():
    assert verdict([1.0] * 4, spread=0.5) == "inconclusive"
    results = results_of({"paper-1": {"UCB1": played(1, "UCB1", spread=0.5)}})
    row = row_of(results, policy="UCB1")
    assert row["reason"].startswith("no difference is found; the published mean of 100 runs")
    few = results_of({"paper-1": {"UCB1": played(1, "UCB1", spread=0.2, runs=9)}})
    assert row_of(few, policy="UCB1")["reason"].endswith(
        "our mean is too imprecise to decide, and more runs may"
    )


def test_one_run_is_inconclusive():
    row = row_of(results_of({"paper-1": {"UCB1": played(1, "UCB1", runs=1)}}), policy="UCB1")
    assert (row["se"], row["within"], row["verdict"]) == (None, None, "inconclusive")


def test_the_interval_contains_the_errors_of_both_means():
    """The noise is 25 at the horizon: pulls of 30 and 20, and 0.25 for both arms together."""
    runs = played(1, "UCB1", spread=0.02, runs=50)
    results = results_of({"paper-1": {"UCB1": runs}})
    noisy = changed(results, arms=results.arms.with_columns(variance=pl.lit(0.25)))
    row = row_of(noisy, policy="UCB1")
    variance = runs[:, -1].var(ddof=1)
    assert row["se"] == pytest.approx((variance / 50) ** 0.5)
    assert row["published_se"] == pytest.approx(((variance + 25.0) / 100) ** 0.5)
    points = compare_points(candidate_points(noisy, summarise_curves(noisy))).filter(policy="UCB1")
    error = (row["se"] ** 2 + row["published_se"] ** 2) ** 0.5
    half = 100 * (1.6765509 * error + 0.005) / 1613.49  # Student's quantile 95% with 49 degrees of freedom
    assert points["high"][-1] - points["percent"][-1] == pytest.approx(half)
    ratio = points["published_se"][0] ** 2 - runs[:, 0].var(ddof=1) / 100
    assert ratio == pytest.approx(0.25 * 168.17 / 1613.49)


def test_without_noise_the_rounding_is_left():
    runs = played(4, "EUCBV", spread=0.0, runs=2)
    row = row_of(results_of({"paper-4-noiseless": {RELEASED: runs}}), experiment=4, policy="EUCBV")
    assert (row["se"], row["published_se"], row["verdict"]) == (0.0, 0.0, "matched")
    assert row["within"] == pytest.approx(100 * 0.005 / 391.62)


def test_a_match_that_others_share_does_not_discriminate():
    own = played(3, "OCUCB")
    others = {"MOSS": played(3, "OCUCB", [1.2] * 4), "RoundRobin": played(3, "OCUCB", [1.01] * 4)}
    results = results_of({"paper-3-squared-variances": {"OCUCB(alpha=2)": own, **others}})
    row = row_of(results, policy="OCUCB")
    assert (row["verdict"], row["discriminates"]) == ("matched", False)
    assert (row["others"], row["others_matched"], row["others_not_excluded"]) == (2, 1, 1)
    assert row["which"] == "uniform play (matches)"
    others["RoundRobin"] = played(3, "OCUCB", [1.2] * 4)
    row = row_of(results_of({"paper-3-squared-variances": {"OCUCB(alpha=2)": own, **others}}), policy="OCUCB")
    assert (row["verdict"], row["discriminates"], row["which"]) == ("matched", True, "")


def test_an_inconclusive_policy_is_not_excluded():
    own, other = played(3, "OCUCB"), played(3, "OCUCB", [1.05] * 4)
    results = results_of({"paper-3-squared-variances": {"OCUCB(alpha=2)": own, "MOSS": other}})
    row = row_of(results, policy="OCUCB")
    assert (row["discriminates"], row["others_matched"], row["which"]) == (False, 0, "MOSS")


def test_curves_whose_configuration_was_not_run_are_omitted():
    runs = played(1, "UCB1", [1.5] * 4)
    results = results_of({"paper-1": {"UCB1": runs, "UCBV": runs}})
    points = compare_points(candidate_points(results, summarise_curves(results)))
    assert points.select("policy", "t", "published").rows() == [
        ("UCB1", t, regret) for t, regret in zip(TIMES[1], REGRETS[1]["UCB1"], strict=True)
    ]
    assert row_of(results, policy="UCB1")["reason"] == "no reason is known"


def verdicts_of(shift, repeats=4_000, runs=60, spread=0.1):
    """Judge a policy that is off by a factor many times, with published values drawn anew."""
    random = np.random.default_rng(1)
    true = np.array(REGRETS[1]["UCB1"])
    published = true * (1.0 + spread / 10.0 * random.standard_normal((repeats, 1)))
    ours = (1.0 + spread * random.standard_normal((repeats, runs)))[:, None, :] * (true * shift)[:, None]
    columns = {"experiment": 1, "policy": "UCB1", "t": list(TIMES[1]) * repeats, "runs": runs, "noise": 0.0}
    points = pl.DataFrame(
        {
            "candidate": np.repeat(np.arange(repeats), 4),
            "published": published.ravel(),
            "mean": ours.mean(axis=2).ravel(),
            "se": ours.std(axis=2, ddof=1).ravel() / runs**0.5,
            **columns,
        }
    )
    found = judge_candidates(with_intervals(points))["verdict"].to_list()
    return {verdict: found.count(verdict) / repeats for verdict in ("matched", "inconclusive", "not matched")}


@pytest.mark.parametrize("shift", [0.95, 1.05])
def test_a_difference_of_the_margin_is_called_a_match_in_5_percent(shift):
    """Its standard error is 0.0034 over 4,000 repeats."""
    assert verdicts_of(shift)["matched"] == pytest.approx(0.05, abs=0.02)


def test_equal_means_are_seldom_called_different():
    found = verdicts_of(1.0)
    assert found["not matched"] < 0.001
    assert found["matched"] > 0.7

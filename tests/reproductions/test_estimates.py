"""Estimated probabilities, against exact ones and their bounds."""

from math import ceil, log, sqrt

import numpy as np
import pytest
from scipy import stats

import lowregret as lr
from lowregret.reproductions.sheet import paper_function
from lowregret.theory.formulas import last_round

elimination_estimate, estimate_probabilities, lemma_3_estimates, lemma_5, lemma_5_estimates = (
    paper_function("eucbv", f"lemmas:{name}")
    for name in (
        "elimination_estimate",
        "estimate_probabilities",
        "lemma_3_estimates",
        "lemma_5",
        "lemma_5_estimates",
    )
)

RARE = 1e-6
"""The error rate of such a test; the seed is fixed."""


def width(variance, logarithm, pulls):
    return sqrt(0.5 * (variance + 2) * logarithm / (4 * pulls))


def test_the_exact_probability_is_the_binomial_tail():
    # K = 2, D = 0.6: round 8. All counts are enumerated here.
    horizon, probability = 20_000, 0.4
    row = lemma_3_estimates(lr.bernoulli([probability, 1.0]), horizon, runs=1)[0]
    logarithm = log(horizon**2 / 4 / 2**8)
    pulls = ceil(logarithm * 2**7)
    shares = np.arange(pulls + 1) / pulls
    over = [s > probability + width(s * (1 - s), logarithm, pulls) for s in shares]
    expected = stats.binom(pulls, probability).pmf(np.arange(pulls + 1))[over].sum()
    assert row.pulls == pulls
    assert row.exact == pytest.approx(expected, rel=1e-9)


def test_lemma_3_does_not_hold_for_a_bernoulli_arm_of_mean_one_half():
    # The round is reached (9 of 9), rewards lie in [0, 1], T >= K^2.4: still twice the bound.
    row = lemma_3_estimates(lr.bernoulli([0.5, 0.9]), 1_000_000, runs=10)[0]
    least = next(
        k
        for k in range(2561, 5123)
        if k / 5122 > 0.5 + width(k * (5122 - k) / 5122**2, log(1e12 / 2048), 5122)
    )
    assert row.exact == pytest.approx(stats.binom(5122, 0.5).sf(least - 1), rel=1e-9)
    assert row.exact > 1.7 * row.bound
    assert row.note == "the bound does not hold"


@pytest.mark.parametrize("scale", [None, (0.0, 2.0)])
def test_estimates_of_bernoulli_arms_agree_with_the_exact_probability(scale):
    bandit = lr.bernoulli([0.5, 1.0], scale=scale)
    row = lemma_3_estimates(bandit, 500, runs=1_000_000, seed=1)[0]
    assert row.exact > 1e-5
    assert RARE / 2 < stats.binom(row.runs, row.exact).cdf(row.occurrences) < 1 - RARE / 2
    assert row.low <= row.probability <= row.high


def test_estimates_of_gaussian_arms_agree_with_single_rewards():
    arm = lr.gaussian([0.2, 0.7], 0.3)
    quick = lemma_3_estimates(arm, 60, runs=200_000, seed=2)[0]
    # The same distribution, drawn reward by reward.
    logarithm = log(900 / 512)
    assert quick.pulls == ceil(logarithm * 256)
    random = np.random.default_rng(7)
    rewards = random.normal(0.2, sqrt(0.3), (20_000, quick.pulls))
    widths = np.sqrt(0.5 * (rewards.var(axis=1) + 2) * logarithm / (4 * quick.pulls))
    slow = int((rewards.mean(axis=1) > 0.2 + widths).sum())
    table = [[quick.occurrences, quick.runs - quick.occurrences], [slow, 20_000 - slow]]
    assert slow > 100
    assert stats.chi2_contingency(table).pvalue > RARE


FAMILIES = {
    "beta": (lr.beta([1, 3], [1, 1]), 300),
    "uniform": (lr.uniform(0, [1, 2]), 200),
    "exponential": (lr.exponential([1, 2]), 60),
    "poisson": (lr.poisson([1, 2]), 60),
    "empirical": (lr.empirical([[0, 1], [1, 1]]), 60),
}


@pytest.mark.parametrize(("bandit", "horizon"), FAMILIES.values(), ids=FAMILIES)
def test_other_families_are_drawn_reward_by_reward(bandit, horizon):
    row = lemma_3_estimates(bandit, horizon, runs=20_000, seed=3)[0]
    normal = stats.norm.sf(
        width(row.variance, log((horizon / 2) ** 2 / 2 ** _round(row.gap)), row.pulls)
        / sqrt(row.variance / row.pulls)
    )
    # The mean of many rewards is about normal, so the probability is about this one.
    assert normal / 3 < row.probability < 3 * normal + 0.001


def _round(gap):
    return next(m for m in range(99) if sqrt(4 * 2.0**-m) < gap / 4)


def test_empirical_rewards_of_two_values_are_bernoulli():
    bernoulli = lemma_3_estimates(lr.bernoulli([0.5, 1.0]), 60, runs=20_000)[0]
    data = lemma_3_estimates(lr.empirical([[0, 1], [1, 1]]), 60, runs=20_000)[0]
    assert (data.pulls, data.bound, data.exact) == (bernoulli.pulls, bernoulli.bound, None)
    assert RARE / 2 < stats.binom(data.runs, bernoulli.exact).cdf(data.occurrences) < 1 - RARE / 2


def test_one_row_per_gap_for_the_arm_of_highest_variance():
    rows = lemma_3_estimates(lr.paper(3), 400_000, runs=10)
    assert [round(row.gap, 9) for row in rows] == [0.005, 0.01]
    assert [row.variance for row in rows] == [0.01, lr.paper(3).variances[10:99].max()]
    for row in rows:
        assert "is never reached, the last is 9" in row.note
        assert "more pulls than the horizon" in row.note
        assert "assumes rewards in [0, 1], which does not hold here" in row.note


def test_estimates_depend_on_the_seed_only():
    bandit = lr.bernoulli([0.5, 1.0])
    one, same, other = (lemma_3_estimates(bandit, 60, runs=50_000, seed=s)[0].occurrences for s in (1, 1, 2))
    assert one == same != other


def test_elimination_estimate_and_its_bound():
    row = elimination_estimate(lr.bernoulli([0.5, 1.0]), 1_000_000, count=0, runs=100)
    assert (row.probability, row.low, row.note) == (0.0, 0.0, "")
    assert row.bound == pytest.approx(0.009722, rel=1e-4)
    assert elimination_estimate(lr.paper(1), 60_000, count=0, runs=100).note == "vacuous: above 1"
    assert (
        elimination_estimate(lr.bernoulli([0.5, 1.0]), 1_000_000, 30, 100).note
        == "the interval lies above the bound"
    )


def test_estimates_count_what_simulate_counts():
    bandit = lr.gaussian([0.5, 0.6], 4.0)
    table = estimate_probabilities(bandit, 100, runs=50, seed=3)
    known = lr.simulate("EUCBV", bandit, 100, 50, 3).summary(all=True)["optimal_arm_eliminated"][0]
    assert known > 0
    assert table["occurrences"][0] == known
    assert table["event"].to_list() == ["optimal arm eliminated", "Lemma 3", "Lemma 5"]


def test_lemma_5_does_not_hold_where_its_assumptions_do():
    bandit, horizon = lr.bernoulli([0.5, 0.9]), 1_000_000
    result = lr.simulate("EUCBV", bandit, horizon, runs=100, seed=2, grid=1)
    few, late = lemma_5_estimates(bandit, result)
    # Algorithm 1 with two arms that both remain: N_m is the sum of 2 n_m.
    reach = horizon**2 / 4
    ends = np.cumsum([2 * ceil(log(reach / 4**m) * 2**m / 2) for m in range(10)])
    assert (few.pulls, ends[9]) == (3_525, 15_498)
    assert few.bound == pytest.approx(182 * 2**4 / horizon**1.25 * 2**4.5)
    assert late.bound == pytest.approx(few.bound * 368 / 182)
    assert few.occurrences == 100 and result["EUCBV"].pulls[:, 0].max() < 150
    times = result["EUCBV"].eliminated[:, 0]
    assert late.occurrences == sum(t == 0 or t > ends[9] for t in times)
    assert late.probability > 0.8
    assert few.note == late.note == "the interval lies above the bound"


def test_lemma_5_in_a_round_that_is_never_reached():
    # M = 7 and m_i = 10: the last round, 8, ends at the horizon.
    bandit = lr.bernoulli([0.5, 0.9, 0.6])
    result = lr.simulate("EUCBV", bandit, 100_000, runs=20, seed=1, grid=1)
    rows = lemma_5_estimates(bandit, result)
    assert [(row.event, round(row.gap, 9)) for row in rows] == [
        ("Lemma 5", 0.3), ("case (a)", 0.3), ("Lemma 5", 0.4), ("case (a)", 0.4)
    ]  # fmt: skip
    never = (result["EUCBV"].eliminated[:, 2] == 0).sum()
    assert rows[1].occurrences == never
    assert "round 10 is never reached, the last is 8" in rows[1].note
    assert lemma_5(0.001, 2, 1_000) is None


def test_the_bound_on_the_arms_that_remain_is_below_1_in_the_experiments():
    for number in (1, 2, 3, 4):
        bandit = lr.paper(number)
        reach = (bandit.horizon / len(bandit)) ** 2 / 2 ** (last_round(bandit.horizon) + 1)
        assert 4 * len(bandit) / reach**0.75 < 0.27  # as in the proof of Lemma 4


def test_problems_to_which_the_lemma_does_not_apply():
    table = estimate_probabilities("bernoulli:0.5", 10, runs=2)
    assert len(table) == 1
    row = lemma_3_estimates(lr.bernoulli([0.3, 0.4]), 10, runs=2)[0]
    assert row.bound is None and "does not apply" in row.note


def test_bad_input_is_refused():
    with pytest.raises(lr.InputError, match="runs must be at most 139353 for these arms, got 10000000"):
        lemma_3_estimates(lr.beta([1, 3], [1, 1]), 100_000, runs=10_000_000)
    with pytest.raises(lr.InputError, match="runs must be an integer of at least 1, got 0"):
        lemma_3_estimates(lr.paper(1), 10, runs=0)
    with pytest.raises(lr.InputError, match="seed must be at least 0, got -1"):
        lemma_3_estimates(lr.paper(1), 10, seed=-1)

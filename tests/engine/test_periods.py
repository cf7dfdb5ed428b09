"""Means that are adjusted for periods: the estimates, both engines, and what is refused."""

import numpy as np
import pytest

import lowregret as lr
from lowregret.engine.kernels.periods import (
    EXPOSURE,
    LATEST,
    LEADER,
    PRIOR_VARIANCE,
    PULLS,
    SQUARES,
    TOTAL,
    VARIANCE_FACTOR,
    adjust,
    estimate_factors,
    new_periods,
)
from lowregret.engine.kernels.state import ArmTable, new_rows
from lowregret.policies.views import arm_view

WEEKEND = "rhythm: every=100; weekend=1.75"


def filled(counts, totals, squares, exposure):
    """Return periods with these rewards."""
    periods = new_periods(100, *counts.shape)
    periods.counts[:], periods.totals[:] = counts, totals
    periods.arms[:, TOTAL], periods.arms[:, SQUARES] = totals.sum(axis=1), squares
    periods.arms[:, EXPOSURE] = exposure
    periods.state[LATEST] = counts.shape[1] - 1
    return periods


@pytest.mark.parametrize("seed", range(4))
def test_the_estimates_are_those_of_the_formulas(seed):
    random = np.random.default_rng(seed)
    counts = random.integers(0, 60, (3, 5)).astype(float)
    counts[0, 2] += 1  # so that no period is empty
    totals = random.binomial(counts.astype(int), 0.2).astype(float)
    exposure = counts.sum(axis=1) * random.uniform(0.9, 1.1, 3)
    periods = filled(counts, totals, totals.sum(axis=1), exposure)
    estimate_factors(periods)

    pulls, sums = counts.sum(axis=1), totals.sum(axis=1)
    dispersion = (sums - sums**2 / pulls).sum() / sums.sum()
    earned, expected = totals.sum(axis=0), (sums / exposure) @ counts
    weights = expected / dispersion
    deviance = (weights * (earned / expected - 1) ** 2).sum()
    moments = max(deviance - 4, 0) / (weights.sum() - (weights**2).sum() / weights.sum())
    variance = max(VARIANCE_FACTOR * moments, PRIOR_VARIANCE / 5)
    factors = (variance * earned / dispersion + 1) / (variance * expected / dispersion + 1)
    factors /= (counts.sum(axis=0) * factors).sum() / counts.sum()
    assert periods.factors == pytest.approx(factors)
    assert periods.arms[:, EXPOSURE] == pytest.approx(counts @ factors)

    leader, means = pulls.argmax(), sums / (counts @ factors)
    others = np.delete(counts * means[:, None], leader, 0).sum(axis=0) * factors + dispersion / variance
    own, rest = counts[leader] * factors, others / means[leader]
    excess = 1 / (own * rest / (own + rest)).sum() - 1 / own.sum() - 1 / rest.sum()
    assert periods.state[LEADER] == leader
    assert periods.excess[0] == pytest.approx(max(excess, 0))


def test_equal_shares_in_every_period_need_no_wider_bounds_and_solo_pulls_do():
    counts = np.array([[50.0, 100.0, 50.0], [25.0, 50.0, 25.0]])
    totals = counts * [0.1, 0.3, 0.1]
    even = filled(counts, totals, totals.sum(axis=1), counts.sum(axis=1))
    estimate_factors(even)
    solo = np.array([[50.0, 1_000.0, 1_000.0], [50.0, 0.0, 0.0]])
    earned = solo * [0.1, 0.3, 0.1]
    alone = filled(solo, earned, earned.sum(axis=1), solo.sum(axis=1))
    estimate_factors(alone)
    assert even.excess[0] < 0.1 / 100 < 0.5 / 50 < alone.excess[0]


def test_a_policy_sees_the_adjusted_arm():
    periods = filled(np.array([[40.0, 10.0]]), np.array([[8.0, 6.0]]), [14.0], [56.0])
    periods.arms[0, PULLS] = 50
    adjust(periods, 0, 1)
    rows = new_rows(1)
    rows["pulls"] = 50
    arm = arm_view(lr.UCB1(), ArmTable(rows, None, periods), 0)
    assert (arm.pulls, arm.mean) == (56, 0.25)
    assert arm.variance == pytest.approx(0.25 * 0.75)  # rewards are 0 or 1
    assert rows[0]["pulls"] == 50


@pytest.mark.parametrize("late", [{}, {"delay": "geometric(mean=30, lost=0.1)", "batch": 3}])
@pytest.mark.parametrize("policy", ["UCB1", "EUCBV", "ThompsonBeta"])
def test_both_engines_agree(policy, late):
    bandit = f"bernoulli:0.3,0.3,0.35 | {WEEKEND}"
    fast, plain = (
        lr.trace(policy, bandit, 900, seed=2, period=100, engine=engine, **late)
        for engine in ("compiled", "reference")
    )
    assert fast.arm.tolist() == plain.arm.tolist()
    without = lr.trace(policy, bandit, 900, seed=2, engine="reference", **late)
    assert fast.arm.tolist() != without.arm.tolist()


def test_both_engines_agree_where_rewards_are_transformed():
    bandit = lr.rhythm(lr.beta([2.0, 2.0], [8.0, 7.0]), 100, weekend=1.2)
    fast, plain = (
        lr.trace("ThompsonBeta", bandit, 500, clip=True, period=100, engine=engine)
        for engine in ("compiled", "reference")
    )
    assert fast.arm.tolist() == plain.arm.tolist()


@pytest.mark.parametrize("policy", ["UCB1", "MOSS", "KLUCB"])
def test_a_single_period_changes_nothing(policy):
    bandit = "bernoulli:0.2,0.3,0.4"
    plain = lr.trace(policy, bandit, 400, seed=1, engine="reference")
    one = lr.trace(policy, bandit, 400, seed=1, engine="reference", period=400)
    assert one.arm.tolist() == plain.arm.tolist()


def test_the_best_arm_is_found_on_good_and_bad_days():
    bandit = lr.rhythm(lr.bernoulli([0.10] * 4 + [0.12]), 1_000, weekend=1.75)
    leads = []
    for period in (None, 1_000):
        pulls = lr.simulate("UCB1", bandit, 14_000, runs=60, grid=1, period=period)["UCB1"].pulls
        leads.append((pulls.argmax(axis=1) == 4).mean())
    assert leads[0] < 0.65 < 0.85 < leads[1]  # 0.37 and 0.97 in 1,000 runs


@pytest.mark.parametrize("policy", ["DiscountedUCB", "GLRKLUCB", "NPTS", "MedianElimination"])
def test_policies_that_keep_rewards_in_their_own_way_are_refused(policy):
    with pytest.raises(lr.InputError, match="keeps rewards in its own way: use another policy, or no period"):
        lr.simulate(policy, "bernoulli:0.2,0.3", 100, runs=1, period=10)


def test_what_else_is_refused():
    with pytest.raises(lr.InputError, match="rewards of 'gaussian' may be negative: scale them"):
        lr.simulate("UCB1", lr.gaussian([0.2, 0.3], 1.0), 100, runs=1, period=10)
    with pytest.raises(lr.InputError, match="period must be"):
        lr.simulate("UCB1", "bernoulli:0.2,0.3", 100, runs=1, period=0)
    with pytest.raises(lr.InputError, match="period and prior cannot be combined: use one of them"):
        lr.simulate("UCB1", "bernoulli:0.2,0.3", 100, runs=1, period=10, prior={0: (0.2, 10)})
    with pytest.raises(lr.InputError, match="means adjusted for periods are not supported on a GPU"):
        lr.simulate("UCB1", "bernoulli:0.2,0.3", 100, runs=1, period=10, engine="cuda")


def test_results_say_that_means_are_adjusted():
    result = lr.simulate("UCB1", "bernoulli:0.2,0.3", 100, runs=1, period=10, engine="reference")
    assert result.notes == {"UCB1": "means adjusted for periods of 10 decisions"}

"""Rewards by family, and statistics that stay accurate."""

import numpy as np
import pytest
from numba import njit
from scipy import stats

import lowregret as lr
from lowregret.engine.kernels import step
from lowregret.engine.kernels.rewards import reward
from lowregret.engine.kernels.state import ArmTable, lay_out, rows_of, rows_of_table
from lowregret.engine.kernels.statistics import add_reward, read_sums, write_sums
from lowregret.policies.views import Arm, arm_view, mean_of

ALPHA = 1e-4  # the p-value below which a fixed-seed test fails


@njit
def rewards(row, data, count):
    values = np.empty(count)
    for n in range(1, count + 1):
        values[n - 1] = reward(row, data, n)
    return values


@njit
def observe_all(rows, values, place=0):
    for x in values:
        sums = add_reward(read_sums(rows[place]), x)
        write_sums(rows[place], sums, mean_of(sums.n, sums.origin, sums.total))


def drawn(bandit, count=50_000, seed=7):
    rows = rows_of(bandit)
    lay_out(rows_of(bandit), np.arange(len(bandit)), np.uint64(seed), 0, rows)
    return [rewards(row, bandit.data, count) for row in rows]


@pytest.mark.parametrize(
    ("bandit", "distribution"),
    [
        (lr.gaussian([0.3], 0.04), stats.norm(0.3, 0.2)),
        (lr.gaussian([0.3], 0.04, scale=(-1, 3)), stats.norm(0.325, 0.05)),
        (lr.beta([2.0], 5.0), stats.beta(2, 5)),
        (lr.beta([2.0], 5.0, scale=(0, 2)), stats.beta(2, 5, 0, 0.5)),
        (lr.exponential([3.0]), stats.expon(0, 3)),
        (lr.exponential([3.0], scale=(1, 3)), stats.expon(-0.5, 1.5)),
        (lr.uniform([-1.0], [3.0]), stats.uniform(-1, 4)),
    ],
)
def test_continuous_families(bandit, distribution):
    assert stats.kstest(drawn(bandit)[0], distribution.cdf).pvalue > ALPHA


@pytest.mark.parametrize(
    ("bandit", "values", "shares"),
    [
        (lr.bernoulli([0.07]), [0.0, 1.0], [0.93, 0.07]),
        (lr.bernoulli([0.3], scale=(-1, 1)), [0.5, 1.0], [0.7, 0.3]),
        (lr.empirical([[0.1, 0.9, 0.9, 0.4]]), [0.1, 0.4, 0.9], [0.25, 0.25, 0.5]),
    ],
)
def test_discrete_families(bandit, values, shares):
    seen, counts = np.unique(drawn(bandit)[0], return_counts=True)
    np.testing.assert_allclose(seen, values, rtol=1e-12)
    assert stats.chisquare(counts, np.array(shares) * 50_000).pvalue > ALPHA


def test_certain_and_impossible_rewards():
    sure = lr.bernoulli([0.0, 1.0]) + lr.gaussian([0.25], 0.0) + lr.poisson([0.0]) + lr.uniform([0.5], [0.5])
    for values, expected in zip(drawn(sure, 1000), [0.0, 1.0, 0.25, 0.0, 0.5], strict=True):
        assert (values == expected).all()


def test_every_empirical_arm_reads_its_own_data():
    mixed = lr.empirical([[1.0, 2.0], [3.0]]) + lr.empirical([[4.0, 5.0]])
    assert [set(values.tolist()) for values in drawn(mixed, 200)] == [{1.0, 2.0}, {3.0}, {4.0, 5.0}]


def test_rewards_do_not_depend_on_the_order_of_the_arms():
    bandit = lr.gaussian([0.1, 0.2, 0.3], 1.0)
    plain, turned = rows_of(bandit), rows_of(bandit)
    lay_out(rows_of(bandit), np.array([0, 1, 2]), np.uint64(3), 5, plain)
    lay_out(rows_of(bandit), np.array([2, 0, 1]), np.uint64(3), 5, turned)
    for place, number in enumerate([2, 0, 1]):
        assert turned[place]["number"] == number
        assert (
            rewards(turned[place], bandit.data, 5).tolist() == rewards(plain[number], bandit.data, 5).tolist()
        )


def test_given_rewards_end_in_nan():
    rows, data = rows_of_table([np.array([0.5]), np.array([0.25, 0.75])])
    assert rewards(rows[1], data, 2).tolist() == [0.25, 0.75]
    assert np.isnan(reward(rows[0], data, 2))


@pytest.mark.parametrize(
    ("mean", "deviation"), [(0.0, 1.0), (0.5, 1e-3), (1000.0, 1e-3), (-1e6, 1e-2), (1e9, 1.0), (1.0, 1e-6)]
)
def test_statistics_after_ten_million_pulls(mean, deviation):
    values = mean + deviation * np.random.default_rng(1).standard_normal(10_000_000)
    arms = rows_of(lr.bernoulli([0.5]))
    observe_all(arms, values)
    arm = arm_view(lr.MOSS(), ArmTable(arms), 0)
    exact = np.longdouble(values)
    assert arm.pulls == len(values)
    assert arm.mean == pytest.approx(float(exact.mean()), rel=1e-12, abs=1e-12)
    assert arm.variance == pytest.approx(float(exact.var()), rel=1e-9)


def test_whole_rewards_tie_whatever_their_order():
    ones = rows_of(lr.bernoulli([0.5, 0.5]))
    observe_all(ones, np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), 0)
    observe_all(ones, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]), 1)
    assert arm_view(lr.MOSS(), ArmTable(ones), 0)[1:] == arm_view(lr.MOSS(), ArmTable(ones), 1)[1:]
    assert arm_view(lr.MOSS(), ArmTable(ones), 0)[1:4] == (7, 2 / 7, pytest.approx(10 / 49))


def test_a_first_reward_of_one_is_as_good_as_another():
    arms = rows_of(lr.bernoulli([0.5]))
    values = np.tile([1.0, 1.0 + 1e-7], 50_000)
    observe_all(arms, values)
    assert arm_view(lr.MOSS(), ArmTable(arms), 0).variance == pytest.approx(
        np.longdouble(values).var(), rel=1e-6
    )


def test_a_constant_has_no_variance():
    arms = rows_of(lr.bernoulli([0.5]))
    assert arm_view(lr.MOSS(), ArmTable(arms), 0) == Arm(0, 0, 0.0, 0.0)
    observe_all(arms, np.full(1000, 0.1))
    assert arm_view(lr.MOSS(), ArmTable(arms), 0) == Arm(0, 1000, 0.1, 0.0)


def test_counts_of_arms_are_those_of_the_loops_that_compile():
    random, rows = np.random.default_rng(3), rows_of(lr.bernoulli([0.5] * 7))
    for _ in range(200):
        rows["active"], rows["pulls"] = random.random(7) < 0.4, random.integers(0, 4, 7)
        for warmup in range(5):
            assert step.in_warmup(rows, warmup) is step._in_warmup(rows, warmup)
        assert step.count_active(rows) == step._count_active(rows)

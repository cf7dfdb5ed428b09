"""Policies that state the distributions of their samples.

Their choices are those of the reference engine, and have the distribution of a sampler that draws every arm.
"""

from math import erf, exp, inf, nan, sqrt
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

import lowregret as lr
from lowregret.engine.kernels.exceedances import first_sampling_round, with_new_threshold
from lowregret.engine.kernels.posteriors import (
    DIRECT_BETA,
    MIN_BETA_ARMS,
    MIN_NORMAL_ARMS,
    exceedance,
    level_of,
)
from lowregret.engine.kernels.state import ArmTable, new_rows
from lowregret.errors import InputError
from lowregret.special.argmax_probabilities import beta_argmax, normal_argmax


class OddOnly(lr.ThompsonGauss):
    """Gaussian Thompson sampling over the arms of odd number."""

    def initially_active(self, number):
        return number % 2 == 1


class ConstantNormals(lr.Policy):
    """Normal distributions that never change: equal, with one leader, very different, or some constant.

    Or N(0.3, 1) for one arm and N(0, 0.25) for others; or none after some pulls.
    """

    shape: int = 0
    breaks: int = lr.NEVER
    deviation: bool = False
    warmup = 0

    def normal_posterior(self, arm):
        n = arm.number
        if arm.pulls >= self.breaks:
            return (0.0, nan) if self.deviation else (nan, 1.0)
        if self.shape == 4:
            return (0.3, 1.0) if n == 0 else (0.0, 0.5)
        if self.shape == 0:
            return 0.0, 1.0
        if self.shape == 1:
            return (2.5 if n == 7 else 0.01 * n), 1.0
        if self.shape == 2:
            return 0.2 * (n % 7), 0.3 + 0.1 * (n % 5)
        return (0.5 if n % 9 == 0 else 0.1), (0.0 if n % 3 == 0 else 0.2)


class ConstantBetas(lr.Policy):
    """Beta distributions that never change: uniform, with one leader, skewed, or with large parameters."""

    shape: int = 0
    warmup = 0

    def beta_posterior(self, arm):
        n = arm.number
        if self.shape == 0:
            return 1.0, 1.0
        if self.shape == 1:
            return (60.0, 40.0) if n == 3 else (10.0 + n, 30.0)
        if self.shape == 2:
            return 1.0 + n % 3, 40.0 + 7.0 * (n % 4)
        return 2e6 + 300.0 * n, 3e6


class PlainBeta(lr.Policy):
    """Thompson sampling that draws every arm."""

    warmup = 0
    needs = ("rewards in [0, 1]",)

    def sample(self, arm, clock, rng):
        return rng.beta(1.0 + arm.mean * arm.pulls, 1.0 + arm.pulls * (1.0 - arm.mean))


class PlainGauss(lr.Policy):
    """Gaussian Thompson sampling that draws every arm."""

    warmup = 0

    def sample(self, arm, clock, rng):
        count = arm.pulls + 1.0
        return arm.mean * arm.pulls / count + sqrt(1.0 / count) * rng.normal()


class Ones(NamedTuple):
    """The sum of an arm's rewards."""

    ones: float = 0.0


class Counting(lr.ThompsonBeta):
    """Thompson sampling with a memory, which the compiled engine scans."""

    Memory = Ones

    def update_memory(self, arm, reward, clock):
        return Ones(arm.memory.ones + reward)

    def beta_posterior(self, arm):
        return 1.0 + arm.memory.ones, 1.0 + arm.pulls - arm.memory.ones


POSTERIORS = [
    *(ConstantNormals(shape=shape) for shape in range(4)),
    *(ConstantBetas(shape=shape) for shape in range(4)),
]


def threshold_of(policy, size):
    """Return the threshold that a policy has after the first reward."""
    rows = new_rows(size, policy)
    return with_new_threshold(policy, ArmTable(rows), 1, first_sampling_round()).threshold


@pytest.mark.parametrize(
    "policy",
    [*map(lr.ThompsonGauss, (1.0, 0.01)), lr.ThompsonBeta(), Counting(), OddOnly(), *POSTERIORS],
    ids=str,
)
def test_choices_are_those_of_the_reference(policy):
    draws = np.random.default_rng(4)
    for size, horizon in ((2, 150), (16, 250), (37, 200), (MIN_NORMAL_ARMS + 1, 200)):
        table = (draws.random((size, horizon)) < np.linspace(0.05, 0.5, size)[:, None]).astype(float)
        one, other = (
            lr.trace(policy, table, horizon, seed=6, engine=e).arm for e in ("compiled", "reference")
        )
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("policy", [lr.ThompsonGauss(), lr.ThompsonBeta(), *POSTERIORS], ids=str)
def test_only_many_arms_have_a_threshold(policy):
    """Guards the tests of distributions: without a threshold they would prove nothing."""
    least = MIN_NORMAL_ARMS if hasattr(policy, "normal_posterior") else MIN_BETA_ARMS
    assert threshold_of(policy, least) > -inf
    assert threshold_of(policy, least - 1) == -inf


def test_an_arm_is_chosen_as_often_as_it_is_likely_to_be_best():
    """Over 200,000 independent steps; 4 standard errors, so by chance this fails once in 16,000 seeds."""
    steps = 200_000
    share = np.mean(lr.trace(ConstantNormals(shape=4), np.zeros((2, steps)), steps, seed=1).arm == 0)
    propensity = 0.5 * (1.0 + erf(0.3 / sqrt(1.25) / sqrt(2.0)))
    assert abs(share - propensity) < 4.0 * sqrt(propensity * (1.0 - propensity) / steps)


@pytest.mark.heavy
@pytest.mark.parametrize("policy", POSTERIORS, ids=str)
def test_frequencies_are_those_of_numerical_integration(policy):
    """Chi-square over 400,000 independent choices; by chance one of the eight fails once in 1,000 seeds."""
    normal = hasattr(policy, "normal_posterior")
    size, steps = (100, 400_000) if normal else (24, 400_000)
    posterior = policy.normal_posterior if normal else policy.beta_posterior
    parameters = np.array([posterior(lr.policies.Arm(n, 0, 0.0, 0.0)) for n in range(size)]).T
    shares = (normal_argmax if normal else beta_argmax)(*parameters)
    chosen = lr.trace(policy, np.zeros((size, steps)), steps, seed=2).arm
    assert chi_square(np.bincount(chosen, minlength=size), shares * steps) > 1e-3 / 8


def chi_square(counts, expected):
    """Return the p-value of counts, those with few expected added to one cell."""
    many = expected >= 10
    counts = np.append(counts[many], counts[~many].sum())
    expected = np.append(expected[many], expected[~many].sum())
    keep = expected > 1e-6
    assert counts[~keep].sum() == 0
    return stats.chisquare(counts[keep], expected[keep] * counts.sum() / expected[keep].sum()).pvalue


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("policy", "plain", "size"),
    [(lr.ThompsonBeta(), PlainBeta(), 20), (lr.ThompsonGauss(), PlainGauss(), 80)],
    ids=["beta", "normal"],
)
def test_regret_is_that_of_drawing_every_arm(policy, plain, size):
    """Over 12,000 runs, with independent rewards: means, spreads and pulls of the best arm."""
    bandit = lr.bernoulli([0.2] * (size - 1) + [0.6])
    found = [
        lr.simulate(each, bandit, 6 * size, 12_000, seed=seed, grid=3)[each]
        for each, seed in ((policy, 1), (plain, 2))
    ]
    for at in range(3):
        first, second = (outcome.regret[:, at] for outcome in found)
        assert stats.ttest_ind(first, second).pvalue > 1e-4
        assert stats.levene(first, second).pvalue > 1e-4
    assert stats.ks_2samp(*(outcome.pulls[:, -1] for outcome in found)).pvalue > 1e-4


class Contested(lr.Policy):
    """Four arms that compete and others that hardly do; the distributions change with every pull."""

    def beta_posterior(self, arm):
        n = arm.number
        if n < 4:
            return 4.0 + n + arm.pulls * arm.mean, 6.0 + 3.0 * arm.pulls * (1.0 - arm.mean)
        return 2.0, 12.0

    warmup = 0


class PlainContested(lr.Policy):
    """The same, by drawing every arm."""

    warmup = 0

    def sample(self, arm, clock, rng):
        n = arm.number
        if n < 4:
            return rng.beta(4.0 + n + arm.pulls * arm.mean, 6.0 + 3.0 * arm.pulls * (1.0 - arm.mean))
        return rng.beta(2.0, 12.0)


@pytest.mark.heavy
def test_short_paths_have_the_same_distribution():
    """Chi-square of two samples over paths of four arms, all arms but four counted as one."""
    runs, table = 4_000, np.tile([1.0, 0.0], (MIN_BETA_ARMS, 2))
    counts = []
    for policy, start in ((Contested(), 0), (PlainContested(), runs)):
        paths = [lr.trace(policy, table, 4, seed=8 + start + run).arm for run in range(runs)]
        codes = np.minimum(np.array(paths), 4) @ 5 ** np.arange(4)
        counts.append(np.bincount(codes, minlength=5**4))
    both = np.array(counts)
    many = both.sum(axis=0) >= 20
    cells = np.column_stack([both[:, many], both[:, ~many].sum(axis=1)])
    assert cells.shape[1] > 100
    assert stats.chi2_contingency(cells).pvalue > 1e-4


@pytest.mark.parametrize("z", [1.4, 2.0, 5.0, 20.0, 37.0, 60.0])
def test_normal_tails_are_bounded(z):
    policy = lr.ThompsonGauss()
    found = exceedance(policy, 3.0, 0.5, level_of(policy, 3.0 + 0.5 * z, 0.0))
    tail, bound = stats.norm.sf(z), -np.expm1(-found.rate)
    assert tail <= bound <= tail * (1.0 + 1.0 / z**2) * (1 + 1e-12)
    assert found.steepness == pytest.approx(z / 0.5)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 50), (3, 700), (40, 2), (2e5, 3e5), (0.4, 0.3), (1e9, 1)])
@pytest.mark.parametrize("tail", [0.2, 1e-3, 1e-12, 1e-60])
def test_beta_tails_are_bounded(a, b, tail):
    policy = lr.ThompsonBeta()
    rest = stats.beta.ppf(tail, b, a)  # 1 - x
    if rest < 1e-250:
        return
    threshold = np.log1p(-rest) - np.log(rest)
    found = exceedance(policy, float(a), float(b), level_of(policy, float(threshold), 0.0))
    bound = -np.expm1(-found.rate)
    if found.rate >= 0.0:
        assert tail * (1 - 1e-9) <= bound <= DIRECT_BETA
        assert bound < 12 * tail
    else:
        assert tail > 0.05


def test_degenerate_distributions_have_rates():
    policy = lr.ThompsonGauss()
    level = level_of(policy, 1.0, 0.0)
    assert exceedance(policy, 0.5, 0.0, level).rate == 0.0
    assert exceedance(policy, 1.0, 0.0, level).rate < 0.0
    assert exceedance(policy, inf, 0.0, level).rate < 0.0
    assert exceedance(policy, -inf, 1.0, level).rate == 0.0
    assert exceedance(policy, 0.0, inf, level).rate < 0.0
    for mean, deviation in ((nan, 1.0), (0.0, nan), (inf, inf), (nan, 0.0)):
        assert np.isnan(exceedance(policy, mean, deviation, level).rate)
    assert exceedance(policy, -40.0, 1.0, level).rate < exp(-700)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(
    ("policy", "size"),
    [
        (ConstantNormals(shape=4, breaks=5), 2),
        (ConstantNormals(breaks=3), 90),
        (ConstantNormals(breaks=3, deviation=True), 90),
    ],
)
def test_a_distribution_that_is_none_is_refused(policy, size, engine):
    with pytest.raises(InputError, match=r"a score must be a number, got nan"):
        lr.trace(policy, np.zeros((size, 500)), 500, engine=engine)

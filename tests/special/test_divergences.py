"""Divergences and the KL-UCB bound: against 40-digit values, against SciPy, and in their limits."""

from math import expm1, inf, log, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy import special

import lowregret as lr
from lowregret.engine.bridge.numba_options import METHODS
from lowregret.special import bernoulli_kl, bernoulli_kl_upper, gaussian_kl
from lowregret.special.divergences import exponential_kl, normal_kl_free, poisson_kl, uniform_kl_free

inside = st.floats(1e-9, 1.0 - 1e-9)
levels = st.floats(-15.0, 3.0).map(lambda exponent: 10.0**exponent)

# mpmath, 45 digits.
DIVERGENCES = [
    (0.3, 0.30000001, 2.3809523482116096833e-16),
    (0.5, 0.499999999, 2.0000001089168805582e-18),
    (0.3, 0.366, 0.0096667088007755686608),
    (0.6, 0.49, 0.024336087022728651273),
    (0.7, 0.7000001, 2.3809526860759605383e-14),
    (0.999999, 0.9999991, 5.3605206641530246214e-9),
    (1e-12, 2e-12, 3.0685281944055468441e-13),
    (1e-9, 0.5, 0.69314715883667947297),
    (0.25, 1e-10, 5.1941275879413058507),
    (0.9, 0.1, 1.7577796618689755545),
]
BOUNDS = [
    (0.5, 1e-15, 0.500000022360679775),
    (0.5, 1e-6, 0.50070710642763330423),
    (0.1, 0.01, 0.14767553929800747915),
    (0.9, 0.01, 0.93708937015274170934),
    (0.3, 0.5, 0.77138232860757508653),
    (0.01, 2.0, 0.87449561746202425933),
    (1e-9, 1e-3, 0.00099951496784170128253),
    (1e-9, 1e-12, 1.045390495939967232e-9),
    (1e-200, 0.1, 0.095162581964040431859),
    (0.999, 1e-5, 0.99913477640668435015),
    (0.2, 20.0, 0.99999999999257005775),
]


@pytest.mark.parametrize(("p", "q", "expected"), DIVERGENCES)
def test_divergence_has_all_its_digits(p, q, expected):
    assert bernoulli_kl(p, q) == pytest.approx(expected, rel=4e-15, abs=0.0)


@given(inside, inside)
def test_divergence_agrees_with_scipy(p, q):
    # SciPy's rel_entr terms cancel where p and q are close, hence the absolute part.
    expected = special.rel_entr(p, q) + special.rel_entr(1.0 - p, 1.0 - q)
    assert bernoulli_kl(p, q) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@given(inside, st.floats(-1.0, 1.0), st.floats(-12.0, -3.0))
def test_divergence_of_close_means_follows_its_expansion(p, direction, exponent):
    q = p + direction * min(p, 1.0 - p) * 10.0**exponent
    change, variance = q - p, p * (1.0 - p)
    square = change * change / (2.0 * variance)
    # The part of the third order; the fourth is at most the square of the relative change.
    expected = square * (1.0 - 2.0 * change * (1.0 - 2.0 * p) / (3.0 * variance))
    assert bernoulli_kl(p, q) == pytest.approx(expected, rel=1e-12 + 10.0 ** (2 * exponent), abs=1e-300)


def test_divergence_in_its_limits():
    assert bernoulli_kl(0.0, 0.25) == -log1p(-0.25)
    assert bernoulli_kl(1.0, 0.25) == -log(0.25)
    for mean in (0.0, 1e-300, 0.3, 1.0):
        assert bernoulli_kl(mean, mean) == 0.0
    for p, q in [(0.5, 0.0), (0.5, 1.0), (1.0, 0.0), (0.0, 1.0)]:
        assert bernoulli_kl(p, q) == inf


@pytest.mark.parametrize(("p", "level", "expected"), BOUNDS)
def test_bound_has_all_its_digits(p, level, expected):
    assert bernoulli_kl_upper(p, level) == pytest.approx(expected, rel=1e-15, abs=0.0)


@given(st.floats(0.0, 1.0), levels)
def test_bound_solves_its_equation(p, level):
    q = bernoulli_kl_upper(p, level)
    assert p <= q <= 1.0
    # A relative change of q by 1e-14 must lead across the level.
    if q * (1.0 - 1e-14) > p:
        assert bernoulli_kl(p, q * (1.0 - 1e-14)) < level
    assert q * (1.0 + 1e-14) >= 1.0 or bernoulli_kl(p, q * (1.0 + 1e-14)) > level


def test_bound_in_its_limits():
    for level in (0.0, -1.0):
        assert bernoulli_kl_upper(0.3, level) == 0.3
    assert bernoulli_kl_upper(1.0, 0.5) == 1.0
    assert bernoulli_kl_upper(0.0, 0.5) == -expm1(-0.5)
    assert bernoulli_kl_upper(0.5, 1e3) == 1.0
    assert bernoulli_kl_upper(0.5, 5e-324) == 0.5
    assert bernoulli_kl_upper(0.9456790447525557, 5e-324) == 0.9456790447525557
    assert 0.0 < bernoulli_kl_upper(5e-324, 1e-299) < 1e-298


@pytest.mark.parametrize("p", [0.0, 1e-6, 0.02, 0.3, 0.5, 0.9, 0.9999])
def test_bound_rises_with_the_level_and_the_mean(p):
    by_level = [bernoulli_kl_upper(p, level) for level in np.geomspace(1e-8, 10.0, 5000)]
    assert np.all(np.diff(by_level) >= 0.0)
    by_time = [bernoulli_kl_upper(p, log(t) / 100) for t in range(1, 5000)]
    assert np.all(np.diff(by_time) >= 0.0)
    by_mean = [bernoulli_kl_upper(mean, 0.01) for mean in np.linspace(p, 1.0, 5000)]
    assert np.all(np.diff(by_mean) >= 0.0)


def test_gaussian_divergence():
    assert gaussian_kl(0.5, 2.0, 0.25) == 4.5
    assert gaussian_kl(2.0, 0.5, 0.25) == 4.5


def test_other_divergences_by_hand():
    assert poisson_kl(2.0, 2.5, 0.5) == pytest.approx(0.5 - 2.0 * log(1.25), rel=1e-14)
    assert exponential_kl(1.0, 2.0) == pytest.approx(log(2.0) - 0.5, rel=1e-14)
    assert normal_kl_free(1.0, 1.0) == pytest.approx(log(2.0) / 2.0, rel=1e-14)
    assert uniform_kl_free(0.0, 1.0, 1.0) == pytest.approx(log(2.0), rel=1e-14)


class Caller(lr.Policy):
    """What a policy looks like to the engine."""

    variance: float

    def divergence(self, p, q):
        return bernoulli_kl(p, q)

    def bound(self, p, level):
        return bernoulli_kl_upper(p, level)

    def gaussian(self, p, q):
        return gaussian_kl(p, q, self.variance)


@njit(**METHODS)
def call_compiled(caller, first, second):
    found = np.empty((3, first.size))
    for i in range(first.size):
        found[0, i] = caller.divergence(first[i], min(second[i], 1.0))
        found[1, i] = caller.bound(first[i], second[i])
        found[2, i] = caller.gaussian(first[i], second[i])
    return found


def test_compiled_code_gives_the_same_bits():
    rng = np.random.default_rng(1)
    first = np.concatenate([rng.random(4000), 10.0 ** rng.uniform(-12, 0, 4000), [0.0, 1.0, 0.0, 1.0, 0.3]])
    second = np.concatenate([rng.random(4000), 10.0 ** rng.uniform(-15, 3, 4000), [0.0, 1.0, 1.0, 0.0, 0.3]])
    caller = Caller(0.25)
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    plain = [
        [caller.divergence(p, min(q, 1.0)) for p, q in pairs],
        [caller.bound(p, level) for p, level in pairs],
        [caller.gaussian(p, q) for p, q in pairs],
    ]
    assert np.array_equal(call_compiled(caller, first, second), plain)

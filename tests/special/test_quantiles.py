"""Tails and quantiles: against 40-digit values, against SciPy, against each other, and compiled."""

from math import log, tan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit
from scipy import special, stats

import lowregret as lr
from lowregret.engine.bridge.numba_options import METHODS
from lowregret.special import beta_tail, beta_upper, normal_upper, student_tail, student_upper
from lowregret.special.tails import (
    beta_depth,
    beta_is_low,
    beta_mills,
    log_peak,
    stirling_rest,
    student_is_smooth,
    student_series,
)


def powers(low, high):
    """Numbers spread evenly over orders of magnitude."""
    return st.floats(np.log10(low), np.log10(high)).map(lambda exponent: 10.0**exponent)


tails = powers(1e-12, 1.0).filter(lambda tail: tail < 1.0)
parameters = powers(0.05, 1e7)

# mpmath, 45 digits.
NORMAL = [
    (1e-300, 37.047096299361199237),
    (1e-100, 21.273453560965324294),
    (1e-16, 8.2220822161304356152),
    (1e-9, 5.9978070150076868614),
    (0.0001, 3.7190164854556805523),
    (0.074, 1.4466320671589785099),
    (0.076, 1.4325027208258116188),
    (0.3, 0.52440051270804081597),
    (0.4999999, 2.5066282747031065135e-7),
    (0.6, -0.25334710313579974132),
    (0.9999999999, -6.3613408896974218642),
    (1.0 - 2.0**-53, -8.2095361516013868556),
]
STUDENT = [
    (1.0, 1e-12, 318309886183.79067794),
    (1.0, 0.3, 0.72654252800536093919),
    (2.0, 1e-6, 707.10572052593381853),
    (3.5, 0.01, 4.0607113593000836909),
    (10.0, 0.025, 2.2281388519862747157),
    (19.0, 1e-9, 10.613521312506377689),
    (21.0, 0.001, 3.5271536688691775906),
    (30.0, 0.499999, 2.5276002260585127345e-6),
    (50.0, 0.0001, 4.014047320155800598),
    (50.0, 1e-12, 9.2601396836841447117),
    (5000.0, 1e-9, 6.0089127045183879176),
    (1e6, 1e-12, 7.034572608411256618),
    (2.0, 0.999, -22.32712477011986549),
]
BETA = [
    (1.0, 1.0, 1e-9, 0.999999999),
    (1.0, 50.0, 0.0001, 0.16823622889732899304),
    (3.0, 9.0, 0.001, 0.67931496035717020377),
    (0.05, 0.05, 0.3, 0.99996613800242097204),
    (0.05, 2000.0, 0.01, 0.0005437949648634416728),
    (7.5, 2.25, 0.9, 0.59029756121032651023),
    (20.0, 30.0, 1e-12, 0.84018820664200960444),
    (60.0, 600.0, 1e-9, 0.17197547669721669252),
    (101.0, 1001.0, 0.0001, 0.12708368891298864274),
    (300.0, 400.0, 0.9999999999, 0.31387420107666445146),
    (10001.0, 100001.0, 1e-6, 0.095090300741109198268),
    (1e6, 1e7, 1e-9, 0.091429838337928453131),
    (1e7, 1e7, 1e-9, 0.50067057491691810443),
    (1e7, 3.0, 1e-5, 0.99999999604628391129),
    (2.0, 1e7, 1e-9, 2.3939698013085127143e-6),
    (1e7, 1e4, 0.5, 0.99900103223430373953),
]


@pytest.mark.parametrize(("tail", "expected"), NORMAL)
def test_normal_quantile_has_all_its_digits(tail, expected):
    assert normal_upper(tail) == pytest.approx(expected, rel=1e-15, abs=0.0)


@pytest.mark.parametrize(("degrees", "tail", "expected"), STUDENT)
def test_student_quantile_has_all_its_digits(degrees, tail, expected):
    assert student_upper(degrees, tail) == pytest.approx(expected, rel=1e-14, abs=0.0)


@pytest.mark.parametrize(("a", "b", "tail", "expected"), BETA)
def test_beta_quantile_has_all_its_digits(a, b, tail, expected):
    assert beta_upper(a, b, tail) == pytest.approx(expected, rel=1e-14, abs=0.0)


@given(powers(1e-300, 1.0).filter(lambda tail: tail < 1.0))
def test_normal_quantile_agrees_with_scipy(tail):
    assert normal_upper(tail) == pytest.approx(stats.norm.isf(tail), rel=1e-13, abs=1e-15)


@given(powers(1.0, 1e9), tails)
def test_student_quantile_agrees_with_scipy(degrees, tail):
    assert student_upper(degrees, tail) == pytest.approx(stats.t.isf(tail, degrees), rel=1e-9, abs=1e-12)


@given(parameters, parameters, tails)
def test_beta_quantile_agrees_with_scipy(a, b, tail):
    assert beta_upper(a, b, tail) == pytest.approx(special.betainccinv(a, b, tail), rel=1e-9, abs=1e-300)


@given(powers(1.0, 1e7), powers(1.0, 1e7), powers(1e-12, 0.9))
def test_beta_quantile_has_its_tail_above_it(a, b, tail):
    x = beta_upper(a, b, tail)
    slack = 1e-12 * min(x, 1.0 - x) + 2e-16
    assert beta_tail(a, b, x - slack) > tail > beta_tail(a, b, x + slack)


@given(powers(1.0, 1e9), powers(1e-12, 0.9))
def test_student_quantile_has_its_tail_above_it(degrees, tail):
    x = student_upper(degrees, tail)
    slack = 1e-12 * abs(x) + 1e-15
    assert student_tail(degrees, x - slack) > tail > student_tail(degrees, x + slack)


@pytest.mark.parametrize(
    ("a", "b"), [(0.05, 0.3), (1.0, 7.0), (2.5, 900.0), (40.0, 70.0), (5e3, 8e4), (1e7, 2e7)]
)
def test_beta_tail_agrees_with_scipy_on_both_sides(a, b):
    mean, deviation = stats.beta.stats(a, b, moments="m")[()], stats.beta.std(a, b)
    for x in np.clip(mean + deviation * np.linspace(-8.0, 8.0, 81), 1e-6, 1.0 - 1e-6).tolist():
        assert beta_tail(a, b, x) == pytest.approx(special.betaincc(a, b, x), rel=1e-10, abs=1e-280)


@pytest.mark.parametrize("degrees", [1, 2.5, 20, 20.5, 60, 1e4, 1e9])
def test_student_tail_agrees_with_scipy_on_both_sides(degrees):
    for x in np.linspace(-12.0, 12.0, 97).tolist():
        tail = 0.5 * special.betaincc(0.5, 0.5 * degrees, x * x / (degrees + x * x))
        expected = tail if x > 0.0 else 1.0 - tail
        assert student_tail(degrees, x) == pytest.approx(expected, rel=1e-10)


def test_quantiles_of_laws_with_a_formula():
    for tail in np.geomspace(1e-9, 0.49, 50).tolist():
        assert beta_upper(1.0, 30.0, tail) == pytest.approx(1.0 - tail ** (1.0 / 30.0), rel=1e-13)
        assert beta_upper(30.0, 1.0, tail) == pytest.approx((1.0 - tail) ** (1.0 / 30.0), rel=1e-14)
        assert student_upper(1, tail) == pytest.approx(1.0 / tan(np.pi * tail), rel=1e-13)
        assert student_upper(2, tail) == pytest.approx(
            (1.0 - 2.0 * tail) / np.sqrt(2.0 * tail * (1.0 - tail)), rel=1e-13
        )
        assert student_upper(1e9, tail) == pytest.approx(normal_upper(tail), rel=1e-7)


def test_edges():
    assert normal_upper(0.5) == student_upper(7, 0.5) == student_upper(70, 0.5) == 0.0
    assert student_tail(3.0, 0.0) == student_tail(300.0, 0.0) == 0.5
    assert beta_upper(2.0, 3.0, 1.0) == beta_upper(2.0, 3.0, 1.5) == 0.0
    for size in (0.05, 1.0, 2.0, 70.0, 2e6):
        assert beta_upper(size, size, 0.5) == pytest.approx(0.5, rel=1e-13)
    assert [beta_tail(2.0, 3.0, x) for x in (-1.0, 0.0, 5e-324, 1.0, 2.0)] == [1.0, 1.0, 1.0, 0.0, 0.0]


@given(parameters, parameters, st.sampled_from([1e-300, 1e-30, 1e-16, 1.0 - 1e-9, 1.0 - 2.0**-53]))
@example(19.30109707002447, 1201467.310423743, 7.656815733174714e-267)
@example(5.041886927943975, 101325.18647347273, 8.018413285853654e-298)
def test_beta_quantile_survives_extreme_tails(a, b, tail):
    x = beta_upper(a, b, tail)
    assert 0.0 <= x <= 1.0
    if tail < 0.5 and x < 0.99:
        assert beta_tail(a, b, x) == pytest.approx(tail, rel=1e-8)


@given(powers(1.0, 1e9), tails)
def test_student_quantile_is_symmetric(degrees, tail):
    upper = 1.0 - tail
    if upper != 1.0:
        assert student_upper(degrees, upper) == -student_upper(degrees, 1.0 - upper)


@pytest.mark.parametrize(
    ("a", "b"), [(0.3, 0.7), (1, 1), (1, 40), (4, 9), (30, 20), (60, 500), (2e3, 1e4), (1e6, 3e6)]
)
def test_beta_quantile_rises_with_time_and_success(a, b):
    by_time = [beta_upper(float(a), float(b), 1.0 / t) for t in range(1, 5000)]
    assert np.all(np.diff(by_time) >= 0.0)
    by_success = [beta_upper(a + i, float(b), 1e-3) for i in range(1000)]
    assert np.all(np.diff(by_success) > 0.0)


@pytest.mark.parametrize("degrees", [1, 5, 20, 21, 100, 10**6])
def test_student_quantile_rises_with_time(degrees):
    by_time = [student_upper(degrees, 1.0 / t) for t in range(2, 5000)]
    assert np.all(np.diff(by_time) > 0.0)


def test_parts_of_the_tails_by_hand():
    assert stirling_rest(1.0) == pytest.approx(0.081061466795, abs=1e-12)  # 1 - log(2 pi) / 2
    assert log_peak(1.0, 1.0) == pytest.approx(-log(4.0), abs=1e-14)
    assert beta_depth(1.0, 1.0, 0.75, 0.25) == pytest.approx(log(4.0 / 3.0), rel=1e-14)
    assert beta_is_low(2.0, 2.0, 0.25) and not beta_is_low(2.0, 2.0, 0.5)
    mills = beta_mills(1.0, 1.0, 0.75, 0.25, beta_depth(1.0, 1.0, 0.75, 0.25))
    assert mills * 0.75 * 0.25 == 0.25
    assert beta_tail(2.0, 3.0, 0.5) == pytest.approx(5.0 / 16.0, rel=1e-13)
    assert student_is_smooth(50.0, 9.0) and not student_is_smooth(5.0, 9.0)
    assert student_series(50.0, 0.0) == pytest.approx((0.5, 0.398952453998), rel=1e-11)


class Caller(lr.Policy):
    """What a policy looks like to the engine."""

    tail: float

    def normal(self, tail):
        return normal_upper(tail)

    def student(self, degrees, tail):
        return student_upper(degrees, tail)

    def beta(self, a, b, tail):
        return beta_upper(a, b, tail)

    def above(self, a, b, x):
        return beta_tail(a, b, x)

    def student_above(self, degrees, x):
        return student_tail(degrees, x)


@njit(**METHODS)
def call_compiled(caller, a, b, tails):
    found = np.empty((5, a.size))
    for i in range(a.size):
        found[0, i] = caller.normal(tails[i])
        found[1, i] = caller.student(a[i], tails[i])
        found[2, i] = caller.beta(a[i], b[i], tails[i])
        found[3, i] = caller.above(a[i], b[i], tails[i])
        found[4, i] = caller.student_above(a[i], b[i])
    return found


def test_compiled_code_gives_the_same_bits():
    rng = np.random.default_rng(2)
    a, b = 10.0 ** rng.uniform(0.0, 7.0, (2, 6000))
    a[:2000], b[:2000] = rng.integers(1, 300, (2, 2000))
    tails = np.concatenate([1.0 / rng.integers(2, 10**6, 3000), rng.random(3000)])
    caller = Caller(0.0)
    rows = list(zip(a.tolist(), b.tolist(), tails.tolist(), strict=True))
    plain = [
        [caller.normal(tail) for _, _, tail in rows],
        [caller.student(degrees, tail) for degrees, _, tail in rows],
        [caller.beta(*row) for row in rows],
        [caller.above(*row) for row in rows],
        [caller.student_above(degrees, x) for degrees, x, _ in rows],
    ]
    assert np.array_equal(call_compiled(caller, a, b, tails), plain)

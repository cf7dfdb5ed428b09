"""The probability to be the largest: against adaptive quadrature, simulation and closed forms."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from lowregret.special import argmax_probabilities
from lowregret.special.argmax_probabilities import ERROR, beta_argmax, normal_argmax, student_argmax


def beta_case(draws, size):
    pulls, rates = 10 ** draws.uniform(0, 5, size), draws.beta(0.5, 0.5, size)
    return 1 + np.round(pulls * rates), 1 + np.round(pulls * (1 - rates))


def normal_case(draws, size):
    return draws.normal(size=size) * draws.choice([1, 0.1]), 10 ** draws.uniform(-3, 0, size)


def student_case(draws, size):
    return *normal_case(draws, size), np.round(2 + 10 ** draws.uniform(0, 3, size))


FAMILIES = {
    beta_argmax: (beta_case, stats.beta),
    normal_argmax: (normal_case, stats.norm),
    student_argmax: (student_case, lambda location, scale, degrees: stats.t(degrees, location, scale)),
}


def by_quadrature(frozen, largest):
    """Integrate adaptively between quantiles of all variables."""
    levels = [1e-11, 1e-3, 0.05, 0.3, 0.5, 0.7, 0.95, 0.999, 1 - 1e-11]
    points = np.unique([each.ppf(levels) for each in frozen])
    others = [each for each in frozen if each is not largest]

    def density(x):
        return largest.pdf(x) * np.prod([each.cdf(x) for each in others])

    parts = (integrate.quad(density, *ends, epsabs=1e-13, epsrel=1e-11)[0] for ends in pairwise(points))
    return sum(parts)


@pytest.mark.parametrize("argmax", FAMILIES)
def test_adaptive_quadrature_gives_the_same(argmax):
    make, family = FAMILIES[argmax]
    draws = np.random.default_rng(2)
    for size in (2, 3, 4, 3):
        parameters = make(draws, size)
        frozen = [family(*each) for each in zip(*parameters, strict=True)]
        expected = [by_quadrature(frozen, each) for each in frozen]
        assert argmax(*parameters) == pytest.approx(expected, abs=ERROR, rel=0)


@pytest.mark.parametrize("argmax", FAMILIES)
def test_simulation_gives_the_same(argmax):
    """200,000 draws for each of 20 cases: a share is off by 5 standard errors less than once in a million."""
    make, family = FAMILIES[argmax]
    draws, count = np.random.default_rng(3), 200_000
    for _ in range(20):
        parameters = make(draws, 6)
        samples = [family(*each).rvs(count, random_state=draws) for each in zip(*parameters, strict=True)]
        shares = np.bincount(np.argmax(samples, axis=0), minlength=6) / count
        p = argmax(*parameters)
        assert (np.abs(shares - p) <= 5 * np.sqrt(p * (1 - p) / count) + 10 / count).all()


@pytest.mark.parametrize("argmax", FAMILIES)
def test_the_probabilities_sum_to_one_for_any_number_of_arms(argmax):
    make, _ = FAMILIES[argmax]
    draws = np.random.default_rng(4)
    for size in (1, 2, 10, 100, 1000):
        assert argmax(*make(draws, size)).sum() == pytest.approx(1, abs=ERROR)


@pytest.mark.parametrize("argmax", FAMILIES)
def test_they_are_the_same_with_scipy_and_without(argmax, monkeypatch):
    def shares(arms_without_scipy):
        monkeypatch.setattr(argmax_probabilities, "ARMS_WITHOUT_SCIPY", arms_without_scipy)
        argmax_probabilities._probabilities.cache_clear()
        draws = np.random.default_rng(6)
        return np.concatenate([argmax(*make(draws, 5)) for _ in range(50)])

    make, _ = FAMILIES[argmax]
    assert shares(10**9) == pytest.approx(shares(0), abs=1e-13, rel=0)


@pytest.mark.parametrize("argmax", FAMILIES)
def test_the_order_of_the_arms_does_not_matter(argmax):
    make, _ = FAMILIES[argmax]
    parameters, order = make(np.random.default_rng(5), 7), np.array([3, 1, 0, 6, 5, 2, 4])
    assert argmax(*(values[order] for values in parameters)).tolist() == argmax(*parameters)[order].tolist()


def test_closed_forms():
    """Two normal variables; k equal ones; and the sum over i of a ratio of Beta functions for integers."""
    means, deviations = np.array([0.3, -0.2]), np.array([0.5, 1.2])
    expected = stats.norm.cdf(0.5 / 1.3)
    assert normal_argmax(means, deviations)[0] == pytest.approx(expected, abs=ERROR)
    assert student_argmax(np.zeros(5), np.ones(5), np.full(5, 2.0)) == pytest.approx([0.2] * 5, abs=ERROR)
    assert beta_argmax(np.full(4, 1.0), np.full(4, 1.0)) == pytest.approx([0.25] * 4, abs=ERROR)
    assert beta_argmax(np.array([2.0, 1.0]), np.array([2.0, 3.0]))[0] == pytest.approx(0.8, abs=ERROR)


def test_constants_win_where_no_variable_is_above_them():
    """N(0, 1) is above 0.5 with 0.308538; of equal constants the first counts."""
    shares = normal_argmax(np.array([0.1, 0.0, 0.5, 0.5]), np.array([0.0, 1.0, 0.0, 0.0]))
    assert shares == pytest.approx([0, 0.3085375387, 0.6914624613, 0], abs=ERROR)
    assert normal_argmax(np.array([1.0, 2.0, 2.0]), np.zeros(3)).tolist() == [0, 1, 0]
    far = student_argmax(np.array([0.0, 9e9]), np.array([1.0, 0.0]), np.array([50.0, 2.0]))
    assert far.tolist() == [0, 1]


@pytest.mark.parametrize("centre", [0.0, 1e150, -1e9])
def test_extreme_scales_end(centre):
    means, deviations = np.full(3, centre), np.array([1e-12, 1.0, 1e12])
    for shares in (normal_argmax(means, deviations), student_argmax(means, deviations, np.full(3, 2.0))):
        assert shares.sum() == pytest.approx(1, abs=1e-6)
        assert shares[2] == pytest.approx(0.5, abs=1e-6)
    assert np.isnan(normal_argmax(np.array([0.0, np.inf]), np.ones(2))).all()
    assert np.isnan(normal_argmax(np.zeros(2), np.array([1.0, np.inf]))).all()

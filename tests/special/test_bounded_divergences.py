"""K_inf against Bernoulli divergences, closed forms, a search over distributions, and a grid of quantiles."""

from math import inf, log

import numpy as np
import pytest
from scipy import optimize, special, stats

from lowregret.special import bernoulli_kl
from lowregret.special.bounded_divergences import beta_kl_free, bounded_kl_free


@pytest.mark.parametrize(("p", "q"), [(0.3, 0.5), (0.5, 0.9), (0.07, 0.1), (0.5, 0.50001), (0.001, 0.999)])
def test_two_values_are_bernoulli(p, q):
    assert bounded_kl_free([1, 0], q, np.array([1 - p, p])) == pytest.approx(bernoulli_kl(p, q), rel=1e-9)


def test_corner_cases():
    assert bounded_kl_free([0.5], 0.8) == pytest.approx(log(2.5))  # the mass moves to 1
    assert bounded_kl_free([0.5, 0.1], 1.0) == inf
    assert bounded_kl_free([0.5, 0.5], 0.5) == 0.0
    assert beta_kl_free(1e-9, 1.0, 0.5) is None


@pytest.mark.parametrize("values", [[0.1, 0.4, 0.6], [0.0, 0.2, 0.9], [0.2, 0.5, 1.0]])
def test_data_against_a_search_over_distributions(values):
    # The divergence from equal weights on the data to weights on the data and 1, whose mean is 0.75.
    mean, points = 0.75, np.union1d(values, [1.0])
    found = optimize.minimize(
        lambda q: -np.log(q[:3] * 3).mean(),
        np.full(len(points), 1 / len(points)),
        bounds=[(1e-9, 1)] * len(points),
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1},
            {"type": "ineq", "fun": lambda q: q @ points - mean},
        ],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert bounded_kl_free(1 - np.array(values), mean) == pytest.approx(found.fun, rel=1e-6)


def largest(complements, mean):
    """Maximise the mean of log(1 - u + u (1 - x) / (1 - mean)) over u by search."""
    ratios = complements / (1 - mean) - 1
    found = optimize.minimize_scalar(
        lambda u: -np.log1p(u * ratios).mean(), bounds=(0, 1), method="bounded", options={"xatol": 1e-9}
    )
    return -found.fun


@pytest.mark.parametrize(
    ("a", "b"), [(1, 1), (2, 5), (0.5, 0.5), (0.05, 0.05), (30, 3), (1e4, 2e4), (5, 0.1)]
)
@pytest.mark.parametrize("share", [0.05, 0.4, 0.95])
def test_beta_against_a_grid_of_quantiles(a, b, share):
    own = a / (a + b)
    mean = own + share * (1 - own)
    complements = stats.beta(b, a).ppf((np.arange(200_000) + 0.5) / 200_000)
    assert beta_kl_free(a, b, mean) == pytest.approx(largest(complements, mean), rel=2e-4)


def test_beta_far_above_its_mean_has_a_closed_form():
    # The maximum is at u = 1: E[log(1 - X)] - log(1 - mean).
    for a, b in ((1, 3), (2, 5), (1e4, 2e4), (1e6, 1e6)):
        expected = special.digamma(b) - special.digamma(a + b) - log(0.02)
        assert beta_kl_free(a, b, 0.98) == pytest.approx(expected, rel=1e-10)

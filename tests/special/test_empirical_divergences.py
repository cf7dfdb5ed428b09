"""K_inf of rewards and its inverse, against the quadrature of SciPy's roots in bounded_divergences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from lowregret.special.bounded_divergences import bounded_kl_free
from lowregret.special.divergences import bernoulli_kl, bernoulli_kl_upper
from lowregret.special.empirical_divergences import empirical_kl_free, empirical_kl_upper

UNIT = st.floats(0.0, 1.0).map(lambda x: round(x, 6))
REWARDS = st.one_of(
    st.lists(UNIT, min_size=1, max_size=40),
    st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=40),
    st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=1, max_size=40),
    st.builds(lambda x, n: [x] * n, UNIT, st.integers(1, 40)),
)
NEARNESS = st.sampled_from([1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999])
LEVELS = st.sampled_from([1e-5, 1e-3, 0.05, 0.5, 3.0, 12.0])


@given(rewards=REWARDS, nearness=NEARNESS)
def test_the_divergence_is_that_of_the_discrete_distribution(rewards, nearness):
    x = np.array(rewards)
    mean = x.mean() + (1 - x.mean()) * nearness
    if mean < 1:
        assert empirical_kl_free(x, mean) == pytest.approx(bounded_kl_free(1 - x, mean), rel=1e-8, abs=1e-14)


@given(rewards=REWARDS, level=LEVELS)
def test_the_bound_is_where_the_divergence_reaches_the_level(rewards, level):
    x = np.array(rewards)
    found = empirical_kl_upper(x, x.mean(), level)
    if x.mean() == 1:
        assert found == 1
        return
    last = 1 - 1e-15
    if bounded_kl_free(1 - x, last) <= level:
        expected = 1.0
    else:
        expected = optimize.brentq(lambda q: bounded_kl_free(1 - x, q) - level, x.mean(), last, xtol=1e-15)
    assert found == pytest.approx(expected, abs=1e-8)


@given(successes=st.integers(0, 30), failures=st.integers(1, 30), level=LEVELS, nearness=NEARNESS)
def test_for_rewards_of_0_and_1_they_are_those_of_bernoulli_distributions(
    successes, failures, level, nearness
):
    x = np.array([1.0] * successes + [0.0] * failures)
    mean = x.mean()
    q = mean + (1 - mean) * nearness
    assert empirical_kl_free(x, q) == pytest.approx(bernoulli_kl(mean, q), rel=1e-8, abs=1e-14)
    assert empirical_kl_upper(x, mean, level) == pytest.approx(bernoulli_kl_upper(mean, level), abs=1e-9)


def test_the_ends():
    none, some = np.zeros(0), np.array([0.2, 0.4])
    assert empirical_kl_free(none, 0.5) == 0.0
    assert empirical_kl_upper(none, 0.0, 1.0) == 1.0
    assert empirical_kl_free(some, 1.0) == np.inf
    assert empirical_kl_free(some, 0.3) == pytest.approx(0.0, abs=1e-15)
    assert empirical_kl_upper(some, 0.3, 0.0) == 0.3

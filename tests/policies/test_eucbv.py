"""EUCBV against the letter of Algorithm 1, written again here in the paper's own symbols."""

import warnings
from math import ceil, e, floor, log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lowregret as lr
from lowregret.policies import NEVER, clock_at


def algorithm_1(X, T, rho=0.5, psi=None):
    """Run Algorithm 1 on a table of rewards; arms in order, ties to the first."""
    K = len(X)
    psi = T / K**2 if psi is None else psi
    log_ = lambda x: log(x) if x > 1 else 0.0  # noqa: E731
    m, B, eps, M = 0, list(range(K)), 1.0, floor(0.5 * log2(T / e))
    n_m = max(ceil(log_(psi * T * eps**2) / (2 * eps)), 1)
    N = K * n_m
    z, S, Q = [0] * K, [0.0] * K, [0.0] * K
    steps = []

    def pull(i):
        x = X[i][z[i]]
        z[i], S[i], Q[i] = z[i] + 1, S[i] + x, Q[i] + x * x

    def c(i):
        v = max(Q[i] / z[i] - (S[i] / z[i]) ** 2, 0.0)
        return sqrt(rho * (v + 2) * log_(psi * T * eps) / (4 * z[i]))

    for i in range(min(K, T)):
        pull(i)
        steps.append((i, m, len(B)))
    for t in range(K + 1, T + 1):
        if len(B) == 1:
            steps.append((B[0], m, 1))
            continue
        i = max(B, key=lambda j: S[j] / z[j] + c(j))
        pull(i)
        bar = max(S[j] / z[j] - c(j) for j in B)
        B = [j for j in B if not S[j] / z[j] + c(j) < bar]
        if t >= N and m <= M:
            eps = eps / 2
            n_m = max(ceil(log_(psi * T * eps**2) / (2 * eps)), 1)
            N = t + len(B) * n_m
            m += 1
        steps.append((i, m, len(B)))
    return np.array(steps).T


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("rho", [0.5, 0.05, 0.005])
@settings(max_examples=25)
@given(
    K=st.integers(2, 12),
    T=st.integers(1, 800),
    means=st.lists(st.sampled_from([0.1, 0.3, 0.5, 0.9]), min_size=12, max_size=12),
    seed=st.integers(0, 2**32),
)
def test_every_step_is_that_of_algorithm_1(engine, rho, K, T, means, seed):
    # Rewards of 0 and 1 sum exactly here and there, so that not even a tie is a matter of rounding.
    X = (np.random.default_rng(seed).random((K, T)) < np.array(means[:K])[:, None]).astype(float)
    trace = lr.trace(lr.EUCBV(rho=rho), X, horizon=T, engine=engine)
    arm, rounds, active = algorithm_1(X, T, rho=rho)
    assert trace.arm.tolist() == arm.tolist()
    assert trace.round.tolist() == rounds.tolist()
    assert trace.active.tolist() == active.tolist()


def test_the_last_round_is_m_plus_one():
    T, K = 20_000, 2
    trace = lr.trace(lr.EUCBV(), np.full((K, T), 0.5), horizon=T)
    assert trace.round.max() == floor(0.5 * log2(T / e)) + 1


def test_round_zero_as_printed():
    first = lr.EUCBV().first_round(clock_at(0, 60_000, 20, 0.0))
    psi = 60_000 / 400
    assert first.number == 0
    assert first.epsilon == 1.0
    assert first.last == 7
    assert first.width == log(psi * 60_000)
    assert first.until == 20 * ceil(log(psi * 60_000) / 2)


def test_round_zero_as_released():
    first = lr.EUCBV(width="released").first_round(clock_at(0, 400_000, 90, 0.0))
    assert first.last == 8
    assert first.width == log((400_000 // 8100) * 8)
    assert first.until == 90 + 90 * ceil(log((400_000 // 8100) * 400_000) / 2)


def test_a_given_psi_is_taken_as_it_is():
    for width, scale in (("paper", 60_000), ("released", 7)):
        first = lr.EUCBV(psi=2.5, width=width).first_round(clock_at(0, 60_000, 20, 0.0))
        assert first.width == log(2.5 * scale)


@pytest.mark.parametrize("horizon", [1, 2, 3, 7, 8])
def test_tiny_horizons_have_no_rounds_where_m_is_negative(horizon):
    first = lr.EUCBV().first_round(clock_at(0, horizon, 3, 0.0))
    assert (first.until == NEVER) == (horizon < e)


def test_a_logarithm_below_one_counts_as_nothing():
    first = lr.EUCBV(psi=1e-9).first_round(clock_at(0, 100, 5, 0.0))
    assert first.width == 0.0
    assert first.until == 5
    result = lr.simulate(lr.EUCBV(psi=1e-9), lr.bernoulli([0.2, 0.8]), 200, runs=5)
    assert (result["EUCBV(psi=1e-09)"].pulls.sum(axis=1) == 200).all()


def test_it_says_when_the_guarantee_does_not_cover():
    with pytest.warns(
        UserWarning, match=r"guarantee needs a horizon of at least K\^2.4 \(252 for 10 arms\), got 251"
    ) as caught:
        lr.Agent(lr.EUCBV(), list("abcdefghij"), horizon=251)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lr.EUCBV().validate_problem(clock_at(0, 252, 10, 0.0))

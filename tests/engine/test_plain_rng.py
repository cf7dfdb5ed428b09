"""Random numbers in plain Python are those of compiled code, to the last bit."""

import numpy as np
import pytest
from numba import njit

from lowregret.engine.kernels import rng
from lowregret.engine.kernels.rng import policy_rng


@njit
def compiled_draws(stream, count):
    values = np.zeros((count, 6))
    for n in range(count):
        values[n, 0] = stream.uniform()
        values[n, 1] = stream.normal()
        values[n, 2] = stream.uniform_at(n)
        values[n, 3] = stream.beta(0.05 + n % 7, 0.5 + n % 5)
        values[n, 4] = stream.student(0.5 + n % 9)
        values[n, 5] = stream.binomial(n, 0.1 + 0.08 * (n % 10))
    return values


@njit
def compiled_rewards(key, count):
    values = np.zeros((count, 3))
    for n in range(count):
        values[n, 0] = rng.exponential(key, n)
        values[n, 1] = rng.poisson(0.3 + n % 40, key, n)
        values[n, 2] = rng.positive(key, n)
    return values


@njit
def compiled_shuffle(seed, run, order):
    rng.shuffle(seed, run, order)
    return rng.stream(seed, run, -1)


@pytest.mark.parametrize("seed", [0, 1, 2018, 2**64 - 1])
def test_every_draw_is_the_same(seed):
    plain, fast = policy_rng(seed, 0), policy_rng(seed, 0)
    for n, row in enumerate(compiled_draws(fast, 400).tolist()):
        draws = [plain.uniform(), plain.normal(), plain.uniform_at(n)]
        draws += [plain.beta(0.05 + n % 7, 0.5 + n % 5), plain.student(0.5 + n % 9)]
        assert row == [*draws, plain.binomial(n, 0.1 + 0.08 * (n % 10))]
    assert plain.state["drawn"] == fast.state["drawn"]
    key = rng.stream(seed, 3, 5)
    for n, row in enumerate(compiled_rewards(np.uint64(key), 400).tolist()):
        assert row == [rng.exponential(key, n), rng.poisson(0.3 + n % 40, key, n), rng.positive(key, n)]


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_ties_are_broken_in_the_same_order(size):
    for seed in (*range(20), 2**64 - 1):
        plain, fast = np.zeros((2, size), np.int64)
        rng.shuffle(seed, 7, plain)
        key = compiled_shuffle(np.uint64(seed), 7, fast)
        assert plain.tolist() == fast.tolist()
        assert key == rng.stream(seed, 7, -1)

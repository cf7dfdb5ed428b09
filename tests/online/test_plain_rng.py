"""The plain random numbers are the engine's, to the last bit."""

import numpy as np
import pytest

from lowregret.engine import rng as engine
from lowregret.engine.reference import policy_rng
from lowregret.online.plain_rng import PlainRng, policy_key, shuffled


@pytest.mark.parametrize("seed", [0, 1, 2018, 2**64 - 1])
def test_every_draw_is_the_same(seed):
    states = np.zeros(1, engine.STATE)
    states["key"] = policy_key(seed)
    plain, fast = PlainRng(states[0]), policy_rng(seed, 0)
    assert plain.state["key"] == fast.state["key"]
    for n in range(400):
        assert plain.uniform() == fast.uniform()
        assert plain.normal() == fast.normal()
        assert plain.uniform_at(n) == fast.uniform_at(n)
        a, b = 0.05 + n % 7, 0.5 + n % 5
        assert plain.beta(a, b) == fast.beta(a, b)
        assert plain.student(0.5 + n % 9) == fast.student(0.5 + n % 9)
    assert plain.state["drawn"] == fast.state["drawn"]


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_ties_are_broken_in_the_same_order(size):
    for seed in range(20):
        order = np.zeros(size, np.int64)
        engine.shuffle(np.uint64(seed), 0, order)
        assert shuffled(seed, size) == order.tolist()

"""Lower ends of means of rewards that are at least 0: they are those of the formula, at all times."""

from math import log

import numpy as np
import pytest

from lowregret.analysis.nonnegative_means import RATES, Products, add_rewards, effective_rewards, lower_ends


def after(rewards, products=None):
    return add_rewards([products or Products()], [rewards])[0]


def sales(seed, size=900, share=0.2, spread=1.0):
    random = np.random.default_rng(seed)
    sizes = random.lognormal(-0.5 * spread**2, spread, size) / share
    return np.where(random.random(size) < share, sizes, 0.0)


def mixture(rewards, mean):
    """Return the mixture at a mean, factor by factor: 1 + c (x / m - 1) with c = r m / (1 + r m)."""
    first = int(np.flatnonzero(rewards)[0])
    c = RATES / 2.0 ** np.frexp(rewards[first])[1] * mean
    c = c / (1.0 + c)
    return np.prod(1.0 + c * (rewards[first + 1 :, None] / mean - 1.0), axis=0).mean()


def test_the_lower_end_is_where_the_mixture_is_one_over_the_error():
    for seed in range(5):
        rewards = sales(seed)
        end = lower_ends([after(rewards)], 0.025).item()
        assert 0.0 < end < rewards.mean()
        assert log(mixture(rewards, end)) == pytest.approx(log(40.0), abs=1e-6)
        assert mixture(rewards, 0.9 * end) > 40.0 > mixture(rewards, 1.1 * end)


def test_products_do_not_depend_on_how_rewards_were_grouped():
    rewards, random = sales(1, 5_000), np.random.default_rng(2)
    whole, grouped, start = after(rewards), Products(), 0
    while start < len(rewards):
        stop = start + int(random.integers(1, 1_500))
        grouped, start = after(rewards[start:stop], grouped), stop
    assert grouped == whole


def test_the_unit_of_rewards_does_not_matter():
    rewards = sales(3)
    end = lower_ends([after(rewards)], 0.05).item()
    assert lower_ends([after(1024.0 * rewards)], 0.05).item() == 1024.0 * end
    assert lower_ends([after(100.0 * rewards)], 0.05).item() == pytest.approx(100.0 * end, rel=0.03)


def test_without_a_second_reward_above_0_the_end_is_0():
    arms = [Products(), after([0.0] * 9), after([0.0, 7.0, 0.0])]
    assert lower_ends(arms, 0.05).tolist() == [0.0, 0.0, 0.0]
    assert [arm.first for arm in arms] == [0, 0, 2] and [arm.pulls for arm in arms] == [0, 9, 3]


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1.0, 1e300])
def test_the_largest_and_smallest_rewards(size):
    end = lower_ends([after([size] * 300)], 0.05).item()
    assert 0.0 <= end <= size
    mixed = lower_ends([after([size, *[1e300] * 300])], 0.05).item()
    assert 0.0 <= mixed <= 1e300


@pytest.mark.parametrize(("share", "spread"), [(0.03, 0.0), (1.0, 2.0)])
def test_it_ever_misses_in_at_most_so_many_streams(share, spread):
    """With 20% the misses of 100 streams are at most 20 + 3 standard deviations of 4."""
    missed = 0
    for seed in range(100):
        rewards, products, high = sales(seed, 1_000, share, spread), Products(), 0.0
        for part in np.split(rewards, 10):
            products = after(part, products)
            high = max(high, lower_ends([products], 0.2).item())
        missed += high > 1.0
    assert missed <= 32


def test_the_effective_number_of_rewards():
    assert effective_rewards(0.0, 0.0) == 0.0
    assert effective_rewards(60.0, 180.0) == 20.0  # 20 sales of 3
    assert effective_rewards(103.0, 10_003.0) < 1.1  # 1 of 100, 3 of 1

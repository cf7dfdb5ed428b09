"""The distributions of the draws, each by a test with a fixed seed.

Each p-value below must exceed 1e-4, so a correct sampler fails one such check in ten thousand seeds; the
seeds are fixed, so what passes today passes always.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from scipy import stats

import lowregret
from lowregret.engine.bridge.compile import use_numba
from lowregret.engine.kernels import rng

use_numba()  # so that compiled code can call the draws
ALPHA = 1e-4
COUNT = 200_000
KEY = np.uint64(0x1234_5678_9ABC_DEF0)


def own_stream(drawn=0):
    return rng.Rng(np.array([(KEY, drawn)], rng.STATE)[0])


@njit
def sample(draw, count, key, a, b):
    values = np.empty(count)
    for n in range(count):
        values[n] = draw(key, n, a, b)
    return values


@njit
def _uniform(key, n, a, b):
    return rng.uniform(key, n)


@njit
def _normal(key, n, a, b):
    return rng.normal(key, n)


@njit
def _exponential(key, n, a, b):
    return rng.exponential(key, n)


@njit
def _beta(key, n, a, b):
    return rng.beta(a, b, key, n)


@njit
def _poisson(key, n, a, b):
    return rng.poisson(a, key, n)


@njit
def _binomial(key, n, a, b):
    return rng.binomial(int(a), b, key, n)


@pytest.mark.parametrize(
    ("draw", "law"), [(_uniform, stats.uniform()), (_normal, stats.norm()), (_exponential, stats.expon())]
)
def test_standard_laws(draw, law):
    values = sample(draw, COUNT, KEY, 0.0, 0.0)
    assert stats.kstest(values, law.cdf).pvalue > ALPHA
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 4.0 / np.sqrt(COUNT)


def test_the_tails_and_layers_of_the_normal():
    """Ten million draws: each bin of |x|, also beyond the ziggurat's last edge at 3.65, has its share."""
    values = np.abs(sample(_normal, 10_000_000, KEY, 0.0, 0.0))
    edges = np.array([0, 0.2, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 3.7, 4.0, 4.5, np.inf])
    counts = np.histogram(values, edges)[0]
    expected = 2.0 * np.diff(stats.norm.cdf(edges)) * len(values)
    assert stats.chisquare(counts, expected).pvalue > ALPHA
    assert values.max() > 5.0


@pytest.mark.parametrize(
    ("a", "b"), [(0.02, 0.03), (0.3, 5.0), (1.0, 1.0), (4.0, 2.0), (3000.0, 100.0), (1e7, 2e7)]
)
def test_beta(a, b):
    values = sample(_beta, COUNT // 4, KEY, a, b)
    assert ((values >= 0.0) & (values <= 1.0)).all()
    inside = values[(values > 1e-300) & (values < 1.0 - 1e-12)]
    law = stats.beta(a, b)
    low, high = law.cdf(1e-300), law.cdf(1.0 - 1e-12)
    assert stats.kstest(inside, lambda x: (law.cdf(x) - low) / (high - low)).pvalue > ALPHA


@pytest.mark.parametrize("rate", [0.01, 0.7, 5.0, 9.99, 10.0, 37.0, 1000.0])
def test_poisson(rate):
    values = sample(_poisson, COUNT, KEY, rate, 0.0)
    law = stats.poisson(rate)
    edges = np.unique(law.ppf(np.linspace(0.0, 1.0, 21)[1:-1]))
    counts = np.histogram(values, np.concatenate([[-1.0], edges, [np.inf]]) + 0.5)[0]
    shares = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]]))
    assert stats.chisquare(counts, shares * COUNT).pvalue > ALPHA
    assert sample(_poisson, 10, KEY, 0.0, 0.0).tolist() == [0.0] * 10


@pytest.mark.parametrize(
    ("trials", "p"),
    [
        (1, 0.5),
        (19, 0.5),
        (20, 0.5),
        (21, 0.5),
        (110, 0.5),
        (1100, 0.5),
        (10**6, 0.5),
        (50, 0.3),
        (200, 0.9),
        (9, 0.01),
    ],
)
def test_binomial(trials, p):
    values = sample(_binomial, COUNT, KEY, trials, p)
    law = stats.binom(trials, p)
    edges = np.unique(law.ppf(np.linspace(0.0, 1.0, 42)[1:-1]))
    counts = np.bincount(np.searchsorted(edges, values), minlength=len(edges) + 1)
    expected = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]])) * COUNT
    kept = expected > 5.0
    counts, expected = (np.append(each[kept], each[~kept].sum()) for each in (counts, expected))
    kept = expected > 0.0
    assert stats.chisquare(counts[kept], expected[kept]).pvalue > ALPHA
    assert ((values >= 0) & (values <= trials)).all()


def test_no_trials_have_no_successes():
    assert rng.binomial(0, 0.5, KEY, 1) == rng.binomial(5, 0.0, KEY, 1) == 0.0
    assert rng.binomial(5, 1.0, KEY, 1) == 5.0


def test_streams_differ_in_every_part_of_their_name():
    keys = {int(rng.stream(np.uint64(s), r, a)) for s in range(5) for r in range(50) for a in range(-2, 50)}
    assert len(keys) == 5 * 50 * 52


def test_no_two_streams_beside_those_of_the_arms_have_one_number():
    sources = Path(lowregret.__file__).parent.rglob("*.py")
    lines = [line for source in sources for line in source.read_text().splitlines()]
    streams = dict(match.groups() for line in lines if (match := re.match(r"(\w+_STREAM) = (-\d+)\b", line)))
    assert len(streams) == 7
    assert len(set(streams.values())) == len(streams)


def test_neighbouring_streams_are_independent():
    """A chi-square over the joint bins of the first draws of neighbouring runs and arms."""
    first = np.array([rng.uniform(np.uint64(rng.stream(np.uint64(1), r, 0)), 1) for r in range(20_001)])
    arms = np.array([rng.uniform(np.uint64(rng.stream(np.uint64(1), 0, a)), 1) for a in range(20_001)])
    for values in (first, arms):
        table = np.histogram2d(values[1:], values[:-1], bins=8, range=[[0, 1], [0, 1]])[0]
        assert stats.chi2_contingency(table).pvalue > ALPHA
        assert stats.kstest(values, "uniform").pvalue > ALPHA


def test_student():
    values = np.array([own_stream(n).student(4.0) for n in range(20_000)])
    assert stats.kstest(values, stats.t(4).cdf).pvalue > ALPHA


def test_the_coin_of_a_step_is_the_same_for_every_arm():
    stream = own_stream()
    coins = np.array([stream.uniform_at(t) for t in range(20_000)])
    stream.uniform()
    assert stream.uniform_at(7) == coins[7]
    assert stats.kstest(coins, "uniform").pvalue > ALPHA


def test_known_bits():
    """SplitMix64 from the start 0 gives these (as in the published test vectors)."""
    bits = [int(rng.bits(np.uint64(0), n)) for n in (1, 2, 3)]
    assert bits == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_shuffles_are_permutations_and_all_of_them_come():
    seen = {}
    order = np.zeros(3, np.int64)
    for run in range(6000):
        rng.shuffle(np.uint64(4), run, order)
        seen[tuple(order.tolist())] = seen.get(tuple(order.tolist()), 0) + 1
    assert len(seen) == 6
    assert stats.chisquare(list(seen.values())).pvalue > ALPHA


def test_a_policys_stream_counts_its_draws():
    one, other = (own_stream() for _ in range(2))
    first = [one.uniform(), one.normal(), one.beta(2.0, 3.0)]
    assert [other.uniform(), other.normal(), other.beta(2.0, 3.0)] == first
    assert one.state["drawn"] == 3
    assert one.uniform() != first[0]

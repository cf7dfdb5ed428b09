"""Bandits: exact properties, the constructors, mixing, scaling, refusals."""

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lowregret import environments
from lowregret.environments import (
    Bandit,
    Bernoulli,
    Beta,
    Empirical,
    Exponential,
    Gaussian,
    Poisson,
    Uniform,
    bernoulli,
    beta,
    empirical,
    exponential,
    gaussian,
    poisson,
    uniform,
)
from lowregret.environments.families import BERNOULLI, EMPIRICAL
from lowregret.errors import InputError


def test_constructors_make_the_arms_they_name() -> None:
    assert bernoulli([0.1, 0.2]).arms == (Bernoulli(0.1), Bernoulli(0.2))
    assert gaussian((0.1, 0.2), [1, 2]).arms == (Gaussian(0.1, 1), Gaussian(0.2, 2))
    assert gaussian([0.1, 0.2], 0.5).arms == (Gaussian(0.1, 0.5), Gaussian(0.2, 0.5))
    assert gaussian(0.1, np.array([1.0, 2.0])).arms == (Gaussian(0.1, 1), Gaussian(0.1, 2))
    assert beta([1, 2], 3).arms == (Beta(1, 3), Beta(2, 3))
    assert exponential(range(1, 3)).arms == (Exponential(1), Exponential(2))
    assert poisson(np.array(4)).arms == (Poisson(4),)
    assert uniform(0, [1, 2]).arms == (Uniform(0, 1), Uniform(0, 2))
    assert empirical([[1], (2, 3)]).arms == (Empirical([1]), Empirical([2, 3]))
    assert empirical(np.array([[1, 2], [3, 4]])).arms == (Empirical([1, 2]), Empirical([3, 4]))


@pytest.mark.parametrize(
    "make",
    [
        lambda **scale: bernoulli([0.1, 0.2], **scale),
        lambda **scale: gaussian([0.1, 0.2], 1, **scale),
        lambda **scale: beta([1, 2], 1, **scale),
        lambda **scale: exponential([1, 2], **scale),
        lambda **scale: poisson([1, 2], **scale),
        lambda **scale: uniform(0, [1, 2], **scale),
        lambda **scale: empirical([[1], [2]], **scale),
    ],
)
def test_scale_is_scaled(make: Callable[..., Bandit]) -> None:
    assert make(scale=(-1, 3)) == make().scaled(-1, 3)
    assert make(scale=(-1, 3)) != make()
    np.testing.assert_allclose(make(scale=(-1, 3)).gaps, make().gaps / 4, rtol=1e-12, atol=0)


def test_best_gaps_and_optimal_with_ties() -> None:
    bandit = gaussian([0.1, 0.5, 0.25, 0.5], [1, 2, 3, 4])
    assert bandit.best == 1 and type(bandit.best) is int
    assert bandit.optimal.tolist() == [False, True, False, True]
    assert bandit.gaps.tolist() == [0.4, 0.0, 0.25, 0.0]
    assert bandit.means.tolist() == [0.1, 0.5, 0.25, 0.5]
    assert bandit.variances.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert len(bandit) == 4


def test_arrays_are_read_only_and_typed() -> None:
    bandit = bernoulli([0.1, 0.2]) + empirical([[1, 2]])
    for name, dtype in {
        "means": "float64",
        "variances": "float64",
        "gaps": "float64",
        "optimal": "bool",
        "kinds": "int64",
        "encodings": "float64",
        "data": "float64",
    }.items():
        array = getattr(bandit, name)
        assert array.dtype == dtype
        assert getattr(bandit, name) is array
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_support_spans_the_arms() -> None:
    assert bernoulli([0.1, 0.2]).support == (0.0, 1.0)
    assert (uniform(-2, 0.5) + bernoulli(0.5)).support == (-2.0, 1.0)
    assert (uniform(-2, 0.5) + exponential(1)).support == (-2.0, math.inf)


def test_adding_mixes_families_and_drops_the_horizon() -> None:
    first = Bandit((Bernoulli(0.5),), "left", horizon=10)
    both = first + gaussian([1, 2], 1)
    assert both == Bandit((Bernoulli(0.5), Gaussian(1, 1), Gaussian(2, 1)), "left + gaussian")
    assert both.horizon is None
    assert (first + first).name == "left"
    with pytest.raises(TypeError):
        first + 3  # type: ignore[operator]


def test_scaled_keeps_name_and_horizon() -> None:
    bandit = Bandit((Uniform(0, 4),), "mine", 50).scaled(0, 8)
    assert bandit == Bandit((Uniform(0, 0.5),), "mine", 50)


def test_encodings_point_into_the_data() -> None:
    bandit = empirical([[1, 2, 3]]) + bernoulli(0.5) + empirical([[4], [5, 6]])
    assert bandit.kinds.tolist() == [EMPIRICAL, BERNOULLI, EMPIRICAL, EMPIRICAL]
    assert bandit.data.tolist() == [1, 2, 3, 4, 5, 6]
    assert bandit.encodings.tolist() == [[0, 3, 0, 0], [0.5, 0, 1, 0], [3, 1, 0, 0], [4, 2, 0, 0]]
    for arm, (start, size, _, _) in zip(bandit.arms, bandit.encodings.astype(int), strict=True):
        if isinstance(arm, Empirical):
            assert tuple(bandit.data[start : start + size]) == arm.values
    assert bernoulli(0.5).data.shape == (0,)
    assert bernoulli([0.5, 0.6]).encodings.shape == (2, 4)


def test_equality_hash_and_repr() -> None:
    bandit = Bandit([Bernoulli(0.5)], "a", 5)  # type: ignore[arg-type]
    same = Bandit((Bernoulli(0.5),), "a", np.int64(5))  # type: ignore[arg-type]
    assert bandit.gaps is not None  # a filled cache must not matter
    assert bandit == same and hash(bandit) == hash(same)
    assert pickle.loads(pickle.dumps(bandit)) == bandit
    assert bandit != Bandit((Bernoulli(0.5),), "a")
    assert bandit != Bandit((Bernoulli(0.5),), "b", 5)
    assert bandit != Bandit((Bernoulli(0.25),), "a", 5)
    assert repr(bernoulli([0.07] * 19 + [0.1])) == "Bandit('bernoulli', arms=20, best mean 0.1)"


# Untyped on purpose: bad input is what these calls are about.
untyped: Any = environments
REFUSED: list[tuple[Callable[[], object], str]] = [
    (
        lambda: untyped.bernoulli([0.1, 0.2, 0.3, 1.2]),
        "bernoulli: a probability must lie in [0, 1], got 1.2 for arm 3",
    ),
    (
        lambda: untyped.bernoulli([]),
        "bernoulli: probabilities must give at least one arm, got an empty sequence",
    ),
    (
        lambda: untyped.bernoulli(np.zeros((2, 2))),
        "bernoulli: a probability must lie in [0, 1], got [0.0, 0.0] for arm 0",
    ),
    (
        lambda: untyped.bernoulli("0.5"),
        "bernoulli: probabilities must be numbers, one per arm, got '0.5'",
    ),
    (
        lambda: untyped.bernoulli(None),
        "bernoulli: a probability must lie in [0, 1], got None for arm 0",
    ),
    (
        lambda: untyped.bernoulli([0.5, False]),
        "bernoulli: a probability must lie in [0, 1], got False for arm 1",
    ),
    (
        lambda: untyped.bernoulli({0: 0.5}),
        "bernoulli: probabilities must be numbers, one per arm, got {0: 0.5}",
    ),
    (
        lambda: untyped.gaussian([1, 2], [1, 2, 3]),
        "gaussian: means and variances must have the same length, got 2 and 3",
    ),
    (
        lambda: untyped.gaussian([1, 2], [1]),
        "gaussian: means and variances must have the same length, got 2 and 1",
    ),
    (
        lambda: untyped.gaussian([1, 2], [1, -0.5]),
        "gaussian: a variance must be finite and at least 0, got -0.5 for arm 1",
    ),
    (
        lambda: untyped.gaussian(1, []),
        "gaussian: variances must give at least one arm, got an empty sequence",
    ),
    (lambda: untyped.beta([1, 0], 1), "beta: a must be positive and finite, got 0 for arm 1"),
    (lambda: untyped.exponential([1, 0]), "exponential: mean must be positive, got 0 for arm 1"),
    (lambda: untyped.poisson([1, -2]), "poisson: mean must be at least 0, got -2 for arm 1"),
    (lambda: untyped.uniform([0, 3], 2), "uniform: low must not exceed high, got 3 and 2 for arm 1"),
    (
        lambda: untyped.empirical([[1], []]),
        "empirical: values must be a non-empty sequence of numbers, got [] for arm 1",
    ),
    (
        lambda: untyped.empirical([1, 2]),
        "empirical: values must be a non-empty sequence of numbers, got 1 for arm 0",
    ),
    (
        lambda: untyped.bernoulli(0.5, scale=(1, 0)),
        "scale: low must lie below high, got 1 and 0",
    ),
    (
        lambda: untyped.bernoulli(0.5, scale=3),
        "scale: must be a pair of numbers, low and high, got 3",
    ),
    (
        lambda: untyped.bernoulli(0.5, scale="01"),
        "scale: must be a pair of numbers, low and high, got '01'",
    ),
    (
        lambda: untyped.bernoulli(0.5, scale=(0, math.nan)),
        "scale: high must be a finite number up to 1e150, got nan",
    ),
    (
        lambda: untyped.gaussian([0, 1], 1).scaled(0, 1e-300),
        "gaussian: a variance must be finite and at least 0, got inf for arm 0",
    ),
    (lambda: untyped.Bandit((), "x"), "Bandit: arms must be a non-empty sequence, got []"),
    (lambda: untyped.Bandit(3, "x"), "Bandit: arms must be a non-empty sequence, got 3"),
    (
        lambda: untyped.Bandit([Bernoulli(0.5), 0.5], "x"),
        "Bandit: an arm must be a reward family, got 0.5 for arm 1: "
        "use a function such as lr.bernoulli([0.1, 0.2])",
    ),
    (lambda: untyped.Bandit([Bernoulli(0.5)], None), "Bandit: name must be a string, got None"),
    (
        lambda: untyped.Bandit([Bernoulli(0.5)], "x", 0),
        "Bandit: horizon must be an integer of at least 1, got 0",
    ),
    (
        lambda: untyped.Bandit([Bernoulli(0.5)], "x", True),
        "Bandit: horizon must be an integer of at least 1, got True",
    ),
    (
        lambda: untyped.Bandit([Bernoulli(0.5)], "x", 10.5),
        "Bandit: horizon must be an integer of at least 1, got 10.5",
    ),
    (
        lambda: untyped.Bandit([Bernoulli(0.5)] * 1_000_001, "x"),
        "Bandit: at most 1000000 arms are allowed, got 1000001",
    ),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refusals(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message

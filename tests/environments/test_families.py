"""Reward families: moments against scipy, scaling, encodings, refusals."""

import copy
import dataclasses
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from lowregret import environments
from lowregret.environments import (
    Bernoulli,
    Beta,
    Empirical,
    Exponential,
    Family,
    Gaussian,
    LogNormal,
    Pareto,
    Poisson,
    Revenue,
    TruncNormal,
    Uniform,
)
from lowregret.errors import InputError

DATA = [0.5, -2.0, 7.25, 7.25]
ARMS: list[tuple[Family, Any, tuple[float, float]]] = [
    (Bernoulli(0.3), stats.bernoulli(0.3), (0.0, 1.0)),
    (Gaussian(-1.5, 4.0), stats.norm(-1.5, 2.0), (-math.inf, math.inf)),
    (Beta(2.5, 0.5), stats.beta(2.5, 0.5), (0.0, 1.0)),
    (Exponential(0.4), stats.expon(scale=0.4), (0.0, math.inf)),
    (Poisson(3.5), stats.poisson(3.5), (0.0, math.inf)),
    (Uniform(-1.0, 4.0), stats.uniform(-1.0, 5.0), (-1.0, 4.0)),
    (LogNormal(-0.5, 0.75), stats.lognorm(0.75, scale=math.exp(-0.5)), (0.0, math.inf)),
    (Pareto(40.0, 2.0), stats.pareto(40.0, scale=2.0), (2.0, math.inf)),
    (Revenue(0.25, 40.0, 20.0), stats.lognorm(math.log1p(0.25) ** 0.5), (0.0, math.inf)),
    (TruncNormal(0.75, 0.5, 0.0, 2.0), stats.truncnorm(-1.5, 2.5, 0.75, 0.5), (0.0, 2.0)),
    (TruncNormal(0.75, 0.5, -2.0, 1.0), stats.truncnorm(-5.5, 0.5, 0.75, 0.5), (-2.0, 1.0)),
    (Empirical(DATA), stats.rv_discrete(values=([0, 1, 2, 3], [0.25] * 4)), (-2.0, 7.25)),
]
IDS = [type(arm).__name__ for arm, _, _ in ARMS]


def moments(arm: Family, law: Any) -> tuple[float, float]:
    """Mean and variance by a formula that is not ours."""
    if isinstance(arm, Empirical):
        return float(np.mean(arm.values)), float(np.var(arm.values))
    if isinstance(arm, Revenue):  # the law is that of a sale, up to its unit
        unit = arm.sale / law.mean()
        mean, square = arm.rate * unit * law.mean(), arm.rate * unit**2 * law.moment(2)
        return float(mean), float(square - mean**2)
    return float(law.mean()), float(law.var())


def rewards(arm: Family, uniforms: Any) -> Any:
    """Draw as the engine does from an encoding, by inverting the distribution function."""
    first, second, third, fourth = arm.encoding
    match arm:
        case Bernoulli():
            return np.where(uniforms < first, third, second)
        case Gaussian():
            return first + second * stats.norm.ppf(uniforms)
        case Beta():
            return third + fourth * stats.beta.ppf(uniforms, first, second)
        case LogNormal():
            return third + np.exp(first + second * stats.norm.ppf(uniforms))
        case Pareto():
            return third + second * (1.0 - uniforms) ** (-1.0 / first)
        case Revenue():
            sales = np.exp(second + third * stats.norm.isf(np.minimum(uniforms / first, 1.0)))
            return fourth + np.where(uniforms < first, sales, 0.0)
        case TruncNormal():
            tails = third + uniforms * (fourth - third)
            return first + second * stats.norm.isf(tails)
        case Exponential():
            return first + second * stats.expon.ppf(uniforms)
        case Poisson():
            return second + third * stats.poisson.ppf(uniforms, first)
        case Uniform():
            return first + second * uniforms
        case Empirical():
            return np.asarray(arm.values)[(first + second * uniforms).astype(int)]


def test_kinds_are_the_numbers_the_engine_knows() -> None:
    assert [arm.kind for arm, _, _ in ARMS] == [0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 8, -1]


@pytest.mark.parametrize(("arm", "law", "support"), ARMS, ids=IDS)
def test_moments_and_support(arm: Family, law: Any, support: tuple[float, float]) -> None:
    mean, variance = moments(arm, law)
    assert arm.mean == pytest.approx(mean, rel=1e-13)
    assert arm.variance == pytest.approx(variance, rel=1e-13)
    assert arm.support == support


@pytest.mark.parametrize(("arm", "law", "support"), ARMS, ids=IDS)
def test_scaling_moves_moments_and_support(arm: Family, law: Any, support: tuple[float, float]) -> None:
    low, high = -3.0, 5.0
    scaled = arm.scaled(low, high)
    mean, variance = moments(arm, law)
    assert type(scaled) is type(arm)
    assert scaled.mean == pytest.approx((mean - low) / 8, rel=1e-13)
    assert scaled.variance == pytest.approx(variance / 64, rel=1e-12)
    assert scaled.support == pytest.approx([(end - low) / 8 for end in support])


@pytest.mark.parametrize(("arm", "law", "support"), ARMS, ids=IDS)
def test_scaling_twice_is_scaling_once(arm: Family, law: Any, support: tuple[float, float]) -> None:
    twice, once = arm.scaled(-1, 3).scaled(0.25, 0.75), arm.scaled(0, 2)
    assert twice.encoding == pytest.approx(once.encoding, rel=1e-13)
    assert (twice.mean, twice.variance) == pytest.approx((once.mean, once.variance), rel=1e-13)


@pytest.mark.parametrize(("arm", "law", "support"), ARMS, ids=IDS)
@pytest.mark.parametrize("scaled", [False, True])
def test_draws_from_the_encoding_have_the_stated_moments(
    arm: Family, law: Any, support: tuple[float, float], scaled: bool
) -> None:
    arm = arm.scaled(-3, 5) if scaled else arm
    uniforms = (np.arange(400_000) + 0.5) / 400_000  # a grid, so only its own error remains
    drawn = rewards(arm, uniforms)
    assert drawn.mean() == pytest.approx(arm.mean, rel=1e-4)
    assert drawn.var() == pytest.approx(arm.variance, rel=1e-3)
    assert arm.support[0] <= drawn.min() and drawn.max() <= arm.support[1]


def test_encodings_as_agreed_with_the_engine() -> None:
    assert Bernoulli(0.3).scaled(-1, 1).encoding == (0.3, 0.5, 1.0, 0.0)
    assert Gaussian(1, 4).scaled(-1, 3).encoding == (0.5, 0.5, 0.0, 0.0)
    assert Beta(2, 3).scaled(-1, 1).encoding == (2.0, 3.0, 0.5, 0.5)
    assert Exponential(2).scaled(-4, 4).encoding == (0.5, 0.25, 0.0, 0.0)
    assert Poisson(3).scaled(-4, 4).encoding == (3.0, 0.5, 0.125, 0.0)
    assert Uniform(1, 3).scaled(0, 4).encoding == (0.25, 0.5, 0.0, 0.0)
    assert Empirical([4, 8]).scaled(0, 8).encoding == (0.0, 2.0, 0.0, 0.0)
    assert Empirical([4, 8]).scaled(0, 8).values == (0.5, 1.0)


def test_arms_are_written_with_their_parameters() -> None:
    assert repr(Bernoulli(0.25).scaled(-1, 1)) == "Bernoulli(probability=0.25, failure=0.5, success=1.0)"
    assert repr(Gaussian(0.5, 4.0).scaled(-2, 2)) == "Gaussian(mean=0.625, variance=0.25)"
    assert repr(Beta(1, 3)) == "Beta(a=1.0, b=3.0, shift=0.0, factor=1.0)"
    assert repr(Exponential(2).scaled(-4, 4)) == "Exponential(mean=0.75, shift=0.5)"
    assert repr(Poisson(3).scaled(0, 4)) == "Poisson(mean=0.75, shift=0.0, factor=0.25)"
    assert repr(Uniform(1, 7).scaled(1, 13)) == "Uniform(low=0.0, high=0.5)"
    assert repr(Empirical([1, 2, 6])) == "Empirical(3 values, mean 3)"


def test_constants_have_one_point_of_support() -> None:
    for arm in (Gaussian(2, 0), Uniform(2, 2), Poisson(0).scaled(-2, -1), Empirical([2, 2])):
        assert (arm.mean, arm.variance, arm.support) == (2.0, 0.0, (2.0, 2.0))


@given(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=30),
    st.sampled_from([0, 10**6, -(10**9), 10**12]),
)
def test_empirical_variance_is_accurate_far_from_zero(values: list[int], offset: int) -> None:
    arm = Empirical([value / 8 + offset for value in values])
    exact = [Fraction(value) for value in arm.values]
    mean = sum(exact) / len(exact)
    variance = sum((value - mean) ** 2 for value in exact) / len(exact)
    assert arm.mean == pytest.approx(float(mean), rel=1e-15)
    assert arm.variance == pytest.approx(float(variance), rel=1e-9, abs=1e-30)


def test_empirical_variance_when_the_mean_itself_is_rounded() -> None:
    step = math.ulp(1e12)
    assert Empirical([1e12, 1e12 + step]).variance == step * step / 4


def test_tiny_spreads_survive_scaling() -> None:
    assert Exponential(1e-20).scaled(-1, 1).encoding == (0.5, 0.0, 0.0, 0.0)
    assert Poisson(1e-20).scaled(-1, 1).mean == 0.5
    assert Beta(1e-300, 1e150).variance == 0.0
    assert math.isfinite(Uniform(-1e150, 1e150).variance)


def test_numbers_of_all_sorts_become_floats() -> None:
    assert Bernoulli(np.float32(0.5)) == Bernoulli(Fraction(1, 2))  # type: ignore[arg-type]
    assert type(Uniform(np.int64(0), 1).low) is float  # type: ignore[arg-type]
    assert Empirical(np.array([1, 2])) == Empirical((1.0, 2.0))  # type: ignore[arg-type]


@pytest.mark.parametrize("arm", [arm for arm, _, _ in ARMS], ids=IDS)
def test_arms_are_values(arm: Family) -> None:
    for twin in (copy.deepcopy(arm), pickle.loads(pickle.dumps(arm))):
        assert twin == arm and hash(twin) == hash(arm)
    assert arm.scaled(-1, 2) != arm
    with pytest.raises(AttributeError):
        setattr(arm, dataclasses.fields(arm)[0].name, 0.5)


# Untyped on purpose: bad input is what these calls are about.
room: Any = environments
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: room.Bernoulli(1.2), "bernoulli: a probability must lie in [0, 1], got 1.2"),
    (lambda: room.Bernoulli(-1), "bernoulli: a probability must lie in [0, 1], got -1"),
    (lambda: room.Bernoulli(math.nan), "bernoulli: a probability must lie in [0, 1], got nan"),
    (lambda: room.Bernoulli(True), "bernoulli: a probability must lie in [0, 1], got True"),
    (lambda: room.Bernoulli(np.True_), "bernoulli: a probability must lie in [0, 1], got True"),
    (lambda: room.Bernoulli(None), "bernoulli: a probability must lie in [0, 1], got None"),
    (lambda: room.Bernoulli("0.5"), "bernoulli: a probability must lie in [0, 1], got '0.5'"),
    (lambda: room.Bernoulli(1j), "bernoulli: a probability must lie in [0, 1], got 1j"),
    (lambda: room.Bernoulli(np.float64(2)), "bernoulli: a probability must lie in [0, 1], got 2.0"),
    (
        lambda: room.Bernoulli(0.5, math.inf),
        "bernoulli: failure must be a finite number up to 1e150, got inf",
    ),
    (
        lambda: room.Gaussian(math.inf, 1),
        "gaussian: mean must be a finite number up to 1e150, got inf",
    ),
    (
        lambda: room.Gaussian(10**5000, 1),
        "gaussian: mean must be a finite number up to 1e150, got a huge integer",
    ),
    (lambda: room.Gaussian(0, -1), "gaussian: a variance must be finite and at least 0, got -1"),
    (
        lambda: room.Gaussian(0, math.nan),
        "gaussian: a variance must be finite and at least 0, got nan",
    ),
    (lambda: room.Beta(0, 1), "beta: a must be positive and finite, got 0"),
    (lambda: room.Beta(1, math.inf), "beta: b must be positive and finite, got inf"),
    (lambda: room.Beta(1, 1, 0, 0), "beta: factor must be positive and finite, got 0"),
    (lambda: room.Exponential(0), "exponential: mean must be positive, got 0"),
    (lambda: room.Exponential(-0.5), "exponential: mean must be positive, got -0.5"),
    (lambda: room.Exponential(1, 2), "exponential: mean must be above 2, got 1"),
    (lambda: room.Poisson(-1), "poisson: mean must be at least 0, got -1"),
    (
        lambda: room.Poisson(math.nan),
        "poisson: mean must be a finite number up to 1e150, got nan",
    ),
    (lambda: room.Uniform(2, 1), "uniform: low must not exceed high, got 2 and 1"),
    (lambda: room.Uniform([0], 1), "uniform: low must be a finite number up to 1e150, got [0]"),
    (
        lambda: room.Empirical([]),
        "empirical: values must be a non-empty sequence of numbers, got []",
    ),
    (
        lambda: room.Empirical("12"),
        "empirical: values must be a non-empty sequence of numbers, got '12'",
    ),
    (
        lambda: room.Empirical(3),
        "empirical: values must be a non-empty sequence of numbers, got 3",
    ),
    (
        lambda: room.Empirical([1, math.nan]),
        "empirical: each of the values must be a finite number up to 1e150, got nan",
    ),
    (
        lambda: room.Empirical([[1], [2]]),
        "empirical: each of the values must be a finite number up to 1e150, got [1]",
    ),
    (lambda: room.Bernoulli(0.5).scaled(1, 1), "scale: low must lie below high, got 1 and 1"),
    (lambda: room.Gaussian(0, 1).scaled(2, 1), "scale: low must lie below high, got 2 and 1"),
    (
        lambda: room.Uniform(0, 1).scaled(None, 1),
        "scale: low must be a finite number up to 1e150, got None",
    ),
    (
        lambda: room.Gaussian(1, 1).scaled(0, 1e-200),
        "gaussian: mean must be a finite number up to 1e150, got 1e+200",
    ),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refusals(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message

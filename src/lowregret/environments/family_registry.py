"""The reward families by name: strings, TOML files, experiments and bounds know them from here alone."""

from collections.abc import Callable, Mapping
from dataclasses import Field
from math import exp, inf, log
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lowregret.environments.families import (
    Bernoulli,
    Beta,
    Empirical,
    Encoding,
    Exponential,
    Gaussian,
    LogNormal,
    Pareto,
    Poisson,
    Revenue,
    TruncNormal,
    Uniform,
)
from lowregret.environments.sampled import Sampled, sample_rewards
from lowregret.special.bounded_divergences import beta_kl_free, bounded_kl_free
from lowregret.special.divergences import (
    bernoulli_kl,
    exponential_kl,
    gaussian_kl,
    normal_kl_free,
    poisson_kl,
    uniform_kl_free,
)

Divergence: TypeAlias = Callable[[Any, float], float | None]


class Family(Protocol):
    """Distribution of the rewards of one arm: a frozen dataclass that `FAMILIES` lists."""

    kind: ClassVar[int]
    """Which sampler of the engine draws its rewards."""
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def mean(self) -> float:
        """Mean reward."""

    @property
    def variance(self) -> float:
        """Variance of the reward."""

    @property
    def support(self) -> tuple[float, float]:
        """Infimum and supremum of the support."""

    @property
    def encoding(self) -> Encoding:
        """Parameters as the sampler takes them (engine/kernels/rewards.py)."""

    def scaled(self, low: float, high: float) -> "Family":
        """Return the family of ``(reward - low) / (high - low)``."""


class FamilyEntry(NamedTuple):
    """What the package knows of a reward family besides its class."""

    family: type[Any]
    """A frozen dataclass with the members of `Family`; the name of the family is its name in lower case."""
    parameters: Mapping[str, str]
    """Parameters of one arm, each with its name for many arms, in the order of the class."""
    sample: Callable[[Any, Generator, tuple[int, ...]], NDArray[np.float64]]
    """``sample(arm, random, shape)`` draws rewards with a NumPy generator."""
    divergence: Divergence
    """``divergence(arm, mean)`` computes the least Kullback-Leibler divergence from an arm to a distribution
    of its family with that larger mean; for a beta arm to any distribution on its interval, for data to any
    distribution on [0, 1]. It returns None for data outside [0, 1] and for tiny parameters of a beta arm."""
    divergence_unknown_variance: Divergence | None = None
    """The same where the variance of that distribution is free, for a family in which it otherwise is not."""
    takes_data: bool = False
    """Whether the parameter of an arm is a sequence, which only a file can hold."""


def entry_of(arm: Family) -> FamilyEntry:
    if isinstance(arm, Sampled):
        return USER_DEFINED
    return next(entry for entry in FAMILIES.values() if isinstance(arm, entry.family))


def _unless_constant(divergence: Divergence) -> Divergence:
    """Return a divergence that is infinite from a constant, which has no neighbours in its family."""
    return lambda arm, mean: divergence(arm, mean) if arm.variance > 0.0 else inf


def _bernoulli_divergence(arm: Bernoulli, mean: float) -> float:
    return bernoulli_kl(arm.probability, (mean - arm.failure) / (arm.success - arm.failure))


def _poisson_divergence(arm: Poisson, mean: float) -> float:
    count, other = (arm.mean - arm.shift) / arm.factor, (mean - arm.shift) / arm.factor
    return poisson_kl(count, other, other - count) if count > 0.0 else other


def _pareto_divergence(arm: Pareto, mean: float) -> float:
    """Return the divergence to the Pareto distribution of the same minimum with another mean."""
    above = mean - arm.shift
    ratio = above / (above - arm.minimum) / arm.shape  # of the shapes
    return ratio - 1.0 - log(ratio)


def _sales(arm: Revenue, random: Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    rate, mu, sigma, shift = arm.encoding
    return np.asarray(shift + (random.random(shape) < rate) * random.lognormal(mu, sigma, shape))


def _revenue_divergence(arm: Revenue, mean: float) -> float:
    """Return the least divergence where the rate and the size of a sale may differ, not its spread."""
    from scipy.optimize import minimize_scalar

    rate, _, sigma, shift = arm.encoding
    ratio = (mean - shift) / (arm.mean - shift) if arm.mean > shift else inf
    if rate == 0.0 or ratio == inf:
        return inf
    end = min(ratio, 1.0 / rate)  # by what the rate may grow
    if sigma == 0.0:
        return bernoulli_kl(rate, rate * ratio) if ratio <= end else inf

    def divergence(growth: float) -> float:  # convex in the logarithm of the growth
        sales = log(ratio) - growth
        return bernoulli_kl(rate, min(rate * exp(growth), 1.0)) + rate * (sales / sigma) ** 2 / 2.0

    return float(minimize_scalar(divergence, bounds=(0.0, log(end)), method="bounded").fun)


def _truncated(arm: TruncNormal, random: Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    from scipy.special import ndtri

    location, sd, first, last = arm.encoding
    return np.asarray(location - sd * ndtri(random.uniform(first, last, shape)))


def _empirical_divergence(arm: Empirical, mean: float) -> float | None:
    low, high = arm.support
    if low < 0.0 or max(high, mean) > 1.0:
        return None
    return bounded_kl_free(1.0 - np.asarray(arm.values), mean)


FAMILIES: dict[str, FamilyEntry] = {
    "bernoulli": FamilyEntry(
        Bernoulli,
        {"probability": "probabilities"},
        lambda arm, random, shape: np.where(random.random(shape) < arm.probability, arm.success, arm.failure),
        _unless_constant(_bernoulli_divergence),
    ),
    "gaussian": FamilyEntry(
        Gaussian,
        {"mean": "means", "variance": "variances"},
        lambda arm, random, shape: random.normal(arm.mean, arm.variance**0.5, shape),
        _unless_constant(lambda arm, mean: gaussian_kl(arm.mean, mean, arm.variance)),
        _unless_constant(lambda arm, mean: normal_kl_free(mean - arm.mean, arm.variance)),
    ),
    "beta": FamilyEntry(
        Beta,
        {"a": "a", "b": "b"},
        lambda arm, random, shape: arm.shift + arm.factor * random.beta(arm.a, arm.b, shape),
        lambda arm, mean: beta_kl_free(arm.a, arm.b, (mean - arm.shift) / arm.factor),
    ),
    "exponential": FamilyEntry(
        Exponential,
        {"mean": "means"},
        lambda arm, random, shape: arm.shift + random.exponential(arm.mean - arm.shift, shape),
        _unless_constant(lambda arm, mean: exponential_kl(arm.mean - arm.shift, mean - arm.shift)),
    ),
    "poisson": FamilyEntry(
        Poisson,
        {"mean": "means"},
        lambda arm, random, shape: (
            arm.shift
            + arm.factor * random.poisson((arm.mean - arm.shift) / arm.factor, shape).astype(np.float64)
        ),
        _poisson_divergence,
    ),
    "uniform": FamilyEntry(
        Uniform,
        {"low": "lows", "high": "highs"},
        lambda arm, random, shape: random.uniform(arm.low, arm.high, shape),
        _unless_constant(lambda arm, mean: uniform_kl_free(arm.low, arm.high, mean)),
    ),
    "lognormal": FamilyEntry(
        LogNormal,
        {"mu": "mus", "sigma": "sigmas"},
        lambda arm, random, shape: arm.shift + random.lognormal(arm.mu, arm.sigma, shape),
        _unless_constant(
            lambda arm, mean: (log((mean - arm.shift) / (arm.mean - arm.shift)) / arm.sigma) ** 2 / 2.0
        ),
    ),
    "pareto": FamilyEntry(
        Pareto,
        {"shape": "shapes", "minimum": "minima"},
        lambda arm, random, shape: arm.shift + arm.minimum * (1.0 + random.pareto(arm.shape, shape)),
        _pareto_divergence,
    ),
    "revenue": FamilyEntry(
        Revenue,
        {"rate": "rates", "sale": "sales", "sd": "sds"},
        _sales,
        _unless_constant(_revenue_divergence),
    ),
    "truncnormal": FamilyEntry(
        TruncNormal,
        {"location": "locations", "sd": "sds", "low": "lows", "high": "highs"},
        _truncated,
        lambda arm, mean: None,
    ),
    "empirical": FamilyEntry(
        Empirical,
        {"values": "data"},
        lambda arm, random, shape: np.array(arm.values, np.float64)[
            random.integers(len(arm.values), size=shape)
        ],
        _empirical_divergence,
        takes_data=True,
    ),
}

USER_DEFINED = FamilyEntry(Sampled, {}, sample_rewards, lambda arm, mean: None)
"""The entry of user-defined distributions, which have no name in strings and files."""

"""The reward families: distributions of the reward of one arm, each closed under scaling.

``Family`` (family_registry.py) describes the members that they share.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self, TypeAlias

from lowregret._common.validation import (
    FINITE,
    POSITIVE,
    UNIT,
    VARIANCE,
    numbers,
    scale_interval,
    validate_fields,
)
from lowregret.errors import InputError

MAX_EXPONENT = 300.0
"""The largest logarithm of a log-normal mean: its square is finite."""

Encoding: TypeAlias = tuple[float, float, float, float]

# Samplers of the engine (engine/kernels/rewards.py); a negative one draws positions in the data of a bandit.
BERNOULLI, GAUSSIAN, BETA, EXPONENTIAL, POISSON, UNIFORM, LOGNORMAL, PARETO, TRUNCNORMAL, SAMPLED = range(10)
REVENUE = 10
EMPIRICAL = -1


class Scalable:
    """A family that is scaled by its parameters.

    Some of them are rewards, some differences of rewards, and some squares of differences; what is in none of
    the three stays.
    """

    __slots__ = ()
    rewards: ClassVar[tuple[str, ...]] = ()
    differences: ClassVar[tuple[str, ...]] = ()
    squares: ClassVar[tuple[str, ...]] = ()

    def scaled(self, low: float, high: float) -> Self:
        """Return the family of ``(reward - low) / (high - low)``.

        Parameters
        ----------
        low, high : float
            The rewards that become 0 and 1.
        """
        low, width = scale_interval(low, high)
        values = {name: (getattr(self, name) - low) / width for name in self.rewards}
        values |= {name: getattr(self, name) / width for name in self.differences}
        values |= {name: getattr(self, name) / width / width for name in self.squares}
        return replace(self, **values)  # type: ignore[type-var]  # every family is a dataclass


@dataclass(frozen=True, slots=True)
class Bernoulli(Scalable):
    """A Bernoulli reward: ``success`` with a probability in [0, 1], else ``failure``."""

    kind: ClassVar[int] = BERNOULLI
    rewards = ("failure", "success")
    probability: float
    failure: float = 0.0
    success: float = 1.0

    def __post_init__(self) -> None:
        validate_fields(self, probability=UNIT, failure=FINITE, success=FINITE)

    @property
    def mean(self) -> float:
        return self.failure + self.probability * (self.success - self.failure)

    @property
    def variance(self) -> float:
        step = self.success - self.failure
        return self.probability * (1.0 - self.probability) * step * step

    @property
    def support(self) -> tuple[float, float]:
        return min(self.failure, self.success), max(self.failure, self.success)

    @property
    def encoding(self) -> Encoding:
        return self.probability, self.failure, self.success, 0.0


@dataclass(frozen=True, slots=True)
class Gaussian(Scalable):
    """A normal reward; variance 0 makes it a constant."""

    kind: ClassVar[int] = GAUSSIAN
    rewards = ("mean",)
    squares = ("variance",)
    mean: float
    variance: float

    def __post_init__(self) -> None:
        validate_fields(self, mean=FINITE, variance=VARIANCE)

    @property
    def support(self) -> tuple[float, float]:
        return (-math.inf, math.inf) if self.variance > 0.0 else (self.mean, self.mean)

    @property
    def encoding(self) -> Encoding:
        return self.mean, math.sqrt(self.variance), 0.0, 0.0


@dataclass(frozen=True, slots=True)
class Beta(Scalable):
    """A beta reward: ``shift + factor * x`` with x of the Beta(a, b) distribution on [0, 1]."""

    kind: ClassVar[int] = BETA
    rewards = ("shift",)
    differences = ("factor",)
    a: float
    b: float
    shift: float = 0.0
    factor: float = 1.0

    def __post_init__(self) -> None:
        validate_fields(self, a=POSITIVE, b=POSITIVE, shift=FINITE, factor=POSITIVE)

    @property
    def mean(self) -> float:
        return self.shift + self.factor * (self.a / (self.a + self.b))

    @property
    def variance(self) -> float:
        total = self.a + self.b
        return self.factor * self.factor * (self.a / total) * (self.b / total) / (total + 1.0)

    @property
    def support(self) -> tuple[float, float]:
        return self.shift, self.shift + self.factor

    @property
    def encoding(self) -> Encoding:
        return self.a, self.b, self.shift, self.factor


@dataclass(frozen=True, slots=True)
class Exponential(Scalable):
    """An exponential reward above its lowest value, the shift; ``mean`` is that of the reward."""

    kind: ClassVar[int] = EXPONENTIAL
    rewards = ("mean", "shift")
    mean: float
    shift: float = 0.0

    def __post_init__(self) -> None:
        validate_fields(self, mean=FINITE, shift=FINITE)
        # Far from 0 a scaling may round a tiny spread to 0, so only mean = shift = 0 is rejected.
        if self.mean < self.shift or self.mean == self.shift == 0.0:
            above = "positive" if self.shift == 0.0 else f"above {self.shift:g}"
            raise InputError(f"exponential: mean must be {above}, got {self.mean:g}")

    @property
    def variance(self) -> float:
        spread = self.mean - self.shift
        return spread * spread

    @property
    def support(self) -> tuple[float, float]:
        return self.shift, math.inf

    @property
    def encoding(self) -> Encoding:
        return self.shift, self.mean - self.shift, 0.0, 0.0


@dataclass(frozen=True, slots=True)
class Poisson(Scalable):
    """A Poisson reward: ``shift + factor * count`` with a Poisson count; ``mean`` is that of the reward."""

    kind: ClassVar[int] = POISSON
    rewards = ("mean", "shift")
    differences = ("factor",)
    mean: float
    shift: float = 0.0
    factor: float = 1.0

    def __post_init__(self) -> None:
        validate_fields(self, mean=FINITE, shift=FINITE, factor=POSITIVE)
        if self.mean < self.shift:
            raise InputError(f"poisson: mean must be at least {self.shift:g}, got {self.mean:g}")

    @property
    def variance(self) -> float:
        return (self.mean - self.shift) * self.factor

    @property
    def support(self) -> tuple[float, float]:
        return self.shift, math.inf if self.mean > self.shift else self.shift

    @property
    def encoding(self) -> Encoding:
        return (self.mean - self.shift) / self.factor, self.shift, self.factor, 0.0


@dataclass(frozen=True, slots=True)
class Uniform(Scalable):
    """A uniform reward on an interval; equal ends make it a constant."""

    kind: ClassVar[int] = UNIFORM
    rewards = ("low", "high")
    low: float
    high: float

    def __post_init__(self) -> None:
        validate_fields(self, low=FINITE, high=FINITE)
        if self.low > self.high:
            raise InputError(f"uniform: low must not exceed high, got {self.low:g} and {self.high:g}")

    @property
    def mean(self) -> float:
        return (self.low + self.high) / 2.0

    @property
    def variance(self) -> float:
        width = self.high - self.low
        return width * width / 12.0

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def encoding(self) -> Encoding:
        return self.low, self.high - self.low, 0.0, 0.0


@dataclass(frozen=True, slots=True)
class LogNormal:
    """A log-normal reward: ``shift + exp(mu + sigma * x)`` with a standard normal x."""

    kind: ClassVar[int] = LOGNORMAL
    mu: float
    sigma: float
    shift: float = 0.0

    def __post_init__(self) -> None:
        validate_fields(self, mu=FINITE, sigma=VARIANCE, shift=FINITE)
        if self.mu + self.sigma * self.sigma > MAX_EXPONENT:
            raise InputError(f"lognormal: mu + sigma^2 must be at most {MAX_EXPONENT:g}, got {self}")

    @property
    def mean(self) -> float:
        return self.shift + math.exp(self.mu + self.sigma * self.sigma / 2.0)

    @property
    def variance(self) -> float:
        square = self.sigma * self.sigma
        return math.expm1(square) * math.exp(2.0 * self.mu + square)

    @property
    def support(self) -> tuple[float, float]:
        return (self.shift, math.inf) if self.sigma > 0.0 else (self.mean, self.mean)

    @property
    def encoding(self) -> Encoding:
        return self.mu, self.sigma, self.shift, 0.0

    def scaled(self, low: float, high: float) -> "LogNormal":
        low, width = scale_interval(low, high)
        return LogNormal(self.mu - math.log(width), self.sigma, (self.shift - low) / width)


@dataclass(frozen=True, slots=True)
class Pareto(Scalable):
    """A Pareto reward: ``shift + x`` with P(x > y) = (minimum / y)^shape for y above the minimum."""

    kind: ClassVar[int] = PARETO
    rewards = ("shift",)
    differences = ("minimum",)
    shape: float
    minimum: float
    shift: float = 0.0

    def __post_init__(self) -> None:
        validate_fields(self, shape=FINITE, minimum=POSITIVE, shift=FINITE)
        if self.shape <= 2.0:
            raise InputError(f"pareto: shape must be above 2, got {self.shape:g}")

    @property
    def mean(self) -> float:
        return self.shift + self.minimum * self.shape / (self.shape - 1.0)

    @property
    def variance(self) -> float:
        below = self.shape - 1.0
        return self.minimum * self.minimum * self.shape / (below * below * (self.shape - 2.0))

    @property
    def support(self) -> tuple[float, float]:
        return self.shift + self.minimum, math.inf

    @property
    def encoding(self) -> Encoding:
        return self.shape, self.minimum, self.shift, 0.0


@dataclass(frozen=True, slots=True)
class Revenue(Scalable):
    """The revenue of a visitor: a log-normal sale with probability ``rate``, else 0.

    ``sale`` is the mean of a sale and ``sd`` its standard deviation; ``shift`` is added to every reward.
    """

    kind: ClassVar[int] = REVENUE
    rewards = ("shift",)
    differences = ("sale", "sd")
    rate: float
    sale: float
    sd: float
    shift: float = 0.0

    def __post_init__(self) -> None:
        validate_fields(self, rate=UNIT, sale=POSITIVE, sd=VARIANCE, shift=FINITE)
        if math.log(self.sale) + math.log1p((self.sd / self.sale) ** 2) > MAX_EXPONENT:
            raise InputError(f"revenue: sale and sd are too large, got {self}")

    @property
    def mean(self) -> float:
        return self.shift + self.rate * self.sale

    @property
    def variance(self) -> float:
        return self.rate * (self.sd * self.sd + (1.0 - self.rate) * self.sale * self.sale)

    @property
    def support(self) -> tuple[float, float]:
        if self.rate == 0.0:
            return self.shift, self.shift
        low = self.shift + self.sale if self.rate == 1.0 and self.sd == 0.0 else self.shift
        return low, math.inf if self.sd > 0.0 else self.shift + self.sale

    @property
    def encoding(self) -> Encoding:
        square = math.log1p((self.sd / self.sale) ** 2)  # the variance of the logarithm of a sale
        return self.rate, math.log(self.sale) - square / 2.0, math.sqrt(square), self.shift


@dataclass(frozen=True)
class TruncNormal(Scalable):
    """A normal reward of mean ``location`` and standard deviation ``sd``, given that it is in an interval."""

    kind: ClassVar[int] = TRUNCNORMAL
    rewards = ("location", "low", "high")
    differences = ("sd",)
    location: float
    sd: float
    low: float
    high: float

    def __post_init__(self) -> None:
        validate_fields(self, location=FINITE, sd=POSITIVE, low=FINITE, high=FINITE)
        if self.low >= self.high:
            raise InputError(f"truncnormal: low must lie below high, got {self.low:g} and {self.high:g}")
        _, _, first, last = self.encoding
        if not last - first > 1e-100:
            raise InputError(f"truncnormal: [low, high] must not be so far from location, got {self}")

    @cached_property
    def _moments(self) -> tuple[float, float]:
        from scipy.stats import truncnorm

        ends = (self.low - self.location) / self.sd, (self.high - self.location) / self.sd
        mean, variance = truncnorm.stats(*ends, loc=self.location, scale=self.sd)
        return float(mean), float(variance)

    @property
    def mean(self) -> float:
        return self._moments[0]

    @property
    def variance(self) -> float:
        return self._moments[1]

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def encoding(self) -> Encoding:
        # The upper tail probabilities between which one is drawn, of the normal variable or of its negative:
        # of the two, those with more digits. Both are drawn in a little, so that rounding leaves no reward
        # outside the interval.
        low, high = (self.low - self.location) / self.sd, (self.high - self.location) / self.sd
        sign = 1.0 if low + high > 0.0 else -1.0
        near, far = (low, high) if sign > 0.0 else (-high, -low)
        first, last = math.erfc(far / math.sqrt(2.0)) / 2.0, math.erfc(near / math.sqrt(2.0)) / 2.0
        margin = 1e-12 * (last - first)
        return self.location, sign * self.sd, first + margin, last - margin


@dataclass(frozen=True, repr=False)
class Empirical:
    """A reward drawn from given data, each value with equal probability."""

    kind: ClassVar[int] = EMPIRICAL
    values: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", numbers("empirical", "values", self.values))

    def __repr__(self) -> str:
        return f"Empirical({len(self.values)} values, mean {self.mean:g})"

    @cached_property
    def mean(self) -> float:
        return math.fsum(self.values) / len(self.values)

    @cached_property
    def variance(self) -> float:
        residuals = [value - self.mean for value in self.values]
        # The second term undoes the rounding of the mean, which matters far from 0.
        rounding = math.fsum(residuals) / len(residuals)
        squares = math.fsum(residual * residual for residual in residuals)
        return max(squares / len(residuals) - rounding * rounding, 0.0)

    @cached_property
    def support(self) -> tuple[float, float]:
        return min(self.values), max(self.values)

    @property
    def encoding(self) -> Encoding:
        # The first number is an offset into the data of the bandit, which the bandit sets.
        return 0.0, float(len(self.values)), 0.0, 0.0

    def scaled(self, low: float, high: float) -> "Empirical":
        low, width = scale_interval(low, high)
        return Empirical([(value - low) / width for value in self.values])

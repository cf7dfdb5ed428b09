"""The seven reward families: distributions of the reward of one arm, each closed under scaling."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

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

Encoding: TypeAlias = tuple[float, float, float, float]

# Samplers of the engine (engine/rewards.py); a negative one draws positions in the data of a bandit.
BERNOULLI, GAUSSIAN, BETA, EXPONENTIAL, POISSON, UNIFORM = range(6)
EMPIRICAL = -1


@dataclass(frozen=True, slots=True)
class Bernoulli:
    """A Bernoulli reward: one value for a success, another for a failure.

    Parameters
    ----------
    probability : float
        Probability of a success, in [0, 1].
    failure, success : float
        Reward of each outcome.

    Examples
    --------
    >>> from lowregret.environments import Bernoulli
    >>> arm = Bernoulli(0.25)
    >>> arm.mean, arm.variance, arm.support
    (0.25, 0.1875, (0.0, 1.0))
    >>> arm.scaled(-1, 1)
    Bernoulli(probability=0.25, failure=0.5, success=1.0)
    """

    kind: ClassVar[int] = BERNOULLI
    probability: float
    failure: float = 0.0
    success: float = 1.0

    def __post_init__(self) -> None:
        validate_fields(self, probability=UNIT, failure=FINITE, success=FINITE)

    @property
    def mean(self) -> float:
        """Mean reward."""
        return self.failure + self.probability * (self.success - self.failure)

    @property
    def variance(self) -> float:
        """Variance of the reward."""
        step = self.success - self.failure
        return self.probability * (1.0 - self.probability) * step * step

    @property
    def support(self) -> tuple[float, float]:
        """The two rewards, the lower one first, whatever the probability."""
        return min(self.failure, self.success), max(self.failure, self.success)

    @property
    def encoding(self) -> Encoding:
        """Probability, reward of a failure, reward of a success, 0."""
        return self.probability, self.failure, self.success, 0.0

    def scaled(self, low: float, high: float) -> "Bernoulli":
        """Return the family of ``(reward - low) / (high - low)``."""
        low, width = scale_interval(low, high)
        failure, success = (self.failure - low) / width, (self.success - low) / width
        return Bernoulli(self.probability, failure, success)


@dataclass(frozen=True, slots=True)
class Gaussian:
    """A normal reward; variance 0 makes it a constant.

    Parameters
    ----------
    mean : float
        Mean reward.
    variance : float
        Variance of the reward, at least 0.

    Examples
    --------
    >>> from lowregret.environments import Gaussian
    >>> Gaussian(0.5, 4.0).encoding
    (0.5, 2.0, 0.0, 0.0)
    >>> Gaussian(0.5, 4.0).scaled(-2, 2)
    Gaussian(mean=0.625, variance=0.25)
    """

    kind: ClassVar[int] = GAUSSIAN
    mean: float
    variance: float

    def __post_init__(self) -> None:
        validate_fields(self, mean=FINITE, variance=VARIANCE)

    @property
    def support(self) -> tuple[float, float]:
        """The real line, or one point if the variance is 0."""
        return (-math.inf, math.inf) if self.variance > 0.0 else (self.mean, self.mean)

    @property
    def encoding(self) -> Encoding:
        """Mean, standard deviation, 0, 0."""
        return self.mean, math.sqrt(self.variance), 0.0, 0.0

    def scaled(self, low: float, high: float) -> "Gaussian":
        """Return the family of ``(reward - low) / (high - low)``."""
        low, width = scale_interval(low, high)
        return Gaussian((self.mean - low) / width, self.variance / width / width)


@dataclass(frozen=True, slots=True)
class Beta:
    """A beta reward: ``shift + factor * x`` with x of the Beta(a, b) distribution on [0, 1].

    Parameters
    ----------
    a, b : float
        Shapes, positive.
    shift, factor : float
        Lowest reward and width of the range of rewards.

    Examples
    --------
    >>> from lowregret.environments import Beta
    >>> arm = Beta(1, 3)
    >>> arm.mean, arm.variance
    (0.25, 0.0375)
    >>> arm.scaled(-1, 1).support
    (0.5, 1.0)
    """

    kind: ClassVar[int] = BETA
    a: float
    b: float
    shift: float = 0.0
    factor: float = 1.0

    def __post_init__(self) -> None:
        validate_fields(self, a=POSITIVE, b=POSITIVE, shift=FINITE, factor=POSITIVE)

    @property
    def mean(self) -> float:
        """Mean reward."""
        return self.shift + self.factor * (self.a / (self.a + self.b))

    @property
    def variance(self) -> float:
        """Variance of the reward."""
        total = self.a + self.b
        return self.factor * self.factor * (self.a / total) * (self.b / total) / (total + 1.0)

    @property
    def support(self) -> tuple[float, float]:
        """Lowest and highest reward."""
        return self.shift, self.shift + self.factor

    @property
    def encoding(self) -> Encoding:
        """Both shapes, shift, factor."""
        return self.a, self.b, self.shift, self.factor

    def scaled(self, low: float, high: float) -> "Beta":
        """Return the family of ``(reward - low) / (high - low)``."""
        low, width = scale_interval(low, high)
        return Beta(self.a, self.b, (self.shift - low) / width, self.factor / width)


@dataclass(frozen=True, slots=True)
class Exponential:
    """An exponential reward above a lowest reward.

    Parameters
    ----------
    mean : float
        Mean reward, above the shift.
    shift : float
        Lowest reward.

    Examples
    --------
    >>> from lowregret.environments import Exponential
    >>> arm = Exponential(2.0)
    >>> arm.mean, arm.variance, arm.support
    (2.0, 4.0, (0.0, inf))
    >>> arm.scaled(-4, 4)
    Exponential(mean=0.75, shift=0.5)
    """

    kind: ClassVar[int] = EXPONENTIAL
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
        """Variance of the reward."""
        spread = self.mean - self.shift
        return spread * spread

    @property
    def support(self) -> tuple[float, float]:
        """From the shift to infinity."""
        return self.shift, math.inf

    @property
    def encoding(self) -> Encoding:
        """Shift, mean above the shift, 0, 0."""
        return self.shift, self.mean - self.shift, 0.0, 0.0

    def scaled(self, low: float, high: float) -> "Exponential":
        """Return the family of ``(reward - low) / (high - low)``."""
        low, width = scale_interval(low, high)
        return Exponential((self.mean - low) / width, (self.shift - low) / width)


@dataclass(frozen=True, slots=True)
class Poisson:
    """A Poisson reward: ``shift + factor * count`` with a Poisson count.

    Parameters
    ----------
    mean : float
        Mean reward (not the mean count), at least the shift.
    shift, factor : float
        Reward of count 0, and increase with each further count.

    Examples
    --------
    >>> from lowregret.environments import Poisson
    >>> arm = Poisson(3.0)
    >>> arm.mean, arm.variance, arm.support
    (3.0, 3.0, (0.0, inf))
    >>> arm.scaled(0, 4), arm.scaled(0, 4).variance
    (Poisson(mean=0.75, shift=0.0, factor=0.25), 0.1875)
    """

    kind: ClassVar[int] = POISSON
    mean: float
    shift: float = 0.0
    factor: float = 1.0

    def __post_init__(self) -> None:
        validate_fields(self, mean=FINITE, shift=FINITE, factor=POSITIVE)
        if self.mean < self.shift:
            raise InputError(f"poisson: mean must be at least {self.shift:g}, got {self.mean:g}")

    @property
    def variance(self) -> float:
        """Variance of the reward."""
        return (self.mean - self.shift) * self.factor

    @property
    def support(self) -> tuple[float, float]:
        """From the shift to infinity, or one point if the mean is the shift."""
        return self.shift, math.inf if self.mean > self.shift else self.shift

    @property
    def encoding(self) -> Encoding:
        """Mean count, shift, factor, 0."""
        return (self.mean - self.shift) / self.factor, self.shift, self.factor, 0.0

    def scaled(self, low: float, high: float) -> "Poisson":
        """Return the family of ``(reward - low) / (high - low)``."""
        low, width = scale_interval(low, high)
        return Poisson((self.mean - low) / width, (self.shift - low) / width, self.factor / width)


@dataclass(frozen=True, slots=True)
class Uniform:
    """A uniform reward on an interval.

    Parameters
    ----------
    low, high : float
        Ends of the interval; equal ends make it a constant.

    Examples
    --------
    >>> from lowregret.environments import Uniform
    >>> arm = Uniform(1, 7)
    >>> arm.mean, arm.variance, arm.support
    (4.0, 3.0, (1.0, 7.0))
    >>> arm.scaled(1, 13)
    Uniform(low=0.0, high=0.5)
    """

    kind: ClassVar[int] = UNIFORM
    low: float
    high: float

    def __post_init__(self) -> None:
        validate_fields(self, low=FINITE, high=FINITE)
        if self.low > self.high:
            raise InputError(f"uniform: low must not exceed high, got {self.low:g} and {self.high:g}")

    @property
    def mean(self) -> float:
        """Mean reward."""
        return (self.low + self.high) / 2.0

    @property
    def variance(self) -> float:
        """Variance of the reward."""
        width = self.high - self.low
        return width * width / 12.0

    @property
    def support(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high

    @property
    def encoding(self) -> Encoding:
        """Low end, width, 0, 0."""
        return self.low, self.high - self.low, 0.0, 0.0

    def scaled(self, low: float, high: float) -> "Uniform":
        """Return the family of ``(reward - low) / (high - low)``."""
        low, width = scale_interval(low, high)
        return Uniform((self.low - low) / width, (self.high - low) / width)


@dataclass(frozen=True, repr=False)
class Empirical:
    """A reward drawn from given data, each value with equal probability.

    Parameters
    ----------
    values : sequence of float
        The data, at least one value; kept as a tuple.

    Examples
    --------
    >>> from lowregret.environments import Empirical
    >>> arm = Empirical([1, 2, 6])
    >>> arm
    Empirical(3 values, mean 3)
    >>> arm.mean, round(arm.variance, 4), arm.support
    (3.0, 4.6667, (1.0, 6.0))
    """

    kind: ClassVar[int] = EMPIRICAL
    values: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", numbers("empirical", "values", self.values))

    def __repr__(self) -> str:
        return f"Empirical({len(self.values)} values, mean {self.mean:g})"

    @cached_property
    def mean(self) -> float:
        """Mean of the data."""
        return math.fsum(self.values) / len(self.values)

    @cached_property
    def variance(self) -> float:
        """Population variance of the data."""
        residuals = [value - self.mean for value in self.values]
        # The second term undoes the rounding of the mean, which matters far from 0.
        rounding = math.fsum(residuals) / len(residuals)
        squares = math.fsum(residual * residual for residual in residuals)
        return max(squares / len(residuals) - rounding * rounding, 0.0)

    @cached_property
    def support(self) -> tuple[float, float]:
        """Least and greatest value."""
        return min(self.values), max(self.values)

    @property
    def encoding(self) -> Encoding:
        """Offset into the data of the bandit (0 for the arm alone), number of values, 0, 0."""
        return 0.0, float(len(self.values)), 0.0, 0.0

    def scaled(self, low: float, high: float) -> "Empirical":
        """Return the family of ``(reward - low) / (high - low)``."""
        low, width = scale_interval(low, high)
        return Empirical([(value - low) / width for value in self.values])

"""A user-defined reward distribution: a sampler that Numba compiles, with its mean and variance."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lowregret._common.validation import FINITE, POSITIVE, VARIANCE, validate_fields
from lowregret.environments.families import SAMPLED, Encoding, Scalable
from lowregret.errors import InputError


@dataclass(frozen=True)
class Sampled(Scalable):
    """A reward of a user-defined distribution, ``shift + factor * sample(rng)``.

    Parameters
    ----------
    sample : callable
        A function that Numba can compile and that draws one reward from ``rng``, which has ``uniform()``,
        ``normal()``, ``beta(a, b)`` and ``student(degrees)``.
    mean, variance : float
        Mean and variance of the reward.
    low, high : float
        Infimum and supremum of the reward, by default infinite.
    shift, factor : float
        What scaling adds to a sample and multiplies it by.

    Examples
    --------
    >>> def square(rng):
    ...     return rng.uniform() ** 2
    >>> arm = lr.Sampled(square, 1 / 3, 4 / 45, 0, 1)
    >>> arm.support, arm.scaled(0, 2).support
    ((0.0, 1.0), (0.0, 0.5))
    >>> arm.encoding
    (0.0, 0.0, 1.0, 0.0)
    >>> lr.Bandit((arm, *lr.bernoulli(0.5).arms), "mixed").gaps.round(3)
    array([0.167, 0.   ])
    """

    kind: ClassVar[int] = SAMPLED
    rewards = ("mean", "low", "high", "shift")
    differences = ("factor",)
    squares = ("variance",)
    sample: Callable[[Any], float]
    mean: float
    variance: float
    low: float = -math.inf
    high: float = math.inf
    shift: float = 0.0
    factor: float = 1.0

    def __post_init__(self) -> None:
        if not callable(self.sample):
            raise InputError(f"sampled: sample must be a function of rng, got {self.sample!r}")
        validate_fields(self, mean=FINITE, variance=VARIANCE, shift=FINITE, factor=POSITIVE)
        if not self.low <= self.mean <= self.high:
            raise InputError(
                f"sampled: mean must lie between low and high, got {self.mean:g} for "
                f"{self.low:g} and {self.high:g}"
            )

    @property
    def support(self) -> tuple[float, float]:
        """Infimum and supremum of the reward."""
        return float(self.low), float(self.high)

    @property
    def encoding(self) -> Encoding:
        # The engine sets the first number to the address of the compiled sampler in its process.
        """Four numbers, for the engine."""
        return 0.0, self.shift, self.factor, 0.0


def sample_rewards(arm: Sampled, random: Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    rng = SimpleNamespace(uniform=random.random, normal=random.standard_normal)
    rng.beta, rng.student = random.beta, random.standard_t
    rewards = np.array([arm.sample(rng) for _ in range(math.prod(shape))], np.float64).reshape(shape)
    return arm.shift + arm.factor * rewards

"""What a visitor brings in a plan: a conversion, a normal reward, or the revenue of a sale.

Each class knows the reward that is expected and its spread, draws the options of a run, and draws what a
fixed split observes of them.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.environments import Bandit, bernoulli, gaussian, revenue

CAP_SDS = 2.0
"""A sale is capped at its mean plus so many standard deviations."""


class Observed(NamedTuple):
    """The sums of the rewards of some visitors, and of their squares."""

    sums: Floats
    squares: Floats


@dataclass(frozen=True)
class Conversions:
    """Rewards of 0 and 1."""

    rate: float
    unit: ClassVar[str] = "conversions"
    cap: ClassVar[float | None] = None
    bounded: ClassVar[bool] = True

    @property
    def value(self) -> float:
        """The expected reward of a visitor."""
        return self.rate

    def sd(self, better: float = 1.0) -> float:
        """Return the standard deviation of a reward where the expected one is larger by a factor."""
        rate = self.rate * better
        return sqrt(rate * (1.0 - rate))

    def options(self, random: np.random.Generator, count: int, spread: float) -> Bandit:
        """Draw the options of a run, whose means have a relative standard deviation."""
        return bernoulli(random.beta(*_beta(self.rate, self.rate * spread), count))

    def observe(self, random: np.random.Generator, visitors: Integers, means: Floats) -> Observed:
        """Draw what so many visitors of each option bring."""
        sums = random.binomial(visitors, means).astype(np.float64)
        return Observed(sums, sums)

    def __str__(self) -> str:
        return f"a rate of {self.rate:g}"

    def describe(self, options: int, spread: float) -> str:
        """Return how the options of a run are drawn."""
        return (
            f"The rates of the {options} options are independent draws from a beta distribution with mean "
            f"{self.rate:g} and standard deviation {self.rate * spread:.3g} ({100 * spread:.3g}% of the mean)"
            ", drawn anew in every run."
        )


@dataclass(frozen=True)
class NormalRewards:
    """Normal rewards, of which mean and standard deviation are known."""

    mean: float
    deviation: float
    unit: ClassVar[str] = "reward"
    cap: ClassVar[float | None] = None
    bounded: ClassVar[bool] = False

    @property
    def value(self) -> float:
        return self.mean

    def sd(self, better: float = 1.0) -> float:
        return self.deviation

    def options(self, random: np.random.Generator, count: int, spread: float) -> Bandit:
        return gaussian(random.normal(self.mean, self.mean * spread, count), self.deviation**2)

    def observe(self, random: np.random.Generator, visitors: Integers, means: Floats) -> Observed:
        sums = random.normal(visitors * means, self.deviation * np.sqrt(visitors))
        return Observed(sums, sums**2 / np.maximum(visitors, 1) + visitors * self.deviation**2)

    def __str__(self) -> str:
        return f"a mean reward of {self.mean:g}"

    def describe(self, options: int, spread: float) -> str:
        return (
            f"The means of the {options} options are independent draws from a normal distribution with mean "
            f"{self.mean:g} and standard deviation {self.mean * spread:.3g}, drawn anew in every run; "
            f"rewards are normal with standard deviation {self.deviation:g}. If most visitors bring nothing, "
            "give rate, sale and sale_sd instead."
        )


@dataclass(frozen=True)
class Sales:
    """A log-normal sale of some visitors, nothing of the others; options differ in how many buy.

    Policies that are given the variance see the money. The others see a sale as a share of ``cap``, at most
    1.
    """

    rate: float
    sale: float
    sale_sd: float
    unit: ClassVar[str] = "revenue"
    bounded: ClassVar[bool] = True

    @property
    def value(self) -> float:
        return self.rate * self.sale

    @cached_property
    def cap(self) -> float:
        """The size from which on all sales count alike, with two digits."""
        return float(f"{self.sale + CAP_SDS * self.sale_sd:.2g}")

    def sd(self, better: float = 1.0) -> float:
        arm = revenue(self.rate * better, self.sale, self.sale_sd)
        return float(arm.variances[0] ** 0.5)

    def options(self, random: np.random.Generator, count: int, spread: float) -> Bandit:
        rates = random.beta(*_beta(self.rate, self.rate * spread), count)
        return revenue(rates, self.sale, self.sale_sd)

    def observe(self, random: np.random.Generator, visitors: Integers, means: Floats) -> Observed:
        counts = random.binomial(visitors, means / self.sale)
        _, mu, sigma, _ = revenue(1.0, self.sale, self.sale_sd).arms[0].encoding
        shares = np.minimum(random.lognormal(mu, sigma, int(counts.sum())) / self.cap, 1.0)
        cells = np.repeat(np.arange(counts.size), counts.ravel())
        sums = np.bincount(cells, shares, counts.size).reshape(counts.shape).astype(np.float64)
        squares = np.bincount(cells, shares**2, counts.size).reshape(counts.shape).astype(np.float64)
        return Observed(sums, squares)

    def __str__(self) -> str:
        return f"a sale of {self.sale:g} with a rate of {self.rate:g}"

    def describe(self, options: int, spread: float) -> str:
        return (
            f"{Conversions(self.rate).describe(options, spread)} A sale is log-normal with mean "
            f"{self.sale:g} and standard deviation {self.sale_sd:g} for every option. Policies that are not "
            f"given the variance learn from sales capped at {self.cap:g}; losses count all of a sale."
        )


VisitorRewards = Conversions | NormalRewards | Sales


def _beta(mean: float, sd: float) -> tuple[float, float]:
    """Return the parameters of the beta distribution with this mean and standard deviation."""
    size = mean * (1.0 - mean) / sd**2 - 1.0
    return mean * size, (1.0 - mean) * size

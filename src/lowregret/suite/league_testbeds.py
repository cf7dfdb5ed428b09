"""The testbeds of the league: one table of plain data.

The constants of `MOSSV` were chosen on the development half, and none on the test half.
"""

import random
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from lowregret.environments import Bandit, Gaussian, empirical, environment
from lowregret.errors import InputError

DEVELOPMENT, TEST = "development", "test"
"""The halves of the suite."""


@dataclass(frozen=True)
class Testbed:
    """A problem of the league.

    Examples
    --------
    >>> from lowregret.suite.league_testbeds import testbed
    >>> testbed("two-arms").bandit()
    Bandit('two-arms', arms=2, best mean 0.55)
    """

    name: str
    group: str  # the kind of problem
    half: str  # of the suite: development or test
    horizon: int
    arms: tuple[str, ...]  # environment strings; their arms are joined
    reason: str  # its source, or what it is for
    scale: tuple[float, float] | None = None  # low and high reward that are mapped to 0 and 1
    data: tuple[tuple[float, ...], ...] = ()  # the values of empirical arms, in place of ``arms``

    def bandit(self) -> Bandit:
        """Return the bandit, with the name and the horizon of the testbed."""
        bandit = empirical(self.data) if self.data else reduce(add, map(environment, self.arms))
        if self.scale:
            bandit = bandit.scaled(*self.scale)
        return replace(bandit, name=self.name, horizon=self.horizon)


def common_variance(bandit: Bandit) -> float | None:
    """Return the variance that all arms of a Gaussian bandit have; None where there is no such number."""
    variances = set(bandit.variances.tolist())
    gaussian = all(isinstance(arm, Gaussian) for arm in bandit.arms)
    return variances.pop() if gaussian and len(variances) == 1 else None


def testbed(name: str) -> Testbed:
    """Return a testbed by its name."""
    if name not in TESTBEDS:
        raise InputError(f"unknown testbed {name!r}: use one of {', '.join(TESTBEDS)}")
    return TESTBEDS[name]


def _commas(values: list[float]) -> str:
    return ",".join(f"{value:.4g}" for value in values)


def _bernoulli_draw(seed: int, count: int, a: float, b: float) -> tuple[str]:
    """Return Bernoulli arms with means from Beta(a, b), drawn with the standard library's generator."""
    draw = random.Random(seed).betavariate
    return (f"bernoulli:{_commas([draw(a, b) for _ in range(count)])}",)


def _gaussian_draw(seed: int, count: int, deviation: float, variance: float) -> tuple[str]:
    draw = random.Random(seed).normalvariate
    means = _commas([draw(0.5, deviation) for _ in range(count)])
    return (f"gaussian:mean={means};variance={variance}",)


def _pareto(mean: float, shape: float, count: int = 500) -> tuple[float, ...]:
    """Return values with the quantiles of a Pareto distribution and this mean."""
    values = [(1.0 - (k + 0.5) / count) ** (-1.0 / shape) for k in range(count)]
    factor = mean * count / sum(values)
    return tuple(round(factor * value, 6) for value in values)


def _ratings(*counts: int) -> tuple[float, ...]:
    """Return ratings of 1 to 5 stars, as often as given, scaled to [0, 1]."""
    return tuple(star / 4 for star, count in enumerate(counts) for _ in range(count))


_OATS = (
    *(111, 130, 157, 174, 117, 114, 161, 141, 105, 140, 118, 156, 61, 91, 97, 100, 70, 108, 126, 149),
    *(96, 124, 121, 144, 68, 64, 112, 86, 60, 102, 89, 96, 89, 129, 132, 124, 74, 89, 81, 122),
    *(64, 103, 132, 133, 70, 89, 104, 117, 62, 90, 100, 116, 80, 82, 94, 126, 63, 70, 109, 99),
    *(53, 74, 118, 113, 89, 82, 86, 104, 97, 99, 119, 121),
)
"""Yields of oats (Yates 1935) with four amounts of nitrogen in turn, as in the data set Oats of R's nlme."""

_EUCBV = "EUCBV paper (Mukherjee et al. 2018)"
_DEV, _TEST = DEVELOPMENT, TEST

TESTBEDS: dict[str, Testbed] = {
    row[0]: Testbed(*row)
    for row in (
        ("paper-1", "the paper", _DEV, 60_000, ("paper-1",), f"{_EUCBV}, experiment 1"),
        ("paper-2", "the paper", _DEV, 300_000, ("paper-2",), f"{_EUCBV}, experiment 2"),
        ("paper-3", "the paper", _DEV, 400_000, ("paper-3",), f"{_EUCBV}, experiment 3"),
        ("paper-4", "the paper", _DEV, 400_000, ("paper-4",), f"{_EUCBV}, experiment 4"),
        ("half", "Bernoulli", _DEV, 10_000, ("bernoulli:0.5*9,0.6",), "the largest variance"),
        ("near-0", "Bernoulli", _DEV, 20_000, ("bernoulli:0.01*9,0.02",), "click rates"),
        ("near-1", "Bernoulli", _DEV, 20_000, ("bernoulli:0.98*9,0.99",), "success rates"),
        ("spread", "Bernoulli", _DEV, 10_000, ("bernoulli:" + _commas([k / 10 for k in range(1, 10)]),),
         "means from 0.1 to 0.9"),
        ("two-arms", "two arms", _DEV, 10_000, ("bernoulli:0.5,0.55",), "an A/B test"),
        ("near-ties", "near ties", _DEV, 50_000, ("bernoulli:0.5*19,0.51",), "gaps near sqrt(K / T)"),
        ("rare-events", "rare events", _DEV, 100_000, ("bernoulli:0.001*9,0.003",), "conversions"),
        ("100-arms", "many arms", _DEV, 2_000, ("bernoulli:" + _commas([k / 100 for k in range(1, 101)]),),
         "20 pulls for each arm"),
        ("1000-arms", "many arms", _DEV, 30_000, ("bernoulli:0.1*500,0.3*400,0.5*99,0.6",), "1,000 arms"),
        ("short", "short horizon", _DEV, 300, ("bernoulli:0.2*80,0.8*20",), "T near K, many good arms"),
        ("gaussian", "Gaussian", _DEV, 10_000,
         ("gaussian:mean=" + _commas([k / 10 for k in range(10)]) + ";variance=0.25",), "equal variances"),
        ("gaussian-tiny", "Gaussian", _DEV, 10_000, ("gaussian:mean=0.5*9,0.52;variance=0.0001",),
         "tiny variances"),
        ("best-low-variance", "unequal variances", _DEV, 20_000, ("bernoulli:0.5*9", "beta:a=60;b=40"),
         "the best arm has the low variance"),
        ("best-high-variance", "unequal variances", _DEV, 20_000,
         ("beta:a=50*9;b=50*9", "bernoulli:0.6"), "the best arm has the high variance"),
        ("beta", "bounded", _DEV, 10_000, ("beta:a=1,2,3,4,5,6;b=6,5,4,3,2,1",), "a continuous distribution"),
        ("exponential", "heavy tails", _DEV, 10_000, ("exponential:0.1*9,0.2",),
         "unbounded rewards, small means"),
        ("near-0-geometric", "Bernoulli", _TEST, 10_000, ("bernoulli:0.01,0.02,0.04,0.08,0.16",),
         "means of different orders of magnitude"),
        ("near-1-few", "Bernoulli", _TEST, 10_000, ("bernoulli:0.9*4,0.95",), "five arms with high means"),
        ("two-gaps", "Bernoulli", _TEST, 30_000, ("bernoulli:0.4*15,0.45*4,0.5",), "two gaps"),
        ("two-arms-low", "two arms", _TEST, 20_000, ("bernoulli:0.03,0.04",), "an A/B test of click rates"),
        ("ladder", "near ties", _TEST, 50_000, ("bernoulli:0.45*5,0.455*4,0.46",), "gaps of 0.005 and 0.01"),
        ("very-rare-events", "rare events", _TEST, 100_000, ("bernoulli:0.0005*19,0.002",), "conversions"),
        ("1000-arms-short", "many arms", _TEST, 5_000,
         ("bernoulli:" + _commas([0.8 * k / 1000 for k in range(1000)]),), "five pulls for each arm"),
        ("K-squared", "short horizon", _TEST, 2_500, ("bernoulli:0.3*49,0.5",), "T = K^2"),
        ("prior-uniform", "a prior", _TEST, 10_000, _bernoulli_draw(1, 10, 1.0, 1.0),
         "one draw of ten means from U(0, 1)"),
        ("prior-clicks", "a prior", _TEST, 20_000, _bernoulli_draw(2, 20, 2.0, 38.0),
         "one draw of 20 means from Beta(2, 38)"),
        ("prior-gaussian", "a prior", _TEST, 10_000, _gaussian_draw(3, 10, 0.2, 0.25),
         "one draw of ten means from N(0.5, 0.04)"),
        ("gaussian-best-low", "unequal variances", _TEST, 20_000,
         ("gaussian:mean=0.5*9,0.55;variance=0.25*9,0.01",), "the best arm has the low variance"),
        ("gaussian-best-high", "unequal variances", _TEST, 20_000,
         ("gaussian:mean=0.5*9,0.55;variance=0.01*9,0.25",), "the best arm has the high variance"),
        ("gaussian-unit", "scale", _TEST, 20_000, ("gaussian:mean=0*4,0.2;variance=1",),
         "unit variance, four times the largest in [0, 1]"),
        ("scale-0.1", "scale", _TEST, 20_000, ("bernoulli:0.4*9,0.5",), "rewards 0 and 0.1", (0.0, 10.0)),
        ("poisson", "scale", _TEST, 10_000, ("poisson:0.6*4,0.8",), "counts, with rewards above 1"),
        ("ratings", "bounded", _TEST, 10_000, (), "discrete: ratings of one to five stars", None,
         (_ratings(2, 2, 4, 6, 6), _ratings(1, 2, 6, 8, 3), _ratings(4, 1, 1, 4, 10), _ratings(1, 1, 3, 9, 6),
          _ratings(5, 5, 5, 3, 2))),
        ("e-mail-sales", "public data", _TEST, 64_000, ("bernoulli:0.0057,0.0088,0.0125",),
         "purchases after three e-mail campaigns, Hillstrom (2008); only the mean of the rates was verified"),
        ("oats", "public data", _TEST, 5_000, (), "yields of a field trial (Yates 1935), resampled",
         (0.0, 200.0), tuple(tuple(map(float, _OATS[k::4])) for k in range(4))),
        ("revenue", "revenue", _TEST, 50_000, ("revenue:rate=0.03,0.03,0.036;sale=1;sd=1.3",),
         "3% of the visitors buy, and a sale is about 1"),
        ("revenue-range", "revenue", _TEST, 50_000, ("revenue:rate=0.05*4,0.06;sale=60;sd=50",),
         "5% buy; divided by a cap of two standard deviations above the mean", (0.0, 160.0)),
        ("revenue-prices", "revenue", _TEST, 30_000,
         ("revenue:rate=0.1,0.09,0.085,0.08;sale=20,25,30,35;sd=10",),
         "the higher the price, the fewer buy", (0.0, 55.0)),
        ("pareto", "heavy tails", _TEST, 20_000, (), "quantiles of Pareto distributions of shape 2.5", None,
         (*[_pareto(0.2, 2.5)] * 4, _pareto(0.25, 2.5))),
    )
}  # fmt: skip
"""The testbeds by name. A prior is represented by fixed draws, which are the same for everyone."""

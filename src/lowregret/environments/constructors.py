"""Constructors of bandits: one per reward family, and the four testbeds of the EUCBV paper."""

import random
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias

from numpy.typing import NDArray

from lowregret._common.user_calls import user_call
from lowregret._common.validation import as_list, short_repr
from lowregret.environments.bandit import Bandit, family_arms
from lowregret.environments.family_registry import FAMILIES
from lowregret.errors import InputError

Numbers: TypeAlias = float | Sequence[float] | NDArray[Any]
Scale: TypeAlias = tuple[float, float] | None


@user_call
def bernoulli(probabilities: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with rewards 0 and 1.

    Parameters
    ----------
    probabilities : float or sequence of float
        Probability of reward 1, one per arm, in [0, 1].
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Examples
    --------
    >>> lr.bernoulli([0.07] * 19 + [0.1])
    Bandit('bernoulli', arms=20, best mean 0.1)
    """
    return family_bandit("bernoulli", [probabilities], scale)


@user_call
def gaussian(means: Numbers, variances: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with normal rewards.

    Parameters
    ----------
    means : float or sequence of float
        Mean reward of each arm.
    variances : float or sequence of float
        Variance of each arm, at least 0; one number applies to all arms.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Examples
    --------
    >>> lr.gaussian([0.1, 0.2], 0.25).variances
    array([0.25, 0.25])
    """
    return family_bandit("gaussian", [means, variances], scale)


@user_call
def beta(a: Numbers, b: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with beta rewards on [0, 1].

    Parameters
    ----------
    a, b : float or sequence of float
        Shapes of each arm, positive; one number applies to all arms.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Examples
    --------
    >>> lr.beta([1, 3], 1).means
    array([0.5 , 0.75])
    """
    return family_bandit("beta", [a, b], scale)


@user_call
def exponential(means: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with exponential rewards.

    Parameters
    ----------
    means : float or sequence of float
        Mean reward of each arm, positive.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Examples
    --------
    >>> lr.exponential([0.5, 2]).variances
    array([0.25, 4.  ])
    """
    return family_bandit("exponential", [means], scale)


@user_call
def poisson(means: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with Poisson counts as rewards.

    Parameters
    ----------
    means : float or sequence of float
        Mean reward of each arm, at least 0.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Examples
    --------
    >>> lr.poisson([1, 3], scale=(0, 4)).means
    array([0.25, 0.75])
    """
    return family_bandit("poisson", [means], scale)


@user_call
def uniform(lows: Numbers, highs: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with uniform rewards on an interval.

    Parameters
    ----------
    lows, highs : float or sequence of float
        Ends of the interval of each arm; one number applies to all arms.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Examples
    --------
    >>> lr.uniform(0, [0.5, 1]).means
    array([0.25, 0.5 ])
    """
    return family_bandit("uniform", [lows, highs], scale)


@user_call
def lognormal(mus: Numbers, sigmas: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with log-normal rewards.

    Parameters
    ----------
    mus, sigmas : float or sequence of float
        Mean and standard deviation of the logarithm of the reward; one number applies to all arms.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Examples
    --------
    >>> lr.lognormal([-1, 0], 0.5).means.round(3)
    array([0.417, 1.133])
    """
    return family_bandit("lognormal", [mus, sigmas], scale)


@user_call
def pareto(shapes: Numbers, minima: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with Pareto rewards, whose tails are heavy.

    Parameters
    ----------
    shapes, minima : float or sequence of float
        P(reward > y) = (minimum / y)^shape. A shape is above 2, so that the variance is finite.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Examples
    --------
    >>> lr.pareto([3, 5], 1).means
    array([1.5 , 1.25])
    """
    return family_bandit("pareto", [shapes, minima], scale)


@user_call
def revenue(rates: Numbers, sales: Numbers, sds: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit whose rewards are the revenue of a visitor: 0, or a log-normal sale.

    Parameters
    ----------
    rates : float or sequence of float
        Probability of a sale, one per arm, in [0, 1].
    sales, sds : float or sequence of float
        Mean and standard deviation of a sale; one number applies to all arms.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Examples
    --------
    >>> lr.revenue([0.03, 0.036], 40, 50).means.round(3)
    array([1.2 , 1.44])
    """
    return family_bandit("revenue", [rates, sales, sds], scale)


@user_call
def truncnormal(
    locations: Numbers, sds: Numbers, lows: Numbers = 0.0, highs: Numbers = 1.0, *, scale: Scale = None
) -> Bandit:
    """Make a bandit with normal rewards, given that they lie in an interval.

    Parameters
    ----------
    locations, sds : float or sequence of float
        Mean and standard deviation of the normal distribution before it is truncated.
    lows, highs : float or sequence of float, defaults 0 and 1
        Ends of the interval of each arm.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Examples
    --------
    >>> lr.truncnormal([0.5, 0.9], 0.2).means.round(3)
    array([0.5  , 0.798])
    """
    return family_bandit("truncnormal", [locations, sds, lows, highs], scale)


@user_call
def empirical(data: Sequence[Sequence[float]] | NDArray[Any], *, scale: Scale = None) -> Bandit:
    """Make a bandit that resamples given data.

    Parameters
    ----------
    data : sequence of sequences of float
        The values of each arm, each drawn with equal probability.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Examples
    --------
    >>> lr.empirical([[0, 0, 3], [2, 2]]).means
    array([1., 2.])
    """
    return family_bandit("empirical", [data], scale)


def rescaled(bandit: Bandit, scale: object) -> Bandit:
    """Return a bandit scaled by a (low, high) pair that is checked here, or unchanged if that is None."""
    pair = as_list(scale)
    if pair is None:
        return bandit
    if isinstance(pair, list) and len(pair) == 2:
        return bandit.scaled(*pair)
    raise InputError(f"scale: must be a pair of numbers, low and high, got {short_repr(scale)}")


def family_bandit(family: str, parameters: Sequence[Any], scale: object = None) -> Bandit:
    """Make a bandit of one registered family: an arm per row of the parameters, single values repeated."""
    entry = FAMILIES[family]
    columns = {
        name: as_list(values) for name, values in zip(entry.parameters.values(), parameters, strict=True)
    }
    for name, column in columns.items():
        if isinstance(column, str | Mapping):
            raise InputError(f"{family}: {name} must be numbers, one per arm, got {short_repr(column)}")
    sizes = {name: len(column) for name, column in columns.items() if isinstance(column, list)}
    for name, size in sizes.items():
        if size == 0:
            raise InputError(f"{family}: {name} must give at least one arm, got an empty sequence")
    if len(set(sizes.values())) > 1:
        raise InputError(
            f"{family}: {' and '.join(sizes)} must have the same length, "
            f"got {' and '.join(map(str, sizes.values()))}"
        )
    count = max(sizes.values(), default=1)
    rows = zip(*(c if isinstance(c, list) else [c] * count for c in columns.values()), strict=True)
    return rescaled(Bandit(family_arms(entry.family, rows), family), scale)


# The paper says only that some variances are uniform random. They are drawn once, with the generator of
# the standard library, whose sequence for a seed is the same in every Python version.
_SEED = 2018
_HORIZONS = {1: 60_000, 2: 300_000, 3: 400_000, 4: 400_000}


def paper(number: int) -> Bandit:
    """Return one testbed of the EUCBV paper, with the paper's horizon.

    Arms are in the paper's order, so the best arm is the last one.

    1. 20 Bernoulli arms: 19 of mean 0.07, one of 0.1; 60,000 steps.
    2. 100 Gaussian arms: 66 of mean 0.07 and variance 0.01, 33 of 0.01 and 0.25, one of 0.09 and
       0.25; 300,000 steps.
    3. 100 Gaussian arms: 10 of mean 0.045 and variance 0.01, 89 of 0.04 and a variance in
       [0.2, 0.24], one of 0.05 and 0.25; 400,000 steps.
    4. 100 Gaussian arms: 49 of mean 0.09 and a variance in [0, 0.05], 50 of 0.09 and a variance in
       [0.19, 0.24], one of 0.1 and 0.25; 400,000 steps.

    Parameters
    ----------
    number : int
        The experiment, 1 to 4.

    Notes
    -----
    The paper draws the variances given as intervals uniformly but does not print them. Here they
    are drawn once with a fixed seed, so each call gives the same testbed.

    Examples
    --------
    >>> lr.paper(1)
    Bandit('paper-1', arms=20, best mean 0.1)
    >>> lr.paper(2).horizon
    300000
    """
    if isinstance(number, bool) or not isinstance(number, Integral) or number not in _HORIZONS:
        raise InputError(f"paper: number must be 1, 2, 3 or 4, got {short_repr(number)}")
    return Bandit(_testbed(int(number)).arms, f"paper-{number}", _HORIZONS[number])


def _testbed(number: int) -> Bandit:
    draw = random.Random(_SEED + number).uniform
    if number == 1:
        return family_bandit("bernoulli", [[0.07] * 19 + [0.1]])
    if number == 2:
        return gaussian([0.07] * 66 + [0.01] * 33 + [0.09], [0.01] * 66 + [0.25] * 34)
    if number == 3:
        variances = [0.01] * 10 + [draw(0.2, 0.24) for _ in range(89)] + [0.25]
        return gaussian([0.045] * 10 + [0.04] * 89 + [0.05], variances)
    low_variances = [draw(0.0, 0.05) for _ in range(49)]
    high_variances = [draw(0.19, 0.24) for _ in range(50)]
    return gaussian([0.09] * 99 + [0.1], [*low_variances, *high_variances, 0.25])

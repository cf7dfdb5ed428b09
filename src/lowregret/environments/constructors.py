"""Constructors of bandits, one per reward family."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray

from lowregret._common.validation import as_list, short_repr
from lowregret.environments.bandit import Bandit, make_arms
from lowregret.environments.family_registry import FAMILIES
from lowregret.errors import InputError

Numbers: TypeAlias = float | Sequence[float] | NDArray[Any]
Scale: TypeAlias = tuple[float, float] | None


def bernoulli(probabilities: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with rewards 0 and 1.

    Parameters
    ----------
    probabilities : float or sequence of float
        Probability of reward 1, one per arm, in [0, 1].
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Returns
    -------
    Bandit

    Examples
    --------
    >>> from lowregret.environments import bernoulli
    >>> bernoulli([0.07] * 19 + [0.1])
    Bandit('bernoulli', arms=20, best mean 0.1)
    """
    return family_bandit("bernoulli", [probabilities], scale)


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

    Returns
    -------
    Bandit

    Examples
    --------
    >>> from lowregret.environments import gaussian
    >>> gaussian([0.1, 0.2], 0.25).variances
    array([0.25, 0.25])
    """
    return family_bandit("gaussian", [means, variances], scale)


def beta(a: Numbers, b: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with beta rewards on [0, 1].

    Parameters
    ----------
    a, b : float or sequence of float
        Shapes of each arm, positive; one number applies to all arms.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Returns
    -------
    Bandit

    Examples
    --------
    >>> from lowregret.environments import beta
    >>> beta([1, 3], 1).means
    array([0.5 , 0.75])
    """
    return family_bandit("beta", [a, b], scale)


def exponential(means: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with exponential rewards.

    Parameters
    ----------
    means : float or sequence of float
        Mean reward of each arm, positive.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Returns
    -------
    Bandit

    Examples
    --------
    >>> from lowregret.environments import exponential
    >>> exponential([0.5, 2]).variances
    array([0.25, 4.  ])
    """
    return family_bandit("exponential", [means], scale)


def poisson(means: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with Poisson counts as rewards.

    Parameters
    ----------
    means : float or sequence of float
        Mean reward of each arm, at least 0.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Returns
    -------
    Bandit

    Examples
    --------
    >>> from lowregret.environments import poisson
    >>> poisson([1, 3], scale=(0, 4)).means
    array([0.25, 0.75])
    """
    return family_bandit("poisson", [means], scale)


def uniform(lows: Numbers, highs: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with uniform rewards on an interval.

    Parameters
    ----------
    lows, highs : float or sequence of float
        Ends of the interval of each arm; one number applies to all arms.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Returns
    -------
    Bandit

    Examples
    --------
    >>> from lowregret.environments import uniform
    >>> uniform(0, [0.5, 1]).means
    array([0.25, 0.5 ])
    """
    return family_bandit("uniform", [lows, highs], scale)


def lognormal(mus: Numbers, sigmas: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with log-normal rewards.

    Parameters
    ----------
    mus, sigmas : float or sequence of float
        Mean and standard deviation of the logarithm of the reward; one number applies to all arms.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Returns
    -------
    Bandit

    Examples
    --------
    >>> from lowregret.environments import lognormal
    >>> lognormal([-1, 0], 0.5).means.round(3)
    array([0.417, 1.133])
    """
    return family_bandit("lognormal", [mus, sigmas], scale)


def pareto(shapes: Numbers, minima: Numbers, *, scale: Scale = None) -> Bandit:
    """Make a bandit with Pareto rewards, whose tails are heavy.

    Parameters
    ----------
    shapes, minima : float or sequence of float
        P(reward > y) = (minimum / y)^shape. A shape is above 2, so that the variance is finite.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Returns
    -------
    Bandit

    Examples
    --------
    >>> from lowregret.environments import pareto
    >>> pareto([3, 5], 1).means
    array([1.5 , 1.25])
    """
    return family_bandit("pareto", [shapes, minima], scale)


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

    Returns
    -------
    Bandit

    Examples
    --------
    >>> from lowregret.environments import truncnormal
    >>> truncnormal([0.5, 0.9], 0.2).means.round(3)
    array([0.5  , 0.798])
    """
    return family_bandit("truncnormal", [locations, sds, lows, highs], scale)


def empirical(data: Sequence[Sequence[float]] | NDArray[Any], *, scale: Scale = None) -> Bandit:
    """Make a bandit that resamples given data.

    Parameters
    ----------
    data : sequence of sequences of float
        The values of each arm, each drawn with equal probability.
    scale : (float, float), optional
        Low and high reward to map to 0 and 1, as in `Bandit.scaled`.

    Returns
    -------
    Bandit
        The bandit, with an arm for each sequence of values.

    Examples
    --------
    >>> from lowregret.environments import empirical
    >>> empirical([[0, 0, 3], [2, 2]]).means
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
    return rescaled(Bandit(make_arms(lambda row: entry.family(*row), rows), family), scale)

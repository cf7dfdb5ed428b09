"""Bandits whose arms wear out or improve with their own pulls, or are replaced by new ones."""

from collections.abc import Sequence
from dataclasses import replace
from math import log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowregret._common.validation import MAX_HORIZON, POSITIVE, Rule, as_list, integer, number, short_repr
from lowregret.environments.bandit import Bandit
from lowregret.environments.constructors import Numbers
from lowregret.environments.drift import (
    PULL_EXPONENTIAL,
    PULL_STEPS,
    REPLACED,
    Drift,
    DriftingBandit,
    add_drift,
    row_of,
    with_means,
)
from lowregret.environments.random_bandit import EXAMPLE, MAX_DEVIATIONS, Prior, RandomBandit, random_bandit
from lowregret.errors import InputError

_RATE = Rule("{name} must be more than 0 and at most 1", lambda value: 0.0 < value <= 1.0)


def rotting_arms(
    bandit: Bandit,
    means: Numbers | Sequence[Sequence[float]] | NDArray[Any],
    scale: Numbers | None = None,
    every: int | None = None,
) -> DriftingBandit:
    """Make a bandit whose arms wear out: the mean of an arm decreases with the number of its pulls.

    Regret is that against the best sequence of pulls, which always takes the arm with the largest next mean.

    Parameters
    ----------
    bandit : Bandit
        The arms at their first pull.
    means : float or sequence of float, or a sequence of them
        With ``scale``, the limit of each arm. With ``every``, rows with a mean for each arm; the last row
        holds for all later pulls.
    scale : float or sequence of float, optional
        After so many pulls the distance of a mean to its limit has fallen to 37%: at pull n it is the first
        distance times exp(-(n - 1) / scale).
    every : int, optional
        The number of pulls of an arm for which a row holds.

    Examples
    --------
    >>> bandit = lr.rotting_arms(lr.bernoulli([0.9, 0.6]), [0.1, 0.5], scale=100)
    >>> bandit.means_at([1, 101]).round(2)  # of each arm at its first pull, and at its pull 101
    array([[0.9 , 0.6 ],
           [0.39, 0.54]])
    >>> means, best = bandit.averages(400)  # of each arm alone, and of the best sequence of 400 pulls
    >>> means.round(3), round(best, 3)
    (array([0.297, 0.525]), 0.555)
    """
    return _by_pulls("rotting", bandit, means, scale, every, rising=False)


def rising_arms(
    bandit: Bandit,
    means: Numbers | Sequence[Sequence[float]] | NDArray[Any],
    scale: Numbers | None = None,
    every: int | None = None,
) -> DriftingBandit:
    """Make a bandit whose arms improve: the mean of an arm increases with the number of its pulls.

    Regret is that against the best sequence of pulls, which takes one arm throughout: which one depends on
    the number of steps.

    Parameters
    ----------
    bandit : Bandit
        The arms at their first pull.
    means, scale, every
        As for `rotting_arms`; no mean may decrease.

    Examples
    --------
    >>> bandit = lr.rising_arms(lr.bernoulli([0.1, 0.5]), [0.9, 0.6], scale=100)
    >>> bandit.means_at([1, 101]).round(2)
    array([[0.1 , 0.5 ],
           [0.61, 0.56]])
    >>> lr.environment("bernoulli:0.1,0.5 | rising: means=0.9,0.6; scale=100").means_at(101).round(2)
    array([0.61, 0.56])
    """
    return _by_pulls("rising", bandit, means, scale, every, rising=True)


def replaced_arms(bandit: RandomBandit | str, rate: float) -> DriftingBandit:
    """Make a bandit whose arms die, and are replaced by new ones with other means.

    After each step each arm dies with the same probability, whether it was pulled or not. The means of new
    arms, and of those at step 1, are drawn from the prior. They depend on the seed, the run, the arm and the
    step alone, so they are the same for every policy. A policy is not told that an arm is new. Regret is that
    against the best arm alive at each step.

    Parameters
    ----------
    bandit : RandomBandit or str
        Bernoulli or Gaussian arms with a prior of their means, as `random_bandit` makes them, or its string.
    rate : float
        The probability with which an arm dies after a step, so that it lives for 1 / rate steps on average.

    Examples
    --------
    >>> bandit = lr.replaced_arms("bernoulli:uniform(0,1)*10", rate=0.001)
    >>> bandit
    DriftingBandit('bernoulli:uniform(0,1)*10', arms=10)
    >>> means, best = bandit.averages(1_000)  # over the prior
    >>> means[0].item(), round(best, 2)
    (0.5, 0.91)
    """
    drawn = random_bandit(bandit) if isinstance(bandit, str) else bandit
    if not isinstance(drawn, RandomBandit):
        raise InputError(f"replaced: give arms with a prior, such as {EXAMPLE}, got {short_repr(bandit)}")
    rate = number("replaced", "rate", rate, _RATE)
    fixed = all(_is_fixed(prior) for row in drawn.priors for prior in row[1:])
    if drawn.family not in ("bernoulli", "gaussian") or not fixed:
        raise InputError(
            f"replaced: bernoulli and gaussian arms can be replaced, with a prior of the mean alone, "
            f"got {drawn.name!r}"
        )
    if all(_is_fixed(row[0]) for row in drawn.priors):
        raise InputError(f"replaced: the means need a prior, as in {EXAMPLE}, got {drawn.name!r}")
    rows = tuple(zip(*(_row_of_prior(row[0]) for row in drawn.priors), strict=True))
    scale = 0.0 if rate == 1.0 else -1.0 / log1p(-rate)
    return DriftingBandit(drawn.arms, drawn.name, drawn.horizon, drift=Drift(REPLACED, (), rows, scale))


def _by_pulls(
    owner: str, bandit: Bandit, means: Any, scale: Numbers | None, every: int | None, rising: bool
) -> DriftingBandit:
    start = row_of(owner, bandit, "means", 0.0) and tuple(bandit.means.tolist())
    if (scale is None) == (every is None):
        raise InputError(f"{owner}: give scale, with the limits of the means, or every, with rows of means")
    rows: tuple[tuple[float, ...], ...]
    if scale is not None:
        rows = start, row_of(owner, bandit, "means", means), row_of(owner, bandit, "scale", scale)
        for value in rows[2]:
            number(owner, "scale", value, POSITIVE)
        drift, table = Drift(PULL_EXPONENTIAL, (), rows), np.array(rows[:2])
    else:
        every, given = integer(owner, "every", every, MAX_HORIZON), as_list(means)
        if not isinstance(given, list) or not given:
            raise InputError(f"{owner}: with every, means must be rows of numbers, got {short_repr(means)}")
        rows = tuple(row_of(owner, bandit, f"row {k} of the means", row) for k, row in enumerate(given))
        drift, table = Drift(PULL_STEPS, (every,), rows), np.array(rows)
        bandit = replace(bandit, arms=with_means(bandit, table[0]))
    wrong = np.argwhere(np.diff(table if rising else -table, axis=0) < 0.0)
    if len(wrong):
        row, arm = wrong[0].tolist()
        raise InputError(
            f"{owner}: a mean must not {'de' if rising else 'in'}crease, "
            f"got {table[row, arm]:g} and then {table[row + 1, arm]:g} for arm {arm}"
        )
    return add_drift(bandit, drift)


def _is_fixed(prior: Prior) -> bool:
    low, high = prior.ends
    return low == high


def _row_of_prior(prior: Prior) -> tuple[float, float, float, float]:
    """Return a prior as `Drift` has it: two parameters of a draw, its location and its width."""
    if prior.kind == "beta":
        return prior.first, prior.second, 0.0, 1.0
    if prior.kind == "normal":
        return 0.0, MAX_DEVIATIONS, prior.first, prior.second
    return 1.0, 1.0, prior.first, prior.second - prior.first

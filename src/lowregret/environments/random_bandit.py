"""Bandits whose arms are drawn anew in each run, from priors of their parameters."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple, NoReturn

import numpy as np

from lowregret._common.arrays import Floats
from lowregret._common.text import unknown_name_message
from lowregret._common.validation import MAX_BANDIT_ARMS, short_repr
from lowregret.environments.bandit import Bandit
from lowregret.environments.family_registry import FAMILIES, Family
from lowregret.errors import InputError

EXAMPLE = "'bernoulli:uniform(0,1)*10' or 'gaussian:mean=normal(0,1)*5;variance=1'"
DRAWS = 2_000
"""From how many draws the averages of a random bandit are computed."""
MAX_DEVIATIONS = 6.0
"""A normal prior is cut at so many standard deviations, so that regret is bounded."""

_ITEM = re.compile(r"\s*(?:(\w+)\(([^()]*)\)|([^()*,;]+))\s*(?:\*\s*(\d{1,7})\s*)?(?:,|$)")


class Prior(NamedTuple):
    """The distribution of a parameter, or a number, which is ``first`` and ``second`` of a uniform one."""

    kind: str
    first: float
    second: float

    def quantiles(self, u: Floats) -> Floats:
        """Return the quantiles at some probabilities."""
        from scipy.special import betaincinv, ndtri

        if self.kind == "beta":
            return np.asarray(betaincinv(self.first, self.second, u))
        if self.kind == "normal":
            return np.asarray(self.first + self.second * np.clip(ndtri(u), -MAX_DEVIATIONS, MAX_DEVIATIONS))
        return self.first + (self.second - self.first) * u

    @property
    def ends(self) -> tuple[float, float]:
        low, high = self.quantiles(np.array([0.0, 1.0])).tolist()
        return low, high


@dataclass(frozen=True, repr=False)
class RandomBandit(Bandit):
    """A bandit whose arms are drawn anew in each run; `random_bandit` makes one.

    In every run the arms are numbered from the best to the worst, so that arm 0 is the best one. Its
    ``means``, ``variances`` and ``gaps`` are averages over draws, by this rank. Policies see the arms in
    random order.

    Parameters
    ----------
    arms : tuple of Family
        The arms with the medians of the priors.
    name : str
        The string that made it.
    horizon : int, optional
        Suggested number of steps.
    family : str
        The reward family.
    priors : tuple of tuple of Prior
        The priors of the parameters of each arm.

    Examples
    --------
    >>> bandit = lr.random_bandit("bernoulli:uniform(0,1)*3")
    >>> bandit
    RandomBandit('bernoulli:uniform(0,1)*3', arms=3)
    >>> bandit.means.round(1), bandit.optimal, bandit.largest_gap
    (array([0.8, 0.5, 0.2]), array([ True, False, False]), 1.0)
    >>> bandit.gaps.round(1), bandit.variances.shape
    (array([0. , 0.3, 0.5]), (3,))
    >>> [arm.mean for arm in bandit.drawn([[0.25], [0.5], [0.125]])]
    [0.5, 0.25, 0.125]
    >>> bandit.scaled(0, 2)
    Traceback (most recent call last):
    lowregret.errors.InputError: 'bernoulli:uniform(0,1)*3' is drawn in each run: scale its parameters
    """

    family: str = field(kw_only=True)
    priors: tuple[tuple[Prior, ...], ...] = field(kw_only=True)

    def __repr__(self) -> str:
        return f"RandomBandit({self.name!r}, arms={len(self)})"

    def drawn(self, u: Floats) -> tuple[Family, ...]:
        """Return the arms for uniform draws, a row for each arm, from the best to the worst.

        Parameters
        ----------
        u : array of float
            A row for each arm, with a number in [0, 1) for each parameter.
        """
        u = np.asarray(u, np.float64)
        columns = zip(*self.priors, strict=True)
        values = np.empty(u.shape)
        for column, priors in enumerate(columns):
            for prior in set(priors):
                same = [place for place, other in enumerate(priors) if other == prior]
                values[same, column] = prior.quantiles(u[same, column])
        make = FAMILIES[self.family].family
        arms = [make(*map(float, row)) for row in values]
        return tuple(sorted(arms, key=lambda arm: -arm.mean))

    @cached_property
    def _averages(self) -> tuple[Floats, Floats, Floats]:
        random = np.random.default_rng(0)
        draws = [self.drawn(random.random((len(self), len(self.priors[0])))) for _ in range(DRAWS)]
        means = np.array([[arm.mean for arm in arms] for arms in draws])
        variances = np.array([[arm.variance for arm in arms] for arms in draws]).mean(axis=0)
        return means.mean(axis=0), variances, (means[:, :1] - means).mean(axis=0)

    @cached_property
    def means(self) -> Floats:
        """Average mean reward, by rank."""
        return self._averages[0]

    @cached_property
    def variances(self) -> Floats:
        """Average variance of the reward, by rank."""
        return self._averages[1]

    @cached_property
    def gaps(self) -> Floats:
        """Average gap, by rank."""
        return self._averages[2]

    @cached_property
    def largest_gap(self) -> float:
        """The largest difference of two means that the priors allow."""
        make = FAMILIES[self.family].family
        means = [
            make(*corner).mean
            for priors in set(self.priors)
            for corner in product(*(prior.ends for prior in priors))
        ]
        return float(max(means) - min(means))

    def __add__(self, other: Bandit) -> NoReturn:
        raise InputError(f"{self.name!r} is drawn in each run: give all arms in one string")

    def scaled(self, low: float, high: float) -> NoReturn:
        """Refuse: write priors of scaled parameters.

        Parameters
        ----------
        low, high : float
            The rewards that would become 0 and 1.
        """
        raise InputError(f"{self.name!r} is drawn in each run: scale its parameters")


def random_bandit(text: str) -> RandomBandit:
    """Return a bandit whose arms are drawn anew in each run, so that the mean regret is the Bayesian regret.

    Run r has the same arms for every policy; they depend on the seed and the number of the run alone.

    Parameters
    ----------
    text : str
        A reward family with its parameters, as for `environment`, where a value may be ``uniform(low,
        high)``, ``beta(a, b)`` or ``normal(mean, deviation)``, and ``value*count`` repeats it. A normal
        prior is cut at six deviations.

    Returns
    -------
    RandomBandit
        The bandit, for `simulate`, `trace` and experiments.

    Raises
    ------
    InputError
        If the string cannot be read, or the range of the rewards depends on the draw.

    Examples
    --------
    >>> bandit = lr.random_bandit("gaussian:mean=normal(0,1)*5;variance=1")
    >>> result = lr.simulate(["ThompsonGauss", "UCB1"], bandit, horizon=200, runs=100, seed=1)
    >>> result.summary()["mean"].round(1).to_list()
    [25.8, 27.0]
    """
    if not isinstance(text, str):
        raise InputError(f"random_bandit: give a string such as {EXAMPLE}, got {short_repr(text)}")
    family, colon, rest = text.partition(":")
    name = family.strip()
    if name not in FAMILIES or not colon:
        raise InputError(unknown_name_message("family", name, list(FAMILIES), f"write {EXAMPLE}"))
    entry = FAMILIES[name]
    if entry.takes_data:
        raise InputError(f"random_bandit: {name} takes data, which has no prior")
    given = dict(_prior_lists(rest, list(entry.parameters)))
    columns = [given.pop(key, None) for key in entry.parameters]
    if given or any(column is None for column in columns):
        raise InputError(f"random_bandit: {name} takes {', '.join(entry.parameters)}, got {rest!r}")
    lists = [column for column in columns if column is not None]
    size = max(map(len, lists))
    if size > MAX_BANDIT_ARMS or any(len(column) not in (1, size) for column in lists):
        raise InputError(f"random_bandit: give one value, or one for each of the arms, got {rest!r}")
    priors = tuple(zip(*(column * size if len(column) == 1 else column for column in lists), strict=True))
    make: Any = entry.family
    try:
        supports = {
            make(*corner).support for row in set(priors) for corner in product(*(p.ends for p in row))
        }
    except InputError as error:
        raise InputError(f"random_bandit: the prior allows what the family does not: {error}") from None
    if len(supports) > 1:
        raise InputError(f"random_bandit: the range of the rewards of {name} would depend on the draw")
    half = np.array([0.5])
    arms = tuple(make(*(float(prior.quantiles(half)[0]) for prior in row)) for row in priors)
    return RandomBandit(arms, " ".join(text.split()), family=name, priors=priors)


def _prior_lists(text: str, names: list[str]) -> Iterator[tuple[str, list[Prior]]]:
    """Yield the names of parameters and their values for each arm."""
    for part in text.split(";"):
        name, equals, values = part.partition("=")
        if not equals:
            name, values = names[0], part
        yield name.strip(), list(_priors(values))


def _priors(text: str) -> Iterator[Prior]:
    place = 0
    while place < len(text) or place == 0:
        match = _ITEM.match(text, place)
        if match is None:
            raise InputError(f"random_bandit: cannot read {text!r}: write {EXAMPLE}")
        kind, arguments, number, count = match.groups()
        yield from [_prior(kind, arguments, number)] * int(count or 1)
        place = match.end()


def _prior(kind: str | None, arguments: str | None, number: str | None) -> Prior:
    try:
        if kind is None:
            return Prior("uniform", float(number or ""), float(number or ""))
        first, second = map(float, (arguments or "").split(","))
    except ValueError:
        raise InputError(
            f"random_bandit: cannot read {number or f'{kind}({arguments})'}: write {EXAMPLE}"
        ) from None
    rules = {"uniform": first <= second, "beta": min(first, second) > 0.0, "normal": second >= 0.0}
    if kind not in rules or not rules[kind] or not np.isfinite([first, second]).all():
        raise InputError(
            f"random_bandit: a prior is uniform(low, high), beta(a, b) or normal(mean, deviation), "
            f"got {kind}({arguments})"
        )
    return Prior(kind, first, second)

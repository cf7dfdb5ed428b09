"""Bandits whose means change with time: in steps, linearly, as a sine, or by a table.

Means that change with the pulls of their arm, and arms that are replaced, are made in changing_arms.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lowregret._common.arrays import Floats
from lowregret._common.validation import MAX_HORIZON, POSITIVE, as_list, integer, number, scale_interval
from lowregret.environments.bandit import Bandit
from lowregret.environments.constructors import Numbers
from lowregret.environments.families import Bernoulli
from lowregret.environments.random_bandit import DRAWS, RandomBandit
from lowregret.errors import InputError

PIECEWISE, LINEAR, SINUSOIDAL, CYCLIC, PULL_STEPS, PULL_EXPONENTIAL, REPLACED = range(7)
"""How means change, for the engine."""
BY_PULLS = PULL_STEPS, PULL_EXPONENTIAL
"""The kinds in which the mean of an arm depends on how often this arm was pulled."""
_MEANS = {SINUSOIDAL: [0], PULL_EXPONENTIAL: [0, 1], REPLACED: [2]}
"""Which rows are means, where not all are."""
_WIDTHS = {SINUSOIDAL: [1], REPLACED: [3]}
"""Which rows are differences of means."""


@dataclass(frozen=True)
class Drift:
    """How the means of the arms change; every row has a number for each arm, t is the step, n the pull.

    ``PIECEWISE``: row j holds from step ``times[j]`` on. ``LINEAR``: from the first row to the second at step
    ``times[0]``. ``SINUSOIDAL``: row 0 plus row 1 times sin(2 pi ((t - 1) / period + row 2)). ``CYCLIC``:
    each row holds for ``times[0]`` steps.

    ``PULL_STEPS``: each row holds for ``times[0]`` pulls of the arm, the last one for all later ones.
    ``PULL_EXPONENTIAL``: row 1 plus the difference of rows 0 and 1 times exp(-(n - 1) / row 2). ``REPLACED``:
    an arm lives for 1 + floor(``period`` E) steps, where E is exponential; its mean is row 2 plus row 3 times
    a beta draw with the parameters in rows 0 and 1, or, where row 0 is 0, a normal draw cut at row 1.
    """

    kind: int
    times: tuple[int, ...]
    rows: tuple[tuple[float, ...], ...]
    period: float = 1.0

    @cached_property
    def table(self) -> Floats:
        return np.array(self.rows, np.float64)

    def means_at(self, t: NDArray[Any]) -> Floats:
        """Return the means at some steps, or at some pulls of each arm, a row for each."""
        if self.kind == PULL_STEPS:
            return np.asarray(self.table[np.minimum((t - 1) // self.times[0], len(self.table) - 1)])
        if self.kind == PIECEWISE:
            return np.asarray(self.table[np.searchsorted(self.times, t, side="right") - 1])
        if self.kind == CYCLIC:
            return np.asarray(self.table[(t - 1) // self.times[0] % len(self.table)])
        first, second = self.table[0], self.table[1]
        if self.kind == LINEAR:
            share = np.minimum((t - 1) / (self.times[0] - 1), 1.0)
            return np.asarray(first + (second - first) * share[:, None])
        if self.kind == PULL_EXPONENTIAL:
            return np.asarray(second + (first - second) * np.exp(-(t - 1)[:, None] / self.table[2]))
        angle = 2.0 * np.pi * (((t - 1) / self.period)[:, None] + self.table[2])
        return np.asarray(first + second * np.sin(angle))

    @property
    def _means(self) -> list[int]:
        return _MEANS.get(self.kind, list(range(len(self.rows))))

    @property
    def extremes(self) -> tuple[Floats, Floats]:
        """Bounds on the mean of every arm."""
        if self.kind == SINUSOIDAL:
            width = np.abs(self.table[1])
            return self.table[0] - width, self.table[0] + width
        if self.kind == REPLACED:
            a, cut, low, width = self.table
            normal = a == 0.0
            return low - width * np.where(normal, cut, 0.0), low + width * np.where(normal, cut, 1.0)
        means = self.table[self._means]
        return means.min(axis=0), means.max(axis=0)

    def scaled(self, low: float, high: float) -> "Drift":
        """Return the drift of ``(reward - low) / (high - low)``."""
        low, width = scale_interval(low, high)
        table = self.table.copy()
        table[self._means] -= low
        table[self._means + _WIDTHS.get(self.kind, [])] /= width
        return replace(self, rows=tuple(map(tuple, table.tolist())))

    @property
    def by_step(self) -> bool:
        """Whether the means depend on the step alone."""
        return self.kind not in (*BY_PULLS, REPLACED)

    @property
    def rises(self) -> bool:
        """Whether means that change with pulls increase; the others decrease."""
        means = self.table[self._means]
        return bool((means[-1] > means[0]).any())

    def prior_averages(self) -> tuple[Floats, float]:
        """Return the average mean of arms that are replaced, and of the best arm at a step, from draws."""
        a, b, low, width = self.table
        random, shape, beta = np.random.default_rng(0), (DRAWS, len(a)), a > 0.0
        draws = np.clip(random.standard_normal(shape), -b, b)
        draws[:, beta] = random.beta(a[beta], b[beta], (DRAWS, int(beta.sum())))
        means = low + width * np.where(beta, a / (a + b), 0.0)
        return means, float((low + width * draws).max(axis=1).mean())


BLOCK_STEPS = 100_000


@dataclass(frozen=True, repr=False)
class DriftingBandit(Bandit):
    """A bandit whose means change with time; `piecewise_drift` and others make one.

    Its ``arms``, ``means``, ``gaps`` and ``best`` are those of the first step. A Bernoulli arm changes its
    probability. The rewards of any other family are shifted. The regret of a step is the difference between
    the best mean at this step and the mean of the pulled arm at this step. Where means change with the pulls
    of their arm, regret after t steps is the largest sum of means that t pulls can have, less the sum of the
    means of the pulls that were made.

    Parameters
    ----------
    arms : tuple of Family
        Reward distribution of each arm at the first step.
    name : str
        Name in tables and reports.
    horizon : int, optional
        Suggested number of steps.
    drift : Drift
        How the means change.

    Examples
    --------
    >>> bandit = lr.piecewise_drift(lr.bernoulli([0.2, 0.5]), {101: [0.7, 0.5]})
    >>> bandit
    DriftingBandit('bernoulli', arms=2)
    >>> bandit.means, bandit.support
    (array([0.2, 0.5]), (0.0, 1.0))
    >>> bandit.means_at([100, 101])
    array([[0.2, 0.5],
           [0.7, 0.5]])
    >>> bandit.averages(200)  # of every arm, and of the best mean
    (array([0.45, 0.5 ]), 0.6)
    >>> bandit.sample(0, 10)
    Traceback (most recent call last):
    lowregret.errors.InputError: sample: the rewards of 'bernoulli' depend on the step, use trace
    >>> lr.rotting_arms(lr.bernoulli([0.9, 0.6]), 0.2, scale=9).largest_gap
    0.7
    """

    drift: Drift = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for means in self.drift.extremes:
            _check_means(self, means)

    def __repr__(self) -> str:
        return f"DriftingBandit({self.name!r}, arms={len(self)})"

    def __add__(self, other: Bandit) -> NoReturn:
        raise InputError(f"{self.name!r} drifts: join the bandits first, then add the drift")

    def sample(self, arm: int, n: int, seed: int | np.random.Generator = 0) -> NoReturn:
        """Refuse: the distribution of a reward depends on its step.

        Parameters
        ----------
        arm, n, seed : int
            As for ``Bandit.sample``.

        Raises
        ------
        InputError
            Always; use ``trace``.
        """
        raise InputError(f"sample: the rewards of {self.name!r} depend on the step, use trace")

    def _scaled_fields(self, low: float, high: float) -> dict[str, Any]:
        return super()._scaled_fields(low, high) | {"drift": self.drift.scaled(low, high)}

    def means_at(self, t: Numbers) -> Floats:
        """Return the mean of every arm at a step, or a row for each of several; the first step is 1.

        Parameters
        ----------
        t : int or sequence of int
            The steps; where means change with the pulls of their arm, the pulls of each arm.
        """
        if self.drift.kind == REPLACED:
            raise InputError(f"means_at: the arms of {self.name!r} are replaced, at other steps in each run")
        steps = np.atleast_1d(np.asarray(t))
        if not np.issubdtype(steps.dtype, np.integer) or steps.ndim != 1 or (steps < 1).any():
            raise InputError(f"means_at: t must be one or several integers of at least 1, got {t!r}")
        means = self.drift.means_at(steps)
        return np.asarray(means[0] if np.ndim(t) == 0 else means)

    def averages(self, horizon: int) -> tuple[Floats, float]:
        """Return the mean of every arm and the best mean, averaged over the steps to a horizon.

        Where means change with the pulls of their arm, they are those of an arm that alone is pulled, and of
        the best sequence of pulls. Those of arms that are replaced are averages over the prior.

        Parameters
        ----------
        horizon : int
            The number of steps.
        """
        if self.drift.kind == REPLACED:
            return self.drift.prior_averages()
        means, best, top = np.zeros(len(self)), 0.0, np.zeros(0)
        by_pulls = self.drift.kind in BY_PULLS
        for start in range(1, horizon + 1, BLOCK_STEPS):
            part = self.drift.means_at(np.arange(start, min(start + BLOCK_STEPS, horizon + 1)))
            means += part.sum(axis=0)
            if by_pulls:
                top = np.append(top, part)
                top = np.partition(top, len(top) - horizon)[-horizon:] if len(top) > horizon else top
            else:
                best += float(part.max(axis=1).sum())
        if by_pulls:
            best = float(means.max() if self.drift.rises else top.sum())
        return means / horizon, best / horizon

    @property
    def largest_gap(self) -> float | None:
        """The largest difference of two means, where averages do not bound the gap of a step."""
        low, high = self.drift.extremes
        return None if self.drift.by_step else float(high.max() - low.min())

    @cached_property
    def support(self) -> tuple[float, float]:
        """Infimum and supremum of the rewards of all arms at all steps; may be infinite."""
        low, high = self.drift.extremes
        lows, highs = [], []
        for arm, least, most in zip(self.arms, low.tolist(), high.tolist(), strict=True):
            bottom, top = arm.support
            fixed = isinstance(arm, Bernoulli)
            lows.append(bottom if fixed else bottom + (least - arm.mean))
            highs.append(top if fixed else top + (most - arm.mean))
        return min(lows), max(highs)


def piecewise_drift(bandit: Bandit, changes: Mapping[int, Numbers]) -> DriftingBandit:
    """Make a bandit whose means change at some steps and are constant in between.

    Parameters
    ----------
    bandit : Bandit
        The arms until the first change.
    changes : mapping of int to sequence of float
        From which step on the arms have which means. The first step of a run is 1.

    Examples
    --------
    >>> bandit = lr.piecewise_drift(lr.bernoulli([0.2, 0.5]), {5_001: [0.6, 0.5]})
    >>> bandit.means_at([5_000, 5_001])
    array([[0.2, 0.5],
           [0.6, 0.5]])
    """
    if not isinstance(changes, Mapping) or not changes:
        raise InputError(
            f"piecewise: changes must be steps with their means, as in {{1001: [0.5, 0.2]}}, got {changes!r}"
        )
    rows: dict[int, tuple[float, ...]] = {}
    for time, means in changes.items():
        step = integer("piecewise", "the step of a change", time, MAX_HORIZON, least=2)
        rows[step] = row_of("piecewise", bandit, "means", means)
    rows[1] = tuple(bandit.means.tolist())
    times = tuple(sorted(rows))
    return add_drift(bandit, Drift(PIECEWISE, times, tuple(rows[time] for time in times)))


def linear_drift(bandit: Bandit, means: Numbers, steps: int) -> DriftingBandit:
    """Make a bandit whose means change linearly, and are constant from a step on.

    Parameters
    ----------
    bandit : Bandit
        The arms at step 1.
    means : float or sequence of float
        Their means at step ``steps``, and later.
    steps : int
        The number of steps, at least 2.

    Examples
    --------
    >>> lr.linear_drift(lr.bernoulli([0.2, 0.5]), [0.6, 0.5], steps=1_001).means_at(501).round(6)
    array([0.4, 0.5])
    """
    first, last = tuple(bandit.means.tolist()), row_of("linear", bandit, "means", means)
    steps = integer("linear", "steps", steps, MAX_HORIZON, least=2)
    return add_drift(bandit, Drift(LINEAR, (steps,), (first, last)))


def sinusoidal_drift(
    bandit: Bandit, amplitudes: Numbers, period: float, phases: Numbers = 0.0
) -> DriftingBandit:
    """Make a bandit whose means are m + a sin(2 pi ((t - 1) / period + phase)).

    Parameters
    ----------
    bandit : Bandit
        The arms with their means m.
    amplitudes : float or sequence of float
        The amplitude a of each arm.
    period : float
        The period in steps, positive.
    phases : float or sequence of float, default 0
        The phase of each arm, as a share of the period.

    Examples
    --------
    >>> lr.sinusoidal_drift(lr.bernoulli([0.5, 0.5]), 0.3, 1_000, [0, 0.5]).means_at(251)
    array([0.8, 0.2])
    """
    means = tuple(bandit.means.tolist())
    width = row_of("sinusoidal", bandit, "amplitudes", amplitudes)
    start = row_of("sinusoidal", bandit, "phases", phases)
    period = number("sinusoidal", "period", period, POSITIVE)
    drifting = add_drift(bandit, Drift(SINUSOIDAL, (), (means, width, start), period))
    arms = with_means(bandit, drifting.drift.means_at(np.array([1]))[0])
    return replace(drifting, arms=arms)


def tabulated_drift(
    bandit: Bandit, means: Sequence[Sequence[float]] | NDArray[Any], every: int = 1
) -> DriftingBandit:
    """Make a bandit whose means are given by a table.

    Parameters
    ----------
    bandit : Bandit
        The arms; only their means change.
    means : sequence of sequences of float
        A row of means for each step. The last row holds for all later steps.
    every : int, default 1
        The number of steps for which a row holds.

    Examples
    --------
    >>> lr.tabulated_drift(lr.bernoulli([0.5, 0.5]), [[0.2, 0.3], [0.4, 0.3]], every=10).means_at(11)
    array([0.4, 0.3])
    """
    every = integer("table", "every", every, MAX_HORIZON)
    rows = as_list(means)
    if not isinstance(rows, list) or not rows:
        raise InputError(f"table: means must be a row of numbers for each step, got {means!r:.80}")
    table = tuple(row_of("table", bandit, f"row {k} of the means", row) for k, row in enumerate(rows))
    times = tuple(1 + every * k for k in range(len(table)))
    first = replace(bandit, arms=with_means(bandit, np.array(table[0])))
    return add_drift(first, Drift(PIECEWISE, times, table))


def add_drift(bandit: Bandit, drift: Drift) -> DriftingBandit:
    """Return a bandit whose means change; refuse one whose means do so already."""
    if isinstance(bandit, DriftingBandit):
        raise InputError(f"{bandit.name!r} drifts already: give a bandit whose means do not change")
    if isinstance(bandit, RandomBandit):
        raise InputError(f"{bandit.name!r} is drawn in each run: such arms can be replaced, but do not drift")
    return DriftingBandit(bandit.arms, bandit.name, bandit.horizon, drift=drift)


def row_of(owner: str, bandit: object, name: str, values: object) -> tuple[float, ...]:
    """Return one number for each arm; a single one applies to all."""
    if not isinstance(bandit, Bandit):
        raise InputError(
            f"{owner}: bandit must be a Bandit, such as lr.bernoulli([0.2, 0.5]), got {bandit!r}"
        )
    numbers = as_list(values)
    if not isinstance(numbers, list):
        numbers = [numbers] * len(bandit)
    if len(numbers) != len(bandit):
        raise InputError(
            f"{owner}: {name} must be {len(bandit)} numbers, one for each arm, got {len(numbers)}"
        )
    return tuple(number(owner, f"each of the {name}", value) for value in numbers)


def with_means(bandit: Bandit, means: Floats) -> tuple[Any, ...]:
    _check_means(bandit, means)
    arms: list[Any] = []
    for arm, mean in zip(bandit.arms, means.tolist(), strict=True):
        if isinstance(arm, Bernoulli) and arm.success != arm.failure:
            share = (mean - arm.failure) / (arm.success - arm.failure)
            arms.append(replace(arm, probability=min(max(share, 0.0), 1.0)))
        else:
            arms.append(arm.scaled(arm.mean - mean, arm.mean - mean + 1.0))
    return tuple(arms)


def _check_means(bandit: Bandit, means: Floats) -> None:
    """Refuse means that Bernoulli arms cannot have."""
    for position, (arm, mean) in enumerate(zip(bandit.arms, means.tolist(), strict=True)):
        bottom, top = arm.support
        slack = 1e-12 * (top - bottom)
        if isinstance(arm, Bernoulli) and not bottom - slack <= mean <= top + slack:
            raise InputError(
                f"drift: the mean of a Bernoulli arm must stay in [{bottom:g}, {top:g}], "
                f"got {mean:g} for arm {position}"
            )

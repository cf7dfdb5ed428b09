"""A bandit: its arms, their exact moments and gaps."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from html import escape
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lowregret._common.arrays import Floats
from lowregret._common.other_names import BANDIT, answers
from lowregret._common.validation import (
    MAX_BANDIT_ARMS,
    as_list,
    integer,
    plain_text,
    scale_interval,
    short_repr,
)
from lowregret.environments.families import Bernoulli, Empirical
from lowregret.environments.family_registry import FAMILIES, Family, entry_of
from lowregret.environments.sampled import Sampled
from lowregret.errors import InputError


@answers("a bandit", BANDIT)
@dataclass(frozen=True, repr=False)
class Bandit:
    """A stochastic bandit with known reward distributions.

    Parameters
    ----------
    arms : tuple of Family
        Reward distribution of each arm; families may be mixed.
    name : str, default "bandit"
        Name in tables and reports.
    horizon : int, optional
        Suggested number of steps.

    Examples
    --------
    >>> from lowregret.environments import Bernoulli, Gaussian
    >>> bandit = lr.Bandit((Bernoulli(0.5), Gaussian(0.75, 0.25)), name="mixed")
    >>> bandit
    Bandit('mixed', arms=2, best mean 0.75)
    >>> bandit.means, bandit.variances, bandit.gaps
    (array([0.5 , 0.75]), array([0.25, 0.25]), array([0.25, 0.  ]))
    >>> bandit.best, bandit.optimal, bandit.support, bandit.binary, len(bandit)
    (1, array([False,  True]), (-inf, inf), False, 2)
    >>> resampled = lr.empirical([[0, 3], [2]])
    >>> resampled.data, resampled.encodings[:, :2]  # where the values of an arm begin, and their number
    (array([0., 3., 2.]), array([[0., 2.],
           [2., 1.]]))
    >>> lr.bernoulli([0.1, 0.9]).kinds
    array([0, 0])
    >>> bandit.largest_gap is None, lr.random_bandit("bernoulli:uniform(0,1)*3").largest_gap
    (True, 1.0)
    """

    arms: tuple[Family, ...]
    name: str = "bandit"
    horizon: int | None = None

    def __post_init__(self) -> None:
        arms = as_list(self.arms)
        if not isinstance(arms, list) or not arms:
            raise InputError(f"Bandit: arms must be a non-empty sequence, got {short_repr(arms)}")
        if len(arms) > MAX_BANDIT_ARMS:
            raise InputError(f"Bandit: at most {MAX_BANDIT_ARMS} arms are allowed, got {len(arms)}")
        families: tuple[type, ...] = (Sampled, *(entry.family for entry in FAMILIES.values()))
        for position, arm in enumerate(arms):
            if not isinstance(arm, families):
                raise InputError(
                    f"Bandit: an arm must be a reward family, got {short_repr(arm)} for arm {position}: "
                    "use a function such as lr.bernoulli([0.1, 0.2])"
                )
        plain_text("Bandit", "name", self.name)
        if self.horizon is not None:
            object.__setattr__(self, "horizon", integer("Bandit", "horizon", self.horizon))
        object.__setattr__(self, "arms", tuple(arms))

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: cached arrays are read-only, which a pickle does not keep."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __repr__(self) -> str:
        best = self.means[self.best]
        return f"Bandit({self.name!r}, arms={len(self)}, best mean {best:g})"

    def _repr_html_(self) -> str:
        """Return a table of the arms, equal ones in one row, for notebooks."""
        counts = Counter(zip(map(repr, self.arms), self.means.tolist(), self.gaps.tolist(), strict=True))
        rows = [
            f"<tr><td>{count}</td><td>{escape(arm)}</td><td>{mean:g}</td><td>{gap:g}</td></tr>"
            for (arm, mean, gap), count in counts.most_common(40)
        ]
        more = f"<p>and {len(counts) - 40} more</p>" if len(counts) > 40 else ""
        head = "<tr><th>arms</th><th>distribution</th><th>mean</th><th>gap</th></tr>"
        return f"<p>{escape(repr(self))}</p><table>{head}{''.join(rows)}</table>{more}"

    def __len__(self) -> int:
        return len(self.arms)

    def __getitem__(self, arm: int) -> Family:
        """Return the reward distribution of an arm."""
        return self.arms[arm]

    def __iter__(self) -> Iterator[Family]:
        return iter(self.arms)

    def sample(self, arm: int, n: int, seed: int | np.random.Generator = 0) -> Floats:
        """Draw rewards of an arm, with a NumPy generator and not with the streams of `simulate`.

        Parameters
        ----------
        arm : int
            The arm.
        n : int
            The number of rewards.
        seed : int or numpy.random.Generator, default 0
            The generator, or its seed.

        Examples
        --------
        >>> lr.bernoulli([0.1, 0.9]).sample(1, 5)
        array([1., 1., 1., 1., 1.])
        """
        if isinstance(arm, bool) or not isinstance(arm, Integral) or not 0 <= int(arm) < len(self):
            raise InputError(
                f"sample: arm must be an integer from 0 to {len(self) - 1}, got {short_repr(arm)}"
            )
        family = self.arms[int(arm)]
        shape = (integer("sample", "n", n, least=0),)
        return np.asarray(entry_of(family).sample(family, np.random.default_rng(seed), shape), np.float64)

    def __add__(self, other: "Bandit") -> "Bandit":
        """Join the arms of two bandits; the suggested horizon is dropped."""
        if not isinstance(other, Bandit):
            return NotImplemented
        name = self.name if self.name == other.name else f"{self.name} + {other.name}"
        return Bandit(self.arms + other.arms, name)

    def scaled(self, low: float, high: float) -> Self:
        """Return the bandit whose rewards are ``(reward - low) / (high - low)``.

        Parameters
        ----------
        low, high : float
            The rewards that become 0 and 1.

        Examples
        --------
        >>> lr.uniform(0, [4, 8]).scaled(0, 8).means
        array([0.25, 0.5 ])
        """
        scale_interval(low, high)
        return replace(self, **self._scaled_fields(low, high))

    def _scaled_fields(self, low: float, high: float) -> dict[str, Any]:
        return {"arms": make_arms(lambda arm: arm.scaled(low, high), self.arms)}

    @property
    def largest_gap(self) -> float | None:
        """The largest possible gap of a step where ``gaps`` do not bound it, None where they do."""
        return None

    @cached_property
    def means(self) -> Floats:
        """Mean reward of each arm."""
        return _frozen([arm.mean for arm in self.arms])

    @cached_property
    def variances(self) -> Floats:
        """Variance of the reward of each arm."""
        return _frozen([arm.variance for arm in self.arms])

    @cached_property
    def gaps(self) -> Floats:
        """Difference between the best mean and the mean of each arm."""
        return _frozen(self.means.max() - self.means)

    @cached_property
    def best(self) -> int:
        """Index of the first arm with the best mean."""
        return int(self.means.argmax())

    @cached_property
    def optimal(self) -> NDArray[np.bool_]:
        """Whether each arm has the best mean."""
        return _frozen(self.gaps == 0.0, np.bool_)

    @cached_property
    def support(self) -> tuple[float, float]:
        """Infimum and supremum of the rewards of all arms; may be infinite."""
        lows, highs = zip(*(arm.support for arm in self._distinct), strict=True)
        return min(lows), max(highs)

    @cached_property
    def binary(self) -> bool:
        """Whether every reward is 0 or 1."""
        return all(
            isinstance(arm, Bernoulli) and {arm.failure, arm.success} <= {0.0, 1.0} for arm in self._distinct
        )

    @cached_property
    def _distinct(self) -> Collection[Family]:
        return tuple({id(arm): arm for arm in self.arms}.values())

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """Sampler of each arm, for the engine."""
        return _frozen([arm.kind for arm in self.arms], np.int64)

    @cached_property
    def data(self) -> Floats:
        """Values of all empirical arms, one after the other, for the engine."""
        return _frozen([value for arm in self.arms if isinstance(arm, Empirical) for value in arm.values])

    @cached_property
    def encodings(self) -> Floats:
        """Four numbers per arm, for the engine; those of an empirical arm point into ``data``."""
        encodings = np.array([arm.encoding for arm in self.arms], dtype=np.float64)
        resampled = self.kinds == Empirical.kind
        sizes = encodings[resampled, 1]
        encodings[resampled, 0] = np.cumsum(sizes) - sizes
        return _frozen(encodings)


def make_arms(make: Callable[[Any], Family], items: Any) -> tuple[Family, ...]:
    """Make one arm per item, equal ones once; an error names the arm."""
    arms: list[Family] = []
    by_key: dict[Any, Family] = {}
    try:
        for item in items:
            key = (item, tuple(map(type, item))) if isinstance(item, tuple) else id(item)
            try:
                arm = by_key.get(key)
            except TypeError:  # data, which cannot be hashed
                arms.append(make(item))
                continue
            arms.append(by_key.setdefault(key, make(item)) if arm is None else arm)
    except InputError as error:
        raise InputError(f"{error} for arm {len(arms)}") from None
    return tuple(arms)


def family_arms(family: Callable[..., Family], rows: Any) -> tuple[Family, ...]:
    """Make one arm of a family per row of parameters."""
    return make_arms(lambda row: family(*row), rows)


def _frozen(values: Any, dtype: Any = np.float64) -> NDArray[Any]:
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array

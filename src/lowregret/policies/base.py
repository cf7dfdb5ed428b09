"""What a policy is: an immutable record of parameters with plain methods.

A policy says what it wants; the engine does the rest. It defines one of

``score(self, arm, clock)``
    An index policy: the arm with the largest score is pulled.
``sample(self, arm, clock, rng)``
    A sampling policy: the same, with a score drawn anew for every arm at every step.
``begin(self, clock)``, ``score(self, arm, clock, round)`` and ``turn(self, arms, clock, round)``
    A policy with rounds or lists of arms. ``begin`` gives the first round, a ``NamedTuple`` that has
    at least ``number`` and ``until``. At the first step that ends at or after ``round.until``,
    ``turn`` gives the next round, and may drop or admit arms. With ``lower(self, arm, clock, round)``
    an arm also leaves as soon as its score is below the largest ``lower`` of the arms that are left.

The same source is called as Python (the reference, live use) and compiled by Numba (the simulator).
``begin`` alone always runs as Python, once per simulation, so it may do what Numba cannot.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, fields
from math import isfinite
from numbers import Integral, Real
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, dataclass_transform, get_args

from lowregret.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Moves = Literal["still", "rising", "falling", "anyhow"]

NEVER = 2**62
"""A time that never comes, for the ``until`` of a last round."""


class Arm(NamedTuple):
    """What a policy may know of one arm: its number, pulls, mean and population variance."""

    number: int
    pulls: int
    mean: float
    variance: float


class Clock(NamedTuple):
    """The time ``t`` of the pull (the first is 1), the horizon, and the number of arms."""

    t: int
    horizon: int
    arms: int


def origin_for(first: float) -> float:
    """Choose the point from which an arm's rewards are measured, given its first reward.

    Sums of distances from a typical reward stay accurate however far from 0 the rewards are. Rewards of 0 and
    1 are measured from 0, so that their sums are whole numbers: arms with equal counts tie exactly.
    """
    return 0.0 if first == 1.0 else first


def summarise(number: int, pulls: int, origin: float, total: float, squares: float) -> Arm:
    """Turn the sum and the sum of squares of the distances from ``origin`` into an arm's statistics."""
    if pulls == 0:
        return Arm(number, 0, 0.0, 0.0)
    shift = total / pulls
    return Arm(number, pulls, origin + shift, max(squares / pulls - shift * shift, 0.0))


class Arms(NamedTuple):
    """All arms, one row each, in the order in which ties are broken.

    A row has at least ``number``, ``pulls``, ``origin``, ``total``, ``squares`` and ``active``.
    """

    rows: npt.NDArray[np.void]

    def at(self, i: int) -> Arm:
        """Give the arm in place ``i``."""
        row = self.rows[i]
        origin, total, squares = float(row["origin"]), float(row["total"]), float(row["squares"])
        return summarise(int(row["number"]), int(row["pulls"]), origin, total, squares)

    def observe(self, i: int, reward: float) -> None:
        """Add a reward to the arm in place ``i``."""
        row = self.rows[i]
        if row["pulls"] == 0:
            row["origin"] = origin_for(reward)
        distance = reward - row["origin"]
        row["pulls"] += 1
        row["total"] += distance
        row["squares"] += distance * distance

    def active(self, i: int) -> bool:
        """Say whether the arm in place ``i`` may be pulled."""
        return bool(self.rows[i]["active"])

    def drop(self, i: int) -> None:
        """Let the arm in place ``i`` be pulled no more."""
        self.rows[i]["active"] = False

    def admit(self, i: int) -> None:
        """Let the arm in place ``i`` be pulled again."""
        self.rows[i]["active"] = True

    def left(self) -> int:
        """Count the arms that may be pulled."""
        total = 0
        for i in range(len(self.rows)):
            if self.rows[i]["active"]:
                total += 1
        return total


@dataclass_transform(frozen_default=True)
class Policy:
    """The base of every policy. A subclass becomes a frozen dataclass of its annotated fields.

    Attributes
    ----------
    moves : {"still", "rising", "falling", "anyhow"}
        How the score of an arm that is not pulled moves while time passes. A true word here is what
        lets the simulator skip work; ``"anyhow"`` (the default) promises nothing and is always right.
    warmup : int
        How often every arm is pulled, in turn, before the first score is asked for.
    final : bool
        Whether an arm that was dropped stays away for good.
    source : str
        Where the rule was published.

    Examples
    --------
    >>> from math import log, sqrt
    >>> import lowregret as lr
    >>> class Mine(lr.Policy):
    ...     width: float = 1.0
    ...     moves = "rising"
    ...     def score(self, arm, clock):
    ...         return arm.mean + self.width * sqrt(log(clock.t) / arm.pulls)
    >>> print(Mine(width=0.5))
    Mine(width=0.5)
    """

    moves: ClassVar[Moves] = "anyhow"
    warmup: ClassVar[int] = 1
    final: ClassVar[bool] = True
    source: ClassVar[str] = ""
    Record: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        """Make the class a frozen dataclass and give it its compiled twin."""
        super().__init_subclass__()
        if cls.moves not in get_args(Moves):
            words = ", ".join(map(repr, get_args(Moves)))
            raise InputError(f"{cls.__name__}: moves must be one of {words}, got {cls.moves!r}")
        dataclass(frozen=True)(cls)
        cls.Record = _twin(cls)

    def __post_init__(self) -> None:
        """Refuse bad parameters at once."""
        for field in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, field.name)
            for kind, abstract, words in (
                (float, Real, "a finite number"),
                (int, Integral, "a whole number"),
            ):
                if _is(field.type, kind):
                    good = isinstance(value, abstract) and not isinstance(value, bool)
                    self.require(field.name, words, good and isfinite(value))
                    object.__setattr__(self, field.name, kind(value))
        self.check()

    def check(self) -> None:
        """Raise where a parameter is out of its range; a policy with such parameters overrides it."""

    def fits(self, clock: Clock) -> None:
        """Raise where the parameters do not fit the horizon or the number of arms."""

    def require(self, field: str, allowed: str, holds: bool) -> None:
        """Raise, naming the field, its value and what is allowed, unless it ``holds``."""
        if not holds:
            value = getattr(self, field)
            shown = _short(value) if isinstance(value, float) else repr(value)
            raise InputError(f"{type(self).__name__}: {field} must be {allowed}, got {shown}")

    @property
    def record(self) -> Any:
        """The compiled twin: the numeric parameters with the same methods."""
        values = {name: getattr(self, name) for name in self.Record._fields if hasattr(self, name)}
        return self.Record(**values)

    def __str__(self) -> str:
        """Name the policy with the parameters that differ from their defaults."""
        changed = [
            f"{field.name}={_short(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
            if getattr(self, field.name) != field.default
        ]
        return type(self).__name__ + (f"({', '.join(changed)})" if changed else "")


def _twin(cls: type[Policy]) -> Any:
    """Build the named tuple that Numba compiles: the numeric fields and the methods of a policy.

    It is found by name as ``Class.Record``, since Numba's disk cache looks it up so.
    """
    numeric = [f.name for f in fields(cls) if any(_is(f.type, t) for t in (float, int, bool))]  # type: ignore[arg-type]
    # Numba miscounts the arguments of a method of an empty tuple, so there is always one field.
    make: Any = namedtuple
    twin = make("Record", numeric or ["unused"], defaults=None if numeric else [0.0], module=cls.__module__)
    twin.__qualname__ = f"{cls.__qualname__}.Record"
    twin.moves = cls.moves
    for base in reversed(cls.__mro__):
        if issubclass(base, Policy) and base is not Policy:
            for name, value in vars(base).items():
                if isinstance(value, FunctionType) and not name.startswith("__"):
                    setattr(twin, name, value)
    return twin


def _is(annotation: Any, kind: type) -> bool:
    return annotation is kind or annotation == kind.__name__


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)

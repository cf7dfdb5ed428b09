"""What a policy is: an immutable record of parameters with plain methods.

A policy says what it wants; the engine does the rest. It defines one of

``score(self, arm, clock)``
    An index policy: the arm with the largest score is pulled.
``sample(self, arm, clock, rng)``
    A sampling policy: the same, with a score drawn anew for every arm at every step.
``belief(self, arm)``
    A sampling policy whose scores are normal: their mean and standard deviation.
``claim(self, arm, clock)``
    A policy of lists: the arms on the list are pulled in turn, and an arm that has a positive claim after any
    pull while it is not waiting on the list is on the next one; if none has, all are. The simulator asks
    fewer arms if it knows ``slope(self, arm, clock)``: a number such that at any later time t' the claim is
    at most claim + log(t' / t) - slope * (best' - best), infinite where there is none.
Nothing, but ``in_turn = True``
    The arms in play take turns: the one with the fewest pulls is next, the first of them where several are.
``begin(self, clock)``, ``score(self, arm, clock, round)`` and ``turn(self, arms, clock, round)``
    A policy with rounds or lists of arms. ``begin`` gives the first round, a ``NamedTuple`` that has
    at least ``number`` and ``until``. At the first step that ends at or after ``round.until``,
    ``turn`` gives the next round, and may drop or admit arms. With ``lower(self, arm, clock, round)``
    an arm also leaves as soon as its score is below the largest ``lower`` of the arms that are left.

Any policy may have ``book(self, reward, rng)``, which gives the reward as it enters the statistics.

The same source is called as Python (the reference, live use) and compiled by Numba (the simulator).
``begin`` alone always runs as Python, once per simulation, so it may do what Numba cannot.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, fields
from math import isfinite, log
from numbers import Integral, Real
from re import sub
from types import FunctionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    dataclass_transform,
    get_args,
)

from lowregret.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Moves = Literal["still", "rising", "falling", "anyhow"]

Need = Literal["horizon", "rewards in [0, 1]", "known variance"]

HOOKS = ("begin", "score", "sample", "belief", "claim", "slope", "lower", "turn", "book")
"""The methods by which the engine asks a policy; all but ``begin`` are compiled."""

NUMBERS = ((float, Real, "a finite number"), (int, Integral, "a whole number"))

NEVER = 2**62
"""A time that never comes, for the ``until`` of a last round."""


class Arm(NamedTuple):
    """What a policy may know of one arm: its number, pulls, mean and population variance."""

    number: int
    pulls: int
    mean: float
    variance: float


class Clock(NamedTuple):
    """The time ``t`` of the pull (the first is 1), the horizon, the number of arms, and what follows.

    ``log_t`` is the logarithm of t, taken once for all arms. ``best`` is the largest mean of all arms for a
    policy that says ``uses_best``, else 0.
    """

    t: int
    horizon: int
    arms: int
    log_t: float
    best: float


def clock_at(t: int, horizon: int, arms: int, best: float) -> Clock:
    """Make the clock of step ``t``."""
    return Clock(t, horizon, arms, log(max(t, 1)), best)


class Random(Protocol):
    """A policy's own random draws."""

    def uniform(self) -> float:
        """Draw from [0, 1)."""

    def normal(self) -> float:
        """Draw from the standard normal law."""

    def beta(self, a: float, b: float) -> float:
        """Draw from a beta law."""

    def student(self, degrees: float) -> float:
        """Draw from Student's law."""

    def coin(self, t: int) -> float:
        """Give the number in [0, 1) that belongs to step ``t``, the same for every arm."""


def mean_of(pulls: int, origin: float, total: float) -> float:
    """Give an arm's mean from the sum of its rewards' distances from ``origin``, the first reward.

    Such a sum stays accurate however far from 0 the rewards are. Of rewards of 0 and 1 it is a whole number,
    and what is written here is then exact up to one division: arms with equal counts tie, in any order.
    """
    if pulls == 0:
        return 0.0
    unit = 1.0 if origin == 1.0 else 0.0  # the first of rewards of 0 and 1 that began with a 1
    return (unit * pulls + total) / pulls + (origin - unit)


def variance_of(pulls: int, total: float, squares: float) -> float:
    """Give an arm's population variance from the sums of those distances and of their squares."""
    if pulls == 0:
        return 0.0
    share = 1.0 / pulls  # known before the reward is, so that the processor does not wait for this division
    return max((pulls * squares - total * total) * (share * share), 0.0)


class Arms(NamedTuple):
    """All arms, one row each, in the order in which ties are broken.

    A row has at least ``number``, ``pulls``, ``forgotten`` (how many of those pulls no longer count),
    ``origin``, ``total``, ``squares``, ``mean``, ``active`` and ``marked``.
    """

    rows: npt.NDArray[np.void]

    def at(self, i: int) -> Arm:
        """Give the arm in place ``i``."""
        row = self.rows[i]
        pulls = int(row["pulls"]) - int(row["forgotten"])
        variance = variance_of(pulls, float(row["total"]), float(row["squares"]))
        return Arm(int(row["number"]), pulls, float(row["mean"]), variance)

    def observe(self, i: int, reward: float) -> None:
        """Add a reward to the arm in place ``i``."""
        row = self.rows[i]
        if row["pulls"] == row["forgotten"]:
            row["origin"] = reward
        distance = reward - row["origin"]
        row["pulls"] += 1
        row["total"] += distance
        row["squares"] += distance * distance
        row["mean"] = mean_of(row["pulls"] - row["forgotten"], row["origin"], row["total"])

    def active(self, i: int) -> bool:
        """Say whether the arm in place ``i`` may be pulled."""
        return bool(self.rows[i]["active"])

    def drop(self, i: int) -> None:
        """Let the arm in place ``i`` be pulled no more."""
        self.rows[i]["active"] = False

    def admit(self, i: int) -> None:
        """Let the arm in place ``i`` be pulled again."""
        self.rows[i]["active"] = True

    def forget(self, i: int) -> None:
        """Start the statistics of the arm in place ``i`` anew."""
        row = self.rows[i]
        row["forgotten"] = row["pulls"]
        row["total"], row["squares"], row["mean"] = 0.0, 0.0, 0.0

    def mark(self, i: int, marked: bool) -> None:
        """Put a mark on the arm in place ``i``, or take it away, for the policy's own use."""
        self.rows[i]["marked"] = marked

    def marked(self, i: int) -> bool:
        """Say whether the arm in place ``i`` has a mark."""
        return bool(self.rows[i]["marked"])

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
    learns : bool
        Whether it means to find the best arm; the baselines do not.
    in_turn : bool
        Whether the arms in play take turns; such a policy has no score.
    uses_best : bool
        Whether a score looks at ``clock.best``, the largest mean of all arms. Unless ``moves`` is
        ``"anyhow"``, such a score must not rise with it.
    needs : tuple of str
        What the rule takes for granted: ``"horizon"``, ``"rewards in [0, 1]"``, ``"known variance"``.
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
    learns: ClassVar[bool] = True
    in_turn: ClassVar[bool] = False
    uses_best: ClassVar[bool] = False
    needs: ClassVar[tuple[Need, ...]] = ()
    source: ClassVar[str] = ""
    Record: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        """Make the class a frozen dataclass and give it its compiled twin."""
        super().__init_subclass__()
        _check_class(cls)
        dataclass(frozen=True)(cls)
        cls.Record = _twin(cls)

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Refuse to make a policy of no class."""
        if cls is Policy:
            raise InputError("Policy is the base of policies: write a class of your own, or use one of ours")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Refuse bad parameters at once."""
        for field in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, field.name)
            kinds = [part.strip() for part in _written(field.type).split("|")]
            if value is None and "None" in kinds:
                continue
            for kind, abstract, words in NUMBERS:
                if kind.__name__ in kinds:
                    good = isinstance(value, abstract) and not isinstance(value, bool)
                    self.require(field.name, words, good and _finite(value))
                    object.__setattr__(self, field.name, kind(value))
        self.check()

    def check(self) -> None:
        """Raise where a parameter is out of its range; a policy with such parameters overrides it."""

    def fits(self, clock: Clock) -> None:
        """Raise where the parameters do not fit the horizon or the number of arms."""

    def opens(self, number: int) -> bool:
        """Say whether the arm of this number is in play from the start."""
        return True

    def require(self, field: str, allowed: str, holds: bool) -> None:
        """Raise, naming the field, its value and what is allowed, unless it ``holds``."""
        if not holds:
            value = getattr(self, field)
            raise InputError(f"{type(self).__name__}: {field} must be {allowed}, got {_short(value)}")

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
    numeric = [f.name for f in fields(cls) if _written(f.type) in ("float", "int", "bool")]  # type: ignore[arg-type]
    # Numba miscounts the arguments of a method of an empty tuple, so there is always one field.
    make: Any = namedtuple
    # Numba names machine code after the types it is for, so two classes must never share a name: code from
    # the disk cache and code compiled in this process would be taken for one another.
    name = sub(r"\W", "_", f"{cls.__module__}.{cls.__qualname__}")
    twin = make(name, numeric or ["unused"], defaults=None if numeric else [0.0], module=cls.__module__)
    twin.__qualname__ = f"{cls.__qualname__}.Record"
    twin.moves, twin.uses_best, twin.in_turn = cls.moves, cls.uses_best, cls.in_turn
    for base in reversed(cls.__mro__):
        if issubclass(base, Policy) and base is not Policy:
            for name, value in vars(base).items():
                if isinstance(value, FunctionType) and not name.startswith("__"):
                    setattr(twin, name, value)
    return twin


def _check_class(cls: type[Policy]) -> None:
    """Refuse facts about a class that the engine could not work with."""
    reserved = sorted(
        {*HOOKS, "check", "fits", "opens", "require", "record"} & set(vars(cls).get("__annotations__", {}))
    )
    whole = isinstance(cls.warmup, int) and not isinstance(cls.warmup, bool) and cls.warmup >= 0
    words = ", ".join(map(repr, get_args(Moves)))
    ways = [name for name in ("score", "sample", "belief", "claim", "in_turn") if getattr(cls, name, False)]
    rounds = [name for name in ("begin", "lower", "turn") if getattr(cls, name, False)]
    alone = [name for name in ("belief", "claim") if name in ways and rounds]
    for holds, problem in (
        (cls.moves in get_args(Moves), f"moves must be one of {words}, got {cls.moves!r}"),
        (whole, f"warmup must be a whole number of at least 0, got {cls.warmup!r}"),
        (isinstance(cls.final, bool), f"final must be True or False, got {cls.final!r}"),
        (isinstance(cls.in_turn, bool), f"in_turn must be True or False, got {cls.in_turn!r}"),
        (len(ways) < 2, f"a policy has one of {' and '.join(ways)}, not both"),
        (not alone, f"a policy with {''.join(alone)} has no {''.join(rounds[:1])}"),
        (not reserved, f"a parameter cannot be called {reserved[0] if reserved else ''}: that is a method"),
    ):
        if not holds:
            raise InputError(f"{cls.__name__}: {problem}")


def _written(annotation: Any) -> str:
    """Give an annotation as it is written in the source."""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _finite(value: Any) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def _short(value: Any) -> str:
    return repr(value).removesuffix(".0")

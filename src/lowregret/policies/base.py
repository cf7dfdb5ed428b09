"""The policy protocol: an immutable set of parameters with plain methods.

A policy states how it compares arms, by exactly one of

``score(self, arm, clock)``
    An index policy: the arm with the largest score is pulled.
``sample(self, arm, clock, rng)``
    A sampling policy: the same, with a score that is drawn anew for every arm at every step.
``normal_posterior(self, arm)``
    A sampling policy whose scores are normal: return their mean and standard deviation.
``beta_posterior(self, arm)``
    A sampling policy whose scores have a beta distribution: return its two parameters, at least 1.
``list_index(self, arm, clock)``
    A policy that plays lists of arms. The arms on the list are pulled in turn. An arm that has a positive
    index after any pull, while it is not on the list, is on the next one; if none has, all arms are.
``duel(self, one, other, clock, rng)``
    A policy that compares two arms at a time: return whether ``one`` wins. At every step the arms are put in
    random order and play a knock-out tournament, in which each half of the arms has a winner of its own.
``round_robin = True``
    No method: the active arm with the fewest pulls is next, the first of them in case of a tie.

The other methods have defaults; a policy overrides those it needs.

``first_round(self, clock)`` and ``next_round(self, arms, clock, round)``
    Rounds. ``first_round`` returns a ``NamedTuple`` of numbers with at least ``number`` and ``until``. After
    the first step at or after ``round.until``, ``next_round`` returns the following round and may eliminate
    or reactivate arms. ``score`` then takes the round as a third argument.
``lower_bound(self, arm, clock, round)``
    After every pull, an active arm whose score is below the largest ``lower_bound`` is eliminated.
``transform_reward(self, reward, rng)``
    Return the reward as it enters the statistics.
``Memory`` and ``update_memory(self, arm, reward, clock)``
    Statistics of the policy's own for each arm: a ``NamedTuple`` of numbers with defaults. ``arm.memory`` is
    its value, and ``update_memory`` returns the value after a reward.
``list_index_slope(self, arm, clock)``
    A number such that at any later time t' the list index is at most
    index + log(t' / t) - slope * (best' - best), infinite if there is none. The simulator then evaluates
    fewer arms.
``propensities(self, arms, clock)``
    The probability of each arm, for a policy with ``sample`` that can state it; for one with a posterior it
    is computed. ``arms`` is an ``Arm`` of arrays, one entry for each arm that may be
    chosen; a tie goes to the first entry.

The same source runs as Python (the reference engine, live use) and compiled by Numba (the simulator).
``first_round``, ``initially_active``, ``propensities`` and the ``validate`` methods always run as Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from html import escape
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self, dataclass_transform, get_args

from lowregret.errors import InputError
from lowregret.policies.annotations import literal_values, parameters_of
from lowregret.policies.arm_memory import memory_methods
from lowregret.policies.comparisons import index_method
from lowregret.policies.posterior_propensities import posterior_propensities
from lowregret.policies.views import NEVER, Arm, Arms, Clock, Random

IndexTrend = Literal["constant", "increasing", "decreasing", "arbitrary"]

Need = Literal["horizon", "rewards in [0, 1]", "bounded rewards", "known variance"]

DEPENDENCIES = ((), ("pulls", "mean"), ("pulls", "mean", "variance"))
"""What ``index_depends_on`` may be."""

POSTERIORS = ("normal_posterior", "beta_posterior")
COMPARISONS = ("score", "sample", *POSTERIORS, "list_index", "duel", "round_robin")
"""How a policy compares arms; each policy has one of them."""

NUMBERS = ((float, Real, "a finite number"), (int, Integral, "an integer"))


class NoRound(NamedTuple):
    """The only round of a policy without rounds."""

    number: int
    until: int


@dataclass_transform(frozen_default=True)
class Policy:
    """The base of every policy. A subclass becomes a frozen dataclass of its annotated fields.

    Attributes
    ----------
    index_trend : {"constant", "increasing", "decreasing", "arbitrary"}
        How the score of an arm that is not pulled changes with time. A correct value lets the simulator
        evaluate fewer arms; ``"arbitrary"`` (the default) promises nothing and is always correct.
    index_depends_on : tuple of str
        On which statistics of an arm its score depends, besides the clock: ``("pulls", "mean")`` or
        ``("pulls", "mean", "variance")``. The score must not decrease as the mean or the variance increases
        while all else stays. The simulator then compares one arm of each number of pulls, not all arms;
        empty (the default) promises nothing. A class that defines ``score`` states it again.
    separable_width : bool
        Whether the score is the mean of the arm plus a width that is a function of its pulls times a function
        of the time. The simulator then compares few arms by one multiplication each. It needs
        ``index_depends_on = ("pulls", "mean")``, and is stated again by a class that defines ``score``.
    warmup : int
        How often every arm is pulled, in turn, before the first score is computed.
    eliminates_permanently : bool
        Whether an eliminated arm never becomes active again.
    learns : bool
        Whether the policy tries to find the best arm; the baselines do not.
    round_robin : bool
        Whether the active arms are pulled in turn; such a policy has no score.
    counts_pending : bool
        Whether a live agent shows the policy pulls whose reward is pending as pulls of their arm, at its
        current mean. By default False for a policy with ``sample``, a posterior or ``duel``, which would take
        them for evidence, and True for all others, whose decisions would otherwise be equal until a reward
        arrives.
    slow_propensities : bool
        Whether ``propensities`` takes so long that an agent in memory leaves it out unless it is wanted.
    uses_arms : bool
        Whether a score depends on other arms, which are then ``arm.arms``: ``arm.arms.at(i)`` for ``i`` in
        ``range(clock.arms)``. ``index_trend`` then says how a score changes as other arms are pulled.
    uses_rewards : bool
        Whether the policy looks at all rewards of an arm, which are then ``arm.rewards``, an array. The
        simulator then evaluates all arms at every step.
    uses_times : bool
        Whether ``arm.rewards`` has two columns, the reward and the step at which it became known.
    uses_best : bool
        Whether a score depends on ``clock.best``, the largest mean of all arms. Unless ``index_trend`` is
        ``"arbitrary"``, such a score must not increase with it.
    needs : tuple of str
        What the policy assumes: ``"horizon"``, ``"rewards in [0, 1]"``, ``"bounded rewards"``, ``"known
        variance"``. Other rewards than those in [0, 1] are refused; rewards beyond the bounds, [0, b] for a
        policy with a parameter ``b`` and else [0, 1], are noted in the results.
    source : str
        The publication of the policy.

    Examples
    --------
    >>> from math import log, sqrt
    >>> import lowregret as lr
    >>> class Mine(lr.Policy):
    ...     width: float = 1.0
    ...     index_trend = "increasing"
    ...     def score(self, arm, clock):
    ...         return arm.mean + self.width * sqrt(log(clock.t) / arm.pulls)
    >>> print(Mine(width=0.5))
    Mine(width=0.5)
    """

    index_trend: ClassVar[IndexTrend] = "arbitrary"
    index_depends_on: ClassVar[tuple[str, ...]] = ()
    separable_width: ClassVar[bool] = False
    warmup: ClassVar[int] = 1
    eliminates_permanently: ClassVar[bool] = True
    learns: ClassVar[bool] = True
    round_robin: ClassVar[bool] = False
    counts_pending: ClassVar[bool] = True
    slow_propensities: ClassVar[bool] = False
    uses_arms: ClassVar[bool] = False
    uses_best: ClassVar[bool] = False
    uses_rewards: ClassVar[bool] = False
    uses_times: ClassVar[bool] = False
    needs: ClassVar[tuple[Need, ...]] = ()
    source: ClassVar[str] = ""
    Memory: ClassVar[Any] = None
    view_arms: ClassVar[Any]
    view_rewards: ClassVar[Any]
    read_memory: ClassVar[Any]
    write_memory: ClassVar[Any]
    initial_memory: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        """Validate the class, make it a frozen dataclass and select how it compares arms."""
        super().__init_subclass__()
        if "score" in vars(cls):
            for claim in ("index_depends_on", "separable_width"):
                if claim not in vars(cls) and getattr(cls, claim) != getattr(Policy, claim):
                    setattr(cls, claim, getattr(Policy, claim))
        _validate_class(cls)
        dataclass(frozen=True)(cls)
        if not any("counts_pending" in vars(base) for base in cls.__mro__ if base is not Policy):
            cls.counts_pending = not is_randomized(cls)
        cls.arm_index = index_method(cls)  # type: ignore[method-assign]
        cls.view_arms = _all_arms if cls.uses_arms else _no_arms
        cls.view_rewards = _all_rewards if cls.uses_rewards else _no_rewards
        for name, method in memory_methods(cls.Memory, cls.__name__).items():
            setattr(cls, name, method)

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Refuse to instantiate the base class."""
        if cls is Policy:
            raise InputError(
                "Policy is the base class of policies: derive a class from it, or use one of ours"
            )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Validate the parameters."""
        for name, (types, rules) in parameters_of(type(self)).items():
            value, values = getattr(self, name), literal_values(types)
            if value is None and None in types:
                continue
            if values:
                self.require(name, _alternatives(values), any(value is v or value == v for v in values))
            elif bool in types:
                self.require(name, "True or False", isinstance(value, bool))
            for kind, abstract, words in NUMBERS:
                if kind in types:
                    good = isinstance(value, abstract) and not isinstance(value, bool)
                    self.require(name, words, good and _finite(value))
                    fits = kind is float or -(2**63) <= value < 2**63
                    self.require(name, "an integer from -2^63 to 2^63 - 1", fits)
                    object.__setattr__(self, name, kind(value))
            for rule in rules:
                self.require(name, rule.words, rule.holds(getattr(self, name)))
        self.validate()

    def validate(self) -> None:
        """Raise ``InputError`` if a parameter is out of range."""

    def validate_problem(self, clock: Clock) -> None:
        """Raise ``InputError`` if the parameters do not fit the horizon or the number of arms."""

    def initially_active(self, number: int) -> bool:
        """Return whether the arm of this number is active from the start."""
        return True

    def first_round(self, clock: Clock) -> Any:
        """Return the first round; this one never ends."""
        return NoRound(0, NEVER)

    def next_round(self, arms: Arms, clock: Clock, round: Any) -> Any:
        """Return the round after ``round``."""
        return round

    def lower_bound(self, arm: Arm, clock: Clock, round: Any) -> float:
        """Return the value below which the score of another arm eliminates it."""
        return -inf

    def transform_reward(self, reward: float, rng: Random) -> float:
        """Return the reward as it enters the statistics."""
        return reward

    def list_index_slope(self, arm: Arm, clock: Clock) -> float:
        """Return the slope of a bound on the list index, infinite if there is none."""
        return inf

    def update_memory(self, arm: Arm, reward: float, clock: Clock) -> Any:
        """Return the memory of an arm after a reward; ``arm`` is the arm before it."""
        return arm.memory

    def propensities(self, arms: Arm, clock: Clock) -> Any:
        """Return the probability of each arm, None if the policy does not state it."""
        return posterior_propensities(self, arms) if samples_posteriors(type(self)) else None

    def arm_index(self, arm: Arm, clock: Clock, round: Any, rng: Random) -> float:
        """Return the number by which arms are compared; each class has its own."""
        raise NotImplementedError

    def require(self, field: str, allowed: str, holds: bool) -> None:
        """Raise ``InputError``, naming the field, its value and what is allowed, unless it ``holds``."""
        if not holds:
            value = getattr(self, field)
            raise InputError(f"{type(self).__name__}: {field} must be {allowed}, got {_short(value)}")

    @classmethod
    def overrides(cls, method: str) -> bool:
        """Return whether the class defines a method that the base has not, or has a default for."""
        return getattr(cls, method, None) is not getattr(Policy, method, None)

    def __str__(self) -> str:
        """Name the policy with the parameters that differ from their defaults."""
        return label_of(self)

    def _repr_html_(self) -> str:
        """Return the name, the source and the parameters as HTML, for notebooks."""
        rows = "".join(
            f"<tr><td>{field.name}</td><td>{escape(_short(getattr(self, field.name)))}</td></tr>"
            for field in fields_of(self)
        )
        source = f": {escape(self.source)}" if self.source else ""
        return f"<p><b>{escape(str(self))}</b>{source}</p>" + (f"<table>{rows}</table>" if rows else "")


def is_randomized(kind: type[Policy]) -> bool:
    """Return whether the choices of a class of policies are random."""
    return any(map(kind.overrides, ("sample", *POSTERIORS, "duel")))


def samples_posteriors(kind: type[Policy]) -> bool:
    """Return whether a class of policies states the distributions of its samples."""
    return any(map(kind.overrides, POSTERIORS))


def label_of(policy: Policy, named: Iterable[str] = ()) -> str:
    """Return the name of a policy with the parameters that differ from their defaults, and some others."""
    always = set(named)
    shown = [
        f"{field.name}={_short(getattr(policy, field.name))}"
        for field in fields_of(policy)
        if field.name in always or getattr(policy, field.name) != field.default
    ]
    return type(policy).__name__ + (f"({', '.join(shown)})" if shown else "")


def fields_of(policy: Policy | type[Policy]) -> tuple[Any, ...]:
    """Return the parameters of a policy or of a class of policies as dataclass fields."""
    return fields(policy)  # type: ignore[arg-type]  # __init_subclass__ makes every policy a dataclass


def _all_arms(self: Any, rows: Any, rewards: Any) -> Arms:
    return Arms(self, rows, rewards)


def _no_arms(self: Any, rows: Any, rewards: Any) -> None:
    return None


def _all_rewards(self: Any, row: Any, rewards: Any) -> tuple[Any]:
    # in a tuple, because code that counts no references may return no other array than one it was given
    return (rewards[int(row["number"]), int(row["reset"]) : int(row["pulls"])],)


def _no_rewards(self: Any, row: Any, rewards: Any) -> tuple[None]:
    return (None,)


def numeric_fields(cls: type[Policy]) -> dict[str, type]:
    """Return the parameters of a class of policies that compiled code can read, and their types.

    A parameter that may be None or a string is visible only to the methods that run as Python.
    """
    found = {name: types[0] for name, (types, _) in parameters_of(cls).items() if len(types) == 1}
    return {name: kind for name, kind in found.items() if kind in (float, int, bool)}


def _validate_class(cls: type[Policy]) -> None:
    """Refuse class attributes that the engine could not work with."""
    methods = {name for name in vars(Policy) if not name.startswith("__") and callable(getattr(Policy, name))}
    annotated = set(vars(cls).get("__annotations__", {}))
    reserved = sorted((methods | {*COMPARISONS, "Memory"}) & annotated)
    integer = isinstance(cls.warmup, int) and not isinstance(cls.warmup, bool) and cls.warmup >= 0
    trends = ", ".join(map(repr, get_args(IndexTrend)))
    dependencies = ", ".join(map(repr, DEPENDENCIES))
    ways = [name for name in COMPARISONS if getattr(cls, name, False)]
    rounds = [name for name in ("first_round", "lower_bound", "next_round") if cls.overrides(name)]
    alone = [name for name in (*POSTERIORS, "list_index", "duel") if name in ways and rounds]
    flags = [
        (isinstance(getattr(cls, flag), bool), f"{flag} must be True or False, got {getattr(cls, flag)!r}")
        for flag in (name for name, value in vars(Policy).items() if isinstance(value, bool))
    ]
    for holds, problem in (
        (
            cls.index_trend in get_args(IndexTrend),
            f"index_trend must be one of {trends}, got {cls.index_trend!r}",
        ),
        (cls.uses_rewards or not cls.uses_times, "uses_times needs uses_rewards = True"),
        (
            cls.index_depends_on in DEPENDENCIES,
            f"index_depends_on must be one of {dependencies}, got {cls.index_depends_on!r}",
        ),
        (
            not cls.separable_width or cls.index_depends_on == DEPENDENCIES[1],
            f"separable_width needs index_depends_on = {DEPENDENCIES[1]}, got {cls.index_depends_on!r}",
        ),
        (integer, f"warmup must be an integer of at least 0, got {cls.warmup!r}"),
        *flags,
        (len(ways) < 2, f"a policy has one of {' and '.join(ways)}, not both"),
        (not alone, f"a policy with {''.join(alone)} has no {''.join(rounds[:1])}"),
        (not reserved, f"a parameter cannot be called {reserved[0] if reserved else ''}: that is a method"),
    ):
        if not holds:
            raise InputError(f"{cls.__name__}: {problem}")


def _alternatives(values: tuple[Any, ...]) -> str:
    """Write allowed values as ``'a', 'b' or 'c'``."""
    *first, last = map(repr, values)
    return f"{', '.join(first)} or {last}" if first else last


def _finite(value: Any) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def _short(value: Any) -> str:
    return repr(value).removesuffix(".0")

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
``choose(self, arms, clock, rng)``
    A policy that looks at all arms at once: return the place of the arm to pull, from 0 to ``clock.arms -
    1``. What it writes by ``arms.set_memory`` serves this one call.
``round_robin = True``
    No method: the active arm with the fewest pulls is next, the first of them in case of a tie.

The other methods of `Policy` have defaults; a policy overrides those it needs.

The same source runs as Python (the reference engine, live use) and compiled by Numba (the simulator).
``first_round``, ``initially_active``, ``propensities`` and the ``validate`` methods always run as Python.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable
from dataclasses import dataclass, fields
from html import escape
from inspect import Parameter, Signature, currentframe, signature
from math import isfinite
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, dataclass_transform

from lowregret._common.other_names import POLICY, answers
from lowregret._common.text import unknown_name_message
from lowregret.errors import InputError
from lowregret.policies.annotations import literal_values, parameters_of
from lowregret.policies.arm_memory import memory_methods
from lowregret.policies.class_validation import IndexTrend as IndexTrend
from lowregret.policies.class_validation import validate_class
from lowregret.policies.comparisons import index_method
from lowregret.policies.optional_methods import NoRound as NoRound
from lowregret.policies.optional_methods import OptionalMethods
from lowregret.policies.optional_methods import is_randomized as is_randomized
from lowregret.policies.optional_methods import samples_posteriors as samples_posteriors
from lowregret.policies.optional_methods import states_posteriors as states_posteriors
from lowregret.policies.optional_methods import takes_rng as takes_rng
from lowregret.policies.views import Arms

Need = Literal["horizon", "rewards in [0, 1]", "bounded rewards", "known variance"]

NUMBER_TYPES = ((float, Real, "a finite number"), (int, Integral, "an integer"))


class PolicyClass(ABCMeta):
    """The class of `Policy` and of its subclasses: it says what ``help`` and Tab show of them.

    All policies share some fifty methods and attributes, which ``help(lr.Policy)`` explains. Repeated for
    every policy, they would hide the ten lines that are about this one. It derives from ``ABCMeta``, so that
    a policy may have an abstract base class as well.
    """

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], /, **options: Any
    ) -> PolicyClass:
        """Make a class. One made by ``type(name, bases, namespace)`` belongs to the module of that call.

        Python would take the module of ``ABCMeta`` for it. The engine compiles a class of such a module only
        once for each name, since nobody changes a class of Python itself.
        """
        here = currentframe()
        call = here.f_back if here else None
        module = call.f_globals.get("__name__", "builtins") if call else "builtins"
        return super().__new__(cls, name, bases, {"__module__": module, **namespace}, **options)

    def __dir__(cls) -> list[str]:
        """Return the names of a policy that `Policy` does not have, and all names of `Policy` itself."""
        names = list(type.__dir__(cls))
        if cls is Policy:
            return names
        shared = {*type.__dir__(Policy), *Policy.__annotations__}
        return [name for name in names if name not in shared and not name.startswith("__")]

    @property
    def __signature__(cls) -> Signature:
        """Return the parameters and their defaults; their annotations are rules, which help nobody here."""
        if cls is Policy:
            raise AttributeError("__signature__")
        made = signature(cls.__init__)  # type: ignore[misc]  # that of the dataclass
        _, *parameters = made.parameters.values()
        return Signature([parameter.replace(annotation=Parameter.empty) for parameter in parameters])


@dataclass_transform(frozen_default=True)
@answers("a policy", POLICY)
class Policy(OptionalMethods, metaclass=PolicyClass):
    """The base of every policy. A subclass becomes a frozen dataclass of its annotated fields.

    Attributes
    ----------
    index_trend : {"constant", "increasing", "decreasing", "arbitrary"}
        How the score of an arm that is not pulled changes with time. A correct value lets the simulator
        evaluate fewer arms; ``"arbitrary"`` (the default) assumes nothing and is always correct.
    index_depends_on : tuple of str
        On which statistics of an arm its score depends, besides the clock: ``("pulls", "mean")`` or
        ``("pulls", "mean", "variance")``. The score must not decrease as the mean or the variance increases
        while all else stays. The simulator then compares one arm of each number of pulls, not all arms;
        empty (the default) assumes nothing. A class that defines ``score`` states it again.
    separable_width : bool
        Whether the score is the mean of the arm plus a width that is a function of its pulls times a function
        of the time. The simulator then compares few arms by one multiplication each. It needs
        ``index_depends_on = ("pulls", "mean")``, and is stated again by a class that defines ``score``.
    warmup : int
        How often every arm is pulled, in turn, before the first score is computed.
    eliminates_permanently : bool
        Whether an eliminated arm never becomes active again.
    rounds_eliminate : bool
        Whether ``next_round`` may eliminate arms, make them active again or clear their statistics. False for
        rounds that only compute numbers anew, which the simulator then plays faster.
    learns : bool
        Whether the policy tries to find the best arm; the baselines do not.
    identifies : bool
        Whether the policy is made to find the best arm, or the arms above a threshold, whatever it loses
        meanwhile. Leagues of regret leave it out.
    round_robin : bool
        Whether the active arms are pulled in turn; such a policy has no score.
    counts_pending : bool
        Whether a live agent shows the policy pulls whose reward is pending as pulls of their arm, at its
        current mean. By default False for a policy with ``sample``, a posterior, ``duel`` or ``choose``,
        which would take them for evidence, and True for all others, whose decisions would otherwise be equal
        until a reward arrives.
    slow_propensities : bool
        Whether ``propensities`` takes so long that an agent in memory computes it only if asked to.
    top_two : bool
        Whether the arm with the largest sample is pulled with the probability ``leader_share``, a parameter,
        alone. Else the pull is one of the arm that has the largest sample when, after sampling all of them
        again and again, this is another one. The policy has a posterior.
    uses_arms : bool
        Whether a score depends on other arms, which are then ``arm.arms``: ``arm.arms.at(i)`` for ``i`` in
        ``range(clock.arms)``. ``index_trend`` then says how a score changes as other arms are pulled.
    uses_rewards : bool
        Whether the policy looks at all rewards of an arm, which are then ``arm.rewards``, an array. The
        simulator then evaluates all arms at every step.
    uses_times : bool
        Whether ``arm.rewards`` has two columns, the reward and the step at which it became known.
    uses_totals : bool
        Whether ``arm.rewards`` has two columns, the reward and the sum of the rewards up to it, nan from the
        first reward that is not an integer. The sum of a block of rewards is then a difference.
    takes_prior : bool
        Whether rewards that no pull earned, those of a prior, may count in the statistics of an arm.
    uses_best : bool
        Whether a score depends on ``clock.best``, the largest mean of all arms. Unless ``index_trend`` is
        ``"arbitrary"``, such a score must not increase with it.
    family : str, optional
        The reward family whose likelihood or divergence the index or the posterior uses, such as
        ``"Bernoulli"``; None (the default) if it uses none. The league shows it.
    needs : tuple of str
        What the policy assumes: ``"horizon"``, ``"rewards in [0, 1]"``, ``"bounded rewards"``, ``"known
        variance"``. Other rewards than those in [0, 1] are refused; rewards beyond the bounds, [0, b] for a
        policy with a parameter ``b`` and else [0, 1], are noted in the results.
    source : str
        The publication of the policy.

    Examples
    --------
    >>> from math import log, sqrt
    >>> class Mine(lr.Policy):
    ...     width: float = 1.0
    ...     index_trend = "increasing"
    ...     def validate(self):
    ...         self.require("width", "positive", self.width > 0)
    ...     def score(self, arm, clock):
    ...         return arm.mean + self.width * sqrt(log(clock.t) / arm.pulls)
    >>> print(Mine(width=0.5))
    Mine(width=0.5)
    >>> Mine(width=-1)
    Traceback (most recent call last):
    lowregret.errors.InputError: Mine: width must be positive, got -1
    >>> arm, clock = lr.Arm(0, 4, 0.5, 0.25), lr.Clock(t=55, horizon=100, arms=2, log_t=log(55), best=0.0)
    >>> round(Mine().arm_index(arm, clock, None, None), 3)
    1.501
    >>> Mine.overrides("validate"), Mine.overrides("lower_bound")
    (True, False)
    """

    index_trend: ClassVar[IndexTrend] = "arbitrary"
    index_depends_on: ClassVar[tuple[str, ...]] = ()
    separable_width: ClassVar[bool] = False
    warmup: ClassVar[int] = 1
    eliminates_permanently: ClassVar[bool] = True
    rounds_eliminate: ClassVar[bool] = True
    learns: ClassVar[bool] = True
    identifies: ClassVar[bool] = False
    round_robin: ClassVar[bool] = False
    counts_pending: ClassVar[bool] = True
    slow_propensities: ClassVar[bool] = False
    top_two: ClassVar[bool] = False
    uses_arms: ClassVar[bool] = False
    uses_best: ClassVar[bool] = False
    uses_rewards: ClassVar[bool] = False
    uses_times: ClassVar[bool] = False
    uses_totals: ClassVar[bool] = False
    takes_prior: ClassVar[bool] = True
    family: ClassVar[str | None] = None
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
        validate_class(cls, Policy)
        dataclass(frozen=True)(cls)
        if not any("counts_pending" in vars(base) for base in cls.__mro__ if base is not Policy):
            cls.counts_pending = not is_randomized(cls)
        cls.arm_index = index_method(cls)  # type: ignore[method-assign]
        cls.view_arms = _all_arms if cls.uses_arms else _no_arms
        cls.view_rewards = _all_rewards if cls.uses_rewards else _no_rewards
        for name, method in memory_methods(cls.Memory, cls.__name__).items():
            setattr(cls, name, method)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Refuse to instantiate the base class, and unknown parameters."""
        if cls is Policy:
            raise InputError(
                "Policy is the base class of policies: derive a class from it, or use one of ours"
            )
        names = [field.name for field in fields_of(cls)]
        if args and len(args) >= len(signature(cls.__init__).parameters):
            raise InputError(f"{cls.__name__}: too many parameters: it takes {', '.join(names) or 'none'}")
        for name in kwargs.keys() - set(names):
            if name not in signature(cls.__init__).parameters:
                takes = f"it takes {', '.join(names) or 'none'}"
                if name in vars(cls) and not callable(value := vars(cls)[name]):
                    kind = type(value).__name__
                    takes = f"annotate it in the class, as in {name}: {kind} = {value!r}"
                    raise InputError(f"{cls.__name__}: {name!r} is no parameter: {takes}")
                raise InputError(f"{cls.__name__}: {unknown_name_message('parameter', name, names, takes)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, (types, rules) in parameters_of(type(self)).items():
            value, values = getattr(self, name), literal_values(types)
            if value is None and None in types:
                continue
            if values:
                self.require(name, _listed_values(values), any(value is v or value == v for v in values))
            elif bool in types:
                self.require(name, "True or False", isinstance(value, bool))
            for kind, abstract, words in NUMBER_TYPES:
                if kind in types:
                    good = isinstance(value, abstract) and not isinstance(value, bool)
                    self.require(name, words, good and _is_finite(value))
                    fits = kind is float or -(2**63) <= value < 2**63
                    self.require(name, "an integer from -2^63 to 2^63 - 1", fits)
                    object.__setattr__(self, name, kind(value))
            for rule in rules:
                self.require(name, rule.words, rule.holds(getattr(self, name)))
        self.validate()

    def validate(self) -> None:
        """Raise ``InputError`` if a parameter is out of range."""

    def require(self, field: str, allowed: str, holds: bool) -> None:
        """Raise ``InputError``, naming a parameter, its value and what is allowed, unless a condition holds.

        Parameters
        ----------
        field : str
            The name of the parameter.
        allowed : str
            What is allowed, such as ``"positive"``.
        holds : bool
            The condition.
        """
        if not holds:
            value = getattr(self, field)
            raise InputError(f"{type(self).__name__}: {field} must be {allowed}, got {_short(value)}")

    @classmethod
    def overrides(cls, method: str) -> bool:
        """Return whether the class defines a method that `Policy` lacks, or has a default for.

        Parameters
        ----------
        method : str
            The name of the method.

        Returns
        -------
        bool
            False for a method that is inherited from `Policy`, or that does not exist.
        """
        return getattr(cls, method, None) is not getattr(Policy, method, None)

    def __str__(self) -> str:
        return label_of(self)

    def _repr_html_(self) -> str:
        """Return the name, the source and the parameters as HTML, for notebooks."""
        rows = "".join(
            f"<tr><td>{field.name}</td><td>{escape(_short(getattr(self, field.name)))}</td></tr>"
            for field in fields_of(self)
        )
        source = f": {escape(self.source)}" if self.source else ""
        return f"<p><b>{escape(str(self))}</b>{source}</p>" + (f"<table>{rows}</table>" if rows else "")


def label_of(policy: Policy, named: Iterable[str] = ()) -> str:
    """Return the name of a policy with the parameters that differ from their defaults, and some others."""
    always = set(named)
    parameters = [
        f"{field.name}={_short(getattr(policy, field.name))}"
        for field in fields_of(policy)
        if field.name in always or getattr(policy, field.name) != field.default
    ]
    return type(policy).__name__ + (f"({', '.join(parameters)})" if parameters else "")


def fields_of(policy: Policy | type[Policy]) -> tuple[Any, ...]:
    """Return the parameters of a policy or of a class of policies as dataclass fields."""
    return fields(policy)  # type: ignore[arg-type]  # __init_subclass__ makes every policy a dataclass


def _all_arms(self: Any, table: Any) -> Arms:
    return Arms(self, table)


def _no_arms(self: Any, table: Any) -> None:
    return None


def _all_rewards(self: Any, row: Any, rewards: Any) -> tuple[Any]:
    # in a tuple, because code that counts no references may return no other array than one it was given
    if rewards is None:  # while a prior is added to the table of arms
        return (None,)
    last = int(row["prior"]) + int(row["pulls"])
    return (rewards[int(row["number"]), int(row["forgotten"]) : last],)


def _no_rewards(self: Any, row: Any, rewards: Any) -> tuple[None]:
    return (None,)


def numeric_fields(cls: type[Policy]) -> dict[str, type]:
    """Return the parameters of a class of policies that compiled code can read, and their types."""
    single = {name: types[0] for name, (types, _) in parameters_of(cls).items() if len(types) == 1}
    return {name: kind for name, kind in single.items() if kind in (float, int, bool)}


def _listed_values(values: tuple[Any, ...]) -> str:
    """Write allowed values as ``'a', 'b' or 'c'``."""
    *first, last = map(repr, values)
    return f"{', '.join(first)} or {last}" if first else last


def _is_finite(value: Any) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def _short(value: Any) -> str:
    return repr(value).removesuffix(".0")

"""What a class of policies must satisfy, checked when the class is made."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Literal, get_args

from lowregret._common.bytecode import operations, place_of
from lowregret.errors import InputError

IndexTrend = Literal["constant", "increasing", "decreasing", "arbitrary"]

DEPENDENCIES = ((), ("pulls", "mean"), ("pulls", "mean", "variance"))
"""What ``index_depends_on`` may be."""

POSTERIORS = ("normal_posterior", "beta_posterior")
COMPARISONS = ("score", "sample", *POSTERIORS, "list_index", "duel", "choose", "round_robin")
"""How a policy compares arms; each policy has one of them."""


def validate_class(cls: Any, base: Any) -> None:
    """Refuse attributes of a class derived from ``base`` that the engine could not work with."""
    methods = {name for name in dir(base) if not name.startswith("__") and callable(getattr(base, name))}
    annotated = set(vars(cls).get("__annotations__", {}))
    reserved = sorted((methods | {*COMPARISONS, "Memory"}) & annotated)
    integer = isinstance(cls.warmup, int) and not isinstance(cls.warmup, bool) and cls.warmup >= 0
    trends = ", ".join(map(repr, get_args(IndexTrend)))
    dependencies = ", ".join(map(repr, DEPENDENCIES))
    ways = [name for name in COMPARISONS if getattr(cls, name, False)]
    rounds = [name for name in ("first_round", "lower_bound", "next_round") if cls.overrides(name)]
    alone = [name for name in (*POSTERIORS, "list_index", "duel") if name in ways and rounds]
    judges = [name for name in ("stop", "accepts") if cls.overrides(name)]
    flags = [
        (isinstance(getattr(cls, flag), bool), f"{flag} must be True or False, got {getattr(cls, flag)!r}")
        for flag in (name for name, value in vars(base).items() if isinstance(value, bool))
    ]
    for holds, problem in (
        (
            cls.index_trend in get_args(IndexTrend),
            f"index_trend must be one of {trends}, got {cls.index_trend!r}",
        ),
        (cls.uses_rewards or not cls.uses_times, "uses_times needs uses_rewards = True"),
        (cls.uses_rewards or not cls.uses_totals, "uses_totals needs uses_rewards = True"),
        (
            not (cls.uses_times and cls.uses_totals),
            "uses_times and uses_totals: a policy has one of them",
        ),
        (
            cls.index_depends_on in DEPENDENCIES,
            f"index_depends_on must be one of {dependencies}, got {cls.index_depends_on!r}",
        ),
        (
            not cls.separable_width or cls.index_depends_on == DEPENDENCIES[1],
            f"separable_width needs index_depends_on = {DEPENDENCIES[1]}, got {cls.index_depends_on!r}",
        ),
        (cls.family is None or isinstance(cls.family, str), f"family must be a name, got {cls.family!r}"),
        (integer, f"warmup must be an integer of at least 0, got {cls.warmup!r}"),
        *flags,
        (len(ways) < 2, f"a policy has one of {' and '.join(ways)}, not both"),
        (not cls.top_two or {*ways} & {*POSTERIORS}, f"top_two needs {' or '.join(POSTERIORS)}"),
        (not alone, f"a policy with {''.join(alone)} has no {''.join(rounds[:1])}"),
        ("choose" not in ways or not cls.overrides("lower_bound"), "a policy with choose has no lower_bound"),
        (len(judges) < 2, "a policy that accepts arms does not stop: it has no single arm to go on with"),
        (
            (cls.eliminates_permanently and "list_index" not in ways) or "stop" not in judges,
            "a policy that stops needs eliminates_permanently = True, and no list_index",
        ),
        (not reserved, f"a parameter cannot be called {reserved[0] if reserved else ''}: that is a method"),
    ):
        if not holds:
            raise InputError(f"{cls.__name__}: {problem}")
    own = not cls.__module__.startswith("lowregret.")  # only those are looked at, which saves time at import
    for problem in (*_changes(cls), *_misspelled(cls, base, ways)) if own else ():
        raise InputError(f"{cls.__name__}: {problem}")


def _changes(cls: Any) -> Iterator[str]:
    """Say where a class sets attributes of its policies, which are immutable, or has a mutable parameter."""
    for name, value in vars(cls).items():
        code = getattr(value, "__code__", None)
        for operation, attribute, line, on_self in operations(code) if code else ():
            if on_self and operation == "STORE_ATTR":
                remedy = f"declare parameters in the class, as in {attribute}: float = 1.0"
                if name != "__init__":
                    remedy = "a policy never changes: what changes is the Memory of an arm, or a round"
                yield f"{place_of(value, line)} sets self.{attribute}; {remedy}"
        if isinstance(value, list | dict | set) and name in vars(cls).get("__annotations__", {}):
            yield f"{name} is a {type(value).__name__}: declare numbers; keep a table in a tuple elsewhere"


def _misspelled(cls: Any, base: Any, ways: list[str]) -> Iterator[str]:
    """Say which attribute of a class has almost the name of one that the engine reads."""
    names = {name for name in (*dir(base), *COMPARISONS) if not name.startswith("_")}
    lower = {name.lower(): name for name in names - set(vars(cls)) - set(COMPARISONS if ways else ())}
    hints = vars(cls).get("__annotations__", {})
    parameters = {name for name in hints if "ClassVar" not in str(hints[name])}
    for name in sorted(vars(cls).keys() - names - parameters):
        for near in get_close_matches(name.lower(), () if name.startswith("_") else lower, n=1, cutoff=0.85):
            default = getattr(base, lower[near], validate_class)
            if callable(getattr(cls, name)) == (callable(default) or default is None):
                yield f"unknown attribute {name!r}: did you mean {lower[near]!r}?"

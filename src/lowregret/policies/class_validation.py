"""What a class of policies must satisfy, checked when the class is made."""

from __future__ import annotations

from typing import Any, Literal, get_args

from lowregret.errors import InputError

IndexTrend = Literal["constant", "increasing", "decreasing", "arbitrary"]

DEPENDENCIES = ((), ("pulls", "mean"), ("pulls", "mean", "variance"))
"""What ``index_depends_on`` may be."""

POSTERIORS = ("normal_posterior", "beta_posterior")
COMPARISONS = ("score", "sample", *POSTERIORS, "list_index", "duel", "round_robin")
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

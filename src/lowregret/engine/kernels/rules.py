"""What a step of a policy depends on besides its methods: constants for the compiler."""

from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from lowregret.engine.bridge.compile import compile_as_constant
from lowregret.policies import Policy


class Rules(NamedTuple):
    """What a step depends on besides the methods of a policy."""

    warmup: int
    eliminates_permanently: bool
    ends_alone: bool  # whether nothing is left to choose once one arm is active
    eliminates_dominated: bool  # by lower bounds
    uses_best: bool
    needs_horizon: bool
    index_moves: bool  # with time
    index_increases: bool
    admits_later: bool
    counts_pending: bool
    uses_variance: bool  # as far as ``index_depends_on`` says
    separable_width: bool
    looks_ahead: bool  # whether the scores of an arm depend on its own rewards alone, also those to come


def admits_later(kind: type[Policy]) -> bool:
    """Return whether an arm may become active, and begin its warm-up, after the warm-up of the others."""
    return kind.overrides("initially_active") and kind.overrides("next_round")


_attributes = attrgetter(
    "warmup", "eliminates_permanently", "lower_bound", "arm_index", "uses_best", "needs",
    "index_trend", "initially_active", "next_round", "counts_pending", "index_depends_on", "separable_width",
    "transform_reward", "uses_arms", "accepts",
)  # fmt: skip


def rules_of_class(kind: type[Policy]) -> Rules:
    """Return the rules of a class of policies, computed anew where an attribute has changed."""
    key: Any = kind
    return _rules(key, _attributes(kind))


@lru_cache(maxsize=256)
def _rules(kind: Any, attributes: tuple[Any, ...]) -> Rules:
    return Rules(
        warmup=kind.warmup,
        eliminates_permanently=kind.eliminates_permanently,
        ends_alone=kind.eliminates_permanently and not any(map(kind.overrides, ("list_index", "accepts"))),
        eliminates_dominated=kind.overrides("lower_bound"),
        uses_best=kind.uses_best,
        needs_horizon="horizon" in kind.needs,
        index_moves=kind.index_trend != "constant",
        index_increases=kind.index_trend == "increasing",
        admits_later=admits_later(kind),
        counts_pending=kind.counts_pending,
        uses_variance="variance" in kind.index_depends_on,
        separable_width=kind.separable_width,
        looks_ahead=not kind.overrides("transform_reward") and not kind.uses_arms,
    )


def rules_of(policy: Any) -> Rules:
    """Return the rules of a policy."""
    kind: Any = type(policy)
    return rules_of_class(kind)


compile_as_constant(rules_of, rules_of_class)

"""What a step of a policy depends on besides its methods: constants for the compiler."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba.extending import overload

from lowregret.engine.compile import INLINED, class_of
from lowregret.policies import Policy


class Rules(NamedTuple):
    """What a step depends on besides the methods of a policy."""

    warmup: int
    eliminates_permanently: bool
    eliminates_dominated: bool  # by lower bounds
    plays_lists: bool
    uses_best: bool
    needs_horizon: bool
    remembers: bool  # has a memory of each arm
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


def rules_of_class(kind: type[Policy]) -> Rules:
    """Return the rules of a class of policies."""
    return Rules(
        kind.warmup,
        kind.eliminates_permanently,
        kind.overrides("lower_bound"),
        kind.overrides("list_index"),
        kind.uses_best,
        "horizon" in kind.needs,
        kind.Memory is not None,
        kind.index_trend != "constant",
        kind.index_trend == "increasing",
        admits_later(kind),
        kind.counts_pending,
        "variance" in kind.index_depends_on,
        kind.separable_width,
        not kind.overrides("transform_reward") and not kind.uses_arms,
    )


def rules_of(policy: Any) -> Rules:
    """Return the rules of a policy."""
    kind: Any = type(policy)
    return rules_of_class(kind)


@overload(rules_of, strict=False, jit_options=INLINED)
def _rules_of(policy: Any) -> Any:
    kind: Any = class_of(policy)
    a, b, c, d, e, f, g, h, i, j, k, m, n, o = rules_of_class(kind)
    return lambda policy: Rules(a, b, c, d, e, f, g, h, i, j, k, m, n, o)

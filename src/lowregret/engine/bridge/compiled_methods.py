"""Policies whose methods are compiled one by one, for plain Python to call."""

from __future__ import annotations

from copy import copy
from typing import Any

from lowregret.policies import Policy
from lowregret.policies.class_validation import COMPARISONS

METHODS = (*COMPARISONS, "lower_bound", "next_round", "transform_reward", "list_index_slope", "update_memory")
"""What the engine calls during a run."""


def with_compiled_methods(policy: Policy) -> Policy:
    """Return a policy that computes as compiled code does, where a division by 0 is inf."""
    from numba import njit

    from lowregret.engine.bridge import compiler, policy_types  # noqa: F401  # which registers the engine

    other = copy(policy)
    for name in METHODS:
        if callable(getattr(policy, name, None)):
            call: Any = eval(f"lambda policy, *given: policy.{name}(*given)")
            dispatcher = njit(**policy_types.METHODS)(call)
            vars(other)[name] = lambda *given, dispatcher=dispatcher: dispatcher(policy, *given)
    return other

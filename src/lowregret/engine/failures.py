"""What a kernel reports by a negative number, and what compiled code raises, as a sentence."""

from collections.abc import Callable
from typing import Any, cast

from lowregret._common.bytecode import operations, place_of
from lowregret._common.validation import MAX_ARMS
from lowregret.engine.bridge.compile import PLACE
from lowregret.engine.kernels.step import ELIMINATED_ALL, NOT_A_NUMBER
from lowregret.environments import Sampled
from lowregret.errors import InputError
from lowregret.policies import Policy
from lowregret.policies.class_validation import COMPARISONS

NOTHING = ("LOAD_CONST", None), ("RETURN_CONST", None)
MESSAGES = {
    ELIMINATED_ALL: "it eliminated every arm; at least one must stay",
    NOT_A_NUMBER: "a score must be a number, got nan",
}


def raise_for(policy: Policy, answer: int, bandit: Any = None) -> None:
    """Raise ``InputError`` if a kernel answers with a negative number that stands for a mistake.

    Numbers not in ``MESSAGES`` are -1 - i, where the reward of arm i is nan. A plain score of None is nan.
    """
    if answer in MESSAGES:
        none = _returning_none(policy) if answer == NOT_A_NUMBER else None
        raise InputError(f"{policy}: {none or MESSAGES[answer]}")
    if -MAX_ARMS <= answer < 0:
        arm = getattr(bandit, "arms", {-answer - 1: None})[-answer - 1]
        if isinstance(arm, Sampled):
            name = getattr(arm.sample, "__name__", arm.sample)
            raise InputError(f"sampled: {name} returned nan for arm {-answer - 1}: return a number")
        raise InputError(
            f"{policy}: the rewards of arm {-answer - 1} ran out: give it a longer row or a shorter horizon"
        )


def call(compiled: Callable[..., Any], policy: Policy, *arguments: Any) -> Any:
    """Call compiled code, and explain what it raises: a place beyond the arms, or None for a value."""
    try:
        return compiled(policy, *arguments)
    except (IndexError, TypeError) as error:
        none = _returning_none(policy) if str(error).endswith("got None") else None
        if error.args == ("index is out of bounds",):  # as Numba says it
            none = "an index is beyond the end of an array: for arm.rewards use range(len(arm.rewards))"
        if error.args[1:] != (PLACE,) and none is None:
            raise
        message = none or f"no arm is in place {error.args[0]}: use range(clock.arms)"
        raise InputError(f"{policy}: {message}") from None


def _returning_none(policy: Policy) -> str | None:
    """Say which method by which arms are compared, or which that sets rounds, has a branch without value."""
    for name in (*COMPARISONS, "lower_bound", "next_round", "transform_reward"):
        method, before = getattr(type(policy), name, None), ("", "")
        code = getattr(method, "__code__", None)
        for operation, value, line, _ in operations(code) if code else ():
            constant = (operation, value) if operation == "RETURN_CONST" else before
            if operation.startswith("RETURN_") and constant in NOTHING:
                return f"{place_of(cast(Any, method), line)} returned None: return a value in every branch"
            before = operation, value
    return None

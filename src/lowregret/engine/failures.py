"""Raise what a status of a run, or compiled code, says is wrong, in one sentence."""

from collections.abc import Callable
from typing import Any, cast

from lowregret._common.bytecode import operations, place_of
from lowregret.engine import status as statuses
from lowregret.engine.bridge.compile import PLACE
from lowregret.environments import Sampled
from lowregret.errors import InputError
from lowregret.policies import Policy
from lowregret.policies.class_validation import COMPARISONS

NOTHING = ("LOAD_CONST", None), ("RETURN_CONST", None)


def raise_for(policy: Policy, status: int, bandit: Any = None) -> None:
    """Raise ``InputError`` for the status of a run that ended by a mistake of the policy or of an arm."""
    sentence, arm = statuses.SENTENCES.get(status), statuses.failed_arm(status)
    place, name = "", ""
    if status == statuses.NOT_A_NUMBER and (place := _branch_without_value(policy)):
        sentence = statuses.RETURNED_NONE  # a plain score of None is nan
    if arm is not None:
        source = getattr(bandit, "arms", {arm: None})[arm]
        sentence = statuses.SAMPLED_NAN if isinstance(source, Sampled) else statuses.RAN_OUT
        name = getattr(getattr(source, "sample", None), "__name__", "the sampler")
    if (index := statuses.failed_place(status)) is not None:
        sentence = statuses.NO_SUCH_PLACE
    if sentence:
        raise InputError(sentence.format(policy=policy, arm=arm, name=name, place=place, index=index))


def call(compiled: Callable[..., Any], policy: Policy, *arguments: Any) -> Any:
    """Call compiled code, and explain what it raises: a place beyond the arms, or None for a value."""
    try:
        return compiled(policy, *arguments)
    except (IndexError, TypeError) as error:
        place = _branch_without_value(policy) if str(error).endswith("got None") else ""
        if error.args[1:] == (PLACE,):
            sentence = statuses.NO_SUCH_PLACE
        elif error.args == ("index is out of bounds",):  # as Numba says it
            sentence = statuses.BEYOND_ARRAY
        elif place:
            sentence = statuses.RETURNED_NONE
        else:
            raise
        raise InputError(sentence.format(policy=policy, index=error.args[0], place=place)) from None


def _branch_without_value(policy: Policy) -> str:
    """Return where a method that compares arms or sets rounds returns None, "" if none does."""
    for name in (*COMPARISONS, "lower_bound", "next_round", "transform_reward", "recommend", "stop"):
        method, before = getattr(type(policy), name, None), ("", "")
        code = getattr(method, "__code__", None)
        for operation, value, line, _ in operations(code) if code else ():
            constant = (operation, value) if operation == "RETURN_CONST" else before
            if operation.startswith("RETURN_") and constant in NOTHING:
                return place_of(cast(Any, method), line)
            before = operation, value
    return ""

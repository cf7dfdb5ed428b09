"""The values that the keys of an experiment file accept."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, WithJsonSchema

from lowregret._common.validation import MAX_HORIZON, plain_text, short_repr, write_integer
from lowregret.environments import Bandit, Delay
from lowregret.environments.delays import ADVICE
from lowregret.errors import InputError
from lowregret.policies import Policy


def scalar(value: Any) -> Any:
    """Return a number, a string, or true or false."""
    if isinstance(value, bool | int | float | str):
        return value
    raise InputError(f"must be a number, a string or true or false, got {short_repr(value)}")


def plain_name(value: str) -> str:
    """Return a name without control characters."""
    return plain_text("an experiment", "name", value)


def environment_value(value: Any) -> Any:
    """Return the string of an environment, or a bandit."""
    if isinstance(value, str | Bandit):
        return value
    raise InputError(f"must be a string such as 'paper-1', or a Bandit, got {short_repr(value)}")


def policy_value(value: Any) -> Any:
    """Return the string of a policy, or a policy."""
    if isinstance(value, type) and issubclass(value, Policy):
        raise InputError(f"{value.__name__} is a class: write {value.__name__}()")
    if isinstance(value, str | Policy):
        return value
    raise InputError(f"must be a string such as 'EUCBV', or a Policy, got {short_repr(value)}")


def horizon_value(value: Any) -> Any:
    """Return a horizon: an integer, or a string with names of the grid."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_HORIZON:
        return value
    raise InputError(
        f"must be an integer from 1 to 2^53, or a string such as '{{100*K}}', got {short_repr(value)}"
        f"{write_integer(value, 1)}"
    )


def delay_value(value: Any) -> Any:
    """Return a delay: an integer, a string or a `Delay`."""
    if value is None or isinstance(value, str | Delay):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_HORIZON:
        return value
    raise InputError(f"must be {ADVICE}, got {short_repr(value)}{write_integer(value)}")


ScalarField = Annotated[
    Any, AfterValidator(scalar), WithJsonSchema({"type": ["number", "string", "boolean"]})
]
DelayField = Annotated[Any, AfterValidator(delay_value), WithJsonSchema({"type": ["integer", "string"]})]
HorizonField = Annotated[Any, AfterValidator(horizon_value), WithJsonSchema({"type": ["integer", "string"]})]
EnvironmentField = Annotated[Any, AfterValidator(environment_value), WithJsonSchema({"type": "string"})]
PolicyField = Annotated[Any, AfterValidator(policy_value), WithJsonSchema({"type": "string"})]
NameField = Annotated[str, AfterValidator(plain_name)]
Values = Annotated[list[ScalarField], Field(min_length=1)]

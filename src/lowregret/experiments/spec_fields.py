"""The values that the keys of an experiment file accept."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StrictInt, WithJsonSchema

from lowregret._common.validation import MAX_HORIZON, plain_text, short_repr, whole
from lowregret.environments import Bandit, Delay
from lowregret.environments.delays import DELAY_ADVICE
from lowregret.errors import InputError
from lowregret.policies import Policy


def _kind(kinds: Any, words: str) -> Callable[[Any], Any]:
    """Return a validator that accepts values of some kinds, which the words describe."""

    def check(value: Any) -> Any:
        if isinstance(value, type) and issubclass(value, Policy):
            raise InputError(f"{value.__name__} is a class: write {value.__name__}()")
        if isinstance(value, kinds):
            return value
        raise InputError(f"must be {words}, got {short_repr(value)}")

    return check


def _integer_or(kinds: Any, least: int, words: str) -> Callable[[Any], Any]:
    """Return a validator that accepts None, an integer such as 10 or 1e1, or a value of other kinds."""

    def check(value: Any) -> Any:
        value = whole(value)
        if value is None or isinstance(value, kinds):
            return value
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_HORIZON:
            return value
        raise InputError(f"must be {words}, got {short_repr(value)}")

    return check


IntegerField = Annotated[StrictInt, BeforeValidator(whole)]
_scalar = _kind(bool | int | float | str, "a number, a string or true or false")
_environment = _kind(str | Bandit, "a string such as 'paper-1', or a Bandit")
_policy = _kind(str | Policy, "a string such as 'EUCBV', or a Policy")
_horizon = _integer_or(str, 1, "an integer from 1 to 2^53, or a string such as '{100*K}'")
_delay = _integer_or(str | Delay, 0, DELAY_ADVICE)

ScalarField = Annotated[
    Any, AfterValidator(_scalar), WithJsonSchema({"type": ["number", "string", "boolean"]})
]
DelayField = Annotated[Any, AfterValidator(_delay), WithJsonSchema({"type": ["integer", "string"]})]
HorizonField = Annotated[Any, AfterValidator(_horizon), WithJsonSchema({"type": ["integer", "string"]})]
EnvironmentField = Annotated[Any, AfterValidator(_environment), WithJsonSchema({"type": "string"})]
PolicyField = Annotated[Any, AfterValidator(_policy), WithJsonSchema({"type": "string"})]
NameField = Annotated[str, AfterValidator(partial(plain_text, "an experiment", "name"))]
Values = Annotated[list[ScalarField], Field(min_length=1)]

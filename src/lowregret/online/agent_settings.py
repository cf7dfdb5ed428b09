"""The settings of an agent: declared once, validated once, and compared when it is opened again."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from datetime import timedelta
from functools import wraps
from inspect import Parameter, signature
from math import inf
from numbers import Real
from typing import Any, Literal, ParamSpec, TypeAlias, TypedDict, TypeVar, Unpack, get_args, get_type_hints

from lowregret._common.spec_errors import unknown_key
from lowregret._common.text import count
from lowregret._common.user_calls import argument_advice
from lowregret._common.validation import (
    MAX_BANDIT_ARMS,
    MAX_HORIZON,
    MAX_MAGNITUDE,
    integer,
    seed_of,
    short_repr,
)
from lowregret._common.validation import number as finite
from lowregret.engine.prior import ArmPrior, arm_prior
from lowregret.errors import InputError, LowRegretError
from lowregret.online.decisions import Decision, Observation, Reference, Request
from lowregret.online.policy_description import describe, policy_from
from lowregret.policies import Policy
from lowregret.policies.inputs import policy_of, validate_period

Outside: TypeAlias = Literal["refuse", "clip"]
Window: TypeAlias = int | timedelta
"""How long a decision waits for its reward, or a period: a number of decisions, or a time."""

MAX_REQUEST_SIZE = 1_000
MAX_VALUE_LENGTH = 10_000
DEFAULT_NAME = "default"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Options(TypedDict, total=False):
    """The settings that are keyword arguments alone, for type checkers; see ``Settings``."""

    outside: Outside
    matures_after: Window | None
    expires_after: Window | None
    default_reward: float | None
    minimum_share: float
    control: tuple[str, float] | None
    log_propensities: bool | None
    values: Mapping[str, Any] | None
    prior: Mapping[str, Sequence[float]] | None
    period: Window | None


@dataclass(frozen=True)
class Settings:
    """The arguments that an agent was created with; see ``Agent``."""

    policy: Policy
    arms: tuple[str, ...]
    horizon: int | None = None
    seed: int = 0
    reward_range: tuple[float, float] | None = (0.0, 1.0)
    outside: Outside = "refuse"
    matures_after: Window | None = None
    expires_after: Window | None = None
    default_reward: float | None = None
    minimum_share: float = 0.0
    control: tuple[str, float] | None = None
    log_propensities: bool | None = None
    values: Mapping[str, Any] | None = None
    prior: Mapping[str, Sequence[float]] | None = None
    period: Window | None = None

    @property
    def knows_successes_first(self) -> bool:
        """Whether a reward counts at once, and ``default_reward`` at the end of the window."""
        return self.expires_after is not None and self.default_reward is not None

    @property
    def window(self) -> Window | None:
        """How long a decision waits for its reward, None if for ever."""
        return self.expires_after if self.matures_after is None else self.matures_after

    def scaled(self, value: float) -> float:
        """Return a reward as the policy sees it; reject or clip one outside the range."""
        if self.reward_range is None:
            return value
        low, high = self.reward_range
        if not low <= value <= high:
            if self.outside == "refuse":
                raise InputError(
                    f"reward {value!r} lies outside [{low:g}, {high:g}]: "
                    "create the agent with another reward_range, or with outside='clip'"
                )
            value = min(max(value, low), high)
        return (value - low) / (high - low)

    def unscaled(self, value: float) -> float:
        low, high = self.reward_range or (0.0, 1.0)
        return low + value * (high - low)

    def to_dict(self) -> dict[str, Any]:
        values = {name: _to_json(name, getattr(self, name)) for name in SETTING_TYPES}
        return {name: value for name, value in values.items() if value is not None or name not in OPTIONAL}

    def priors(self) -> dict[str, ArmPrior]:
        """Return the prior of each arm that has one, scaled as the policy sees rewards."""
        bounded, priors = self.reward_range is not None, {}
        for arm, prior in (self.prior or {}).items():
            if bounded and isinstance(prior, list | tuple) and prior:
                prior = self.scaled(valid_reward(prior[0])), *prior[1:]
            priors[arm] = arm_prior(self.policy, arm, prior, bounded)
        return priors


SETTING_TYPES: dict[str, Any] = get_type_hints(Settings)
OPTIONAL = ("values", "prior", "period")
"""Settings that are stored only where they are set, so that other agents are stored as before."""
DEFAULTS = {field.name: field.default for field in fields(Settings) if field.default is not MISSING}
P = ParamSpec("P")
Result = TypeVar("Result")


def takes_options(function: Callable[P, Result]) -> Callable[P, Result]:
    """Show the ``Options`` in the signature of a function, and reject unknown arguments with advice."""
    original = signature(function)
    *parameters, _ = original.parameters.values()
    for name in Options.__annotations__:
        parameters.append(
            Parameter(name, Parameter.KEYWORD_ONLY, default=DEFAULTS[name], annotation=SETTING_TYPES[name])
        )
    names = [parameter.name for parameter in parameters if parameter.name != "self"]

    @wraps(function)
    def checked(*arguments: P.args, **options: P.kwargs) -> Result:
        for name in options:
            if name not in names:
                raise InputError(f"unknown argument {name!r}: {argument_advice(name, names)}")
        return function(*arguments, **options)

    vars(checked)["__signature__"] = original.replace(parameters=parameters)
    return checked


def valid_settings(
    policy: Policy | str,
    arms: Iterable[str],
    horizon: int | None = None,
    seed: int = 0,
    reward_range: tuple[float, float] | None = (0, 1),
    **options: Unpack[Options],
) -> Settings:
    unchecked = Settings(policy_of(policy), _names(arms), horizon, seed, reward_range, **options)
    if unchecked.outside not in get_args(Outside):
        raise InputError(f"outside must be 'refuse' or 'clip', got {short_repr(unchecked.outside)}")
    if unchecked.matures_after is not None and unchecked.expires_after is not None:
        raise InputError("pass matures_after or expires_after, not both: a decision expires when it matures")
    if unchecked.default_reward is not None and unchecked.window is None:
        raise InputError("default_reward needs matures_after or expires_after, which say when it counts")
    if not isinstance(unchecked.log_propensities, bool | None):
        raise InputError(
            f"log_propensities must be True, False or None, got {short_repr(unchecked.log_propensities)}"
        )
    settings = replace(
        unchecked,
        horizon=None if horizon is None else integer("Agent", "horizon", horizon, MAX_HORIZON),
        seed=seed_of(seed),
        reward_range=_range(reward_range, unchecked.policy),
        matures_after=_window("matures_after", unchecked.matures_after),
        expires_after=_window("expires_after", unchecked.expires_after),
        default_reward=None if unchecked.default_reward is None else valid_reward(unchecked.default_reward),
        minimum_share=_share("minimum_share", unchecked.minimum_share),
        control=_control(unchecked.control, unchecked.arms),
        values=of_arms("values", unchecked.values, unchecked.arms),
        prior=of_arms("prior", unchecked.prior, unchecked.arms),
        period=_window("period", unchecked.period),
    )
    if settings.period is not None:
        support, where = settings.reward_range or (-inf, inf), f"reward_range={settings.reward_range}"
        validate_period(settings.policy, support, where, bool(settings.prior))
    for arm, value in (settings.values or {}).items():
        valid_value(arm, value)
    if settings.control and settings.control[0] in settings.priors():
        raise InputError(
            f"prior: {short_repr(settings.control[0])} is the control arm: no policy learns from it"
        )
    share = settings.control[1] if settings.control else 0.0
    require_shares(settings.minimum_share, share, len(settings.arms) - (settings.control is not None))
    if settings.default_reward is not None:
        settings.scaled(settings.default_reward)
    return settings


def settings_or_policy(
    caller: str, policy: Policy | str | None, arms: Iterable[str] | None, settings: Mapping[str, Any]
) -> Settings | Policy | None:
    """Validate the settings of an agent to create; without arms, return the policy of one that exists."""
    if arms is not None and policy is not None:
        return valid_settings(policy, arms, **settings)
    if arms is not None or any(value != DEFAULTS[name] for name, value in settings.items()):
        raise InputError(f"{caller}: pass the policy and the arms as well, or nothing but the name")
    return None if policy is None else policy_of(policy)


def require_shares(minimum: float, control: float, others: int) -> None:
    """Refuse shares that exceed 1 together."""
    if minimum * others + control > 1.0 + 1e-9:
        fixed = f", and that of the control arm is {control:g}" if control else ""
        raise InputError(
            f"minimum_share is {minimum:g} for each of {count(others, 'arm')}{fixed}: together they must not "
            "exceed 1"
        )


def _share(what: str, value: object) -> float:
    share = finite("Agent", what, value)
    if not 0.0 <= share <= 1.0:
        raise InputError(f"{what} must be between 0 and 1, got {short_repr(value)}")
    return share


def _control(control: Sequence[Any] | None, arms: tuple[str, ...]) -> tuple[str, float] | None:
    if control is None:
        return None
    if isinstance(control, str) or not isinstance(control, Sequence) or len(control) != 2:
        raise InputError(
            f"control must be an arm and its share, as in ('red', 0.1), got {short_repr(control)}"
        )
    arm, share = control
    if arm not in arms:
        raise InputError(f"the control arm must be one of the arms, got {short_repr(arm)}")
    if len(arms) == 1:
        raise InputError(f"arm {short_repr(arm)} is the only one: give the control arm another arm beside it")
    return str(arm), _share("the share of the control arm", share)


def valid_name(name: object) -> str:
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise InputError(
        "the name of an agent must be 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or a "
        f"digit, got {short_repr(name)}"
    )


def valid_request(request: object) -> str:
    request = valid_string("a request", request)
    if not request:
        raise InputError("a request must not be empty: leave it out for a new decision")
    if len(request) > MAX_REQUEST_SIZE:
        raise InputError(f"a request must have at most {MAX_REQUEST_SIZE:,} characters, got {len(request):,}")
    if "\0" in request:  # which not every store can hold
        raise InputError(f"a request must not contain the character NUL, got {short_repr(request)}")
    return request


def valid_arm(arm: object) -> str:
    """Validate the name of a new arm; one in a store may have been created before names were checked."""
    name = valid_string("the name of an arm", arm)
    if _CONTROLS.search(name):
        raise InputError(
            "the name of an arm must not contain control characters, nor those that change the direction "
            f"of text, got {short_repr(name)}"
        )
    return name


def valid_string(what: str, value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what} must be a string, got {short_repr(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:  # a lone surrogate
        raise InputError(f"{what} must be a string that UTF-8 can encode, got {short_repr(value)}") from None
    return value


def valid_only(only: object) -> list[str]:
    """List the arms to choose from before the call begins: the iterable may itself use the agent."""
    if isinstance(only, str) or not isinstance(only, Iterable):
        raise InputError(f"only must be a list of arm names, got {short_repr(only)}")
    arms = list(only)
    if not arms:
        raise InputError("only must name at least one arm")
    return arms


def valid_rewards(rewards: Iterable[tuple[Reference, float]]) -> list[tuple[Reference, float]]:
    """List pairs of a decision and its reward before the call begins."""
    try:
        return [(decision, reward) for decision, reward in rewards]
    except LowRegretError:  # raised by the iterable itself
        raise
    except (TypeError, ValueError):
        raise InputError("tell_many takes pairs of a decision and its reward") from None


def reference_of(decision: Decision | str | None, request: str | None) -> Reference:
    """Return what a call names: a decision, its id, or the request that made it."""
    if (decision is None) == (request is None):
        raise InputError("pass a decision or its id, or the request that made it, one of the two")
    return Request(valid_request(request)) if decision is None else decision


def valid_observation(
    arm: str, reward: float, propensity: float | None = None, request: str | None = None
) -> Observation:
    """Validate a decision that somebody else made; the state checks its arm."""
    if propensity is not None:
        propensity = finite("observe", "propensity", propensity)
        if not 0.0 < propensity <= 1.0:
            raise InputError(f"propensity must be above 0 and at most 1, got {short_repr(propensity)}")
    return Observation(
        arm, valid_reward(reward), propensity, None if request is None else valid_request(request)
    )


def valid_decisions(decisions: object) -> list[Reference]:
    """List decisions before the call begins."""
    if isinstance(decisions, str | Decision | Request) or not isinstance(decisions, Iterable):
        raise InputError(f"forget_many takes a list of decisions, got {short_repr(decisions)}")
    return list(decisions)


def valid_reward(reward: object) -> float:
    if type(reward) is not float:
        if not isinstance(reward, (int, Real)):  # int first: it is a Real, but the check is slow
            raise InputError(f"a reward must be a finite number, got {short_repr(reward)}")
        try:
            reward = float(reward)
        except OverflowError:
            raise InputError(f"a reward must be a finite number, got {short_repr(reward)}") from None
    if not abs(reward) <= MAX_MAGNITUDE:
        raise InputError(f"a reward must be a finite number up to 1e150, got {reward!r}")
    return reward + 0.0  # 0 instead of -0, which some stores cannot hold


def _names(arms: Iterable[str]) -> tuple[str, ...]:
    # A set has no order by which to number the arms.
    if not isinstance(arms, Iterable) or isinstance(arms, str | bytes | set | frozenset):
        raise InputError(f"arms must be a list of names, got {short_repr(arms)}")
    names = tuple(valid_string("the name of an arm", arm) for arm in arms)
    if not names or len(names) > MAX_BANDIT_ARMS:
        raise InputError(f"arms must be 1 to {MAX_BANDIT_ARMS:,} names, got {len(names):,}")
    twice = [arm for arm, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"arms must have different names, got {short_repr(twice[0])} twice")
    return names


def _window(name: str, window: object) -> Window | None:
    if window is None or (isinstance(window, timedelta) and window > timedelta(0)):
        return window
    if isinstance(window, timedelta):
        raise InputError(f"{name} must be a positive time, got {window}")
    try:
        return integer("Agent", name, window, MAX_HORIZON)
    except InputError:
        raise InputError(
            f"{name} must be a number of decisions or a datetime.timedelta, got {short_repr(window)}: "
            "write timedelta(hours=1) for an hour"
        ) from None


def _to_json(name: str, value: Any) -> Any:
    if isinstance(value, Policy):
        return describe(value)
    if isinstance(value, timedelta):
        return {"seconds": value.total_seconds()}
    if SETTING_TYPES[name] == Window | None and value is not None:
        return {"decisions": value}
    if isinstance(value, dict) and name == "prior":
        return {arm: list(prior) for arm, prior in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _range(ends: Sequence[float] | None, policy: Policy) -> tuple[float, float] | None:
    if ends is None:
        if "rewards in [0, 1]" in policy.needs:
            raise InputError(f"{policy} needs rewards in [0, 1]: pass the reward_range to scale them from")
        return None
    try:
        low, high = (finite("Agent", "reward_range", end) for end in ends)
    except (TypeError, ValueError):  # which InputError is
        low = high = 0.0
    if not 0.0 < high - low <= MAX_MAGNITUDE:
        raise InputError(
            f"reward_range must be two finite numbers, low and high, or None, got {short_repr(ends)}"
        )
    return low, high


def of_arms(what: str, values: object, arms: tuple[str, ...]) -> dict[str, Any] | None:
    if not values:
        return None
    if not isinstance(values, Mapping):
        raise InputError(f"{what} must be a dictionary by the names of arms, got {short_repr(values)}")
    for arm in values:
        if arm not in arms:
            raise InputError(f"{what}: unknown arm {short_repr(arm)}: the arms are {short_repr(list(arms))}")
    return {arm: values[arm] for arm in arms if arm in values}


def valid_value(arm: str, value: object) -> object:
    """Validate the value of an arm as a flag: what OpenFeature has, and no more than fits into a page."""
    try:
        allowed = isinstance(value, bool | str | int | float | dict)
        if allowed and len(json.dumps(value, allow_nan=False)) <= MAX_VALUE_LENGTH:
            return value
    except (TypeError, ValueError, RecursionError):
        pass
    raise InputError(
        f"the value of arm {short_repr(arm)} must be true or false, a string, a number or an object of JSON, "
        f"at most {MAX_VALUE_LENGTH:,} characters, got {short_repr(value)}"
    )


def stored_settings(values: Mapping[str, Any], policy: Policy | None = None) -> Settings:
    """Validate settings as ``to_dict`` returns them; ``policy`` has a class that is not part of lowregret."""
    for name in values:
        if name not in SETTING_TYPES:
            raise InputError(unknown_key(name, SETTING_TYPES))
    return settings_from({"arms": None, **values}, policy_from(values.get("policy"), policy))


def settings_from(values: Mapping[str, Any], policy: Policy) -> Settings:
    arguments = {name: value for name, value in values.items() if name in SETTING_TYPES and name != "policy"}
    for name, value in arguments.items():
        if isinstance(value, dict) and SETTING_TYPES[name] == Window | None:
            arguments[name] = _window_from(value)
    return valid_settings(policy, **arguments)


def _window_from(stored: Mapping[str, float]) -> Window:
    try:
        return timedelta(seconds=stored["seconds"]) if "seconds" in stored else int(stored["decisions"])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError(f"a window has decisions or seconds, got {short_repr(stored)}") from None

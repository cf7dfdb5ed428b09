"""The arguments of an agent: validated once, stored with it, and compared when it is opened again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from numbers import Real
from typing import Any, Literal, TypeAlias, get_args

from lowregret._common.text import count
from lowregret._common.validation import MAX_ARMS, MAX_HORIZON, MAX_MAGNITUDE, integer, seed_of, short_repr
from lowregret._common.validation import number as finite
from lowregret.errors import InputError
from lowregret.policies import POLICIES, Policy
from lowregret.policies.inputs import policy_of

Outside = Literal["refuse", "clip"]
Window: TypeAlias = int | timedelta
"""How long a decision waits for its reward: a number of decisions, or a time."""

MAX_REQUEST = 1_000
"""The most characters of a request."""
DEFAULT_NAME = "default"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

FORMER_NAMES = {"Uniform": "RoundRobin"}
"""Classes of policies that had another name when agents of format 1 were stored."""


@dataclass(frozen=True)
class Settings:
    """The arguments that an agent was created with; see ``Agent``."""

    policy: Policy
    arms: tuple[str, ...]
    horizon: int | None
    seed: int
    reward_range: tuple[float, float] | None
    outside: Outside
    matures_after: Window | None = None
    expires_after: Window | None = None
    default_reward: float | None = None
    minimum_share: float = 0.0
    control: tuple[str, float] | None = None
    log_propensities: bool | None = None

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
        """Return a mean in the user's units."""
        low, high = self.reward_range or (0.0, 1.0)
        return low + value * (high - low)

    def described(self) -> dict[str, Any]:
        """Return the settings as they are stored."""
        return {
            "policy": describe(self.policy),
            "arms": list(self.arms),
            "horizon": self.horizon,
            "seed": self.seed,
            "reward_range": None if self.reward_range is None else list(self.reward_range),
            "outside": self.outside,
            "matures_after": _stored_window(self.matures_after),
            "expires_after": _stored_window(self.expires_after),
            "default_reward": self.default_reward,
            "minimum_share": self.minimum_share,
            "control": None if self.control is None else list(self.control),
            "log_propensities": self.log_propensities,
        }


def valid_settings(
    policy: Policy | str,
    arms: Iterable[str],
    horizon: int | None,
    seed: int,
    reward_range: tuple[float, float] | None,
    outside: Outside,
    matures_after: Window | None = None,
    expires_after: Window | None = None,
    default_reward: float | None = None,
    minimum_share: float = 0.0,
    control: Sequence[Any] | None = None,
    log_propensities: bool | None = None,
) -> Settings:
    """Validate the arguments of an agent."""
    policy = policy_of(policy)
    if outside not in get_args(Outside):
        raise InputError(f"outside must be 'refuse' or 'clip', got {short_repr(outside)}")
    if horizon is not None:
        horizon = integer("Agent", "horizon", horizon, MAX_HORIZON)
    if matures_after is not None and expires_after is not None:
        raise InputError("pass matures_after or expires_after, not both: a decision expires when it matures")
    if default_reward is not None and matures_after is None and expires_after is None:
        raise InputError("default_reward needs matures_after or expires_after, which say when it counts")
    if not isinstance(log_propensities, bool | None):
        raise InputError(f"log_propensities must be True, False or None, got {short_repr(log_propensities)}")
    names, ends = _names(arms), _range(reward_range, policy)
    share, held = _share("minimum_share", minimum_share), _control(control, names)
    require_shares(share, held[1] if held else 0.0, len(names) - (held is not None))
    settings = Settings(
        policy,
        names,
        horizon,
        seed_of(seed),
        ends,
        outside,
        _window("matures_after", matures_after),
        _window("expires_after", expires_after),
        None if default_reward is None else valid_reward(default_reward),
        share,
        held,
        log_propensities,
    )
    if settings.default_reward is not None:
        settings.scaled(settings.default_reward)
    return settings


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
    """Validate the control arm and its share."""
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
    """Validate the name of an agent."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise InputError(
        "the name of an agent must be 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or a "
        f"digit, got {short_repr(name)}"
    )


def valid_request(request: object) -> str:
    """Validate the name of a request."""
    request = valid_string("a request", request)
    if not request:
        raise InputError("a request must not be empty: leave it out for a new decision")
    if len(request) > MAX_REQUEST:
        raise InputError(f"a request must have at most {MAX_REQUEST:,} characters, got {len(request):,}")
    return without_nul("a request", request)


def without_nul(what: str, name: str) -> str:
    """Reject a name that not every store can hold."""
    if "\0" in name:
        raise InputError(f"{what} must not contain the character NUL, got {short_repr(name)}")
    return name


def valid_string(what: str, value: object) -> str:
    """Validate a name."""
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


def valid_reward(reward: object) -> float:
    """Validate a reward."""
    if type(reward) is not float:
        if not isinstance(reward, (int, Real)):  # int first: it is a Real, but the check is slow
            raise InputError(f"a reward must be a finite number, got {short_repr(reward)}")
        try:
            reward = float(reward)
        except OverflowError:
            raise InputError(f"a reward must be a finite number, got {short_repr(reward)}") from None
    if not abs(reward) <= MAX_MAGNITUDE:
        raise InputError(f"a reward must be a finite number up to 1e150, got {reward!r}")
    return reward + 0.0  # 0 in place of -0, which some stores cannot hold


class OwnPolicyError(InputError):
    """The policy of a stored agent is of a class that is not part of lowregret."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        super().__init__(
            f"this agent uses {policy}, which is not part of lowregret: pass it, as in policy=Mine(), or on "
            "the command line --policy module:Class"
        )


def describe(policy: Policy) -> dict[str, Any]:
    """Return the class and the parameters of a policy; a class outside the package as ``module:Class``."""
    kind = type(policy)
    ours = POLICIES.get(kind.__name__) is kind
    title = kind.__name__ if ours else f"{kind.__module__}:{kind.__qualname__}"
    plain = str | int | float | None
    values = {key: part if isinstance(part, plain) else repr(part) for key, part in asdict(policy).items()}  # type: ignore[call-overload]
    return {"class": title, "parameters": values}


def with_current_name(described: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a policy that was stored under a former name of its class."""
    return {**described, "class": FORMER_NAMES.get(described["class"], described["class"])}


def policy_from(described: dict[str, Any], policy: Policy | None) -> Policy:
    """Create the policy of a description, or check that the given policy matches it."""
    described = with_current_name(described)
    title, parameters = described["class"], described["parameters"]
    if policy is not None:
        if describe(policy) != described:
            raise InputError(f"this agent uses {policy_text(described)}, not {policy}")
        return policy
    if title not in POLICIES:
        raise OwnPolicyError(policy_text(described))
    try:
        return POLICIES[title](**parameters)
    except TypeError:
        raise InputError(f"{title} has no parameters {short_repr(parameters)}") from None


def policy_text(described: dict[str, Any]) -> str:
    """Format the description of a policy on one line."""
    inner = ", ".join(f"{key}={value!r}" for key, value in described["parameters"].items())
    return f"{described['class']}({inner})"


def _names(arms: Iterable[str]) -> tuple[str, ...]:
    # A set has no order by which to number the arms.
    if not isinstance(arms, Iterable) or isinstance(arms, str | bytes | set | frozenset):
        raise InputError(f"arms must be a list of names, got {short_repr(arms)}")
    names = tuple(valid_string("the name of an arm", arm) for arm in arms)
    if not names or len(names) > MAX_ARMS:
        raise InputError(f"arms must be 1 to {MAX_ARMS:,} names, got {len(names):,}")
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
            f"{name} must be a number of decisions or a datetime.timedelta, got {short_repr(window)}"
        ) from None


def _stored_window(window: Window | None) -> dict[str, float] | None:
    if isinstance(window, timedelta):
        return {"seconds": window.total_seconds()}
    return None if window is None else {"decisions": window}


def window_from(stored: Mapping[Any, float] | None) -> Window | None:
    """Return a window as ``Settings.described`` stores it."""
    if stored is None:
        return None
    if "seconds" in stored:
        return timedelta(seconds=stored["seconds"])
    return int(stored["decisions"])


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

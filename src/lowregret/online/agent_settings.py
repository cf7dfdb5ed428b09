"""What an agent is made with, checked once; a store keeps it and compares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

from lowregret._common.validation import LARGEST, LARGEST_SEED, LONGEST, MOST_ARMS, show, whole
from lowregret._common.validation import number as finite
from lowregret.errors import InputError
from lowregret.policies import POLICIES, Policy

Outside = Literal["refuse", "clip"]


@dataclass(frozen=True)
class Settings:
    """What an agent is made with; see ``Agent``."""

    policy: Policy
    arms: tuple[str, ...]
    horizon: int | None
    seed: int
    reward_range: tuple[float, float] | None
    outside: Outside

    def scaled(self, value: float) -> float:
        """Give a reward as the policy sees it, or refuse one that lies outside the range."""
        if self.reward_range is None:
            return value
        low, high = self.reward_range
        if not low <= value <= high:
            if self.outside == "refuse":
                raise InputError(
                    f"reward {value!r} lies outside [{low:g}, {high:g}]: "
                    "make the agent with another reward_range, or with outside='clip'"
                )
            value = min(max(value, low), high)
        return (value - low) / (high - low)

    def unscaled(self, value: float) -> float:
        """Give a mean in the user's units."""
        low, high = self.reward_range or (0.0, 1.0)
        return low + value * (high - low)

    def described(self) -> dict[str, Any]:
        """Give the settings as plain data."""
        return {
            "policy": describe(self.policy),
            "arms": list(self.arms),
            "horizon": self.horizon,
            "seed": self.seed,
            "reward_range": None if self.reward_range is None else list(self.reward_range),
            "outside": self.outside,
        }


def checked(
    policy: Policy,
    arms: Iterable[str],
    horizon: int | None,
    seed: int,
    reward_range: tuple[float, float] | None,
    outside: Outside,
) -> Settings:
    """Check what an agent is made with."""
    if not isinstance(policy, Policy):
        hint = f": write {policy.__name__}()" if isinstance(policy, type) else ""
        raise InputError(f"a policy must be a lowregret.Policy, got {show(policy)}{hint}")
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"seed must be an integer from 0 to 2^64 - 1, got {show(seed)}")
    if outside not in get_args(Outside):
        raise InputError(f"outside must be 'refuse' or 'clip', got {show(outside)}")
    if horizon is not None:
        horizon = whole("Agent", "horizon", horizon, LONGEST)
    return Settings(policy, _names(arms), horizon, int(seed), _range(reward_range, policy), outside)


def text(what: str, value: object) -> str:
    """Check a name that the user gives."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a text, got {show(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which no file can hold
        raise InputError(f"{what} must be a text that UTF-8 can hold, got {show(value)}") from None
    return value


def listed(only: object) -> list[str]:
    """List the arms among which a choice is to be made; what makes them may itself use the agent."""
    if isinstance(only, str) or not isinstance(only, Iterable):
        raise InputError(f"only must be a list of names of arms, got {show(only)}")
    arms = list(only)
    if not arms:
        raise InputError("only must name at least one arm")
    return arms


def number(reward: object) -> float:
    """Check that a reward is a finite number."""
    if type(reward) is not float:
        if not isinstance(reward, int | Real):  # an int is a Real, but that takes long to find out
            raise InputError(f"a reward must be a finite number, got {show(reward)}")
        try:
            reward = float(reward)
        except OverflowError:
            raise InputError(f"a reward must be a finite number, got {show(reward)}") from None
    if not abs(reward) <= LARGEST:
        raise InputError(f"a reward must be a finite number up to 1e150, got {reward!r}")
    return reward + 0.0  # 0 in place of -0, which not every store can hold


def describe(policy: Policy) -> dict[str, Any]:
    """Name a policy's class and its parameters; a class from outside the package as ``module:Class``."""
    kind = type(policy)
    ours = POLICIES.get(kind.__name__) is kind
    title = kind.__name__ if ours else f"{kind.__module__}:{kind.__qualname__}"
    plain = str | int | float | None
    values = {key: part if isinstance(part, plain) else repr(part) for key, part in asdict(policy).items()}  # type: ignore[call-overload]
    return {"class": title, "parameters": values}


def recall(described: dict[str, Any], policy: Policy | None) -> Policy:
    """Make the policy that was described, or see that the given one is it."""
    title, parameters = described["class"], described["parameters"]
    if policy is not None:
        if describe(policy) != described:
            raise InputError(f"this agent plays {written(described)}, not {policy}")
        return policy
    if title not in POLICIES:
        raise InputError(f"this agent plays {title}, a class of your own: give it, as in policy=Mine()")
    try:
        return POLICIES[title](**parameters)
    except TypeError:
        raise InputError(f"{title} does not take the parameters {show(parameters)}") from None


def written(described: dict[str, Any]) -> str:
    """Write a description of a policy on one line."""
    inner = ", ".join(f"{key}={value!r}" for key, value in described["parameters"].items())
    return f"{described['class']}({inner})"


def _names(arms: Iterable[str]) -> tuple[str, ...]:
    # A set has no order, in which the arms could be numbered.
    if not isinstance(arms, Iterable) or isinstance(arms, str | bytes | set | frozenset):
        raise InputError(f"arms must be a list of names, got {show(arms)}")
    names = tuple(text("the name of an arm", arm) for arm in arms)
    if not names or len(names) > MOST_ARMS:
        raise InputError(f"arms must be 1 to {MOST_ARMS:,} names, got {len(names):,}")
    twice = [arm for arm, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"arms must have different names, got {show(twice[0])} twice")
    return names


def _range(ends: Sequence[float] | None, policy: Policy) -> tuple[float, float] | None:
    if ends is None:
        if "rewards in [0, 1]" in policy.needs:
            raise InputError(f"{policy} needs rewards in [0, 1]: give the reward_range to scale them from")
        return None
    try:
        low, high = (finite("Agent", "reward_range", end) for end in ends)
    except (TypeError, ValueError):  # an InputError too
        low = high = 0.0
    if not 0.0 < high - low <= LARGEST:
        raise InputError(f"reward_range must be two finite numbers, low and high, or None, got {show(ends)}")
    return low, high

"""Read the policies that a caller passes, and check them against the rewards they will see."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import getdoc
from math import isfinite

from lowregret._common.validation import short_repr
from lowregret.errors import InputError
from lowregret.policies import Policy
from lowregret.policies.loading import named_class
from lowregret.policies.policy_string import policy as read_policy


def clips(policy: Policy, support: tuple[float, float], where: str, clip: bool) -> bool:
    """Decide whether a policy sees clipped rewards; refuse it where it would need to and must not."""
    low, high = support
    if "rewards in [0, 1]" not in policy.needs or (low >= 0.0 and high <= 1.0):
        return False
    if not clip:
        bounded = isfinite(low) and isfinite(high)
        remedy = "scale them, or" if bounded else "no scale makes them fit, so use another policy, or"
        raise InputError(
            f"{policy} needs rewards in [0, 1], and the rewards of {where} lie in [{low:g}, {high:g}]: "
            f"{remedy} pass clip=True (--clip on the command line, clip = true in a file)"
        )
    return True


def validate_period(policy: Policy, support: tuple[float, float], where: str, prior: bool) -> None:
    """Refuse a policy, or rewards, for which means cannot be adjusted for periods."""
    if policy.Memory is not None or policy.uses_rewards or "reset" in policy.next_round.__code__.co_names:
        raise InputError(
            f"{policy}: period adjusts the mean of each arm, and this policy keeps rewards in its own way: "
            "use another policy, or no period"
        )
    if prior:
        raise InputError(f"{policy}: period and prior cannot be combined: use one of them")
    if support[0] < 0.0:
        raise InputError(
            f"{policy}: period multiplies means by a factor, and rewards of {where} may be negative: scale "
            "them, or use no period"
        )


def reward_note(
    policy: Policy, support: tuple[float, float], clipped: bool, binary: bool, period: int | None = None
) -> str:
    """Return how rewards are changed for a policy and which it does not expect, "" if there is none such."""
    low, high = support
    bound = getattr(policy, "b", 1.0)
    notes = ["rewards clipped to [0, 1]"] if clipped else []
    if "bounded rewards" in policy.needs and not 0.0 <= low <= high <= bound:
        remedy = _scaling(low, high, bound)
        notes.append(f"assumes rewards in [0, {bound:g}], and they lie in [{low:g}, {high:g}]{remedy}")
    if policy.overrides("transform_reward") and not binary:
        words = (getdoc(type(policy).transform_reward) or "").partition("\n")[0].rstrip(".")
        detail = f": {words[0].lower()}{words[1:]}" if words else ""
        notes.append(f"rewards transformed by {type(policy).__name__}{detail}")
    if period is not None:
        notes.append(f"means adjusted for periods of {period:,} decisions")
    return "; ".join(notes)


def _scaling(low: float, high: float, bound: float) -> str:
    """Return how to map rewards to [0, 1], "" where they have no range or another one is assumed."""
    if not (isfinite(low) and isfinite(high)) or bound != 1.0:
        return ""
    return f": scale = [{low:g}, {high:g}] maps them to [0, 1]"


def policy_of(policy: Policy | str) -> Policy:
    """Return a policy, or read it from its name: ``Name``, ``module:Class``, either with parameters."""
    if isinstance(policy, str):
        return read_policy(policy, named_class)
    if isinstance(policy, type) and issubclass(policy, Policy):
        raise InputError(f"{policy.__name__} is a class: write {policy.__name__}()")
    if not isinstance(policy, Policy):
        raise InputError(
            f"a policy must be a Policy or its name, got {short_repr(policy)}{_policy_advice(policy)}"
        )
    return policy


def _policy_advice(policy: object) -> str:
    """Return what to write for what was passed as a policy."""
    if isinstance(policy, list | tuple):
        return ": the policy comes before the arms, as in lr.Agent('MOSSV', ['A', 'B'])"
    if hasattr(policy, "score") or hasattr(policy, "sample"):
        return f": derive the class from lr.Policy, as in class {type(policy).__name__}(lr.Policy)"
    return ": derive a class from lr.Policy and write its score(self, arm, clock)" if callable(policy) else ""


def policies_of(owner: str, policies: Policy | str | Iterable[Policy | str]) -> dict[str, Policy]:
    """Return the policies by their names; refuse none at all, and the same twice."""
    by_name: dict[str, Policy] = {}
    entries = policies if isinstance(policies, Iterable) and not isinstance(policies, str) else [policies]
    for policy in map(policy_of, entries):
        if str(policy) in by_name:
            raise InputError(f"{owner}: {policy} is given twice")
        by_name[str(policy)] = policy
    if not by_name:
        raise InputError(f"{owner}: give at least one policy")
    return by_name

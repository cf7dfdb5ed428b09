"""The policy of a stored agent: its class and its parameters as JSON."""

from dataclasses import MISSING, asdict, replace
from typing import Any

from lowregret._common.validation import short_repr
from lowregret.errors import InputError
from lowregret.policies import POLICIES, Policy
from lowregret.policies.base import fields_of
from lowregret.policies.loading import module_of


class OwnPolicyError(InputError):
    """The policy of a stored agent is of a class that is not part of lowregret."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        super().__init__(
            f"this agent uses {policy}, which is not part of lowregret: pass it, as in policy=Mine(), or on "
            "the command line --policy module:Class"
        )


FORMER_DEFAULTS: dict[str, dict[str, Any]] = {"MOSSV": {"peers": 0.0}, "MOSSVAnytime": {"peers": 0.0}}
"""What policies did before a parameter was added whose default changes it: a description may lack it."""


def describe(policy: Policy) -> dict[str, Any]:
    """Return the class and the parameters of a policy; a class outside the package as ``module:Class``."""
    kind = type(policy)
    ours = POLICIES.get(kind.__name__) is kind
    title = kind.__name__ if ours else f"{module_of(kind)}:{kind.__qualname__}"
    parameters = asdict(policy)  # type: ignore[call-overload]  # every subclass of Policy is a dataclass
    for name, value in parameters.items():
        if not isinstance(value, str | int | float | None):
            parameters[name] = repr(value)
    return {"class": title, "parameters": parameters}


def current_description(description: Any) -> dict[str, Any]:
    """Return the stored description of a policy as it would be stored now."""
    try:
        title, parameters = str(description["class"]), dict(description["parameters"])
    except (KeyError, TypeError, ValueError):
        raise InputError(f"a policy has a class and parameters, got {short_repr(description)}") from None
    fields = fields_of(POLICIES[title]) if title in POLICIES else ()
    defaults = {field.name: field.default for field in fields if field.default is not MISSING}
    return {"class": title, "parameters": {**defaults, **FORMER_DEFAULTS.get(title, {}), **parameters}}


def is_of_newer_version(description: dict[str, Any]) -> bool:
    """Return whether a class of the package, or one of its parameters, does not exist in this version."""
    title, parameters = description["class"], description["parameters"]
    if ":" in title:  # a class outside the package
        return False
    if title not in POLICIES:
        return True
    return not parameters.keys() <= {field.name for field in fields_of(POLICIES[title])}


def as_created(policy: Policy, description: dict[str, Any]) -> Policy:
    """Return a given policy as a stored agent plays it.

    An agent that was created when ``MOSSV()`` had another default goes on with that, and so does a program
    that opens it with ``MOSSV()``.
    """
    kind, former = type(policy), FORMER_DEFAULTS.get(description["class"], {})
    if POLICIES.get(description["class"]) is kind and all(
        getattr(policy, name) == getattr(kind, name) for name in former
    ):
        created: Policy = replace(policy, **former)  # type: ignore[type-var]  # every subclass is a dataclass
        return created if describe(created) == description else policy
    return policy


def policy_from(description: Any, policy: Policy | None) -> Policy:
    """Create the policy of a description, or check that the given policy matches it."""
    description = current_description(description)
    title, parameters = description["class"], description["parameters"]
    if policy is not None:
        policy = as_created(policy, description)
        if describe(policy) != description:
            raise InputError(f"this agent uses {policy_text(description)}, not {policy}")
        return policy
    if title not in POLICIES:
        raise OwnPolicyError(policy_text(description))
    try:
        return POLICIES[title](**parameters)
    except TypeError:
        raise InputError(f"{title} has no parameters {short_repr(parameters)}") from None


def policy_text(description: dict[str, Any]) -> str:
    """Format the description of a policy on one line."""
    inner = ", ".join(f"{key}={value!r}" for key, value in description["parameters"].items())
    return f"{description['class']}({inner})"

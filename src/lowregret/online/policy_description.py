"""The policy of a stored agent: its class and its parameters as JSON."""

from dataclasses import MISSING, asdict, replace
from typing import Any

from lowregret._common.validation import short_repr
from lowregret.errors import InputError
from lowregret.policies import MOSSV, POLICIES, MOSSVAnytime, Policy
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


ADDED: dict[str, dict[str, Any]] = {"MOSSV": {"peers": 0.0}, "MOSSVAnytime": {"peers": 0.0}}
"""What a policy did before a parameter was added whose default changes it: a description may lack it."""
FORMER_PEERS = (0.0, 4.0)
"""What ``MOSSV()`` meant before its default was ``peers=2``."""


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
    if title in ("MOSSV", "lowregret.policies.mossv:_Anytime"):
        title = "MOSSVAnytime" if parameters.pop("anytime", False) else "MOSSV"
    elif title == "BayesUCBBeta" and parameters.get("c"):
        title = "BayesUCBBetaHorizon"
    elif title == "BayesUCBBeta":
        parameters.pop("c", None)
    fields = fields_of(POLICIES[title]) if title in POLICIES else ()
    defaults = {field.name: field.default for field in fields if field.default is not MISSING}
    return {"class": title, "parameters": {**defaults, **ADDED.get(title, {}), **parameters}}


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

    An agent that was created when MOSSV had another default of ``peers`` goes on with that, and so does a
    program that opens it with ``MOSSV()``.
    """
    if isinstance(policy, MOSSV | MOSSVAnytime) and policy.peers == type(policy).peers:
        for peers in FORMER_PEERS:
            former: Policy = replace(policy, peers=peers)
            if describe(former) == description:
                return former
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

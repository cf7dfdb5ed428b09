"""The settings of an agent as JSON, with the names and defaults of ``Settings``."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from lowregret._common.spec_errors import unknown_key
from lowregret._common.validation import short_repr
from lowregret.errors import InputError
from lowregret.online.agent_settings import TYPES, Settings, Window, valid_settings
from lowregret.online.policy_description import policy_from
from lowregret.policies import Policy


def stored_settings(values: Mapping[str, Any], policy: Policy | None = None) -> Settings:
    """Validate settings as ``to_dict`` returns them; ``policy`` has a class that is not part of lowregret."""
    for name in values:
        if name not in TYPES:
            raise InputError(unknown_key(name, TYPES))
    return settings_from({"arms": None, **values}, policy_from(values.get("policy"), policy))


def settings_from(values: Mapping[str, Any], policy: Policy) -> Settings:
    arguments = {name: value for name, value in values.items() if name in TYPES and name != "policy"}
    for name, value in arguments.items():
        if isinstance(value, dict) and TYPES[name] == Window | None:
            arguments[name] = _window_from(value)
    return valid_settings(policy, **arguments)


def _window_from(stored: Mapping[str, float]) -> Window:
    try:
        return timedelta(seconds=stored["seconds"]) if "seconds" in stored else int(stored["decisions"])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError(f"a window has decisions or seconds, got {short_repr(stored)}") from None

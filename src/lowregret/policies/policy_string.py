"""Read a policy from text, as the command line gives it: ``UCB1`` or ``UCB1(alpha=1)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import MISSING
from typing import Any

from lowregret._common.other_names import MODULE, ours
from lowregret._common.text import unknown_name_message
from lowregret.errors import InputError
from lowregret.policies import POLICIES, Policy
from lowregret.policies.base import fields_of


def our_class(name: str) -> type[Policy]:
    """Return the class of lowregret that has a name."""
    if name not in POLICIES:
        if use := ours(name, MODULE):
            raise InputError(f"unknown policy {name!r}: use {use}")
        if all(part in POLICIES for part in re.split(r"[,;\s]+", name)):
            raise InputError(f"cannot read the policy {name!r}: write a list, with a string for each policy")
        if not name.isidentifier():
            raise InputError(f"cannot read the policy {name!r}: write Name or Name(parameter=value)")
        raise InputError(unknown_name_message("policy", name, POLICIES))
    return POLICIES[name]


def policy(text: str, find_class: Callable[[str], type[Policy]] = our_class) -> Policy:
    """Return the policy that a string names; parameters that it leaves out have their defaults."""
    kind = find_class(name_in(text))
    parameters = read_parameters(kind, text)
    for field in fields_of(kind):
        if field.name not in parameters and field.default is MISSING:
            raise InputError(f"{kind.__name__}: give {field.name}, as in {kind.__name__}({field.name}=...)")
    return kind(**parameters)


def name_in(text: str) -> str:
    return text.partition("(")[0].strip()


def read_parameters(kind: type[Policy], text: str) -> dict[str, Any]:
    """Return the parameters that a string such as ``UCB1(alpha=1)`` gives to a class."""
    _, bracket, arguments = text.strip().partition("(")
    if not bracket:
        return {}
    try:
        call = ast.parse(f"{kind.__name__}({arguments}", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        call = None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise InputError(f"cannot read the policy {text!r}: write Name or Name(parameter=value)")
    return _matched_arguments(kind, call, text)


def _matched_arguments(kind: type[Policy], call: ast.Call, text: str) -> dict[str, Any]:
    """Match the arguments of a call with the parameters of a policy."""
    allowed = [field.name for field in fields_of(kind)]
    takes = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
    if len(call.args) > len(allowed):
        raise InputError(f"{kind.__name__}: too many parameters in {text!r}: {takes}")
    parameters: dict[str, Any] = {}
    pairs = [*zip(allowed, call.args, strict=False), *((k.arg or "**", k.value) for k in call.keywords)]
    for name, node in pairs:
        if name not in allowed:
            raise InputError(f"{kind.__name__}: {unknown_name_message('parameter', name, allowed, takes)}")
        if name in parameters:
            raise InputError(f"{kind.__name__}: parameter {name!r} is given twice in {text!r}")
        try:
            parameters[name] = ast.literal_eval(node)
        except (ValueError, TypeError, MemoryError, RecursionError):
            raise InputError(f"{kind.__name__}: {name} must be a plain value in {text!r:.80}") from None
    return parameters

"""Read a policy from text, as the command line gives it: ``UCB1`` or ``UCB1(alpha=1)``."""

from __future__ import annotations

import ast
from dataclasses import MISSING

from lowregret._common.text import unknown
from lowregret.errors import InputError
from lowregret.policies import POLICIES, Policy
from lowregret.policies.base import fields_of


def policy(text: str) -> Policy:
    """Return the policy that a string names; parameters not given have their defaults."""
    kind, given = read_call(text)
    for field in fields_of(kind):
        if field.name not in given and field.default is MISSING:
            raise InputError(f"{kind.__name__}: give {field.name}, as in {kind.__name__}({field.name}=...)")
    return kind(**given)


def read_call(text: str) -> tuple[type[Policy], dict[str, object]]:
    """Return the class that a string names, and the parameters that it gives."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        tree = None
    call = tree if isinstance(tree, ast.Call) else None
    named = call.func if call else tree
    if not isinstance(named, ast.Name):
        raise InputError(f"cannot read the policy {text!r}: write Name or Name(parameter=value)")
    if named.id not in POLICIES:
        raise InputError(unknown("policy", named.id, POLICIES))
    kind = POLICIES[named.id]
    return kind, parameters_of_call(kind, call, text) if call else {}


def parameters_of_call(kind: type[Policy], call: ast.Call, text: str) -> dict[str, object]:
    """Match the arguments of a call with the parameters of a policy."""
    allowed = [field.name for field in fields_of(kind)]
    takes = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
    if len(call.args) > len(allowed):
        raise InputError(f"{kind.__name__}: too many parameters in {text!r}: {takes}")
    given: dict[str, object] = {}
    pairs = [*zip(allowed, call.args, strict=False), *((k.arg or "**", k.value) for k in call.keywords)]
    for name, node in pairs:
        if name not in allowed:
            raise InputError(f"{kind.__name__}: unknown parameter {name!r}: {takes}")
        if name in given:
            raise InputError(f"{kind.__name__}: parameter {name!r} is given twice in {text!r}")
        try:
            given[name] = ast.literal_eval(node)
        except (ValueError, TypeError, MemoryError, RecursionError):
            raise InputError(f"{kind.__name__}: {name} must be a plain value in {text!r:.80}") from None
    return given

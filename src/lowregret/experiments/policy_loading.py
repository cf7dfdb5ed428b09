"""References to classes of policies and to samplers of rewards, by which any process finds the same code."""

import pickle
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from lowregret._common.text import unknown_name_message
from lowregret._common.validation import short_repr
from lowregret.engine.bridge.identity import NoIdentity, identity_of
from lowregret.environments import Bandit
from lowregret.errors import InputError
from lowregret.policies import POLICIES, Policy, loading
from lowregret.policies.loading import file_of
from lowregret.policies.policy_string import name_in, read_parameters


class UnknownClassError(InputError):
    """A class that this process cannot have, and another one perhaps can."""


class Reference(NamedTuple):
    """Where a class of policies, or a sampler, is found: its ``file``, or ``pickled`` without one."""

    module: str
    name: str
    file: str | None = None
    identity: str | None = None
    pickled: bytes | None = None


_by_identity: dict[str, Any] = {}
"""What is passed by value, by its identity, in the process that has it."""


def find_class(text: str, folder: Path) -> Reference:
    """Find the class that ``Name`` (ours) or ``module:Class`` (next to the file, or on the path) names."""
    module, colon, name = text.partition(":")
    if colon:
        file = file_of(text, folder)
        return Reference(module, name, file, _code_identity(loading.load_class(module, name, file)))
    if text not in POLICIES:
        otherwise = f"use module:Class, or one of {', '.join(POLICIES)}"
        raise InputError(unknown_name_message("policy", text, POLICIES, otherwise))
    return refer_to(POLICIES[text])


def read_reference(text: str, folder: Path) -> tuple[type[Policy], dict[str, Any], Reference]:
    """Return class, parameters and reference of ``Name(parameter=value)`` or ``module:Class(...)``."""
    reference = find_class(name_in(text), folder)
    kind = load_code(reference)
    return kind, read_parameters(kind, text), reference


def load_bandit(text: str, folder: Path) -> Bandit:
    """Return the bandit that ``module:name`` names: the bandit itself, or a function that returns it."""
    module, _, name = text.partition(":")
    bandit = loading.load_object(module, name, file_of(text, folder))
    bandit = bandit() if callable(bandit) else bandit
    if not isinstance(bandit, Bandit):
        raise InputError(f"{text} must be a Bandit, or a function that returns one, got {short_repr(bandit)}")
    return bandit


def refer_to(kind: Any) -> Reference:
    """Return the reference by which any process finds a class or a function again."""
    module, name, identity = kind.__module__, getattr(kind, "__qualname__", str(kind)), _code_identity(kind)
    if module.startswith("lowregret."):
        return Reference(module, name, None, identity)
    file = getattr(sys.modules.get(module), "__file__", None)
    if module == "__main__" or not name.isidentifier() or not file:
        _by_identity[identity] = kind
        return Reference(module, name, None, identity, _pickled(kind))
    reference = Reference(module, name, file)
    if _code_identity(load_code(reference)) != identity:
        raise InputError(f"{name}: {file!r} has changed since it was imported: import it again")
    return reference._replace(identity=identity)


def load_code(reference: Reference) -> Any:
    """Return the class or function that a reference names; raise if its code is not what it was."""
    module, name, file, identity, _ = reference
    if file is None and not module.startswith("lowregret."):
        return _by_value(reference)
    try:
        kind = loading.load_object(module, name, file)
    except InputError as error:
        if isinstance(error.__cause__, OSError):
            raise UnknownClassError(str(error)) from error.__cause__
        raise
    if identity is not None and _code_identity(kind) != identity:
        raise UnknownClassError(
            f"{module}:{name}: its code, or what it calls, is not what it was when the run was planned"
        )
    return kind


def _by_value(reference: Reference) -> Any:
    """Return code that no file can be imported for: what is here, or what its pickle makes."""
    module, name, _, identity, pickled = reference
    assert identity is not None
    if identity not in _by_identity:
        if pickled is None:
            raise InputError(
                f"{name}: what {module!r} defines cannot be sent to another process without cloudpickle: "
                f"install that, or put {name} into a file"
            )
        kind = pickle.loads(pickled)
        if _code_identity(kind) != identity:
            raise UnknownClassError(f"{name}: what it calls is not what it was when the run was planned")
        _by_identity[identity] = kind
    return _by_identity[identity]


def _pickled(kind: Any) -> bytes | None:
    """Pickle a class or a function with its code, or return None if that cannot be done."""
    try:
        return bytes(import_module("cloudpickle").dumps(kind))
    except Exception:  # not installed, or whatever a class refers to raises
        return None


def _code_identity(kind: Any) -> str:
    """Return the identity of a class or a function, under which its results are stored."""
    try:
        return identity_of(kind)
    except NoIdentity as error:
        raise InputError(
            f"{getattr(kind, '__name__', kind)}: its code refers to what cannot be hashed: {error}"
        ) from None

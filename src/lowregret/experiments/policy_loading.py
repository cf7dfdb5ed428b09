"""The classes of policies by name, ours and a user's, so that any process finds the same one again."""

from __future__ import annotations

import ast
import hashlib
import pickle
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from lowregret._common.text import unknown
from lowregret.engine.identity import NoIdentity, identity_of
from lowregret.errors import InputError
from lowregret.policies import POLICIES, Policy
from lowregret.policies.inputs import policy_of
from lowregret.policies.policy_string import parameters_of_call


class NotHere(InputError):  # noqa: N818  # it is where the class is
    """A class that this process cannot have, and another one perhaps can."""


class Reference(NamedTuple):
    """Where a class of policies is found, and the identity of its code.

    A class from outside the package has a ``file``, or is ``pickled`` by value if no file can be imported for
    it: a class of a notebook, of the script that runs, or of a function.
    """

    module: str
    name: str
    file: str | None = None
    identity: str | None = None
    pickled: bytes | None = None


_loading = RLock()
"""Held while a file is imported: another thread of a worker would find the module half made."""

_here: dict[str, type[Policy]] = {}
"""The classes that are passed by value, by their identity, in the process that has them."""


def find_class(text: str, folder: Path) -> Reference:
    """Find the class that ``Name`` (ours) or ``module:Class`` (next to the file, or on the path) names."""
    module, colon, name = text.partition(":")
    if not colon:
        if text not in POLICIES:
            otherwise = f"use module:Class, or one of {', '.join(POLICIES)}"
            raise InputError(unknown("policy", text, POLICIES, otherwise))
        return refer_to(POLICIES[text])
    if module.endswith(".py"):
        raise InputError(f"cannot read {text!r}: leave out .py, as in my_policies:Mine")
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", module) or not name.isidentifier():
        raise InputError(f"cannot read {text!r}: write module:Class, as in my_policies:Mine")
    with _first_on_path(folder):
        try:
            spec = find_spec(module)
        except (ImportError, ValueError):
            spec = None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        raise InputError(f"no module {module!r}: put {module.replace('.', '/')}.py into {str(folder)!r}")
    reference = Reference(module, name, spec.origin)
    return reference._replace(identity=_identity(load_class(reference)))


def read_reference(text: str, folder: Path) -> tuple[type[Policy], dict[str, Any], Reference]:
    """Return class, given parameters and reference of ``Name(parameter=value)`` or ``module:Class(...)``."""
    named, bracket, rest = text.strip().partition("(")
    reference = find_class(named.strip(), folder)
    kind = load_class(reference)
    if not bracket:
        return kind, {}, reference
    try:
        call = ast.parse(f"{kind.__name__}({rest}", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        call = None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise InputError(f"cannot read the policy {text!r}: write Name or Name(parameter=value)")
    return kind, parameters_of_call(kind, call, text), reference


def load_policy(policy: Policy | str) -> Policy:
    """Return a policy, or read it from its name, or from ``module:Class`` in this folder or on the path."""
    if isinstance(policy, str) and ":" in policy.partition("(")[0]:
        kind, parameters, _ = read_reference(policy, Path())
        return kind(**parameters)
    return policy_of(policy)


def refer_to(kind: type[Policy]) -> Reference:
    """Return the reference by which any process finds a class again."""
    module, name, identity = kind.__module__, kind.__qualname__, _identity(kind)
    if module.startswith("lowregret."):
        return Reference(module, name, None, identity)
    file = getattr(sys.modules.get(module), "__file__", None)
    if module == "__main__" or "." in name or not file:
        _here[identity] = kind
        return Reference(module, name, None, identity, _pickled(kind))
    reference = Reference(module, name, file)
    if _identity(load_class(reference)) != identity:
        raise InputError(f"{kind.__name__}: {file!r} has changed since it was imported: import it again")
    return reference._replace(identity=identity)


def load_class(reference: Reference) -> type[Policy]:
    """Return the class that a reference names; raise if its code is not what it was."""
    module, name, file, identity, _ = reference
    if file is None and not module.startswith("lowregret."):
        return _by_value(reference)
    try:
        home = _load_file(module, Path(file)) if file else import_module(module)
    except Exception as error:  # whatever the user's module raises
        reason = f"{type(error).__name__}: {error}"
        kind = NotHere if isinstance(error, OSError) else InputError
        raise kind(f"{module}:{name}: cannot import the module: {reason}") from error
    found = getattr(home, name, None)
    if not (isinstance(found, type) and issubclass(found, Policy)):
        raise InputError(f"{module}:{name}: {module!r} has no class {name!r} that is a lowregret.Policy")
    if identity is not None and _identity(found) != identity:
        raise NotHere(
            f"{module}:{name}: its code, or what it calls, is not what it was when the run was planned"
        )
    return found


def _by_value(reference: Reference) -> type[Policy]:
    """Return a class that no file can be imported for: the one that is here, or one made of its pickle."""
    module, name, _, identity, pickled = reference
    assert identity is not None
    if identity not in _here:
        if pickled is None:
            raise InputError(
                f"{name}: a class of {module!r} cannot be sent to another process without cloudpickle: "
                "install that, or put the class into a file"
            )
        found: type[Policy] = pickle.loads(pickled)
        if _identity(found) != identity:
            raise NotHere(f"{name}: what it calls is not what it was when the run was planned")
        _here[identity] = found
    return _here[identity]


def _pickled(kind: type[Policy]) -> bytes | None:
    """Pickle a class with its code, or return None if that cannot be done."""
    try:
        return bytes(import_module("cloudpickle").dumps(kind))
    except Exception:  # not installed, or whatever a class refers to raises
        return None


def _identity(kind: type[Policy]) -> str:
    """Return the identity of a class, under which its results are stored."""
    try:
        return identity_of(kind)
    except NoIdentity as error:
        raise InputError(f"{kind.__name__}: its code refers to what cannot be hashed: {error}") from None


def _load_file(module: str, file: Path) -> object:
    """Import a file under a name of its own for its contents, so that an edit is never missed."""
    contents = file.read_bytes()
    unique = f"{module}_{hashlib.sha256(contents).hexdigest()[:16]}"
    with _loading:
        if unique not in sys.modules:
            spec = spec_from_file_location(unique, file)
            assert spec and spec.loader
            home = module_from_spec(spec)
            sys.modules[unique] = home  # dataclasses look their module up there
            try:
                with _first_on_path(file.parent):
                    exec(compile(contents, str(file), "exec", dont_inherit=True), vars(home))
            except BaseException:
                del sys.modules[unique]
                raise
        return sys.modules[unique]


@contextmanager
def _first_on_path(folder: Path) -> Iterator[None]:
    """Let modules next to a file be imported."""
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        sys.path.remove(entry)

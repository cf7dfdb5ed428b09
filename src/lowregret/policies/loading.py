"""Load a policy that is named by ``module:Class``, from a file in a folder or on the path."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from threading import RLock
from typing import Any

from lowregret.errors import InputError
from lowregret.policies import Policy
from lowregret.policies.policy_string import our_class

_importing = RLock()
"""Held while a file is imported, so that no other thread sees a part of the module."""


def named_class(text: str) -> type[Policy]:
    """Return the class that ``Name`` (ours) or ``module:Class`` (in this folder, or on the path) names."""
    if ":" not in text:
        return our_class(text)
    module, _, name = text.partition(":")
    return load_class(module, name, file_of(text, Path()))


def file_of(text: str, folder: Path) -> str:
    """Return the file of ``module:Class``, in a folder or on the path."""
    module, _, name = text.partition(":")
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
    return spec.origin


def load_object(module: str, name: str, file: str | None) -> Any:
    """Return what a name stands for in a file, or in a module of lowregret if there is no file."""
    try:
        home = _load_file(module, Path(file)) if file else import_module(module)
    except Exception as error:  # whatever the user's module raises
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"{module}:{name}: cannot import the module: {reason}") from error
    return getattr(home, name, None)


def load_class(module: str, name: str, file: str | None) -> type[Policy]:
    """Return a class of policies from a file, or of a module of lowregret if there is no file."""
    kind = load_object(module, name, file)
    if not (isinstance(kind, type) and issubclass(kind, Policy)):
        raise InputError(f"{module}:{name}: {module!r} has no class {name!r} that is a lowregret.Policy")
    return kind


def module_of(kind: type[Policy]) -> str:
    """Return the name of the module of a class, as in ``module:Class``."""
    home = sys.modules.get(kind.__module__)
    return str(getattr(home, "__lowregret_name__", kind.__module__))


def _load_file(module: str, file: Path) -> object:
    """Import a file under a name that depends on its path and contents, so that an edit is never missed."""
    contents = file.read_bytes()
    unique = f"{module}_{hashlib.sha256(bytes(file) + contents).hexdigest()[:16]}"
    with _importing:
        if unique not in sys.modules:
            spec = spec_from_file_location(unique, file)
            assert spec and spec.loader
            home = module_from_spec(spec)
            vars(home)["__lowregret_name__"] = module
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
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        sys.path.remove(entry)

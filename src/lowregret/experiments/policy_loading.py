"""The classes of policies by name, ours and a user's, so that any process finds the same one again."""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

from lowregret.errors import InputError
from lowregret.policies import POLICIES, Policy


class NotHere(InputError):  # noqa: N818  # it is where the class is
    """A class that this process cannot have, and another one perhaps can."""


class Reference(NamedTuple):
    """Where a class of policies is found.

    ``file`` and ``source``, the hash of its contents, belong to a class from outside the package.
    """

    module: str
    name: str
    file: str | None = None
    source: str | None = None


def find_class(text: str, folder: Path) -> Reference:
    """Find the class that ``Name`` (ours) or ``module:Class`` (next to the file, or on the path) names.

    Examples
    --------
    >>> from pathlib import Path
    >>> from lowregret.experiments.policy_loading import find_class
    >>> find_class("MOSS", Path())
    Reference(module='lowregret.policies.moss', name='MOSS', file=None, source=None)
    """
    module, colon, name = text.partition(":")
    if not colon:
        if text not in POLICIES:
            raise InputError(f"unknown policy {text!r}: use module:Class, or one of {', '.join(POLICIES)}")
        return Reference(POLICIES[text].__module__, text)
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", module) or not name.isidentifier():
        raise InputError(f"cannot read {text!r}: write module:Class, as in my_policies:Mine")
    with _first_on_path(folder):
        try:
            spec = find_spec(module)
        except (ImportError, ValueError):
            spec = None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        raise InputError(f"no module {module!r}: put {module.replace('.', '/')}.py into {str(folder)!r}")
    return Reference(module, name, spec.origin, _hash(Path(spec.origin).read_bytes()))


def refer_to(kind: type[Policy]) -> Reference:
    """Say where a class that is already there is found again."""
    module, name = kind.__module__, kind.__qualname__
    if module.startswith("lowregret."):
        return Reference(module, name)
    if "." in name:
        raise InputError(f"{kind.__name__}: define the class at the top level of a module, not in {name!r}")
    file = getattr(sys.modules.get(module), "__file__", None)
    if module == "__main__":
        return Reference(module, name, None, _source_of_main(kind, file))
    if not file:
        raise InputError(f"{kind.__name__}: its module {module!r} has no file to find it again by")
    reference = Reference(module, name, file, _hash(Path(file).read_bytes()))
    if not _same_code(kind, load_class(reference)):
        raise InputError(f"{kind.__name__}: {file!r} has changed since it was imported: import it again")
    return reference


def load_class(reference: Reference) -> type[Policy]:
    """Give the class that a reference names, or say why it cannot be had."""
    module, name, file, source = reference
    try:
        home = _load_file(module, Path(file), source) if file else import_module(module)
    except Exception as error:  # whatever the user's module raises
        reason = f"{type(error).__name__}: {error}"
        kind = NotHere if isinstance(error, OSError | NotHere) else InputError
        raise kind(f"{module}:{name}: cannot import the module: {reason}") from error
    found = getattr(home, name, None)
    if not (isinstance(found, type) and issubclass(found, Policy)):
        raise InputError(f"{module}:{name}: {module!r} has no class {name!r} that is a lowregret.Policy")
    return found


def _load_file(module: str, file: Path, source: str | None) -> object:
    """Import a file under a name of its own for these contents, so that an edit is never missed."""
    contents = file.read_bytes()
    if _hash(contents) != source:
        raise NotHere(f"{str(file)!r} is not what it was when the run was planned")
    unique = f"{module}_{source[:16]}"
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


def _source_of_main(kind: type[Policy], file: str | None) -> str:
    """Hash the script that runs, or the source of a class that was typed in."""
    try:
        return _hash(Path(file).read_bytes() if file else inspect.getsource(kind).encode())
    except (OSError, TypeError):
        raise InputError(
            f"{kind.__name__}: its source cannot be found: put the class into a file and import it"
        ) from None


def _same_code(one: type, other: type) -> bool:
    def code(kind: type) -> dict[str, object]:
        return {name: part.__code__ for name, part in vars(kind).items() if isinstance(part, FunctionType)}

    ours, theirs = code(one), code(other)
    return all(ours[name] == theirs.get(name) for name in ours if not name.startswith("__"))


def _hash(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()

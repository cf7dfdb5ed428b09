"""Where machine code is kept on disk: one small file per compiled function, named by what it computes.

Numba keeps the machine code of a function beside the source file that its code object names. So a function to
be cached is given the name of a file of ours, whose path has the identity of the function's code: a change of
the code is another path. A path holds one signature, since Numba's index is not safe where two processes add
different ones at once.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import binding  # type: ignore[import-untyped]

from lowregret.engine.bridge.function_copies import copy_function
from lowregret.engine.bridge.identity import KERNELS, source_identity

Machine = TypeVar("Machine")

ENGINES, POLICIES = 4, 200
"""How many versions of the engine, and how many classes of policies for each, are kept."""

MAX_CODE = 2**20
"""How many bytes the machine code of a function may take on disk."""

COMPILED = (
    *KERNELS,
    "lowregret.engine.bridge.compile",
    "lowregret.engine.bridge.compiler",
    "lowregret.engine.bridge.external",
    "lowregret.engine.bridge.function_copies",
    "lowregret.engine.bridge.numba_options",
    "lowregret.engine.bridge.own_sampler",
    "lowregret.engine.bridge.policy_types",
    "lowregret.engine.bridge.tuple_methods",
    "lowregret.environments.delays",
    "lowregret.environments.drift",
    "lowregret.environments.families",
    "lowregret.engine.status",
)
"""The modules on which machine code depends: the kernels, what compiles them, and whose numbers they use."""

COMPILED_IDENTITY = source_identity(*COMPILED)
"""The identity of these modules as they were when this process loaded them."""

_off = False
"""Whether this process keeps nothing on disk, since writing there has failed."""


def is_off() -> bool:
    return _off or cache_folder() is None


@cache
def cache_folder() -> Path | None:
    """Return the folder for this engine, compiler and processor, or None where none can be written."""
    parts = (
        COMPILED_IDENTITY,
        numba.__version__,
        np.__version__,
        sys.version,
        platform.machine(),
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
    )
    try:
        from platformdirs import user_cache_path  # missing where only the engine is installed

        root = user_cache_path("lowregret")
        folder = root / hash_of(*parts)
        if not folder.exists():
            if source_identity(*COMPILED) != COMPILED_IDENTITY:
                return None  # the files have changed since this process loaded them
            _delete_old(root, ENGINES - 1)
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except (ImportError, OSError, RuntimeError):  # no home, or none that can be written to
        return None
    return folder


def file_for(group: str, name: str, *parts: object) -> str | None:
    """Return the path of the file that a function is to be cached beside, or None where none can be.

    Old files of a ``group`` are deleted together; ``parts`` identify the machine code besides the group.
    """
    root = cache_folder()
    if _off or root is None:
        return None
    folder, identity = root / group, hash_of(group, name, *parts)
    path = folder / f"{name}_{identity}.py"
    try:
        if path.exists():
            os.utime(folder)
        else:
            if not folder.exists():
                _delete_old(root, POLICIES)
            folder.mkdir(exist_ok=True)
            _reserve(folder, MAX_CODE)
            _write(path, f"# The machine code of {name} is kept beside this file: {identity}\n")
    except OSError:
        return None
    return str(path)


def has_code(path: str) -> bool:
    """Return whether machine code lies beside a file of ours; Numba may have put it elsewhere."""
    return any(Path(path).parent.glob(f"__pycache__/{Path(path).stem}.*.nbi"))


def with_filename(function: FunctionType, path: str) -> FunctionType:
    """Copy a function so that Numba takes it for one of another file."""
    return copy_function(function, filename=path)


def compile_or_load(function: FunctionType, path: str | None, build: Callable[..., Machine]) -> Machine:
    """Compile a function, or load its machine code from beside a file of ours, and keep it there.

    ``build(function, cache=...)`` compiles it. If the disk is full, that costs the cache, not the simulation:
    the function is compiled once more, and this process keeps nothing on disk any more.
    """
    global _off
    if path:
        try:
            _try_to_write(path)
            return build(with_filename(function, path), cache=True)
        except ImportError:  # of the module of another function, which the user has compiled with Numba
            pass
        except (OSError, RuntimeError):
            _off = True
    return build(function, cache=False)


def _try_to_write(path: str) -> None:
    """Raise an OSError if nothing can be written beside a file of ours that has no machine code yet.

    Numba writes as it infers types, and takes a failure within an inner function for a function without a
    body, also when it is asked again. So whether it can write is found out before.
    """
    if not has_code(path):
        trial = Path(f"{path}.{os.getpid()}.trial")
        try:
            with open(trial, "wb") as file:
                file.write(bytes(2**16))
        finally:  # also what a full disk has cut off
            trial.unlink(missing_ok=True)


def hash_of(*parts: Any) -> str:
    """Hash what the parts print as."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:20]


def _reserve(folder: Path, size: int) -> None:
    """Raise ``OSError`` if a file of a size cannot be written.

    If Numba itself finds out, while it looks for what a function calls, it reports that there is no such
    function, and goes on to do so without the disk.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(size))


def _write(path: Path, text: str) -> None:
    """Write a file at once, whoever else does."""
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        if path.exists():  # somebody else was first: keep the time of that file, which Numba may look at
            os.unlink(temporary)
        else:
            os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _delete_old(root: Path, keep: int) -> None:
    used: dict[Path, float] = {}
    for path in root.glob("*") if root.exists() else []:
        with suppress(FileNotFoundError):  # another process deletes it too
            used |= {path: path.stat().st_mtime} if path.is_dir() else {}
    for folder in sorted(used, key=used.__getitem__)[: -keep or None]:
        shutil.rmtree(folder, ignore_errors=True)

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
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numba
import numpy as np
from llvmlite import binding  # type: ignore[import-untyped]

from lowregret.engine.bridge.identity import KERNELS, source_identity

ENGINES, POLICIES = 4, 200
"""How many versions of the engine, and how many classes of policies for each, are kept."""

COMPILED = (
    *KERNELS,
    "lowregret.engine.bridge.compile",
    "lowregret.engine.bridge.compiler",
    "lowregret.engine.bridge.external",
    "lowregret.engine.bridge.function_copies",
    "lowregret.engine.bridge.overloads",
    "lowregret.engine.bridge.own_sampler",
    "lowregret.engine.bridge.policy_types",
)
"""The modules on which machine code depends."""

COMPILED_IDENTITY = source_identity(*COMPILED)
"""The identity of these modules as they were when this process loaded them."""

_off = False


def switch_off() -> None:
    """Keep nothing on disk for the rest of this process, since writing there has failed."""
    global _off
    _off = True


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
            _write(path, f"# The machine code of {name} is kept beside this file: {identity}\n")
    except OSError:
        return None
    return str(path)


def has_code(path: str) -> bool:
    """Return whether machine code lies beside a file of ours; Numba may have put it elsewhere."""
    return any(Path(path).parent.glob(f"__pycache__/{Path(path).stem}.*.nbi"))


def with_filename(function: FunctionType, path: str) -> FunctionType:
    """Copy a function so that Numba takes it for one of another file."""
    return copied(function, function.__code__.replace(co_filename=path), function.__globals__)


def copied(function: FunctionType, code: CodeType, names: dict[str, Any]) -> FunctionType:
    copy = FunctionType(code, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    return copy


def hash_of(*parts: Any) -> str:
    """Hash what the parts print as."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:20]


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

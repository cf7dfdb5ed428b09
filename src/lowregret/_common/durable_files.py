"""Atomic, durable writes of files, and a lock that lets one process write to a folder at a time."""

import errno
import hashlib
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from lowregret.errors import StoreError

try:
    import fcntl
except ImportError:  # Windows, where a folder is not locked
    fcntl = None  # type: ignore[assignment]

_held: set[IO[str]] = set()
"""The lock files of this process, for the handler that runs after a fork."""

UNFINISHED = ".unfinished"
"""Suffix of a file while it is being written."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that after a crash it holds either all the data or what it held before."""
    _replace(path, path.with_name(f"{path.name}.{token_hex(8)}{UNFINISHED}"), data)
    sync(path.parent)


def replace_file(path: Path, data: bytes) -> None:
    """Write a file atomically, in a locked folder; its name is durable once its folder is synced."""
    _replace(path, path.with_name(path.name + UNFINISHED), data)


def _replace(path: Path, partial: Path, data: bytes) -> None:
    try:
        with open(partial, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock_bytes(descriptor: int, size: int, start: int) -> bool:
    """Lock a part of a file until it is closed; return False if another process has locked it."""
    try:
        if fcntl is not None:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, size, start)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


def checksum(path: Path) -> str | None:
    """Return the SHA-256 of a file, or None if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; empty if there is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


@contextmanager
def as_store_error(folder: Path, added: str = "") -> Iterator[None]:
    """Raise an `OSError` of the block as a `StoreError`: why a folder cannot be written to."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        advice = ": free some space and run it again" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
        if error.errno in (errno.EMFILE, errno.ENFILE):
            advice = ": raise the limit of open files (ulimit -n, LimitNOFILE= in a unit of systemd)"
        raise StoreError(f"cannot write to {str(folder)!r}: {reason}{added}{advice}") from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder by a file in it; an error names the process that holds the lock."""
    lock = folder / "lock"
    with as_store_error(folder):
        file = open(lock, "a+", encoding="utf-8")  # noqa: SIM115  # closed below
    if fcntl is not None:
        _held.add(file)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _holder(lock)
            _held.discard(file)
            file.close()
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise StoreError(f"cannot lock {str(folder)!r}: {error.strerror}") from None
            raise StoreError(
                f"{str(folder)!r} is in use by {holder}: wait for it, or use another folder"
            ) from None
    try:
        with as_store_error(folder):
            _write_holder(file)
        yield
    finally:
        _held.discard(file)
        with suppress(OSError):  # also in a fork of the holder, where it is the null device
            file.truncate(0)
            if fcntl is not None:  # as in ``one_at_a_time``
                fcntl.flock(file, fcntl.LOCK_UN)
        file.close()


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait until no other process or thread is in a block with this folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        if fcntl is not None:  # closing does not unlock while a process just forked has it open too
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _write_holder(file: Any) -> None:
    since = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
    file.truncate(0)
    file.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}))
    file.flush()


def _holder(path: Path) -> str:
    try:
        holder = json.loads(path.read_text(encoding="utf-8"))
        return f"process {holder['pid']} on {holder['host']} since {holder['since']}"
    except (OSError, ValueError, TypeError, KeyError):
        return "another process"


def _drop_inherited_locks() -> None:
    """Replace the locks in a forked process by the null device, lest it hold them when its parent is killed.

    If they were closed, their descriptors could be reused for other files.
    """
    while _held:
        with suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, _held.pop().fileno())
            os.close(null)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_inherited_locks)

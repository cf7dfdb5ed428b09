"""Files that are there whole or not at all, and a folder that one process writes at a time."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from lowregret.errors import StoreError

try:
    import fcntl
except ImportError:  # Windows, where two processes on one folder are not told apart
    fcntl = None  # type: ignore[assignment]

_held: set[IO[str]] = set()
"""The locks of this process; what is done at a fork can be said only once, and for all of them."""

UNFINISHED = ".unfinished"
"""How the name of a file ends while it is being written."""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that after a crash it is either there with all its bytes or not there."""
    place(path, data)
    sync(path.parent)


def place(path: Path, data: bytes) -> None:
    """Write a file under its name, which lasts once its folder is on the disk."""
    partial = path.with_name(path.name + UNFINISHED)
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
    """Wait until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def checksum(path: Path) -> str | None:
    """Give the SHA-256 of a file, or None where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


@contextmanager
def writing(folder: Path, kept: str = "") -> Iterator[None]:
    """Tell in one sentence why a folder cannot be written to."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        advice = ": free some space and run it again" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
        raise StoreError(f"cannot write to {str(folder)!r}: {reason}{kept}{advice}") from None


@contextmanager
def locked(target: Path, lock: Path | None = None) -> Iterator[None]:
    """Hold a folder, or a file by a lock beside it; refuse with the holder's name if another process has it.

    The lock is the operating system's, so that of a killed process is gone with it.
    """
    lock = lock or target / "lock"
    with writing(target):
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
                raise StoreError(f"cannot lock {str(target)!r}: {error.strerror}") from None
            raise StoreError(
                f"{str(target)!r} is in use by {holder}: wait for it, or use another {_word(target)}"
            ) from None
    try:
        with writing(target):
            _sign(file)
        yield
    finally:
        _held.discard(file)
        with suppress(OSError):  # also in a fork of who held it, which has nothing there
            file.truncate(0)
            if fcntl is not None:  # closing is not enough while a worker that was just forked has it open too
                fcntl.flock(file, fcntl.LOCK_UN)
        file.close()


def _word(target: Path) -> str:
    return "folder" if target.is_dir() else "file"


def _sign(file: Any) -> None:
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


def _let_go() -> None:
    """Give a forked worker nothing in place of the locks; else it would hold them when its parent is killed.

    Were they closed instead, their numbers could become those of other files.
    """
    while _held:
        with suppress(OSError, ValueError):
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, _held.pop().fileno())
            os.close(nothing)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)

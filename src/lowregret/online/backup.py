"""Back up an SQLite store while it is used, and restore it: with the files that SQLite has beside it."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex

from lowregret._common.durable_files import UNFINISHED, as_store_error, lock_bytes, sync
from lowregret.errors import InputError, StoreError
from lowregret.online.stores import all_events, retry_if_changed
from lowregret.online.stores.locations import SERVERS, path_of
from lowregret.online.stores.sqlite import SQLiteStore
from lowregret.online.stores.sqlite_connection import is_open_here

SHARED_FIRST, SHARED_SIZE = 0x40000002, 510
"""The bytes of a file that every SQLite connection to it has locked, as SQLite's file format defines them."""


def backup(store: str | os.PathLike[str], file: str | os.PathLike[str]) -> list[str]:
    """Write all agents of an SQLite store to a new file, as they are at one moment; return their names."""
    target = _file(file)
    if target.exists():
        raise InputError(f"{str(target)!r} exists already: use another name")
    return _copy(_file(store), target)


def restore(file: str | os.PathLike[str], store: str | os.PathLike[str]) -> list[str]:
    """Replace an SQLite store, which no process may have open, by a backup; return the names in it."""
    return _copy(_file(file), _file(store))


def _file(where: str | os.PathLike[str]) -> Path:
    if isinstance(where, str) and where.partition("://")[0].lower() in SERVERS:
        raise InputError("this command is for SQLite: back up a PostgreSQL database with pg_dump")
    return Path(os.path.realpath(path_of(where)))  # which SQLite has its files beside


def _copy(source: Path, target: Path) -> list[str]:
    """Copy a store to a place that nobody uses."""
    unfinished = target.with_name(f"{target.name}.{token_hex(8)}{UNFINISHED}")
    store = SQLiteStore(source, read_only=True)
    try:
        names = store.names()
        for name in names:
            with closing(SQLiteStore(source, name, read_only=True)) as one:
                retry_if_changed(partial(_check, one))
        store.copy_to(unfinished)
        store.close()
        with as_store_error(target), _unused(target):
            for end in ("-wal", "-shm", "-journal"):  # first: beside another file they would be applied to it
                target.with_name(target.name + end).unlink(missing_ok=True)
            sync(target.parent)
            unfinished.replace(target)
            sync(target.parent)
        return names
    finally:
        store.close()
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _check(store: SQLiteStore) -> None:
    """Read all events, which checks them."""
    for _ in all_events(store):
        pass


@contextmanager
def _unused(path: Path) -> Iterator[None]:
    """Exclude all others from a file; raise an error if a process has it open."""
    if not path.exists():
        yield
        return
    in_use = f"{str(path)!r} is in use: stop the processes that use it, and try again"
    if is_open_here(os.stat(path)):  # to open and close it would drop the locks of this process
        raise StoreError(in_use)
    descriptor = os.open(path, os.O_RDWR)
    try:
        if not lock_bytes(descriptor, SHARED_SIZE, SHARED_FIRST):
            raise StoreError(in_use)
        yield
    finally:
        os.close(descriptor)

"""Where stores are: paths and URLs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lowregret._common.validation import short_repr
from lowregret.errors import InputError, StoreError
from lowregret.online.agent_settings import DEFAULT_NAME, valid_name
from lowregret.online.stores import TIMEOUT, Store
from lowregret.online.stores.journal import JournalStore
from lowregret.online.stores.sqlite import SQLiteStore

if TYPE_CHECKING:
    from lowregret.online.stores.postgresql import PostgreSQLStore

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)


def path_of(where: str | os.PathLike[str]) -> Path:
    """Return the file of a path or a URL; ``sqlite:///x.db`` is relative, ``sqlite:////x.db`` absolute."""
    text = os.fspath(where)
    if not isinstance(text, str):
        raise InputError(f"a store must be a path as a string, got {short_repr(text)}")
    if "\0" in text:
        raise InputError(f"the name of a file must not contain NUL, got {short_repr(text)}")
    url = _URL.fullmatch(text) if isinstance(where, str) else None
    if url is None:
        return Path(text)
    kind, rest = url.groups()
    if kind.lower() != "sqlite" or not rest.startswith("/") or rest == "/":
        got = short_repr(text) if kind.lower() == "sqlite" else f"a URL that begins with {kind!r}"
        raise InputError(  # without the rest of the URL, which may have a password
            "a store must be a path or a URL such as 'sqlite:///choices.db' or "
            f"'postgresql://host/database', got {got}"
        )
    return Path(rest[1:])


def is_postgresql(where: object) -> bool:
    """Return whether a store is the URL of a PostgreSQL database."""
    return isinstance(where, str) and where.lower().startswith(("postgresql://", "postgres://"))


def open_store(
    where: str | os.PathLike[str] | Store,
    name: str | None,
    creating: bool,
    read_only: bool,
    timeout: float = TIMEOUT,
) -> tuple[Store, str]:
    """Open a store for one agent; return it and a title of the agent for error messages.

    Parameters
    ----------
    where : path, URL or Store
        The store.
    name : str or None
        The name of the agent, None for the only one or the default.
    creating : bool
        Whether a file that does not exist is created.
    read_only : bool
        Whether to leave the store unchanged.
    timeout : float, default 60
        How many seconds a call that reads waits for a server.
    """
    if name is not None:
        valid_name(name)
    if not isinstance(where, str | os.PathLike):
        if hasattr(where, "session") and hasattr(where, "append"):
            return where, type(where).__name__
        raise InputError(f"open_agent: where must be a path, a URL or a store, got {short_repr(where)}")
    if is_postgresql(where):
        found = _postgresql(str(where), name, creating, read_only, timeout)
        return found, found.title if found.name == DEFAULT_NAME else f"agent {found.name!r} in {found.title}"
    path = path_of(where)
    if not creating and not path.exists():
        raise StoreError(f"cannot use {str(path)!r}: there is no such file")
    store = _opened(path, name if name is not None or not creating else DEFAULT_NAME, read_only)
    shown = f"{os.fspath(where)!r}"
    return store, shown if store.name == DEFAULT_NAME else f"agent {store.name!r} in {shown}"


def agent_names(where: str | os.PathLike[str]) -> list[str]:
    """Return the names of the agents in a store, in the order in which they were created."""
    store: PostgreSQLStore | JournalStore | SQLiteStore
    if is_postgresql(where):
        store = _postgresql(str(where), DEFAULT_NAME, False, True, TIMEOUT)
    else:
        path = path_of(where)
        store = (JournalStore if path.suffix == ".journal" else SQLiteStore)(path, read_only=True)
    try:
        return store.names()
    finally:
        store.close()


def _opened(path: Path, name: str | None, read_only: bool) -> SQLiteStore | JournalStore:
    """Open a file; without a name, for its only agent or for the default one."""
    if path.suffix == ".journal":
        journal = JournalStore(path, name, read_only)
        names = journal.names()
        if names and name is not None and names != [name]:
            journal.close()
            raise InputError(
                f"{str(path)!r} holds the agent {names[0]!r}, not {name!r}, and a journal holds one: "
                "use an SQLite file for several"
            )
        return journal
    if name is None:
        name = _only_name(agent_names(path), repr(str(path)))
    return SQLiteStore(path, name, read_only)


def _postgresql(
    url: str, name: str | None, creating: bool, read_only: bool, timeout: float
) -> PostgreSQLStore:
    """Open a database; without a name, for its only agent or for the default one."""
    try:
        from lowregret.online.stores.postgresql import PostgreSQLStore
    except ImportError:
        raise InputError(
            "a PostgreSQL store needs the package psycopg: install lowregret with the extra 'service', as "
            "lowregret[service]"
        ) from None
    options = read_only, timeout, creating
    store = PostgreSQLStore(url, name or DEFAULT_NAME, *options)
    if name is not None or creating:
        return store
    try:
        only = _only_name(store.names(), store.title)
    except BaseException:
        store.close()
        raise
    if only == store.name:
        return store
    store.close()
    return PostgreSQLStore(url, only, *options)


def _only_name(names: list[str], title: str) -> str:
    """Return the name of the agent that is meant where none is passed."""
    if len(names) > 1 and DEFAULT_NAME not in names:
        raise InputError(f"{title} has several agents, pass one of the names: {', '.join(names)}")
    return names[0] if len(names) == 1 else DEFAULT_NAME

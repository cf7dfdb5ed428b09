"""Where stores are: the path of a file, or a URL whose scheme says which kind of store it is."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from lowregret._common.extras import import_extra
from lowregret._common.validation import short_repr
from lowregret.errors import InputError, StoreError
from lowregret.online.agent_settings import DEFAULT_NAME, valid_name
from lowregret.online.stores import TIMEOUT, Store
from lowregret.online.stores.sqlite import SQLiteStore

Opener: TypeAlias = Callable[[str | os.PathLike[str], str, bool, bool, float], Store]
"""Opens a store: its location, the name of the agent, whether to create and only to read, and a timeout."""

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
    scheme, path = url.groups()
    if scheme.lower() != "sqlite" or not path.startswith("/") or path == "/":
        got = short_repr(text) if scheme.lower() == "sqlite" else f"a URL that begins with {scheme!r}"
        raise InputError(  # without the rest of the URL, which may have a password
            "a store must be a path or a URL such as 'sqlite:///choices.db' or "
            f"'postgresql://host/database', got {got}"
        )
    return Path(path[1:])


def _open_file(
    where: str | os.PathLike[str], name: str, creating: bool, read_only: bool, timeout: float
) -> Store:
    path = path_of(where)
    if not creating and not path.exists():
        raise StoreError(f"cannot use {str(path)!r}: there is no such file")
    return SQLiteStore(path, name, read_only)


def _open_postgresql(
    where: str | os.PathLike[str], name: str, creating: bool, read_only: bool, timeout: float
) -> Store:
    import_extra("service", "psycopg")
    from lowregret.online.stores.postgresql import PostgreSQLStore

    return PostgreSQLStore(str(where), name, read_only, timeout, creating)


SERVERS: dict[str, Opener] = {"postgresql": _open_postgresql, "postgres": _open_postgresql}
"""The databases on servers, by the scheme of their URLs, which may have a password."""
_SERVER_URL = re.compile(rf"'?(?:{'|'.join(SERVERS)})://[^\s']*'?")


def without_urls(text: str) -> str:
    """Return a message in which the URLs of servers are replaced by "the store": they may have a password."""
    return _SERVER_URL.sub("the store", text)


def open_store(
    where: str | os.PathLike[str] | Store,
    name: str | None,
    creating: bool,
    read_only: bool,
    timeout: float = TIMEOUT,
) -> tuple[Store, str]:
    """Open a store for one agent, by default the only one; return it and a title for messages."""
    if name is not None:
        valid_name(name)
    if isinstance(where, Store):
        return where, where.title
    if not isinstance(where, str | os.PathLike):
        raise InputError(f"open_agent: where must be a path, a URL or a store, got {short_repr(where)}")
    opener = _opener(where)
    store = opener(where, name or DEFAULT_NAME, creating, read_only, timeout)
    if name is None and not creating:
        try:
            name = _only_name(store)
        except BaseException:
            store.close()
            raise
        if name != store.name:
            store.close()
            store = opener(where, name, creating, read_only, timeout)
    return store, store.title if store.name == DEFAULT_NAME else f"agent {store.name!r} in {store.title}"


def agent_names(where: str | os.PathLike[str], checking_space: bool = False) -> list[str]:
    """Return the names of the agents in a store, in the order in which they were created."""
    store = _opener(where)(where, DEFAULT_NAME, False, True, TIMEOUT)
    try:
        if checking_space:
            store.check_space()
        return store.names()
    finally:
        store.close()


def _opener(where: str | os.PathLike[str]) -> Opener:
    """Return the function that opens this kind of store."""
    url = _URL.fullmatch(where) if isinstance(where, str) else None
    return SERVERS.get(url[1].lower(), _open_file) if url else _open_file


def _only_name(store: Store) -> str:
    """Return the name of the agent that is meant where none is passed."""
    names = store.names()
    if len(names) > 1 and DEFAULT_NAME not in names:
        raise InputError(f"{store.title} has several agents, pass one of the names: {', '.join(names)}")
    return names[0] if len(names) == 1 else DEFAULT_NAME

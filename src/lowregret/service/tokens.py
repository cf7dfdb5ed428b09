"""Bearer tokens: who may decide, read and administer.

A token has 256 random bits, so its SHA-256 does not reveal it; the file holds hashes alone. The file is
read again when it changes: a token that is removed from it is refused at once.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from secrets import token_urlsafe
from threading import Lock
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from lowregret._common.durable_files import as_store_error, one_at_a_time, write_atomically
from lowregret._common.validation import short_repr
from lowregret.errors import InputError, StoreError
from lowregret.service.models import Model
from lowregret.service.problems import RefusedError

Scope: TypeAlias = Literal["decide", "read", "admin"]
SCOPES: tuple[Scope, ...] = ("decide", "read", "admin")
"""``decide`` asks, tells and forgets; ``read`` reads; ``admin`` does all, and creates and changes agents."""
PREFIX = "lrt_"
"""Tokens begin with it, so that tools that search for secrets can find them."""


class Token(Model):
    """What is stored of a token."""

    name: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    scopes: list[Scope]
    created: str


_Tokens = TypeAdapter(list[Token])


class Tokens:
    """The tokens of a file.

    Parameters
    ----------
    path : path
        The file, as ``lowregret token`` writes it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = Lock()
        self._read_at: tuple[int, ...] = ()
        self._tokens: list[Token] = []
        self.scopes_of("")  # refuse a file that cannot be read when the service starts

    def scopes_of(self, token: str) -> frozenset[Scope] | None:
        """Return the scopes of a token, None if it is unknown; every stored hash is compared."""
        digest = sha256(token.encode(errors="surrogatepass")).hexdigest()
        found: frozenset[Scope] | None = None
        for known in self._current():
            if compare_digest(known.sha256, digest):
                found = frozenset(SCOPES if "admin" in known.scopes else known.scopes)
        return found

    def _current(self) -> list[Token]:
        try:
            found = os.stat(self.path)
        except OSError:
            raise StoreError(f"the file of tokens {str(self.path)!r} cannot be read") from None
        changed = found.st_mtime_ns, found.st_ino, found.st_size  # the clock of files is coarse
        if changed != self._read_at:
            with self._lock:
                self._tokens = read_tokens(self.path)
                self._read_at = changed
        return self._tokens


def read_tokens(path: Path) -> list[Token]:
    """Return the tokens of a file."""
    with as_store_error(path):
        text = path.read_bytes()
    try:
        return _Tokens.validate_json(text)
    except ValidationError:
        raise StoreError(f"{str(path)!r} is not a file of tokens: write it with 'lowregret token'") from None


def new_token(path: str | os.PathLike[str], name: str, scopes: list[Scope]) -> str:
    """Add a token to a file, readable by its owner only, and return it; it is stored nowhere."""
    if not name or len(name) > 100 or not name.isprintable():
        raise InputError(f"the name of a token must be 1 to 100 printable characters, got {short_repr(name)}")
    if not scopes or not set(scopes) <= set(SCOPES):
        raise InputError(f"the scopes of a token are some of {', '.join(SCOPES)}, got {short_repr(scopes)}")
    path = Path(path)
    secret = PREFIX + token_urlsafe(32)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    digest = sha256(secret.encode()).hexdigest()
    with as_store_error(path), one_at_a_time(path.parent):
        tokens = read_tokens(path) if path.exists() else []
        if name in (token.name for token in tokens):
            raise InputError(f"{str(path)!r} has a token {name!r}: remove it, or use another name")
        _write(path, [*tokens, Token(name=name, sha256=digest, scopes=list(scopes), created=now)])
    return secret


def remove_token(path: str | os.PathLike[str], name: str) -> None:
    """Remove a token from a file: it is refused from now on."""
    path = Path(path)
    with as_store_error(path), one_at_a_time(path.parent):
        tokens = read_tokens(path)
        left = [token for token in tokens if token.name != name]
        if len(left) == len(tokens):
            raise InputError(f"{str(path)!r} has no token {short_repr(name)}")
        _write(path, left)


def require(tokens: Tokens | None, authorization: str | None, scope: Scope) -> None:
    """Refuse a call whose token does not have a scope; without tokens everything is allowed."""
    if tokens is None:
        return
    kind, _, token = (authorization or "").partition(" ")
    if kind.lower() != "bearer" or not token:
        raise _unauthorized("this service needs a token: send the header 'Authorization: Bearer TOKEN'")
    scopes = tokens.scopes_of(token.strip())
    if scopes is None:
        raise _unauthorized("the token is unknown or was removed", 'error="invalid_token"')
    if scope not in scopes:
        raise RefusedError(
            403,
            "forbidden",
            f"the token lacks the scope {scope!r}",
            {"WWW-Authenticate": f'Bearer realm="lowregret", error="insufficient_scope", scope="{scope}"'},
        )


def _unauthorized(detail: str, more: str = "") -> RefusedError:
    value = 'Bearer realm="lowregret"' + (f", {more}" if more else "")
    return RefusedError(401, "unauthorized", detail, {"WWW-Authenticate": value})


def _write(path: Path, tokens: list[Token]) -> None:
    text = json.dumps(_Tokens.dump_python(tokens), indent=1) + "\n"
    write_atomically(path, text.encode())
    path.chmod(0o600)

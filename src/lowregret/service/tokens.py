"""Bearer tokens: who may decide, read and administer.

A token has 256 random bits, so its SHA-256 does not reveal it; the file holds hashes alone. The file is
read again when it changes: a token that is removed from it is refused at once.
"""

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
from lowregret.online.agent_settings import valid_name
from lowregret.service.models import StrictModel
from lowregret.service.problems import RefusedError

Scope: TypeAlias = Literal["ask", "visitor", "decide", "read", "admin"]
SCOPES: tuple[Scope, ...] = ("ask", "visitor", "decide", "read", "admin")
"""``ask`` asks for one decision a call; ``visitor`` also tells its reward; ``decide`` asks, tells and
forgets; ``read`` reads; ``admin`` does all, and creates and changes agents."""
INCLUDED_IN: dict[Scope, set[Scope]] = {"ask": {"visitor", "decide"}, "visitor": {"decide"}}
"""The scopes that include another one, besides ``admin``, which includes all."""
TOKEN_PREFIX = "lrt_"
"""Tokens begin with it, so that tools that search for secrets can find them."""


class Token(StrictModel):
    """A stored token; ``agents`` are those that it is for, None if for all."""

    name: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    scopes: list[Scope]
    created: str
    agents: list[str] | None = None

    def allows(self, scope: Scope) -> bool:
        """Return whether the token has a scope, or one that includes it."""
        return not {"admin", scope, *INCLUDED_IN.get(scope, ())}.isdisjoint(self.scopes)


_Tokens = TypeAdapter(list[Token])


class Tokens:
    """The tokens of a file, as ``lowregret token`` writes it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = Lock()
        self._read_at: tuple[int, ...] = ()
        self._tokens: list[Token] = []
        self.find("")  # refuse a file that cannot be read when the service starts

    def find(self, token: str) -> Token | None:
        """Return a token as it is stored, None if it is unknown; every stored hash is compared."""
        digest = sha256(token.encode(errors="surrogatepass")).hexdigest()
        matching = [stored for stored in self._current() if compare_digest(stored.sha256, digest)]
        return matching[0] if matching else None

    def _current(self) -> list[Token]:
        try:
            stat = os.stat(self.path)
        except OSError:
            raise StoreError(f"the file of tokens {str(self.path)!r} cannot be read") from None
        changed = stat.st_mtime_ns, stat.st_ino, stat.st_size  # the clock of files is coarse
        if changed != self._read_at:
            with self._lock:
                self._tokens = read_tokens(self.path)
                self._read_at = changed
        return self._tokens


def read_tokens(path: Path) -> list[Token]:
    if not path.is_file():  # a pipe or a device may have no end
        raise StoreError(f"there is no file of tokens {str(path)!r}: write one with 'lowregret token add'")
    with as_store_error(path):
        text = path.read_bytes()
    try:
        return _Tokens.validate_json(text)
    except ValidationError:
        raise StoreError(f"{str(path)!r} is not a file of tokens: write it with 'lowregret token'") from None


def new_token(
    path: str | os.PathLike[str], name: str, scopes: list[Scope], agents: list[str] | None = None
) -> str:
    """Add a token to a file, readable by its owner only, and return it; it is stored nowhere."""
    if not name or len(name) > 100 or not name.isprintable():
        raise InputError(f"the name of a token must be 1 to 100 printable characters, got {short_repr(name)}")
    if not scopes or not set(scopes) <= set(SCOPES):
        raise InputError(f"the scopes of a token are some of {', '.join(SCOPES)}, got {short_repr(scopes)}")
    path = Path(os.path.realpath(path))  # a link stays one
    secret = TOKEN_PREFIX + token_urlsafe(32)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    digest = sha256(secret.encode()).hexdigest()
    with as_store_error(path), one_at_a_time(path.parent):
        tokens = read_tokens(path) if path.exists() else []
        if name in (token.name for token in tokens):
            raise InputError(f"{str(path)!r} has a token {name!r}: remove it, or use another name")
        bound = None if agents is None else [valid_name(agent) for agent in agents]
        new = Token(name=name, sha256=digest, scopes=list(scopes), created=now, agents=bound)
        _write(path, [*tokens, new])
    return secret


def remove_token(path: str | os.PathLike[str], name: str) -> None:
    """Remove a token from a file: it is refused from now on."""
    path = Path(os.path.realpath(path))
    with as_store_error(path), one_at_a_time(path.parent):
        tokens = read_tokens(path)
        others = [token for token in tokens if token.name != name]
        if len(others) == len(tokens):
            raise InputError(f"{str(path)!r} has no token {short_repr(name)}")
        _write(path, others)


def require(tokens: Tokens, authorization: str | None, scope: Scope, agent: str | None) -> Token:
    """Return the token of a call; refuse one that lacks the scope, or is bound to others than an agent."""
    kind, _, token = (authorization or "").partition(" ")
    if kind.lower() != "bearer" or not token:
        advice = "this service needs a token: send the header 'Authorization: Bearer TOKEN'"
        raise RefusedError(401, "unauthorized", advice, _challenge())
    stored = tokens.find(token.strip())
    if stored is None:
        problem = "the token is unknown or was removed"
        raise RefusedError(401, "unauthorized", problem, _challenge(', error="invalid_token"'))
    if not stored.allows(scope):
        needed = "decide" if scope in INCLUDED_IN and "ask" not in stored.scopes else scope
        detail = f"the token {stored.name!r} lacks the scope {needed!r}"
        challenge = _challenge(f', error="insufficient_scope", scope="{needed}"')
        raise RefusedError(403, "forbidden", detail, challenge)
    if agent is not None and stored.agents is not None and agent not in stored.agents:
        raise RefusedError(403, "forbidden", f"the token {stored.name!r} is for calls of other agents alone")
    return stored


def _challenge(error: str = "") -> dict[str, str]:
    return {"WWW-Authenticate": f'Bearer realm="lowregret"{error}'}


def _write(path: Path, tokens: list[Token]) -> None:
    text = json.dumps(_Tokens.dump_python(tokens, exclude_none=True), indent=1) + "\n"
    write_atomically(path, text.encode())
    path.chmod(0o600)

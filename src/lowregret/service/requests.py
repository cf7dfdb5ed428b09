"""Checks of a request before it is answered: where it comes from, how large it is, and how long it takes."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, MutableMapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from types import coroutine
from typing import Any, TypeAlias

from lowregret._common.validation import short_repr
from lowregret.service.models import MAX_BODY_BYTES
from lowregret.service.problems import RefusedError

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

SINGLE_HEADERS = b"authorization", b"content-type", b"host"
"""Headers of which a second one is refused: a proxy may have checked the other one."""
BODY_SECONDS = 10.0
Headers: TypeAlias = tuple[tuple[bytes, bytes], ...]
_HEADERS: Headers = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
API_HEADERS: Headers = (
    *_HEADERS,
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
PAGE_HEADERS: Headers = (
    *_HEADERS,
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        b"frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


def is_loopback(host: str) -> bool:
    """Return whether a host name is this machine's own, whatever a name server says."""
    name = host.strip("[]").lower()
    with suppress(ValueError):
        return name == "localhost" or ip_address(name).is_loopback
    return False


def headers_of(pairs: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers of a request by name."""
    headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in pairs}
    if len(headers) < len(pairs):
        for name in SINGLE_HEADERS:
            if sum(key == name for key, _ in pairs) > 1:
                raise RefusedError(400, "input", f"send the header {name.decode().title()} once, not twice")
    return headers


def check_local(headers: dict[str, str]) -> None:
    """Refuse what a page of another site makes a browser send, by its Host; for a service without tokens."""
    host = headers.get("host", "")
    name = host if host.endswith("]") else host.rsplit(":", 1)[0]
    if not is_loopback(name):
        detail = f"without tokens this service answers to localhost alone, not to {short_repr(host)}"
        raise RefusedError(403, "forbidden", detail)
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        raise RefusedError(403, "forbidden", "without tokens this service answers to no page of another site")


async def body_of(headers: dict[str, str], receive: Receive) -> bytes:
    """Return the body of a request that is JSON, small enough, and sent in time."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(
            415, "input", f"send the body as Content-Type: application/json, got {short_repr(kind)}"
        )
    announced = headers.get("content-length", "0")
    if len(announced) > 12 or (announced.isdecimal() and int(announced) > MAX_BODY_BYTES):
        raise _too_large()
    reading = _read_body(receive)
    try:  # most bodies have arrived, and a timer takes longer than to read them
        future = reading.send(None)
    except StopIteration as end:
        return bytes(end.value)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _resume(reading, future)
    except TimeoutError:
        raise RefusedError(
            408, "input", f"the body did not arrive within {BODY_SECONDS:g} s", {"Connection": "close"}
        ) from None


@coroutine
def _resume(reading: Coroutine[Any, Any, bytes], future: Any) -> Generator[Any, Any, bytes]:
    """Go on with a coroutine that waits for a future."""
    yield future
    return (yield from reading.__await__())


async def _read_body(receive: Receive) -> bytes:
    size, parts = 0, []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise RefusedError(400, "input", "the client has gone")
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise _too_large()
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _too_large() -> RefusedError:
    detail = f"the body must have at most {MAX_BODY_BYTES:,} bytes"
    return RefusedError(413, "too-large", detail, {"Connection": "close"})

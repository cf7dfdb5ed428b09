"""Connections that do not stay open for clients that send nothing, or headers too slowly or without end.

Clients keep connections for further requests. Where there are too many, one that is idle is closed for each
new one, so that no client can keep the others out.
"""

import asyncio
from collections import Counter
from contextlib import suppress
from itertools import count
from typing import Any

try:
    import resource
except ImportError:  # a system without limits of this kind
    resource = None  # type: ignore[assignment]

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from lowregret.service import MAX_CONNECTIONS
from lowregret.service.logs import write_seldom

MAX_OTHER_FILES = 200
"""How many files a worker has open beside its connections, at most, such as those of the store."""
HEADER_SECONDS = 10.0
"""How long a client may take for headers, from connecting or from the first byte of a further request."""
MAX_HEADER_BYTES = 65_536
"""The most bytes of the headers of a request; ``httptools`` itself has no limit."""
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

HTTPProtocol: Any = AutoHTTPProtocol
uses = count(1)
"""Numbers what happens on connections: clocks of event loops have milliseconds, in which several are used."""


class Connection(HTTPProtocol):  # type: ignore[misc]  # its base depends on the parser that is installed
    """A connection of uvicorn that is closed if no request begins in time, or its headers are too large."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._header_bytes, self._last_use = 0, 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._last_use = next(uses)
        self._watch()
        if len(self.connections) > max_connections():
            self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._last_use = next(uses)
        if self._answers():
            self._unwatch()
            self._header_bytes = 0
            return
        if self.cycle is None or not self.cycle.more_body:  # else it is the rest of a body
            self._header_bytes += len(data)
        if self._header_bytes > MAX_HEADER_BYTES and not self.transport.is_closing():
            self.transport.write(TOO_LARGE)
            self.transport.close()
        elif self._deadline is None:
            self._watch()

    def connection_lost(self, error: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(error)

    def _answers(self) -> bool:
        """Return whether the headers of a request are complete, and its answer is not."""
        return bool(self.cycle is not None and not self.cycle.response_complete)

    def _make_room(self) -> None:
        """Close a connection without a request: of the client with the most, the one that is idle longest."""
        clients = Counter(_address(connection) for connection in self.connections)
        idle = [
            (clients[_address(connection)], -connection._last_use, connection)
            for connection in self.connections
            if connection is not self and not connection._answers() and not connection.transport.is_closing()
        ]
        if idle:
            *_, longest = max(idle)
            longest.transport.close()
            write_seldom("connections_closed", client=_address(longest), connections=len(self.connections))

    def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(HEADER_SECONDS, self._close_if_silent)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_if_silent(self) -> None:
        self._deadline = None
        if not self._answers() and not self.transport.is_closing():
            self.transport.close()


def _address(connection: Any) -> str:
    return str(connection.client[0]) if connection.client else "unknown"


def raise_file_limit() -> None:
    """Let this process have as many files open as the system allows: the usual 1,024 are too few."""
    if resource is not None:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def max_connections() -> int:
    """Return how many connections leave enough files for the store."""
    if resource is None:
        return MAX_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = files == resource.RLIM_INFINITY
    return MAX_CONNECTIONS if unlimited else max(1, min(MAX_CONNECTIONS, files - MAX_OTHER_FILES))

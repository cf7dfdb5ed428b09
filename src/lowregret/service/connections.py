"""Connections that do not stay open for clients that send nothing, or headers too slowly or without end."""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 10.0
"""How long a client may take for headers, from connecting or from the first byte of a further request."""
MAX_HEADER_BYTES = 65_536
"""The most bytes of the headers of a request; ``httptools`` itself has no limit."""
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

HTTPProtocol: Any = AutoHTTPProtocol


class Connection(HTTPProtocol):  # type: ignore[misc]  # its base depends on the parser that is installed
    """A connection of uvicorn that is closed if no request begins in time, or its headers are too large."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._header_bytes = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
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

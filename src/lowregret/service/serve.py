"""Serve a store: a process that listens and restarts its workers, and the workers, which answer."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.process import BaseProcess
from threading import Thread
from time import monotonic, sleep
from typing import Any

from lowregret._common.validation import integer
from lowregret.errors import InputError, StoreError
from lowregret.service import require_extra
from lowregret.service.app_options import Options

BACKLOG = 2_048
"""How many clients may wait to be accepted."""
KEEP_ALIVE = 75
"""How many seconds an idle connection stays open, longer than those of common proxies."""
GRACE = 10
"""How many seconds a worker that is told to stop has to answer what it has begun."""
MOST_CONNECTIONS = 1_000
"""How many connections a worker has at the same time; more are answered with 503."""
SWITCH = 0.001
"""Seconds after which a thread lets others run; 0.005 by default, during which a client would wait."""
SHORT_LIFE = 2.0
"""A worker that ends within so many seconds has failed to start, as has one that has not begun to answer."""
FAILURES = 5
"""After how many failures in a row the service ends."""


def serve(
    options: Options,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve the agents of a store until a signal ends the process.

    Parameters
    ----------
    options : Options
        The store and the file of tokens.
    host, port : str, int
        Where to listen; port 0 chooses a free one. Without tokens only an address of this machine is allowed.
    workers : int
        How many processes answer. One that ends is started again.
    announce : callable
        Called with the address when the service listens.
    """
    require_extra("fastapi", "uvicorn")
    from lowregret.service.agents import check_store
    from lowregret.service.tokens import Tokens

    integer("serve", "workers", workers, 64)
    integer("serve", "port", port, 65_535, least=0)
    family, address = _address(host, port)
    if options.tokens is None and not _is_local(address):
        raise InputError(f"--host {host} can be reached by others: pass --tokens, or listen on 127.0.0.1")
    check_store(options.store)
    if options.tokens is not None:
        Tokens(options.tokens)
    try:
        listening = socket.create_server(address, family=family, backlog=BACKLOG)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else an answer waits 40 ms
    except OSError as error:
        raise InputError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    with listening:
        shown = f"[{host}]" if ":" in host else host
        announce(f"http://{shown}:{listening.getsockname()[1]}")
        _supervise(options, listening, workers)


def _address(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    """Return the family and the address of a host."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise InputError(f"there is no host {host!r}") from None
    return family, (str(address[0]), int(address[1]))


def _is_local(address: tuple[str, int]) -> bool:
    from lowregret.service.requests import is_loopback

    return is_loopback(address[0])


@contextmanager
def _signals() -> Iterator[tuple[list[int], Connection]]:
    """Collect the signals that end the service; yield them, and what becomes readable with the first.

    A handler that raises an error could interrupt the start of a worker, which nobody would end then. And a
    signal that comes just before a call that waits does not end the wait, but it makes the pipe readable.
    """
    received: list[int] = []
    woken, wake = Pipe(duplex=False)
    os.set_blocking(wake.fileno(), False)
    former = signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    handlers = {
        number: signal.signal(number, lambda number, _: received.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield received, woken
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(former)
        woken.close()
        wake.close()


def _supervise(options: Options, listening: socket.socket, workers: int) -> None:
    """Keep so many workers running until a signal comes."""
    alive, theirs = Pipe(duplex=False)  # a worker ends when our end is closed
    running: dict[BaseProcess, tuple[float, Any]] = {}
    failures = 0
    with _signals() as (received, woken):
        try:
            while not received:
                while len(running) < workers:
                    answers = get_context("spawn").RawValue("b", 0)  # whether it has begun to answer
                    running[_started(options, listening, alive, answers)] = monotonic(), answers
                wait([woken, *(process.sentinel for process in running)])
                for process in [each for each in running if each.exitcode is not None]:
                    began, answers = running.pop(process)
                    ended = (process.exitcode or 0) >= 0  # by itself, not by a signal
                    failed = ended and (not answers.value or monotonic() - began < SHORT_LIFE)
                    failures = failures + 1 if failed else 0
                    if failures >= FAILURES:
                        raise StoreError("the service failed to start: see the messages above")
                    sleep(0.1 * failures)
        finally:
            _end(running)
            theirs.close()


def _started(options: Options, listening: socket.socket, alive: Connection, answers: Any) -> BaseProcess:
    process = get_context("spawn").Process(
        target=work, args=(options, listening, alive, answers), name="lowregret-worker"
    )
    process.start()
    return process


def _end(running: Collection[BaseProcess]) -> None:
    """End the workers; one that does not end in time is killed."""
    for process in running:
        process.terminate()
    end = monotonic() + GRACE + 2.0
    for process in running:
        process.join(max(end - monotonic(), 0.0))
        if process.exitcode is None:
            process.kill()
            process.join()


def work(options: Options, listening: socket.socket, alive: Connection, answers: Any) -> None:
    """Answer what comes to a socket, until a signal comes or the supervisor is gone; set ``answers`` then."""
    import uvicorn

    from lowregret.service.app import create_app
    from lowregret.service.connections import Connection as HTTPConnection

    sys.setswitchinterval(SWITCH)
    Thread(target=_end_with, args=(alive,), daemon=True).start()
    config = uvicorn.Config(
        create_app(options),
        http=HTTPConnection,
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
        limit_concurrency=MOST_CONNECTIONS,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            answers.value = self.started

    with suppress(KeyboardInterrupt):
        Server(config).run(sockets=[listening])


def _end_with(alive: Connection) -> None:
    """End this process when the other end of a pipe is closed."""
    with suppress(EOFError, OSError):
        alive.recv()
    os.kill(os.getpid(), signal.SIGTERM)

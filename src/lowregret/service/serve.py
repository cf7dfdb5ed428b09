"""Serve a store: a process that listens and restarts its workers, and the workers, which answer."""

import logging
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

from lowregret._common.extras import import_extra
from lowregret._common.validation import integer
from lowregret.errors import InputError, StoreError
from lowregret.service import Options
from lowregret.service.logs import configure, write
from lowregret.service.prometheus import WORKER_COUNTS

BACKLOG = 2_048
KEEP_ALIVE_SECONDS = 75
"""How long an idle connection stays open: longer than those of common proxies."""
STOP_SECONDS = 10
"""How long a worker that is told to stop may take for the requests that it has begun."""
SWITCH_SECONDS = 0.001
"""After how long a thread lets others run; with 0.005, the default of Python, a client would wait."""
MIN_LIFE_SECONDS = 2.0
"""A worker that ends earlier has failed to start, as has one that ends before it answers."""
MAX_FAILURES = 5
"""The service ends after this many failures in a row."""


def serve(
    options: Options,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve the agents of a store until a signal ends the process; ``announce`` is told the address."""
    import_extra("service", "uvicorn")
    from lowregret.service.agents import check_store
    from lowregret.service.requests import is_loopback
    from lowregret.service.tokens import Tokens

    integer("serve", "workers", workers, 64)
    integer("serve", "port", port, 65_535, least=0)
    family, address = _address(host, port)
    if options.tokens is None and not is_loopback(address[0]):
        raise InputError(f"--host {host} can be reached by others: pass --tokens, or listen on 127.0.0.1")
    check_store(options.store)
    if options.tokens is not None:
        Tokens(options.tokens)
    try:
        listener = socket.create_server(address, family=family, backlog=BACKLOG)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else an answer waits 40 ms
    except OSError as error:
        raise InputError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    with listener:
        url_host = f"[{host}]" if ":" in host else host
        announce(f"http://{url_host}:{listener.getsockname()[1]}")
        _supervise(options, listener, workers)


def _address(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    """Return the family and the address of a host."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise InputError(f"there is no host {host!r}") from None
    return family, (str(address[0]), int(address[1]))


@contextmanager
def _signals() -> Iterator[tuple[list[int], Connection]]:
    """Collect the signals that end the service; yield them, and what becomes readable with the first.

    No handler raises: that could interrupt the start of a worker.
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


def _supervise(options: Options, listener: socket.socket, workers: int) -> None:
    """Keep a number of workers running until a signal comes.

    The supervisor of uvicorn does not restart a single worker, and restarts one that cannot start for ever.
    """
    configure()
    alive, theirs = Pipe(duplex=False)  # a worker ends when our end is closed
    running: dict[BaseProcess, tuple[float, Any, int]] = {}
    counts = get_context("spawn").RawArray("d", workers * WORKER_COUNTS)
    failures = 0
    with _signals() as (received, woken):
        try:
            while not received:
                while len(running) < workers:
                    answers = get_context("spawn").RawValue("b", 0)  # whether it has begun to answer
                    number = min({*range(workers)} - {number for *_, number in running.values()})
                    worker = _start_worker(options, listener, alive, answers, counts, number)
                    running[worker] = monotonic(), answers, number
                    write("worker_started", pid=worker.pid)
                wait([woken, *(process.sentinel for process in running)])
                for worker in [worker for worker in running if worker.exitcode is not None]:
                    began, answers, _ = running.pop(worker)
                    write("worker_ended", logging.WARNING, pid=worker.pid, exitcode=worker.exitcode)
                    ended = (worker.exitcode or 0) >= 0  # by itself, not by a signal
                    failed = ended and (not answers.value or monotonic() - began < MIN_LIFE_SECONDS)
                    failures = failures + 1 if failed else 0
                    if failures >= MAX_FAILURES:
                        raise StoreError("the service failed to start: see the messages above")
                    sleep(0.1 * failures)
        finally:
            listener.close()  # so that new connections are refused, and no longer wait
            _end(running)
            theirs.close()


def _start_worker(*arguments: Any) -> BaseProcess:
    process = get_context("spawn").Process(target=work, args=arguments, name="lowregret-worker")
    process.start()
    return process


def _end(running: Collection[BaseProcess]) -> None:
    """End the workers; one that does not end in time is killed."""
    for process in running:
        process.terminate()
    end = monotonic() + STOP_SECONDS + 2.0
    for process in running:
        process.join(max(end - monotonic(), 0.0))
        if process.exitcode is None:
            process.kill()
            process.join()


def work(options: Options, listener: socket.socket, alive: Connection, answers: Any, *counts: Any) -> None:
    """Answer what comes to a socket, until a signal comes or the supervisor is gone; set ``answers`` then."""
    import uvicorn

    from lowregret.service.app import Service
    from lowregret.service.connections import Connection as HTTPConnection
    from lowregret.service.connections import raise_file_limit

    configure()
    raise_file_limit()
    sys.setswitchinterval(SWITCH_SECONDS)
    Thread(target=_end_with, args=(alive,), daemon=True).start()
    config = uvicorn.Config(
        Service(options, *counts),
        http=HTTPConnection,
        access_log=False,
        log_level="error",  # warnings are of requests that strangers send
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            answers.value = self.started

    with suppress(KeyboardInterrupt):
        Server(config).run(sockets=[listener])


def _end_with(alive: Connection) -> None:
    """End this process when the other end of a pipe is closed."""
    with suppress(EOFError, OSError):
        alive.recv()
    os.kill(os.getpid(), signal.SIGTERM)

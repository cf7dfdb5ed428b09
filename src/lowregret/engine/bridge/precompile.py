"""Compile policies in processes beside this one, which keep the machine code on disk.

A process compiles one class at a time, since Numba holds a lock. So while this one compiles the first policy
of a simulation and plays it, others compile the rest, the last one first; whoever comes to a policy that is
being compiled elsewhere waits for it, and loads it from the disk.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import parent_process
from threading import Event, Lock, Thread

from lowregret._common.progress import tick
from lowregret.engine.problem import Problem
from lowregret.errors import InputError

MAX_BYTES = 2**20
"""The largest problem that is sent to another process."""
WAIT_SECONDS = 0.1
SWITCH = "LOWREGRET_COMPILE_PROCESSES"
"""The environment variable that says how many processes compile beside this one."""
WORKER = "from lowregret.engine.bridge.precompile import work; work()"


class Precompiler:
    """Compiles problems in other processes, the last one first."""

    def __init__(self, problems: Mapping[int, Problem], processes: int) -> None:
        self._lock = Lock()
        packed = {place: _packed(problem) for place, problem in problems.items()}
        self._waiting = {place: data for place, data in packed.items() if data}
        self._done = {place: Event() for place in self._waiting}
        self._workers: list[subprocess.Popen[bytes]] = []
        number = min(processes, len(self._waiting))
        self._threads = [Thread(target=self._feed, daemon=True) for _ in range(number)]
        for thread in self._threads:
            thread.start()

    def wait(self, place: int) -> None:
        """Wait for a problem that another process compiles; one that none has begun is left to the caller."""
        with self._lock:
            begun = self._waiting.pop(place, None) is None and place in self._done
        while begun and not self._done[place].wait(WAIT_SECONDS):
            tick()

    def close(self) -> None:
        """Stop the processes."""
        with self._lock:
            self._waiting.clear()
            for worker in self._workers:
                worker.kill()
        for thread in self._threads:
            thread.join()

    def _feed(self) -> None:
        """Send one problem after the other to a process, until none is left or the process ends."""
        with self._lock:
            if not self._waiting:
                return
            pipe = subprocess.PIPE
            command = [sys.executable, "-c", WORKER]
            worker = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
            self._workers.append(worker)
        with suppress(OSError, ValueError), worker:
            assert worker.stdin is not None and worker.stdout is not None
            while (task := self._next()) is not None:
                place, data = task
                try:
                    worker.stdin.write(len(data).to_bytes(8, "big") + data)
                    worker.stdin.flush()
                    worker.stdout.readline()
                finally:
                    self._done[place].set()

    def _next(self) -> tuple[int, bytes] | None:
        with self._lock:
            return self._waiting.popitem() if self._waiting else None


@contextmanager
def precompiled(problems: Sequence[Problem], processes: int | None = None) -> Iterator[Callable[[int], None]]:
    """Compile what is not on disk in other processes while the block runs.

    Yields a function that waits for the problem of a place, where another process compiles it. Nothing is
    started where one policy at most is missing, there is one core, or this process is itself a worker.
    """
    processes = default_processes() if processes is None else processes
    missing = _missing(problems) if processes > 0 and len(problems) > 1 else {}
    if len(missing) < 2:
        yield ignore_place
        return
    compiler = Precompiler(missing, processes)
    try:
        yield compiler.wait
    finally:
        compiler.close()


def default_processes() -> int:
    """Return how many processes compile beside this one: one per core but this one, unless told otherwise."""
    wanted = os.environ.get(SWITCH, "")
    if wanted.isdecimal():
        return int(wanted)
    return 0 if parent_process() is not None else (os.cpu_count() or 1) - 1


def ignore_place(place: int) -> None:
    """Wait for nothing."""


def _missing(problems: Sequence[Problem]) -> dict[int, Problem]:
    """Return the problems for which something has to be compiled, by their places."""
    from lowregret.engine.backends.cpu import is_compiled
    from lowregret.engine.bridge.code_cache import is_off

    if is_off():
        return {}
    missing = {}
    for place, problem in enumerate(problems):
        with suppress(InputError):  # of a class that cannot be compiled: whoever plays it raises
            if not is_compiled(problem):
                missing[place] = problem
    return missing


def _packed(problem: Problem) -> bytes:
    """Return a problem with few runs as bytes; empty if another process could not read it.

    The classes of the user stay here: what another process would import is not always what this one has.
    """
    if not type(problem.policy).__module__.startswith("lowregret."):
        return b""
    try:
        data = pickle.dumps(replace(problem, runs=1))
    except Exception:  # whatever an object of the user raises
        return b""
    return data if len(data) <= MAX_BYTES else b""


def work() -> None:
    """Compile the problems that are written to standard input, and answer each with a line."""
    from lowregret.engine.backends.cpu import prepare

    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    while size := sys.stdin.buffer.read(8):
        with suppress(Exception):  # the process that needs it meets the error itself
            problem = pickle.loads(sys.stdin.buffer.read(int.from_bytes(size, "big")))
            prepare(problem)
        output.write(b"\n")
        output.flush()

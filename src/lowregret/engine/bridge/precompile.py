"""Compile policies in processes beside this one, which keep the machine code on disk.

A process compiles one function at a time, since Numba holds a lock. So while this one compiles the first
policy of a simulation, others compile the most costly function that all policies share, then the last policy.
Nothing is compiled twice: while this process needs what another one is compiling, it compiles something else.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from multiprocessing import parent_process
from threading import Event, Lock, Thread
from typing import NamedTuple

from lowregret._common.progress import tick
from lowregret.engine.problem import Problem
from lowregret.errors import InputError

MAX_BYTES = 2**20
"""The largest problem that is sent to another process."""
WAIT_SECONDS = 0.1
SWITCH = "LOWREGRET_COMPILE_PROCESSES"
"""The environment variable that says how many processes compile beside this one."""
WORKER = "from lowregret.engine.bridge.precompile import work; work()"


Worker = subprocess.Popen[bytes]


class Task(NamedTuple):
    """A part of what plays a problem."""

    problem: Problem
    part: str
    data: bytes
    """The problem and the part for another process; empty if that could not read them."""


class Precompiler:
    """Compiles tasks, named by the file that each writes: other processes begin with the last one.

    ``when_idle`` is called, again and again, while this process has nothing to compile.
    """

    def __init__(
        self,
        tasks: dict[str, Task],
        needed: Sequence[set[str]],
        workers: Sequence[Worker],
        when_idle: Callable[[], None],
    ) -> None:
        self._lock = Lock()
        self._waiting, self._needed, self._when_idle = dict(tasks), needed, when_idle
        self._done = {path: Event() for path in tasks}
        self._workers = workers
        self._threads = [Thread(target=self._feed, args=[worker], daemon=True) for worker in workers]
        for thread in self._threads:
            thread.start()

    def wait(self, place: int) -> None:
        """Wait until all is compiled that the problem of a place needs, or compile it."""
        for path in sorted(self._needed[place], key=list(self._done).index):
            while not self._done[path].is_set():
                if (task := self._take(path)) is not None:
                    self._compile(*task)
                else:
                    self._when_idle()
                    if not self._done[path].wait(WAIT_SECONDS):
                        tick()

    def close(self) -> None:
        """Stop the processes."""
        with self._lock:
            self._waiting.clear()
        for worker in self._workers:
            worker.kill()
        for thread in self._threads:
            thread.join()

    def _compile(self, path: str, task: Task) -> None:
        """Compile a task in this process."""
        from lowregret.engine.backends.cpu import prepare
        from lowregret.engine.backends.threads import interruptible

        try:
            with suppress(InputError):  # of a class that cannot be compiled: whoever plays it raises
                interruptible(prepare, task.problem, task.part)
        finally:
            self._done[path].set()

    def _feed(self, worker: Worker) -> None:
        """Send one task after the other to a process, until none is left or the process ends."""
        with suppress(OSError, ValueError), worker:
            assert worker.stdin is not None and worker.stdout is not None
            while (taken := self._take_last()) is not None:
                path, task = taken
                try:
                    worker.stdin.write(len(task.data).to_bytes(8, "big") + task.data)
                    worker.stdin.flush()
                    worker.stdout.readline()
                finally:
                    self._done[path].set()

    def _take(self, path: str) -> tuple[str, Task] | None:
        """Return a task for this process: that of a path if no other has begun it, else the first."""
        with self._lock:
            path = path if path in self._waiting else next(iter(self._waiting), "")
            return (path, self._waiting.pop(path)) if path else None

    def _take_last(self) -> tuple[str, Task] | None:
        """Return the last task that another process can read."""
        with self._lock:
            path = next((path for path, task in reversed(self._waiting.items()) if task.data), "")
            return (path, self._waiting.pop(path)) if path else None


@contextmanager
def precompiled(
    problems: Sequence[Problem],
    processes: int | None = None,
    when_idle: Callable[[], None] = lambda: None,
) -> Iterator[Callable[[int], None]]:
    """Compile what is not on disk in other processes while the block runs.

    Yields a function that waits for the problem of a place, where another process compiles it. Nothing is
    started where one policy at most is missing, there is one core, or this process is itself a worker.
    ``when_idle`` does what is of use while this process waits, such as an import that is needed later.
    """
    processes = default_processes() if processes is None else processes
    if processes == 0 or len(problems) < 2:
        yield ignore_place
        return
    with ExitStack() as stack:
        likely = min(processes, len(problems)) if _is_first_call() else 0
        workers = [_start_worker(stack) for _ in range(likely)]
        tasks, needed = _tasks(problems)
        workers += [_start_worker(stack) for _ in range(min(processes, len(tasks) - 1) - likely)]
        compiler = Precompiler(tasks, needed, workers, when_idle)
        stack.callback(compiler.close)
        yield compiler.wait if len(tasks) > 1 else ignore_place


def _is_first_call() -> bool:
    """Return whether nothing is on disk, which can be known before Numba is imported, in half a second."""
    try:
        from platformdirs import user_cache_path  # missing where only the engine is installed

        return not any(user_cache_path("lowregret").glob("*"))
    except (ImportError, OSError, RuntimeError):  # no home, or none that can be read
        return False


def _start_worker(stack: ExitStack) -> Worker:
    """Start a process that is killed when the stack is left."""
    command, pipe = [sys.executable, "-c", WORKER], subprocess.PIPE
    worker = stack.enter_context(
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
    )
    stack.callback(worker.kill)
    return worker


def default_processes() -> int:
    """Return how many processes compile beside this one: one per core but this one, unless told otherwise."""
    wanted = os.environ.get(SWITCH, "")
    if wanted.isdecimal():
        return int(wanted)
    return 0 if parent_process() is not None else (os.cpu_count() or 1) - 1


def ignore_place(place: int) -> None:
    """Wait for nothing."""


def _tasks(problems: Sequence[Problem]) -> tuple[dict[str, Task], list[set[str]]]:
    """Return what has to be compiled, the most costly of what policies share at the end.

    With it come the names of the tasks that each problem needs.
    """
    from lowregret.engine.backends.cpu import PLAY, missing_parts
    from lowregret.engine.bridge.code_cache import is_off

    own: dict[str, Task] = {}
    shared: dict[str, Task] = {}
    needed: list[set[str]] = [set() for _ in problems]
    for place, problem in enumerate([] if is_off() else problems):
        with suppress(InputError):  # of a class that cannot be compiled: whoever plays it raises
            for part, path in missing_parts(problem).items():
                if path is not None:
                    tasks = own if part == PLAY else shared
                    tasks.setdefault(path, Task(problem, part, _packed(problem, part)))
                    needed[place].add(path)
    costly = dict([shared.popitem()] if shared else [])  # ``Game.called`` lists it last
    return shared | own | costly, needed


def _packed(problem: Problem, part: str) -> bytes:
    """Return a problem with few runs and a part as bytes; empty if another process could not read it.

    The classes of the user stay here: what another process would import is not always what this one has.
    """
    if not type(problem.policy).__module__.startswith("lowregret."):
        return b""
    try:
        data = pickle.dumps((replace(problem, runs=1), part))
    except Exception:  # whatever an object of the user raises
        return b""
    return data if len(data) <= MAX_BYTES else b""


def work() -> None:
    """Compile the tasks that are written to standard input, and answer each with a line."""
    from lowregret.engine.backends.cpu import prepare

    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    while size := sys.stdin.buffer.read(8):
        with suppress(Exception):  # the process that needs it meets the error itself
            prepare(*pickle.loads(sys.stdin.buffer.read(int.from_bytes(size, "big"))))
        output.write(b"\n")
        output.flush()

"""The world of simulated agents: a scheduler, clocks that may be wrong, SQLite files, ten kinds of faults.

Each worker is a thread, but only one runs at a time. Another one may go on wherever an agent touches what
others see: the store, a lock, a pause. The seed decides which, and when what fails.
"""

import json
import os
import shutil
import sqlite3
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from pathlib import Path
from random import Random
from threading import Lock as RealLock
from threading import Thread
from typing import Any
from unittest.mock import patch

from lowregret.errors import LowRegretError, StoreError
from lowregret.online import (
    agent_state,
    calls,
    clock_readings,
    open_agent,
    transactions,
    windows,
)
from lowregret.online.stores import LostError, sql, sqlite
from lowregret.online.stores.connection_pool import register_user, unregister_user
from lowregret.online.stores.sqlite import SQLiteStore

START = 2.0**20
"""The first moment, in seconds; clocks go in steps of 1/1024 s."""
FAULTS = {
    "crash": "a process is killed",
    "power": "all are, and a flush that was under way has written a part of its bytes",
    "interrupt": "a call is interrupted",
    "lost": "the answer to a commit is lost",
    "later": "it comes late",
    "broken": "the connection breaks, and nothing is stored",
    "full": "the disk is full",
    "pause": "a process stops for a minute",
    "slow": "or for seconds",
    "clock": "its clock is set wrong",
}
TIMED = transactions, sql, sqlite, clock_readings
"""The modules that wait, or measure time."""
NEW_KEY = "key of tomorrow"
"""What snapshots of a newer version have."""
MAX_SKEW = 50.0
"""By how many seconds clocks are wrong, at most, but for single readings that leap."""
CONSTANTS = {
    "SNAPSHOT_EVERY": (transactions, [2, 5, 20, 250]),
    "MAX_ARM_UPDATES": (transactions, [5, 30, 5_000]),
    "MAX_GROUP_EVENTS": (transactions, [4, 500]),
    "MAX_ENDED": (windows, [1, 3, 5_000]),
    "MAX_REMEMBERED": (agent_state, [8, 1_000]),
    "MIN_FIRST_HORIZON": (agent_state, [8, 1_000]),
}
"""Limits of the package, and values in histories: small, so that short ones meet them, or their own."""


class KilledError(BaseException):
    """The process of this worker is dead: nothing that it does from here on has an effect."""


class ViolationError(Exception):
    """A promise was broken; ``rule`` is which one."""

    def __init__(self, rule, detail=""):
        self.rule = rule
        super().__init__(f"{rule}: {detail}")


@dataclass(eq=False)
class Call:
    """A call of an agent: a function of ``lowregret.online.calls``, and what its caller was answered.

    ``start`` and ``end`` are how many commits there were. ``reading`` is what the clock of its process
    showed, the right time, and the time by which the process lets windows end.
    """

    function: Any
    arguments: tuple[Any, ...]
    worker: int
    start: int
    end: int | None = None
    reading: tuple[float, float, float] = (START, START, inf)
    outcome: Any = None  # ("ok", value) or ("error", type, message); None if nobody was answered
    void: bool = False  # the store was set back while it was under way, or after it


@dataclass(eq=False)
class Commit:
    """What one session of a store wrote: steps such as ("append", events), by which calls and clocks."""

    steps: list[Any]
    calls: list[Call]
    readings: list[tuple[float, float, float]]  # one for each call
    time: float


class Process:
    """A process, whose clock is wrong by ``skew`` seconds, and its next reading by ``leap`` more."""

    def __init__(self):
        self.life, self.agent, self.opening = object(), None, None
        self.skew, self.leap, self.leapt, self.newer = 0.0, 0.0, False, False


class Worker:
    """A thread of a process; ``fault`` strikes at one of its next store calls: kind, which one, size."""

    def __init__(self, index, process):
        self.index, self.process, self.life = index, process, process.life
        self.turn, self.done, self.ready, self.deadline = RealLock(), False, None, 0.0
        self.turn.acquire()
        self.fault, self.struck = None, False
        self.calls, self.readings, self.caught_up = [], [], True


@dataclass(eq=False)
class World:
    """What all processes of a history share; ``commits`` and ``calls`` are what happened."""

    random: Random
    stickiness: float
    folder: Path
    commits: list[Commit] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    time: float = START
    steps: int = 0
    keys: int = 0
    files: int = 0
    era: int = 0  # increases when the store is set back
    current: Worker | None = None
    alone: bool = False  # in a fork, which has no other threads
    leapt_twice: bool = False  # two readings in a row were far ahead, so an agent must believe them
    next_keys: list[str] | None = None  # while the audit makes a call again
    failure: BaseException | None = None

    def __post_init__(self):
        self.turn = RealLock()
        self.turn.acquire()

    @property
    def path(self):
        return self.folder / f"{self.files}.db"

    def clock(self, process):
        """Return the time as a process sees it."""
        now = int((self.time + process.skew + process.leap) * 1024) / 1024
        self.leapt_twice |= process.leapt and process.leap > 0.0
        process.leapt, process.leap = process.leap > 0.0, 0.0
        if (worker := self.current) is not None:
            if worker.caught_up:  # the first reading of another execution of its calls
                worker.readings, worker.caught_up = [], False
            worker.readings.append((now, self.time, inf))
        return now

    def new_key(self):
        if self.next_keys is not None:
            return self.next_keys.pop(0) if self.next_keys else "0" * 32
        self.keys += 1
        return f"{self.keys:032x}"

    def sleep(self, seconds):
        self.wait(lambda: False, self.time + seconds)

    def step(self):
        """Let time go on, and perhaps another worker."""
        self.steps += 1
        self.time += self.random.random() * 0.01
        if self.steps > 300_000:
            raise ViolationError("each call ends")
        if self.current is not None:
            if self.random.random() >= self.stickiness and not self.alone:
                self._switch()
            self._check_alive()

    def wait(self, ready, deadline):
        """Wait until something holds, or until a time; return whether it holds."""
        worker = self.current
        if worker is None or self.alone:
            self.time = max(self.time, deadline)
            return ready()
        worker.ready, worker.deadline = ready, deadline
        self._switch()
        worker.ready = None
        self._check_alive()
        return ready()

    def _check_alive(self):
        if self.failure is not None or self.current.life is not self.current.process.life:
            raise KilledError

    def _is_able(self, worker):
        if worker.ready is None or self.failure is not None or worker.life is not worker.process.life:
            return True
        return self.time >= worker.deadline or worker.ready()

    def _next(self):
        """Choose who goes on; None when all are done."""
        alive = [worker for worker in self.workers if not worker.done]
        able = [worker for worker in alive if self._is_able(worker)]
        if alive and not able:
            self.time = min(worker.deadline for worker in alive)
            if self.time == inf:
                self.failure = ViolationError("each call ends", "deadlock")
            able = [worker for worker in alive if self._is_able(worker)]
        return able[self.random.randrange(len(able))] if able else None

    def _switch(self):
        me, self.current = self.current, self._next()
        if self.current is not me:
            (self if self.current is None else self.current).turn.release()
            if not me.done:
                me.turn.acquire()

    def run(self, work):
        """Let all workers do their work, a function of a worker, until it is done."""
        threads = [Thread(target=self._live, args=(worker, work), daemon=True) for worker in self.workers]
        for thread in threads:
            thread.start()
        self.current = self._next()
        self.current.turn.release()
        self.turn.acquire()
        for thread in threads:
            thread.join()
        if self.failure is not None:
            raise self.failure

    def _live(self, worker, work):
        worker.turn.acquire()
        try:
            work(worker)
        except KilledError:
            pass
        except BaseException as error:
            self.failure = self.failure or error
        worker.done = True
        self._switch()

    def kill(self, *processes):
        """End processes at once, by default all: what they have not committed is lost."""
        for process in processes or {worker.process for worker in self.workers}:
            process.life, process.agent, process.opening = object(), None, None

    def set_back(self, count):
        """Forget all but the first commits, as the file that is now in place has."""
        for call in self.calls:
            call.void |= call.end is None or call.end > count
        del self.commits[count:]
        self.era += 1

    @contextmanager
    def recorded(self, *group):
        """Record what the present worker calls: functions with their arguments."""
        worker = self.current
        new = [Call(function, arguments, worker.index, len(self.commits)) for function, arguments in group]
        self.calls += new
        worker.calls, worker.readings = new, []
        try:
            yield new
        except LowRegretError as error:
            for call in new:
                call.outcome = outcome_of(error)
            raise
        finally:
            readings = worker.readings[-1:] if len(new) == 1 else worker.readings
            for call, reading in zip(new, readings, strict=False):
                call.reading = reading
            for call in new:
                call.end = len(self.commits)
            worker.calls = []


def outcome_of(value):
    """Return an answer in a form that can be compared."""
    if isinstance(value, Exception):
        return "error", "StoreError" if isinstance(value, StoreError) else type(value).__name__, str(value)
    return "ok", value


class Lock:
    """A lock between the threads of a simulated process."""

    world = None

    def __init__(self):
        self.held = False

    def acquire(self, blocking=True, timeout=-1):
        world = Lock.world
        if world.current is not None:
            world.step()
            deadline = inf if timeout < 0 else world.time + timeout
            if self.held and not world.wait(lambda: not self.held, deadline):
                return False
        self.held = True
        return True

    __enter__ = acquire

    def release(self, *_):
        self.held = False

    __exit__ = release

    def locked(self):
        return self.held


@contextmanager
def installed(world, constants):
    """Replace time, locks, chance and some constants of the package by a world's own."""
    Lock.world = world

    class Recorded(transactions.Transactions):
        """Transactions that tell the world what they were asked to do, and what they answered."""

        def _read_clock(self):
            now = super()._read_clock()
            if world.current is not None:
                world.current.readings[-1] = *world.current.readings[-1][:2], self.state.windows_end
            return now

        def execute(self, call, *arguments):
            if world.current is None or world.current.calls:
                return super().execute(call, *arguments)
            with world.recorded((call, arguments)) as (record,):
                value = super().execute(call, *arguments)
                record.outcome = outcome_of(value)
            return value

        def execute_group(self, group):
            with world.recorded(*group) as records:
                outcomes = super().execute_group(group)
                for record, outcome in zip(records, outcomes, strict=False):
                    record.outcome = outcome_of(outcome)
            return outcomes

    replaced = [
        *((module, "monotonic", lambda: world.time) for module in TIMED),
        *((module, "sleep", world.sleep) for module in (transactions, sqlite)),
        *((module, "new_key", world.new_key) for module in (agent_state, calls)),
        *((CONSTANTS[name][0], name, value) for name, value in constants.items()),
        (transactions, "Lock", Lock),
        (sqlite, "BUSY_SECONDS", 0.02),
        (clock_readings.log, "disabled", True),
        (open_agent, "Transactions", Recorded),
        (open_agent, "token_hex", lambda size: "7" * 2 * size),
    ]
    with ExitStack() as stack:
        for module, name, value in replaced:
            stack.enter_context(patch.object(module, name, value))
        yield


class SimulatedStore(SQLiteStore):
    """The store of one process; at each of its calls workers may change and faults strike."""

    def __init__(self, world, process, path=None):
        self.world, self.process, self.life, self.era = world, process, process.life, world.era
        self.staged, self.inside, self.torn = [], False, None
        super().__init__(path or world.path)

    def point(self, label):
        world, worker = self.world, self.world.current
        if self.life is not self.process.life:
            raise KilledError
        world.step()
        if worker is not None and worker.fault is not None:
            kind, calls, size = worker.fault
            worker.fault = kind, calls - 1, size
            late = kind in ("lost", "later")
            if calls <= 1 and late == (label == "committed") and (kind != "broken" or self.inside):
                worker.fault, worker.struck = None, True
                world.faults.append(kind)
                self.strike(kind, size, label)
        if self.era != world.era and label != "committed":
            if self.inside:
                raise LostError("the connection was lost, and nothing was stored: try again")
            self._follow()

    def strike(self, kind, size, label):
        world = self.world
        match kind:
            case "crash":
                world.kill(self.process)
                raise KilledError
            case "power" if label == "commit":
                self.torn = size  # during the flush that follows
            case "power":
                self.cut_power()
            case "interrupt":
                raise KeyboardInterrupt
            case "lost":
                raise StoreError("the connection was lost: the call may have been stored, so repeat it")
            case "broken":
                raise LostError("the connection was lost, and nothing was stored: try again")
            case "full":
                raise StoreError("the disk is full: free some space and try again")
            case "later" | "pause":
                world.sleep(100.0 * size)
            case "slow":
                world.sleep(5.0 * size)
            case "clock":
                self.process.skew = (2.0 * size - 1.0) * MAX_SKEW

    def __enter__(self):
        self.point("begin")
        self.staged, self.torn = [], None
        super().__enter__()
        self.inside = True

    def __exit__(self, kind, *rest):
        try:
            super().__exit__(kind, *rest)
            if kind is None:
                self.point("committed")
        finally:
            self.inside = False

    def _commit(self):
        self.point("commit")
        super()._commit()

    def _retrying(self, call, *arguments):
        if arguments != ("COMMIT",) or not self.inside or not self.staged:
            return super()._retrying(call, *arguments)
        before, worker = b"" if self.torn is None else read_log(self._place), self.world.current
        result = super()._retrying(call, *arguments)
        called, readings = (worker.calls, worker.readings) if worker else ([], [])
        commit = Commit(self.staged, list(called), list(readings), self.world.time)
        if self.torn is not None:
            after, whole = read_log(self._place), contents(self._place)
            cut = int(len(after) * min(2.0 * self.torn, 1.0))
            with suppress(KilledError):
                self.cut_power(after[:cut] + before[cut:])
            if contents(self.world.path) == whole:
                self.world.commits.append(commit)
            raise KilledError
        self.world.commits.append(commit)
        return result

    def cut_power(self, log=None):
        """Let the world go on from a copy of the files; ``log`` is what the disk has of the ``-wal``."""
        source = self.world.path
        log = read_log(source) if log is None else log
        self.world.files += 1
        shutil.copyfile(source, self.world.path)
        beside(self.world.path).write_bytes(log)
        self.world.kill()
        raise KilledError

    def time(self):
        return self.world.clock(self.process)

    def _rows(self, query, *values):
        self.point("query")
        return super()._rows(query, *values)

    def events(self, after, limit=None):
        if self.world.current is not None:
            self.world.current.caught_up = True
        return super().events(after, limit)

    def _follow(self):
        """Connect to the store that has taken over."""
        unregister_user(self._key)
        self.era, self._path, self._place = self.world.era, self.world.path, self.world.path
        self._status = os.stat(self._place)
        self._key, self._pool = register_user(str(self._place), False)

    def create(self, header):
        self.staged.append(("create", header))
        super().create(header)

    def append(self, events):
        self.staged.append(("append", list(events)))
        super().append(events)

    def save_snapshot(self, position, snapshot):
        snapshot = self._written(position, snapshot)
        self.staged.append(("snapshot", (position, snapshot)))
        super().save_snapshot(position, snapshot)

    def compact(self, position, snapshot):
        snapshot = self._written(position, snapshot)
        self.staged.append(("compact", (position, snapshot)))
        super().compact(position, snapshot)

    def erase(self, request):
        self.staged.append(("erase", request))
        super().erase(request)

    def _written(self, position, snapshot):
        """Return a snapshot as the version of this process writes it: a newer one has a key more."""
        return with_key(position, snapshot, NEW_KEY) if self.process.newer else snapshot

    def _snapshot(self, query, *values):
        """Return a snapshot as the version of this process reads it: a newer one knows that key."""
        snapshot = super()._snapshot(query, *values)
        if snapshot is None or not self.process.newer or NEW_KEY not in snapshot[1]:
            return snapshot
        return snapshot[0], with_key(*snapshot)


def with_key(position, snapshot, key=None):
    """Return a snapshot with a key more, or without that key; one that is damaged as it is."""
    checksum, _, text = snapshot.partition("\n")
    if checksum != sha256(f"{position}\n{text}".encode()).hexdigest():
        return snapshot
    parts = {name: value for name, value in json.loads(text).items() if name != NEW_KEY}
    text = json.dumps(parts if key is None else {**parts, key: 1}, ensure_ascii=False)
    return sha256(f"{position}\n{text}".encode()).hexdigest() + f"\n{text}"


def beside(path):
    return path.with_name(path.name + "-wal")


def read_log(path):
    return beside(path).read_bytes() if beside(path).exists() else b""


def contents(path):
    """Return all rows of a file."""
    with closing(sqlite3.connect(path)) as raw:
        return [raw.execute(f"SELECT * FROM {table}").fetchall() for table in ("agents", "log", "snapshots")]

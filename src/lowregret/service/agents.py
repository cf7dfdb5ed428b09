"""The agents of a store that the service has open."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from shutil import disk_usage
from typing import TYPE_CHECKING, Any, TypeVar

from lowregret._common.validation import short_repr
from lowregret.errors import ConflictError, InputError, LowRegretError, StoreError
from lowregret.online.agent import Agent
from lowregret.online.agent_settings import Settings
from lowregret.online.open_agent import open_or_create
from lowregret.online.stores.locations import agent_names, open_store, path_of
from lowregret.service import MAX_GROUP, logs, views
from lowregret.service.group_commit import GroupCommit
from lowregret.service.history import History
from lowregret.service.problems import RefusedError

if TYPE_CHECKING:
    from lowregret.online.stores import Store

MAX_THREADS = 16
"""The most agents of a process that use the store at the same time."""
MAX_OPEN_AGENTS = 5_000
"""The most agents that a process has open; the least recently used one is closed for another."""
MAX_OPEN_ROWS = 2_000_000
"""The most arms and pending decisions that these had together when they were opened, some 200 bytes each."""
MAX_LISTED_AGENTS = 200
TIMEOUT_SECONDS = 10.0
"""How long a call waits for other processes before it is answered with 503."""
READY_SECONDS = 2.0
"""How long a call waits that asks whether the store can be used."""
MIN_FREE_BYTES = 2**20
"""A disk with less space is full."""

Result = TypeVar("Result")


class LiveAgent:
    """An open agent: its calls, and a second connection by which its log is read meanwhile."""

    def __init__(self, commits: GroupCommit, log: Store) -> None:
        self.agent, self.commits, self.log = commits.agent, commits, log
        self.history, self.reading_log = History(log), asyncio.Lock()
        self.shadow: tuple[int, dict[str, Any]] | None = None  # the report, and the events that it knows
        state = self.agent.transactions.state
        self.rows = len(state.rows) + len(state.pending)
        self._noted: tuple[str, ...] = ()

    async def read(self, view: Callable[[Agent], Result]) -> Result:
        result: Result = await self.commits.read(view, self.agent)
        return result

    async def summary(self) -> dict[str, Any]:
        """Return the summary of the agent; notes that are new are logged."""
        summary = await self.read(views.summary)
        for note in summary["notes"]:
            if note not in self._noted:
                logs.write("note", logging.WARNING, agent=self.agent.name, detail=note)
        self._noted = summary["notes"]
        return summary


class Agents:
    """The agents of a store, which is a path or a URL; ``max_group`` is the most calls of one transaction.

    ``on_stored`` is called after each transaction of an agent that has stored something.
    """

    def __init__(
        self, where: str, max_group: int = MAX_GROUP, on_stored: Callable[[], None] = lambda: None
    ) -> None:
        self.where, self._most, self._on_stored = where, max_group, on_stored
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="lowregret-store")
        self._compiler = ThreadPoolExecutor(1, thread_name_prefix="lowregret-compile")
        self._open: OrderedDict[str, LiveAgent] = OrderedDict()
        self._opening: dict[str, asyncio.Task[LiveAgent]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._check: asyncio.Task[None] | None = None  # whether the store can be used

    async def in_thread(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function that waits for the store in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    async def names(self) -> list[str]:
        return await self.in_thread(agent_names, self.where)

    async def check_ready(self) -> None:
        """Raise an error if the store cannot be used; strangers may ask, so it does not say why.

        All who ask at the same time wait for one attempt, each with a limit of its own.
        """
        if self._check is None or self._check.done():
            self._check = asyncio.create_task(self.in_thread(_check_usable, self.where))
        await asyncio.wait([self._check], timeout=READY_SECONDS)
        reason = self._check.exception() if self._check.done() else TimeoutError("the store does not answer")
        if reason is not None:
            raise StoreError("the store cannot be used at present: see the log of the service") from reason

    async def get(self, name: str) -> LiveAgent:
        live = self._open.get(name)
        if live is not None and not live.commits.failed:
            self._open.move_to_end(name)
            return live
        return await self._open_once(name, None)

    async def get_if_room(self, name: str) -> LiveAgent | None:
        """Return an agent, opened if that closes no other one; else None."""
        return await self.get(name) if name in self._open or not self._is_full() else None

    def _is_full(self) -> bool:
        rows = sum(live.rows for live in self._open.values())
        return len(self._open) >= MAX_OPEN_AGENTS or rows >= MAX_OPEN_ROWS

    async def create(self, name: str, settings: Settings) -> tuple[LiveAgent, bool]:
        """Create an agent; return it and whether it is new. An agent with other settings is a conflict."""
        exists = await self.in_thread(self._exists, name)
        try:
            live = await self._open_once(name, settings)
        except InputError as error:
            raise (ConflictError(str(error)) if exists else error) from None
        return live, not exists

    async def read_log(self, live: LiveAgent, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function that reads the log of an agent, while others use the agent."""
        async with live.reading_log:
            try:
                return await self.in_thread(function, live, *arguments)
            except StoreError:
                live.commits.failed = True  # so that the next call opens both connections again
                raise

    async def close(self) -> None:
        for name in list(self._open):
            self._drop(name)
        while self._closing:
            await asyncio.wait(self._closing)
        self._compiler.shutdown(wait=False, cancel_futures=True)
        self._threads.shutdown(wait=False)

    async def _open_once(self, name: str, settings: Settings | None) -> LiveAgent:
        """Open an agent; calls for the same one wait for the same opening."""
        while (other := self._opening.get(name)) is not None and not other.done():
            await asyncio.wait([other])  # which raises nothing, and cancels nothing
        live = self._open.get(name)
        if live is not None and settings is None and not live.commits.failed:
            return live
        task = asyncio.get_running_loop().create_task(self._open_one(name, settings))
        self._opening[name] = task
        try:
            return await asyncio.shield(task)
        finally:
            if self._opening.get(name) is task and task.done():
                del self._opening[name]

    async def _open_one(self, name: str, settings: Settings | None) -> LiveAgent:
        agent, log = await self.in_thread(self._connect, name, settings)
        self._drop(name)
        while self._open and self._is_full():
            idle = (key for key, live in self._open.items() if live.commits.idle)
            self._drop(next(idle, next(iter(self._open))))
        live = LiveAgent(GroupCommit(agent, self._threads, self._most, self._on_stored), log)
        self._open[name] = live
        self._opening.pop(name, None)
        self._compiler.submit(_compile, agent)
        return live

    def _connect(self, name: str, settings: Settings | None) -> tuple[Agent, Store]:
        if settings is None and not self._exists(name):
            unknown = f"there is no agent {short_repr(name)}: create it first"
            raise RefusedError(404, "unknown-agent", unknown)
        try:
            agent = open_or_create(self.where, settings, name, TIMEOUT_SECONDS)
        except InputError as error:  # a policy of the user's own, whose class the service does not have
            raise (error if settings else ConflictError(str(error))) from None
        try:
            log, _ = open_store(self.where, name, creating=False, read_only=True)
            log.header()  # finds the agent
        except BaseException:
            agent.close()
            raise
        return agent, log

    def _exists(self, name: str) -> bool:
        try:
            store, _ = open_store(self.where, name, creating=False, read_only=True)
        except InputError:  # which no agent can have
            return False
        try:
            return store.header() is not None
        finally:
            store.close()

    def _drop(self, name: str) -> None:
        """Close an agent, when its calls are finished."""
        live = self._open.pop(name, None)
        if live is not None:
            task = asyncio.get_running_loop().create_task(self._close_one(live))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _close_one(self, live: LiveAgent) -> None:
        # First, since the last connection to an SQLite file that may write tidies it up.
        async with live.reading_log:
            with suppress(LowRegretError):
                await self.in_thread(live.log.close)
        with suppress(LowRegretError):
            await live.commits.close()


def hidden_names(where: str) -> list[str]:
    """Return the names of a store that no answer contains, the longest first."""
    names = {where}
    with suppress(InputError):  # a URL that is no file
        names |= {str(path_of(where)), str(path_of(where).absolute())}
    return sorted(names, key=len, reverse=True)


def check_store(where: str) -> None:
    """Create the store if it does not exist, and refuse one that cannot be served."""
    store, _ = open_store(where, None, creating=True, read_only=False)
    store.close()


def _check_usable(where: str) -> None:
    """Read a store, and look for space on its disk."""
    agent_names(where, checking_space=True)
    with suppress(InputError):  # a URL that is no file
        if disk_usage(path_of(where).absolute().parent).free < MIN_FREE_BYTES:
            raise StoreError("the disk is full: free some space")


def _compile(agent: Agent) -> None:
    """Compile the policy of an agent while it answers; its choices stay the same."""
    with suppress(LowRegretError, StoreError):  # plain Python can do it
        agent.transactions.state.compile()

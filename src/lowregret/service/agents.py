"""The agents of a store that the service has open."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from lowregret._common.validation import short_repr
from lowregret.errors import ConflictError, InputError, LowRegretError, StoreError
from lowregret.online.agent import Agent
from lowregret.online.open_agent import open_given
from lowregret.online.stores.locations import agent_names, open_store, path_of
from lowregret.service.app_options import MOST_TOGETHER
from lowregret.service.group_commit import GroupCommit
from lowregret.service.history import History
from lowregret.service.models import NewAgent
from lowregret.service.problems import RefusedError

if TYPE_CHECKING:
    from lowregret.online.stores import Store

THREADS = 16
"""How many agents of a process use the store at the same time, at most."""
MOST_OPEN = 200
"""How many agents a process has open; the one that was used longest ago is closed for another."""
TIMEOUT = 10.0
"""How many seconds a call waits for other processes before it is answered with 503."""

Result = TypeVar("Result")


class LiveAgent:
    """An open agent: its calls, and a second connection by which its log is read meanwhile."""

    def __init__(self, name: str, commits: GroupCommit, log: Store) -> None:
        self.name, self.commits, self.log = name, commits, log
        self.history, self.reading_log = History(log), asyncio.Lock()

    @property
    def agent(self) -> Agent:
        """The agent."""
        return self.commits.agent


class Agents:
    """The agents of a store.

    Parameters
    ----------
    where : str
        The store: a path or a URL.
    most_together : int
        The most calls of one transaction.
    """

    def __init__(self, where: str, most_together: int = MOST_TOGETHER) -> None:
        self.where, self._most = where, most_together
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="lowregret-store")
        self._compiler = ThreadPoolExecutor(1, thread_name_prefix="lowregret-compile")
        self._open: OrderedDict[str, LiveAgent] = OrderedDict()
        self._opening: dict[str, asyncio.Task[LiveAgent]] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def in_thread(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function that waits for the store in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    async def names(self) -> list[str]:
        """Return the names of the agents in the store."""
        return await self.in_thread(agent_names, self.where)

    async def get(self, name: str) -> LiveAgent:
        """Return an agent, opened if it is not."""
        found = self._open.get(name)
        if found is not None and not found.commits.failed:
            self._open.move_to_end(name)
            return found
        return await self._opened(name, None)

    async def create(self, new: NewAgent) -> tuple[LiveAgent, bool]:
        """Create an agent; return it and whether it is new. An agent with other settings is a conflict."""
        new.settings()  # invalid ones are no conflict
        known = new.name in await self.names()
        try:
            live = await self._opened(new.name, new)
        except InputError as error:
            raise ConflictError(str(error)) from None
        return live, not known

    async def read_log(self, live: LiveAgent, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function that reads the log of an agent, while others use the agent."""
        async with live.reading_log:
            try:
                return await self.in_thread(function, live, *arguments)
            except StoreError:
                live.commits.failed = True  # so that the next call opens both connections again
                raise

    async def close(self) -> None:
        """Finish all calls and close the agents."""
        for name in list(self._open):
            self._drop(name)
        while self._closing:
            await asyncio.wait(self._closing)
        self._compiler.shutdown(wait=False, cancel_futures=True)
        self._threads.shutdown(wait=False)

    async def _opened(self, name: str, new: NewAgent | None) -> LiveAgent:
        """Open an agent; calls for the same one wait for the same opening."""
        while name in self._opening:
            with suppress(LowRegretError):
                await asyncio.shield(self._opening[name])
        found = self._open.get(name)
        if found is not None and new is None and not found.commits.failed:
            return found
        task = asyncio.get_running_loop().create_task(self._open_one(name, new))
        self._opening[name] = task
        try:
            return await asyncio.shield(task)
        finally:
            if self._opening.get(name) is task and task.done():
                del self._opening[name]

    async def _open_one(self, name: str, new: NewAgent | None) -> LiveAgent:
        agent, log = await self.in_thread(self._connect, name, new)
        self._drop(name)
        while len(self._open) >= MOST_OPEN:
            idle = (each for each, one in self._open.items() if one.commits.idle)
            self._drop(next(idle, next(iter(self._open))))
        live = LiveAgent(name, GroupCommit(agent, self._threads, self._most), log)
        self._open[name] = live
        self._opening.pop(name, None)
        self._compiler.submit(_compile, agent)
        return live

    def _connect(self, name: str, new: NewAgent | None) -> tuple[Agent, Store]:
        if new is not None:
            agent = open_given(self.where, new.settings(), name, TIMEOUT)
        elif name not in agent_names(self.where):
            raise unknown_agent(name)
        else:
            try:
                agent = open_given(self.where, None, name, TIMEOUT)
            except InputError as error:  # a policy of the user's own, whose class the service does not have
                raise ConflictError(str(error)) from None
        try:
            log, _ = open_store(self.where, name, creating=False, read_only=True)
            log.head()  # finds the agent
        except BaseException:
            agent.close()
            raise
        return agent, log

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


def unknown_agent(name: str) -> RefusedError:
    """Return the error of a name that no agent has."""
    return RefusedError(404, "unknown-agent", f"there is no agent {short_repr(name)}: create it first")


def hidden_names(where: str) -> list[str]:
    """Return the names of a store that no answer contains, the longest first."""
    names = {where}
    with suppress(InputError):  # a URL that is no file
        names |= {str(path_of(where)), str(path_of(where).absolute())}
    return sorted(names, key=len, reverse=True)


def check_store(where: str) -> None:
    """Create the store if it does not exist, and refuse one that cannot be served."""
    if where.endswith(".journal"):
        raise InputError(f"{where!r} is a journal, which holds one agent: serve an SQLite file")
    store, _ = open_store(where, None, creating=True, read_only=False)
    store.close()


def _compile(agent: Agent) -> None:
    """Compile the policy of an agent while it answers; its choices stay the same."""
    with suppress(LowRegretError, StoreError):  # plain Python can do it
        agent._transactions.state.compile()

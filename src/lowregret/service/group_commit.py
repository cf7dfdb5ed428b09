"""Group commit: calls that arrive while a transaction is under way share the next one."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from itertools import islice, takewhile
from typing import Any, TypeAlias

from lowregret.errors import StoreError
from lowregret.online.agent import Agent
from lowregret.online.calls import Change
from lowregret.service import MAX_GROUP

MAX_WAITING = 4_096
"""The most calls that wait for one agent; others are refused."""

QueuedCall: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], bool, asyncio.Future[Any]]
"""A call, its arguments, whether it may share a transaction, and what is answered."""


class GroupCommit:
    """An agent whose calls are awaited; those that arrive together share one transaction and one flush.

    They are made in their order by the threads of ``executor``, at most ``max_group`` in one transaction.
    ``on_stored`` is called after each transaction that has stored something.
    """

    def __init__(
        self,
        agent: Agent,
        executor: Executor,
        max_group: int = MAX_GROUP,
        on_stored: Callable[[], None] = lambda: None,
    ) -> None:
        self.agent, self._executor, self._most = agent, executor, max_group
        self._on_stored, self._position = on_stored, agent.transactions.position
        self._queue: deque[QueuedCall] = deque()
        self._task: asyncio.Task[None] | None = None
        self.failed = self._closing = False
        self.groups = self.calls = 0

    @property
    def idle(self) -> bool:
        """Whether no call is under way."""
        return self._task is None

    async def call(self, transaction: Callable[..., Change], *arguments: Any) -> Any:
        """Make a call of ``lowregret.online.calls``, and return its result when it is durable."""
        return await self._answer(transaction, arguments, True)

    async def read(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function that uses the agent, between two transactions."""
        return await self._answer(function, arguments, False)

    async def close(self) -> None:
        """Finish the calls that wait, and close the agent; further calls are refused."""
        self._closing = True
        while self._task is not None:
            await asyncio.wait([self._task])
        await asyncio.get_running_loop().run_in_executor(self._executor, self.agent.close)

    async def _answer(self, function: Callable[..., Any], arguments: tuple[Any, ...], shares: bool) -> Any:
        if self._closing:
            raise StoreError("this agent is being opened again: try again")
        if len(self._queue) >= MAX_WAITING:
            raise StoreError(f"more than {MAX_WAITING:,} calls wait for this agent: try again")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._queue.append((function, arguments, shares, future))
        if self._task is None:
            self._task = loop.create_task(self._work())
        return await future

    async def _work(self) -> None:
        """Make the calls that wait, until there are none."""
        loop = asyncio.get_running_loop()
        try:
            while self._queue:
                group = self._next()
                try:
                    outcomes = await loop.run_in_executor(self._executor, self._make, group)
                    self._notice_events(group[0][2])
                except Exception as error:
                    self.failed |= isinstance(error, StoreError)
                    outcomes = [error] * len(group)
                self._queue.extendleft(reversed(group[len(outcomes) :]))
                for (*_, future), outcome in zip(group, outcomes, strict=False):
                    if not future.done():  # else its client is gone
                        failed = isinstance(outcome, Exception)
                        (future.set_exception if failed else future.set_result)(outcome)
        finally:
            self._task = None

    def _notice_events(self, shares: bool) -> None:
        """Say that something was stored, if so; what only reads may have seen events of other processes."""
        position = self.agent.transactions.position
        if shares and position > self._position:
            self._on_stored()
        self._position = position

    def _next(self) -> list[QueuedCall]:
        """Take the calls of the next transaction, or one that must be alone."""
        sharing = takewhile(lambda queued: queued[2], islice(self._queue, self._most))
        return [self._queue.popleft() for _ in range(max(len(list(sharing)), 1))]

    def _make(self, group: list[QueuedCall]) -> list[Any]:
        function, arguments, shares, _ = group[0]
        if not shares:
            return [function(*arguments)]
        outcomes = self.agent.transactions.execute_group([queued[:2] for queued in group])
        self.groups += 1
        self.calls += len(outcomes)
        return outcomes

"""Group commit: calls that arrive while a transaction is under way share the next one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from itertools import islice
from typing import Any, TypeAlias

from lowregret.errors import StoreError
from lowregret.online.agent import Agent
from lowregret.online.calls import Change
from lowregret.service.app_options import MOST_TOGETHER

MOST_WAITING = 4_096
"""The most calls that wait for one agent; more are refused."""

Waiting: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], bool, asyncio.Future[Any]]
"""A call, its arguments, whether it may share a transaction, and what is answered."""


class GroupCommit:
    """An agent whose calls are awaited; those that arrive together share one transaction and one flush.

    The calls are made in their order. None waits for others to come: a call to an idle agent begins at once.

    Parameters
    ----------
    agent : Agent
        The agent.
    executor : Executor
        Its threads make the calls, one at a time for each agent.
    most_together : int
        The most calls of one transaction; 1 turns group commit off.
    """

    def __init__(self, agent: Agent, executor: Executor, most_together: int = MOST_TOGETHER) -> None:
        self.agent, self._executor, self._most = agent, executor, most_together
        self._waiting: deque[Waiting] = deque()
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
        if len(self._waiting) >= MOST_WAITING:
            raise StoreError(f"more than {MOST_WAITING:,} calls wait for this agent: try again")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._waiting.append((function, arguments, shares, future))
        if self._task is None:
            self._task = loop.create_task(self._work())
        return await future

    async def _work(self) -> None:
        """Make the calls that wait, until there are none."""
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                group = self._next()
                make = partial(self._together if group[0][2] else self._alone, group)
                try:
                    outcomes = await loop.run_in_executor(self._executor, make)
                except Exception as error:
                    self.failed |= isinstance(error, StoreError)
                    outcomes = [error] * len(group)
                self._waiting.extendleft(reversed(group[len(outcomes) :]))
                for (*_, future), outcome in zip(group, outcomes, strict=False):
                    if not future.done():  # of a client that is gone
                        _settle(future, outcome)
        finally:
            self._task = None

    def _next(self) -> list[Waiting]:
        """Take the calls of the next transaction, or one that must be alone."""
        first = self._waiting[0]
        size = 1
        if first[2]:
            for _, _, shares, _ in islice(self._waiting, 1, self._most):
                if not shares:
                    break
                size += 1
        return [self._waiting.popleft() for _ in range(size)]

    def _together(self, group: list[Waiting]) -> list[Any]:
        outcomes = self.agent._transactions.together(
            [(function, arguments) for function, arguments, *_ in group]
        )
        self.groups += 1
        self.calls += len(outcomes)
        return outcomes

    def _alone(self, group: list[Waiting]) -> list[Any]:
        function, arguments, *_ = group[0]
        return [function(*arguments)]


def _settle(future: asyncio.Future[Any], outcome: Any) -> None:
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)

"""Whether the store can be used, found out within a limit of its own, and once for all who ask."""

import asyncio
from contextlib import suppress
from shutil import disk_usage

from lowregret.errors import InputError, StoreError
from lowregret.online.stores.locations import agent_names, path_of
from lowregret.service.agents import Agents

LIMIT_SECONDS = 2.0
MIN_FREE_BYTES = 2**20
"""A disk with less space is full."""


class Readiness:
    """Whether the store of some agents can be used."""

    def __init__(self, agents: Agents) -> None:
        self._agents = agents
        self._task: asyncio.Task[None] | None = None

    async def check(self) -> None:
        """Raise an error if the store cannot be used; strangers may ask, so it does not say why."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._agents.in_thread(_try, self._agents.where))
        await asyncio.wait([self._task], timeout=LIMIT_SECONDS)
        reason = self._task.exception() if self._task.done() else TimeoutError("the store does not answer")
        if reason is not None:
            raise StoreError("the store cannot be used at present: see the log of the service") from reason


def _try(where: str) -> None:
    """Read a store, and look for space on its disk."""
    agent_names(where, checking_space=True)
    with suppress(InputError):
        if disk_usage(path_of(where).absolute().parent).free < MIN_FREE_BYTES:
            raise StoreError("the disk is full: free some space")

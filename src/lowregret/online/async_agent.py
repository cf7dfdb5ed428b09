"""An agent for programs with an event loop: calls are awaited, and the loop goes on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from lowregret._common.validation import short_repr
from lowregret.errors import InputError
from lowregret.online.agent import Agent
from lowregret.online.decisions import Decision

if TYPE_CHECKING:
    import polars

Result = TypeVar("Result")


class AsyncAgent:
    """An agent whose calls are coroutines: ``await agent.ask()``.

    The calls are those of ``Agent``, and are made one after the other by a thread of their own, in the order
    in which they were awaited. A call that is cancelled may still take effect: pass a ``request``, and repeat
    it.

    Parameters
    ----------
    agent : Agent
        The agent, such as ``open_agent`` returns it. Closing this object closes it.

    Examples
    --------
    >>> import asyncio
    >>> import lowregret as lr
    >>> async def main():
    ...     async with lr.AsyncAgent(lr.Agent(lr.UCB1(), ["red", "green"])) as agent:
    ...         choice = await agent.ask()
    ...         print(await agent.tell(choice, 1))
    ...         first, *others = await agent.ask(4)
    ...         print(await agent.forget(first), await agent.forget_many(others[:1]))
    ...         print(await agent.tell_many((each, 0) for each in others[1:]), await agent.pending())
    ...         await agent.add_arm("blue")
    ...         await agent.retire_arm("red")
    ...         table = await agent.summary()
    ...         await agent.close()  # at the latest, the end of the block closes it
    ...     return table["state"].to_list()
    >>> asyncio.run(main())
    True
    True 1
    2 ()
    ['retired', 'active', 'active']
    """

    def __init__(self, agent: Agent) -> None:
        if not isinstance(agent, Agent):
            raise InputError(f"AsyncAgent takes an Agent, got {short_repr(agent)}")
        self.agent = agent
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lowregret-agent")

    @overload
    async def ask(
        self, n: None = None, *, only: Iterable[str] | None = None, request: str | None = None
    ) -> Decision: ...

    @overload
    async def ask(
        self, n: int, *, only: Iterable[str] | None = None, request: str | None = None
    ) -> list[Decision]: ...

    async def ask(
        self, n: int | None = None, *, only: Iterable[str] | None = None, request: str | None = None
    ) -> Decision | list[Decision]:
        """Choose an arm to pull; see ``Agent.ask``.

        Parameters
        ----------
        n : int, optional
            The number of decisions to make at once; they are returned as a list.
        only : list of str, optional
            The arms to choose from.
        request : str, optional
            A name that makes the call idempotent: a repeated call returns the same decisions.

        Returns
        -------
        Decision, or list of Decision
            The arms to pull.
        """
        return await self._call(self.agent.ask, n, only=only, request=request)

    async def tell(self, decision: Decision | str, reward: float) -> bool:
        """Report the reward of a decision; see ``Agent.tell``.

        Parameters
        ----------
        decision : Decision or str
            The decision, or its id.
        reward : float
            The reward.

        Returns
        -------
        bool
            True if the reward is new, False if it was reported before.
        """
        return await self._call(self.agent.tell, decision, reward)

    async def tell_many(self, rewards: Iterable[tuple[Decision | str, float]]) -> int:
        """Report several rewards at once; see ``Agent.tell_many``.

        Parameters
        ----------
        rewards : iterable of (Decision or str, float)
            Decisions or their ids, each with its reward.

        Returns
        -------
        int
            The number of rewards that were not reported before.
        """
        return await self._call(self.agent.tell_many, rewards)

    async def forget(self, decision: Decision | str) -> bool:
        """Discard a decision; see ``Agent.forget``.

        Parameters
        ----------
        decision : Decision or str
            The decision, or its id.

        Returns
        -------
        bool
            True if the decision was pending, False if it was discarded before.
        """
        return await self._call(self.agent.forget, decision)

    async def forget_many(self, decisions: Iterable[Decision | str]) -> int:
        """Discard several decisions at once; see ``Agent.forget_many``.

        Parameters
        ----------
        decisions : iterable of (Decision or str)
            The decisions or their ids.

        Returns
        -------
        int
            The number of decisions that were pending.
        """
        return await self._call(self.agent.forget_many, decisions)

    async def add_arm(self, arm: str) -> None:
        """Add an arm; see ``Agent.add_arm``.

        Parameters
        ----------
        arm : str
            The name of the arm.
        """
        await self._call(self.agent.add_arm, arm)

    async def retire_arm(self, arm: str) -> None:
        """Retire an arm; see ``Agent.retire_arm``.

        Parameters
        ----------
        arm : str
            The name of the arm.
        """
        await self._call(self.agent.retire_arm, arm)

    async def summary(self) -> polars.DataFrame:
        """Return a table of the arms; see ``Agent.summary``.

        Returns
        -------
        polars.DataFrame
            One row per arm.
        """
        return await self._call(self.agent.summary)

    async def pending(self) -> tuple[Decision, ...]:
        """Return the decisions whose rewards have not been reported, oldest first.

        Returns
        -------
        tuple of Decision
            The decisions.
        """
        return await self._call(lambda: self.agent.pending)

    async def close(self) -> None:
        """Finish the calls that were made, and close the agent."""
        await asyncio.get_running_loop().run_in_executor(None, self._thread.shutdown)
        await asyncio.to_thread(self.agent.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"Async{self.agent!r}"

    async def _call(self, call: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
        try:
            made = asyncio.get_running_loop().run_in_executor(
                self._thread, partial(call, *arguments, **options)
            )
        except RuntimeError:  # of a thread that was shut down
            raise InputError("this agent is closed: open it again") from None
        return await made

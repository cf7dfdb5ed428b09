"""An agent for programs with an event loop: calls are awaited, and the loop continues meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Self

from lowregret._common.validation import short_repr
from lowregret.errors import InputError
from lowregret.online.agent import Agent
from lowregret.online.agent_kinds import AsyncCalls, Call, Value


class AsyncAgent(AsyncCalls):
    """An agent whose calls are coroutines: ``await agent.ask()``.

    It has the calls of ``Agent``. What is a property of ``Agent``, except the name, is a coroutine too:
    ``await agent.time()``. A thread makes the calls one after the other, in the order in which they were
    awaited. A call that is cancelled may still take effect: pass a ``request``, and repeat it.

    Parameters
    ----------
    agent : Agent
        The agent, such as ``open_agent`` returns it. Closing this object closes it.

    Examples
    --------
    >>> import asyncio
    >>> async def main():
    ...     async with lr.AsyncAgent(lr.Agent(lr.UCB1(), ["red", "green"])) as agent:
    ...         await agent.compile()
    ...         choice = await agent.ask()
    ...         print(await agent.tell(choice, 1))
    ...         first, *others = await agent.ask(4)
    ...         print(await agent.forget(first), await agent.forget_many(others[:1]))
    ...         print(await agent.tell_many((choice, 0) for choice in others[1:]), await agent.pending())
    ...         print(await agent.time(), agent.name)
    ...         await agent.add_arm("blue")
    ...         await agent.retire_arm("red")
    ...         table = await agent.summary()
    ...         await agent.close()  # at the latest, the end of the block closes it
    ...     return table["state"].to_list()
    >>> asyncio.run(main())
    True
    True 1
    2 ()
    3 None
    ['retired', 'active', 'active']
    """

    def __init__(self, agent: Agent) -> None:
        if not isinstance(agent, Agent):
            raise InputError(f"AsyncAgent takes an Agent, got {short_repr(agent)}")
        self.agent = agent
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lowregret-agent")

    forget_expired = Call(Agent.forget_expired)
    forget_where = Call(Agent.forget_where)
    verify = Call(Agent.verify)
    compact = Call(Agent.compact)
    erase_request = Call(Agent.erase_request)
    to_json = Call(Agent.to_json)
    notes = Value(Agent.notes)

    @property
    def name(self) -> str | None:
        """The name of the agent in its store, None if it has none, as in memory."""
        return self.agent.name

    async def compile(self) -> Self:
        """Compile the policy; the choices stay the same.

        Returns
        -------
        AsyncAgent
            The agent itself.
        """
        await self._call(Agent.compile)
        return self

    async def close(self) -> None:
        """Finish the calls that were made, and close the agent."""
        await asyncio.get_running_loop().run_in_executor(None, self._thread.shutdown)
        await asyncio.to_thread(self.agent.close)

    def __repr__(self) -> str:
        return f"Async{self.agent!r}"

    async def _call(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        call = partial(method, self.agent, *arguments, **options)
        try:
            result = asyncio.get_running_loop().run_in_executor(self._thread, call)
        except RuntimeError:  # of a thread that was shut down
            raise InputError("this agent is closed: open it again") from None
        return await result

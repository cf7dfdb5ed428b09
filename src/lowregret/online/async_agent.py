"""An agent for programs with an event loop: calls are awaited, and the loop continues meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from lowregret._common.validation import short_repr
from lowregret.errors import InputError
from lowregret.online.agent import Agent

P = ParamSpec("P")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])


def like(method: Any, function: Function) -> Function:
    """Return a function with the name, signature and docstring of a method or property of ``Agent``."""
    origin: Any = method.fget if isinstance(method, property) else method
    wraps(origin)(function)
    function.__doc__ = (origin.__doc__ or "").partition("Examples\n")[0].rstrip()
    return function


def _awaited(
    method: Callable[Concatenate[Agent, P], Result],
) -> Callable[Concatenate[AsyncCalls, P], Coroutine[Any, Any, Result]]:
    """Return a coroutine for a method or property of an agent."""
    origin: Any = method.fget if isinstance(method, property) else method

    async def call(self: AsyncCalls, /, *arguments: P.args, **options: P.kwargs) -> Result:
        result: Result = await self._call(origin, *arguments, **options)
        return result

    return like(method, call)


class AsyncCalls:
    """The calls that local and remote agents have, as coroutines."""

    ask = _awaited(Agent.ask)
    tell = _awaited(Agent.tell)
    tell_many = _awaited(Agent.tell_many)
    observe = _awaited(Agent.observe)
    forget = _awaited(Agent.forget)
    forget_many = _awaited(Agent.forget_many)
    pause = _awaited(Agent.pause)
    resume = _awaited(Agent.resume)
    retire = _awaited(Agent.retire)
    add_arm = _awaited(Agent.add_arm)
    retire_arm = _awaited(Agent.retire_arm)
    preview = _awaited(Agent.preview)
    summary = _awaited(Agent.summary)
    verdict = _awaited(Agent.verdict)
    plot = _awaited(Agent.plot)
    events = _awaited(Agent.events)
    rewards = _awaited(Agent.rewards)
    policy = _awaited(Agent.policy)
    arms = _awaited(Agent.arms)
    time = _awaited(Agent.time)
    pending = _awaited(Agent.pending)
    conflicts = _awaited(Agent.conflicts)
    status = _awaited(Agent.status)

    async def close(self) -> None:
        """Close the agent."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _call(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Make a call of a method of ``Agent``, or of the function of a property."""
        raise NotImplementedError


class AsyncAgent(AsyncCalls):
    """An agent whose calls are coroutines: ``await agent.ask()``.

    The calls are those of ``Agent``. What is a property of ``Agent``, except the name, is a coroutine too:
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

    forget_expired = _awaited(Agent.forget_expired)
    forget_where = _awaited(Agent.forget_where)
    verify = _awaited(Agent.verify)
    compact = _awaited(Agent.compact)
    erase_request = _awaited(Agent.erase_request)
    to_json = _awaited(Agent.to_json)
    notes = _awaited(Agent.notes)

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

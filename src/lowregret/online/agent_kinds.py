"""The calls that agents of other kinds have, whose calls a thread makes, or a service: one table.

Each row of ``Calls`` is a method or a property of ``Agent``. A kind of agent says how it makes a call, and
gets a method for each row, with the signature and the docstring of the original.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from lowregret._common.other_names import AGENT, answers
from lowregret.online.agent import Agent

P = ParamSpec("P")
R = TypeVar("R")
Function = TypeVar("Function", bound=Callable[..., Any])


class Call(Generic[P, R]):
    """A row of a table: a method of ``Agent``, or of one of its kinds."""

    def __init__(self, method: Callable[Concatenate[Agent, P], R]) -> None:
        self.method: Any = method

    if TYPE_CHECKING:

        @overload
        def __get__(self, agent: SyncCalls, kind: object) -> Callable[P, R]: ...
        @overload
        def __get__(self, agent: AsyncCalls, kind: object) -> Callable[P, Coroutine[Any, Any, R]]: ...
        def __get__(self, agent: object, kind: object) -> Any: ...


class Value(Generic[R]):
    """A row of a table: a property of ``Agent``, which is a method of a kind whose calls are awaited."""

    def __init__(self, value: Callable[[Agent], R]) -> None:
        self.method: Any = value.fget if isinstance(value, property) else value

    if TYPE_CHECKING:

        @overload
        def __get__(self, agent: SyncCalls, kind: object) -> R: ...
        @overload
        def __get__(self, agent: AsyncCalls, kind: object) -> Callable[[], Coroutine[Any, Any, R]]: ...
        def __get__(self, agent: object, kind: object) -> Any: ...


@answers("an agent", AGENT)
class Calls:
    """The calls of local and remote agents; ``ask``, whose result depends on ``n``, is below."""

    tell = Call(Agent.tell)
    tell_many = Call(Agent.tell_many)
    observe = Call(Agent.observe)
    forget = Call(Agent.forget)
    forget_many = Call(Agent.forget_many)
    pause = Call(Agent.pause)
    resume = Call(Agent.resume)
    retire = Call(Agent.retire)
    add_arm = Call(Agent.add_arm)
    retire_arm = Call(Agent.retire_arm)
    preview = Call(Agent.preview)
    summary = Call(Agent.summary)
    verdict = Call(Agent.verdict)
    plot = Call(Agent.plot)
    events = Call(Agent.events)
    rewards = Call(Agent.rewards)
    policy = Value(Agent.policy)
    arms = Value(Agent.arms)
    time = Value(Agent.time)
    pending = Value(Agent.pending)
    conflicts = Value(Agent.conflicts)
    status = Value(Agent.status)

    def __init_subclass__(cls) -> None:
        """Put a method or a property in the place of each row."""
        for name in dir(cls):
            row = getattr_static(cls, name)
            if isinstance(row, Call | Value):
                setattr(cls, name, cls._member(row))

    @classmethod
    def _member(cls, row: Any) -> Any:
        """Return what a class has for a row."""
        raise NotImplementedError

    def _call(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Make a call of a method of ``Agent``, or of the function of a property."""
        raise NotImplementedError


def _waited(method: Callable[Concatenate[Agent, P], R]) -> Callable[Concatenate[SyncCalls, P], R]:
    """Return a method like one of ``Agent``, which waits for the answer."""

    def call(self: SyncCalls, /, *arguments: P.args, **options: P.kwargs) -> R:
        result: R = self._call(method, *arguments, **options)
        return result

    return _like(method, call)


def _awaited(
    method: Callable[Concatenate[Agent, P], R],
) -> Callable[Concatenate[AsyncCalls, P], Coroutine[Any, Any, R]]:
    """Return a coroutine like a method of ``Agent``."""

    async def call(self: AsyncCalls, /, *arguments: P.args, **options: P.kwargs) -> R:
        result: R = await self._call(method, *arguments, **options)
        return result

    return _like(method, call)


def _like(method: Any, function: Function) -> Function:
    """Return a function with the name, the signature and the docstring of a method, but not its examples."""
    wraps(method)(function)
    function.__doc__ = (method.__doc__ or "").partition("Examples\n")[0].rstrip()
    return function


class SyncCalls(Calls):
    """Calls that return when they are answered."""

    ask = _waited(Agent.ask)

    @classmethod
    def _member(cls, row: Any) -> Any:
        method = _waited(row.method)
        return property(method) if isinstance(row, Value) else method


class AsyncCalls(Calls):
    """Calls that are coroutines."""

    ask = _awaited(Agent.ask)

    @classmethod
    def _member(cls, row: Any) -> Any:
        return _awaited(row.method)

    async def close(self) -> None:
        """Close the agent."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

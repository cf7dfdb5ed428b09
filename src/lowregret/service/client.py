"""Clients of the service: objects with the calls of an agent, which repeat what was not answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from inspect import signature
from time import sleep
from typing import Any, Self, Unpack

from lowregret._common.extras import import_extra
from lowregret._common.user_calls import unknown_argument
from lowregret.errors import InputError
from lowregret.online.agent_kinds import AsyncCalls, SyncCalls
from lowregret.online.agent_settings import Options, settings_or_policy, takes_options, valid_name
from lowregret.policies import Policy
from lowregret.service import protocol
from lowregret.service.protocol import Endpoint, headers, valid_address


@takes_options
def connect(
    url: str,
    policy: Policy | str | None = None,
    arms: Iterable[str] | None = None,
    horizon: int | None = None,
    seed: int = 0,
    reward_range: tuple[float, float] | None = (0, 1),
    *,
    name: str = "default",
    token: str | None = None,
    timeout: float = 30.0,
    fallback: str | None = None,
    deadline: float | None = None,
    **options: Unpack[Options],
) -> RemoteAgent:
    """Connect to an agent of a service, as ``lowregret serve`` starts one; create it if it does not exist.

    Calls that are not answered, or answered with 429, 502, 503 or 504, are repeated with growing pauses. That
    is safe: an ask has a request, a random one if none is given, and all other calls are idempotent.

    Parameters
    ----------
    url : str
        The address of the service, such as ``"http://127.0.0.1:8000"``.
    policy : Policy or str, optional
        The policy of a new agent, of a class of lowregret. It needs a token with the scope admin. For an
        agent that exists leave out the policy, the arms and all settings.
    arms : sequence of str, optional
        The names of the arms of a new agent.
    horizon, seed, reward_range
        As for ``open_agent``.
    name : str, default "default"
        The name of the agent.
    token : str, optional
        The token, as ``lowregret token add`` prints it.
    timeout : float, default 30
        How many seconds a call may take, including its repetitions, before it raises ``StoreError``.
    fallback : str, optional
        The arm that ``ask`` returns if the service does not answer or the agent is paused, as a decision with
        the id "fallback" that is not recorded. If ``only`` lacks this arm, the first of its arms.
    deadline : float, optional
        After how many seconds ``ask`` returns the fallback; by default ``timeout``.
    outside, matures_after, expires_after, default_reward, minimum_share, control, values, prior, period
        As for ``open_agent``.
    log_propensities
        As for ``open_agent``.

    Returns
    -------
    RemoteAgent
        An object with the calls of an ``Agent``; ``asynchronous()`` returns one whose calls are awaited.

    Raises
    ------
    ConflictError
        If an agent of this name exists with other settings.
    InputError
        If an argument is invalid, or the service refuses the token.
    StoreError
        If the service does not answer within the timeout.

    Examples
    --------
    >>> lr.connect("ftp://127.0.0.1")
    Traceback (most recent call last):
    lowregret.errors.InputError: the address of a service begins with http:// or https://, got 'ftp://127.0.0.1'
    """
    settings = {"horizon": horizon, "seed": seed, "reward_range": reward_range, **options}
    created = settings_or_policy("connect", policy, arms, settings)
    if isinstance(created, Policy):
        raise InputError("connect: pass the policy and the arms, or nothing but the name")
    if deadline is not None and (fallback is None or not deadline > 0.0):
        raise InputError(f"connect: pass a fallback, and a deadline of more than 0 s, got {deadline!r}")
    agent = RemoteAgent(url, name, token, timeout, fallback, deadline)
    try:
        if created is not None:
            agent._call(protocol.create, created)
    except BaseException:
        agent.close()
        raise
    return agent


class _Remote:
    """What both kinds of remote agents know; ``fallback`` has the arm and the deadline of ``connect``."""

    _client: str  # the class of httpx that makes the connections

    def __init__(self, url: str, name: str, token: str | None, timeout: float, *fallback: Any) -> None:
        self.url, self.name, self.timeout = valid_address(url), valid_name(name), timeout
        self._token, self._fallback = token, fallback
        kind = getattr(import_extra("service", "httpx"), self._client)
        self._http = kind(base_url=self.url, headers=headers(token), timeout=timeout, follow_redirects=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.url!r})"

    def _endpoint(self, request: Callable[..., Any], wait: Callable[[float], Awaitable[None]]) -> Endpoint:
        return Endpoint(self.url, self.name, self.timeout, request, wait, *self._fallback)

    def _validate_call(self, method: Callable[..., Any], options: Mapping[str, Any]) -> None:
        """Refuse a call of an agent that is closed, and arguments that the call does not have."""
        if self._http.is_closed:
            raise InputError("this agent is closed: open it again")
        if options and (advice := unknown_argument(method.__name__, options, signature(method).parameters)):
            raise TypeError(advice)


class RemoteAgent(_Remote, SyncCalls):
    """An agent of a service; see ``connect``. Several threads may share it.

    It has the methods and properties of ``Agent``, without those that need the store itself. An arm that
    exists is added, and one that is retired is retired, without an error: a call may be repeated.
    """

    _client = "Client"

    def asynchronous(self) -> AsyncRemoteAgent:
        """Return the same agent for programs with an event loop, and close this object."""
        self.close()
        return AsyncRemoteAgent(self.url, self.name, self._token, self.timeout, *self._fallback)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Run the function of ``protocol`` that has the name of a method to its end: it never suspends."""
        self._validate_call(method, options)

        async def request(*arguments: Any, **options: Any) -> Any:
            return self._http.request(*arguments, **options)

        async def wait(seconds: float) -> None:
            sleep(seconds)

        call = getattr(protocol, method.__name__)(self._endpoint(request, wait), *arguments, **options)
        try:
            call.send(None)
        except StopIteration as stop:
            return stop.value
        raise AssertionError("a call without an event loop waits for one")


class AsyncRemoteAgent(_Remote, AsyncCalls):
    """An agent of a service whose calls are coroutines, ``await agent.time()`` too; see ``asynchronous``."""

    _client = "AsyncClient"

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _call(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        self._validate_call(method, options)
        endpoint = self._endpoint(self._http.request, asyncio.sleep)
        return await getattr(protocol, method.__name__)(endpoint, *arguments, **options)

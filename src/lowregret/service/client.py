"""A client of the service: an object with the calls of an agent, which repeats what was not answered."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self, overload

from lowregret.online.agent_settings import Outside, Window
from lowregret.online.decisions import Decision, Status
from lowregret.policies import Policy
from lowregret.service import require_extra
from lowregret.service.protocol import (
    Retries,
    Sent,
    asked,
    asking,
    changing_arms,
    changing_status,
    counted,
    creating,
    forgetting,
    given_settings,
    headers,
    reading,
    result_of,
    telling,
    valid_address,
)

if TYPE_CHECKING:
    import httpx
    import polars


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
    outside: Outside = "refuse",
    matures_after: Window | None = None,
    expires_after: Window | None = None,
    default_reward: float | None = None,
    minimum_share: float = 0.0,
    control: tuple[str, float] | None = None,
    log_propensities: bool | None = None,
    timeout: float = 30.0,
) -> RemoteAgent:
    """Connect to an agent of a service, as ``lowregret serve`` starts one; create it if it does not exist.

    Calls that are not answered, or answered with 503, are repeated with growing pauses. That is safe: an ask
    has a request, a random one if none is given, and all other calls are idempotent.

    Parameters
    ----------
    url : str
        The address of the service, such as ``"http://127.0.0.1:8000"``.
    policy : Policy or str, optional
        The policy of a new agent, which needs a token with the scope admin. For an agent that exists leave
        out the policy, the arms and all settings.
    arms : sequence of str, optional
        The names of the arms of a new agent.
    horizon : int, optional
        As for ``open_agent``, like all settings that follow.
    seed : int, default 0
        As for ``open_agent``.
    reward_range : (float, float) or None, default (0, 1)
        As for ``open_agent``.
    name : str, default "default"
        The name of the agent.
    token : str, optional
        The token, as ``lowregret token add`` prints it.
    outside : {"refuse", "clip"}, default "refuse"
        As for ``open_agent``.
    matures_after, expires_after : int or datetime.timedelta, optional
        As for ``open_agent``.
    default_reward : float, optional
        As for ``open_agent``.
    minimum_share : float, default 0
        As for ``open_agent``.
    control : (str, float), optional
        As for ``open_agent``.
    log_propensities : bool, optional
        As for ``open_agent``.
    timeout : float, default 30
        How many seconds a call may take, including its repetitions, before it raises ``StoreError``.

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
    >>> import lowregret as lr
    >>> lr.connect("ftp://127.0.0.1")
    Traceback (most recent call last):
    lowregret.errors.InputError: the address of a service begins with http:// or https://, got 'ftp://127.0.0.1'
    """
    window = matures_after, expires_after, default_reward
    shares = minimum_share, control, log_propensities
    settings = given_settings(policy, arms, horizon, seed, reward_range, outside, *window, *shares)
    agent = RemoteAgent(url, name, token, timeout)
    try:
        if settings is not None:
            agent._send(creating(name, settings))
    except BaseException:
        agent.close()
        raise
    return agent


class RemoteAgent:
    """An agent of a service; see ``connect``. Several threads may share it."""

    def __init__(self, url: str, name: str, token: str | None, timeout: float) -> None:
        require_extra("httpx")
        import httpx

        self.url, self.name, self.timeout = valid_address(url), name, timeout
        self._token = token
        self._link: httpx.Client = httpx.Client(
            base_url=self.url, headers=headers(token), timeout=timeout, follow_redirects=False
        )

    @overload
    def ask(
        self, n: None = None, *, only: Iterable[str] | None = None, request: str | None = None
    ) -> Decision: ...

    @overload
    def ask(
        self, n: int, *, only: Iterable[str] | None = None, request: str | None = None
    ) -> list[Decision]: ...

    def ask(
        self, n: int | None = None, *, only: Iterable[str] | None = None, request: str | None = None
    ) -> Decision | list[Decision]:
        """Choose an arm to pull; see ``Agent.ask``."""
        made = asked(self._send(asking(self.name, n, only, request)))
        return made[0] if n is None else made

    def tell(self, decision: Decision | str, reward: float) -> bool:
        """Report the reward of a decision; see ``Agent.tell``."""
        return self.tell_many([(decision, reward)]) == 1

    def tell_many(self, rewards: Iterable[tuple[Decision | str, float]]) -> int:
        """Report several rewards, all or none of each 1,000; see ``Agent.tell_many``."""
        return counted(self._send_all(telling(self.name, rewards)))

    def forget(self, decision: Decision | str) -> bool:
        """Discard a decision; see ``Agent.forget``."""
        return self.forget_many([decision]) == 1

    def forget_many(self, decisions: Iterable[Decision | str]) -> int:
        """Discard several decisions, all or none of each 1,000; see ``Agent.forget_many``."""
        return counted(self._send_all(forgetting(self.name, decisions)))

    def add_arm(self, arm: str) -> None:
        """Add an arm; one that exists changes nothing."""
        self._send(changing_arms(self.name, "add", arm))

    def retire_arm(self, arm: str) -> None:
        """Retire an arm permanently; one that is retired changes nothing."""
        self._send(changing_arms(self.name, "retire", arm))

    def pause(self) -> None:
        """Make no decisions until ``resume``; see ``Agent.pause``."""
        self._send(changing_status(self.name, "paused"))

    def resume(self) -> None:
        """Make decisions again."""
        self._send(changing_status(self.name, "active"))

    def retire(self) -> None:
        """Make no decisions any more, which is final."""
        self._send(changing_status(self.name, "retired"))

    def summary(self) -> polars.DataFrame:
        """Return a table of the arms; see ``Agent.summary``."""
        from lowregret.service.protocol import summarised

        return summarised(self._send(reading(self.name, "/summary")))

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms that are not retired."""
        return tuple(self._send(reading(self.name, "/arms"))["arms"])

    @property
    def time(self) -> int:
        """The number of pulls, including those whose reward is pending."""
        return int(self._send(reading(self.name))["pulls"])

    @property
    def status(self) -> Status:
        """Whether the agent makes decisions: "active", "paused" or "retired"."""
        status: Status = self._send(reading(self.name))["status"]
        return status

    @property
    def conflicts(self) -> int:
        """The number of rewards that were rejected because they contradict an earlier one."""
        return int(self._send(reading(self.name))["conflicts"])

    def asynchronous(self) -> AsyncRemoteAgent:
        """Return the same agent for programs with an event loop, and close this object."""
        from lowregret.service.async_client import AsyncRemoteAgent

        self.close()
        return AsyncRemoteAgent(self.url, self.name, self._token, self.timeout)

    def close(self) -> None:
        """Close the connections."""
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteAgent({self.name!r}, {self.url!r})"

    def _send_all(self, calls: list[Sent]) -> list[Any]:
        """Send calls one after the other."""
        return [self._send(call) for call in calls]

    def _send(self, call: Sent) -> Any:
        """Send a call until it is answered."""
        import httpx

        retries = Retries(self.url, self.timeout)
        while True:
            left = retries.left()
            try:
                answer = self._link.request(call.method, call.path, json=call.body, timeout=left)
            except httpx.TransportError as error:
                reason = str(error) or type(error).__name__
            else:
                if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                    return result_of(answer.status_code, answer.content)
                reason = "it is unavailable"
            time.sleep(retries.pause(reason))


if TYPE_CHECKING:
    from lowregret.service.async_client import AsyncRemoteAgent

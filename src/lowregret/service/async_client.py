"""A client of the service for programs with an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self, overload

from lowregret.online.decisions import Decision
from lowregret.service import require_extra
from lowregret.service.protocol import (
    Retries,
    Sent,
    asked,
    asking,
    changing_arms,
    changing_status,
    counted,
    forgetting,
    headers,
    reading,
    result_of,
    summarised,
    telling,
    valid_address,
)

if TYPE_CHECKING:
    import httpx
    import polars


class AsyncRemoteAgent:
    """An agent of a service whose calls are coroutines; ``RemoteAgent.asynchronous`` returns one."""

    def __init__(self, url: str, name: str, token: str | None, timeout: float) -> None:
        require_extra("httpx")
        import httpx

        self.url, self.name, self.timeout = valid_address(url), name, timeout
        self._link: httpx.AsyncClient = httpx.AsyncClient(
            base_url=self.url, headers=headers(token), timeout=timeout, follow_redirects=False
        )

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
        """Choose an arm to pull; see ``Agent.ask``."""
        made = asked(await self._send(asking(self.name, n, only, request)))
        return made[0] if n is None else made

    async def tell(self, decision: Decision | str, reward: float) -> bool:
        """Report the reward of a decision; see ``Agent.tell``."""
        return await self.tell_many([(decision, reward)]) == 1

    async def tell_many(self, rewards: Iterable[tuple[Decision | str, float]]) -> int:
        """Report several rewards, all or none of each 1,000; see ``Agent.tell_many``."""
        return counted(await self._send_all(telling(self.name, rewards)))

    async def forget(self, decision: Decision | str) -> bool:
        """Discard a decision; see ``Agent.forget``."""
        return await self.forget_many([decision]) == 1

    async def forget_many(self, decisions: Iterable[Decision | str]) -> int:
        """Discard several decisions, all or none of each 1,000; see ``Agent.forget_many``."""
        return counted(await self._send_all(forgetting(self.name, decisions)))

    async def add_arm(self, arm: str) -> None:
        """Add an arm; one that exists changes nothing."""
        await self._send(changing_arms(self.name, "add", arm))

    async def retire_arm(self, arm: str) -> None:
        """Retire an arm permanently; one that is retired changes nothing."""
        await self._send(changing_arms(self.name, "retire", arm))

    async def pause(self) -> None:
        """Make no decisions until ``resume``; see ``Agent.pause``."""
        await self._send(changing_status(self.name, "paused"))

    async def resume(self) -> None:
        """Make decisions again."""
        await self._send(changing_status(self.name, "active"))

    async def retire(self) -> None:
        """Make no decisions any more, which is final."""
        await self._send(changing_status(self.name, "retired"))

    async def summary(self) -> polars.DataFrame:
        """Return a table of the arms; see ``Agent.summary``."""
        return summarised(await self._send(reading(self.name, "/summary")))

    async def close(self) -> None:
        """Close the connections."""
        await self._link.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncRemoteAgent({self.name!r}, {self.url!r})"

    async def _send_all(self, calls: list[Sent]) -> list[Any]:
        """Send calls one after the other."""
        return [await self._send(call) for call in calls]

    async def _send(self, call: Sent) -> Any:
        """Send a call until it is answered."""
        import httpx

        retries = Retries(self.url, self.timeout)
        while True:
            left = retries.left()
            try:
                answer = await self._link.request(call.method, call.path, json=call.body, timeout=left)
            except httpx.TransportError as error:
                reason = str(error) or type(error).__name__
            else:
                if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                    return result_of(answer.status_code, answer.content)
                reason = "it is unavailable"
            await asyncio.sleep(retries.pause(reason))

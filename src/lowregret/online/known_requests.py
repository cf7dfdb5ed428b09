"""Requests of a group of calls: what a store knows of them is read at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lowregret.online import calls
from lowregret.online.decisions import Event

if TYPE_CHECKING:
    from lowregret.online.stores import Store

Call: TypeAlias = tuple[Callable[..., calls.Change], tuple[Any, ...]]
"""A function of ``calls``, and its arguments after the state, the store and the time."""


class KnownRequests:
    """The part of a store that the functions of ``calls`` use, for a group of calls.

    A store with ``requested_among`` is asked for all requests of the group at once. With a database on
    another host, each question takes longer than the decision.

    Parameters
    ----------
    store : Store
        The store.
    group : sequence of calls
        The calls.
    """

    def __init__(self, store: Store, group: Sequence[Call]) -> None:
        self.requested: Callable[[str], list[Event]] = store.requested
        self.decision = store.decision
        among = getattr(store, "requested_among", None)
        wanted = {
            arguments[2]
            for function, arguments in group
            if function is calls.ask and arguments[2] is not None
        }
        if among is not None and len(wanted) > 1:
            found: dict[str, list[Event]] = {request: [] for request in wanted}
            for event in among(list(wanted)):
                found[event.request].append(event)
            self.requested = found.__getitem__

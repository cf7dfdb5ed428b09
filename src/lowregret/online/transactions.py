"""Transactions of an agent: each is stored before it counts, and is made completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock, get_ident
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakSet

from lowregret.errors import ConflictError, InputError, LowRegretError, StoreError
from lowregret.online import calls
from lowregret.online.agent_state import REMEMBERED, AgentState, Saved
from lowregret.online.calls import Change
from lowregret.online.decisions import Decision, Event, Kind
from lowregret.online.event_replay import reapply, replay
from lowregret.online.known_requests import Call, KnownRequests
from lowregret.online.sealed_snapshot import read_sealed, write_sealed
from lowregret.online.stores import TIMEOUT, CompactedError, LostError

if TYPE_CHECKING:
    from lowregret.online.stores import Store

SNAPSHOT_EVERY = 250
"""How many events lie between two snapshots, at least; more, where a snapshot is large."""
ARM_UPDATES = 5_000
"""How many events times arms an agent applies while others wait: some 50 ms in plain Python."""
COMPILED_FROM = 4_000_000
"""From how many events times arms on compilation is worth its time: some 30 s in plain Python."""
LOADED_FROM = 20_000
"""The same for machine code that is on the disk: some 0.2 s in plain Python."""
ROUNDS = 5
"""How often an agent that is behind catches up before it excludes others."""
PAUSE = 0.01
"""How many seconds to wait before a call whose connection was lost is made again."""
GROUP_EVENTS = REMEMBERED // 2
"""After how many events a group of calls ends: the records in memory must hold all that is not stored yet."""

Stored: TypeAlias = tuple[Sequence[Event], int, int | None]
"""Events that are stored, the position after them, and that of the latest snapshot."""
Loaded: TypeAlias = tuple[AgentState, int, int | None]
"""A state, the number of events in it, and the position of the latest snapshot."""


class _FarBehindError(Exception):
    """Too many events of other processes to apply while they wait."""


class Transactions:
    """The state of an agent and its store; one thread uses them at a time.

    A transaction changes the model, appends its events to the store, and commits them to the records. An
    interrupt may come at any moment, and the next call recovers. While ``_stored`` is set, it repeats the
    commit. Else, while ``_before`` is set, it restores the model. Whether the events of that transaction are
    stored is decided by reading the store. While ``_loaded`` is set, it replaces the state. While ``_ahead``
    is set, a group of calls may have changed the state and not the store, so the state is loaded again.

    Parameters
    ----------
    state : AgentState
        The state.
    store : Store
        The store.
    position : int
        The number of events of the store that are in the state.
    snapshot : int or None
        The position of the latest snapshot, None if the store needs none.
    timeout : float
        How many seconds a call waits for other threads and processes.
    clock : callable
        Returns the time in seconds since 1970.
    """

    def __init__(
        self,
        state: AgentState,
        store: Store,
        position: int = 0,
        snapshot: int | None = None,
        timeout: float = TIMEOUT,
        clock: Callable[[], float] = time,
    ) -> None:
        self.state, self.store, self.clock, self.timeout = state, store, clock, timeout
        self._position, self._snapshot = position, snapshot
        self._before: Saved | None = None
        self._stored: Stored | None = None
        self._loaded: Loaded | None = None
        self._ahead = False
        self.closed = False
        self._lock, self._owner = Lock(), 0  # the thread that holds the lock
        self._wait = (True,), (timeout,)
        _open.add(self)

    @property
    def position(self) -> int:
        """The number of events of the store that are in the state."""
        return self._position

    def ask(self, count: int, only: list[str] | None, request: str | None) -> Sequence[Decision]:
        """Make decisions, or return those of an earlier request."""
        return self._execute(calls.ask, count, only, request)  # type: ignore[no-any-return]

    def tell(self, rewards: Sequence[tuple[Decision | str, float]]) -> int:
        """Apply rewards, all or none; return how many were new."""
        result = self._execute(calls.tell, rewards)
        if isinstance(result, ConflictError):
            raise result
        return int(result)

    def forget(self, decisions: Sequence[Decision | str]) -> int:
        """Discard decisions, all or none; return how many were pending."""
        return int(self._execute(calls.forget, decisions))

    def add(self, arm: object) -> None:
        """Add an arm."""
        self._execute(calls.add, arm)

    def retire(self, arm: object) -> None:
        """Retire an arm."""
        self._execute(calls.retire, arm)

    def change_status(self, kind: Kind) -> bool:
        """Pause, resume or end the agent; return whether that changed anything."""
        return bool(self._execute(calls.change_status, kind))

    def settle(self) -> int:
        """End the windows that are due; return how many decisions were pending in them."""
        return int(self._execute(calls.settle))

    def together(self, group: Sequence[Call]) -> list[Any]:
        """Run several calls in one session of the store, and return the result or the error of each.

        They run in their order, and each sees what those before it did. One that fails changes nothing, and
        leaves the others alone. All that succeed are durable when this returns. The list may be shorter than
        the group, but is not empty: calls after ``GROUP_EVENTS`` events are left for the next group. An error
        of the store is raised, and then none of the calls took effect.
        """
        if len(group) == 1 or getattr(self.store, "history", True) is False:
            (transaction, arguments), *_ = group
            try:
                return [self._execute(transaction, *arguments)]
            except StoreError:
                raise
            except Exception as error:
                return [error]
        outcomes: list[Any] = self._locked(self._run_group, (group,))
        return outcomes

    @contextmanager
    def reading(self) -> Iterator[AgentState]:
        """Provide the current state, including the transactions of other processes."""
        with self._waiting():
            self._recover()
            self._catch_up()
            yield self.state

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            self.closed = True
            self.store.close()

    def _execute(self, transaction: Callable[..., Change], *arguments: Any) -> Any:
        """Run a transaction while no other thread uses the agent."""
        return self._locked(self._run, (transaction, arguments))

    def _locked(self, run: Callable[..., Any], what: tuple[Any, ...]) -> Any:
        """Run a transaction or a group while no other thread uses the agent."""
        end = monotonic() + self.timeout if self.store.shared else 0.0
        if self._lock.locked():
            with self._waiting():
                return self._when_near(run, what, end)
        with self._lock:
            self._owner = get_ident()
            try:
                return self._repeated(run, what, end, True)
            except _FarBehindError:
                return self._when_near(run, what, end)
            finally:
                self._owner = 0

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """Wait for other threads, but not for ever."""
        self._check_not_nested()
        held: list[bool] = []
        try:
            held.extend(map(self._lock.acquire, *self._wait))  # in one step that no interrupt divides
            if not held[0]:
                raise StoreError(f"another thread has used this agent for {self.timeout:g} s: try again")
            self._owner = get_ident()
            yield
        finally:
            if held and held[0]:
                self._owner = 0
                self._lock.release()

    def _when_near(self, run: Callable[..., Any], what: tuple[Any, ...], end: float) -> Any:
        """Catch up while others go on, and then run a transaction or a group."""
        for _ in range(ROUNDS):
            self._recover()
            self._catch_up()
            with suppress(_FarBehindError):
                return self._repeated(run, what, end, True)
        try:
            return self._repeated(run, what, end, False)
        except _FarBehindError:
            raise StoreError("other processes have compacted the log of this agent: try again") from None

    def _repeated(self, run: Callable[..., Any], what: tuple[Any, ...], end: float, patient: bool) -> Any:
        """Run a transaction or a group, again if the connection was lost before anything was stored."""
        while True:
            try:
                return run(*what, end, patient)
            except LostError:
                if monotonic() >= end:
                    raise
                sleep(PAUSE)

    def _run(
        self, transaction: Callable[..., Change], arguments: tuple[Any, ...], end: float, patient: bool
    ) -> Any:
        """Run a transaction; an error before its events are stored leaves everything unchanged."""
        self._recover()
        store, state = self.store, self.state
        try:
            with store.session(max(end - monotonic(), 0.0) if end else self.timeout):
                self._apply_missed(self._most_at_once() + 1 if end and patient else None)
                self._before = state.save()
                result, events = transaction(state, store, self.clock(), *arguments)
                position, snapshot = self._position + len(events), self._snapshot
                if events:
                    store.append(events)
                    if snapshot is not None and self._snapshot_due(position):
                        store.keep(position, write_sealed(state.after(events), position))
                        snapshot = position
            self._stored = events, position, snapshot
            return self._commit() or result
        except CompactedError:
            self._recover()
            raise _FarBehindError from None
        except BaseException:
            self._recover()
            raise

    def _run_group(self, group: Sequence[Call], end: float, patient: bool) -> list[Any]:
        """Run a group of calls; an error of the store discards all of them."""
        self._recover()
        store, state = self.store, self.state
        outcomes: list[Any] = []
        events: list[Event] = []
        try:
            with store.session(max(end - monotonic(), 0.0) if end else self.timeout):
                self._apply_missed(self._most_at_once() + 1 if end and patient else None)
                self._ahead, known = True, KnownRequests(store, group)
                for transaction, arguments in group:
                    outcome, new = self._attempt(state, known, transaction, arguments)
                    outcomes.append(outcome)
                    events += new
                    if len(events) >= GROUP_EVENTS:
                        break
                position, snapshot = self._position + len(events), self._snapshot
                if events:
                    store.append(events)
                    if snapshot is not None and self._snapshot_due(position):
                        store.keep(position, write_sealed(state, position))
                        snapshot = position
            self._position, self._snapshot, self._ahead = position, snapshot, False
            return outcomes
        except CompactedError:
            self._recover()
            raise _FarBehindError from None
        except BaseException:
            self._recover()
            raise

    def _attempt(
        self, state: AgentState, known: KnownRequests, transaction: Callable[..., Change], arguments: Any
    ) -> tuple[Any, list[Event]]:
        """Run one call of a group; return its result or its error, and its events."""
        before = state.save()
        try:
            result, events = transaction(state, known, self.clock(), *arguments)
        except StoreError:
            raise
        except Exception as error:
            state.restore(before)
            return error, []
        return state.commit(events) or result, events

    def _apply_missed(self, most: int | None) -> None:
        """Apply what other processes have stored, unless it is so much that they would wait for long."""
        missed = self.store.events(self._position, most)
        if missed:
            if most is not None and len(missed) == most:
                raise _FarBehindError
            for event in missed:
                self._apply(event)

    def _most_at_once(self) -> int:
        """Return how many events may be applied while other processes wait."""
        updates = (20 if self.state.is_compiled else 1) * ARM_UPDATES
        return max(2, min(500, updates // (len(self.state.rows) + 20)))

    def _catch_up(self) -> None:
        """Apply what other processes have stored; from their latest snapshot where that is much."""
        most, store = self._most_at_once(), self.store
        try:
            missed = store.events(self._position, most + 1)
            far = len(missed) > most
        except CompactedError:
            far = True
        if far:
            latest = store.latest()
            if latest is not None and latest[0] > self._position:
                self._load(latest)
                return
            missed = store.events(self._position)
            prepare(self.state, len(missed))
        for event in missed:
            self._apply(event)

    def _load(self, latest: tuple[int, str] | None) -> None:
        """Replace the state by a snapshot, or that of a new agent, and the events after it."""
        settings, token = self.state.settings, self.state.token
        position = 0 if latest is None else latest[0]
        state = (
            AgentState(settings, token) if latest is None else read_sealed(*latest, settings.policy, token)
        )
        state.steps, state.assignment = self.state.steps, self.state.assignment
        events = self.store.events(position)
        prepare(state, len(events))
        replay(state, events)
        self._loaded = state, position + len(events), position
        self._recover()

    def _apply(self, event: Event) -> None:
        """Apply a stored event that is not in the state: of another process, or of an interrupted call."""
        self._before = self.state.save()
        reapply(self.state, event)
        self._stored = (event,), self._position + 1, self._snapshot
        self._commit()

    def _commit(self) -> list[Decision]:
        """Enter stored events into the records; repeating it changes nothing."""
        assert self._stored is not None
        events, self._position, self._snapshot = self._stored
        made = self.state.commit(events)
        self._before = None
        self._stored = None
        return made

    def _recover(self) -> None:
        """Finish or undo what was interrupted; reject a closed agent."""
        if self._loaded is not None:
            self._before = self._stored = None
            self.state, self._position, self._snapshot = self._loaded
            self._ahead, self._loaded = False, None
        elif self._ahead:
            self._load(self.store.latest())
        elif self._stored is not None:
            self._commit()
        elif self._before is not None:
            self.state.restore(self._before)
            self._before = None
        if self.closed:
            raise InputError("this agent is closed: open it again")

    def _check_not_nested(self) -> None:
        """Reject a call from within another one of the same thread, such as from a signal handler."""
        if self._owner == get_ident() and self._lock.locked():
            raise InputError("this agent is in the middle of a call: use it when that call has returned")

    def _snapshot_due(self, position: int) -> bool:
        """Return whether a snapshot is due; another process may have stored one."""
        state = self.state
        interval = max(SNAPSHOT_EVERY, len(state.pending), len(state.rows) // 4)  # a snapshot lists them all
        if position - (self._snapshot or 0) >= interval:
            latest = self.store.latest()
            self._snapshot = latest[0] if latest else 0
        return position - (self._snapshot or 0) >= interval


def prepare(state: AgentState, events: int) -> None:
    """Compile a policy, or load its code, if plain Python would take longer for so many events."""
    updates = 0 if state.is_compiled else events * len(state.rows)
    if updates > COMPILED_FROM or (updates > LOADED_FROM and state.has_code()):
        with suppress(LowRegretError):  # plain Python can do it
            state.compile()


_open: WeakSet[Transactions] = WeakSet()
"""For the handler that runs after a fork."""


def _unlock_after_fork() -> None:
    """Replace locks that another thread of the parent may have held: nobody would release them."""
    for each in _open:
        each._lock, each._owner = Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_after_fork)

"""Transactions of an agent: each is stored before it counts, and takes effect completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock, get_ident
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from lowregret.errors import ConflictError, InputError, LowRegretError, StoreError
from lowregret.online.agent_state import MAX_REMEMBERED, AgentState
from lowregret.online.calls import AGAIN, Call, Change, Lookup, ask, lookup_of
from lowregret.online.checksummed_snapshot import state_at, write_checksummed
from lowregret.online.decisions import Decision, Event
from lowregret.online.event_replay import reapply, replay
from lowregret.online.stores import TIMEOUT, CompactedError, LostError

if TYPE_CHECKING:
    from lowregret.online.stores import Store

SNAPSHOT_EVERY = 250
"""How many events lie between two snapshots, at least; more, where a snapshot is large."""
MAX_ARM_UPDATES = 5_000
"""How many events times arms an agent applies while others wait: some 50 ms in plain Python."""
MIN_UPDATES_TO_COMPILE = 4_000_000
"""From how many events times arms on compilation is worth its time: some 30 s in plain Python."""
MIN_UPDATES_TO_LOAD = 20_000
"""The same for machine code that is on the disk: some 0.2 s in plain Python."""
MAX_SECONDS = 9e12
"""The latest time of a clock, which a date in microseconds can represent."""
MAX_CATCH_UPS = 5
"""How often an agent that is behind catches up before it excludes others."""
RETRY_SECONDS = 0.01
"""The time before a call whose connection was lost is made again."""
MAX_GROUP_EVENTS = MAX_REMEMBERED // 2
"""After how many events a group of calls ends: the records in memory must hold all that is not stored yet."""


class _LagError(Exception):
    """More events of other processes are missing than may be applied while they wait."""


class Transactions:
    """The state of an agent and its store; one thread uses them at a time.

    A transaction changes the model, appends its events to the store, and commits them to the records. An
    interrupt may come at any moment, and the next call recovers. While ``_stored`` is set, it repeats the
    commit. Else, while ``_before`` is set, it restores the model. Whether the events of that transaction are
    stored is decided by reading the store. While ``_loaded`` is set, it replaces the state. While ``_ahead``
    is set, a group of calls may have changed the state and not the store, so the state is loaded again.

    ``position`` is the number of events of the store that are in the state, ``snapshot`` the position of the
    latest snapshot, None if the store needs none, and ``timeout`` how many seconds a call waits for others.
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
        self.state, self.store, self.timeout = state, store, timeout
        self.clock = time if clock is time else partial(_valid_time, clock)
        self.position, self._snapshot = position, snapshot
        self._before: tuple[Any, ...] | None = None
        self._stored: tuple[Sequence[Event], int, int | None] | None = None  # with position and snapshot
        self._loaded: tuple[AgentState, int, int | None] | None = None
        self._ahead = False
        self.closed = False
        self._lock, self._owner = Lock(), 0  # the thread that holds the lock
        self._wait = (True,), (timeout,)
        _open.add(self)

    def execute(self, call: Callable[..., Change], *arguments: Any) -> Any:
        """Run a function of ``calls`` as a transaction, and return its result when that is durable.

        ``arguments`` follow the state, the store and the time. A conflict that the call recorded is raised.
        """
        while (result := self._run_exclusively(call, arguments)) is AGAIN:
            pass
        if isinstance(result, ConflictError):
            raise result
        return result

    def together(self, group: Sequence[Call]) -> list[Any]:
        """Run several calls in one session of the store, and return the result or the error of each.

        They run in their order, and each sees what those before it did. One that fails changes nothing, and
        leaves the others alone. All that succeed are durable when this returns. The list may be shorter than
        the group, but is not empty: calls after ``MAX_GROUP_EVENTS`` events are left for the next group. An
        error of the store is raised, and then none of the calls took effect.
        """
        if len(group) == 1 or not self.store.history:
            (call, arguments), *_ = group
            try:
                return [self.execute(call, *arguments)]
            except StoreError:
                raise
            except Exception as error:
                return [error]
        outcomes: list[Any] = []
        while not outcomes:
            outcomes = self._run_exclusively(self._change_together, (group,))
        return outcomes

    @contextmanager
    def reading(self) -> Iterator[AgentState]:
        """Provide the current state, including the transactions of other processes."""
        with self._exclusive():
            self._recover()
            self._catch_up()
            yield self.state

    def try_out(self, call: Callable[..., Change], *arguments: Any) -> Any:
        """Return what a function of ``calls`` returns, and undo what it changed; nothing is stored."""
        with self.reading():
            while True:
                self._before = self.state.save()
                try:
                    return call(self.state, self.store, self.clock(), *arguments)[0]
                except ArithmeticError:  # as in ``_prepare_retry``
                    if self.state.is_compiled:
                        raise
                finally:
                    self._recover()
                self.state.compile()

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            self.closed = True
            self.store.close()

    def _run_exclusively(self, call: Callable[..., Change], arguments: tuple[Any, ...]) -> Any:
        """Run a call or a group while no other thread uses the agent."""
        end = monotonic() + self.timeout if self.store.shared else 0.0
        if self._lock.locked():
            with self._exclusive():
                return self._run_after_catching_up(call, arguments, end)
        with self._lock:
            self._owner = get_ident()
            try:
                return self._run(call, arguments, end, True)
            except _LagError:
                return self._run_after_catching_up(call, arguments, end)
            finally:
                self._owner = 0

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Wait for other threads, but not for ever."""
        if self._owner == get_ident() and self._lock.locked():  # such as from a signal handler
            raise InputError("this agent is in the middle of a call: use it when that call has returned")
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

    def _run_after_catching_up(self, call: Callable[..., Change], arguments: Any, end: float) -> Any:
        """Catch up while others go on, and then run a call or a group."""
        for attempt in range(MAX_CATCH_UPS + 1):
            self._recover()
            self._catch_up()
            with suppress(_LagError):
                return self._run(call, arguments, end, attempt < MAX_CATCH_UPS)
        raise StoreError("other processes have compacted the log of this agent: try again")

    def _run(self, call: Callable[..., Change], arguments: Any, end: float, may_lag: bool) -> Any:
        """Run a call or a group; an error before the events are stored leaves everything unchanged."""
        store, done = self.store, None
        while True:
            try:
                self._recover()
                if end and self._compared(call, arguments) > self._max_updates():
                    began = monotonic()  # now: in a session other agents would wait
                    prepare(self.state, self._compared(call, arguments) // len(self.state.rows))
                    self._catch_up()
                    self._before = self.state.save()
                    done = call(self.state, store, self.clock(), *arguments)
                    end += monotonic() - began
                with store.session(max(end - monotonic(), 0.0) if end else self.timeout):
                    if done is not None and store.events(self.position, 1):  # another process came first
                        done = None
                        self._recover()
                    if done is None:
                        self._apply_missed(self._max_missed() + 1 if end and may_lag else None)
                        self._before = self.state.save()
                        done = call(self.state, store, self.clock(), *arguments)
                    result, events = done
                    position, snapshot = self.position + len(events), self._snapshot
                    if events:
                        store.append(events)
                        if snapshot is not None and self._snapshot_due(position):
                            after = self.state if self._ahead else self.state.after(events)
                            store.save_snapshot(position, write_checksummed(after, position))
                            snapshot = position
                if self._ahead:  # a group has committed its events
                    self.position, self._snapshot, self._ahead = position, snapshot, False
                    return result
                self._stored = events, position, snapshot
                return self._commit() or result
            except CompactedError:
                self._recover()
                raise _LagError from None
            except (LostError, ArithmeticError) as error:
                self._prepare_retry(error, end)
                done = None
            except BaseException:
                if not self.closed:
                    self._recover()
                raise

    def _prepare_retry(self, error: Exception, end: float) -> None:
        """Wait for a connection, or compile; raise the error if the call must not be made again."""
        if isinstance(error, LostError) and monotonic() < end:
            sleep(RETRY_SECONDS)
        elif isinstance(error, ArithmeticError) and not self.state.is_compiled:
            self.state.compile()  # where a division by 0 is inf, as in simulations
        else:
            self._recover()
            raise error

    def _change_together(self, state: AgentState, store: Store, now: float, group: Sequence[Call]) -> Change:
        """Make a group of calls, each of which sees the records of those before it."""
        self._ahead = True
        self._before, lookup = None, lookup_of(store, group)
        outcomes: list[Any] = []
        events: list[Event] = []
        for place, (call, arguments) in enumerate(group):
            outcome, call_events = self._attempt(lookup, None if place else now, call, arguments)
            events += call_events
            if outcome is AGAIN:
                break
            outcomes.append(outcome)
            if len(events) >= MAX_GROUP_EVENTS:
                break
        return outcomes, events

    def _attempt(
        self, lookup: Lookup, now: float | None, call: Callable[..., Change], arguments: Any
    ) -> Change:
        """Make one call of a group, by default now; return its result or its error, and its events."""
        state = self.state
        before = state.save()
        try:
            result, events = call(state, lookup, self.clock() if now is None else now, *arguments)
        except (StoreError, ArithmeticError):
            raise
        except Exception as error:
            state.restore(before)
            return error, []
        return state.commit(events) or result, events

    def _apply_missed(self, limit: int | None) -> None:
        """Apply what other processes have stored, unless it is so much that they would wait for long."""
        missed = self.store.events(self.position, limit)
        if missed:
            if limit == len(missed) or any(event.kind == "withdrew" for event in missed):
                raise _LagError
            for event in missed:
                self._apply(event)

    def _max_updates(self) -> int:
        """Return how many times arms may be updated or compared while others wait."""
        return (20 if self.state.is_compiled else 1) * MAX_ARM_UPDATES

    def _max_missed(self) -> int:
        """Return how many events may be applied while other processes wait."""
        return max(2, min(500, self._max_updates() // (len(self.state.rows) + 20)))

    def _compared(self, call: Callable[..., Change], arguments: Any) -> int:
        """Return how many arms a call or a group compares, over all its decisions."""
        group: Sequence[Call] = arguments[0] if call == self._change_together else [(call, arguments)]
        return len(self.state.rows) * sum(int(options[0]) for call, options in group if call is ask)

    def _catch_up(self) -> None:
        """Apply what other processes have stored; from their latest snapshot where that is much."""
        limit, store = self._max_missed(), self.store
        try:
            missed = store.events(self.position, limit + 1)
            far = len(missed) > limit or any(event.kind == "withdrew" for event in missed)
        except CompactedError:
            far = True
        if far:
            latest = store.latest_snapshot()
            if latest is not None and latest[0] > self.position:
                self._load(latest)
                return
            missed = store.events(self.position)
            prepare(self.state, len(missed))
        for event in missed:
            self._apply(event)

    def _load(self, latest: tuple[int, str] | None) -> None:
        """Replace the state by a snapshot, or that of a new agent, and the events after it."""
        state, position = state_at(latest, self.state.settings, self.state.token)
        state.steps, state.assignment = self.state.steps, self.state.assignment
        events = self.store.events(position)
        prepare(state, len(events))
        replay(state, events)
        self.replace(state, position + len(events), position)

    def replace(self, state: AgentState, position: int, snapshot: int) -> None:
        """Replace the state by one that follows from the store."""
        self._loaded = state, position, snapshot
        self._recover()

    def _apply(self, event: Event) -> None:
        """Apply a stored event that is not in the state: of another process, or of an interrupted call."""
        self._before = self.state.save()
        reapply(self.state, event)
        self._stored = (event,), self.position + 1, self._snapshot
        self._commit()

    def _commit(self) -> list[Decision]:
        """Enter stored events into the records; repeating it changes nothing."""
        assert self._stored is not None
        events, self.position, self._snapshot = self._stored
        decisions = self.state.commit(events)
        self._before = None
        self._stored = None
        return decisions

    def _recover(self) -> None:
        """Finish or undo what was interrupted; reject a closed agent."""
        if self._loaded is not None:
            self._before = self._stored = None
            self.state, self.position, self._snapshot = self._loaded
            self._ahead, self._loaded = False, None
        elif self._ahead:
            self._load(self.store.latest_snapshot())
        elif self._stored is not None:
            self._commit()
        elif self._before is not None:
            self.state.restore(self._before)
            self._before = None
        if self.closed:
            raise InputError("this agent is closed: open it again")

    def _snapshot_due(self, position: int) -> bool:
        """Return whether a snapshot is due; another process may have stored one."""
        state = self.state
        cells = len(state.rows) if state.periods is None else state.periods.counts.size
        interval = max(SNAPSHOT_EVERY, len(state.pending), cells // 4)  # a snapshot lists them all
        if position - (self._snapshot or 0) >= interval:
            latest = self.store.latest_snapshot()
            self._snapshot = latest[0] if latest else 0
        return position - (self._snapshot or 0) >= interval


def _valid_time(clock: Callable[[], float]) -> float:
    """Return the time of a clock of the user's own."""
    now = clock()
    with suppress(TypeError):  # no number at all
        if abs(now) <= MAX_SECONDS:
            return now
    raise InputError(f"clock must return the seconds since 1970, as time.time does, got {now!r}")


def prepare(state: AgentState, events: int) -> None:
    """Compile a policy, or load its code, if plain Python would take longer for so many events."""
    updates = 0 if state.is_compiled else events * len(state.rows)
    if updates > MIN_UPDATES_TO_LOAD:
        with suppress(LowRegretError, ImportError):  # plain Python can do it
            if updates > MIN_UPDATES_TO_COMPILE or state.has_code():
                state.compile()


_open: WeakSet[Transactions] = WeakSet()
"""For the handler that runs after a fork."""


def _unlock_after_fork() -> None:
    """Replace locks that another thread of the parent may have held: nobody would release them."""
    for transactions in _open:
        transactions._lock, transactions._owner = Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_after_fork)

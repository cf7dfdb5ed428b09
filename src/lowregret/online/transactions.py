"""Transactions of an agent: each is stored before it counts, and takes effect completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from itertools import islice
from threading import Lock, get_ident
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias
from weakref import WeakSet

from lowregret.errors import InputError, LowRegretError, StoreError
from lowregret.online.agent_state import MAX_REMEMBERED, AgentState
from lowregret.online.calls import RETRY, Call, Change, GroupLookup, ask
from lowregret.online.clock_readings import Readings
from lowregret.online.decisions import Decision, Event
from lowregret.online.event_replay import reapply, replay, withdrawn_in
from lowregret.online.snapshot import state_at, write_checksummed
from lowregret.online.stores import TIMEOUT, CompactedError, LostError, NewerError, retry_if_changed

if TYPE_CHECKING:
    from lowregret.online.agent_settings import Settings
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
REPEAT_SECONDS = 0.01
"""The time before a call whose connection was lost is made again."""
MAX_GROUP_EVENTS = MAX_REMEMBERED // 2
"""After how many events a group of calls ends: the records in memory must hold all that is not stored yet."""


CHANGED: Final = "changed"
GROUPED: Final = "grouped"
STORED: Final = "stored"
LOADED: Final = "loaded"
Unfinished: TypeAlias = (
    tuple[Literal["changed"], tuple[Any, ...]]
    | tuple[Literal["grouped"]]
    | tuple[Literal["stored"], Sequence[Event], int, int | None]
    | tuple[Literal["loaded"], AgentState, int, int | None]
    | None
)
"""What an interrupted transaction has left; see ``Transactions``."""


class _LagError(Exception):
    """More events of other processes are missing than may be applied while they wait."""


class Transactions:
    """The state of an agent and its store; one thread uses them at a time.

    A transaction changes the model, appends its events to the store, and commits them to the records. An
    interrupt may come at any moment. ``_unfinished`` then says what the next call has to finish or to undo,
    and it changes in one step, which no interrupt divides:

    ======================================= ==============================================================
    None                                    nothing: the state is that of the store, or of an earlier time
    CHANGED, saved                          a call has changed the model, and may have stored its events:
                                            restore the model; what is stored is read again
    GROUPED                                 a group of calls has changed model and records, and may not
                                            have stored its events: load the state
    STORED, events, position, snapshot      the events are stored: commit them, which may be repeated
    LOADED, state, position, snapshot       this state replaces the present one
    ======================================= ==============================================================

    ``position`` is the number of events of the store that are in the state, ``snapshot`` the position of the
    latest snapshot, None if this process uses none; a call waits for others for ``timeout`` seconds.
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
        self.clock = store.time if clock is time else partial(_valid_time, clock)
        self.readings = Readings(isinstance(state.settings.window, timedelta))
        self.position, self._snapshot = position, snapshot
        self._unfinished: Unfinished = None
        self.closed = False
        self._lock, self._owner = Lock(), 0  # the thread that holds the lock
        self._wait = (True,), (timeout,)
        self._see_latest_decision()
        if clock is time and self.readings.is_timed:
            self._read_clock()  # with which the first call compares its own
        _open.add(self)

    # What agents and the service call.

    def execute(self, call: Callable[..., Change], *arguments: Any) -> Any:
        """Run a function of ``calls`` as a transaction, and return its result when that is durable.

        ``arguments`` follow the state, the store and the time. A result that is an error is raised: the call
        has rejected something, and recorded the rest.
        """
        while (result := self._run_exclusively(call, arguments)) is RETRY:
            pass
        if isinstance(result, LowRegretError):
            raise result
        return result

    def execute_group(self, group: Sequence[Call]) -> list[Any]:
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
            outcomes = self._run_exclusively(self._change_by_group, (group,))
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
                try:
                    return self._change(call, arguments)[0]
                except ArithmeticError:  # as in ``_prepare_retry``
                    if self.state.is_compiled:
                        raise
                finally:
                    self._recover()
                self.state.compile()

    def replace(self, state: AgentState, position: int, snapshot: int | None) -> None:
        """Replace the state by one that follows from the store."""
        self._unfinished = LOADED, state, position, snapshot
        self._recover()

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            self.closed = True
            self.store.close()

    # One thread at a time.

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

    # A transaction.

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
        store = self.store
        while True:
            try:
                if self._unfinished is not None or self.closed:
                    self._recover()
                change = None
                if end and self._compared(call, arguments) > self._max_updates():
                    began = monotonic()  # now: in a session other agents would wait
                    change = self._change_early(call, arguments)
                    end += monotonic() - began
                with store.session(max(end - monotonic(), 0.0) if end else self.timeout):
                    if change is not None and store.events(self.position, 1):  # another process came first
                        change = None
                        self._recover()
                    if change is None:
                        self._apply_missed(self._max_missed() + 1 if end and may_lag else None)
                        change = self._change(call, arguments)
                    result, events = change
                    position, snapshot = self._store(events)
                if self._unfinished == (GROUPED,):  # whose events are in the records
                    self.position, self._snapshot = position, snapshot
                    self._unfinished = None
                    return result
                return self._commit(events, position, snapshot) or result
            except CompactedError:
                self._recover()
                raise _LagError from None
            except (LostError, ArithmeticError) as error:
                self._prepare_retry(error, end)
            except BaseException:
                if not self.closed:
                    self._recover()
                raise

    def _change_early(self, call: Callable[..., Change], arguments: Any) -> Change:
        """Let a call that compares many arms change the model before its session."""
        prepare(self.state, self._compared(call, arguments) // len(self.state.rows))
        self._catch_up()
        return self._change(call, arguments)

    def _change(self, call: Callable[..., Change], arguments: Any) -> Change:
        """Let a call or a group change the model; return its result and its events."""
        self._unfinished = CHANGED, self.state.save()
        return call(self.state, self.store, self._read_clock(), *arguments)

    def _store(self, events: Sequence[Event]) -> tuple[int, int | None]:
        """Append events, and a snapshot where one is due; return the positions after them."""
        position = self.position + len(events)
        if events:
            self.store.append(events)
            if self._snapshot is not None and self._snapshot_due(position):
                grouped = self._unfinished == (GROUPED,)  # whose events are in the records
                after = self.state if grouped else self.state.after(events)
                self.store.save_snapshot(position, write_checksummed(after, position))
                return position, position
        return position, self._snapshot

    def _commit(self, events: Sequence[Event], position: int, snapshot: int | None) -> list[Decision]:
        """Enter stored events into the records; repeating it changes nothing."""
        self._unfinished = STORED, events, position, snapshot
        self.position, self._snapshot = position, snapshot
        decisions = self.state.commit(events)
        self._unfinished = None
        return decisions

    def _recover(self) -> None:
        """Finish or undo what was interrupted; reject a closed agent."""
        unfinished = self._unfinished
        if unfinished is not None:
            if unfinished[0] == GROUPED:
                self._load()
            elif unfinished[0] == CHANGED:
                self.state.restore(unfinished[1])
            elif unfinished[0] == STORED:
                self._commit(*unfinished[1:])
            else:
                _, self.state, self.position, self._snapshot = unfinished
            self._unfinished = None
        if self.closed:
            raise InputError("this agent is closed: open it again")

    def _read_clock(self) -> float:
        """Read the clock, and set by which time windows may end."""
        now, readings = self.clock(), self.readings
        if readings.is_timed or now < readings.latest_time:
            self.state.windows_end = readings.believed_time(now, self.store.name)
        else:
            readings.latest_time = now
        return now

    def _prepare_retry(self, error: Exception, end: float) -> None:
        """Wait for a connection, or compile; raise the error if the call must not be made again."""
        if isinstance(error, LostError) and monotonic() < end:
            sleep(REPEAT_SECONDS)
        elif isinstance(error, ArithmeticError) and not self.state.is_compiled:
            self.state.compile()  # where a division by 0 is inf, as in simulations
        else:
            self._recover()
            raise error

    # A group of calls in one transaction.

    def _change_by_group(self, state: AgentState, store: Store, now: float, group: Sequence[Call]) -> Change:
        """Make a group of calls, each of which sees the records of those before it."""
        self._unfinished, lookup = (GROUPED,), GroupLookup(store, group)
        outcomes: list[Any] = []
        events: list[Event] = []
        for place, (call, arguments) in enumerate(group):
            time = self._read_clock() if place else now
            outcome, call_events = self._attempt(lookup, time, call, arguments)
            events += call_events
            if outcome is RETRY:
                break
            outcomes.append(outcome)
            if len(events) >= MAX_GROUP_EVENTS:
                break
        return outcomes, events

    def _attempt(
        self, lookup: GroupLookup, now: float, call: Callable[..., Change], arguments: Any
    ) -> Change:
        """Make one call of a group; return its result or its error, and its events."""
        state = self.state
        before = state.save()
        try:
            result, events = call(state, lookup, now, *arguments)
        except (StoreError, ArithmeticError):
            raise
        except Exception as error:
            state.restore(before)
            return error, []
        lookup.add(events)
        return state.commit(events) or result, events

    # The events of other processes.

    def _apply_missed(self, limit: int | None) -> None:
        """Apply what other processes have stored, unless it is so much that they would wait for long."""
        missed = self.store.events(self.position, limit)
        if missed and (limit == len(missed) or any(event.kind == "withdrew" for event in missed)):
            raise _LagError
        for event in missed:
            self._apply(event)

    def _catch_up(self) -> None:
        """Apply what other processes have stored; from their latest snapshot where that is much."""
        missed = self._missed()
        if missed is None:
            self._load()
            return
        prepare(self.state, len(missed))
        for event in missed:
            self._apply(event)

    def _missed(self) -> list[Event] | None:
        """Return the events to apply; None if the latest snapshot has them, or has replaced them."""
        limit, store = self._max_missed(), self.store
        try:
            missed = store.events(self.position, limit + 1)
            if len(missed) > limit:
                latest_snapshot = None if self._snapshot is None else store.latest_snapshot()
                if latest_snapshot is not None and latest_snapshot[0] > self.position:
                    return None
                missed = store.events(self.position)
        except CompactedError:
            return None
        return None if any(event.kind == "withdrew" for event in missed) else missed

    def _apply(self, event: Event) -> None:
        """Apply a stored event that is not in the state: of another process, or of an interrupted call."""
        self._unfinished = CHANGED, self.state.save()
        reapply(self.state, event)
        self.readings.note_event(event.timestamp)
        self._commit((event,), self.position + 1, self._snapshot)

    def _load(self) -> None:
        """Replace the state by what is stored."""
        state = self.state
        state, position, snapshot = load(self.store, state.settings, state.token, state.steps)
        state.assignment = self.state.assignment
        self.replace(state, position, snapshot)
        self._see_latest_decision()

    def _see_latest_decision(self) -> None:
        """Take in the time of the latest pending decision, which another process may have made."""
        for decision in islice(reversed(self.state.pending.values()), 1):
            self.readings.note_event(decision.timestamp)

    def _max_updates(self) -> int:
        """Return how many times arms may be updated or compared while others wait."""
        return (20 if self.state.is_compiled else 1) * MAX_ARM_UPDATES

    def _max_missed(self) -> int:
        """Return how many events may be applied while other processes wait."""
        return max(2, min(500, self._max_updates() // (len(self.state.rows) + 20)))

    def _compared(self, call: Callable[..., Change], arguments: Any) -> int:
        """Return how many arms a call or a group compares, over all its decisions."""
        group: Sequence[Call] = arguments[0] if call == self._change_by_group else [(call, arguments)]
        return len(self.state.rows) * sum(int(options[0]) for call, options in group if call is ask)

    def _snapshot_due(self, position: int) -> bool:
        """Return whether a snapshot is due; another process may have stored one."""
        state = self.state
        cells = len(state.rows) if state.periods is None else state.periods.counts.size
        interval = max(SNAPSHOT_EVERY, len(state.pending), cells // 4)  # a snapshot lists them all
        if position - (self._snapshot or 0) >= interval:
            latest_snapshot = self.store.latest_snapshot()
            self._snapshot = latest_snapshot[0] if latest_snapshot else 0
        return position - (self._snapshot or 0) >= interval


def _valid_time(clock: Callable[[], float]) -> float:
    """Return the time of a clock of the user's own."""
    now = clock()
    with suppress(TypeError):  # no number at all
        if abs(now) <= MAX_SECONDS:
            return now
    raise InputError(f"clock must return the seconds since 1970, as time.time does, got {now!r}")


def load(
    store: Store, settings: Settings, token: str, steps: tuple[Any, Any, Any] | None = None
) -> tuple[AgentState, int, int | None]:
    """Return the state of a stored agent, the number of its events, and the position of its snapshot.

    Where a newer version wrote the latest snapshot, the log is replayed instead, and no position is returned:
    this process then leaves snapshots to the newer version. ``steps`` are compiled functions of another state
    of this agent.
    """

    def read() -> tuple[AgentState, int, int | None]:
        snapshot: int | None
        try:
            state, start = state_at(store.latest_snapshot(), settings, token)
            events, snapshot, withdrawn = store.events(start), start, set()
        except NewerError:
            state, start = state_at(store.first_snapshot(), settings, token)
            events, snapshot = store.events(start), None
            withdrawn = withdrawn_in(events)
        state.steps = steps or state.steps
        prepare(state, len(events))
        replay(state, events, withdrawn)
        if withdrawn:
            state.answers.clear()  # the store has what was told
        return state, start + len(events), snapshot

    return retry_if_changed(read)


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

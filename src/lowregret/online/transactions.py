"""Transactions of an agent: each is stored before it counts, and is made completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, TypeAlias

from lowregret._common import text
from lowregret._common.validation import short_repr
from lowregret.errors import ConflictError, InputError, UnknownDecisionError
from lowregret.online.agent_settings import valid_reward
from lowregret.online.agent_state import AgentState, Saved
from lowregret.online.decisions import Decision, Event, decision_id, decision_number, decision_of, new_tuple
from lowregret.online.snapshot import write

if TYPE_CHECKING:
    from lowregret.online.stores import Store

SNAPSHOT_EVERY = 1_000
"""How many events lie between two snapshots, at least; more, where more decisions are pending."""

Change: TypeAlias = tuple[Any, list[Event]]
"""The result of a transaction and its events."""
Stored: TypeAlias = tuple[Sequence[Event], int, int | None]
"""Events that are stored, the position after them, and that of the latest snapshot."""


class Transactions:
    """The state of an agent and its store; one thread uses them at a time.

    A transaction changes the model, appends its events to the store, and commits them to the records. An
    interrupt may come at any moment, and the next call recovers. While ``_stored`` is set, it repeats the
    commit. Else, while ``_before`` is set, it restores the model. Whether the events of that transaction are
    stored is decided by reading the store.

    ``position`` is the number of events of the store that are in the state, ``snapshot`` the position of the
    latest snapshot, None if the store needs none.
    """

    def __init__(
        self, state: AgentState, store: Store, position: int = 0, snapshot: int | None = None
    ) -> None:
        self.state, self.store = state, store
        self._position, self._snapshot = position, snapshot
        self._before: Saved | None = None
        self._stored: Stored | None = None
        self.closed = False
        self._lock, self._owner = Lock(), 0  # the thread that holds the lock

    def ask(self, count: int, only: list[str] | None, request: str | None) -> Sequence[Decision]:
        """Make decisions, or return those of an earlier request."""
        return self._execute(self._ask, count, only, request)  # type: ignore[no-any-return]

    def tell(self, rewards: Sequence[tuple[Decision | str, float]]) -> int:
        """Apply rewards, all or none; return how many were new."""
        result = self._execute(self._tell, rewards)
        if isinstance(result, ConflictError):
            raise result
        return int(result)

    def forget(self, decision: Decision | str) -> bool:
        """Discard a decision; return whether it was pending."""
        return bool(self._execute(self._forget, _key(decision)))

    def add(self, arm: object) -> None:
        """Add an arm."""
        self._execute(self._add, arm)

    def retire(self, arm: object) -> None:
        """Retire an arm."""
        self._execute(self._retire, arm)

    @contextmanager
    def reading(self) -> Iterator[AgentState]:
        """Provide the current state, including the transactions of other processes."""
        self._check_not_nested()
        with self._lock:
            self._owner = get_ident()
            try:
                self._recover()
                for event in self.store.events(self._position):
                    self._apply(event)
                yield self.state
            finally:
                self._owner = 0

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            self.closed = True
            self.store.close()

    def _execute(self, transaction: Callable[..., Change], *arguments: Any) -> Any:
        """Run a transaction while no other thread uses the agent."""
        if self._owner:
            self._check_not_nested()
        with self._lock:
            self._owner = get_ident()
            try:
                return self._run(transaction, arguments)
            finally:
                self._owner = 0

    def _run(self, transaction: Callable[..., Change], arguments: tuple[Any, ...]) -> Any:
        """Run a transaction; an error before its events are stored leaves everything unchanged."""
        store, state = self.store, self.state
        self._recover()
        try:
            with store.session():
                for event in store.events(self._position):
                    self._apply(event)
                self._before = state.save()
                result, events = transaction(*arguments)
                position, snapshot = self._position + len(events), self._snapshot
                if events:
                    store.append(events)
                    if snapshot is not None and self._snapshot_due(position):
                        store.keep(position, write(state, state.pending_after(events)))
                        snapshot = position
            self._stored = events, position, snapshot
            return self._commit() or result
        except BaseException:
            self._recover()
            raise

    def _apply(self, event: Event) -> None:
        """Apply a stored event that is not in the state: of another process, or of an interrupted call."""
        self._before = self.state.save()
        self.state.reapply(event)
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
        if self._stored is not None:
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
        interval = max(SNAPSHOT_EVERY, len(self.state.pending))  # a snapshot lists them all
        if position - (self._snapshot or 0) >= interval:
            latest = self.store.latest()
            self._snapshot = latest[0] if latest else 0
        return position - (self._snapshot or 0) >= interval

    def _ask(self, count: int, only: list[str] | None, request: str | None) -> Change:
        state = self.state
        if only is not None:
            state.check_only(only)
        known = [] if request is None else self._requested(request)
        if known:
            if len(known) != count:
                raise ConflictError(
                    f"request {short_repr(request)} asked for {text.count(len(known), 'decision')} before, "
                    f"not for {count}"
                )
            for decision in known:
                if only is not None and decision.arm not in only:
                    raise ConflictError(
                        f"request {short_repr(request)} chose {short_repr(decision.arm)} before, which is "
                        "not in only: use another request for a new choice"
                    )
            return known, []
        if only is not None:
            state.allow(only)
        first = state.asked + 1
        events = [state.choose(number, request) for number in range(first, first + count)]
        if only is not None:
            state.allow(None)
        return None, events

    def _tell(self, rewards: Sequence[tuple[Decision | str, float]]) -> Change:
        state = self.state
        new: dict[str, Event] = {}
        for decision, reward in rewards:
            key, value = _key(decision), valid_reward(reward)
            pending = state.pending.get(key)
            if pending is not None and key not in new:
                state.apply_reward(pending.arm, state.settings.scaled(value))
                number = int(key.rpartition("-")[2])
                new[key] = new_tuple(Event, ("told", number, None, value, None, None, None, None))
                continue
            known = new[key].reward if key in new else self._answer(key)
            if known != value:
                assert self._before is not None
                state.restore(self._before)
                state.conflicts += 1
                earlier = "was discarded" if known is None else f"has the reward {known!r}"
                conflict = ConflictError(f"decision {key!r} {earlier}: the reward {value!r} is rejected")
                return conflict, [Event("conflict", self._number(key), None, value)]
        return len(new), list(new.values())

    def _forget(self, key: str) -> Change:
        pending = self.state.pending.get(key)
        if pending is not None:
            self.state.discard(pending.arm)
            return True, [Event("forgot", decision_number(key))]
        reward = self._answer(key)
        if reward is not None:
            raise ConflictError(f"decision {key!r} has the reward {reward!r}: it cannot be discarded")
        return False, []

    def _add(self, arm: object) -> Change:
        name = self.state.check_new(arm)
        self.state.add(name)
        return None, [Event("added", arm=name)]

    def _retire(self, arm: object) -> Change:
        name = self.state.check_retirement(arm)
        self.state.retire(name)
        return None, [Event("retired", arm=name)]

    def _requested(self, request: str) -> list[Decision]:
        """Return the decisions of an earlier request, none if it is new."""
        known = self.state.requests.get(request)
        if known:
            return list(known.values())
        return [decision_of(self.state.token, event) for event in self.store.requested(request)]

    def _number(self, key: str) -> int:
        """Return the number of a decision of this agent."""
        number = decision_number(key)
        if 1 <= number <= self.state.asked and key == decision_id(self.state.token, number):
            return number
        raise UnknownDecisionError(f"unknown decision {short_repr(key)}: this agent did not make it")

    def _answer(self, key: str) -> float | None:
        """Return the reward of a decision that is no longer pending, None if it was discarded."""
        number = self._number(key)
        if number in self.state.answers:
            return self.state.answers[number]
        event = self.store.answered(number)
        if event is None:
            raise UnknownDecisionError(
                f"decision {key!r} was answered long ago: only an agent on a file remembers every answer"
            )
        return event.reward


def _key(decision: object) -> str:
    """Return the id of a decision."""
    if isinstance(decision, Decision):
        decision = decision.id
    if isinstance(decision, str):
        return decision
    raise InputError(f"a decision must be a Decision or its id, got {short_repr(decision)}")

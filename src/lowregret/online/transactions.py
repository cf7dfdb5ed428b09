"""What happens to an agent, in order: one change at a time, each durable before it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

from lowregret._common.validation import show
from lowregret.errors import InputError
from lowregret.online.agent_settings import number
from lowregret.online.decisions import Decision, Event, decision_id, decision_of
from lowregret.online.snapshot import write
from lowregret.online.state import Core, Saved

if TYPE_CHECKING:
    from lowregret.online.stores import Store

SNAPSHOT_EVERY = 1_000
"""How many events a store holds, at most, that a new agent must replay; more, where more is pending."""

Change: TypeAlias = tuple[Any, list[Event], dict[str, Decision]]
"""What a change gives back, the events it is made of, and the pending decisions that they answer."""
Loaded: TypeAlias = tuple[Core, int, int]
"""A state, the number of events in it, and the position of the latest snapshot."""


class Ledger:
    """An agent's state and its store, if it has one; threads wait for one another here.

    An interrupt may come at any moment, so until a change is whole the ledger remembers that it is not.
    Before its next use a change in memory is taken back, and the state of a store is loaded anew.

    Parameters
    ----------
    core : Core
        The state.
    store : Store, optional
        Where every event is kept.
    load : callable, optional
        Loads a state from the store.
    """

    def __init__(
        self, core: Core, store: Store | None = None, load: Callable[[], Loaded] | None = None
    ) -> None:
        self.core, self.store, self._load = core, store, load
        self._position = self._kept = 0  # how many events are in the state, and in the latest snapshot
        self._stale = self._closed = False
        self._before: tuple[Saved, list[Event], dict[str, Decision]] | None = None
        self._lock = RLock()

    @classmethod
    def on(cls, store: Store, load: Callable[[], Loaded]) -> Ledger:
        """Load a ledger from its store."""
        core, position, kept = load()
        ledger = cls(core, store, load)
        ledger._position, ledger._kept = position, kept
        return ledger

    def ask(self, count: int, only: list[str] | None, request: str | None) -> Sequence[Decision]:
        """Make decisions, or give those of a request again."""
        return self._change(self._ask, count, only, request)  # type: ignore[no-any-return]

    def tell(self, rewards: Sequence[tuple[Decision | str, float]]) -> int:
        """Take rewards, all or none; give how many were new."""
        found = self._change(self._tell, rewards)
        if isinstance(found, InputError):
            raise found
        return int(found)

    def forget(self, decision: Decision | str) -> bool:
        """Give up a decision; say whether it was not given up before."""
        return bool(self._change(self._forget, _key(decision)))

    def add(self, arm: object) -> None:
        """Let an arm join."""
        self._change(self._add, arm)

    def retire(self, arm: object) -> None:
        """Let an arm leave."""
        self._change(self._retire, arm)

    @contextmanager
    def reading(self) -> Iterator[Core]:
        """Give the state as it is now, others' changes included."""
        self._refuse_nested()
        with self._lock:
            self._mend()
            if self.store is not None:
                self._stale = True
                self._catch_up(self.store)
                self._stale = False
            yield self.core

    def close(self) -> None:
        """Let go of the store."""
        with self._lock:
            self._closed = True
            if self.store is not None:
                self.store.close()

    def _change(self, change: Callable[..., Change], *arguments: Any) -> Any:
        """Make a change: in the numbers first, then durably in the store, then in the records.

        Whatever goes wrong before it is durable leaves everything as it was.
        """
        self._refuse_nested()
        with self._lock:
            self._mend()
            if self.store is None:
                return self._change_memory(change, arguments)
            return self._change_store(self.store, change, arguments)

    def _change_memory(self, change: Callable[..., Change], arguments: tuple[Any, ...]) -> Any:
        saved = self.core.save()
        self._before = saved, [], {}
        try:
            result, events, answered = change(saved, *arguments)
            self._before = saved, events, answered
            made = self.core.note(events)
            self._before = None
        except BaseException:
            self._mend()
            raise
        return made or result

    def _change_store(self, store: Store, change: Callable[..., Change], arguments: tuple[Any, ...]) -> Any:
        core, saved, made, kept = self.core, None, None, None
        try:
            with store.session():
                self._stale = True
                self._catch_up(store)
                saved = core.save()
                result, events, _ = change(saved, *arguments)
                position = self._position + len(events)
                if events:
                    store.append(events)
                    if self._due(store, position):
                        saved = None  # from here on only the store knows what was
                        made = core.note(events)
                        store.keep(position, write(core, whole=False))
                        kept = position
            if made is None:
                saved = None
                made = core.note(events)
            self._position, self._kept, self._stale = position, kept or self._kept, False
        except BaseException:
            if saved is not None:
                core.put_back(saved)
                self._stale = False
            raise
        return made or result

    def _refuse_nested(self) -> None:
        """Refuse a call from inside another, as a signal handler may make it."""
        if self._lock._is_owned():  # type: ignore[attr-defined]  # as threading.Condition asks
            raise InputError("this agent is in the middle of a call: use it when that has ended")

    def _mend(self) -> None:
        """Undo what an interrupt has left half done; refuse an agent that was closed."""
        if self._closed:
            raise InputError("this agent was closed: open it again")
        if self._before is not None:
            self.core.undo(*self._before)
            self._before = None
        if self._stale and self._load is not None:
            core, self._position, self._kept = self._load()
            core.steps = self.core.steps
            self.core, self._stale = core, False

    def _due(self, store: Store, position: int) -> bool:
        """Say whether a snapshot is due, which another process may have kept already."""
        often = max(SNAPSHOT_EVERY, len(self.core.pending))  # which all stand in a snapshot
        if position - self._kept >= often:
            latest = store.latest()
            self._kept = latest[0] if latest else 0
        return position - self._kept >= often

    def _catch_up(self, store: Store) -> None:
        """Live through what others did."""
        events = store.events(self._position)
        self.core.replay(events)
        self._position += len(events)

    def _ask(self, _: Saved, count: int, only: list[str] | None, request: str | None) -> Change:
        core = self.core
        if only is not None:
            core.check_only(only)
        known = [] if request is None else self._requested(request)
        if known:
            if len(known) != count:
                raise InputError(f"request {show(request)} asked for {len(known)} decisions, not for {count}")
            for decision in known:
                if only is not None and decision.arm not in only:
                    raise InputError(
                        f"request {show(request)} chose {show(decision.arm)} before, which is not in only: "
                        "give a new choice another name"
                    )
            return known, [], {}
        if only is not None:
            core.allow(only)
        first = core.asked + 1
        events = [core.choose(number, request) for number in range(first, first + count)]
        if only is not None:
            core.allow(None)
        return None, events, {}

    def _tell(self, before: Saved, rewards: Sequence[tuple[Decision | str, float]]) -> Change:
        core = self.core
        told: dict[str, Event] = {}
        answered: dict[str, Decision] = {}
        for decision, reward in rewards:
            key, value = _key(decision), number(reward)
            waiting = core.pending.get(key)
            if waiting is not None and key not in told:
                core.hear(waiting.arm, core.settings.scaled(value))
                told[key] = Event("told", int(key.rpartition("-")[2]), None, value)
                answered[key] = waiting
                continue
            known = told[key].reward if key in told else self._answer(key)
            if known != value:
                core.put_back(before)
                was = "given up" if known is None else f"told the reward {known!r} before"
                refusal = InputError(f"decision {key!r} was {was}: the reward {value!r} is refused")
                return refusal, [Event("conflict", self._number(key), None, value)], {}
        return len(told), list(told.values()), answered

    def _forget(self, _: Saved, key: str) -> Change:
        waiting = self.core.pending.get(key)
        if waiting is not None:
            self.core.give_up(waiting.arm)
            return True, [Event("forgot", self._number(key))], {key: waiting}
        reward = self._answer(key)
        if reward is not None:
            raise InputError(f"decision {key!r} was told the reward {reward!r} before: it cannot be given up")
        return False, [], {}

    def _add(self, _: Saved, arm: object) -> Change:
        return None, [Event("added", arm=self.core.check_new(arm))], {}

    def _retire(self, _: Saved, arm: object) -> Change:
        return None, [Event("retired", arm=self.core.check_leaving(arm))], {}

    def _requested(self, request: str) -> list[Decision]:
        """Give the decisions of a request, none if it is new."""
        known = self.core.requests.get(request, [])
        if not known and self.store is not None:
            known = [decision_of(self.core.token, event) for event in self.store.requested(request)]
        return known

    def _number(self, key: str) -> int:
        """Give the number of a decision that was asked of this agent."""
        digits = key.rpartition("-")[2]
        number = int(digits) if digits.isdecimal() and len(digits) < 20 else 0
        if 1 <= number <= self.core.asked and key == decision_id(self.core.token, number):
            return number
        raise InputError(f"unknown decision {show(key)}: it was not asked of this agent")

    def _answer(self, key: str) -> float | None:
        """Give the reward that was told of a decision before, None if it was given up."""
        number = self._number(key)
        if number in self.core.answers:
            return self.core.answers[number]
        event = self.store.answered(number) if self.store is not None else None
        if event is None:
            raise InputError(
                f"decision {key!r} was answered long ago: only a store remembers what it was told"
            )
        return event.reward


def _key(decision: object) -> str:
    """Give the id of a decision."""
    if isinstance(decision, Decision):
        decision = decision.id
    if isinstance(decision, str):
        return decision
    raise InputError(f"a decision must be what ask gave, or its id, got {show(decision)}")

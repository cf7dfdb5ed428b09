"""What the calls of an agent do to its state: each function returns a result and the events to store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lowregret._common import text
from lowregret._common.validation import short_repr
from lowregret.errors import ConflictError, InputError, UnknownDecisionError
from lowregret.online.agent_settings import valid_reward
from lowregret.online.agent_state import AgentState
from lowregret.online.decisions import (
    STATUS_EVENTS,
    Decision,
    Event,
    Kind,
    decision_number,
    decision_of,
    new_tuple,
)
from lowregret.online.windows import end_windows

if TYPE_CHECKING:
    from lowregret.online.known_requests import KnownRequests
    from lowregret.online.stores import Store as WholeStore

    Store: TypeAlias = WholeStore | KnownRequests

Change: TypeAlias = tuple[Any, list[Event]]
"""The result of a transaction and its events."""


def ask(
    state: AgentState, store: Store, now: float, count: int, only: list[str] | None, request: str | None
) -> Change:
    """Make decisions, or return those of an earlier request."""
    if only is not None:
        state.check_only(only)
    known = [] if request is None else _requested(state, store, request)
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
    if state.status != "active":
        remedy = ": resume it" if state.status == "paused" else ""
        raise ConflictError(f"this agent is {state.status} and makes no decisions{remedy}")
    events = [] if state.settings.window is None else end_windows(state, now)
    if only is not None:
        state.allow(only)
    for number in range(state.asked + 1, state.asked + 1 + count):
        events.append(state.choose(number, request, now))
    if only is not None:
        state.allow(None)
    return None, events


def tell(
    state: AgentState, store: Store, now: float, rewards: Sequence[tuple[Decision | str, float]]
) -> Change:
    """Apply rewards, all or none; a conflict is recorded and returned."""
    new: dict[int, tuple[float, float]] = {}  # as reported and as scaled, by number of the decision
    for decision, reward in rewards:
        number, value = _number(state, decision), valid_reward(reward)
        if number and number not in new and number not in state.early:
            new[number] = value, state.settings.scaled(value)
            continue
        if number in new:
            known: float | None = new[number][0]
        else:
            known = state.early[number] if number else _answer(state, store, decision)
        if known != value:
            key = _key(decision)
            state.conflicts += 1
            earlier = "was discarded" if known is None else f"has the reward {known!r}"
            conflict = ConflictError(f"decision {key!r} {earlier}: the reward {value!r} is rejected")
            return conflict, [Event("conflict", decision_number(key), None, value, timestamp=now)]
    events, at_once = [], state.settings.matures_after is None
    for number, (value, scaled) in new.items():
        if at_once:
            state.apply_reward(state.pending[number].arm, scaled)
        fields = "told", number, None, value, None, None, None, None, None, now
        events.append(new_tuple(Event, fields))
    return len(events), events


def forget(state: AgentState, store: Store, now: float, decisions: Sequence[Decision | str]) -> Change:
    """Discard decisions, all or none."""
    events: dict[int, Event] = {}
    for decision in decisions:
        number = _number(state, decision)
        if number in events:
            continue
        if number and number not in state.early:
            state.discard(state.pending[number].arm)
            events[number] = Event("forgot", number, timestamp=now)
            continue
        reward = state.early[number] if number else _answer(state, store, decision)
        if reward is not None:
            raise ConflictError(
                f"decision {_key(decision)!r} has the reward {reward!r}: it cannot be discarded"
            )
    return len(events), list(events.values())


def settle(state: AgentState, store: Store, now: float) -> Change:
    """End the windows that are due."""
    before = len(state.pending) - len(state.early)
    events = end_windows(state, now)
    after = state.after(events)
    return before - (len(after.pending) - len(after.early)), events


def add(state: AgentState, store: Store, now: float, arm: object) -> Change:
    """Add an arm."""
    name = state.check_new(arm)
    state.add(name)
    return None, [Event("added", arm=name, timestamp=now)]


def retire(state: AgentState, store: Store, now: float, arm: object) -> Change:
    """Retire an arm."""
    name = state.check_retirement(arm)
    state.retire(name)
    return None, [Event("retired", arm=name, timestamp=now)]


def change_status(state: AgentState, store: Store, now: float, kind: Kind) -> Change:
    """Pause, resume or end an agent; return whether that changed anything."""
    status = STATUS_EVENTS[kind]
    if state.status == status:
        return False, []
    if state.status == "retired":
        raise ConflictError("this agent is retired, which is final: create another one")
    state.status = status
    return True, [Event(kind, timestamp=now)]


def _requested(state: AgentState, store: Store, request: str) -> list[Decision]:
    """Return the decisions of an earlier request, none if it is new."""
    known = state.requests.get(request)
    if known:
        return list(known.values())
    return [decision_of(event) for event in store.requested(request)]


def _key(decision: object) -> str:
    """Return the id of a decision."""
    if isinstance(decision, Decision):
        decision = decision[0]
    if isinstance(decision, str):
        return decision
    raise InputError(f"a decision must be a Decision or its id, got {short_repr(decision)}")


def _number(state: AgentState, decision: Decision | str) -> int:
    """Return the number of a pending decision, 0 if there is none with this id."""
    key = _key(decision)
    number = decision_number(key)
    pending = state.pending.get(number)
    if pending is decision:
        return number
    if pending is None or pending.id != key:
        return 0
    if isinstance(decision, Decision):
        _check_same(decision, pending)
    return number


def _check_same(given: Decision, recorded: Decision) -> None:
    if given.arm != recorded.arm or given.time != recorded.time:
        raise InputError(
            f"decision {recorded.id!r} chose {short_repr(recorded.arm)} at time {recorded.time}, "
            f"not {short_repr(given.arm)} at time {short_repr(given.time)}: pass it as it was returned"
        )


def _answer(state: AgentState, store: Store, decision: Decision | str) -> float | None:
    """Return the reward of a decision that is no longer pending, None if it was discarded."""
    key = _key(decision)
    if key in state.answers:
        return state.answers[key]
    number = decision_number(key)
    events = store.decision(number) if 1 <= number <= state.asked else []
    if events:
        recorded = decision_of(events[0])
        if recorded.id == key:
            if isinstance(decision, Decision):
                _check_same(decision, recorded)
            if len(events) > 1:
                return events[1].reward
            if number <= state.matured:
                return state.settings.default_reward
    elif 1 <= number <= state.asked:
        raise UnknownDecisionError(
            f"unknown decision {short_repr(key)}: this agent did not make it, or it was answered long ago "
            "and is no longer remembered"
        )
    raise UnknownDecisionError(f"unknown decision {short_repr(key)}: this agent did not make it")

"""What the calls of an agent do to its state: each function returns a result and the events to store."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from lowregret._common import text
from lowregret._common.validation import short_repr
from lowregret.errors import (
    ConflictError,
    InputError,
    LowRegretError,
    PausedError,
    UnknownDecisionError,
    rejection,
)
from lowregret.online.agent_settings import (
    require_shares,
    valid_arm,
    valid_request,
    valid_reward,
    valid_value,
)
from lowregret.online.agent_state import AgentState
from lowregret.online.decisions import (
    FALLBACK,
    OBSERVED,
    PREVIEW,
    STATUS_EVENTS,
    VISITOR,
    Decision,
    Event,
    Kind,
    Observation,
    Reference,
    Request,
    decision_id,
    decision_number,
    decision_of,
    new_key,
    new_tuple,
)
from lowregret.online.windows import end_due_windows

if TYPE_CHECKING:
    from lowregret.online.stores import Store

Change: TypeAlias = tuple[Any, list[Event]]
"""The result of a transaction and its events."""
Call: TypeAlias = tuple[Callable[..., Change], tuple[Any, ...]]
"""A function of this module, and its arguments after the state, the store and the time."""
RETRY: Final = object()
"""The result of a call that must be made again: it has only ended windows, and more are due."""


class GroupLookup:
    """The part of a store that calls use, as a group of calls sees it: with what those before have done.

    All requests of the group are looked up at once: on another host each query takes longer than a decision.
    """

    def __init__(self, store: Store, group: Sequence[Call]) -> None:
        self.events_of_decision = store.events_of_decision
        self._requests: dict[str, list[Event]] = {
            request: [] for call, arguments in group for request in _requests_of(call, arguments)
        }
        if self._requests:
            self.add(store.events_of_requests(list(self._requests)))

    def events_of_request(self, request: str) -> list[Event]:
        return self._requests[request]

    def add(self, events: Sequence[Event]) -> None:
        """Add events of a call of the group, which are not stored yet."""
        for event in events:
            if event.request is not None:
                self._requests[event.request].append(event)


Lookup: TypeAlias = "Store | GroupLookup"


def _requests_of(call: Callable[..., Change], arguments: Sequence[Any]) -> list[str]:
    """Return the requests that a call looks up."""
    if call is ask:
        return [] if arguments[2] is None else [arguments[2]]
    if call is observe:
        return [row.request for row in arguments[0] if row.request is not None]
    if call is tell:
        return [entry[0].name for entry in arguments[0] if isinstance(entry[0], Request)]
    return [entry.name for entry in arguments[0] if isinstance(entry, Request)] if call is forget else []


def ask(
    state: AgentState,
    store: Lookup,
    now: float,
    count: int,
    only: list[str] | None,
    request: str | None,
    visitor: bool = False,
) -> Change:
    """Make decisions, or return those of an earlier request.

    A visitor can guess the request of somebody else, or use it first. So a visitor gets what was decided for
    it, whoever asked; and a decision that a visitor asked for never makes the call of anybody else fail.
    """
    for arm in only or ():
        if not isinstance(arm, str) or arm not in state.hidden:
            state.place(arm)  # rejects one that does not exist
    earlier = [] if request is None else _decisions_of_request(state, store, request)
    if earlier and visitor:
        return earlier[:1], []
    if earlier and _is_of_visitor(earlier[0]):
        fits = count == 1 and (only is None or earlier[0].arm in only)
        earlier = earlier[:1] if fits else []
    if earlier:
        if len(earlier) != count:
            raise ConflictError(
                f"request {short_repr(request)} asked for {text.count(len(earlier), 'decision')} before, "
                f"not for {count}"
            )
        for decision in earlier:
            if only is not None and decision.arm not in only:
                raise ConflictError(
                    f"request {short_repr(request)} chose {short_repr(decision.arm)} before, which is "
                    "not in only: use another request for a new choice"
                )
        return earlier, []
    if state.status != "active":
        remedy = ": resume it" if state.status == "paused" else ""
        if state.fallback is None:
            raise PausedError(f"this agent is {state.status} and makes no decisions{remedy}")
        return [Decision(FALLBACK, state.fallback, 0)] * count, []
    events: list[Event] = []
    if state.settings.window is not None:
        events, more = end_due_windows(state, now)
        if more:
            return RETRY, events
    if only is not None:
        state.allow(only)
    for number in range(state.asked + 1, state.asked + 1 + count):
        events.append(state.choose(number, request, now))
    if visitor:  # who asks for one decision
        events[-1] = events[-1]._replace(key=VISITOR + str(events[-1].key)[len(VISITOR) :])
    if only is not None:
        state.allow(None)
    return None, events


def tell(state: AgentState, store: Lookup, now: float, rewards: Sequence[tuple[Reference, float]]) -> Change:
    """Apply rewards. One that contradicts another, or whose decision is unknown, is rejected alone.

    A conflict is recorded. Invalid input is an error of the whole call.
    """
    early = state.early
    if len(rewards) == 1 and not isinstance(rewards[0][0], Request):  # as most often: nothing to collect
        number = _number(state, rewards[0][0])
        if number and number not in early:
            return 1, [_reward_event(state, now, number, state.pending[number], valid_reward(rewards[0][1]))]
    new: dict[int, float] = {}  # by number of the decision
    rejected: dict[int, LowRegretError] = {}  # by place in the call
    conflicts: list[Event] = []
    for place, (reference, reward) in enumerate(rewards):
        try:
            decision = _decision(state, store, reference) if isinstance(reference, Request) else reference
            number = _number(state, decision)
            if not number and decision_id(decision) == FALLBACK:
                continue
            value = valid_reward(reward)
            if number and number not in new and number not in early:
                new[number] = value
                continue
            if number in new:
                recorded: float | None = new[number]
            else:
                recorded = early[number] if number else _answer(state, store, decision)
        except UnknownDecisionError as error:
            rejected[place] = error
            continue
        if recorded != value:
            key = decision_id(decision)
            earlier = "was discarded" if recorded is None else f"has the reward {recorded!r}"
            rejected[place] = ConflictError(f"decision {key!r} {earlier}: the reward {value!r} is rejected")
            conflicts.append(Event("conflict", decision_number(key), None, value, timestamp=now))
    events = [_reward_event(state, now, number, state.pending[number], new[number]) for number in new]
    if not rejected:
        return len(events), events
    problem = rejection(rejected, len(rewards))
    if not (events or conflicts):
        raise problem
    state.conflicts += len(conflicts)
    return problem, events + conflicts


def _reward_event(state: AgentState, now: float, number: int, decision: Decision, value: float) -> Event:
    """Apply the reward of a pending decision, unless it counts later; return the event."""
    if state.settings.matures_after is None:
        state.apply_reward(decision, value)
    else:
        state.settings.scaled(value)  # rejects one outside the range
    event: Event = new_tuple(Event, ("told", number, None, value, None, None, None, None, None, now))
    return event


def observe(state: AgentState, store: Lookup, now: float, rows: Sequence[Observation]) -> Change:
    """Enter decisions of others and their rewards, all or none; those of an earlier request are skipped."""
    if state.status == "retired":
        raise ConflictError("this agent is retired, which is final: create another one")
    events, more = end_due_windows(state, now)
    if more:
        return RETRY, events
    new: dict[str, Observation] = {}
    for row in rows:
        arm, value, propensity, request = row
        if request is not None and request in new:
            _check_repeated(row, new[request].arm, new[request].reward)
            continue
        if request is not None:
            new[request] = row
            earlier = _decisions_of_request(state, store, request)
            if earlier and not _is_of_visitor(earlier[0]):
                _check_repeated(row, earlier[0].arm, _known_reward(state, store, earlier))
                continue
        if arm is None or arm != state.control:
            state.place(arm)
        state.asked = number = state.asked + 1
        key, drawn = OBSERVED + new_key()[len(OBSERVED) :], int(state.models[0]["drawn"])
        fields = "asked", number, arm, None, state.time + 1, propensity, drawn, request, key, now
        event = new_tuple(Event, fields)
        state.count_pending(arm)
        events += [event, _reward_event(state, now, number, decision_of(event), value)]
    return [], events


def _known_reward(state: AgentState, store: Lookup, decisions: list[Decision]) -> float | None:
    """Return the reward of the one decision of a request, None if it is not known."""
    number = decision_number(decisions[0].id)
    if len(decisions) > 1 or number in state.pending:
        return state.early.get(number)
    return _answer(state, store, decisions[0])


def _check_repeated(row: Observation, arm: str, reward: float | None) -> None:
    """Reject an observation whose request stands for another decision or reward."""
    if (arm, reward) != row[:2]:
        had = "no reward yet" if reward is None else f"the reward {reward!r}"
        raise ConflictError(
            f"request {short_repr(row.request)} has arm {short_repr(arm)} and {had}, not "
            f"{short_repr(row.arm)} and {row.reward!r}: use another request"
        )


def preview(state: AgentState, store: Lookup, now: float) -> Change:
    """Choose an arm, which must be undone; windows that are due end first, as for a decision."""
    end_due_windows(state, now)
    event = state.choose(state.asked + 1, None, now)
    return decision_of(event)._replace(id=PREVIEW, timestamp=None), []


def forget(state: AgentState, store: Lookup, now: float, decisions: Sequence[Reference]) -> Change:
    """Discard decisions, all or none."""
    events: dict[int, Event] = {}
    for reference in decisions:
        decision = _decision(state, store, reference) if isinstance(reference, Request) else reference
        number = _number(state, decision)
        if number in events or decision_id(decision) == FALLBACK:
            continue
        if number and number not in state.early:
            state.discard(state.pending[number].arm)
            events[number] = Event("forgot", number, timestamp=now)
            continue
        reward = state.early[number] if number else _answer(state, store, decision)
        if reward is not None:
            raise ConflictError(
                f"decision {decision_id(decision)!r} has the reward {reward!r}: it cannot be discarded"
            )
    return len(events), list(events.values())


def end_windows(state: AgentState, store: Lookup, now: float) -> Change:
    """End windows that are due; return how many decisions were pending in them, and whether more are due."""
    events, more = end_due_windows(state, now)
    ended = takewhile(state.matured.__ge__, state.pending)
    return (sum(number not in state.early for number in ended), more), events


def add(state: AgentState, store: Lookup, now: float, arm: object, value: object = None) -> Change:
    """Add an arm, with the value of a flag; return whether it is new."""
    if isinstance(arm, str) and arm in state.arms:
        values = {**(state.settings.values or {}), **state.values}
        if value is not None and arm in values and value != values[arm]:
            raise ConflictError(f"arm {short_repr(arm)} exists already: its value cannot be changed")
        return False, []
    name = valid_arm(arm)
    if name in state.hidden:
        raise InputError(f"arm {short_repr(name)} was retired: give the new arm another name")
    require_shares(state.settings.minimum_share, state.assignment.control_share, len(state.names) + 1)
    key = None if value is None else json.dumps(valid_value(name, value))
    state.add(name)
    return True, [Event("added", arm=name, key=key, timestamp=now)]


def retire(state: AgentState, store: Lookup, now: float, arm: object) -> Change:
    """Retire an arm; return whether it was not retired before."""
    if isinstance(arm, str) and arm in state.hidden and arm != state.control:
        return False, []
    if arm == state.control and arm is not None:
        raise InputError(f"arm {short_repr(arm)} is the control arm: it cannot be retired")
    name = state.names[state.place(arm)]
    if len(state.names) == 1:
        raise InputError(f"arm {short_repr(name)} is the last one: add another arm before retiring it")
    if name == state.fallback:
        raise InputError(f"arm {short_repr(name)} is shown while the agent is paused: resume it first")
    state.retire(name)
    return True, [Event("retired", arm=name, timestamp=now)]


def change_status(
    state: AgentState, store: Lookup, now: float, kind: Kind, fallback: str | None = None
) -> Change:
    """Pause, resume or end an agent; return whether that changed anything."""
    status = STATUS_EVENTS[kind]
    if fallback is not None and fallback != state.control:
        state.place(fallback)
    if state.status == status and state.fallback == fallback:
        return False, []
    if state.status == "retired":
        raise ConflictError("this agent is retired, which is final: create another one")
    state.status, state.fallback = status, fallback
    return True, [Event(kind, arm=fallback, timestamp=now)]


def _decisions_of_request(state: AgentState, store: Lookup, request: str) -> list[Decision]:
    """Return the decisions of an earlier request, none if it is new; a visitor's if there are no others."""
    if remembered := state.requests.get(request):
        decisions = list(remembered.values())
    else:
        decisions = [decision_of(event) for event in store.events_of_request(request)]
    if len(decisions) < 2:
        return decisions
    return [decision for decision in decisions if not _is_of_visitor(decision)] or decisions


def _is_of_visitor(decision: Decision) -> bool:
    return decision.id.startswith(VISITOR)


def _decision(state: AgentState, store: Lookup, request: Request) -> Decision:
    """Return the decision of a request, which must have made one."""
    name = short_repr(request.name)
    decisions = _decisions_of_request(state, store, valid_request(request.name))
    if not decisions:
        raise UnknownDecisionError(
            f"unknown request {name}: this agent made no decision for it, or no longer remembers it"
        )
    if len(decisions) > 1:
        raise InputError(f"request {name} made {len(decisions)} decisions: name each by its id")
    return decisions[0]


def _number(state: AgentState, decision: Decision | str) -> int:
    """Return the number of a pending decision, 0 if there is none with this id."""
    key = decision[0] if isinstance(decision, Decision) else decision
    if not isinstance(key, str):
        key = decision_id(decision)  # which rejects it
    number = decision_number(key)
    pending = state.pending.get(number)
    if pending is decision:
        return number
    if pending is None or pending.id != key:
        return 0
    if isinstance(decision, Decision):
        _check_same(decision, pending)
    return number


def _check_same(decision: Decision, recorded: Decision) -> None:
    if decision.arm != recorded.arm or decision.time != recorded.time:
        raise InputError(
            f"decision {recorded.id!r} chose {short_repr(recorded.arm)} at time {recorded.time}, "
            f"not {short_repr(decision.arm)} at time {short_repr(decision.time)}: pass it as it was returned"
        )


def _answer(state: AgentState, store: Lookup, decision: Decision | str) -> float | None:
    """Return the reward of a decision that is no longer pending, None if it was discarded."""
    key = decision_id(decision)
    if key in state.answers:
        return state.answers[key]
    number = decision_number(key)
    events = store.events_of_decision(number) if 1 <= number <= state.asked else []
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
    if key in state.arms or key in state.hidden:
        raise UnknownDecisionError(
            f"{short_repr(key)} is an arm, not a decision: pass the decision that ask() returned, or its id"
        )
    raise UnknownDecisionError(f"unknown decision {short_repr(key)}: this agent did not make it")

"""The state of an agent from its events: a replay changes the model as the transactions did."""

from collections.abc import Collection, Iterable
from typing import get_args

from lowregret._common.validation import short_repr
from lowregret.errors import StoreError
from lowregret.online.agent_state import MAX_REMEMBERED, MAX_REMEMBERED_DECISIONS, AgentState
from lowregret.online.decisions import ANSWERS, STATUS_EVENTS, Decision, Event, Kind, decision_of
from lowregret.online.stores import ChangedError, NewerError, Store, all_events
from lowregret.online.windows import end_windows

EVENT_KINDS = frozenset(get_args(Kind))


def latest_requests(store: Store, stop: int) -> dict[str, dict[int, Decision]]:
    """Return the decisions of the latest requests in a log, oldest first."""
    first = store.first_snapshot()
    start = max(stop - MAX_REMEMBERED_DECISIONS, 0 if first is None else first[0])
    names = [event.request for event in all_events(store, start, stop) if event.request is not None]
    names = [*dict.fromkeys(names[::-1])][:MAX_REMEMBERED][::-1]
    by_request: dict[str, dict[int, Decision]] = {name: {} for name in names}
    for event in store.events_of_requests(names) if names else []:
        by_request[event.request or ""][event.decision or 0] = decision_of(event)
    return by_request


def withdrawn_in(events: Iterable[Event]) -> set[int]:
    """Return the numbers of the decisions that events take out."""
    return {event.decision or 0 for event in events if event.kind == "withdrew"}


def replay(state: AgentState, events: Iterable[Event], withdrawn: Collection[int] = ()) -> None:
    """Apply stored events; the decisions ``withdrawn`` count as forgotten at once."""
    for event in events:
        parts = [event]
        if withdrawn and event.decision in withdrawn and event.kind in ("asked", *ANSWERS, "withdrew"):
            parts = [event, Event("forgot", event.decision)] if event.kind == "asked" else []
        for part in parts:
            reapply(state, part)
            state.commit((part,))


def reapply(state: AgentState, event: Event) -> None:
    """Change the model by a stored event; a choice is not made again."""
    if event.kind == "withdrew":  # a snapshot follows it, and has the state
        raise ChangedError("decisions of this agent were withdrawn at the same time: try again")
    if event.kind not in EVENT_KINDS:
        raise NewerError(
            f"a newer lowregret wrote an event of the kind {short_repr(event.kind)}: upgrade this host"
        )
    if not _can_follow(state, event):
        raise StoreError(
            "the event log of this agent is inconsistent: it is damaged, or a newer lowregret wrote it"
        )
    if event.kind == "asked":
        state.count_pending(str(event.arm))
        state.models[0]["drawn"] = event.drawn
        state.asked += 1
    elif event.kind == "added":
        state.add(str(event.arm))
    elif event.kind == "retired":
        state.retire(str(event.arm))
    elif event.kind == "conflict":
        state.conflicts += 1
    elif event.kind in STATUS_EVENTS:
        state.status, state.fallback = STATUS_EVENTS[event.kind], event.arm
    elif event.kind == "matured":
        end_windows(state, event.decision or 0, event.reward)
    elif event.reward is None:
        state.discard(state.pending[event.decision or 0].arm)
    elif state.settings.matures_after is None:
        state.apply_reward(state.pending[event.decision or 0], event.reward)


def _can_follow(state: AgentState, event: Event) -> bool:
    """Return whether an event is consistent with the events before it."""
    if event.kind == "asked":
        has_numbers = isinstance(event.time, int) and isinstance(event.drawn, int)
        has_arm = event.arm in state.places or (event.arm is not None and event.arm == state.control)
        return has_numbers and has_arm and event.decision == state.asked + 1 and isinstance(event.key, str)
    if event.kind in ANSWERS:
        has_reward = isinstance(event.reward, float) if event.kind == "told" else event.reward is None
        return has_reward and event.decision in state.pending and event.decision not in state.early
    if event.kind == "added":
        return isinstance(event.arm, str) and event.arm not in state.arms
    if event.kind == "matured":
        has_default = event.reward is None or isinstance(event.reward, float)
        return (
            has_default and isinstance(event.decision, int) and state.matured < event.decision <= state.asked
        )
    if event.kind in STATUS_EVENTS:
        new = STATUS_EVENTS[event.kind], event.arm
        return state.status != "retired" and new != (state.status, state.fallback)
    return event.kind == "conflict" or (event.kind == "retired" and event.arm in state.places)

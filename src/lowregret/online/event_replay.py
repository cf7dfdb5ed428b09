"""The state of an agent from its events: a replay changes the model as the transactions did."""

from __future__ import annotations

from collections.abc import Iterable

from lowregret.errors import StoreError
from lowregret.online.agent_state import AgentState
from lowregret.online.decisions import ANSWERS, STATUS_EVENTS, Event
from lowregret.online.windows import mature


def replay(state: AgentState, events: Iterable[Event]) -> None:
    """Apply stored events."""
    for event in events:
        reapply(state, event)
        state.commit((event,))


def reapply(state: AgentState, event: Event) -> None:
    """Change the model by a stored event; a choice is not made again."""
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
        state.status = STATUS_EVENTS[event.kind]
    elif event.kind == "matured":
        mature(state, event.decision or 0, event.reward)
    elif event.reward is None:
        state.discard(state.pending[event.decision or 0].arm)
    elif state.settings.matures_after is None:
        state.apply_reward(state.pending[event.decision or 0].arm, state.settings.scaled(event.reward))


def _can_follow(state: AgentState, event: Event) -> bool:
    """Return whether an event is consistent with the events before it."""
    if event.kind == "asked":
        numbers = isinstance(event.time, int) and isinstance(event.drawn, int)
        known = event.arm in state.places or (event.arm is not None and event.arm == state.control)
        return numbers and known and event.decision == state.asked + 1 and isinstance(event.key, str)
    if event.kind in ANSWERS:
        fits = isinstance(event.reward, float) if event.kind == "told" else event.reward is None
        return fits and event.decision in state.pending and event.decision not in state.early
    if event.kind == "added":
        return isinstance(event.arm, str) and event.arm not in state.arms
    if event.kind == "matured":
        fits = event.reward is None or isinstance(event.reward, float)
        return fits and isinstance(event.decision, int) and state.matured < event.decision <= state.asked
    if event.kind in STATUS_EVENTS:
        return state.status not in ("retired", STATUS_EVENTS[event.kind])
    return event.kind == "conflict" or (event.kind == "retired" and event.arm in state.places)

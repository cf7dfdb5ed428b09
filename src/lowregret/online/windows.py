"""The window of a decision: how long its reward may be reported, and when it counts.

With ``matures_after``, rewards count when the window of their decision ends, in the order of the decisions,
so that rewards that come early have no advantage. With ``expires_after``, they count at once, and the window
only limits how long a decision stays pending. In both cases a decision without a reward then counts as
``default_reward``, or is discarded. Windows end when the agent is asked.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import takewhile

from lowregret.online.agent_state import AgentState
from lowregret.online.decisions import Event


def end_windows(state: AgentState, now: float) -> list[Event]:
    """End the windows that are due, and return the event; none if no decision is affected."""
    last = _last_due(state, now)
    if last == 0:
        return []
    default = state.settings.default_reward
    mature(state, last, default)
    return [Event("matured", last, reward=default, timestamp=now)]


def mature(state: AgentState, last: int, default: float | None) -> None:
    """Change the model: the windows of decision ``last`` and of all earlier ones have ended."""
    for number in takewhile(last.__ge__, state.pending):
        arm, reward = state.pending[number].arm, state.early.get(number, default)
        if reward is None:
            state.discard(arm)
        else:
            state.apply_reward(arm, state.settings.scaled(reward))
    state.matured = last


def _last_due(state: AgentState, now: float) -> int:
    """Return the number of the last pending decision whose window has ended, 0 if there is none."""
    window, last = state.settings.window, 0
    if window is None:
        return 0
    if isinstance(window, timedelta):
        latest = now - window.total_seconds()
        for number, decision in state.pending.items():
            if decision.timestamp is not None and decision.timestamp > latest:
                break
            last = number
        return last
    due = state.asked - window
    return due if next(iter(state.pending), due + 1) <= due else 0

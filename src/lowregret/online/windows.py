"""The window of a decision: how long its reward may be reported, and when it counts.

With ``matures_after``, rewards count when the window of their decision ends, in the order of the decisions,
so that rewards that come early have no advantage. With ``expires_after``, they count at once, and the window
only limits how long a decision stays pending. In both cases a decision without a reward then counts as
``default_reward``, or is discarded. Windows end when the agent is asked, before it decides. Where many are
due, each transaction ends a part of them.

One reading of a clock that is ahead would end them all. So a reading that is more than ten minutes later than
the one before and what ``time.monotonic`` counted since ends no window until the reading of another call is
as late; see ``clock_readings``. The events record which windows ended, so that a replay reads no clock.
"""

from collections.abc import Iterator
from itertools import islice, takewhile

from lowregret.online.agent_state import AgentState
from lowregret.online.decisions import Event

MAX_ENDED = 5_000
"""How many windows end in one transaction, since others wait for it."""


def end_due_windows(state: AgentState, now: float) -> tuple[list[Event], bool]:
    """End the windows that are due, or a part of them; return the event, if any, and whether more are due."""
    numbers = list(islice(_due(state, now), MAX_ENDED + 1))
    if not numbers:
        return [], False
    more, window, last = len(numbers) > MAX_ENDED, state.settings.window, numbers[:MAX_ENDED][-1]
    if isinstance(window, int) and not more:
        last = state.asked - window
    default = state.settings.default_reward
    end_windows(state, last, default)
    return [Event("matured", last, reward=default, timestamp=now)], more


def end_windows(state: AgentState, last: int, default: float | None) -> None:
    """End the windows of decision ``last`` and of all earlier ones."""
    for number in takewhile(last.__ge__, state.pending):
        decision, reward = state.pending[number], state.early.get(number, default)
        if reward is None:
            state.discard(decision.arm)
        else:
            state.apply_reward(decision, reward)
            state.models[0]["defaulted"] += number not in state.early
    state.matured = last


def _due(state: AgentState, now: float) -> Iterator[int]:
    """Yield pending decisions whose windows have ended; with each, those of all earlier ones have."""
    window = state.settings.window
    if isinstance(window, int):
        yield from takewhile((state.asked - window).__ge__, state.pending)
    elif window is not None:
        last_end = min(now, state.windows_end) - window.total_seconds()
        for number, decision in state.pending.items():
            timestamp = decision.timestamp or 0.0
            if timestamp <= last_end:
                yield number
            elif timestamp <= now:  # else the clock was ahead then, and later decisions tell the time
                return

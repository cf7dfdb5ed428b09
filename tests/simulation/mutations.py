"""Nine mistakes that the package could have, as patches of its functions: the simulation must notice each."""

from unittest.mock import patch

from lowregret.errors import StoreError
from lowregret.online import calls, windows
from lowregret.online.agent_state import AgentState
from lowregret.online.stores.sql import SQLStore
from lowregret.online.transactions import CHANGED, GROUPED, Transactions

recover, record_answer = Transactions._recover, AgentState._record_answer
after, events = AgentState.after, SQLStore.events


def recover_but(state):
    """Return a method that forgets what is unfinished in this state."""

    def recover_otherwise(self):
        if self._unfinished is not None and self._unfinished[0] == state:
            self._unfinished = None
        recover(self)

    return recover_otherwise


def record_without_early_rewards(self, number, reward):
    record_answer(self, number, reward)
    self.early.pop(number, None)


def due_until_a_clock_was_ahead(state, now):
    window = state.settings.window
    for number, decision in state.pending.items():
        if isinstance(window, int):
            over = number <= state.asked - window
        else:
            end = window and min(now, state.windows_end) - window.total_seconds()
            over = window is not None and decision.timestamp <= end
        if not over:
            return
        yield number


def attempt_without_undoing(self, lookup, now, call, arguments):
    try:
        result, new = call(self.state, lookup, now, *arguments)
    except (StoreError, ArithmeticError):
        raise
    except Exception as error:
        return error, []
    lookup.add(new)
    return self.state.commit(new) or result, new


def events_as_if_nobody_came_first(self, after, limit=None):
    return [] if limit == 1 else events(self, after, limit)


def read_but_skip_missed(self, limit):
    self.store.events(self.position, limit)


def decisions_in_memory(state, store, request):
    return list(state.requests.get(request, {}).values())


MUTATIONS = {
    "an interrupted call leaves its changes": (Transactions, "_recover", recover_but(CHANGED)),
    "a group that failed is not loaded again": (Transactions, "_recover", recover_but(GROUPED)),
    "events of others are not applied": (Transactions, "_apply_missed", read_but_skip_missed),
    "who came first is overlooked": (SQLStore, "events", events_as_if_nobody_came_first),
    "an early reward may be told again": (AgentState, "_record_answer", record_without_early_rewards),
    "a request is not looked up in the store": (calls, "_decisions_of_request", decisions_in_memory),
    "a clock that was ahead stops the windows": (windows, "_due", due_until_a_clock_was_ahead),
    "a snapshot lacks the events of its call": (AgentState, "after", lambda self, new: after(self, [])),
    "a call of a group is not undone": (Transactions, "_attempt", attempt_without_undoing),
}
"""What is wrong: where, which name, and what is there instead."""


def mutated(name):
    return patch.object(*MUTATIONS[name])

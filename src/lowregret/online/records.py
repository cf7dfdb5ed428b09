"""What an agent remembers of single decisions: those that are pending, and the latest answers and requests.

A transaction changes the model first, and these records when its events are stored. To enter events again
changes nothing, so a call that was interrupted is simply finished.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from lowregret.online.agent_settings import Settings
from lowregret.online.decisions import ANSWERS, Decision, Event, decision_of

MAX_REMEMBERED = 1_000
"""How many of the latest answers and requests are held in memory; a store on disk holds them all."""
MAX_REMEMBERED_DECISIONS = 10 * MAX_REMEMBERED
"""How many decisions these requests have together, unless the latest one alone has more."""


class Records:
    """The records of an agent.

    Attributes
    ----------
    values : dict of str to object
        The values, as flags, of arms that were added.
    pending : dict of int to Decision
        The decisions whose pulls the model counts as pending, by their numbers in increasing order.
    early : dict of int to float
        The rewards of those among them that were reported before their window has ended.
    answers : dict of str to float or None
        The latest rewards by id of the decision, None for a decision that was discarded.
    requests : dict of str to dict of int to Decision
        The decisions of the latest requests by their numbers, if ``remembers_requests``. Where a store has a
        log, it alone knows the requests, because other processes may erase one, or compact the log.
    """

    __slots__ = (
        "answers", "early", "pending", "remembers_requests", "requested", "requests", "settings", "values",
    )  # fmt: skip

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.values: dict[str, Any] = {}
        self.pending: dict[int, Decision] = {}
        self.early: dict[int, float] = {}
        self.answers: OrderedDict[str, float | None] = OrderedDict()
        self.requests: OrderedDict[str, dict[int, Decision]] = OrderedDict()
        self.requested = 0  # decisions of these requests
        self.remembers_requests = False

    def commit(self, events: Sequence[Event]) -> list[Decision]:
        """Enter events that are stored; return the decisions among them. To repeat it changes nothing."""
        decisions = []
        for event in events:
            kind, number = event[0], event[1] or 0
            if kind == "asked":
                decision = decision_of(event)
                self.pending[number] = decision
                if self.remembers_requests and event.request is not None:
                    self._record_request(event.request, number, decision)
                decisions.append(decision)
            elif kind in ANSWERS:
                self._record_answer(number, event.reward)
            elif kind == "matured":
                self._record_ended_windows(number, event.reward)
            elif kind == "added" and event.key is not None:
                self.values = {**self.values, str(event.arm): json.loads(event.key)}
        while len(self.answers) > MAX_REMEMBERED:
            self.answers.popitem(last=False)
        return decisions

    def _record_request(self, request: str, number: int, decision: Decision) -> None:
        decisions = self.requests.setdefault(request, {})
        self.requested += number not in decisions
        decisions[number] = decision
        while len(self.requests) > MAX_REMEMBERED or (
            self.requested > MAX_REMEMBERED_DECISIONS and len(self.requests) > 1
        ):
            self.requested -= len(self.requests.popitem(last=False)[1])

    def _record_answer(self, number: int, reward: float | None) -> None:
        decision = self.pending.get(number)
        if decision is None:  # recorded before
            return
        self.answers[decision.id] = reward
        if reward is not None and self.settings.matures_after is not None:
            self.early[number] = reward
        else:
            del self.pending[number]

    def _record_ended_windows(self, last: int, default: float | None) -> None:
        for number in list(takewhile(last.__ge__, self.pending)):
            if number not in self.early:
                self.answers[self.pending[number].id] = default
            del self.pending[number]  # first: an early reward without its decision means nothing
            self.early.pop(number, None)

    def unreported(self) -> Iterator[Decision]:
        """Yield the decisions whose rewards have not been reported, oldest first."""
        return (decision for number, decision in self.pending.items() if number not in self.early)

"""What an agent remembers of single decisions: those that are pending, and the latest answers and requests.

A transaction changes the model first, and these records when its events are stored. To enter events again
changes nothing, so a call that was interrupted is simply finished.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import takewhile
from typing import Any, Self

from lowregret.online.agent_settings import Settings
from lowregret.online.daily_rewards import SETTLE_EVERY, empty_days
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
    days : Days
        The rewards by day, where means are not adjusted; and, for rewards without a range that are at least
        0, what lower ends of means follow from.
    """

    __slots__ = (
        "answers", "days", "early", "pending", "remembers_requests", "requested", "requests", "settings",
        "values",
    )  # fmt: skip

    def __init__(self, settings: Settings) -> None:
        self.settings, self.days = settings, empty_days(settings)
        self.values: dict[str, Any] = {}
        self.pending: dict[int, Decision] = {}
        self.early: dict[int, float] = {}
        self.answers: OrderedDict[str, float | None] = OrderedDict()
        self.requests: OrderedDict[str, dict[int, Decision]] = OrderedDict()
        self.requested = 0  # decisions of these requests
        self.remembers_requests = False

    def commit(self, events: Sequence[Event]) -> list[Decision]:
        """Enter events that are stored; return the decisions among them. To repeat it changes nothing."""
        if self.settings.period is not None:
            self._commit_periods()
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

    def _commit_periods(self) -> None:
        """Make changes of rewards by period permanent; until their events are stored they can be undone."""

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
        if reward is not None:
            if self.settings.matures_after is not None:
                self.early[number] = reward
                return
            if self.settings.period is None:
                recent = self.days.recent
                recent = recent if len(recent) < SETTLE_EVERY else self._recent_rewards(number)
                recent[number] = decision, reward
        del self.pending[number]

    def _record_ended_windows(self, last: int, default: float | None) -> None:
        for number in list(takewhile(last.__ge__, self.pending)):
            decision, reward = self.pending[number], self.early.get(number, default)
            if number not in self.early:
                self.answers[decision.id] = default
            if reward is not None and self.settings.period is None:
                self._recent_rewards(number)[number] = decision, reward
            del self.pending[number]  # first: an early reward without its decision means nothing
            self.early.pop(number, None)

    def _recent_rewards(self, number: int) -> dict[int, tuple[Decision, float]]:
        """Return where to count a reward by day; if many are there, they are added up first."""
        recent = self.days.recent
        if len(recent) >= SETTLE_EVERY and number not in recent:
            self.days = self.days.with_recent(self.settings)
        return self.days.recent

    def after(self, events: Sequence[Event]) -> Self:
        """Return a view of the state whose records include events that are not stored yet."""
        view = copy(self)
        view.pending, view.early = {**self.pending}, {**self.early}
        view.days = self.days.with_recent(self.settings)
        view.answers = OrderedDict()
        view.commit(events)
        return view

    def unreported(self) -> Iterator[Decision]:
        """Yield the decisions whose rewards have not been reported, oldest first."""
        return (decision for number, decision in self.pending.items() if number not in self.early)

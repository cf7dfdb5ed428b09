"""The state of an agent, which is the sum of its events.

Every event changes two things: the numbers (``rows``, ``nows``, ``round``), which can be saved and put back,
and the records of what is pending, answered and asked for. The records change last, when nothing can fail
any more; should an interrupt come even there, ``undo`` takes both back.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from lowregret._common.validation import show
from lowregret.engine.compile import entry
from lowregret.engine.state import CLOSED, Rows, first_round, initialise_memory, new_rows
from lowregret.engine.step import MESSAGES, NOT_A_NUMBER, count_playing, next_in_warmup, observe
from lowregret.errors import InputError, StoreError
from lowregret.online.agent_settings import Settings, text
from lowregret.online.decisions import Decision, Event, decision_id, decision_of
from lowregret.online.epochs import first_horizon, start_epoch
from lowregret.online.model import (
    MODEL,
    PlainLiveRng,
    apply_compiled,
    apply_plain,
    choose_compiled,
    choose_plain,
    live_clock,
)
from lowregret.online.plain_rng import policy_key, shuffled
from lowregret.policies import Arm, Policy
from lowregret.policies.memory import memory_fields

REMEMBERED = 1_000
"""How many of the latest answers and requests are in memory; a store knows them all."""
ANSWERS = ("told", "forgot")


class Saved(NamedTuple):
    """The numbers of an agent at one moment.

    Arrays are bytes, since NumPy copies such rows field by field. The lists and dictionaries are the agent's
    own, which puts new ones in their place and never changes them.
    """

    rows: bytes
    nows: bytes
    round: Any
    epoch: int
    retired: dict[str, Rows]
    names: list[str]
    places: dict[str, int]
    asked: int
    conflicts: int


class Core:
    """The state of an agent.

    Parameters
    ----------
    settings : Settings
        What the agent was made with.
    token : str
        The agent's own part of the ids of its decisions.

    Attributes
    ----------
    rows, nows : array
        The numbers: see ``Desk``.
    names : list of str
        The names of the arms that are not retired, in the order of the rows.
    retired : dict of str to array
        The rows of the arms that are.
    asked, conflicts : int
        How many decisions were made, and how many rewards were refused since another was told before.
    pending : dict of str to Decision
        The decisions whose rewards are to come.
    answers : dict of int to float or None
        The latest rewards by decision, None for one that was given up.
    requests : dict of str to list of Decision
        The latest requests.
    """

    def __init__(self, settings: Settings, token: str) -> None:
        policy, size = settings.policy, len(settings.arms)
        self.settings, self.token = settings, token
        self.rows = new_rows(size, policy)
        self.rows["number"] = shuffled(settings.seed, size)
        initialise_memory(policy, self.rows)
        self.scores = np.zeros(size)
        self.nows = np.zeros(1, MODEL)
        now = self.nows[0]
        now["key"] = policy_key(settings.seed)
        now["horizon"] = settings.horizon or first_horizon(size)
        self.epoch = 0
        self.round = start_epoch(policy, self.rows, int(now["horizon"]))
        self.names: list[str] = [settings.arms[number] for number in self.rows["number"]]
        self.places = {arm: place for place, arm in enumerate(self.names)}
        self.retired: dict[str, Rows] = {}
        self.asked = self.conflicts = 0
        self.pending: dict[str, Decision] = {}
        self.answers: OrderedDict[int, float | None] = OrderedDict()
        self.requests: OrderedDict[str, list[Decision]] = OrderedDict()
        self._samples = policy.overrides("sample") or policy.overrides("normal_posterior")
        self.steps: tuple[Any, Any, Any] = (choose_plain, apply_plain, policy)

    @property
    def time(self) -> int:
        """How many pulls were made, those that wait for their reward included."""
        return int(self.nows[0]["told"]) + int(self.nows[0]["waiting"])

    def compile(self) -> None:
        """Let compiled code choose and learn from now on; compile it, or load it from the disk."""
        policy, horizon = self.settings.policy, int(self.nows[0]["horizon"])
        first = first_round(policy, len(self.rows), horizon)  # its types are those of all rounds
        arguments = self.rows, self.nows, first
        self.steps = (
            entry(choose_compiled, policy, *arguments, self.scores),
            entry(apply_compiled, policy, *arguments, 0, 0.5),
            policy,
        )

    def save(self) -> Saved:
        """Give the numbers as they are."""
        return Saved(
            self.rows.tobytes(),
            self.nows.tobytes(),
            self.round,
            self.epoch,
            self.retired,
            self.names,
            self.places,
            self.asked,
            self.conflicts,
        )

    def put_back(self, saved: Saved) -> None:
        """Let the numbers be what they were."""
        rows, nows, self.round, self.epoch, self.retired, self.names, self.places, *counts = saved
        self.rows = np.frombuffer(rows, self.rows.dtype).copy()
        self.nows = np.frombuffer(nows, MODEL).copy()
        self.asked, self.conflicts = counts

    def undo(self, saved: Saved, events: Iterable[Event], answered: dict[str, Decision]) -> None:
        """Let all be as it was before events, of which only some may have been noted."""
        self.put_back(saved)
        for event in events:
            if event.kind == "asked":
                self.pending.pop(decision_of(self.token, event).id, None)
            if event.kind in ANSWERS and event.decision is not None:
                self.answers.pop(event.decision, None)
            if event.request is not None:
                self.requests.pop(event.request, None)
        if answered:  # the oldest come first
            pending = {**self.pending, **answered}
            self.pending = dict(sorted(pending.items(), key=lambda pair: int(pair[0].rpartition("-")[2])))

    def check_only(self, only: Iterable[object]) -> None:
        """Check a list of arms; some may be retired by now."""
        for arm in only:
            if not isinstance(arm, str) or arm not in self.retired:
                self.place(arm)

    def allow(self, only: Iterable[str] | None) -> None:
        """Let the next choices be made among some arms alone, or among all."""
        if only is None:
            self.rows["allowed"] = True
            return
        places = [self.place(arm) for arm in only]
        self.rows["allowed"] = False
        self.rows["allowed"][places] = True

    def place(self, arm: object) -> int:
        """Give the place of an arm that is not retired."""
        place = self.places.get(arm) if isinstance(arm, str) else None
        if place is None:
            if isinstance(arm, str) and arm in self.retired:
                raise InputError(f"arm {show(arm)} is retired")
            raise InputError(f"unknown arm {show(arm)}: the arms are {show(self.names)}")
        return place

    def choose(self, number: int, request: str | None = None) -> Event:
        """Make decision ``number``: count the pull, and give what happened."""
        choose, _, policy = self.steps
        propensities = self._propensities() if self._samples else {}
        if len(self.scores) != len(self.rows):
            self.scores = np.zeros(len(self.rows))
        place, time, drawn = choose(policy, self.rows, self.nows, self.round, self.scores)
        if place < 0:
            raise InputError(f"{self.settings.policy}: {MESSAGES[NOT_A_NUMBER]}")
        propensity = propensities.get(place) if self._samples else 1.0
        return Event("asked", number, self.names[place], None, time, propensity, drawn, request)

    def _propensities(self) -> dict[int, float]:
        """Return the probability of each arm that may be chosen, by place, if the policy states it."""
        policy, rows, model = self.settings.policy, self.rows, self.nows[0]
        place = next_in_warmup(rows, policy.warmup)
        if place >= 0:
            return {place: 1.0}
        allowed = rows["allowed"] & rows["active"] if count_playing(rows) else rows["allowed"]
        places = np.flatnonzero(allowed)
        if len(places) == 1 and policy.eliminates_permanently:
            return {int(places[0]): 1.0}
        places = places[np.argsort(rows["pending"][places], kind="stable")]  # the order of ties
        clock = live_clock(policy, rows, model, self.time + 1)
        shares = policy.propensities(arms_of(policy, rows[places]), clock)
        return {} if shares is None else dict(zip(places.tolist(), map(float, shares), strict=True))

    def hear(self, arm: str, reward: float) -> None:
        """Let the policy learn the reward of a pull that waited for it."""
        place = self.places.get(arm)
        if place is not None:
            _, learn, policy = self.steps
            left, self.round = learn(policy, self.rows, self.nows, self.round, place, reward)
            if left < 1:
                raise InputError(f"{self.settings.policy}: {MESSAGES[left]}")
        else:
            self._hear_late(arm, reward)
        if self.settings.horizon is None and self.nows[0]["told"] >= self.nows[0]["horizon"]:
            self._open_epoch()

    def _hear_late(self, arm: str, reward: float) -> None:
        """Take a reward of a retired arm, in which the policy has no more say."""
        row, now = self._own_retired(arm), self.nows[0]
        row["pending"] -= 1
        now["waiting"] -= 1
        now["told"] += 1
        policy = self.settings.policy
        clock = live_clock(policy, self.rows, now, int(now["told"]))
        observe(policy, row, 0, reward, clock, PlainLiveRng(now))

    def _own_retired(self, arm: str) -> Rows:
        """Give the row of a retired arm, to change: not the one that was saved."""
        row = self.retired[arm].copy()
        self.retired = {**self.retired, arm: row}
        return row

    def _open_epoch(self) -> None:
        now = self.nows[0]
        self.epoch += 1
        now["horizon"] *= 2
        if "horizon" in self.settings.policy.needs:
            self.round = start_epoch(self.settings.policy, self.rows, int(now["horizon"]), int(now["told"]))

    def give_up(self, arm: str) -> None:
        """Uncount a pull whose reward will not come."""
        row = self.rows[self.places[arm]] if arm in self.places else self._own_retired(arm)[0]
        row["pending"] -= 1
        self.nows[0]["waiting"] -= 1
        self.nows[0]["given_up"] += 1

    def check_new(self, arm: object) -> str:
        """Check the name of an arm that is to be added."""
        new = text("the name of an arm", arm)
        if new in self.retired:
            raise InputError(f"arm {show(new)} was retired: give the new arm another name")
        if new in self.places:
            raise InputError(f"there is an arm {show(new)} already")
        return new

    def check_leaving(self, arm: object) -> str:
        """Check the name of an arm that is to be retired."""
        place = self.place(arm)
        if len(self.names) == 1:
            raise InputError(
                f"arm {show(self.names[place])} is the last one: add another before you retire it"
            )
        return self.names[place]

    def note(self, events: Sequence[Event]) -> list[Decision]:
        """Enter events into the records, once nothing can fail any more; give the decisions among them."""
        made = []
        for event in events:
            if event.kind == "asked":
                made.append(self._note_asked(event))
            elif event.kind == "conflict":
                self.conflicts += 1
            elif event.kind == "added":
                self._add(str(event.arm))
            elif event.kind == "retired":
                self._retire(str(event.arm))
            else:
                self._note_answer(event)
        for records in (self.answers, self.requests):
            while len(records) > REMEMBERED:
                records.popitem(last=False)
        return made

    def replay(self, events: Sequence[Event]) -> None:
        """Live through events again."""
        for event in events:
            if not self._can_follow(event):
                raise StoreError(
                    "the log of this agent does not add up: it is damaged, or a newer lowregret wrote it"
                )
            if event.kind == "asked":
                self.rows[self.places[str(event.arm)]]["pending"] += 1
                self.nows[0]["waiting"] += 1
                self.nows[0]["drawn"] = event.drawn
            elif event.kind in ANSWERS:
                arm = self.pending[decision_id(self.token, event.decision or 0)].arm
                if event.reward is not None:
                    self.hear(arm, self.settings.scaled(event.reward))
                else:
                    self.give_up(arm)
            self.note((event,))

    def _can_follow(self, event: Event) -> bool:
        """Say whether an event can have come after those before it."""
        if event.kind == "asked":
            numbers = isinstance(event.time, int) and isinstance(event.drawn, int)
            return numbers and event.decision == self.asked + 1 and event.arm in self.places
        if event.kind in ANSWERS:
            fits = isinstance(event.reward, float) if event.kind == "told" else event.reward is None
            return fits and decision_id(self.token, event.decision or 0) in self.pending
        if event.kind == "added":
            return isinstance(event.arm, str) and event.arm not in self.places
        return event.kind == "conflict" or (event.kind == "retired" and event.arm in self.places)

    def _note_asked(self, event: Event) -> Decision:
        decision, request = decision_of(self.token, event), event.request
        self.asked += 1
        self.pending[decision.id] = decision
        if request is not None:
            self.requests.setdefault(request, []).append(decision)
        return decision

    def _note_answer(self, event: Event) -> None:
        number = event.decision
        assert number is not None
        del self.pending[decision_id(self.token, number)]
        self.answers[number] = event.reward

    def _add(self, arm: str) -> None:
        policy, size = self.settings.policy, len(self.rows)
        rows = new_rows(size + 1, policy)
        initialise_memory(policy, rows)
        rows[:size] = self.rows
        number = size + len(self.retired)
        opened = policy.initially_active(number)
        rows[size]["number"], rows[size]["active"] = number, opened
        rows[size]["eliminated"] = 0 if opened else CLOSED
        self.rows, self.names, self.places = rows, [*self.names, arm], {**self.places, arm: size}

    def _retire(self, arm: str) -> None:
        place = self.places[arm]
        self.retired = {**self.retired, arm: self.rows[place : place + 1].copy()}
        self.rows = np.delete(self.rows, place)
        self.names = [other for other in self.names if other != arm]
        self.places = {other: i for i, other in enumerate(self.names)}
        if not self.rows["active"].any():  # somebody must be in play
            self.rows["active"] = True
            self.rows["eliminated"] = 0


def arms_of(policy: Policy, rows: Rows) -> Arm:
    """Return arms as an ``Arm`` of arrays, as they are compared: pending pulls count."""
    counted = rows["pulls"] - rows["forgotten"]
    divisor = np.maximum(counted, 1)
    variance = np.maximum(counted * rows["squares"] - rows["total"] ** 2, 0.0) / divisor**2
    memory = None
    if policy.Memory:
        memory = policy.Memory(*(rows[name] for name, _ in memory_fields(policy.Memory)))
    arrays: Any = rows["number"], counted + rows["pending"], rows["mean"], variance
    number, pulls, mean, variance = arrays
    return Arm(number, pulls, mean, variance, memory)

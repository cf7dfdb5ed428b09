"""The state of an agent, which is determined by its events.

A transaction first changes the model: the statistics, the round, the arms and the counters, which ``save``
copies and ``restore`` sets back. ``commit`` then updates the records of pending decisions, answers and
requests. It is idempotent, so an interrupted commit is simply repeated.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import takewhile
from typing import Any, TypeAlias

import numpy as np

from lowregret._common.validation import short_repr
from lowregret.engine.compile import entry
from lowregret.engine.rng import POLICY_STREAM, shuffle, stream
from lowregret.engine.state import CLOSED, Rows, first_round, initialise_memory, new_rows
from lowregret.engine.step import MESSAGES, NOT_A_NUMBER, observe
from lowregret.errors import InputError
from lowregret.online.agent_settings import Settings, valid_string
from lowregret.online.decisions import ANSWERS, Decision, Event, decision_of, new_key, new_tuple
from lowregret.online.epochs import first_horizon, start_epoch
from lowregret.online.model import (
    MODEL,
    LiveRng,
    apply_step,
    choose_step,
    live_clock,
)
from lowregret.policies import Policy
from lowregret.policies.arm_memory import memory_fields

REMEMBERED = 1_000
"""How many of the latest answers and requests are held in memory; a store on disk holds them all."""


Saved: TypeAlias = tuple[bytes, bytes, Any, int, dict[str, Rows], list[str], dict[str, int], int, int, int]
"""A copy of the model: rows, models, round, epoch, retired, names, places, asked, conflicts, matured.

Arrays are bytes, because NumPy copies structured arrays field by field. Lists and dictionaries are not
copied: the agent replaces them and never changes them.
"""


class AgentState:
    """The state of an agent; ``token`` identifies the agent among all agents.

    Attributes
    ----------
    rows, models : array
        The statistics of the arms, and those of the agent in one row: see ``model.MODEL``.
    names : list of str
        The names of the arms that are not retired, in the order of the rows.
    retired : dict of str to array
        The rows of the retired arms.
    asked, conflicts : int
        The number of decisions, and the number of rewards rejected because they contradict an earlier one.
    matured : int
        The number of the latest decision whose window has ended; see ``windows``.
    pending : dict of int to Decision
        The decisions whose pulls the model counts as pending, by their numbers in increasing order.
    early : dict of int to float
        The rewards of those among them that were reported before their window has ended.
    answers : dict of str to float or None
        The latest rewards by id of the decision, None for a decision that was discarded.
    requests : dict of str to dict of int to Decision
        The decisions of the latest requests by their numbers.
    """

    def __init__(self, settings: Settings, token: str) -> None:
        policy, size = settings.policy, len(settings.arms)
        self.settings, self.token = settings, token
        self.rows = new_rows(size, policy)
        shuffle(settings.seed, 0, self.rows["number"])
        initialise_memory(policy, self.rows)
        self.scores = np.zeros(size)
        self.models = np.zeros(1, MODEL)
        model = self.models[0]
        model["key"] = stream(settings.seed, 0, POLICY_STREAM)
        model["horizon"] = settings.horizon or first_horizon(size)
        self.epoch = 0
        self.round = start_epoch(policy, self.rows, int(model["horizon"]))
        self.names: list[str] = [settings.arms[number] for number in self.rows["number"]]
        self.places = {arm: place for place, arm in enumerate(self.names)}
        self.retired: dict[str, Rows] = {}
        self.asked = self.conflicts = self.matured = 0
        self.pending: dict[int, Decision] = {}
        self.early: dict[int, float] = {}
        self.answers: OrderedDict[str, float | None] = OrderedDict()
        self.requests: OrderedDict[str, dict[int, Decision]] = OrderedDict()
        samples = policy.overrides("sample") or policy.overrides("normal_posterior")
        self._propensity = None if samples else 1.0
        self._states_propensities = samples and policy.overrides("propensities")
        self.steps: tuple[Any, Any, Any] = (choose_step, apply_step, policy)

    @property
    def time(self) -> int:
        """The number of pulls, including those whose reward is pending."""
        return int(self.models[0]["told"]) + int(self.models[0]["waiting"])

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code chooses and learns."""
        return self.steps[0] is not choose_step

    def compile(self) -> None:
        """Choose and learn by compiled code from now on; compile it, or load it from the disk cache."""
        policy, horizon = self.settings.policy, int(self.models[0]["horizon"])
        first = first_round(policy, len(self.rows), horizon)  # every round has its types
        arguments = self.rows, self.models, first
        self.steps = (
            entry(choose_step, policy, *arguments, self.scores),
            entry(apply_step, policy, *arguments, 0, 0.5),
            policy,
        )

    def save(self) -> Saved:
        """Return a copy of the model."""
        return (
            self.rows.tobytes(),
            self.models.tobytes(),
            self.round,
            self.epoch,
            self.retired,
            self.names,
            self.places,
            self.asked,
            self.conflicts,
            self.matured,
        )

    def restore(self, saved: Saved) -> None:
        """Set the model back to a copy."""
        rows, models, self.round, self.epoch, self.retired, self.names, self.places, *counts = saved
        self.rows = np.frombuffer(rows, self.rows.dtype).copy()
        self.scores = np.zeros(len(self.rows))
        self.models = np.frombuffer(models, MODEL).copy()
        self.asked, self.conflicts, self.matured = counts

    def check_only(self, only: Iterable[object]) -> None:
        """Check that every arm of a list exists; it may be retired."""
        for arm in only:
            if not isinstance(arm, str) or arm not in self.retired:
                self.place(arm)

    def allow(self, only: Iterable[str] | None) -> None:
        """Restrict the next choices to some arms; None lifts the restriction."""
        if only is None:
            self.rows["allowed"] = True
            return
        places = [self.place(arm) for arm in only]
        self.rows["allowed"] = False
        self.rows["allowed"][places] = True

    def place(self, arm: object) -> int:
        """Return the row of an arm that is not retired."""
        place = self.places.get(arm) if isinstance(arm, str) else None
        if place is None:
            if isinstance(arm, str) and arm in self.retired:
                raise InputError(f"arm {short_repr(arm)} is retired")
            raise InputError(f"unknown arm {short_repr(arm)}: the arms are {short_repr(self.names)}")
        return place

    def choose(self, number: int, request: str | None, timestamp: float) -> Event:
        """Make decision ``number``: choose an arm, count the pull, and return the event."""
        choose, _, policy = self.steps
        place, time, drawn = choose(policy, self.rows, self.models, self.round, self.scores)
        if place < 0:
            raise InputError(f"{self.settings.policy}: {MESSAGES[NOT_A_NUMBER]}")
        propensity = self._computed_propensity(place, time) if self._states_propensities else self._propensity
        self.asked = number
        arm = self.names[place]
        fields = "asked", number, arm, None, time, propensity, drawn, request, new_key(), timestamp
        return new_tuple(Event, fields)

    def _computed_propensity(self, place: int, time: int) -> float | None:
        """Return the probability of the arm that was just chosen, from the state before the choice."""
        policy, rows = self.settings.policy, self.rows
        pending, waiting = rows["pending"], int(self.models["waiting"][0])
        if rows["pulls"][place] + pending[place] <= policy.warmup:
            return 1.0
        playing, index = rows["allowed"] & rows["active"], place
        places: Any = slice(None)
        if waiting > 1 or not playing.all():
            places = np.flatnonzero(playing if playing.any() else rows["allowed"])
            if len(places) == 1 and policy.eliminates_permanently:
                return 1.0
            before = pending[places] - (places == place)
            places = places[np.argsort(before, kind="stable")]  # the order of ties
            index = int((places == place).argmax())
        arms: Any = CandidateArms(policy, rows, places, index)
        shares = policy.propensities(arms, live_clock(policy, rows, self.models[0], time))
        return None if shares is None else float(shares[index])

    def apply_reward(self, arm: str, reward: float) -> None:
        """Update the model with the reward of a pending pull."""
        place = self.places.get(arm)
        if place is not None:
            _, learn, policy = self.steps
            left, self.round = learn(policy, self.rows, self.models, self.round, place, reward)
            if left < 1:
                raise InputError(f"{self.settings.policy}: {MESSAGES[left]}")
        else:
            self._apply_late_reward(arm, reward)
        if self.settings.horizon is None and self.models[0]["told"] >= self.models[0]["horizon"]:
            self._open_epoch()

    def _apply_late_reward(self, arm: str, reward: float) -> None:
        """Update the statistics of a retired arm, which the policy no longer sees."""
        row, model = self._own_retired(arm), self.models[0]
        row["pending"] -= 1
        model["waiting"] -= 1
        model["told"] += 1
        policy = self.settings.policy
        clock = live_clock(policy, self.rows, model, int(model["told"]))
        observe(policy, row, 0, reward, clock, LiveRng(model))

    def _own_retired(self, arm: str) -> Rows:
        """Return the row of a retired arm as a copy that may be changed; ``save`` holds the original."""
        row = self.retired[arm].copy()
        self.retired = {**self.retired, arm: row}
        return row

    def _open_epoch(self) -> None:
        model, policy = self.models[0], self.settings.policy
        self.epoch += 1
        model["horizon"] *= 2
        if "horizon" in policy.needs:
            self.round = start_epoch(policy, self.rows, int(model["horizon"]), int(model["told"]))

    def discard(self, arm: str) -> None:
        """Uncount a pull whose reward will never be reported."""
        row = self.rows[self.places[arm]] if arm in self.places else self._own_retired(arm)[0]
        row["pending"] -= 1
        self.models[0]["waiting"] -= 1
        self.models[0]["discarded"] += 1

    def check_new(self, arm: object) -> str:
        """Check the name of a new arm."""
        new = valid_string("the name of an arm", arm)
        if new in self.retired:
            raise InputError(f"arm {short_repr(new)} was retired: give the new arm another name")
        if new in self.places:
            raise InputError(f"arm {short_repr(new)} exists already: give the new arm another name")
        return new

    def check_retirement(self, arm: object) -> str:
        """Check that an arm may be retired."""
        place = self.place(arm)
        if len(self.names) == 1:
            raise InputError(
                f"arm {short_repr(self.names[place])} is the last one: add another arm before retiring it"
            )
        return self.names[place]

    def add(self, arm: str) -> None:
        """Add an arm to the model."""
        policy, size = self.settings.policy, len(self.rows)
        rows = new_rows(size + 1, policy)
        initialise_memory(policy, rows)
        rows[:size] = self.rows
        number = size + len(self.retired)
        opened = policy.initially_active(number)
        rows[size]["number"], rows[size]["active"] = number, opened
        rows[size]["eliminated"] = 0 if opened else CLOSED
        self.rows, self.names, self.places = rows, [*self.names, arm], {**self.places, arm: size}
        self.scores = np.zeros(size + 1)

    def retire(self, arm: str) -> None:
        """Remove an arm from the model; where no active arm is left, activate all."""
        place = self.places[arm]
        self.retired = {**self.retired, arm: self.rows[place : place + 1].copy()}
        self.rows = np.delete(self.rows, place)
        self.scores = np.zeros(len(self.rows))
        self.names = [other for other in self.names if other != arm]
        self.places = {other: i for i, other in enumerate(self.names)}
        if not self.rows["active"].any():
            self.rows["active"] = True
            self.rows["eliminated"] = 0

    def commit(self, events: Sequence[Event]) -> list[Decision]:
        """Update the records with events that are stored; return the decisions among them."""
        made = []
        for event in events:
            kind, number = event[0], event[1] or 0
            if kind == "asked":
                decision = decision_of(event)
                self.pending[number] = decision
                if event.request is not None:
                    self.requests.setdefault(event.request, {})[number] = decision
                made.append(decision)
            elif kind in ANSWERS:
                self._commit_answer(number, event.reward)
            elif kind == "matured":
                self._commit_matured(number, event.reward)
        while len(self.answers) > REMEMBERED:
            self.answers.popitem(last=False)
        while len(self.requests) > REMEMBERED:
            self.requests.popitem(last=False)
        return made

    def _commit_answer(self, number: int, reward: float | None) -> None:
        decision = self.pending.get(number)
        if decision is None:  # committed before
            return
        self.answers[decision.id] = reward
        if reward is not None and self.settings.matures_after is not None:
            self.early[number] = reward
        else:
            del self.pending[number]

    def _commit_matured(self, last: int, default: float | None) -> None:
        for number in list(takewhile(last.__ge__, self.pending)):
            if number not in self.early:
                self.answers[self.pending[number].id] = default
            del self.pending[number]  # first: an early reward without its decision means nothing
            self.early.pop(number, None)

    def after(self, events: Sequence[Event]) -> AgentState:
        """Return a view of the state whose records include events that are not stored yet."""
        view = copy(self)
        view.pending, view.early = {**self.pending}, {**self.early}
        view.answers, view.requests = OrderedDict(), OrderedDict()
        view.commit(events)
        return view

    def unreported(self) -> Iterator[Decision]:
        """Yield the decisions whose rewards have not been reported, oldest first."""
        return (decision for number, decision in self.pending.items() if number not in self.early)


class CandidateArms:
    """The arms of a choice as an ``Arm`` whose fields are arrays, each computed when it is read."""

    def __init__(self, policy: Policy, rows: Rows, places: Any, chosen: int) -> None:
        self._policy, self._rows, self._places, self._chosen = policy, rows, places, chosen

    @property
    def number(self) -> Any:
        """The numbers of the arms."""
        return self._rows["number"][self._places]

    @property
    def pulls(self) -> Any:
        """Their pulls; pending ones count."""
        pulls = self._counted() + self._rows["pending"][self._places]
        pulls[self._chosen] -= 1  # the choice itself is no pull yet
        return pulls

    @property
    def mean(self) -> Any:
        """Their means."""
        return self._rows["mean"][self._places]

    @property
    def variance(self) -> Any:
        """Their population variances."""
        counted, rows = self._counted(), self._rows[self._places]
        squares = counted * rows["squares"] - rows["total"] ** 2
        return np.maximum(squares, 0.0) / np.maximum(counted, 1) ** 2

    @property
    def memory(self) -> Any:
        """The policy's memory of them, None if it has none."""
        names = [name for name, _ in memory_fields(self._policy.Memory)]
        return self._policy.Memory(*(self._rows[name][self._places] for name in names)) if names else None

    def _counted(self) -> Any:
        return (self._rows["pulls"] - self._rows["reset"])[self._places]

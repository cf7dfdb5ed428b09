"""The state of an agent, which is determined by its events.

A transaction first changes the model: the statistics, the round, the arms and the counters, which ``save``
copies and ``restore`` sets back. When its events are stored, ``commit`` updates the records of single
decisions: those that are pending, and the latest answers and requests. It is idempotent, so an interrupted
commit is simply repeated.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import takewhile
from math import ceil, inf
from operator import attrgetter
from typing import Any, Self

import numpy as np

from lowregret._common.validation import short_repr
from lowregret.engine.failures import raise_for
from lowregret.engine.kernels.exceedances import new_scores
from lowregret.engine.kernels.periods import Periods
from lowregret.engine.kernels.rng import POLICY_STREAM, shuffle, stream
from lowregret.engine.kernels.state import CLOSED, ArmTable, Rows, initialise_memory, new_rows
from lowregret.engine.kernels.statistics import observe
from lowregret.engine.prior import allocate_rewards, apply_prior
from lowregret.engine.start import activate, first_round
from lowregret.engine.status import NOT_A_NUMBER
from lowregret.errors import InputError
from lowregret.online.agent_settings import Settings
from lowregret.online.assignment import CONTROL, Assignment
from lowregret.online.daily_rewards import DailyRewards
from lowregret.online.decisions import ANSWERS, Decision, Event, Status, decision_of, new_key, new_tuple
from lowregret.online.live_periods import LivePeriods, compile_matching
from lowregret.online.model import MODEL, LiveRng, apply_step, choose_step, live_clock
from lowregret.policies import NEVER, Policy

INITIAL_CAPACITY = 64
"""How many rewards of an arm a new agent can hold; it doubles when there are more."""
MIN_FIRST_HORIZON = 1_000
"""The least end of the first epoch."""
MAX_REMEMBERED = 1_000
"""How many of the latest answers and requests are held in memory; a store on disk holds them all."""
MAX_REMEMBERED_DECISIONS = 10 * MAX_REMEMBERED
"""How many decisions these requests have together, unless the latest one alone has more."""
SAVED_FIELDS = (
    "round", "epoch", "hidden", "names", "places", "asked", "conflicts", "matured", "status", "fallback",
    "by_period",
)  # fmt: skip
"""What ``save`` returns after two arrays. The agent replaces its lists and dictionaries."""
_saved_fields = attrgetter(*SAVED_FIELDS)


class AgentState:
    """The model and the records of an agent; ``token`` identifies the agent among all agents.

    Attributes
    ----------
    rows, models : array
        The statistics of the arms, and those of the agent in one row: see ``model.MODEL``.
    rewards : array or None
        The rewards of each arm by its number, for a policy that uses them. They are only ever added to, so
        that a transaction that fails leaves behind nothing that counts.
    names : list of str
        The names of the arms that are not retired, in the order of the rows.
    by_period : LivePeriods or DailyRewards
        The rewards by period, where means are adjusted, else by day.
    hidden : dict of str to array
        The rows of the arms that the policy does not see: those that are retired, and the control arm.
    control : str or None
        The control arm; ``control_allowed`` is whether the present choice may be this arm.
    asked, conflicts : int
        The number of decisions, and the number of rewards rejected because they contradict an earlier one.
    matured : int
        The number of the latest decision whose window has ended; see ``windows``.
    status : str
        Whether decisions are made: "active", "paused" or "retired"; ``fallback`` is shown meanwhile.
    windows_end : float
        The time by which windows may end in the present call; see ``clock_readings``.
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
        *SAVED_FIELDS, "answers", "assignment", "control", "control_allowed", "early", "models", "pending",
        "remembers_requests", "requested", "requests", "rewards", "rows", "scores", "settings", "steps",
        "token", "values", "windows_end",
    )  # fmt: skip

    def __init__(self, settings: Settings, token: str) -> None:
        self.settings, self.token = settings, token
        self.assignment, self.control_allowed = Assignment(settings), True
        self.control = self.assignment.control
        played = [arm for arm in settings.arms if arm != self.control]
        policy, size = settings.policy, len(played)
        self.steps: tuple[Any, Any, Any] = (choose_step, apply_step, policy)
        self.rows = new_rows(size, policy)
        shuffle(settings.seed, 0, self.rows["number"])
        initialise_memory(policy, self.rows)
        self.scores = new_scores(policy, size)
        priors = {played.index(arm): prior for arm, prior in settings.priors().items()}
        self.rewards = allocate_rewards(policy, size, INITIAL_CAPACITY, priors)
        self.by_period = DailyRewards(settings) if settings.period is None else LivePeriods(settings)
        self.models = np.zeros(1, MODEL)
        model = self.models[0]
        model["key"] = stream(settings.seed, 0, POLICY_STREAM)
        model["horizon"] = settings.horizon or first_horizon(size)
        self.epoch = 0
        self.round = start_epoch(policy, self.rows, int(model["horizon"]))
        apply_prior(policy, self.rows, priors, int(model["horizon"]))
        self.names: list[str] = [played[number] for number in self.rows["number"]]
        self.places = {arm: place for place, arm in enumerate(self.names)}
        self.hidden: dict[str, Rows] = {}
        if self.control is not None:
            self.hidden[self.control] = self._new_row(size)
        self.asked = self.conflicts = self.matured = 0
        self.status: Status = "active"
        self.fallback: str | None = None
        self.windows_end = inf
        self.values: dict[str, Any] = {}
        self.pending: dict[int, Decision] = {}
        self.early: dict[int, float] = {}
        self.answers: OrderedDict[str, float | None] = OrderedDict()
        self.requests: OrderedDict[str, dict[int, Decision]] = OrderedDict()
        self.requested = 0  # decisions of these requests
        self.remembers_requests = False

    @property
    def time(self) -> int:
        """The number of pulls, including those whose reward is pending."""
        return int(self.models[0]["told"]) + int(self.models[0]["waiting"])

    @property
    def periods(self) -> Periods | None:
        """By what means are adjusted, None if by nothing."""
        return self.by_period.periods

    @property
    def table(self) -> ArmTable:
        """The arms that the policy sees."""
        return ArmTable(self.rows, self.rewards, self.periods)

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code chooses and learns."""
        return self.steps[0] is not choose_step

    @property
    def arms(self) -> list[str]:
        """The names of the arms that are not retired, in the order of their addition, the control last."""
        names = [self.names[place] for place in self.rows["number"].argsort()]
        return names if self.control is None else [*names, self.control]

    def compile(self) -> None:
        """Choose and learn by compiled code from now on; compile it, or load it from the disk cache."""
        from lowregret.engine.bridge.compiler import entry
        from lowregret.engine.bridge.external import compile_all

        compile_all()  # so that no decision waits for it
        policy = self.settings.policy
        choose, learn = (entry(function, policy, *arguments) for function, arguments in self._entries())
        self.steps = choose, learn, policy
        if self.periods is not None:
            compile_matching()

    def has_code(self) -> bool:
        """Return whether ``compile`` would only load machine code, in less than half a second."""
        from lowregret.engine.bridge.compiler import is_on_disk

        policy = self.settings.policy
        return all(is_on_disk(function, policy, *arguments) for function, arguments in self._entries())

    def _entries(self) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
        """Return the functions that are compiled, with examples of their arguments after the policy."""
        horizon = int(self.models[0]["horizon"])
        first = first_round(self.settings.policy, len(self.rows), horizon)  # every round has its types
        arguments = self.rows, self.models, first
        return [
            (choose_step, (*arguments, self.scores, self.rewards, self.periods)),
            (apply_step, (*arguments, 0, 0.5, self.rewards, self.periods)),
        ]

    def save(self) -> tuple[Any, ...]:
        """Return a copy of the model; arrays are bytes, because NumPy copies structured ones by field."""
        rows, models = self.rows.tobytes(), self.models.tobytes()
        return rows, models, _saved_fields(self), self.by_period.save()

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Set the model back to a copy."""
        rows, models, values, by_period = saved
        self.rows = np.frombuffer(rows, self.rows.dtype).copy()
        self.models = np.frombuffer(models, MODEL).copy()
        for name, value in zip(SAVED_FIELDS, values, strict=True):
            setattr(self, name, value)
        self.by_period.restore(by_period)
        self.scores = new_scores(self.settings.policy, len(self.rows))
        self.control_allowed = True

    def allow(self, only: Sequence[str] | None) -> None:
        """Restrict the next choices to some arms; None lifts the restriction."""
        if only is None:
            self.rows["allowed"] = self.control_allowed = True
            return
        places = [self.place(arm) for arm in only if arm != self.control]
        self.control_allowed = self.control in only
        self.rows["allowed"] = False
        self.rows["allowed"][places] = True

    def place(self, arm: object) -> int:
        """Return the row of an arm that is not retired."""
        place = self.places.get(arm) if isinstance(arm, str) else None
        if place is None:
            if isinstance(arm, str) and arm in self.hidden:
                raise InputError(f"arm {short_repr(arm)} is retired")
            raise InputError(f"unknown arm {short_repr(arm)}: the arms are {short_repr(self.arms)}")
        return place

    def choose(self, number: int, request: str | None, timestamp: float) -> Event:
        """Make decision ``number``: choose an arm, count the pull, and return the event."""
        if self.assignment.mixes:
            place, time, drawn, propensity = self.assignment.choose(self, number)
        else:
            choose, _, policy = self.steps
            place, time, drawn = choose(
                policy, self.rows, self.models, self.round, self.scores, self.rewards, self.periods
            )
            propensity = self.assignment.propensity(self, place, time)
        if place >= 0:
            arm = self.names[place]
        elif place == CONTROL and self.control is not None:
            arm = self.control
            self.count_pending(arm)
        else:
            raise_for(self.settings.policy, NOT_A_NUMBER)
        self.asked = number
        fields = "asked", number, arm, None, time, propensity, drawn, request, new_key(), timestamp
        return new_tuple(Event, fields)

    def count_pending(self, arm: str) -> None:
        """Count a pull whose reward is not known."""
        row = self.rows[self.places[arm]] if arm in self.places else self._copy_of_hidden(arm)[0]
        row["pending"] += 1
        self.models[0]["waiting"] += 1

    def apply_reward(self, decision: Decision, reward: float) -> None:
        """Update the model with the reward of a pending pull, in the user's units."""
        arm, scaled, number = decision.arm, self.settings.scaled(reward), -1
        place = self.places.get(arm)
        if self.rewards is not None or self.periods is not None:
            row = self.hidden[arm][0] if place is None else self.rows[place]
            number = int(row["number"])
            self.reserve(number, int(row["pulls"]) + int(row["prior"]) + 1)
        self.by_period.add(decision, number, reward, scaled)
        if place is not None:
            _, learn, policy = self.steps
            status, self.round = learn(
                policy, self.rows, self.models, self.round, place, scaled, self.rewards, self.periods
            )
            if status < 0:
                raise_for(policy, status)
        else:
            self._apply_reward_of_hidden_arm(arm, scaled)
        if self.settings.horizon is None and self.models[0]["told"] >= self.models[0]["horizon"]:
            self._open_epoch()

    def reserve(self, number: int, pulls: int) -> None:
        """Grow ``rewards``, if the policy uses them, to hold ``pulls`` rewards of arm ``number``."""
        if self.rewards is None:
            return
        arms, capacity, *columns = self.rewards.shape
        if number >= arms or pulls > capacity:
            size = capacity if pulls <= capacity else max(2 * capacity, pulls)
            rewards = np.empty((max(arms, number + 1), size, *columns))
            rewards[:arms, :capacity] = self.rewards
            self.rewards = rewards

    def _apply_reward_of_hidden_arm(self, arm: str, reward: float) -> None:
        """Update the statistics of an arm that the policy does not see."""
        row, model = self._copy_of_hidden(arm), self.models[0]
        row["pending"] -= 1
        model["waiting"] -= 1
        model["told"] += 1
        policy = self.settings.policy
        clock = live_clock(policy, self.table, model, int(model["told"]))
        observe(policy, self.table._replace(rows=row), 0, reward, clock, LiveRng(model))

    def _copy_of_hidden(self, arm: str) -> Rows:
        """Copy the row of an arm that the policy does not see, and return it; ``save`` holds the original."""
        row = self.hidden[arm].copy()
        self.hidden = {**self.hidden, arm: row}
        return row

    def _open_epoch(self) -> None:
        model, policy = self.models[0], self.settings.policy
        self.epoch += 1
        model["horizon"] *= 2
        if "horizon" in policy.needs:
            self.round = start_epoch(policy, self.rows, int(model["horizon"]), int(model["told"]))

    def discard(self, arm: str) -> None:
        """Uncount a pull whose reward will never be reported."""
        row = self.rows[self.places[arm]] if arm in self.places else self._copy_of_hidden(arm)[0]
        row["pending"] -= 1
        self.models[0]["waiting"] -= 1
        self.models[0]["discarded"] += 1

    def add(self, arm: str) -> None:
        """Add an arm to the model."""
        policy, size = self.settings.policy, len(self.rows)
        row = self._new_row(size + len(self.hidden))
        active = policy.initially_active(int(row["number"][0]))
        row["active"], row["eliminated"] = active, 0 if active else CLOSED
        rows = np.concatenate([self.rows, row])
        self.rows, self.names, self.places = rows, [*self.names, arm], {**self.places, arm: size}
        self.scores = new_scores(policy, size + 1)

    def _new_row(self, number: int) -> Rows:
        """Return the row of an arm that was not pulled."""
        self.reserve(number, 0)
        self.by_period.add_arm(number, self.is_compiled)
        row = new_rows(1, self.settings.policy)
        initialise_memory(self.settings.policy, row)
        row["number"] = number
        return row

    def retire(self, arm: str) -> None:
        """Remove an arm from the model; where no active arm is left, activate all."""
        place = self.places[arm]
        self.hidden = {**self.hidden, arm: self.rows[place : place + 1].copy()}
        self.rows = np.delete(self.rows, place)
        self.scores = new_scores(self.settings.policy, len(self.rows))
        self.names = [other for other in self.names if other != arm]
        self.places = {other: i for i, other in enumerate(self.names)}
        if not self.rows["active"].any():
            self.rows["active"] = True
            self.rows["eliminated"] = 0

    # The records of single decisions.

    def commit(self, events: Sequence[Event]) -> list[Decision]:
        """Enter events that are stored; return the decisions among them. To repeat it changes nothing."""
        self.by_period.commit(self.is_compiled)
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

    def after(self, events: Sequence[Event]) -> Self:
        """Return a view of the state whose records include events that are not stored yet."""
        view = copy(self)
        view.by_period, view.pending, view.early = copy(self.by_period), {**self.pending}, {**self.early}
        view.answers = OrderedDict()
        view.commit(events)
        return view

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


def first_horizon(arms: int) -> int:
    """Return the end of the first epoch: 1,000, or K^2.4 if larger, from where EUCBV's guarantee holds."""
    horizon: int = ceil(arms**2.4)
    return max(MIN_FIRST_HORIZON, horizon)


def start_epoch(policy: Policy, rows: Rows, horizon: int, now: int = 0) -> Any:
    """Start an epoch at time ``now``: activate the arms, return the first round, its end counted from now.

    Epochs of doubling length are for a policy that needs the horizon when it is unknown; its horizon is then
    the end of the epoch. This is our extension: the paper of EUCBV leaves an anytime version open. Statistics
    are kept. Eliminated arms come back, since an elimination is valid only for the horizon it was made for.
    """
    round = first_round(policy, len(rows), horizon)
    activate(policy, rows)
    rows["listed"] = False
    return round._replace(until=round.until + now) if now and round.until < NEVER else round

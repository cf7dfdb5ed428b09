"""The state of an agent, which is determined by its events.

A transaction first changes the model: the statistics, the round, the arms and the counters, which ``save``
copies and ``restore`` sets back. ``commit`` then updates the records of pending decisions, answers and
requests. It is idempotent, so an interrupted commit is simply repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from math import inf
from typing import Any

import numpy as np

from lowregret._common.validation import short_repr
from lowregret.analysis.matched_rewards import FIRST_REWARDS
from lowregret.engine.failures import raise_for
from lowregret.engine.kernels.exceedances import new_scores
from lowregret.engine.kernels.periods import Periods
from lowregret.engine.kernels.rng import POLICY_STREAM, shuffle, stream
from lowregret.engine.kernels.state import CLOSED, ArmTable, Rows, initialise_memory, new_rows
from lowregret.engine.kernels.statistics import observe
from lowregret.engine.prior import allocate_rewards, apply_prior
from lowregret.engine.start import first_round
from lowregret.engine.status import NOT_A_NUMBER
from lowregret.errors import InputError
from lowregret.online.agent_settings import Settings, require_shares, valid_arm
from lowregret.online.assignment import CONTROL, Assignment
from lowregret.online.decisions import (
    Decision,
    Event,
    Status,
    decision_number,
    new_key,
    new_tuple,
)
from lowregret.online.epochs import first_horizon, start_epoch
from lowregret.online.live_periods import copy_estimates, date_of, empty_periods, grow_periods
from lowregret.online.matching import (
    begin_period,
    compile_matching,
    empty_matching,
    fit_matching,
    is_full,
    settle_matching,
)
from lowregret.online.model import MODEL, LiveRng, apply_step, choose_step, live_clock
from lowregret.online.records import Records

INITIAL_CAPACITY = 64
"""How many rewards of an arm a new agent can hold; it doubles when there are more."""
SAVED_FIELDS = (
    "round", "epoch", "hidden", "names", "places", "asked", "conflicts", "matured", "status", "fallback",
    "periods", "matching", "dates", "undo",
)  # fmt: skip
"""What ``save`` returns after two arrays. The agent replaces its lists and dictionaries."""


class AgentState(Records):
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
    periods : Periods or None
        The rewards by period, where means are adjusted. ``dates`` has the place of each period of a time, and
        ``undo`` what rewards since ``save`` have changed, None if nobody will restore it. ``matching`` has
        the rewards that a verdict compares.
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
    """

    __slots__ = (
        *SAVED_FIELDS, "assignment", "control", "control_allowed", "models", "rewards", "rows", "scores",
        "steps", "token", "windows_end",
    )  # fmt: skip

    def __init__(self, settings: Settings, token: str) -> None:
        super().__init__(settings)
        self.token = token
        self.assignment, self.control_allowed = Assignment(settings), True
        self.control = self.assignment.control
        played = [arm for arm in settings.arms if arm != self.control]
        policy, size = settings.policy, len(played)
        self.rows = new_rows(size, policy)
        shuffle(settings.seed, 0, self.rows["number"])
        initialise_memory(policy, self.rows)
        self.scores = new_scores(policy, size)
        priors = {played.index(arm): prior for arm, prior in settings.priors().items()}
        self.rewards = allocate_rewards(policy, size, INITIAL_CAPACITY, priors)
        self.periods = empty_periods(settings, len(settings.arms))
        self.matching = empty_matching(self.periods)
        self.dates: dict[int, int] = {}
        self.undo: list[tuple[Any, ...]] | None = None
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
        self.steps: tuple[Any, Any, Any] = (choose_step, apply_step, policy)

    @property
    def time(self) -> int:
        """The number of pulls, including those whose reward is pending."""
        return int(self.models[0]["told"]) + int(self.models[0]["waiting"])

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
        if self.matching is not None:
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
        self.undo = None if self.periods is None else []
        return (
            self.rows.tobytes(), self.models.tobytes(), self.round, self.epoch, self.hidden, self.names,
            self.places, self.asked, self.conflicts, self.matured, self.status, self.fallback, self.periods,
            self.matching, self.dates, self.undo, 0 if self.matching is None else len(self.matching.rewards),
        )  # fmt: skip

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Set the model back to a copy."""
        rows, models, *values, matched = saved
        self.rows = np.frombuffer(rows, self.rows.dtype).copy()
        self.models = np.frombuffer(models, MODEL).copy()
        for name, value in zip(SAVED_FIELDS, values, strict=True):
            setattr(self, name, value)
        for array, cell, before in reversed(self.undo or ()):
            array[cell] = before
        if self.matching is not None:
            del self.matching.rewards[matched:]
        self.scores = new_scores(self.settings.policy, len(self.rows))
        self.control_allowed = True

    def check_only(self, only: Iterable[object]) -> None:
        """Check that every arm of a list exists; it may be retired."""
        for arm in only:
            if not isinstance(arm, str) or arm not in self.hidden:
                self.place(arm)

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
        """Update the model with the reward of a pending pull."""
        arm = decision.arm
        place = self.places.get(arm)
        if self.rewards is not None or self.periods is not None:
            row = self.hidden[arm][0] if place is None else self.rows[place]
            self.reserve(int(row["number"]), int(row["pulls"]) + int(row["prior"]) + 1)
            if self.periods is not None:
                self._enter_period(self.periods, decision, int(row["number"]), reward)
        if place is not None:
            _, learn, policy = self.steps
            status, self.round = learn(
                policy, self.rows, self.models, self.round, place, reward, self.rewards, self.periods
            )
            if status < 0:
                raise_for(policy, status)
        else:
            self._apply_reward_of_hidden_arm(arm, reward)
        if self.settings.horizon is None and self.models[0]["told"] >= self.models[0]["horizon"]:
            self._open_epoch()

    def reserve(self, number: int, pulls: int) -> None:
        """Grow ``rewards``, if the policy uses them, to hold ``pulls`` rewards of arm ``number``."""
        if self.periods is not None and number >= len(self.periods.counts):
            self.periods = grow_periods(self.periods, number + 1, 0)
            # Rewards from before an arm was added are not compared with its own.
            self.matching = fit_matching(settle_matching(self.matching, self.is_compiled), self.periods)
        if self.rewards is None:
            return
        arms, capacity, *columns = self.rewards.shape
        if number >= arms or pulls > capacity:
            size = capacity if pulls <= capacity else max(2 * capacity, pulls)
            rewards = np.empty((max(arms, number + 1), size, *columns))
            rewards[:arms, :capacity] = self.rewards
            self.rewards = rewards

    def _enter_period(self, periods: Periods, decision: Decision, number: int, reward: float) -> None:
        """Let the next reward be one of this decision, of arm ``number``; ``restore`` can undo it."""
        t, length = decision_number(decision.id), self.settings.period
        if isinstance(length, timedelta):
            date = date_of(decision.timestamp, length)
            if date not in self.dates:
                self.dates = {**self.dates, date: len(self.dates) + 1}
            t = self.dates[date]
        cell = number, (t - 1) // periods.length
        if cell[1] >= periods.counts.shape[1]:
            periods = self.periods = grow_periods(periods, 0, cell[1] + 1)
        elif self.undo == []:
            periods = self.periods = copy_estimates(periods)
        if self.undo is not None:
            self.undo += [(array, cell, array[cell]) for array in (periods.counts, periods.totals)]
        matching = self.matching
        if matching is not None:
            if not matching.rewards or matching.rewards[-1][1] != cell[1]:
                rewards_so_far = int(self.models[0]["told"])
                matching = self.matching = begin_period(matching, periods, rewards_so_far, cell[1], self.undo)
            if matching is not None and (matching.rewards or self.models[0]["told"] >= FIRST_REWARDS):
                matching.rewards.append((*cell, reward))
        periods.enter(t)

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

    def check_new(self, arm: object) -> str:
        """Check the name of a new arm."""
        new = valid_arm(arm)
        if new in self.hidden:
            raise InputError(f"arm {short_repr(new)} was retired: give the new arm another name")
        require_shares(self.settings.minimum_share, self.assignment.control_share, len(self.names) + 1)
        return new

    def check_retirement(self, arm: object) -> str:
        """Check that an arm may be retired."""
        if arm == self.control and arm is not None:
            raise InputError(f"arm {short_repr(arm)} is the control arm: it cannot be retired")
        place = self.place(arm)
        if len(self.names) == 1:
            raise InputError(
                f"arm {short_repr(self.names[place])} is the last one: add another arm before retiring it"
            )
        return self.names[place]

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

    def _commit_periods(self) -> None:
        self.undo = None
        if self.matching is not None and is_full(self.matching):
            self.matching = settle_matching(self.matching, self.is_compiled)

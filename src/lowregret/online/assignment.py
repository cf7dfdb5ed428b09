"""Which arm a live decision gets, and with which probability.

Without a minimum share and a control arm, the policy decides. With them, each decision has one uniform draw
u, a function of the seed and the number of the decision. The control arm is chosen if u falls below its
share, each other allowed arm if u falls into its interval, whose length is the minimum share, and else the
policy decides. So an arm that the policy chooses with probability q is chosen with s + (1 - c - n s) q, where
s is the minimum share, c the share of the control arm and n the number of other arms.
"""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from lowregret._common.arrays import Integers
from lowregret.engine.kernels.rng import ASSIGNMENT_STREAM, stream, uniform
from lowregret.engine.kernels.state import ArmTable
from lowregret.online.agent_settings import Settings
from lowregret.online.model import live_clock
from lowregret.policies import Policy
from lowregret.policies.arm_memory import memory_fields
from lowregret.policies.base import is_randomized, states_posteriors

if TYPE_CHECKING:
    from lowregret.online.agent_state import AgentState

MIN_PROPENSITY = 1e-12
"""The smallest propensity that is logged; the error of a computed one is larger."""


class Assignment:
    """Assigns decisions to arms; ``control`` and ``control_share`` are None and 0 without a control arm."""

    def __init__(self, settings: Settings) -> None:
        kind = type(settings.policy)
        self.minimum = settings.minimum_share
        self.control = settings.control[0] if settings.control else None
        self.control_share = settings.control[1] if settings.control else 0.0
        self.mixes = self.minimum > 0.0 or self.control is not None
        self.randomized = is_randomized(kind)
        self._by_default = settings.log_propensities is None
        self._stated = kind.overrides("propensities") or states_posteriors(kind)
        requested = self.mixes if self._by_default else settings.log_propensities
        self.states = self._stated and (requested or not kind.slow_propensities)
        self._key = stream(settings.seed, 0, ASSIGNMENT_STREAM)

    def log_all(self) -> None:
        """Compute slow propensities too, since they are stored, unless the settings say otherwise."""
        if self._by_default:
            self.states = self._stated

    def choose(self, state: AgentState, number: int) -> tuple[int, int, int, float | None]:
        """Choose and pull an arm; return its row, the time, the draws so far, and the propensity.

        The row is -1 if an index is nan, and ``CONTROL`` for the control arm.
        """
        rows, model = state.rows, state.models[0]
        draw, allowed = uniform(self._key, number), np.flatnonzero(rows["allowed"])
        fixed = 0.0
        if state.control_allowed and self.control is not None:
            fixed = self.control_share if len(allowed) else 1.0
        if draw < fixed:
            return CONTROL, state.time + 1, int(model["drawn"]), fixed
        choose, _, policy = state.steps
        preferred, time, drawn = choose(
            policy, rows, state.models, state.round, state.scores, state.rewards, state.periods
        )
        if preferred < 0:
            return preferred, time, drawn, None
        place, explored = preferred, (draw - fixed) / self.minimum if self.minimum > 0.0 else np.inf
        if explored < len(allowed):
            place = int(allowed[int(explored)])
            rows[preferred]["pending"] -= 1
            rows[place]["pending"] += 1
        share = self.policy_share(state, place, preferred, time)
        if share is None:
            return place, time, drawn, None
        free = max(1.0 - fixed - self.minimum * len(allowed), 0.0)
        return place, time, drawn, max(self.minimum + free * share, MIN_PROPENSITY)

    def propensity(self, state: AgentState, place: int, time: int) -> float | None:
        """Return the probability of the arm that the policy has just chosen."""
        if not self.randomized or place < 0:
            return 1.0
        share = self.policy_share(state, place, place, time)
        return None if share is None else max(share, MIN_PROPENSITY)

    def policy_share(self, state: AgentState, place: int, preferred: int, time: int) -> float | None:
        """Return the probability with which the policy chooses an arm, just after that arm was pulled."""
        certain = 1.0 if place == preferred else 0.0
        if not self.randomized:
            return certain
        policy, rows = state.settings.policy, state.rows
        pending = rows["pending"].copy()
        pending[place] -= 1
        playing = rows["allowed"] & rows["active"]
        if policy.warmup and (playing & (rows["pulls"] + pending < policy.warmup)).any():
            return certain
        if not self.states:
            return None
        places = playing.nonzero()[0]
        if len(places) == 0:
            places = rows["allowed"].nonzero()[0]
        if len(places) == 1:
            return certain
        if state.models[0]["waiting"] > 1:
            places = places[np.argsort(pending[places], kind="stable")]  # the order of ties
        arms: Any = CandidateArms(policy, state.table, places, pending)
        shares = policy.propensities(arms, live_clock(policy, state.table, state.models[0], time))
        index = int((places == place).argmax())
        if places[index] != place:
            return 0.0
        share = nan if shares is None else float(shares[index])
        return None if isnan(share) else share


CONTROL = -2
"""Returned instead of the row of an arm: the control arm, which the policy does not see."""


class CandidateArms:
    """The arms of a choice as an ``Arm`` whose fields are arrays, each computed when it is read."""

    def __init__(self, policy: Policy, table: ArmTable, places: Integers, pending: Integers) -> None:
        self._policy, self._rows, self._places, self._pending = policy, table.rows, places, pending
        self._adjustment = table.adjustment

    def _adjusted(self, column: int) -> Any:
        return self._adjustment.seen[self._rows["number"][self._places], column]

    @property
    def _counts(self) -> Any:
        """How many rewards the statistics of each have: see ``policies.views.statistics_of``."""
        if self._adjustment is not None:
            return self._adjusted(0).astype(np.int64)
        return (self._rows["pulls"] + self._rows["prior"] - self._rows["forgotten"])[self._places]

    @property
    def number(self) -> Any:
        return self._rows["number"][self._places]

    @property
    def pulls(self) -> Any:
        """Their pulls as the policy sees them: see ``engine.kernels.step.arm_as_seen``."""
        pending = self._pending[self._places]
        if not self._policy.counts_pending:
            if self._policy.warmup == 0:
                return self._counts
            missing = self._policy.warmup - self._rows["pulls"][self._places]
            pending = np.maximum(np.minimum(pending, missing), 0)
        return self._counts + pending

    @property
    def mean(self) -> Any:
        return self._rows["mean"][self._places] if self._adjustment is None else self._adjusted(1)

    @property
    def variance(self) -> Any:
        if self._adjustment is not None:
            return self._adjusted(2)
        count, rows, places = self._counts, self._rows, self._places
        squares = count * rows["squares"][places] - rows["total"][places] ** 2
        return np.maximum(squares, 0.0) / np.maximum(count, 1) ** 2

    @property
    def memory(self) -> Any:
        """The policy's memory of them, None if it has none."""
        names = [name for name, _ in memory_fields(self._policy.Memory)]
        return self._policy.Memory(*(self._rows[name][self._places] for name in names)) if names else None

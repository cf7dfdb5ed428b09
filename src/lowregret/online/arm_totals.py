"""The rewards of an agent's arms, as intervals and verdicts use them."""

from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Booleans, Floats
from lowregret.analysis.confidence_sequences import Totals
from lowregret.engine.kernels.periods import EXPOSURE, TOTAL
from lowregret.engine.kernels.state import Rows
from lowregret.engine.prior import without_prior
from lowregret.online.agent_state import AgentState
from lowregret.online.live_periods import plain_rows


class ArmTotals(NamedTuple):
    """The arms of an agent, in the order in which they were added.

    ``known`` are the totals of scaled rewards, ``low`` and ``high`` those with which an arm looks worst and
    best: they differ where successes are known before failures. This is valid for bets too: 1 + c y, which
    bounds one, is monotone in the reward. ``offset`` is subtracted from rewards without a range.
    """

    names: list[str]
    rows: Rows
    known: Totals
    low: Totals
    high: Totals
    offset: float
    bounded: bool
    retired: Booleans  # whether an arm is
    control: int | None  # its place
    adjusted: Floats | None  # the means that are adjusted for periods

    @property
    def leader(self) -> int | None:
        """The place of the arm with the largest mean that is not retired, None before the first reward."""
        means = self.known.means if self.adjusted is None else self.adjusted
        means = np.where((self.known.pulls > 0) & ~self.retired, means, -np.inf)
        best = int(means.argmax())
        return None if np.isinf(means[best]) else best


def all_rows(state: AgentState) -> tuple[list[str], Rows]:
    """Return the names and the rows of all arms without their priors and adjustments, retired ones last."""
    rows = plain_rows(np.concatenate([state.rows, *state.retired.values()]), state.periods)
    names, priors = [*state.names, *state.retired], state.settings.priors()
    for place, arm in enumerate(names):
        if arm in priors:
            rows[place] = without_prior(rows[place], priors[arm])
    return names, rows


def arm_totals(state: AgentState) -> ArmTotals:
    """Return the totals of all arms, retired ones included, priors not."""
    names, rows = all_rows(state)
    order = np.argsort(rows["number"], kind="stable")
    names, rows = [names[place] for place in order], rows[order]
    settings, bounded = state.settings, state.settings.reward_range is not None
    pulls = (rows["pulls"] - rows["reset"]).astype(np.float64)
    origin = np.where(pulls > 0, rows["origin"], 0.0)
    offset = 0.0 if bounded else float(origin[pulls.argmax()])
    distance = origin - offset
    total = rows["total"] + pulls * distance
    squares = rows["squares"] + 2.0 * distance * rows["total"] + pulls * distance**2
    known = low = high = Totals(pulls, total, squares)
    if bounded and settings.knows_successes_first:
        pending = rows["pending"].astype(np.float64)
        low = Totals(pulls + pending, total, squares)
        high = Totals(pulls + pending, total + pending, squares + pending)
    retired = np.array([arm in state.retired and arm != state.control for arm in names])
    control = None if state.control is None else names.index(state.control)
    adjusted = None
    if state.periods is not None:
        sums = state.periods.arms[rows["number"]]
        adjusted = sums[:, TOTAL] / np.where(pulls == 0, 1.0, sums[:, EXPOSURE])
    return ArmTotals(names, rows, known, low, high, offset, bounded, retired, control, adjusted)

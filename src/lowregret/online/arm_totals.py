"""The rewards of an agent's arms, as intervals and verdicts use them."""

from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Booleans, Floats, Integers
from lowregret.analysis.confidence_sequences import Totals
from lowregret.analysis.nonnegative_means import Products, effective_rewards
from lowregret.engine.kernels.periods import EXPOSURE, TOTAL
from lowregret.engine.kernels.state import Rows
from lowregret.engine.kernels.statistics import Sums
from lowregret.engine.prior import sums_of_pulls
from lowregret.online.agent_state import AgentState
from lowregret.online.daily_rewards import DailyRewards
from lowregret.policies.views import mean_of


class ArmTotals(NamedTuple):
    """The arms of an agent, in the order in which they were added.

    ``totals`` are the totals of scaled rewards, ``low`` and ``high`` those with which an arm looks worst and
    best: they differ where successes are known before failures. This is valid for bets too: 1 + c y, which
    bounds one, is monotone in the reward. ``offset`` is subtracted from rewards without a range. If none of
    these was negative, ``products`` has those of each arm.
    """

    names: list[str]
    rows: Rows
    totals: Totals
    low: Totals
    high: Totals
    offset: float
    bounded: bool
    retired: Booleans  # whether an arm is
    control: int | None  # its place
    means: Floats
    adjusted: Floats | None  # the means that are adjusted for periods
    products: list[Products] | None

    @property
    def has_forgotten(self) -> bool:
        """Whether the policy has reset statistics, so that not all pulls are in the totals."""
        return bool((self.rows["forgotten"] > self.rows["prior"]).any())

    @property
    def leader(self) -> int | None:
        """The place of the arm with the largest mean that is not retired, None before the first reward."""
        means = self.totals.means if self.adjusted is None else self.adjusted
        means = np.where((self.totals.pulls > 0) & ~self.retired, means, -np.inf)
        best = int(means.argmax())
        return None if np.isinf(means[best]) else best

    @property
    def effective(self) -> Floats:
        """The effective numbers of rewards without a range, infinite where they do not matter."""
        return np.array([self.effective_of(np.array([place])) for place in range(len(self.names))])

    def effective_of(self, places: Integers | Booleans) -> float:
        """Return the effective number of the rewards of some arms together."""
        if self.products is None:
            return np.inf
        pulls, total, squares = (float(values[places].sum()) for values in self.totals)
        return effective_rewards(
            total + pulls * self.offset, squares + 2.0 * self.offset * total + pulls * self.offset**2
        )


def all_sums(state: AgentState) -> tuple[list[str], Rows, list[Sums]]:
    """Return the names, the rows and the sums of all arms, retired ones last; priors are not in the sums."""
    rows = np.concatenate([state.rows, *state.hidden.values()])
    names, priors = [*state.names, *state.hidden], state.settings.priors()
    return names, rows, [sums_of_pulls(row, priors.get(arm)) for arm, row in zip(names, rows, strict=True)]


def arm_totals(state: AgentState) -> ArmTotals:
    """Return the totals of all arms, retired ones included, priors not."""
    names, rows, sums = all_sums(state)
    order = np.argsort(rows["number"], kind="stable")
    names, rows = [names[place] for place in order], rows[order]
    settings, bounded = state.settings, state.settings.reward_range is not None
    _, pulls, first, sum_from_first, squares_from_first = np.array(sums, np.float64)[order].T
    means = np.array([mean_of(one.n, one.origin, one.total) for one in sums])[order]
    origin = np.where(pulls > 0, first, 0.0)
    offset = 0.0 if bounded else float(origin[pulls.argmax()])
    distance = origin - offset
    total = sum_from_first + pulls * distance
    squares = squares_from_first + 2.0 * distance * sum_from_first + pulls * distance**2
    totals = low = high = Totals(pulls, total, squares)
    if bounded and settings.knows_successes_first:
        pending = rows["pending"].astype(np.float64)
        low = Totals(pulls + pending, total, squares)
        high = Totals(pulls + pending, total + pending, squares + pending)
    retired = np.array([arm in state.hidden and arm != state.control for arm in names])
    control = None if state.control is None else names.index(state.control)
    adjusted = None
    if state.periods is not None:
        sums = state.periods.arms[rows["number"]]
        adjusted = sums[:, TOTAL] / np.where(pulls == 0, 1.0, sums[:, EXPOSURE])
    own = state.by_period.settle().products if isinstance(state.by_period, DailyRewards) else None
    products = None if own is None else [own.get(arm, Products()) for arm in names]
    return ArmTotals(
        names, rows, totals, low, high, offset, bounded, retired, control, means, adjusted, products
    )

"""The table of an agent's arms with its intervals, the bound of its regret, and its gain over the control."""

from typing import Any

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats
from lowregret.analysis.confidence_sequences import MIN_PULLS, normal_width, single_intervals
from lowregret.analysis.mean_differences import difference_intervals
from lowregret.analysis.nonnegative_means import MIN_EFFECTIVE, lower_ends
from lowregret.engine.kernels.state import CLOSED
from lowregret.online.agent_state import AgentState
from lowregret.online.arm_totals import arm_totals

ERROR_RATE = 0.05
"""The probability that an interval ever misses the true mean."""
ADDED_VARIANCE = 4.0
"""Added to the sum of the variances of rewards in [0, 1], since the first ones at a low rate may all be 0."""
OPTIONAL_ARM_COLUMNS = {"adjusted": pl.Float64, "prior": pl.Int64}
"""Columns that only some tables have: means adjusted for periods, and the weights of priors."""
ARM_COLUMNS = {
    "arm": pl.String,
    "pulls": pl.Int64,
    "pending": pl.Int64,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "state": pl.String,
    "share": pl.Float64,
    "to_leader_low": pl.Float64,
    "to_leader_high": pl.Float64,
    "to_control_low": pl.Float64,
    "to_control_high": pl.Float64,
}


def summary_table(state: AgentState) -> pl.DataFrame:
    """Return one row per arm, in the order in which the arms were added."""
    arms, settings = arm_totals(state), state.settings
    scale = settings.unscaled(1.0) - settings.unscaled(0.0)
    start, pulls = settings.unscaled(arms.offset), arms.totals.pulls
    few = arms.effective < MIN_EFFECTIVE
    incomparable = few | (pulls == 0)
    lows, highs = single_intervals(arms.low, arms.high, arms.bounded, ERROR_RATE)
    if arms.products is not None:
        began = arms.rows["forgotten"] <= arms.rows["prior"]  # products begin with the first reward
        lows = np.where(began, lower_ends(arms.products, ERROR_RATE / 2) - arms.offset, -np.inf)
        highs = np.where(few, np.inf, highs)
    # Means that change have no interval; nor have rewards of which an unknown number may be of any size.
    none = state.periods is not None or (settings.knows_successes_first and not arms.bounded)
    differences = [
        _unless(np.isinf(end) | incomparable | (place is not None and incomparable[place]), scale * end)
        for place in (arms.leader, arms.control)
        for end in difference_intervals(
            arms.low, arms.high, None if none else place, arms.bounded, ERROR_RATE
        )
    ]
    columns = [
        arms.names,
        arms.rows["pulls"],
        arms.rows["pending"],
        _unless(pulls == 0, settings.unscaled(0.0) + scale * arms.means),
        *(_unless(np.isinf(end) | (pulls == 0) | none, start + scale * end) for end in (lows, highs)),
        [_state(state, arm, row) for arm, row in zip(arms.names, arms.rows, strict=True)],
        (arms.rows["pulls"] + arms.rows["pending"]) / max(state.time, 1),
        *differences,
    ]
    table = pl.DataFrame(dict(zip(ARM_COLUMNS, columns, strict=True)), schema=ARM_COLUMNS)
    if arms.adjusted is not None:
        means = settings.unscaled(0.0) + scale * arms.adjusted
        table = table.with_columns(pl.Series("adjusted", _unless(pulls == 0, means), pl.Float64))
    priors = settings.priors()
    weights = [priors[arm].weight if arm in priors else 0 for arm in arms.names]
    return table.with_columns(pl.Series("prior", weights, pl.Int64)) if priors else table


def _unless(missing: Any, values: Floats) -> list[float | None]:
    """Return values as a list with None for missing ones."""
    return [
        None if none else float(value)
        for none, value in zip(np.broadcast_to(missing, values.shape), values, strict=True)
    ]


def regret_bound(state: AgentState) -> float | None:
    """Compute an upper bound of the regret so far; None without a range, with periods and after a reset.

    It holds at all times with probability 95%: each arm has a confidence sequence of error 0.05 / K. A pull
    loses at most the highest upper end of the other arms less its own lower end.
    """
    settings = state.settings
    if settings.reward_range is None or settings.period is not None:
        return None
    arms = arm_totals(state)
    if arms.has_forgotten:
        return None
    size = len(arms.names)
    lows, highs = single_intervals(arms.low, arms.high, True, ERROR_RATE / size)
    highs = np.where(arms.retired, 0.0, highs)
    best = int(highs.argmax())
    others = np.full(size, highs[best])
    others[best] = np.delete(highs, best).max(initial=0.0)
    low, high = settings.reward_range
    pulls = arms.rows["pulls"] + arms.rows["pending"]
    return float(np.maximum(others - lows, 0.0) @ pulls) * (high - low)


def gain_over_control(state: AgentState) -> dict[str, float] | None:
    """Estimate what the policy has earned more than the control arm would have on the same decisions.

    The control arm has a fixed share of the decisions at random, so the means of both groups can be compared.
    The interval is asymptotic. None without a control arm or enough rewards in each group, for a policy that
    resets statistics, where successes are known before failures, and where rewards without a range are too
    few or too uneven.
    """
    arms = arm_totals(state)
    totals = arms.totals
    if arms.control is None or arms.has_forgotten or state.settings.knows_successes_first:
        return None
    of_control = np.arange(len(arms.names)) == arms.control
    groups = [
        (totals.pulls[of].sum(), totals.total[of].sum(), (totals.pulls * totals.variances)[of].sum())
        for of in (~of_control, of_control)
    ]
    if min(map(arms.effective_of, (~of_control, of_control))) < MIN_EFFECTIVE:
        return None
    counts, sums, variances = np.array(groups).T  # of the policy and of the control
    if counts.min() < (2 if arms.bounded else MIN_PULLS):
        return None
    scale = state.settings.unscaled(1.0) - state.settings.unscaled(0.0)
    means, added = sums / counts, ADDED_VARIANCE if arms.bounded else 0.0
    widths = normal_width(counts, np.sqrt((variances + added) / counts), ERROR_RATE / 2)
    gain, width = counts[0] * scale * (means[0] - means[1]), counts[0] * scale * widths.sum()
    return {"estimate": float(gain), "low": float(gain - width), "high": float(gain + width)}


def _state(state: AgentState, arm: str, row: np.void) -> str:
    if arm == state.control:
        return "control"
    if arm in state.hidden:
        return "retired"
    if row["active"]:
        return "active"
    policy = state.settings.policy
    permanent = policy.eliminates_permanently and not policy.overrides("list_index")
    return "eliminated" if permanent and row["eliminated"] != CLOSED else "inactive"

"""The summary table of an agent's arms."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
import polars as pl

from lowregret.engine.kernels.state import CLOSED
from lowregret.engine.prior import without_prior
from lowregret.online.agent_state import AgentState
from lowregret.policies.views import arm_view

ERROR_RATE = 0.05
"""The probability that an interval ever misses the true mean."""
PRIOR_REWARDS = 126.0
"""The prior number of rewards of the mixture, which makes it tightest at about 1,000."""
ADDED_VARIANCE = 4.0
"""Added to the sum of the variances of rewards in [0, 1], since the first ones at a low rate may all be 0."""
COLUMNS = {
    "arm": pl.String,
    "pulls": pl.Int64,
    "pending": pl.Int64,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "state": pl.String,
    "share": pl.Float64,
}


def half_width(pulls: int, deviation: float, error_rate: float = ERROR_RATE) -> float:
    """Compute the half-width of a confidence sequence for a mean, valid at all times simultaneously.

    The normal mixture of Robbins, "Statistical methods related to the law of the iterated logarithm", Annals
    of Mathematical Statistics 41, 1970, for rewards that are sub-Gaussian with this deviation; rewards in
    [0, 1] are with 1/2. The probability that it ever misses the mean is at most ``error_rate``.

    Examples
    --------
    >>> from lowregret.online.arm_summary import half_width
    >>> round(half_width(1_000, 0.5), 4), round(half_width(10, 0.5), 4)
    (0.048, 1.4363)
    """
    count = pulls + PRIOR_REWARDS
    return deviation * sqrt(count * log(count / (PRIOR_REWARDS * error_rate**2))) / pulls


def summary_table(state: AgentState) -> pl.DataFrame:
    """Return one row per arm, in the order in which the arms were added."""
    rows = sorted(all_rows(state), key=lambda pair: int(pair[1]["number"]))
    total = max(state.time, 1)
    table = pl.DataFrame(
        [_summary_row(state, arm, row, total) for arm, row in rows], schema=COLUMNS, orient="row"
    )
    priors = state.settings.priors()
    weights = [priors[arm].weight if arm in priors else 0 for arm, _ in rows]
    return table.with_columns(pl.Series("prior", weights, pl.Int64)) if priors else table


def regret_bound(state: AgentState) -> float | None:
    """Compute an upper bound of the regret so far; None for rewards of unknown range.

    With probability 95% it holds at all times while the arms stay the same: each arm has a confidence
    sequence that misses its mean with probability 0.05 / K. An arm loses at most the difference between the
    highest upper end of the others and its own lower end at each pull, and nothing if it is the best. Retired
    arms are no rivals. Decisions that were discarded do not count.
    """
    settings = state.settings
    if settings.reward_range is None:
        return None
    rows = all_rows(state)
    error_rate = ERROR_RATE / len(rows)
    lows, highs, pulls = np.zeros(len(rows)), np.ones(len(rows)), np.zeros(len(rows))
    for place, (arm, row) in enumerate(rows):
        _, rewards, mean, *_ = arm_view(settings.policy, row.reshape(1), 0)
        if rewards:
            width = half_width(rewards, 0.5, error_rate)
            lows[place], highs[place] = max(mean - width, 0.0), min(mean + width, 1.0)
        if arm in state.retired and arm != state.control:
            highs[place] = 0.0
        pulls[place] = int(row["pulls"]) + int(row["pending"])
    best = int(highs.argmax())
    others = np.full(len(rows), highs[best])
    others[best] = np.delete(highs, best).max(initial=0.0)
    low, high = settings.reward_range
    return float(np.maximum(others - lows, 0.0) @ pulls) * (high - low)


def gain_over_control(state: AgentState) -> dict[str, float] | None:
    """Estimate what the policy has earned more than the control arm would have on the same decisions.

    The control arm has a fixed share of the decisions, at random. So the means of both groups can be
    compared, whatever the policy chose, and also if the rewards change with time. Each mean has a confidence
    sequence with the variance within the arms; for rewards in a range see ``ADDED_VARIANCE``. Both hold at
    all times with probability 95%, asymptotically.

    None without a control arm or two rewards in each group, and for a policy that resets statistics.
    """
    groups = np.zeros((2, 3))  # rewards, their sum, and the sum of their variances: policy and control
    for arm, row in all_rows(state):
        _, pulls, mean, variance, *_ = arm_view(state.settings.policy, row.reshape(1), 0)
        groups[int(arm == state.control)] += pulls, pulls * mean, pulls * variance
        if row["reset"]:
            return None
    if groups[:, 0].min() < 2:
        return None
    counts, scale = groups[:, 0], state.settings.unscaled(1.0) - state.settings.unscaled(0.0)
    means, added = groups[:, 1] / counts, ADDED_VARIANCE if state.settings.reward_range else 0.0
    deviations = np.sqrt((groups[:, 2] + added) / counts)
    widths = [half_width(int(n), s, ERROR_RATE / 2) for n, s in zip(counts, deviations, strict=True)]
    gain, width = counts[0] * scale * (means[0] - means[1]), counts[0] * scale * sum(widths)
    return {"estimate": float(gain), "low": float(gain - width), "high": float(gain + width)}


def all_rows(state: AgentState) -> list[tuple[str, np.void]]:
    """Return the names and the rows of all arms without their priors, retired ones last."""
    retired = ((arm, row[0]) for arm, row in state.retired.items())
    rows, priors = [*zip(state.names, state.rows, strict=True), *retired], state.settings.priors()
    return [(arm, without_prior(row, priors[arm]) if arm in priors else row) for arm, row in rows]


def _summary_row(state: AgentState, arm: str, row: np.void, total: int) -> tuple[Any, ...]:
    """Return one row of the table, with means in the user's units."""
    settings = state.settings
    _, pulls, mean, variance, *_ = arm_view(settings.policy, row.reshape(1), 0)
    bounded = settings.reward_range is not None
    low = high = None
    if bounded and pulls:
        width = half_width(pulls, 0.5)
        low, high = max(mean - width, 0.0), min(mean + width, 1.0)
    elif pulls > 1 and variance > 0.0:
        width = half_width(pulls, sqrt(variance))
        low, high = mean - width, mean + width
    ends = [None if end is None else settings.unscaled(end) for end in (mean if pulls else None, low, high)]
    share = (int(row["pulls"]) + int(row["pending"])) / total
    return arm, int(row["pulls"]), int(row["pending"]), *ends, _state(state, arm, row), share


def _state(state: AgentState, arm: str, row: np.void) -> str:
    if arm == state.control:
        return "control"
    if arm in state.retired:
        return "retired"
    if row["active"]:
        return "active"
    policy = state.settings.policy
    permanent = policy.eliminates_permanently and not policy.overrides("list_index")
    return "eliminated" if permanent and row["eliminated"] != CLOSED else "inactive"

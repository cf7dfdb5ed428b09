"""The summary table of an agent's arms."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
import polars as pl

from lowregret.engine.state import CLOSED
from lowregret.online.agent_state import AgentState
from lowregret.policies.views import arm_view

MISSED = 0.05
"""The probability that an interval ever misses the true mean."""
PRIOR = 126.0
"""The prior number of rewards of the mixture, which makes it tightest at about 1,000."""
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


def half_width(pulls: int, deviation: float, missed: float = MISSED) -> float:
    """Compute the half-width of a confidence sequence for a mean, valid at all times simultaneously.

    The normal mixture of Robbins, "Statistical methods related to the law of the iterated logarithm", Annals
    of Mathematical Statistics 41, 1970, for rewards that are sub-Gaussian with this deviation; rewards in
    [0, 1] are with 1/2. The probability that it ever misses the mean is at most ``missed``.

    Examples
    --------
    >>> from lowregret.online.arm_summary import half_width
    >>> round(half_width(1_000, 0.5), 4), round(half_width(10, 0.5), 4)
    (0.048, 1.4363)
    """
    count = pulls + PRIOR
    return deviation * sqrt(count * log(count / (PRIOR * missed**2))) / pulls


def summary_table(state: AgentState) -> pl.DataFrame:
    """Return one row per arm, in the order in which the arms were added."""
    retired = ((arm, row[0]) for arm, row in state.retired.items())
    rows = [*zip(state.names, state.rows, strict=True), *retired]
    rows.sort(key=lambda pair: int(pair[1]["number"]))
    total = max(state.time, 1)
    return pl.DataFrame(
        [_summary_row(state, arm, row, total) for arm, row in rows],
        schema=COLUMNS,
        orient="row",
    )


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
    rows = [
        *zip(state.names, state.rows, strict=True),
        *((arm, row[0]) for arm, row in state.retired.items()),
    ]
    missed = MISSED / len(rows)
    lows, highs, pulls = np.zeros(len(rows)), np.ones(len(rows)), np.zeros(len(rows))
    for place, (arm, row) in enumerate(rows):
        _, known, mean, *_ = arm_view(settings.policy, row.reshape(1), 0)
        if known:
            wide = half_width(known, 0.5, missed)
            lows[place], highs[place] = max(mean - wide, 0.0), min(mean + wide, 1.0)
        if arm in state.retired and arm != state.control:
            highs[place] = 0.0
        pulls[place] = int(row["pulls"]) + int(row["pending"])
    best = int(highs.argmax())
    others = np.full(len(rows), highs[best])
    others[best] = np.delete(highs, best).max(initial=0.0)
    low, high = settings.reward_range
    return float(np.maximum(others - lows, 0.0) @ pulls) * (high - low)


def _summary_row(state: AgentState, arm: str, row: np.void, total: int) -> tuple[Any, ...]:
    """Return one row of the table, with means in the user's units."""
    settings = state.settings
    _, pulls, mean, variance, *_ = arm_view(settings.policy, row.reshape(1), 0)
    bounded = settings.reward_range is not None
    low = high = None
    if bounded and pulls:
        wide = half_width(pulls, 0.5)
        low, high = max(mean - wide, 0.0), min(mean + wide, 1.0)
    elif pulls > 1 and variance > 0.0:
        wide = half_width(pulls, sqrt(variance))
        low, high = mean - wide, mean + wide
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

"""What an agent knows of its arms, as a table."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
import polars as pl

from lowregret.engine.state import CLOSED
from lowregret.online.state import Core
from lowregret.policies.views import arm_view

MISSED = 0.05
"""How often an interval may miss the true mean, at any time at all."""
PRIOR = 126.0
"""How many rewards the mixture starts with; so it is tightest at about 1,000."""


def reach(pulls: int, deviation: float) -> float:
    """Give how far the mean of rewards may lie from the true mean, with 95% confidence at all times at once.

    It is the normal mixture of Robbins, "Statistical methods related to the law of the iterated logarithm",
    Annals of Mathematical Statistics 41, 1970, for rewards that are sub-Gaussian with this deviation; those
    in [0, 1] are with 1/2.

    Examples
    --------
    >>> from lowregret.online.arm_summary import reach
    >>> round(reach(1_000, 0.5), 4), round(reach(10, 0.5), 4)
    (0.048, 1.4363)
    """
    count = pulls + PRIOR
    return deviation * sqrt(count * log(count / (PRIOR * MISSED**2))) / pulls


def summary_table(core: Core) -> pl.DataFrame:
    """Give one row per arm, in the order in which the arms came."""
    rows = [*zip(core.names, core.rows, strict=True), *((arm, row[0]) for arm, row in core.retired.items())]
    rows.sort(key=lambda pair: int(pair[1]["number"]))
    pulled = max(core.time, 1)
    return pl.DataFrame(
        [_line(core, arm, row, pulled) for arm, row in rows],
        schema={
            "arm": pl.String,
            "pulls": pl.Int64,
            "pending": pl.Int64,
            "mean": pl.Float64,
            "low": pl.Float64,
            "high": pl.Float64,
            "state": pl.String,
            "share": pl.Float64,
        },
        orient="row",
    )


def _line(core: Core, arm: str, row: np.void, pulled: int) -> tuple[Any, ...]:
    """Give one row of the table; the means in the user's units."""
    settings = core.settings
    _, pulls, mean, variance, _ = arm_view(settings.policy, row.reshape(1), 0)
    bounded = settings.reward_range is not None
    low = high = None
    if bounded and pulls:
        wide = reach(pulls, 0.5)
        low, high = max(mean - wide, 0.0), min(mean + wide, 1.0)
    elif pulls > 1 and variance > 0.0:
        wide = reach(pulls, sqrt(variance))
        low, high = mean - wide, mean + wide
    ends = [None if end is None else settings.unscaled(end) for end in (mean if pulls else None, low, high)]
    share = (int(row["pulls"]) + int(row["pending"])) / pulled
    return arm, int(row["pulls"]), int(row["pending"]), *ends, _state(core, arm, row), share


def _state(core: Core, arm: str, row: np.void) -> str:
    if arm in core.retired:
        return "retired"
    if row["active"]:
        return "in play"
    if row["eliminated"] == CLOSED:
        return "closed"
    policy = core.settings.policy
    return "eliminated" if policy.eliminates_permanently and not policy.overrides("list_index") else "waiting"

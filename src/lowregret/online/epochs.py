"""A policy that needs the horizon, when nobody knows it: epochs of doubling length.

This is our extension: the paper of EUCBV leaves a version without horizon open. In each epoch the policy
plays with the time at which the epoch ends as its horizon. The statistics are kept, the rounds begin anew,
and the arms that were eliminated are opened again: an elimination is only as good as the horizon it was made
for.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from lowregret.engine.state import Rows, activate, first_round
from lowregret.policies import NEVER, Policy

SHORTEST = 1_000


def first_horizon(arms: int) -> int:
    """Give the end of the first epoch: 1,000, or K^2.4 if that is more, where EUCBV's guarantee begins.

    Examples
    --------
    >>> from lowregret.online.epochs import first_horizon
    >>> first_horizon(3), first_horizon(100)
    (1000, 63096)
    """
    least: int = ceil(arms**2.4)
    return max(SHORTEST, least)


def start_epoch(policy: Policy, rows: Rows, horizon: int, now: int = 0) -> Any:
    """Start an epoch at time ``now``: activate the arms, return the first round, its end counted from now."""
    round = first_round(policy, len(rows), horizon)
    activate(policy, rows)
    rows["listed"] = False
    return round._replace(until=round.until + now) if now and round.until < NEVER else round

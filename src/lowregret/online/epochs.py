"""Epochs of doubling length, for a policy that needs the horizon when it is unknown.

This is our extension: the paper of EUCBV leaves an anytime version open. In each epoch the horizon of the
policy is the time at which the epoch ends. The statistics are kept, the rounds start again, and eliminated
arms become active again, because an elimination is valid only for the horizon it was made for.
"""

from math import ceil
from typing import Any

from lowregret.engine.kernels.state import Rows
from lowregret.engine.start import activate, first_round
from lowregret.policies import NEVER, Policy

MIN_FIRST_HORIZON = 1_000


def first_horizon(arms: int) -> int:
    """Return the end of the first epoch: 1,000, or K^2.4 if larger, from where EUCBV's guarantee holds."""
    horizon: int = ceil(arms**2.4)
    return max(MIN_FIRST_HORIZON, horizon)


def start_epoch(policy: Policy, rows: Rows, horizon: int, now: int = 0) -> Any:
    """Start an epoch at time ``now``: activate the arms, return the first round, its end counted from now."""
    round = first_round(policy, len(rows), horizon)
    activate(policy, rows)
    rows["listed"] = False
    return round._replace(until=round.until + now) if now and round.until < NEVER else round

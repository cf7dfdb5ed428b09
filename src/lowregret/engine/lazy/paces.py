"""The paces of a policy with a separable width: the function of time that all arms share, at each step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lowregret.engine.state import Floats, Integers
from lowregret.policies import Policy

KEPT = 2**16
"""How many paces, from the first step on, are kept for the runs that follow; these fit into a fast cache."""
STRETCH = 256
"""For how many steps the paces are computed at a time."""


class Paces(NamedTuple):
    """The paces of the first steps, of which so many are ``known``, then those of a later stretch."""

    values: Floats
    known: Integers


def new_paces(policy: Policy, horizon: int) -> Paces:
    """Return room for paces; none for a policy whose width is not separable."""
    size = min(horizon, KEPT) + STRETCH if policy.separable_width else 0
    return Paces(np.zeros(size), np.zeros(1, np.int64))

"""The rewards on which every policy is played: 8 arms, 3,000 steps, a fixed seed."""

from __future__ import annotations

from typing import Any

import numpy as np

STEPS = 3_000
LOWEST = (0.10, 0.05, 0.30, 0.00, 0.38, 0.30, 0.50, 0.25)
WIDTHS = (0.40, 0.70, 0.30, 0.95, 0.24, 0.70, 0.20, 0.60)
SEED = 14


def continuous() -> Any:
    """Return the table of rewards: entry (i, n) is the reward of the n-th pull of arm i.

    Arm i has the uniform distribution on [LOWEST[i], LOWEST[i] + WIDTHS[i]]: means 0.30 to 0.65, and
    variances that differ by a factor of 22.6. No two rewards are equal, so two different indices rarely are.
    """
    draws = np.random.default_rng(SEED).random((len(LOWEST), STEPS))
    return np.array(LOWEST)[:, None] + np.array(WIDTHS)[:, None] * draws


def binary() -> Any:
    """Return a table of zeros and ones with the means of ``continuous``, for policies that need it."""
    draws = np.random.default_rng(SEED + 1).random((len(LOWEST), STEPS))
    return (draws < continuous()).astype(float)

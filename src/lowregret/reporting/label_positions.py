"""Where to put labels so that they do not overlap."""

from __future__ import annotations

from collections.abc import Sequence


def spread(wanted: Sequence[float], gap: float, height: float) -> list[float]:
    """Move labels apart, each as little as possible.

    Parameters
    ----------
    wanted : sequence of float
        Where the labels would be best, from the highest down.
    gap : float
        How far apart they must be.
    height : float
        They stay between 0 and this, as far as there is room.

    Returns
    -------
    list of float
        Where they go, in the same order.

    Examples
    --------
    >>> from lowregret.reporting.label_positions import spread
    >>> spread([90, 52, 50, 10], gap=10, height=100)
    [90.0, 56.0, 46.0, 10.0]
    """
    # Measured from where an unbroken stack would have it, a label may lie no higher than the one
    # before: least squares under that condition, by pooling the groups that break it.
    groups: list[list[float]] = []
    for position, place in enumerate(wanted):
        groups.append([place + position * gap])
        while len(groups) > 1 and _mean(groups[-1]) > _mean(groups[-2]):
            groups[-2:] = [groups[-2] + groups[-1]]
    levels = [_mean(group) for group in groups for _ in group]
    lowest = gap * (len(wanted) - 1)
    return [min(max(level, lowest), max(height, lowest)) - i * gap for i, level in enumerate(levels)]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)

"""Where to put labels so that they do not overlap."""

from __future__ import annotations

from collections.abc import Sequence


def spread(wanted: Sequence[float], gap: float, height: float) -> list[float]:
    """Move labels, which are given from the highest down, at least ``gap`` apart, each as little as possible.

    They stay between 0 and ``height``, as far as there is room.
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

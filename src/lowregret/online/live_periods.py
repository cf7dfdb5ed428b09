"""What an agent writes down of rewards by period, as they come; ``period_rewards`` reads it for people.

Where means are adjusted, that is ``Periods``, and the estimates are those of simulations; elsewhere it is
``Days``. The arrays of ``Periods`` grow with the number of periods. A period of a time has a place in them
once a reward counts in it, so that a time without decisions takes no room.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np

from lowregret.analysis.matched_rewards import FIRST_REWARDS, Matched, match, match_all, new_matched
from lowregret.analysis.nonnegative_means import RATES, Products, add_rewards
from lowregret.engine.kernels.periods import (
    EXPOSURE,
    LATEST,
    PULLS,
    SQUARES,
    TOTAL,
    Periods,
    adjust_all,
    new_periods,
)
from lowregret.online.agent_settings import Settings
from lowregret.online.decisions import Decision

DAY = 86_400.0
MAX_CELLS = 10_000
"""For so many pairs of a day and an arm rewards are counted by day."""
SETTLE_EVERY = 256
"""After how many rewards, more or less, these are added to those of their days."""
MONDAY = -3 * DAY
"""From when periods of a time are counted: Monday, 29 December 1969, at midnight UTC."""
FIRST_PERIODS = 16
"""How many periods a new agent has room for; it doubles when there are more."""
ESTIMATES = "arms", "factors", "excess", "state", "seen"
"""The fields of ``Periods`` that are computed anew as rewards become known."""
MAX_MATCHED = 20
"""Up to how many arms the rewards of pairs are matched: each period has four numbers for each pair."""


class Days:
    """The rewards by the day of their decisions, where means are not adjusted.

    ``by_day`` has the number of rewards and their sum, by day and arm, except for those that are
    ``recent``: decision and reward by the number of the decision. To set one of these again changes nothing.
    ``products`` has what lower ends of means follow from, by arm; None for rewards within a range, and from
    the first negative reward on.
    """

    __slots__ = ("by_day", "products", "recent")

    def __init__(self, products: dict[str, Products] | None) -> None:
        self.by_day: dict[float, dict[str, tuple[int, float]]] = {}
        self.products = products
        self.recent: dict[int, tuple[Decision, float]] = {}

    def with_recent(self, settings: Settings) -> "Days":
        """Return days without recent rewards; these are added to ``by_day`` one by one."""
        days = Days(self._later_products())
        own: dict[float, dict[str, tuple[int, float]]] = {}
        days.by_day = {**self.by_day}
        size = sum(map(len, self.by_day.values()))
        clip = settings.reward_range if settings.outside == "clip" else None
        for decision, reward in self.recent.values():
            if (time := decision.timestamp) is None:
                continue
            if clip:
                reward = min(max(reward, clip[0]), clip[1])
            day, arm = time // DAY, decision.arm
            cells = own.get(day) or {**self.by_day.get(day, {})}
            pulls, total = cells.get(arm, (0, 0.0))
            size += not pulls
            if pulls or size <= MAX_CELLS:
                cells[arm] = pulls + 1, total + reward
                own[day] = days.by_day[day] = cells
        return days

    def _later_products(self) -> dict[str, Products] | None:
        """Return the products after the recent rewards."""
        rewards: dict[str, list[float]] = {}
        if self.products is None:
            return None
        for decision, reward in self.recent.values():
            if reward < 0.0:
                return None
            rewards.setdefault(decision.arm, []).append(reward)
        if not rewards:
            return self.products
        before = [self.products.get(arm, Products()) for arm in rewards]
        new = add_rewards(before, list(rewards.values()))
        return {**self.products, **dict(zip(rewards, new, strict=True))}

    def total(self) -> int:
        """Return how many rewards are counted by day."""
        return sum(pulls for rewards in self.by_day.values() for pulls, _ in rewards.values())


def empty_days(settings: Settings) -> Days:
    """Return the days of a new agent."""
    counts_products = settings.reward_range is None and settings.period is None
    return Days({} if counts_products else None)


def empty_periods(settings: Settings, arms: int) -> Periods | None:
    """Return room for the rewards of a new agent, None if its means are not adjusted."""
    if settings.period is None:
        return None
    length = settings.period if isinstance(settings.period, int) else 1
    return new_periods(length, arms, FIRST_PERIODS)


def date_of(timestamp: float | None, length: timedelta) -> int:
    """Return the number of the period of a moment."""
    return int(((timestamp or 0.0) - MONDAY) // length.total_seconds())


def grow_periods(periods: Periods, arms: int, columns: int) -> Periods:
    """Return a copy that has room for so many arms and periods at least."""
    rows, before = periods.counts.shape
    columns = before if columns <= before else max(2 * before, columns)
    copy = new_periods(periods.length, max(rows, arms), columns)
    for new, old in zip(copy[1:], periods[1:], strict=True):
        new[tuple(map(slice, old.shape))] = old
    return copy


class Matching(NamedTuple):
    """What a verdict compares, and rewards that are yet to be matched: number of the arm, period, reward."""

    matched: Matched
    rewards: list[tuple[int, int, float]]


def empty_matching(settings: Settings) -> Matching | None:
    """Return room for what a verdict compares, None without periods or with too many arms."""
    size = len(settings.arms)
    if settings.period is None or size > MAX_MATCHED:
        return None
    return Matching(new_matched(FIRST_PERIODS, size), [])


def fit_matching(matching: Matching | None, periods: Periods) -> Matching | None:
    """Return what a verdict compares with room for these arms and periods."""
    arms, columns = periods.counts.shape
    if matching is None or arms > MAX_MATCHED:
        return None
    if matching.matched.before.shape == (columns, 2, arms):
        return matching
    larger = new_matched(columns, arms)
    for new, old in zip(larger, matching.matched, strict=True):
        new[tuple(map(slice, old.shape))] = old
    return Matching(larger, matching.rewards)


def begin_period(
    matching: Matching, periods: Periods, rewards_so_far: int, period: int, undo: list[Any] | None
) -> Matching | None:
    """Return what a verdict compares, ready for a reward in a period, before ``periods`` has it.

    None for too many arms; the first rewards are not compared.
    """
    larger = fit_matching(matching, periods)
    if larger is None or rewards_so_far < FIRST_REWARDS:
        return larger
    before = larger.matched.before
    if not before[period].any():
        if undo is not None:
            undo += [(before, period, before[period].copy())]
        before[period] = periods.counts.sum(axis=1), periods.arms[:, TOTAL]
    return larger


def settle_matching(matching: Matching | None, is_compiled: bool) -> Matching | None:
    """Return what a verdict compares, with no rewards left to be matched."""
    if matching is None or not matching.rewards:
        return matching
    matched = Matched(*(values.copy() for values in matching.matched))
    if is_compiled:
        numbers, periods, rewards = zip(*matching.rewards, strict=True)
        match_all(*matched, np.array(numbers), np.array(periods), np.array(rewards, dtype=float))
    else:
        for number, period, reward in matching.rewards:
            match(matched, number, period, reward)
    return Matching(matched, [])


def compile_matching() -> None:
    """Compile what matches rewards, or load its code, so that no call has to wait for it later."""
    none = np.zeros(0, np.int64)
    match_all(*new_matched(2, 2), none, none, np.zeros(0))


def is_full(matching: Matching) -> bool:
    """Return whether there are many rewards to be matched, for arrays that must be copied for that."""
    return len(matching.rewards) >= max(SETTLE_EVERY, matching.matched.used.size // 16)


def copy_estimates(periods: Periods) -> Periods:
    """Return periods whose estimates may change; the rewards are the same arrays."""
    estimates = {name: getattr(periods, name).copy() for name in ESTIMATES}
    return periods._replace(**estimates)


def to_json(periods: Periods, dates: dict[int, int], matching: Matching | None) -> dict[str, Any]:
    """Return what a snapshot has beside the rows of the arms; no reward may be left to be matched."""
    used, pairs = int(periods.state[LATEST]) + 1, {}
    if matching is not None:
        pairs = {"matched": [values[:used].ravel().tolist() for values in matching.matched]}
    return {
        **pairs,
        "counts": periods.counts[:, :used].astype(np.int64).tolist(),
        "totals": periods.totals[:, :used].tolist(),
        "sums": periods.arms[:, : SQUARES + 1].tolist(),
        "exposure": periods.arms[:, EXPOSURE].tolist(),
        "factors": periods.factors[:used].tolist(),
        "excess": periods.excess.tolist(),
        "state": periods.state.tolist(),
        "dates": [*dates],
    }


JSON_TYPES = {
    "matched": [[float]],
    "sums": [[float]],
    **{"counts": [[int]], "totals": [[float]], "exposure": [float], "factors": [float]},
    **{"excess": [float], "state": [int], "dates": [float]},
}
"""The types of ``to_json``."""


def from_json(settings: Settings, parts: dict[str, Any], arms: Sequence[Any]) -> Periods:
    """Return the periods of a snapshot with these tables of arms; a ``ValueError`` says what is damaged."""
    columns = [
        np.concatenate([table[key] for table in arms]) for key in ("number", "pulls", "total", "squares")
    ]
    order = np.argsort(columns[0])
    pulls, *sums = (column[order] for column in columns[1:])  # 0.1.0 stored these about 0, and nowhere else
    periods = empty_periods(settings, len(order))
    assert periods is not None
    periods = grow_periods(periods, 0, len(parts["factors"]))
    size, used = len(order), len(parts["factors"])
    parts = {"sums": np.transpose(sums), **parts}
    shapes = {"counts": (size, used), "totals": (size, used), "exposure": (size,), "factors": (used,)}
    for key, shape in {**shapes, "sums": (size, 2), "excess": (1,), "state": (5,)}.items():
        if np.shape(parts[key]) != shape:
            raise ValueError(f"{key} of periods must have the shape {shape}, got {np.shape(parts[key])}")
    periods.counts[:, :used], periods.totals[:, :used] = parts["counts"], parts["totals"]
    periods.arms[:, [TOTAL, SQUARES]] = parts["sums"]
    periods.arms[:, EXPOSURE], periods.arms[:, PULLS] = parts["exposure"], pulls
    periods.factors[:used] = parts["factors"]
    periods.excess[:], periods.state[:] = parts["excess"], parts["state"]
    if (periods.counts.sum(axis=1) != pulls).any() or periods.state[LATEST] + 1 != used:
        raise ValueError("the arms have other numbers of pulls in their periods than in total")
    if not periods.factors.all() or (periods.arms[pulls > 0, EXPOSURE] <= 0.0).any():
        raise ValueError("a factor of a period is 0")
    adjust_all(periods, settings.policy.warmup)
    return periods


def products_to_json(products: dict[str, Products]) -> dict[str, list[float]]:
    """Return the products of arms, each in one list."""
    return {
        arm: [own.pulls, own.first, own.unit, *own.mantissas, *own.exponents] for arm, own in products.items()
    }


def products_from_json(table: dict[str, list[float]], arms: set[str]) -> dict[str, Products]:
    """Return the products of these arms; a ``ValueError`` says what is damaged."""
    products, size = {}, len(RATES)
    for arm, row in table.items():
        if arm not in arms or len(row) not in (3, 3 + 2 * size) or not 0 <= row[1] <= row[0]:
            raise ValueError(f"the products of arm {arm!r} are incomplete, or the arm is unknown")
        pulls, first, unit = map(int, row[:3])
        mantissas, exponents = tuple(map(float, row[3 : 3 + size])), tuple(map(int, row[3 + size :]))
        if bool(first) != bool(mantissas) or any(not 0.5 <= part <= 1.0 for part in mantissas):
            raise ValueError(f"the products of arm {arm!r} are not positive numbers")
        products[arm] = Products(pulls, first, unit, mantissas, exponents)
    return products


def days_from_json(table: dict[str, Any], arms: set[str], products: dict[str, Products] | None) -> Days:
    """Return the rewards by day of these arms; a ``ValueError`` says what is damaged."""
    days = Days(products)
    for day, rewards in table.items():
        if (
            not day.isdecimal()
            or not arms >= rewards.keys()
            or any(len(cell) != 2 for cell in rewards.values())
        ):
            raise ValueError(f"the rewards of day {day} are incomplete, or of an unknown arm")
        days.by_day[float(day)] = {arm: (int(pulls), total) for arm, (pulls, total) in rewards.items()}
    return days


def matching_from_json(parts: dict[str, Any], periods: Periods) -> Matching | None:
    """Return what a verdict compares; None if an older lowregret stored the agent, or there are many arms."""
    if "matched" not in parts:
        return None
    arms, columns = periods.counts.shape
    matched, used = new_matched(columns, arms), len(parts["factors"])
    for whole, flat in zip(matched, parts["matched"], strict=True):
        whole[:used] = np.reshape(flat, whole[:used].shape)
    return Matching(matched, [])

"""The rewards of an agent by the day of their decisions, where means are not adjusted for periods.

They show whether rewards move from day to day (``period_rewards``). For rewards without a range the products
are counted along, from which lower ends of means follow (``analysis.nonnegative_means``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret.analysis.nonnegative_means import RATES, Products, add_rewards
from lowregret.online.agent_settings import Settings
from lowregret.online.decisions import Decision
from lowregret.online.live_periods import PeriodRewards

DAY = 86_400.0
MAX_CELLS = 10_000
"""For so many pairs of a day and an arm rewards are counted by day."""
SETTLE_EVERY = 256
"""After how many rewards these are added to those of their days."""
Cells = dict[str, tuple[int, float]]
"""The number of the rewards of each arm, and their sum."""


class Days(NamedTuple):
    """The rewards by day and arm, except for the ``recent`` ones: timestamp, arm and reward.

    ``products`` has what lower ends of means follow from, by arm; None for rewards within a range, and from
    the first negative reward on.
    """

    by_day: dict[float, Cells]
    products: dict[str, Products] | None
    recent: list[tuple[float | None, str, float]]


class DailyRewards:
    """The rewards of an agent by day, which ``AgentState`` saves, restores and commits as ``LivePeriods``."""

    __slots__ = ("_clip", "_ends", "days")
    periods = None  # no adjustment

    def __init__(self, settings: Settings) -> None:
        self._ends = settings.reward_range
        self._clip = self._ends if settings.outside == "clip" else None
        self.days = Days({}, {} if self._ends is None else None, [])

    def add_arm(self, number: int, compiled: bool) -> None:
        """Make room for an arm; days need none."""

    def add(self, decision: Decision, number: int, reward: float, scaled: float) -> None:
        """Add a reward, in the user's units."""
        if self._clip is not None:
            reward = min(max(reward, self._clip[0]), self._clip[1])
        self.days.recent.append((decision.timestamp, decision.arm, reward))

    def save(self) -> tuple[Any, ...]:
        return self.days, len(self.days.recent)

    def restore(self, saved: tuple[Any, ...]) -> None:
        self.days, size = saved
        del self.days.recent[size:]

    def commit(self, compiled: bool) -> None:
        if len(self.days.recent) >= SETTLE_EVERY:
            self.settle(compiled)

    def settle(self, compiled: bool = False) -> Days:
        """Add the recent rewards to those of their days, in one step that no interrupt divides."""
        by_day, products, recent = self.days
        if recent:
            self.days = Days(_with_rewards(by_day, recent), _later_products(products, recent), [])
        return self.days

    def table(self, numbers: dict[str, int]) -> PeriodRewards:
        by_day = self.settle().by_day
        days = sorted(by_day)
        counts, totals = np.zeros((2, len(numbers), len(days)))
        for column, day in enumerate(days):
            for arm, cell in by_day[day].items():
                counts[numbers[arm], column], totals[numbers[arm], column] = cell
        low, high = self._ends or (0.0, 1.0)
        return PeriodRewards([day * DAY for day in days], counts, (totals - low * counts) / (high - low))

    def incomplete(self, told: int) -> list[str]:
        """Return what of ``to_json`` does not have all rewards, of which there are ``told``."""
        by_day, products, _ = self.settle()
        parts = [] if sum(n for cells in by_day.values() for n, _ in cells.values()) == told else ["days"]
        if products is not None and sum(own.pulls for own in products.values()) != told:
            parts += ["products", "negative"]
        return parts

    def to_json(self, compiled: bool) -> dict[str, Any]:
        """Return what a snapshot has of it; a table without rewards is left out."""
        days, products, _ = self.settle()
        data: dict[str, Any] = {"days": {str(int(day)): cells for day, cells in days.items()}} if days else {}
        if products is not None:
            data["products"] = {
                arm: [own.pulls, own.first, own.unit, *own.mantissas, *own.exponents]
                for arm, own in products.items()
            }
        elif self._ends is None:
            data["negative"] = True
        return data

    def read_json(self, parts: dict[str, Any]) -> None:
        """Set the rewards to those of a snapshot; a ``ValueError`` says what is damaged."""
        tables = parts["arms"], parts["retired"]
        arms = {arm for table in tables for arm in table["name"]}
        by_day: dict[float, Cells] = {}
        for day, cells in parts.get("days", {}).items():
            if not (
                day.isdecimal() and arms >= cells.keys() and all(len(cell) == 2 for cell in cells.values())
            ):
                raise ValueError(f"the rewards of day {day} are incomplete, or of an unknown arm")
            by_day[float(day)] = {arm: (int(pulls), total) for arm, (pulls, total) in cells.items()}
        products = self.days.products
        if products is not None:
            products = {arm: _products(arm, row, arms) for arm, row in parts.get("products", {}).items()}
            # A snapshot of 0.1.0 has no products; of its rewards the first ones are known to be negative.
            first_rewards = [origin for table in tables for origin in table["origin"]]
            if "products" not in parts and ("negative" in parts or min(first_rewards) < 0.0):
                products = None
        self.days = Days(by_day, products, [])


def _with_rewards(
    by_day: dict[float, Cells], rewards: list[tuple[float | None, str, float]]
) -> dict[float, Cells]:
    """Return the rewards by day with more of them; the former ones stay as they are."""
    later, changed = {**by_day}, dict[float, Cells]()
    size = sum(map(len, by_day.values()))
    for time, arm, reward in rewards:
        if time is None:
            continue
        day = time // DAY
        cells = changed.get(day) or {**by_day.get(day, {})}
        pulls, total = cells.get(arm, (0, 0.0))
        size += not pulls
        if pulls or size <= MAX_CELLS:
            cells[arm] = pulls + 1, total + reward
            changed[day] = later[day] = cells
    return later


def _later_products(
    products: dict[str, Products] | None, rewards: list[tuple[float | None, str, float]]
) -> dict[str, Products] | None:
    if products is None or any(reward < 0.0 for _, _, reward in rewards):
        return None
    by_arm: dict[str, list[float]] = {}
    for _, arm, reward in rewards:
        by_arm.setdefault(arm, []).append(reward)
    new = add_rewards([products.get(arm, Products()) for arm in by_arm], list(by_arm.values()))
    return {**products, **dict(zip(by_arm, new, strict=True))}


def _products(arm: str, row: list[float], arms: set[str]) -> Products:
    """Return the products of an arm from their list in a snapshot."""
    size = len(RATES)
    if arm not in arms or len(row) not in (3, 3 + 2 * size) or not 0 <= row[1] <= row[0]:
        raise ValueError(f"the products of arm {arm!r} are incomplete, or the arm is unknown")
    pulls, first, unit = map(int, row[:3])
    mantissas, exponents = tuple(map(float, row[3 : 3 + size])), tuple(map(int, row[3 + size :]))
    if bool(first) != bool(mantissas) or any(not 0.5 <= part <= 1.0 for part in mantissas):
        raise ValueError(f"the products of arm {arm!r} are not positive numbers")
    return Products(pulls, first, unit, mantissas, exponents)

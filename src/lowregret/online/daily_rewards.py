"""The rewards of an agent by the day of their decisions, where means are not adjusted for periods.

They show whether rewards move from day to day (``period_rewards``). For rewards without a range the products
are counted along, from which lower ends of means follow (``analysis.nonnegative_means``).
"""

from typing import Any

from lowregret.analysis.nonnegative_means import RATES, Products, add_rewards
from lowregret.online.agent_settings import Settings
from lowregret.online.decisions import Decision

DAY = 86_400.0
MAX_CELLS = 10_000
"""For so many pairs of a day and an arm rewards are counted by day."""
SETTLE_EVERY = 256
"""After how many rewards, more or less, these are added to those of their days."""


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

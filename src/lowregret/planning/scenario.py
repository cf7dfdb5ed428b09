"""The scenario of a plan: the numbers that it is given, and the problems that are drawn from them."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Floats
from lowregret._common.text import count
from lowregret._common.validation import POSITIVE, VARIANCE, Rule, integer, number, seed_of
from lowregret.environments import Bandit, rhythm
from lowregret.environments.calendar import period_factors
from lowregret.environments.environment_string import rhythm_arguments
from lowregret.errors import InputError
from lowregret.planning.visitor_rewards import Conversions, NormalRewards, Sales, VisitorRewards
from lowregret.policies import Policy

MAX_WORK = 140_000_000
"""Runs times decisions times options that are simulated at most: half a minute on two cores."""
MIN_PLAN_RUNS = 40
"""With fewer runs the tail of the loss would be a guess; so few are made only where the traffic is huge."""
MAX_SCALED_SPREAD = 0.35
"""The relative spread up to which differences are scaled."""

_BETWEEN = Rule("{name} must lie between 0 and 1", lambda value: 0.0 < value < 1.0)


class Simulated(NamedTuple):
    """What is simulated: fewer decisions by ``scale``, differences larger by its root, as difficult."""

    runs: int
    decisions: int
    delay: int
    scale: float


@dataclass(frozen=True)
class Scenario:
    """The numbers of a plan; see `plan`."""

    options: int
    rewards: VisitorRewards
    lift: float
    visitors: int
    days: int
    delay_days: float
    spread: float
    alpha: float
    runs: int
    seed: int
    factors: tuple[float, ...] | None = None  # of each day, None for days that are alike

    @property
    def value(self) -> float:
        """The expected reward of a visitor."""
        return self.rewards.value

    @property
    def difference(self) -> float:
        """The smallest difference that matters."""
        return self.lift * self.value

    @property
    def total(self) -> int:
        return self.visitors * self.days

    @property
    def unit(self) -> str:
        return self.rewards.unit

    def simulated(self, policies: int) -> Simulated:
        """Return what is simulated of the traffic for a number of policies, so that it takes no minute."""
        max_decisions = MAX_WORK * 7 // (max(policies, 7) * self.options)
        excess = self.total * self.runs / max_decisions
        scale = min(max(excess, 1.0), max((MAX_SCALED_SPREAD / max(self.spread, self.lift)) ** 2, 1.0))
        scale = 1.0 if self.factors else scale  # a factor of a day cannot be scaled as a difference is
        runs = max(int(self.runs / max(excess / scale, 1.0)), min(MIN_PLAN_RUNS, self.runs))
        decisions = int(self.total / scale)
        if decisions * runs > 1.01 * max_decisions:
            allowed = int(max_decisions * scale / runs)
            raise InputError(
                f"plan: {self.total:,} visitors are too many to simulate in a minute with {self.options} "
                f"options and a lift of {self.lift:g}: use at most {allowed:,} visitors in all"
            )
        delay = round(self.delay_days * decisions / self.days)
        return Simulated(runs, max(decisions, self.options), delay, scale)

    def draw(self, run: int, simulated: Simulated) -> Bandit:
        """Draw the options of a run from the prior, as they are simulated."""
        random = np.random.default_rng([self.seed, run, 1])
        return self.rewards.options(random, self.options, self.spread * sqrt(simulated.scale))

    def cap_of(self, policy: Policy) -> float | None:
        """Return the size at which sales are capped for a policy, None where it sees rewards as they are."""
        return None if takes_variance(policy) else self.rewards.cap

    def on_days(self, bandit: Bandit) -> Bandit:
        """Return the options of a run as they are on each day."""
        return rhythm(bandit, self.visitors, factors=self.factors) if self.factors else bandit

    @property
    def day_factors(self) -> Floats:
        """By what the means are multiplied on each day."""
        return np.array(self.factors or (1.0,) * self.days)

    def lift_in_percent(self) -> str:
        return f"{100 * self.lift:,.4g}%"

    def large_lift(self) -> str:
        """Return how a lift of 1 or more was read, "" for a smaller one."""
        return _read_lift(self.lift, self.value) if self.lift >= 1.0 else ""

    def describe_delay(self) -> str:
        return f"{self.delay_days:g} day{'' if self.delay_days == 1 else 's'}"

    def _describe_rates(self) -> str:
        if not self.factors:
            return "the rates do not change with time"
        return (
            f"the rates of all options are multiplied by a factor of the day, from {min(self.factors):.3g} "
            f"to {max(self.factors):.3g},"
        )

    def describe(self, simulated: Simulated) -> list[str]:
        """Return what was assumed, one sentence per assumption."""
        sentences = [
            self.rewards.describe(self.options, self.spread),
            f"{self.visitors:,} visitors come {'in' if self.days == 1 else 'on each of'} "
            f"{count(self.days, 'day')}, evenly; {self._describe_rates()} and are the same for "
            "every visitor.",
            f"The reward of a visitor is known {self.describe_delay()} later, that of every visitor, as with "
            "matures_after."
            if self.delay_days
            else "The reward of a visitor is known before the next one.",
            f"Loss counts within the {count(self.days, 'day')} and against the best option of each run.",
            f"{simulated.runs:,} runs, seed {self.seed}; every policy plays on the same options and rewards.",
        ]
        if simulated.scale > 1.0:
            sentences.append(
                f"Decisions are fewer by a factor of {simulated.scale:.2f} and differences larger by its "
                "square root, at which the problem is as difficult; losses and days are those of the traffic "
                "as given."
            )
        return sentences


def _read_lift(lift: float, value: float) -> str:
    """Return how a lift is read, and how one of so many percent is written."""
    meant = f" (write {lift / 100:g} for {lift:g}%)" if lift >= 1.0 else ""
    return f"a lift of {lift:g} is {100 * lift:,.4g}%{meant}, from {value:g} to {value * (1 + lift):.3g}"


def _day_factors(pattern: object, days: int) -> tuple[float, ...] | None:
    """Return the factor of each day of a pattern such as ``weekend=1.3``."""
    if pattern is None:
        return None
    if not isinstance(pattern, str):
        raise InputError(f"plan: rhythm must be a string such as 'weekend=1.3', got {pattern!r}")
    return tuple(period_factors(**rhythm_arguments(pattern) | {"periods": days}).tolist())


def takes_variance(policy: Policy) -> bool:
    """Return whether a policy is given the variance of the rewards, and so sees them in their own units."""
    return hasattr(policy, "variance")


def _visitor_rewards(
    rate: float | None, mean: object, sd: object, sale: object, sale_sd: object
) -> VisitorRewards:
    if rate is None:
        return NormalRewards(number("plan", "mean", mean, POSITIVE), number("plan", "sd", sd, POSITIVE))
    if sale is None:
        return Conversions(rate)
    size = number("plan", "sale", sale, POSITIVE)
    return Sales(rate, size, number("plan", "sale_sd", sale_sd, VARIANCE))


def make_scenario(
    *,
    options: object,
    rate: object,
    mean: object,
    sd: object,
    sale: object,
    sale_sd: object,
    lift: object,
    visitors: object,
    days: object,
    delay_days: object,
    spread: object,
    alpha: object,
    runs: object,
    seed: object,
    pattern: object = None,
) -> Scenario:
    """Check the numbers of a plan; each error is one sentence."""
    if (rate is None) == (mean is None and sd is None):
        raise InputError("plan: give either a rate, or a mean and an sd")
    if rate is None and (mean is None or sd is None):
        raise InputError(f"plan: give {'mean' if mean is None else 'sd'} too: a mean reward needs both")
    if (sale is None) != (sale_sd is None):
        raise InputError(f"plan: give {'sale' if sale is None else 'sale_sd'} too: revenue needs both")
    if sale is not None and rate is None:
        raise InputError("plan: give the rate of visitors who buy: a sale needs it")
    if sale is not None and pattern is not None:
        raise InputError("plan: rhythm changes conversions or mean rewards, not sales: leave one of them out")
    relative = number("plan", "lift", lift, POSITIVE)
    base = None if rate is None else number("plan", "rate", rate, _BETWEEN)
    if base is not None and base * (1.0 + relative) >= 1.0:
        raise InputError(f"plan: {_read_lift(relative, base)}: use a lift below {1 / base - 1:.3g}")
    width = relative if spread is None else number("plan", "spread", spread, POSITIVE)
    if base is not None and base * width**2 >= (1.0 - base) / 2.0:
        lift_first = "" if spread is not None else f"{_read_lift(relative, base)}, and "
        raise InputError(
            f"plan: {lift_first}rates around {base:g} cannot spread by {width:g} times that: use a spread "
            f"below {sqrt((1 - base) / 2 / base):.3g}"
        )
    size = integer("plan", "days", days, 3_650)
    scenario = Scenario(
        options=integer("plan", "options", options, 1_000, least=2),
        rewards=_visitor_rewards(base, mean, sd, sale, sale_sd),
        lift=relative,
        visitors=integer("plan", "visitors", visitors, 10**12),
        days=size,
        delay_days=number("plan", "number of days of the delay", delay_days, VARIANCE),
        spread=width,
        alpha=number("plan", "alpha", alpha, _BETWEEN),
        runs=integer("plan", "runs", runs, 100_000, least=2),
        seed=seed_of(seed),
        factors=_day_factors(pattern, size),
    )
    if scenario.total < scenario.options:
        raise InputError(f"plan: {scenario.total} visitors cannot see {scenario.options} options: use more")
    return scenario

"""The rewards of an agent by period, as people see them, and whether they move by more than chance allows.

Periods are those of the agent, or days of UTC if it has none. A reward counts in the period of its decision.
"""

from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from math import log
from typing import Any

import numpy as np

from lowregret.analysis.period_variation import log_evidence
from lowregret.errors import InputError
from lowregret.online.agent_state import AgentState
from lowregret.online.arm_summary import ERROR_RATE
from lowregret.online.decisions import decision_number
from lowregret.online.live_periods import MONDAY, PeriodRewards, date_of
from lowregret.policies.inputs import validate_period

MAX_TESTED_ARMS = 100
"""How many arms are tested, the first ones that were added."""
MAX_LISTED_PERIODS = 200
"""How many periods are shown, the latest ones."""


def period_rewards(state: AgentState) -> PeriodRewards:
    """Return the rewards of an agent by period.

    Where rewards count at once and a decision without one counts as ``default_reward`` later, successes are
    known before failures: periods in which a decision is pending, and later ones, are then left out.
    """
    settings = state.settings
    numbers = dict(zip(state.names, state.rows["number"].tolist(), strict=True))
    numbers |= {arm: int(rows["number"][0]) for arm, rows in state.hidden.items()}
    starts, counts, totals = state.by_period.table(numbers)
    complete = len(starts)
    if settings.expires_after is not None and settings.default_reward is not None and state.pending:
        oldest = next(iter(state.pending.values()))
        if isinstance(settings.period, int):
            first = (decision_number(oldest.id) - 1) // settings.period * settings.period + 1.0
        else:
            length = settings.period or timedelta(days=1)
            first = MONDAY + date_of(oldest.timestamp, length) * length.total_seconds()
        complete = bisect_left(starts, first)
    return PeriodRewards(starts[:complete], counts[:, :complete], totals[:, :complete])


def variation_notes(state: AgentState, rewards: PeriodRewards | None = None) -> tuple[str, ...]:
    """Return a note of an agent whose rewards move between periods; none for rewards without a range."""
    settings = state.settings
    if settings.reward_range is None:
        return ()
    _, counts, totals = rewards or period_rewards(state)
    if log_evidence(counts[:MAX_TESTED_ARMS], totals[:MAX_TESTED_ARMS]) < -log(ERROR_RATE):
        return ()
    periods, advice = "periods", "the means that the policy sees are adjusted for it"
    if settings.period is None:
        periods, advice = "days", "create another agent with period=timedelta(days=1)"
        try:
            validate_period(settings.policy, settings.reward_range, "", bool(settings.prior))
        except InputError:
            advice = "create another agent with a policy that takes period=timedelta(days=1), and no prior"
    chance = f"more than chance allows (error at most {100 * ERROR_RATE:g}%, whenever you look)"
    return (f"rewards of all arms move between {periods}, {chance}: {advice}",)


def period_means(state: AgentState, rewards: PeriodRewards) -> list[dict[str, Any]]:
    """Return the mean of each period, and the one that the means of its arms predict."""
    starts, counts, totals = rewards
    means = totals.sum(axis=1) / np.maximum(counts.sum(axis=1), 1.0)
    unscaled, pulls = state.settings.unscaled, counts.sum(axis=0)
    table = zip(starts, pulls, totals.sum(axis=0) / pulls, means @ counts / pulls, strict=True)
    is_time = not isinstance(state.settings.period, int)
    return [
        {
            "period": _date(start) if is_time else f"from decision {int(start):,}",
            "pulls": int(number),
            "mean": unscaled(float(mean)),
            "expected": unscaled(float(expected)),
        }
        for start, number, mean, expected in list(table)[-MAX_LISTED_PERIODS:]
    ]


def _date(seconds: float) -> str:
    """Return a time in UTC, without the hour if it is midnight."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00")

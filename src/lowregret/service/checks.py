"""What an operator should look at: warnings about an agent, from its state and its history."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import TYPE_CHECKING, Any

from lowregret._common.text import count
from lowregret._common.validation import short_repr
from lowregret.online.arm_summary import half_width

if TYPE_CHECKING:
    from lowregret.service.history import History, Period

SILENCE = 3_600.0
"""After how many seconds without a reward there is a warning."""
MANY = 1_000
"""From how many decisions on an arm should have rewards; with many arms, twice ``FEW`` for each of them."""
FEW = 10
"""How many rewards an active arm should have by then."""
MOST = 5
"""How many arms are named in warnings of one kind."""
DEVIATIONS = 4.5
"""How many standard errors the share of answered decisions of an arm may differ from that of the others."""


def warnings_of(state: dict[str, Any], history: History, now: float) -> list[dict[str, str]]:
    """Return the warnings about an agent, each with a kind and one sentence."""
    found = [
        *_silence(state, history, now),
        *_first(_starved(state)),
        *_first(_mismatch(history, now)),
        *_first(_drift(state, history.periods)),
    ]
    return [{"kind": kind, "detail": detail} for kind, detail in found]


def _first(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return a few warnings of one kind, and how many there are else."""
    rest = len(found) - MOST
    return found if rest <= 1 else [*found[:MOST], (found[0][0], f"the same is true of {rest:,} other arms")]


def _silence(state: dict[str, Any], history: History, now: float) -> list[tuple[str, str]]:
    """Warn where decisions are made and no rewards come."""
    since, asked = history.last_told or history.first_asked, history.last_asked
    if not state["pending"] or since is None or asked is None or asked < since or now - since < SILENCE:
        return []
    hours = count(int((now - since) // 3_600), "hour")
    return [
        ("silence", f"no reward was reported for {hours}, and {state['pending']:,} decisions are pending")
    ]


def _starved(state: dict[str, Any]) -> list[tuple[str, str]]:
    """Warn of an active arm that hardly has any rewards although there were many decisions."""
    if state["pulls"] < max(MANY, 2 * FEW * len(state["table"])):
        return []
    return [
        ("starved", f"arm {short_repr(row['arm'])} is active and has only {count(row['pulls'], 'reward')}")
        for row in state["table"]
        if row["state"] == "active" and row["pulls"] < FEW
    ]


def _mismatch(history: History, now: float) -> list[tuple[str, str]]:
    """Warn where the rewards of one arm are reported more rarely or more often than those of the others."""
    asked: Counter[str] = Counter()
    told: Counter[str] = Counter()
    for period in history.periods:
        asked += period.asked
        told += period.told
    for arm in history.pending_since(now - SILENCE):  # their rewards may still come
        asked[arm] -= 1
    found, all_asked, all_told = [], asked.total(), told.total()
    for arm, times in asked.items():
        others, answered = all_asked - times, all_told - told[arm]
        if times < 100 or others < 100:
            continue
        rate, rest = told[arm] / times, answered / others
        pooled = all_told / all_asked
        error = sqrt(max(pooled * (1.0 - pooled), 0.0) * (1.0 / times + 1.0 / others))
        if abs(rate - rest) > DEVIATIONS * error + 0.01:
            found.append(
                (
                    "mismatch",
                    f"rewards were reported for {rate:.0%} of the decisions of arm {short_repr(arm)}, "
                    f"and for {rest:.0%} of the others",
                )
            )
    return found


def _drift(state: dict[str, Any], periods: list[Period]) -> list[tuple[str, str]]:
    """Warn where the mean of an arm differs between the first and the second half beyond both intervals."""
    ends = state["settings"]["reward_range"]
    if ends is None or len(periods) < 4:
        return []
    halves = [_means(part) for part in (periods[: len(periods) // 2], periods[len(periods) // 2 :])]
    found = []
    for arm, (early, before) in halves[0].items():
        late, after = halves[1].get(arm, (0.0, 0))
        if before and after:
            allowed = (half_width(before, 0.5) + half_width(after, 0.5)) * (ends[1] - ends[0])
            if abs(early - late) > allowed:
                found.append(
                    ("drift", f"the mean of arm {short_repr(arm)} was {early:.3g} at first and is {late:.3g}")
                )
    return found


def _means(periods: list[Period]) -> dict[str, tuple[float, int]]:
    """Return the mean reward of each arm and the number of its rewards."""
    counts: Counter[str] = Counter()
    sums: dict[str, float] = {}
    for period in periods:
        counts += period.told
        for arm, total in period.sums.items():
            sums[arm] = sums.get(arm, 0.0) + total
    return {arm: (sums[arm] / times, times) for arm, times in counts.items()}

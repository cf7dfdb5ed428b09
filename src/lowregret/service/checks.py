"""Warnings about an agent for its operator: no rewards, arms without any, rewards that go astray, drift."""

from math import lgamma, log, log2, pi, sqrt
from typing import Any

from lowregret._common.text import count
from lowregret._common.validation import short_repr
from lowregret.online.arm_summary import ERROR_RATE
from lowregret.service.history import (
    MAX_CHARTED_ARMS,
    MAX_HISTORY_PERIODS,
    MIN_PERIOD_DECISIONS,
    History,
    join_periods,
)

SILENCE_SECONDS = 3_600.0
"""How long decisions may be made without a reward."""
STARVED_AFTER_DECISIONS = 1_000
"""After how many decisions every arm should have rewards; twice ``MIN_REWARDS`` per arm if that is more."""
MIN_REWARDS = 10
"""How many rewards an active arm should have by then."""
MAX_NAMED_ARMS = 5
"""The most arms that warnings of one kind name."""
MIN_MISSING = 10.0
"""How many rewards are missing at the earlier rate, or else at 1%, if decisions may have no reward."""
MAX_STANDARD_ERRORS = 4.5
"""How far the share of the decisions of an arm that have a reward may differ from that of the others."""


def warnings_of(state: dict[str, Any], history: History, now: float) -> list[dict[str, str]]:
    """Return the warnings about an agent, each with a kind and one sentence."""
    warnings = [
        *_silence(state, history, now),
        *_first(_starved(state)),
        *_first(_mismatch(history, now)),
        *_first(_drift(state, history)),
    ]
    return [{"kind": kind, "detail": detail} for kind, detail in warnings]


def _first(warnings: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the first warnings of one kind, and the number of the others."""
    others = len(warnings) - MAX_NAMED_ARMS
    if others <= 1:
        return warnings
    return [*warnings[:MAX_NAMED_ARMS], (warnings[0][0], f"the same is true of {others:,} other arms")]


def _silence(state: dict[str, Any], history: History, now: float) -> list[tuple[str, str]]:
    """Warn where decisions are made and no rewards come."""
    since, last_decision = history.last_told or history.first_asked, history.last_asked
    if (
        not state["pending"]
        or since is None
        or last_decision is None
        or last_decision < since
        or now - since < SILENCE_SECONDS
    ):
        return []
    if history.settings.get("default_reward") is not None:  # then only some decisions have a reward
        reward_count, before = history.counts["told"], history.counts["asked"] - history.asked_since_told
        if history.asked_since_told * max(reward_count, 1) / max(before, 100) < MIN_MISSING:
            return []
    hours = count(int((now - since) // 3_600), "hour")
    return [
        ("silence", f"no reward was reported for {hours}, and {state['pending']:,} decisions are pending")
    ]


def _starved(state: dict[str, Any]) -> list[tuple[str, str]]:
    """Warn of an active arm that hardly has any rewards although there were many decisions."""
    if state["pulls"] < max(STARVED_AFTER_DECISIONS, 2 * MIN_REWARDS * len(state["table"])):
        return []
    return [
        ("starved", f"arm {short_repr(row['arm'])} is active and has only {count(row['pulls'], 'reward')}")
        for row in state["table"]
        if row["state"] == "active" and row["pulls"] < MIN_REWARDS
    ]


def _mismatch(history: History, now: float) -> list[tuple[str, str]]:
    """Warn where the rewards of one arm are reported more rarely or more often than those of the others."""
    whole = join_periods(history.periods)
    decisions, rewards = whole.asked, whole.told
    for arm in history.pending_since(now - SILENCE_SECONDS):  # their rewards may still come
        decisions[arm] -= 1
    warnings, all_asked, all_told = [], decisions.total(), rewards.total()
    for arm, times in decisions.items():
        others, answered = all_asked - times, all_told - rewards[arm]
        if times < 100 or others < 100:
            continue
        rate, other_rate = rewards[arm] / times, answered / others
        pooled = all_told / all_asked
        error = sqrt(max(pooled * (1.0 - pooled), 0.0) * (1.0 / times + 1.0 / others))
        if abs(rate - other_rate) > MAX_STANDARD_ERRORS * error + 0.01:
            detail = f"of the decisions of arm {short_repr(arm)}, and for {other_rate:.0%} of the others"
            warnings.append(("mismatch", f"rewards were reported for {rate:.0%} {detail}"))
    return warnings


def _drift(state: dict[str, Any], history: History) -> list[tuple[str, str]]:
    """Warn where the mean of an arm has changed between two periods.

    The probability that it ever warns of an agent whose means do not change is at most 5%. For a change at a
    given time, the likelihood ratio ever exceeds 1 / p with probability p at most. These p sum to 5% over the
    arms and over all times, which are the ends of periods: at most ``MAX_HISTORY_PERIODS`` for each length.
    """
    ends = state["settings"]["reward_range"]
    if ends is None or len(history.periods) < 2:
        return []
    arms = join_periods(history.periods).told.most_common()
    doublings = log2(history.periods[0].asked.total() / MIN_PERIOD_DECISIONS)
    tests = len(arms) * MAX_HISTORY_PERIODS * (doublings + 1.0) * (doublings + 2.0)
    warnings = []
    for arm, _ in arms[:MAX_CHARTED_ARMS]:
        counts = [period.told[arm] for period in history.periods]
        sums = [period.sums.get(arm, 0.0) for period in history.periods]
        scaled = [(total - n * ends[0]) / (ends[1] - ends[0]) for n, total in zip(counts, sums, strict=True)]
        evidence, place = max(_evidence(counts, scaled))
        if evidence > log(tests / ERROR_RATE):
            before, after = sum(counts[:place]), sum(counts[place:])
            early, late = sum(sums[:place]) / before, sum(sums[place:]) / after
            detail = f"was {early:.3g} at first and is {late:.3g} in its latest {count(after, 'reward')}"
            warnings.append(("drift", f"the mean of arm {short_repr(arm)} {detail}"))
    return warnings


def _evidence(counts: list[int], sums: list[float]) -> list[tuple[float, int]]:
    """Compute the evidence for a change of the mean of rewards in [0, 1] before each period but the first.

    The logarithm of a likelihood ratio of Bernoulli rewards, averaged over both means by Jeffreys' prior. It
    is convex in each reward, so its expectation is at most 1 for all rewards in [0, 1].
    """
    times, total, before, earned, evidence = sum(counts), sum(sums), 0, 0.0, [(0.0, 0)]
    same = _most_likely(total, times - total)
    for place, (n, reward) in enumerate(zip(counts[:-1], sums, strict=False), 1):
        before, earned = before + n, earned + reward
        if 0 < before < times:
            after, rest = times - before, total - earned
            parts = _averaged(earned, before - earned) + _averaged(rest, after - rest)
            evidence.append((parts - same, place))
    return evidence


def _averaged(ones: float, zeros: float) -> float:
    return lgamma(ones + 0.5) + lgamma(zeros + 0.5) - lgamma(ones + zeros + 1.0) - log(pi)


def _most_likely(ones: float, zeros: float) -> float:
    return sum(part * log(part / (ones + zeros)) for part in (ones, zeros) if part > 0.0)

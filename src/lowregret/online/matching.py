"""What the verdict of an agent with a period compares: the rewards of each pair of arms, matched by period.

``analysis.matched_rewards`` has the evidence that follows from them. Rewards are matched when there are many,
or when somebody looks.
"""

from typing import Any, NamedTuple

import numpy as np

from lowregret.analysis.matched_rewards import FIRST_REWARDS, Matched, match, match_all, new_matched
from lowregret.engine.kernels.periods import TOTAL, Periods
from lowregret.online.daily_rewards import SETTLE_EVERY

MAX_MATCHED = 20
"""Up to how many arms the rewards of pairs are matched: each period has four numbers for each pair."""


class Matching(NamedTuple):
    """What a verdict compares, and rewards that are yet to be matched: number of the arm, period, reward."""

    matched: Matched
    rewards: list[tuple[int, int, float]]


def empty_matching(periods: Periods | None) -> Matching | None:
    """Return room for what a verdict compares, None without periods or with too many arms."""
    if periods is None or len(periods.counts) > MAX_MATCHED:
        return None
    arms, columns = periods.counts.shape
    return Matching(new_matched(columns, arms), [])


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


def matching_to_json(matching: Matching, columns: int) -> list[list[float]]:
    """Return what is compared in so many periods; no reward may be left to be matched."""
    return [values[:columns].ravel().tolist() for values in matching.matched]


def matching_from_json(parts: dict[str, Any], periods: Periods) -> Matching | None:
    """Return what a verdict compares; None if an older lowregret stored the agent, or there are many arms."""
    if "matched" not in parts:
        return None
    arms, columns = periods.counts.shape
    matched, used = new_matched(columns, arms), len(parts["factors"])
    for whole, flat in zip(matched, parts["matched"], strict=True):
        whole[:used] = np.reshape(flat, whole[:used].shape)
    return Matching(matched, [])

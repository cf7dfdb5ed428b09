"""Add a reward to the statistics of an arm, and to what else the policy keeps of it."""

from __future__ import annotations

from typing import Any

from lowregret.engine.bridge.compile import by_policy_class, jittable_inline
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.state import Rows
from lowregret.engine.kernels.statistics import add_reward, read_sums, write_sums
from lowregret.policies import Clock, Policy
from lowregret.policies.views import arm_view, mean_of


@jittable_inline
def _add(rows: Rows, place: int, x: float) -> None:
    """Add a reward to the sums of an arm."""
    row = rows[place]
    sums = add_reward(read_sums(row), x)
    write_sums(row, sums, mean_of(sums.pulls, sums.origin, sums.total))


@jittable_inline
def _add_with_memory(policy: Any, rows: Rows, place: int, x: float, clock: Clock) -> None:
    memory = policy.update_memory(arm_view(policy, rows, place), x, clock)
    _add(rows, place, x)
    policy.write_memory(rows[place], memory)


def _observe_plain(policy: Any, rows: Rows, place: int, reward: float, clock: Clock, rng: Rng) -> None:
    _add(rows, place, reward)


def _observe(policy: Any, rows: Rows, place: int, reward: float, clock: Clock, rng: Rng) -> None:
    _add(rows, place, policy.transform_reward(reward, rng))


def _observe_with_memory(policy: Any, rows: Rows, place: int, reward: float, clock: Clock, rng: Rng) -> None:
    _add_with_memory(policy, rows, place, policy.transform_reward(reward, rng), clock)


def _observe_with_rewards(policy: Any, rows: Rows, place: int, reward: float, clock: Clock, rng: Rng) -> None:
    x = policy.transform_reward(reward, rng)
    rng.rewards[int(rows[place]["number"]), int(rows[place]["pulls"]) + int(rows[place]["prior"])] = x
    _add_with_memory(policy, rows, place, x, clock)


def _observe_with_times(policy: Any, rows: Rows, place: int, reward: float, clock: Clock, rng: Rng) -> None:
    x = policy.transform_reward(reward, rng)
    number, before = int(rows[place]["number"]), int(rows[place]["pulls"]) + int(rows[place]["prior"])
    rng.rewards[number, before, 0] = x
    rng.rewards[number, before, 1] = clock.t
    _add_with_memory(policy, rows, place, x, clock)


@by_policy_class
def observe(kind: type[Policy]) -> Any:
    """Add a reward to the statistics of an arm, and to what else the policy keeps of it."""
    if observes_plainly(kind):
        return _observe_plain
    if kind.uses_rewards:
        return _observe_with_times if kind.uses_times else _observe_with_rewards
    return _observe if kind.Memory is None else _observe_with_memory


def observes_plainly(kind: type[Policy]) -> bool:
    """Return whether a class of policies keeps no statistics but those that every policy has."""
    keeps = kind.Memory is not None or kind.uses_rewards
    return not keeps and not kind.overrides("transform_reward")

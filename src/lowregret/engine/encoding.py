"""A problem as kernels read it: a table of arms, data, delays, and how means change."""

from typing import Any, NamedTuple

from lowregret._common.arrays import Floats
from lowregret.engine.kernels.delayed_rewards import DelayModel, Queue, delay_model, new_queue
from lowregret.engine.kernels.drifting import MeanPath, mean_path
from lowregret.engine.kernels.periods import Periods, new_periods
from lowregret.engine.kernels.state import Rows, rows_of, rows_of_table
from lowregret.engine.prior import apply_prior
from lowregret.engine.problem import Problem, RewardTable
from lowregret.engine.start import start, within_memory
from lowregret.environments import DriftingBandit


class Encoding(NamedTuple):
    """The arms in their order with what they share, the first round, and what changes with time."""

    first_round: Any
    rows: Rows
    data: Floats
    shuffled: bool
    delays: DelayModel | None
    means: MeanPath | None


def encode(problem: Problem) -> Encoding:
    """Check that a policy suits its problem, and return what kernels read."""
    bandit, policy, horizon = problem.bandit, problem.policy, problem.horizon
    means = None
    if isinstance(bandit, RewardTable):
        rows, data = rows_of_table(bandit.rewards, policy)
    else:
        rows, data = rows_of(bandit, policy), bandit.data
        if isinstance(bandit, DriftingBandit):
            with within_memory(
                f"the best means of {horizon} steps do not fit into memory: use a shorter horizon"
            ):
                means = mean_path(bandit, horizon)
    delays = delay_model(problem.delay, problem.batch) if problem.delayed else None
    shuffled = not isinstance(bandit, RewardTable)
    first = start(policy, rows, horizon)
    apply_prior(policy, rows, problem.prior, horizon)
    return Encoding(first, rows, data, shuffled, delays, means)


def periods_for(problem: Problem) -> Periods | None:
    if problem.period is None:
        return None
    arms, periods = len(problem.bandit), -(-problem.horizon // problem.period)
    with within_memory(
        f"period: {periods:,} periods of {arms} arms do not fit into memory: use a longer one"
    ):
        return new_periods(problem.period, arms, periods)


def queue_for(delays: DelayModel, arms: int, horizon: int) -> Queue:
    size = min(delays.longest + delays.batch, horizon + 1)
    with within_memory(
        f"delay: up to {size:,} pending rewards do not fit into memory: use a shorter delay or horizon"
    ):
        return new_queue(delays, arms, horizon)

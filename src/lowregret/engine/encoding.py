"""A problem as kernels read it: a table of arms, data, delays, and how means change."""

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.kernels.delayed_rewards import DelayModel, Queue, delay_model, new_queue
from lowregret.engine.kernels.drifting import MeanPath, mean_path
from lowregret.engine.kernels.periods import new_periods
from lowregret.engine.kernels.rng import PROBLEM_STREAM, stream, uniform
from lowregret.engine.kernels.state import ArmTable, Rows, rows_of, rows_of_table
from lowregret.engine.prior import allocate_rewards, apply_prior
from lowregret.engine.problem import RECOMMENDED, Problem, RewardTable
from lowregret.engine.start import start, within_memory
from lowregret.environments import DriftingBandit, RandomBandit


class Encoding(NamedTuple):
    """The arms in their order with what they share, the first round, and what changes with time."""

    first_round: Any
    rows: Rows
    data: Floats
    shuffled: bool
    delays: DelayModel | None
    means: MeanPath | None
    sides: Integers | None = None  # where recommendations are recorded: see ``sides_of``

    def new_queue(self, delays: DelayModel, horizon: int) -> Queue:
        size = min(delays.longest + delays.batch, horizon + 1)
        with within_memory(
            f"delay: up to {size:,} pending rewards do not fit into memory: use a shorter delay or horizon"
        ):
            return new_queue(size, len(self.rows))


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
    shuffled = problem.shuffle and not isinstance(bandit, RewardTable)
    first = start(policy, rows, horizon)
    apply_prior(policy, rows, problem.prior, horizon)
    return Encoding(first, rows, data, shuffled, delays, means, sides_of(problem))


def rows_of_runs(problem: Problem, encoding: Encoding, first: int, runs: int) -> Rows:
    """Return the arms of some runs in their order, a row for each run; one row if all runs have the same."""
    bandit = problem.bandit
    if not isinstance(bandit, RandomBandit):
        return encoding.rows[None]
    rows = np.repeat(encoding.rows[None], runs, axis=0)
    for entry in range(runs):
        key = stream(np.uint64(problem.seed), first + entry, PROBLEM_STREAM)
        shape = len(bandit), len(bandit.priors[0])
        draws = np.array([uniform(key, n) for n in range(shape[0] * shape[1])]).reshape(shape)
        arms = bandit.drawn(draws)
        rows[entry]["gap"] = [arms[0].mean - arm.mean for arm in arms]
        encodings = np.array([arm.encoding for arm in arms], np.float64)
        for column, name in enumerate("abcd"):
            rows[entry][name] = encodings[:, column]
    return rows


def sides_of(problem: Problem) -> Integers | None:
    """Return for each arm whether a policy must accept it (1), must not (-1), or may do either (0).

    It is 0 for a policy that accepts no arms, and None where recommendations are not recorded.
    """
    policy, bandit = problem.policy, problem.bandit
    if RECOMMENDED not in problem.record or isinstance(bandit, RewardTable):
        return None
    if not policy.overrides("accepts"):
        return np.zeros(len(bandit), np.int64)
    threshold, margin = float(getattr(policy, "threshold", 0.0)), float(getattr(policy, "margin", 0.0))
    above, below = bandit.means >= threshold + margin, bandit.means < threshold - margin
    return above.astype(np.int64) - below


def arm_table(problem: Problem, rows: Rows) -> ArmTable:
    """Return rows with all else that a policy sees of the arms."""
    arms, horizon, adjustment = len(rows), problem.horizon, None
    rewards = allocate_rewards(problem.policy, arms, horizon, problem.prior)
    if problem.period is not None:
        periods = -(-horizon // problem.period)
        with within_memory(
            f"period: {periods:,} periods of {arms} arms do not fit into memory: use a longer one"
        ):
            adjustment = new_periods(problem.period, arms, periods)
    return ArmTable(rows, rewards, adjustment, problem.ties == "first")

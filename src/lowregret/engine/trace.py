"""One run, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.backends import run
from lowregret.engine.backends.reference import play_rows
from lowregret.engine.encoding import Encoding, encode
from lowregret.engine.kernels.delayed_rewards import delay_key
from lowregret.engine.kernels.runs import draw_path_delays, draw_path_rewards
from lowregret.engine.kernels.state import lay_out
from lowregret.engine.problem import Problem, eliminates


class Trace(NamedTuple):
    """One run, step by step: arrays with an entry for each step.

    ``round`` and ``active``, the number of active arms, are those after the step; None for a policy that
    eliminates no arms permanently. ``delay`` is how many decisions later the reward is known, -1 for never;
    None where each is known before the next decision.
    """

    arm: Integers
    reward: Floats
    round: Integers | None
    active: Integers | None
    delay: Integers | None = None


def trace(problem: Problem, backend: str = "compiled") -> Trace:
    problem = replace(problem, runs=1, record=frozenset({"path"}))
    arm, round, active = run(problem, backend).records["path"][0].T.copy()
    encoding = encode(problem)
    reward = path_rewards(problem, encoding, arm)
    delay = _delays(problem, encoding, arm, reward)
    if eliminates(problem.policy):
        return Trace(arm, reward, round, active, delay)
    return Trace(arm, reward, None, None, delay)


def arms_of_renumbered(problem: Problem, numbers: Integers) -> tuple[Integers, Integers]:
    """Return the arms that the reference pulls as they are, and with other numbers in the same places."""
    encoding = encode(problem)
    rows, renumbered = encoding.rows.copy(), encoding.rows.copy()
    rows["key"] = renumbered["key"] = np.arange(len(rows))
    renumbered["number"] = numbers
    plain, other = (play_rows(problem, encoding, table, 0).path[:, 0] for table in (rows, renumbered))
    return plain, other


def path_rewards(problem: Problem, encoding: Encoding, arms: Integers) -> Floats:
    rows, pulls, rewards = encoding.rows, np.zeros(len(encoding.rows), np.int64), np.zeros(len(arms))
    lay_out(rows, np.arange(len(rows)), np.uint64(problem.seed), problem.first_run, rows)
    draw_path_rewards(rows, encoding.data, arms, pulls, rewards, encoding.means)
    return rewards


def _delays(problem: Problem, encoding: Encoding, arms: Integers, rewards: Floats) -> Integers | None:
    """Draw again the delays of a run, if rewards are delayed."""
    if encoding.delays is None:
        return None
    delays, pulls = np.zeros(len(arms), np.int64), np.zeros(len(encoding.rows), np.int64)
    key = np.uint64(delay_key(np.uint64(problem.seed), problem.first_run))
    draw_path_delays(encoding.delays, key, arms, rewards, pulls, delays)
    return delays

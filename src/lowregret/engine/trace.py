"""One run, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret._common.other_names import TRACE, answers
from lowregret.engine.backends import DEFAULT, Engine, run
from lowregret.engine.backends.reference import play_rows
from lowregret.engine.encoding import Encoding, encode, rows_of_runs
from lowregret.engine.kernels.delayed_rewards import delay_key
from lowregret.engine.kernels.runs import draw_path
from lowregret.engine.kernels.state import lay_out
from lowregret.engine.problem import PATH, Problem, eliminates


@answers("a trace", TRACE)
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


def trace(problem: Problem, backend: Engine = DEFAULT) -> Trace:
    problem = replace(problem, runs=1, record=frozenset({PATH}))
    arm, round, active = run(problem, backend).records[PATH][0].T.copy()
    encoding = encode(problem)
    reward, delay = redraw(problem, encoding, arm)
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


def redraw(problem: Problem, encoding: Encoding, arms: Integers) -> tuple[Floats, Integers | None]:
    """Draw again the rewards of a run that pulled these arms, and their delays if rewards are delayed."""
    seed, number = np.uint64(problem.seed), problem.first_run
    rows = rows_of_runs(problem, encoding, number, 1)[0].copy()
    rewards, delays = np.zeros(len(arms)), np.zeros(len(arms), np.int64)
    lay_out(rows, np.arange(len(rows)), seed, number, rows)
    rows["pulls"] = 0
    key = np.uint64(delay_key(seed, number))
    draw_path(rows, encoding.data, arms, encoding.means, encoding.delays, key, rewards, delays)
    return rewards, delays if encoding.delays else None

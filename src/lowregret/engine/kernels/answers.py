"""What a policy answers during a run, recorded at the times of the grid: see ``engine.problem.RECORDS``.

Each function does nothing if ``answers`` is None, and compiled code for None has nothing of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import by_policy_class, jittable_inline
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.state import ArmTable, State
from lowregret.engine.kernels.step import in_warmup, recommended
from lowregret.policies import Arms, Clock, Policy


class Answers(NamedTuple):
    """Where the answers of a policy go, and what they are judged by.

    The first three have a row for each run, or are the rows of one run.
    """

    recommended: Integers  # at the times of the grid
    loss: Floats
    stopped: Integers  # one number: the time from which one arm alone was pulled
    grid: Integers
    sides: Integers  # of ``engine.encoding.sides_of``


@jittable_inline
def answers_of(answers: Any, entry: int) -> Any:
    """Return where the answers of a run go, None if they are not recorded."""
    if answers is None:
        return None
    recommended, loss, stopped, grid, sides = answers
    return Answers(recommended[entry], loss[entry], stopped[entry], grid, sides)


def _recommend(policy: Any, table: ArmTable, clock: Clock, alone: bool, sides: Any) -> tuple[int, float]:
    """Return the number of the recommended arm, and its gap."""
    row = table.rows[recommended(policy, table, clock, alone)]
    return int(row["number"]), float(row["gap"])


def _judge(policy: Any, table: ArmTable, clock: Clock, alone: bool, sides: Any) -> tuple[int, float]:
    """Return -1, and how many arms are taken for on the wrong side of the threshold."""
    wrong = 0
    for i in range(len(table.rows)):
        side = sides[table.rows[i]["number"]]
        if side != 0 and bool(policy.accepts(Arms(policy, table).at(i))) != (side > 0):
            wrong += 1
    return -1, float(wrong)


@by_policy_class
def answer_now(kind: type[Policy]) -> Any:
    """Return the number of the arm that the policy recommends, -1 if it accepts arms, and the loss."""
    return _judge if kind.overrides("accepts") else _recommend


@jittable_inline
def answer(
    policy: Any, answers: Any, table: ArmTable, state: State, clock: Clock, entry: int, following: int
) -> None:
    """Record the answer for the entries of the grid from ``entry`` up to the one before ``following``.

    There is none before the end of the warm-up.
    """
    if answers is not None and following > entry:
        alone, number, loss = state.active_arms == 1 and rules_of(policy).ends_alone, -1, np.nan
        if not in_warmup(table.rows, rules_of(policy).warmup):
            number, loss = answer_now(policy, table, clock, alone, answers.sides)
        for at in range(entry, following):
            answers.recommended[at], answers.loss[at] = number, loss


@jittable_inline
def answer_rest(policy: Any, answers: Any, table: ArmTable, state: State, clock: Clock) -> None:
    """Record the answer for the rest of a run in which one arm is left, and the time from which it was."""
    if answers is not None:
        alone = state.active_arms == 1 and rules_of(policy).ends_alone
        answers.stopped[0] = max(state.t, 1) if alone else 0
        answer(policy, answers, table, state, clock, state.recorded, len(answers.grid))

"""What a policy answers during a run, recorded at the times of the grid: see ``engine.problem.RECORDS``.

The functions do nothing if ``answers`` is None. It is an argument of its own, beside the run that has it, so
that Numba leaves them out of compiled code for None.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import by_policy_class, jittable_inline
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.simulated_run import Run
from lowregret.engine.kernels.state import ArmTable, State
from lowregret.engine.kernels.step import in_warmup, recommended
from lowregret.policies import Arms, Clock, Policy


class Answers(NamedTuple):
    """Where the answers of a policy go, in a row for each run, and what they are judged by."""

    recommended: Integers  # at the times of the grid
    loss: Floats
    stopped: Integers  # one number: the time from which one arm alone was pulled
    sides: Integers  # of ``engine.encoding.sides_of``


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
    policy: Any, answers: Any, run: Run, state: State, clock: Clock, entry: int, following: int
) -> None:
    """Record the answer for the entries of the grid from ``entry`` up to the one before ``following``.

    There is none before the end of the warm-up.
    """
    if answers is not None and following > entry:
        alone, number, loss = state.active_arms == 1 and rules_of(policy).ends_alone, -1, np.nan
        if not in_warmup(run.table.rows, rules_of(policy).warmup):
            number, loss = answer_now(policy, run.table, clock, alone, answers.sides)
        for at in range(entry, following):
            answers.recommended[run.entry, at], answers.loss[run.entry, at] = number, loss


@jittable_inline
def answer_rest(policy: Any, answers: Any, run: Run, state: State, clock: Clock) -> None:
    """Record the answer for the rest of a run in which one arm is left, and the time from which it was."""
    if answers is not None:
        alone = state.active_arms == 1 and rules_of(policy).ends_alone
        answers.stopped[run.entry, 0] = max(state.t, 1) if alone else 0
        answer(policy, answers, run, state, clock, state.recorded, len(run.grid))

"""What a policy answers during a run, recorded at the times of the grid: see ``engine.problem.RECORDS``.

Each function does nothing if ``sides`` is None, and compiled code for None has nothing of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lowregret.engine.bridge.compile import by_policy_class, jittable, jittable_inline
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.state import ArmTable, State
from lowregret.engine.kernels.step import in_warmup, recommended
from lowregret.policies import Arms, Clock, Policy
from lowregret.policies.views import clock_at


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
def answer(policy: Any, run: Any, state: State, clock: Clock, entry: int, following: int, sides: Any) -> None:
    """Record the answer for the entries of the grid from ``entry`` up to the one before ``following``."""
    if sides is not None and following > entry:
        alone = state.active_arms == 1 and rules_of(policy).ends_alone
        number, loss = answer_now(policy, run.table, clock, alone, sides)
        for at in range(entry, following):
            run.answers.recommended[at] = number
            run.answers.loss[at] = loss


@jittable
def answer_warm_up(policy: Any, run: Any, state: State, sides: Any) -> None:
    """Record that there is no answer before the end of the warm-up, and the answer at its end."""
    if sides is not None:
        for at in range(state.recorded):
            run.answers.recommended[at], run.answers.loss[at] = -1, np.nan
        last = state.recorded - 1
        complete = not in_warmup(run.table.rows, rules_of(policy).warmup)
        if last >= 0 and run.grid[last] == state.t and complete:
            clock = clock_at(state.t, run.horizon, len(run.table.rows), 0.0)
            answer(policy, run, state, clock, last, state.recorded, sides)


@jittable
def answer_rest(policy: Any, run: Any, state: State, sides: Any) -> None:
    """Record the answer for the rest of a run in which one arm is left, and the time from which it was."""
    if sides is not None:
        alone = state.active_arms == 1 and rules_of(policy).ends_alone
        run.answers.stopped[0] = max(state.t, 1) if alone else 0
        clock = clock_at(state.t, run.horizon, len(run.table.rows), 0.0)
        answer(policy, run, state, clock, state.recorded, len(run.grid), sides)

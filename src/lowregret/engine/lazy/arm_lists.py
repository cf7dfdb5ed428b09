"""Lists of arms: how one is written after a pull, and one run of a policy that plays them.

``write_list`` asks every arm that is not waiting; a log and a live agent, whose rewards come from elsewhere,
use it as it is. A run would lose most of its time there, so it asks fewer arms: where the policy has a
``slope``, each arm off the lists has a line above its claim, and it is asked for the claim itself only when
that line is above 0. The line touches the claim where the arm was asked last.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from lowregret.engine.compile import INLINED, compiled, inlined, shared
from lowregret.engine.lazy.tournament import Leaders, enter, rebuild
from lowregret.engine.protocol import has, value
from lowregret.engine.rng import Rng
from lowregret.engine.run_parts import (
    NOT_A_NUMBER,
    STOPPED,
    Rules,
    Run,
    clock_now,
    look,
    mark,
    note,
    pull,
    warm_up,
)
from lowregret.engine.state import CLOSED, Floats, Rows
from lowregret.policies import Arm, Arms, Clock


def plays_lists(policy: Any) -> bool:
    """Say whether a policy plays lists of arms."""
    return has(policy, "claim")


@overload(plays_lists, strict=False, jit_options=INLINED)
def _plays_lists(policy: Any) -> Any:
    found = has(policy, "claim")
    return lambda policy: found


@shared
def write_list(policy: Any, rows: Rows, pulled: int, clock: Clock, round: Any, rng: Rng) -> int:
    """Take the arm just pulled off the list, and write the next one as far as it is known.

    Gives how many arms are on the list that is played now, or ``NOT_A_NUMBER`` where a claim is nan.
    """
    arms, waiting, marked = Arms(rows), 0, 0
    arms.drop(pulled)
    for i in range(len(rows)):
        if arms.active(i):
            waiting += 1
        elif rows[i]["dropped"] != CLOSED:
            claim = value(policy, arms.at(i), clock, round, rng)
            if claim != claim:
                return NOT_A_NUMBER
            if claim > 0.0:
                arms.mark(i, True)
            marked += arms.marked(i)
    return waiting if waiting > 0 else open_list(rows, marked)


@shared
def open_list(rows: Rows, marked: int) -> int:
    """Begin the next list: the marked arms, or all if none is; give how many they are."""
    arms, listed = Arms(rows), 0
    for i in range(len(rows)):
        if arms.marked(i) or (marked == 0 and rows[i]["dropped"] != CLOSED):
            arms.admit(i)
            listed += 1
        arms.mark(i, False)
    return listed


def slope(policy: Any, arm: Arm, clock: Clock) -> float:
    """Give the slope of the line above a claim, infinite if there is none; only compiled code calls this."""
    raise NotImplementedError


@overload(slope, strict=False, jit_options=INLINED)
def _slope(policy: Any, arm: Any, clock: Any) -> Any:
    if has(policy, "slope"):
        return lambda policy, arm, clock: policy.slope(arm, clock)
    return lambda policy, arm, clock: np.inf


@inlined
def ask_always(lines: Floats, i: int) -> None:
    """Let an arm be asked until it has a line."""
    lines[0, i] = np.inf
    lines[1, i], lines[2, i], lines[3, i] = 0.0, 0.0, 0.0


@inlined
def ask_never(lines: Floats, i: int) -> None:
    """Let an arm not be asked."""
    lines[0, i] = -np.inf
    lines[1, i], lines[2, i], lines[3, i] = 0.0, 0.0, 0.0


@inlined
def draw_line(policy: Any, arm: Arm, clock: Clock, claim: float, lines: Floats, i: int) -> None:
    """Lay a line above the claim of an arm, a little higher than need be since both are rounded."""
    incline = slope(policy, arm, clock)
    if incline < np.inf:
        lines[0, i] = claim + 1e-9 + 1e-12 * abs(claim)
        lines[1, i], lines[2, i], lines[3, i] = clock.log_t, clock.best, incline
    else:
        ask_always(lines, i)


@inlined
def above(lines: Floats, i: int, clock: Clock) -> bool:
    """Say whether an arm's line is above 0."""
    height = lines[0, i] + (clock.log_t - lines[1, i]) - lines[3, i] * (clock.best - lines[2, i])
    return not height <= 0.0


@inlined
def collect(policy: Any, rows: Rows, clock: Clock, round: Any, rng: Rng, lines: Floats) -> int:
    """Mark the arms with a positive claim; give how many they are, or -1 if a claim is nan."""
    marked = 0
    for i in range(len(rows)):
        if above(lines, i, clock):
            arm = look(rows, i)
            claim = value(policy, arm, clock, round, rng)
            if claim != claim:
                return -1
            if claim > 0.0:
                rows[i]["marked"] = True
                marked += 1
                ask_never(lines, i)
            else:
                draw_line(policy, arm, clock, claim, lines, i)
    return marked


@compiled
def turn_over(rows: Rows, marked: int, lines: Floats) -> int:
    """Begin the next list; give how many arms are on it. None of them is asked."""
    if marked == 0:
        for i in range(len(rows)):
            ask_never(lines, i)
    return open_list(rows, marked)


@compiled
def plant_means(rows: Rows, means: Leaders) -> None:
    """Enter the means of all arms that were pulled."""
    size = len(means.best) // 2
    for i in range(len(rows)):
        means.best[size + i] = rows[i]["mean"] if rows[i]["pulls"] > 0 else -np.inf
    rebuild(means)


def play_lists(policy: Any, rules: Rules, first: Any, rng: Rng, run: Run) -> int:
    """Play one run, asking at each step only the arms that could have a claim."""
    rows, data, horizon = run.rows, run.data, run.horizon
    size = len(rows)
    t, at = warm_up(policy, rules, rng, first.number, run)
    if t < 0:
        return t
    means, lines = run.scratch.means, run.scratch.lines
    plant_means(rows, means)
    i, waiting, marked = 0, turn_over(rows, 0, lines), 0
    while t < horizon:
        while not rows[i]["active"]:
            i += 1
        row = rows[i]
        if not pull(policy, rules, rng, rows, data, i):
            return -i - 1
        t += 1
        number = row["number"]
        row["active"] = False
        waiting -= 1
        ask_always(lines, i)
        if rules.uses_best:
            enter(means, i, row["mean"])
        clock = clock_now(t, horizon, size, means.best[1] if rules.uses_best else 0.0)
        more = collect(policy, rows, clock, first, rng, lines)
        if more < 0:
            return NOT_A_NUMBER
        marked += more
        if waiting == 0:
            i, waiting, marked = 0, turn_over(rows, marked, lines), 0
        note(run, t, number, first.number, waiting)
        at = mark(run, t, at)
        if run.stop[0]:
            return STOPPED
    return t

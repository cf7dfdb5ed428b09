"""One run of any policy where rewards are late, decisions are made in batches, or means change."""

from __future__ import annotations

from typing import Any

from lowregret.engine.compile import OPTIONS, by_policy_class, compiled, compiled_inline
from lowregret.engine.drifting import MeanPath, drifting_reward, mean_at, part_at
from lowregret.engine.late_rewards import Lateness, Queue, clear, due_after, enqueue, nth_delay
from lowregret.engine.pending_step import apply_pending, choose_pending, clock_with_pending
from lowregret.engine.rng import Rng
from lowregret.engine.rules import rules_of
from lowregret.engine.simulated_run import (
    STOPPED,
    Run,
    draw_nth_reward,
    finish,
    record_if_due,
    record_step,
)
from lowregret.engine.state import Floats, Integers, Rows
from lowregret.engine.statistics import best_mean, clipped
from lowregret.engine.step import NOT_A_NUMBER, count_active, in_warmup
from lowregret.environments.drift import PIECEWISE
from lowregret.policies import Policy


@compiled
def note_eliminated(rows: Rows, t: int, times: Integers) -> None:
    """Record the decision after which arms were eliminated; their rows have the number of known rewards."""
    for i in range(len(rows)):
        if rows[i]["eliminated"] > 0 and times[i] == 0:
            times[i] = t


@compiled_inline
def drifting_draw(
    run: Run, i: int, n: int, t: int, path: MeanPath, part: int, sums: Floats
) -> tuple[float, float, float]:
    """Return a reward drawn at step ``t``, what the policy sees of it, and the gap of the arm at that step.

    Adds the reward to ``sums`` unless that is empty.
    """
    row = run.rows[i]
    number = row["number"]
    mean = mean_at(path, part, t, number)
    x = drifting_reward(row, run.data, n, mean, path.first[number])
    if len(sums) > 0:
        sums[number] += x
    return x, clipped(x, run.clip), path.best[t - 1] - mean


def _play_late(
    policy: Any,
    first: Any,
    rng: Rng,
    run: Run,
    late: Lateness,
    queue: Queue,
    key: Any,
    path: Any,
    sums: Floats,
) -> int:
    """Play one run; the choices are those of a live agent that is told the rewards when they are due.

    ``path`` is how the means change, None if they do not.
    """
    rows, horizon, rules, scores = run.rows, run.horizon, rules_of(policy), run.scratch.scores
    drifts, part, lost = path is not None, 0, 0.0
    clear(queue)
    round, left, warm = first, count_active(rows), in_warmup(rows, rules.warmup)
    told, t, at, slot = 0, 0, 0, -1
    best = best_mean(rows) if rules.uses_best else 0.0
    while t < horizon and (drifts or left > 1 or rules.plays_lists or not rules.eliminates_permanently):
        waiting = t - told
        t += 1
        slot = slot + 1 if slot + 1 < len(queue.first) else 0
        clock = clock_with_pending(policy, t, horizon, len(rows), best, waiting)
        chosen = choose_pending(policy, rows, clock, round, rng, scores, warm, left, waiting)
        if chosen < 0:
            return NOT_A_NUMBER
        number, n = rows[chosen]["number"], rows[chosen]["pulls"] + rows[chosen]["pending"]
        if path is None:
            x, seen = draw_nth_reward(run, chosen, n)
        else:
            part = part_at(path, part, t) if path.kind == PIECEWISE else 0
            x, seen, gap = drifting_draw(run, chosen, n, t, path, part, sums)
            lost += gap
        if x != x:
            return -chosen - 1
        delay = nth_delay(late, key, number, n, x)
        due = due_after(t, delay, late.batch)
        if delay >= 0 and due <= horizon:
            enqueue(queue, slot, due - t, chosen, seen)
        now, queue.first[slot] = queue.first[slot], -1
        while now >= 0:
            told += 1
            clock = clock_with_pending(policy, told, horizon, len(rows), best, t - told)
            before = left
            round, left = apply_pending(
                policy, rows, queue.place[now], queue.reward[now], told, clock, round, rng, warm, left
            )
            if left < 0:
                return left
            if left < before:
                note_eliminated(rows, t, queue.eliminated)
            if warm or rules.admits_later:
                warm = in_warmup(rows, rules.warmup)
            if rules.uses_best:
                best = best_mean(rows)
            now = queue.following[now]
        record_step(run, t, number, round.number, left)
        if drifts and at < len(run.grid) and t == run.grid[at]:
            run.regret[at] = lost
            at += 1
        elif not drifts:
            at = record_if_due(run, t, at)
        if run.stop[0]:
            return STOPPED
    answer = finish(run, round.number, t) if t < horizon else t
    for i in range(len(rows)):
        if queue.eliminated[i] > 0:
            rows[i]["eliminated"] = queue.eliminated[i]
    return answer


def _select(kind: type[Policy]) -> Any:
    return _play_late


play_late = by_policy_class(_select, OPTIONS)
"""Play one run whose rewards are late or whose means change."""

"""One run of any policy with delayed rewards, batches of decisions, or means that change or are adjusted."""

from __future__ import annotations

from typing import Any, NamedTuple

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled, compiled_inline
from lowregret.engine.kernels.delayed_rewards import (
    DelayModel,
    Queue,
    clear,
    delay_key,
    due_after,
    enqueue,
    nth_delay,
)
from lowregret.engine.kernels.drifting import MeanPath, drifting_reward, mean_at, part_at
from lowregret.engine.kernels.pending_step import apply_pending, choose_pending, clock_with_pending
from lowregret.engine.kernels.periods import clear_periods, enter_period
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.rules import rules_of
from lowregret.engine.kernels.simulated_run import (
    STOPPED,
    Run,
    draw_nth_reward,
    finish,
    record_if_due,
    record_step,
)
from lowregret.engine.kernels.state import Rows
from lowregret.engine.kernels.statistics import best_mean, clipped
from lowregret.engine.kernels.step import NOT_A_NUMBER, count_active, in_warmup
from lowregret.environments.drift import PIECEWISE


@compiled
def record_eliminated(rows: Rows, t: int, times: Integers) -> None:
    """Record the decision after which arms were eliminated; their rows have the number of known rewards."""
    for i in range(len(rows)):
        if rows[i]["eliminated"] > 0 and times[i] == 0:
            times[i] = t


@compiled_inline
def draw_at(run: Run, i: int, n: int, t: int, path: Any, part: int) -> tuple[float, float, float, int]:
    """Return the n-th reward of an arm, drawn at step ``t``, what the policy sees of it, and the gap then.

    ``path`` is how the means change, None if they do not; ``part`` is the part of it used last, and returned.
    Where means change, the reward is added to those of the run if they are recorded.
    """
    if path is None:
        x, seen = draw_nth_reward(run, i, n)
        return x, seen, 0.0, part
    row = run.rows[i]
    number = row["number"]
    part = part_at(path, part, t) if path.kind == PIECEWISE else 0
    mean = mean_at(path, part, t, number)
    x = drifting_reward(row, run.data, n, mean, path.first[number])
    if len(run.rewards) > 0:
        run.rewards[number] += x
    return x, clipped(x, run.clip), path.best[t - 1] - mean, part


class Scratch(NamedTuple):
    """The working memory: that of a choice, when rewards are known, those pending, and how means change."""

    scores: Floats
    delays: DelayModel
    queue: Queue
    means: MeanPath | None


def play(policy: Any, first: Any, rng: Rng, run: Run, scratch: Scratch) -> int:
    """Play one run; the choices are those of a live agent that is told the rewards when they are due."""
    rows, horizon, rules = run.rows, run.horizon, rules_of(policy)
    scores, model, queue, path = scratch
    key = delay_key(run.seed, run.number)
    drifts, part, lost = path is not None, 0, 0.0
    clear(queue)
    clear_periods(rng.periods)
    round, active, warm = first, count_active(rows), in_warmup(rows, rules.warmup)
    told, t, at, slot = 0, 0, 0, -1
    best = best_mean(rows) if rules.uses_best else 0.0
    while t < horizon and (drifts or active > 1 or rules.plays_lists or not rules.eliminates_permanently):
        waiting = t - told
        t += 1
        slot = slot + 1 if slot + 1 < len(queue.first) else 0
        clock = clock_with_pending(policy, t, horizon, len(rows), best, waiting)
        chosen = choose_pending(policy, rows, clock, round, rng, scores, warm, active, waiting)
        if chosen < 0:
            return NOT_A_NUMBER
        number, n = rows[chosen]["number"], rows[chosen]["pulls"] + rows[chosen]["pending"]
        x, seen, gap, part = draw_at(run, chosen, n, t, path, part)
        lost += gap
        if x != x:
            return -chosen - 1
        delay = nth_delay(model, key, number, n, x)
        due = due_after(t, delay, model.batch)
        if delay >= 0 and due <= horizon:
            enqueue(queue, slot, due - t, chosen, seen)
        now, queue.first[slot] = queue.first[slot], -1
        while now >= 0:
            told += 1
            enter_period(rng.periods, t - (slot - now if now <= slot else slot - now + len(queue.first)))
            clock = clock_with_pending(policy, told, horizon, len(rows), best, t - told)
            before = active
            round, active = apply_pending(
                policy, rows, queue.place[now], queue.reward[now], told, clock, round, rng, warm, active
            )
            if active < 0:
                return active
            if active < before:
                record_eliminated(rows, t, queue.eliminated)
            if warm or rules.admits_later:
                warm = in_warmup(rows, rules.warmup)
            if rules.uses_best:
                best = best_mean(rows)
            now = queue.following[now]
        record_step(run, t, number, round.number, active)
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

"""One run in one thread: the steps that all modes share, and the kernel."""

from __future__ import annotations

from math import inf, nan
from typing import Any, NamedTuple

from numba import int64, uint64

from lowregret.engine.backends.cuda.choosers import (
    EXPIRED,
    HIGHEST,
    LOWEST,
    choose,
    prepare,
    refresh,
)
from lowregret.engine.backends.cuda.constants import (
    ARMS,
    BOUNDED,
    CHECKED,
    CLIP,
    ENDS_ALONE,
    FINISHES,
    GONE,
    KEEPS_SCORES,
    KIND,
    LANES,
    MEMORY,
    MIXED,
    RESETS,
    ROUNDS,
    TRACED,
    WARMUP,
    Plan,
    by_problem,
)
from lowregret.engine.backends.cuda.device import STATE_TYPE, cuda, load_ziggurat
from lowregret.engine.backends.cuda.table import (
    DeviceArms,
    Table,
    add,
    arm_at,
    best_mean,
    clear_sums,
    count_active,
    is_active,
    log_eliminated,
    new_table,
    write_memory,
)
from lowregret.engine.kernels.drifting import MeanPath, mean_at, part_at, reward_of_mean
from lowregret.engine.kernels.rewards import RewardSource, exhausted, nth_reward
from lowregret.engine.kernels.rng import (
    POLICY_STREAM,
    SHUFFLE_STREAM,
    Rng,
    bits,
    normal,
    uniform,
    upper_bits,
)
from lowregret.engine.kernels.state import GIVEN
from lowregret.engine.kernels.statistics import clipped
from lowregret.engine.status import ARM_FAILED, ELIMINATED_ALL, NOT_A_NUMBER, PLACE_FAILED, STOPPED
from lowregret.environments.drift import PIECEWISE
from lowregret.policies.views import UNDATED, Clock, clock_at

POLL_STEPS = 2**15
"""After how many steps a thread looks whether to stop."""


class Game(NamedTuple):
    """What a run plays on, and where it writes."""

    kinds: Any
    encodings: Any  # four numbers for each arm
    thresholds: Any  # 2^53 times the first of them, for rewards of 0 and 1
    data: Any
    gaps: Any  # 0 where means change
    means: MeanPath  # which no run reads where means do not change
    horizon: int
    key: Any  # of the run, from which the streams of its arms follow
    grid: Any  # with a time after the horizon at its end
    regret: Any
    path: Any


def draw(game: Game, number: int, n: int) -> float:
    kind = KIND if KIND != MIXED else int(game.kinds[number])
    source = source_of(game, kind, number)
    return nan if exhausted(source, n) else nth_reward(source, game.data, n)


def binary_reward(game: Game, number: int, n: int, t: int, part: int) -> tuple[float, float, int]:
    """Return the n-th reward of a Bernoulli arm whose rewards are 0 and 1."""
    word = upper_bits(bits(bits(game.key, number), n))  # less than 2^53 p, where ``uniform`` is less than p
    return 1.0 if word < game.thresholds[number] else 0.0, 0.0, part


def gaussian_reward(game: Game, number: int, n: int, t: int, part: int) -> tuple[float, float, int]:
    row = game.encodings[number]
    return float(row[0]) + float(row[1]) * normal(bits(game.key, number), n), 0.0, part


def source_of(game: Game, kind: int, number: int) -> RewardSource:
    row = game.encodings[number]
    return RewardSource(
        kind, bits(game.key, number), float(row[0]), float(row[1]), float(row[2]), float(row[3])
    )


def fixed_reward(game: Game, number: int, n: int, t: int, part: int) -> tuple[float, float, int]:
    """Return the n-th reward of an arm whose mean does not change; regret follows from the pulls."""
    return draw(game, number, n), 0.0, part


def drifting_reward(game: Game, number: int, n: int, t: int, part: int) -> tuple[float, float, int]:
    """Return the n-th reward of an arm at a step, its gap then, and the part of the path."""
    means = game.means
    if means.kind == PIECEWISE:
        part = part_at(means, part, t)
    mean = float(mean_at(means, part, t, number))
    kind = KIND if KIND != MIXED else int(game.kinds[number])
    x = reward_of_mean(source_of(game, kind, number), game.data, n, mean, float(means.first[number]))
    return x, means.best[t - 1] - mean, part


def _reward_and_gap(plan: Plan) -> Any:
    if plan.drifts:
        return drifting_reward
    if plan.counts:
        return binary_reward
    return gaussian_reward if plan.gaussian else fixed_reward


reward_and_gap = by_problem(_reward_and_gap)
"""Return the reward of a pull, its gap if means change, and the part of their path."""


def observe(policy: Any, table: Table, i: int, x: float, clock: Clock) -> None:
    """Add a reward to all that is kept of an arm."""
    memory = policy.update_memory(arm_at(policy, table, i), x, clock)
    add(table, i, x)
    write_memory(table, i, memory)


def record_regret(table: Table, game: Game, lost: float, at: int) -> None:
    total = lost
    for i in range(ARMS):
        total += game.gaps[table.order[i, table.column]] * float(table.pulls[i, table.column])
    game.regret[at] = total


def record_step(table: Table, game: Game, i: int, t: int, number: int, active: int) -> None:
    """Record a step if the path is wanted."""
    if TRACED:
        game.path[t - 1, 0] = table.order[i, table.column]
        game.path[t - 1, 1] = number
        game.path[t - 1, 2] = active


def eliminate_dominated(policy: Any, table: Table, clock: Clock, round: Any, rng: Rng, active: int) -> int:
    """Eliminate the arms whose index is below the largest lower bound; return how many are active.

    Where scores are kept, none is before the smallest score and the largest lower bound have crossed.
    """
    if not BOUNDED or (KEEPS_SCORES and table.bounds[LOWEST] >= table.bounds[HIGHEST]):
        return active
    highest = -inf
    for i in range(ARMS):
        if is_active(table, i):
            highest = max(highest, policy.lower_bound(arm_at(policy, table, i), clock, round))
    for i in range(ARMS):
        if is_active(table, i):
            if KEEPS_SCORES:
                index = float(table.values[i, table.lane])
            else:
                index = policy.arm_index(arm_at(policy, table, i), clock, round, rng)
            if index < highest:
                table.gone[i, table.entry] = UNDATED
    table.until[0] = EXPIRED
    return log_eliminated(table, clock.t)


def start(policy: Any, table: Table, closed: Any, key: Any, shuffled: bool) -> None:
    """Put the arms in the order of the run, none of them pulled."""
    shuffling = bits(key, SHUFFLE_STREAM)
    for i in range(ARMS):
        j = int(uniform(shuffling, i) * (i + 1)) if shuffled else i
        table.order[i, table.column] = table.order[j, table.column]
        table.order[j, table.column] = i
    for i in range(ARMS):
        table.pulls[i, table.column] = 0
        if GONE > 1:
            table.gone[i, table.entry] = closed[table.order[i, table.column]]
        if RESETS > 1:
            table.resets[i, table.column] = 0
        clear_sums(table, i)
        if MEMORY > 1:
            write_memory(table, i, policy.initial_memory())
    table.until[0] = EXPIRED
    if CHECKED:
        table.beyond[0] = 0


def finish(table: Table, game: Game, number: int, t: int, at: int) -> int:
    """Credit the remaining arm with all pulls up to the horizon, which no reward can change."""
    last = 0
    for i in range(ARMS):
        if is_active(table, i):
            last = i
    arm, pulls = int(table.order[last, table.column]), int64(table.pulls[last, table.column])
    if KIND == GIVEN and pulls + game.horizon - t > game.encodings[arm, 1]:
        return ARM_FAILED - arm
    for step in range(t + 1, game.horizon + 1):
        record_step(table, game, last, step, number, 1)
    while game.grid[at] <= game.horizon:
        table.pulls[last, table.column] = pulls + game.grid[at] - t
        record_regret(table, game, 0.0, at)
        at += 1
    table.pulls[last, table.column] = pulls + game.horizon - t
    return game.horizon


def play(policy: Any, first: Any, table: Table, rng: Rng, game: Game, stop: Any) -> int:
    """Play one run; return the horizon, or a negative number as ``kernels.simulated_run`` has it."""
    horizon, grid, round, active = game.horizon, game.grid, first, count_active(table)
    t, first_pulls, at, part, lost, due = 0, 0, 0, 0, 0.0, int(grid[0])
    while t < horizon and (first_pulls < WARMUP * ARMS or active > 1 or not FINISHES):
        warm, i = first_pulls < WARMUP * ARMS, 0
        if warm:
            i = first_pulls % ARMS
            first_pulls += 1
            if not is_active(table, i):
                continue
        t += 1
        clock = clock_at(t, horizon, ARMS, best_mean(table))
        if not warm:
            if t > table.until[0]:
                prepare(policy, table, clock, round, rng)
            i = choose(policy, table, clock, round, rng)
            if i < 0:
                return NOT_A_NUMBER
        i = uint64(i)  # type: ignore[assignment]  # no index is then below 0
        number = int(table.order[i, table.column])
        x, gap, part = reward_and_gap(game, number, int64(table.pulls[i, table.column]) + 1, t, part)
        if x != x:
            return ARM_FAILED - number
        lost += gap
        observe(policy, table, i, policy.transform_reward(clipped(x, CLIP), rng), clock)
        if not warm and (active > 1 or not ENDS_ALONE):
            refresh(policy, table, i, clock, round, rng)
            active = eliminate_dominated(policy, table, clock, round, rng, active)
            if ROUNDS and t >= round.until and active > 0:
                round = policy.next_round(DeviceArms(policy, table), clock, round)
                active = log_eliminated(table, t)
                table.until[0] = EXPIRED
            if active == 0 and not (CHECKED and table.beyond[0] != 0):
                return ELIMINATED_ALL
        if CHECKED and table.beyond[0] != 0:
            return PLACE_FAILED - table.beyond[0]
        record_step(table, game, i, t, round.number, active)
        if t == due:
            record_regret(table, game, lost, at)
            at += 1
            due = int(grid[at])
        if t % POLL_STEPS == 0 and cuda.atomic.add(stop, 0, 0) > 0:
            return STOPPED
    return finish(table, game, round.number, t, at) if t < horizon else t


def kernel(
    policy: Any, first: Any, kinds: Any, encodings: Any, thresholds: Any, data: Any, gaps: Any, closed: Any,
    path_kind: int, times: Any, rows: Any, period: float, first_means: Any, best_means: Any,
    horizon: int, seed: Any, first_run: int, runs: int, shuffled: bool, ziggurat: Any, grid: Any, stop: Any,
    widths: Any, floats: Any, integers: Any,
    regret: Any, pulls: Any, eliminated: Any, path: Any, answers: Any,
) -> None:  # fmt: skip
    """Play run ``first_run`` plus the number of the thread, and write what an ``Outcome`` has."""
    lane = cuda.threadIdx.x
    entry = cuda.blockIdx.x * LANES + lane
    if len(ziggurat) > 1:
        load_ziggurat(ziggurat, lane, LANES)
    table = new_table(lane, entry, floats, integers, widths)
    if entry >= runs:
        return
    key = bits(bits(seed, 1), first_run + entry)
    start(policy, table, closed, key, shuffled)
    states = cuda.local.array(1, STATE_TYPE)
    states[0]["key"] = bits(key, POLICY_STREAM)
    states[0]["drawn"] = 0
    means = MeanPath(path_kind, times, rows, period, first_means, best_means)
    game = Game(
        kinds,
        encodings,
        thresholds,
        data,
        gaps,
        means,
        horizon,
        key,
        grid,
        regret[entry],
        path[entry % len(path)],
    )
    answers[entry] = play(policy, first, table, Rng(states[0]), game, stop)
    for i in range(ARMS):
        pulls[entry, table.order[i, table.column]] = table.pulls[i, table.column]
        if GONE > 1:
            eliminated[entry, table.order[i, table.column]] = max(table.gone[i, table.entry], 0)

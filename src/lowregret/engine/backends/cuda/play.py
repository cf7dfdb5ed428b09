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
from lowregret.engine.backends.cuda.device import STATE_TYPE, cuda, load_ziggurat, product
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
    """What all runs play on."""

    kinds: Any
    encodings: Any  # four numbers for each arm
    thresholds: Any  # 2^53 times the first of them, for rewards of 0 and 1
    data: Any
    gaps: Any  # 0 where means change
    closed: Any  # CLOSED for an arm that is never active, else 0
    means: MeanPath  # which no run reads where means do not change
    horizon: int
    grid: Any  # with a time after the horizon at its end
    seed: Any
    shuffled: bool


class Memory(NamedTuple):
    """The memory of a launch: the tables of its threads, and what runs write, an entry for each."""

    floats: Any
    integers: Any
    regret: Any
    pulls: Any
    eliminated: Any
    path: Any
    answers: Any


class Run(NamedTuple):
    """One run: the key from which the streams of its arms follow, and where it writes."""

    game: Game
    key: Any
    regret: Any
    path: Any


def binary_reward(run: Run, number: int, n: int, t: int, part: int) -> tuple[float, float, int]:
    """Return the n-th reward of a Bernoulli arm whose rewards are 0 and 1."""
    word = upper_bits(bits(bits(run.key, number), n))  # less than 2^53 p, where ``uniform`` is less than p
    return 1.0 if word < run.game.thresholds[number] else 0.0, 0.0, part


def gaussian_reward(run: Run, number: int, n: int, t: int, part: int) -> tuple[float, float, int]:
    row = run.game.encodings[number]
    return float(row[0]) + float(row[1]) * normal(bits(run.key, number), n), 0.0, part


def source_of(run: Run, number: int) -> RewardSource:
    kind = KIND if KIND != MIXED else int(run.game.kinds[number])
    row = run.game.encodings[number]
    key, a, b = bits(run.key, number), float(row[0]), float(row[1])
    return RewardSource(kind, key, a, b, float(row[2]), float(row[3]))


def fixed_reward(run: Run, number: int, n: int, t: int, part: int) -> tuple[float, float, int]:
    """Return the n-th reward of an arm whose mean does not change; regret follows from the pulls."""
    source = source_of(run, number)
    return nan if exhausted(source, n) else nth_reward(source, run.game.data, n), 0.0, part


def drifting_reward(run: Run, number: int, n: int, t: int, part: int) -> tuple[float, float, int]:
    """Return the n-th reward of an arm at a step, its gap then, and the part of the path."""
    means = run.game.means
    if means.kind == PIECEWISE:
        part = part_at(means, part, t)
    mean = float(mean_at(means, part, t, number))
    x = reward_of_mean(source_of(run, number), run.game.data, n, mean, float(means.first[number]))
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


def record_regret(table: Table, run: Run, lost: float, at: int) -> None:
    total = lost
    for i in range(ARMS):
        total += product(run.game.gaps[table.order[i, table.column]], float(table.pulls[i, table.column]))
    run.regret[at] = total


def record_step(table: Table, run: Run, i: int, t: int, number: int, active: int) -> None:
    """Record a step if the path is wanted."""
    if TRACED:
        run.path[t - 1, 0] = table.order[i, table.column]
        run.path[t - 1, 1] = number
        run.path[t - 1, 2] = active


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


def start(policy: Any, table: Table, run: Run) -> None:
    """Put the arms in the order of the run, none of them pulled."""
    shuffling = bits(run.key, SHUFFLE_STREAM)
    for i in range(ARMS):
        j = int(uniform(shuffling, i) * (i + 1)) if run.game.shuffled else i
        table.order[i, table.column] = table.order[j, table.column]
        table.order[j, table.column] = i
    for i in range(ARMS):
        table.pulls[i, table.column] = 0
        if GONE > 1:
            table.gone[i, table.entry] = run.game.closed[table.order[i, table.column]]
        if RESETS > 1:
            table.resets[i, table.column] = 0
        clear_sums(table, i)
        if MEMORY > 1:
            write_memory(table, i, policy.initial_memory())
    table.until[0] = EXPIRED
    if CHECKED:
        table.beyond[0] = 0


def finish(table: Table, run: Run, number: int, t: int, at: int) -> int:
    """Credit the remaining arm with all pulls up to the horizon, which no reward can change."""
    last, game = 0, run.game
    for i in range(ARMS):
        if is_active(table, i):
            last = i
    arm, pulls = int(table.order[last, table.column]), int64(table.pulls[last, table.column])
    if KIND == GIVEN and pulls + game.horizon - t > game.encodings[arm, 1]:
        return ARM_FAILED - arm
    for step in range(t + 1, game.horizon + 1):
        record_step(table, run, last, step, number, 1)
    while game.grid[at] <= game.horizon:
        table.pulls[last, table.column] = pulls + game.grid[at] - t
        record_regret(table, run, 0.0, at)
        at += 1
    table.pulls[last, table.column] = pulls + game.horizon - t
    return game.horizon


def play(policy: Any, first: Any, table: Table, rng: Rng, run: Run, stop: Any) -> int:
    """Play one run; return the horizon, or a negative number as ``engine.status`` has it."""
    horizon, grid, round, active = run.game.horizon, run.game.grid, first, count_active(table)
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
        x, gap, part = reward_and_gap(run, number, int64(table.pulls[i, table.column]) + 1, t, part)
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
        record_step(table, run, i, t, round.number, active)
        if t == due:
            record_regret(table, run, lost, at)
            at += 1
            due = int(grid[at])
        if t % POLL_STEPS == 0 and cuda.atomic.add(stop, 0, 0) > 0:
            return STOPPED
    return finish(table, run, round.number, t, at) if t < horizon else t


def kernel(
    policy: Any, first: Any, game: Game, first_run: int, runs: int, ziggurat: Any, widths: Any, stop: Any,
    memory: Memory,
) -> None:  # fmt: skip
    """Play run ``first_run`` plus the number of the thread, and write what an ``Outcome`` has."""
    lane = cuda.threadIdx.x
    entry = cuda.blockIdx.x * LANES + lane
    if len(ziggurat) > 1:
        load_ziggurat(ziggurat, lane, LANES)
    table = new_table(lane, entry, memory.floats, memory.integers, widths)
    if entry >= runs:
        return
    key = bits(bits(game.seed, 1), first_run + entry)
    run = Run(game, key, memory.regret[entry], memory.path[entry % len(memory.path)])
    start(policy, table, run)
    states = cuda.local.array(1, STATE_TYPE)
    states[0]["key"] = bits(key, POLICY_STREAM)
    states[0]["drawn"] = 0
    memory.answers[entry] = play(policy, first, table, Rng(states[0]), run, stop)
    for i in range(ARMS):
        memory.pulls[entry, table.order[i, table.column]] = table.pulls[i, table.column]
        if GONE > 1:
            memory.eliminated[entry, table.order[i, table.column]] = max(table.gone[i, table.entry], 0)

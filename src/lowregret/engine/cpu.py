"""Many runs of a policy on a bandit, or one on a table of rewards: compiled, over threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import current_thread, main_thread
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import numpy as np

from lowregret._common.validation import MAX_ARMS
from lowregret.engine.compile import compiled, entry
from lowregret.engine.dispatch import play
from lowregret.engine.drifting import MeanPath, drifting_reward, mean_at, mean_path, part_at
from lowregret.engine.late_rewards import Lateness, Queue, delay_key, lateness_of, new_queue, nth_delay
from lowregret.engine.late_run import play_late
from lowregret.engine.outcome import Outcome, Trace, eliminates, new_trace
from lowregret.engine.reference import ran_out
from lowregret.engine.rewards import RewardSource, nth_reward, reward, reward_source
from lowregret.engine.rng import Rng, shuffle, stream
from lowregret.engine.simulated_run import POLL_STEPS, Run, Scratch, new_scratch, prepare_run
from lowregret.engine.state import Floats, Integers, Rows, lay_out, rows_of, start
from lowregret.engine.step import MESSAGES
from lowregret.environments import Bandit, Delay, DriftingBandit
from lowregret.environments.drift import PIECEWISE
from lowregret.errors import InputError
from lowregret.policies import Policy

Result = TypeVar("Result")

BLOCK_STEPS = 2_000_000
"""About how many steps a thread makes at a stretch: some tens of milliseconds."""

SIGNAL_INTERVAL = 0.1
"""Seconds for which the main thread waits at most before it looks for an interrupt.

The SIGINT handler of polars lets the system restart a wait, which would never end by itself.
"""

NO_PATH = np.zeros((0, 3), np.int64)


class Stopped(Exception):  # noqa: N818  # nothing went wrong
    """Another thread stopped a simulation."""


class Problem(NamedTuple):
    """What all runs of a simulation share."""

    first: Any  # round
    rows: Rows
    data: Floats
    horizon: int
    clip: bool
    grid: Integers


class Outputs(NamedTuple):
    """Where runs write, one row for each; ``path`` has one row for each step, or none."""

    regret: Floats
    pulls: Integers
    eliminated: Integers
    path: Integers
    stop: Integers


def simulate(
    policy: Policy,
    bandit: Bandit,
    horizon: int,
    runs: int,
    seed: int,
    grid: Integers,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    clip: bool = False,
    first_run: int = 0,
    halt: Integers | None = None,
    record_rewards: bool = False,
    delay: Delay | None = None,
    batch: int = 1,
) -> Outcome:
    """Simulate many runs of a policy, from run ``first_run`` on; run r depends only on the seed and on r.

    The regret is recorded at the increasing times of ``grid``. ``progress`` is called in the calling thread
    with the number of runs just finished. ``halt`` is one integer: another thread that sets it to 1 stops the
    simulation, which then raises ``Stopped``.
    """
    path = mean_path(bandit, horizon) if isinstance(bandit, DriftingBandit) else None
    late = lateness_of(delay, batch, always=path is not None)
    size, rows = len(bandit), rows_of(bandit, policy)
    first = start(policy, rows, horizon)
    try:
        regret = np.zeros((runs, len(grid)))
        pulls, eliminated = np.zeros((2, runs, size), np.int64)
    except (MemoryError, ValueError):
        gigabytes = runs * (len(grid) + 2 * size) * 8 / 1e9
        raise InputError(
            f"{runs} runs need {gigabytes:.3g} GB of memory: use fewer, or a coarser grid"
        ) from None

    halt = np.zeros(1, np.int64) if halt is None else halt
    rewards = np.zeros((runs if record_rewards else 0, size))
    problem = Problem(first, rows, bandit.data, horizon, clip, grid)

    def arguments(start: int, stop: int) -> tuple[Any, ...]:
        outputs = Outputs(regret[start:stop], pulls[start:stop], eliminated[start:stop], NO_PATH, halt)
        scratch = new_scratch(policy, rows, horizon)
        common = problem, np.uint64(seed), first_run + start, True, outputs, scratch
        queue = new_queue(late, size, horizon) if late else None
        return (*common, late, queue, path, rewards[start:stop]) if late else common

    play_all = _play_late_runs if late else _play_runs
    play_runs = interruptible(entry, play_all, policy, *arguments(0, 0))

    def block(start: int, stop: int) -> int:
        raise_for(policy, _call(play_runs, policy, *arguments(start, stop)))
        if record_rewards and path is None:
            key = np.uint64(seed)
            sum_rewards(
                rows, bandit.data, key, first_run + start, pulls[start:stop], rewards[start:stop], halt
            )
        return stop - start

    began = perf_counter()
    threads = share_out(block, runs, horizon, threads, halt, progress)
    seconds = perf_counter() - began
    lost = eliminated if eliminates(policy) else None
    recorded = rewards if record_rewards else None
    return Outcome(policy, grid, regret, pulls, lost, seconds, threads, recorded)


def share_out(
    block: Callable[[int, int], int],
    runs: int,
    steps: int,
    threads: int | None,
    halt: Integers,
    progress: Callable[[int], None] | None,
) -> int:
    """Let threads play blocks of runs, each of so many steps; return the number of threads.

    The main thread only waits, since Python handles no signal while that executes compiled code.
    ``block(start, stop)`` plays runs and returns how many, and must end soon after ``halt`` is set.
    """
    threads = max(min(threads or os.cpu_count() or 1, runs), 1)
    length = max(min(BLOCK_STEPS // steps, -(-runs // (4 * threads))), 1)
    starts = range(0, runs, length)
    with ThreadPoolExecutor(threads) as pool:
        try:
            blocks = [pool.submit(block, start, min(start + length, runs)) for start in starts]
            for each in blocks:
                done = _result(each)
                if progress:
                    progress(done)
        except BaseException:
            halt[0] = 1  # the threads look at this at least every ``POLL_STEPS`` steps
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if halt[0]:
        raise Stopped
    return threads


def interruptible(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function in another thread if this is the main one, so that an interrupt need not wait for it.

    Numba calls Python from compiled code, where an interrupt would be printed and ignored.
    """
    if current_thread() is not main_thread():
        return function(*arguments)
    pool = ThreadPoolExecutor(1)
    try:
        return _result(pool.submit(function, *arguments))
    finally:
        pool.shutdown(wait=False)


def _result(future: Future[Result]) -> Result:
    while not future.done():
        wait([future], SIGNAL_INTERVAL)
    return future.result()


def trace(
    policy: Policy,
    rows: Rows,
    data: Floats,
    horizon: int,
    seed: int,
    run: int = 0,
    shuffled: bool = False,
    clip: bool = False,
    delay: Delay | None = None,
    batch: int = 1,
    drifting: DriftingBandit | None = None,
) -> Trace:
    """Play one run and record every step; arms in the given order, or shuffled as ``simulate`` does."""
    means = None if drifting is None else mean_path(drifting, horizon)
    late = lateness_of(delay, batch, always=drifting is not None)
    try:
        path = np.zeros((horizon, 3), np.int64)
    except (MemoryError, ValueError):
        raise InputError(f"a trace of {horizon} steps does not fit into memory: use fewer") from None
    rows = rows.copy()
    first = start(policy, rows, horizon)
    grid, regret = np.zeros(0, np.int64), np.zeros((1, 0))
    pulls, eliminated = np.zeros((2, 1, len(rows)), np.int64)
    problem = Problem(first, rows, data, horizon, clip, grid)
    halt = np.zeros(1, np.int64)
    outputs = Outputs(regret, pulls, eliminated, path, halt)
    scratch = new_scratch(policy, rows, horizon)
    common = problem, np.uint64(seed), run, shuffled, outputs, scratch
    queue = new_queue(late, len(rows), horizon) if late else None
    arguments = (*common, late, queue, means, np.zeros((0, len(rows)))) if late else common
    play_run = interruptible(entry, _play_late_runs if late else _play_runs, policy, *arguments)

    def block(start: int, stop: int) -> int:
        raise_for(policy, _call(play_run, policy, *arguments))
        return stop - start

    share_out(block, 1, horizon, 1, halt, None)
    arms, rounds, active = path.T.copy()
    lay_out(rows, np.arange(len(rows)), np.uint64(seed), run, rows)
    rewards = np.zeros(horizon)
    pulled = np.zeros(len(rows), np.int64)
    if means is None:
        collect_rewards(rows, data, arms, pulled, rewards)
    else:
        collect_drifting_rewards(rows, data, arms, pulled, rewards, means)
    delays = None
    if late and lateness_of(delay, batch):
        delays = np.zeros(horizon, np.int64)
        key, counts = np.uint64(delay_key(np.uint64(seed), run)), np.zeros(len(rows), np.int64)
        collect_delays(late, key, arms, rewards, counts, delays)
    return new_trace(policy, arms, rewards, rounds, active, delays)


@compiled
def collect_rewards(rows: Rows, data: Floats, arms: Integers, pulls: Integers, rewards: Floats) -> None:
    """Draw again the rewards of one run; ``rows`` are the arms by number, ``pulls`` are counted in it."""
    for t in range(len(arms)):
        pulls[arms[t]] += 1
        rewards[t] = reward(rows[arms[t]], data, pulls[arms[t]])


@compiled
def collect_drifting_rewards(
    rows: Rows, data: Floats, arms: Integers, pulls: Integers, rewards: Floats, path: MeanPath
) -> None:
    """Do what ``collect_rewards`` does where means change."""
    part = 0
    for t in range(1, len(arms) + 1):
        number = arms[t - 1]
        pulls[number] += 1
        part = part_at(path, part, t) if path.kind == PIECEWISE else 0
        mean = mean_at(path, part, t, number)
        rewards[t - 1] = drifting_reward(rows[number], data, pulls[number], mean, path.first[number])


@compiled
def collect_delays(
    late: Lateness, key: np.uint64, arms: Integers, rewards: Floats, pulls: Integers, delays: Integers
) -> None:
    """Draw again the delays of one run, whose arms and rewards are given; ``pulls`` are counted."""
    for t in range(len(arms)):
        pulls[arms[t]] += 1
        delays[t] = nth_delay(late, key, arms[t], pulls[arms[t]], rewards[t])


@compiled
def sum_rewards(
    rows: Rows, data: Floats, seed: np.uint64, run: int, pulls: Integers, sums: Floats, stop: Integers
) -> None:
    """Draw again the rewards of runs, the first of which has a number, and add them up by arm."""
    for row in range(len(pulls)):
        for i in range(len(rows)):
            kind, _, a, b, c, d = reward_source(rows[i])
            source = RewardSource(kind, stream(seed, run + row, i), a, b, c, d)
            for n in range(1, pulls[row, i] + 1):
                sums[row, i] += nth_reward(source, data, n)
                if n % POLL_STEPS == 0 and stop[0]:
                    return


def raise_for(policy: Policy, answer: int) -> None:
    """Raise ``InputError`` for what a policy did wrong, if compiled code answers with a negative number."""
    if answer in MESSAGES:
        raise InputError(f"{policy}: {MESSAGES[answer]}")
    if -MAX_ARMS <= answer < 0:
        raise InputError(f"{policy}: {ran_out(-answer - 1)}")


def _call(compiled: Callable[..., int], policy: Policy, *arguments: Any) -> int:
    try:
        return compiled(policy, *arguments)
    except TypeError as error:  # Numba compiles a method that may return None, and fails when it does
        if not str(error).endswith("got None"):
            raise
        raise InputError(
            f"{policy}: a method such as next_round returned None: return a value in every branch"
        ) from None


def _play_runs(
    policy: Any,
    problem: Problem,
    seed: np.uint64,
    start: int,
    shuffled: bool,
    outputs: Outputs,
    scratch: Scratch,
) -> int:
    """Play as many runs as the outputs have rows, the first being run number ``start``."""
    first, given, data, horizon, clip, grid = problem
    rows, order, rng = scratch.rows, scratch.order, Rng(scratch.states[0], scratch.rewards)
    for run in range(start, start + len(outputs.regret)):
        if shuffled:
            shuffle(seed, run, order)
        prepare_run(given, seed, run, scratch)
        row = run - start
        regret, path, stop = outputs.regret[row], outputs.path, outputs.stop
        answer = play(policy, first, rng, Run(rows, data, horizon, clip, grid, regret, path, stop, scratch))
        if answer < 0:
            return answer
        for i in range(len(rows)):
            outputs.pulls[row, order[i]] = rows[i]["pulls"]
            outputs.eliminated[row, order[i]] = max(rows[i]["eliminated"], 0)
    return 0


def _play_late_runs(
    policy: Any,
    problem: Problem,
    seed: np.uint64,
    start: int,
    shuffled: bool,
    outputs: Outputs,
    scratch: Scratch,
    late: Lateness,
    queue: Queue,
    means: Any,
    sums: Floats,
) -> int:
    """Do what ``_play_runs`` does where rewards are late or means change.

    ``sums`` has a row for the rewards of each run, or none.
    """
    first, given, data, horizon, clip, grid = problem
    rows, order, rng = scratch.rows, scratch.order, Rng(scratch.states[0], scratch.rewards)
    for run in range(start, start + len(outputs.regret)):
        if shuffled:
            shuffle(seed, run, order)
        prepare_run(given, seed, run, scratch)
        row, key = run - start, delay_key(seed, run)
        regret, path, stop = outputs.regret[row], outputs.path, outputs.stop
        game = Run(rows, data, horizon, clip, grid, regret, path, stop, scratch)
        own = sums[row] if len(sums) > 0 else regret[:0]
        answer = play_late(policy, first, rng, game, late, queue, key, means, own)
        if answer < 0:
            return answer
        for i in range(len(rows)):
            outputs.pulls[row, order[i]] = rows[i]["pulls"] + rows[i]["pending"]
            outputs.eliminated[row, order[i]] = max(rows[i]["eliminated"], 0)
    return 0

"""Compiled runs over threads."""

from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from lowregret.engine.backends.threads import interruptible, run_in_threads
from lowregret.engine.bridge.compiler import entry
from lowregret.engine.encoding import encode, periods_for, queue_for
from lowregret.engine.failures import call, raise_for
from lowregret.engine.kernels import delayed_run, scan
from lowregret.engine.kernels.delayed_rewards import delay_model
from lowregret.engine.kernels.exceedances import new_scores
from lowregret.engine.kernels.runs import Outputs, Setup, new_memory, play_runs, sum_rewards
from lowregret.engine.kernels.ways import way_to_play
from lowregret.engine.prior import room_for_rewards
from lowregret.engine.problem import RECORDS, Control, Outcome, Problem, eliminates
from lowregret.engine.start import within_memory


def run(problem: Problem, control: Control) -> Outcome:
    policy, horizon, runs, size = problem.policy, problem.horizon, problem.runs, len(problem.bandit)
    encoding, seed, halt = encode(problem), np.uint64(problem.seed), control.halt
    rows, data, means = encoding.rows, encoding.data, encoding.means
    gigabytes = runs * (len(problem.grid) + 2 * size) * 8 / 1e9
    with within_memory(f"{runs} runs need {gigabytes:.3g} GB of memory: use fewer, or a coarser grid"):
        regret = np.zeros((runs, len(problem.grid)))
        pulls, eliminated = np.zeros((2, runs, size), np.int64)
    records = {name: _room(problem, name) for name in RECORDS}
    setup = Setup(
        encoding.first_round, rows, data, horizon, problem.clip, problem.grid, seed, encoding.shuffled
    )
    delayed = encoding.delays is not None or means is not None or problem.period is not None
    way = scan if problem.prior else way_to_play(policy, size, horizon)  # shortcuts know no prior
    way = delayed_run if delayed else way

    def new_scratch() -> Any:
        if not delayed:
            return way.new_scratch(policy, rows, horizon)
        delays = encoding.delays or delay_model(None, 1)
        return delayed_run.Scratch(new_scores(policy, size), delays, queue_for(delays, size, horizon), means)

    def arguments(start: int, stop: int) -> tuple[Any, ...]:
        part, wanted = slice(start, stop), problem.record
        recorded = {name: array[part] if name in wanted else array for name, array in records.items()}
        outputs = Outputs(regret[part], pulls[part], eliminated[part], stop=halt, **recorded)
        rewards = room_for_rewards(policy, size, horizon, problem.prior)
        memory = new_memory(rows, rewards, periods_for(problem))
        return setup, problem.first_run + start, outputs, memory, new_scratch()

    play = interruptible(partial(entry, play=way.play), play_runs, policy, *arguments(0, 0))

    def block(start: int, stop: int) -> int:
        raise_for(policy, call(play, policy, *arguments(start, stop)), problem.bandit)
        if "rewards" in problem.record and means is None:
            first_run, sums = problem.first_run + start, records["rewards"][start:stop]
            sum_rewards(rows, data, seed, first_run, pulls[start:stop], sums, halt)
        return stop - start

    began = perf_counter()
    threads = run_in_threads(block, runs, horizon, control)
    seconds = perf_counter() - began
    recorded = {name: records[name] for name in problem.record}
    times = eliminated if eliminates(policy) else None
    return Outcome(policy, problem.grid, regret, pulls, times, recorded, seconds, threads)


def _room(problem: Problem, name: str) -> Any:
    """Return the array of a record; where it is not wanted, one entry that holds no number."""
    record, size = RECORDS[name], len(problem.bandit)
    if name not in problem.record:
        return np.zeros((1, *(0 * length for length in record.shape(size, 0))), record.dtype)
    steps = problem.horizon
    with within_memory(f"a trace of {steps} steps does not fit into memory: use fewer"):
        return np.zeros((problem.runs, *record.shape(size, steps)), record.dtype)

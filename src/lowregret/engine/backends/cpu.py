"""Compiled runs over threads."""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from lowregret._common.arrays import Integers
from lowregret.engine.backends.threads import interruptible, run_in_threads
from lowregret.engine.bridge.code_cache import has_code
from lowregret.engine.bridge.compiler import (
    address_of,
    address_path,
    entry,
    entry_path,
    expect,
    has_address,
    has_entry,
)
from lowregret.engine.bridge.numba_options import lock
from lowregret.engine.encoding import arm_table, encode, rows_of_runs
from lowregret.engine.failures import call, raise_for
from lowregret.engine.kernels import delayed_run
from lowregret.engine.kernels.answers import Answers
from lowregret.engine.kernels.modes import play_run, select_mode
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.runs import (
    Addresses,
    Outputs,
    Setup,
    new_memory,
    play_runs,
    prepare_run,
    sum_rewards,
)
from lowregret.engine.kernels.simulated_run import Run, finish, pull_each
from lowregret.engine.kernels.statistics import observes_plainly
from lowregret.engine.problem import PATH, RECORDS, REWARDS, Control, Outcome, Problem, eliminates
from lowregret.engine.start import within_memory

ANSWERED = Answers._fields[:3]
"""The records of what a policy answers, which are computed together."""
PLAY = "play"
"""The part of a problem's machine code that knows the policy."""


class Game:
    """The arrays of a problem's runs, and what compiled code plays them with."""

    def __init__(self, problem: Problem, halt: Integers) -> None:
        self.problem, self.halt = problem, halt
        runs, size = problem.runs, len(problem.bandit)
        self.encoding = encode(problem)
        gigabytes = runs * (len(problem.grid) + 2 * size) * 8 / 1e9
        with within_memory(f"{runs} runs need {gigabytes:.3g} GB of memory: use fewer, or a coarser grid"):
            self.regret = np.zeros((runs, len(problem.grid)))
            self.pulls, self.eliminated = np.zeros((2, runs, size), np.int64)
        self.recorded = problem.record.union(() if self.encoding.sides is None else ANSWERED)
        self.records = {
            name: _allocate(problem, name, name in self.recorded)
            for name, record in RECORDS.items()
            if not record.of_path
        }
        self.mode = select_mode(problem)
        self.addresses = Addresses(0, 0, 0)

    def arguments(self, start: int, stop: int) -> tuple[Any, ...]:
        """Return the arguments of ``play_runs`` after the policy, for the runs from ``start`` to ``stop``."""
        problem, encoding = self.problem, self.encoding
        part, horizon, sides = slice(start, stop), problem.horizon, encoding.sides
        recorded = {
            name: array[part] if name in self.recorded else array for name, array in self.records.items()
        }
        answers = None
        if sides is not None:
            recommended, loss, stopped = (recorded[name] for name in ANSWERED)
            answers = Answers(recommended, loss, stopped, sides)
        outputs = Outputs(
            self.regret[part], self.pulls[part], self.eliminated[part], recorded[REWARDS], recorded[PATH],
            answers, self.halt,
        )  # fmt: skip
        memory = new_memory(arm_table(problem, encoding.rows))
        scratch = self.mode.new_scratch(problem.policy, encoding, horizon)
        arms = rows_of_runs(problem, encoding, problem.first_run + start, stop - start)
        setup = Setup(
            encoding.first_round, arms, encoding.data, horizon, problem.clip, problem.grid,
            np.uint64(problem.seed), encoding.shuffled, self.addresses,
        )  # fmt: skip
        return setup, problem.first_run + start, outputs, memory, scratch

    @property
    def calls(self) -> tuple[Any, Any]:
        """The function that plays a run, and the one of the mode that is compiled instead."""
        return play_run, self.mode.play

    def called(self, examples: tuple[Any, ...]) -> dict[str, tuple[Any, ...]]:
        """Return by the fields of ``Addresses`` the functions that know no policy, with arguments for each.

        ``examples`` are the ``arguments`` of one run.
        """
        setup, _, outputs, memory, _ = examples
        regret, rewards, path = outputs.regret[0], outputs.rewards[0], outputs.path[0]
        run = Run(
            memory.table, setup.data, setup.horizon, setup.clip, setup.grid, setup.seed, 0,
            regret, rewards, path, outputs.answers, 0, outputs.stop, 0,
        )  # fmt: skip
        rng = Rng(memory.states[0])
        called: dict[str, tuple[Any, ...]] = {
            "prepare_run": (prepare_run, setup.rows[0], setup.seed, 0, setup.shuffled, memory),
            "finish": (finish, run, 0, 0),
        }
        if observes_plainly(type(self.problem.policy)) and self.mode is not delayed_run:
            called["pull_each"] = pull_each, None, 0, rng, 0, run
        return called

    def play(self) -> Any:
        """Return ``play_runs`` for the problem, compiled or loaded with all that it calls."""
        examples = self.arguments(0, 1)
        called, play = self.called(examples), self.own_code(examples)
        addresses = {name: address_of(*arguments) for name, arguments in called.items()}
        self.addresses = self.addresses._replace(**addresses)
        return play

    def own_code(self, examples: tuple[Any, ...]) -> Any:
        """Return ``play_runs`` for the problem; what it calls by an address may not be compiled yet."""
        with lock:
            for arguments in self.called(examples).values():
                expect(*arguments)
            return entry(play_runs, self.problem.policy, *examples, calls=self.calls)

    def missing_paths(self) -> dict[str, str | None]:
        """Return the parts that this process has not compiled, and beside which files they are kept."""
        examples = self.arguments(0, 1)
        play, called = (play_runs, self.problem.policy, *examples), self.called(examples)
        paths = {name: address_path(*other) for name, other in called.items() if not has_address(*other)}
        if not has_entry(*play, calls=self.calls):
            paths[PLAY] = entry_path(*play, calls=self.calls)
        return paths


def prepare(problem: Problem, part: str = "") -> None:
    """Compile what plays a problem, or one part of that, and keep it on disk."""
    game = Game(replace(problem, runs=1), Control().halt)
    examples = game.arguments(0, 1)
    if part in ("", PLAY):
        game.own_code(examples)
    for name, arguments in game.called(examples).items():
        if part in ("", name):
            address_of(*arguments)


def missing_parts(problem: Problem) -> dict[str, str | None]:
    """Return the parts that are not on disk, and beside which file each would be kept, if it can be."""
    paths = Game(replace(problem, runs=1), Control().halt).missing_paths()
    return {part: path for part, path in paths.items() if not (path and has_code(path))}


def run(problem: Problem, control: Control) -> Outcome:
    policy, horizon, runs, halt = problem.policy, problem.horizon, problem.runs, control.halt
    game = Game(problem, halt)
    encoding, records, pulls = game.encoding, game.records, game.pulls
    rows, data, means, seed = encoding.rows, encoding.data, encoding.means, np.uint64(problem.seed)
    play = interruptible(game.play)

    def block(start: int, stop: int) -> int:
        raise_for(policy, call(play, policy, *game.arguments(start, stop)), problem.bandit)
        if REWARDS in problem.record and means is None:
            first_run, sums = problem.first_run + start, records[REWARDS][start:stop]
            sum_rewards(rows, data, seed, first_run, pulls[start:stop], sums, halt)
        return stop - start

    began = perf_counter()
    threads = run_in_threads(block, runs, horizon, control)
    seconds = perf_counter() - began
    recorded = {name: records[name] for name in problem.record}
    times = game.eliminated if eliminates(policy) else None
    return Outcome(policy, problem.grid, game.regret, pulls, times, recorded, seconds, threads)


def _allocate(problem: Problem, name: str, wanted: bool) -> Any:
    """Return the array of a record; where it is not wanted, a placeholder for one run without numbers."""
    record, size = RECORDS[name], len(problem.bandit)
    if not wanted:
        return np.zeros((1, *(0 * length for length in record.shape(size, 0, 0))), record.dtype)
    steps = problem.horizon
    with within_memory(f"a trace of {steps} steps does not fit into memory: use fewer"):
        return np.zeros((problem.runs, *record.shape(size, steps, len(problem.grid))), record.dtype)

"""Runs on an NVIDIA GPU, one thread each: the same policies and the same random numbers.

A kernel calls what the compiled engine calls wherever that is a function of numbers: the methods of the
policy, random numbers, rewards, drift, sums, means and variances, posteriors, the clock. These parts of a
step are written a second time, by the same names, since they read or write the arms of a run. Those are not
rows here: threads that play in step must find one field of an arm side by side in memory, and a small table
lies in shared memory.

- ``play``: ``observe`` (``statistics``), ``eliminate_dominated`` (``step``), ``record_regret``,
  ``record_step`` and ``finish`` (``simulated_run``), and ``drifting_reward`` (``drifting``), which reads the
  source of an arm from arrays.
- ``table``: ``count_active`` and ``log_eliminated`` (``step``), ``best_mean`` (``statistics``),
  ``checked_place`` (``bridge``), and ``arm_at`` with ``DeviceArms`` for ``arm_view`` with ``Arms``
  (``policies.views``).
- ``choosers`` finds the next arm, as ``kernels.lazy`` does: what a warp of threads does fast is another way.

``tests/engine/test_cuda.py`` compares all of it with the reference, pull by pull, and checks this list.
"""

from __future__ import annotations

from contextlib import nullcontext
from time import perf_counter, sleep
from typing import Any, NamedTuple

import numpy as np

from lowregret._common.progress import compiling
from lowregret.engine.backends.cuda.choosers import choose, choose_separable, fill_widths
from lowregret.engine.backends.cuda.device import (
    SIMULATED,
    ZIGGURAT,
    configured,
    cuda,
    make_kernel,
    policy_tuple,
)
from lowregret.engine.backends.cuda.device import require_device as require_device
from lowregret.engine.backends.cuda.layout import constants_of
from lowregret.engine.backends.cuda.play import Game, Memory, binary_reward, kernel, reward_and_gap
from lowregret.engine.backends.cuda.table import DeviceArms, new_table, shared_table
from lowregret.engine.backends.threads import Stopped
from lowregret.engine.bridge.policy_types import policy_type
from lowregret.engine.encoding import Encoding, encode
from lowregret.engine.failures import raise_for
from lowregret.engine.kernels.drifting import MeanPath
from lowregret.engine.kernels.rng import Rng
from lowregret.engine.kernels.runs import sum_rewards
from lowregret.engine.kernels.state import CLOSED
from lowregret.engine.problem import PATH, RECORDS, REWARDS, Control, Outcome, Problem, eliminates
from lowregret.engine.start import within_memory
from lowregret.policies import NEVER
from lowregret.policies.base import is_randomized

CHUNK_RUNS = 2**15
STREAMS = 4
"""How many launches are under way at a time; results of one are copied while others play."""
WAIT_SECONDS = 5e-4
"""How long the host sleeps between two looks at a launch."""

_kernels: dict[Any, tuple[Any, Any]] = {}
_launched: set[Any] = set()
"""The kernels that were compiled for the types of their arguments."""


class Buffers(NamedTuple):
    """The memory of one launch on the GPU, the stream that it runs in, and the event of its end."""

    memory: Memory
    stream: Any
    event: Any


def run(problem: Problem, control: Control) -> Outcome:
    encoding, policy, runs = encode(problem), problem.policy, problem.runs
    constants = constants_of(problem, encoding)
    play, argument = _kernel_for(problem, constants)
    arguments = argument, encoding.first_round, _game(problem, encoding)
    gigabytes = runs * (len(problem.grid) + 2 * len(problem.bandit)) * 8 / 1e9
    with within_memory(f"{runs} runs need {gigabytes:.3g} GB of memory: use fewer, or a coarser grid"):
        outputs: dict[str, Any] = {
            name: np.empty((runs, *shape), kind) for name, shape, kind in _outputs(problem)
        }
    with within_memory("the arms of one launch do not fit into the memory of the GPU: use fewer arms"):
        chunk = min(_chunk_runs(constants), runs)
        buffers = [_new_buffers(problem, constants, chunk) for _ in range(min(STREAMS, -(-runs // chunk)))]
    stop, lanes = cuda.to_device(np.zeros(1, np.int32)), constants["LANES"]
    draws_normals = constants[reward_and_gap] is not binary_reward or is_randomized(type(policy))
    ziggurat = cuda.to_device(ZIGGURAT if draws_normals else ZIGGURAT[:1])
    room = 8 * len(ZIGGURAT) if draws_normals else 0

    def launch(start: int, count: int, buffer: Buffers) -> None:
        start_kernel = configured(play, max(-(-count // lanes), 1), lanes, buffer.stream, room)
        start_kernel(*arguments, problem.first_run + start, count, ziggurat, widths, stop, buffer.memory)
        buffer.event.record(buffer.stream)

    with nullcontext() if play in _launched else compiling(f"{policy} for the GPU"):
        widths = _widths(problem, constants, arguments)
        launch(0, 0, buffers[0])  # plays no run, but compiles
        cuda.synchronize()
        _launched.add(play)
    began = perf_counter()
    under_way: list[tuple[int, int, Buffers]] = []
    try:
        for number, start in enumerate(range(0, runs, chunk)):
            if len(under_way) == len(buffers):
                _collect(policy, outputs, control, *under_way.pop(0))
            under_way.append((start, min(chunk, runs - start), buffers[number % len(buffers)]))
            launch(*under_way[-1])
        while under_way:
            _collect(policy, outputs, control, *under_way.pop(0))
    except BaseException:
        stop.copy_to_device(np.ones(1, np.int32), stream=cuda.stream())
        cuda.synchronize()
        raise
    seconds = perf_counter() - began
    records = {name: outputs[name] for name in problem.record & outputs.keys()}
    if REWARDS in problem.record:
        records[REWARDS] = np.zeros(outputs["pulls"].shape)
        sum_rewards(
            encoding.rows, encoding.data, np.uint64(problem.seed), problem.first_run, outputs["pulls"],
            records[REWARDS], control.halt,
        )  # fmt: skip
    regret, pulls = outputs["regret"], outputs["pulls"]
    return Outcome(policy, problem.grid, regret, pulls, outputs.get("eliminated"), records, seconds, 1)


def _widths(problem: Problem, constants: dict[Any, Any], arguments: tuple[Any, ...]) -> Any:
    if constants[choose] is not choose_separable:
        return cuda.to_device(np.zeros((1, 1)))
    widths, lanes = cuda.device_array((2, problem.horizon + 1)), constants["LANES"]
    fill = make_kernel(fill_widths, constants, DeviceArms, type(arguments[0]))
    configured(fill, -(-problem.horizon // lanes), lanes)(*arguments[:2], problem.horizon, widths)
    return widths


def _outputs(problem: Problem) -> list[tuple[str, tuple[int, ...], Any]]:
    """Return the names of what is copied from the GPU, with the shape for one run and the type of numbers."""
    arms = len(problem.bandit)
    outputs: list[tuple[str, tuple[int, ...], Any]] = [
        ("regret", (len(problem.grid),), np.float64),
        ("pulls", (arms,), np.int64),
    ]
    if eliminates(problem.policy):
        outputs.append(("eliminated", (arms,), np.int64))
    for name in problem.record - {REWARDS}:
        outputs.append((name, RECORDS[name].shape(arms, problem.horizon, 0), RECORDS[name].dtype))
    return outputs


def _kernel_for(problem: Problem, constants: dict[Any, Any]) -> tuple[Any, Any]:
    """Return the kernel of a problem, and the policy as its argument."""
    key = policy_type(type(problem.policy)), *constants.items()
    policy = policy_tuple(problem.policy)
    if key not in _kernels:
        _kernels[key] = make_kernel(kernel, constants, DeviceArms, Rng, type(policy)), type(policy)
    compiled, kind = _kernels[key]
    return compiled, kind(*policy)


def _game(problem: Problem, encoding: Encoding) -> Game:
    """Return what the runs of a problem play on, in the memory of the GPU."""
    rows, path = encoding.rows, encoding.means
    if path is None:
        path = MeanPath(0, np.zeros(1, np.int64), np.zeros((1, 1)), 1.0, np.zeros(1), np.zeros(1))
    game = Game(
        kinds=rows["kind"].astype(np.int64),
        encodings=np.stack([rows[name] for name in "abcd"], axis=1),
        thresholds=np.ceil(np.clip(rows["a"], 0.0, 1.0) * 2.0**53).astype(np.uint64),
        data=np.append(encoding.data, 0.0),
        gaps=rows["gap"] * (encoding.means is None),
        closed=np.where(rows["active"], 0, CLOSED).astype(np.int32),
        means=MeanPath(*map(_on_device, path)),
        horizon=problem.horizon,
        grid=np.append(problem.grid, NEVER),
        seed=np.uint64(problem.seed),
        shuffled=encoding.shuffled,
    )
    return Game(*map(_on_device, game))


def _on_device(value: Any) -> Any:
    return cuda.to_device(np.array(value)) if isinstance(value, np.ndarray) else value


def _chunk_runs(constants: dict[Any, Any]) -> int:
    """Return how many runs a launch plays, so that their tables take at most 1/8 of the GPU's memory."""
    if constants[new_table] is shared_table:
        return CHUNK_RUNS
    floats, integers = _numbers_of_thread(constants)
    free = 2**30 if SIMULATED else cuda.current_context().get_memory_info()[0]
    return max(min(CHUNK_RUNS, int(free / 8 / STREAMS / (8 * floats + 4 * integers))), 1)


def _numbers_of_thread(constants: dict[Any, Any]) -> tuple[int, int]:
    """Return how many floats and how many integers a thread has in global memory."""
    floats = sum(constants[name] for name in ("SUMS", "MEMORY", "SPREADS", "PADDED", "RANKS"))
    integers = sum(constants[name] for name in ("GONE", "ARMS", "ARMS", "COUNTS", "RESETS", "RANKS"))
    return floats, integers


def _new_buffers(problem: Problem, constants: dict[Any, Any], chunk: int) -> Buffers:
    """Return memory for one launch; what a kernel does not use has one number."""
    threads = -(-chunk // constants["LANES"]) * constants["LANES"]
    arms, times = len(problem.bandit), max(len(problem.grid), 1)
    in_global = constants[new_table] is not shared_table
    floats, integers = _numbers_of_thread(constants) if in_global else (1, constants["GONE"])
    columns = threads if in_global or integers > 1 else 1
    path = (chunk, problem.horizon, 3) if PATH in problem.record else (1, 1, 1)
    gone = (chunk, arms) if constants["GONE"] > 1 else (1, 1)
    memory = Memory(
        floats=cuda.device_array((floats, columns), order="F"),
        integers=cuda.device_array((integers, columns), np.int32, order="F"),
        regret=cuda.device_array((chunk, times)),
        pulls=cuda.device_array((chunk, arms), np.int64),
        eliminated=cuda.device_array(gone, np.int64),
        path=cuda.device_array(path, np.int64),
        answers=cuda.device_array(chunk, np.int64),
    )
    return Buffers(memory, cuda.stream(), cuda.event())


def _collect(
    policy: Any, outputs: dict[str, Any], control: Control, start: int, count: int, buffer: Buffers
) -> None:
    while not control.halt[0] and not SIMULATED and not buffer.event.query():
        sleep(WAIT_SECONDS)
    if control.halt[0]:
        raise Stopped
    answers = buffer.memory.answers[:count].copy_to_host(stream=buffer.stream)
    buffer.stream.synchronize()
    raise_for(policy, int(answers[np.argmax(answers < 0)]))
    for name, output in outputs.items():
        if output.size:
            getattr(buffer.memory, name)[:count].copy_to_host(
                output[start : start + count], stream=buffer.stream
            )
    buffer.stream.synchronize()
    if control.progress:
        control.progress(count)

"""What a worker does: play the runs of one shard and write them as Parquet, in memory."""

import hashlib
import io
import os
import socket
from collections.abc import Iterable
from time import perf_counter
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from lowregret._common.arrays import Floats, Integers
from lowregret._common.forks import lost_threads
from lowregret._common.progress import reporting
from lowregret.engine.backends import run
from lowregret.engine.problem import Control, Problem
from lowregret.experiments.policy_loading import load_code
from lowregret.experiments.sharding import ENGINE, ArmGroups, Shard, bandit_of
from lowregret.results.run_tables import run_rows


class Finished(NamedTuple):
    """The result of a shard: a Parquet file, its checksum, the seconds of its runs and those before them."""

    data: bytes
    sha256: str
    seconds: float
    setup_seconds: float = 0.0


class Arrays(NamedTuple):
    """The result of a shard from a process that cannot write Parquet: the arrays of an ``Outcome``."""

    regret: Floats
    pulls: Integers
    eliminated: Integers | None
    records: dict[str, Any]
    seconds: float
    setup_seconds: float


_halts: WeakValueDictionary[str, Integers] = WeakValueDictionary()
"""What stops each shard that this process computes now, by its name."""


def stop(shards: Iterable[Shard]) -> None:
    """Stop those of the shards that threads of this process compute now: they raise ``Stopped``."""
    for shard in shards:
        if (halt := _halts.get(shard.name)) is not None:
            halt[0] = 1


def work(shard: Shard, arms: ArmGroups) -> Finished | Arrays:
    """Compute a shard on the arms of its environment, in whatever process this is."""
    if shard.engine != ENGINE:
        where = f"process {os.getpid()} on {socket.gethostname()}"
        raise RuntimeError(f"{where} runs other sources of lowregret than the planner: install the same")
    began = perf_counter()
    bandit = bandit_of(arms)
    policy = load_code(shard.policy)(**dict(shard.parameters))
    control = Control(threads=1)
    _halts[shard.name] = control.halt
    problem = Problem(policy, bandit, **shard.settings)
    with reporting(False):  # the process that planned the work reports
        outcome = run(problem, shard.backend, control)
    records, setup = dict(outcome.records), perf_counter() - began - outcome.seconds
    arrays = Arrays(outcome.regret, outcome.pulls, outcome.eliminated, records, outcome.seconds, setup)
    return arrays if lost_threads() else as_finished(shard, arrays)


def as_finished(shard: Shard, result: Finished | Arrays) -> Finished:
    if isinstance(result, Finished):
        return result
    rows = run_rows(shard.first, result.regret, result.pulls, result.eliminated, result.records)
    buffer = io.BytesIO()
    # The quickest to write; nobody looks for values in a shard.
    rows.write_parquet(buffer, compression="lz4", statistics=False)
    data = buffer.getvalue()
    return Finished(data, hashlib.sha256(data).hexdigest(), result.seconds, result.setup_seconds)

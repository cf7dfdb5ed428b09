"""Compute the missing shards of an experiment on any executor, and store each as it finishes."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from math import inf
from pathlib import Path
from time import monotonic
from typing import NamedTuple, TypeAlias

import polars as pl

from lowregret._common.text import count
from lowregret._common.validation import integer
from lowregret.engine.cpu import SIGNAL_INTERVAL
from lowregret.errors import InputError, LowRegretError
from lowregret.experiments.executors import ThreadExecutor, worker_count
from lowregret.experiments.long_tables import NamedShard, plan_tables
from lowregret.experiments.plan import SHARD_STEPS, Plan, Shard, make_plan
from lowregret.experiments.policy_loading import NotHere
from lowregret.experiments.spec import Experiment
from lowregret.experiments.store import ResultStore, description
from lowregret.experiments.stored_results import open_results
from lowregret.experiments.unfinished import write_plan
from lowregret.experiments.worker import Arrays, Finished, stop, work, written
from lowregret.results import Results

Done: TypeAlias = list[tuple[Shard, Finished]]
"""Shards with their results."""

RETRIES = 3
"""How often a failed shard is tried again."""

POOLS = 5
"""How many executors in a row may break without finishing a shard, where new ones can be made."""

AGAIN = ", run it again to continue"

STOP_TIMEOUT = 0.5
"""Seconds for which an interrupted run waits for the shards that are being computed."""

WORKERS_CHECK_INTERVAL = 1.0
"""Seconds between two looks at the number of workers."""


class Progress(NamedTuple):
    """Progress of a run, in shards and in steps.

    ``there`` shards existed when it began; ``done`` and ``steps`` count what was finished since, out of
    ``shards`` and ``all_steps`` that were missing or ``damaged``.
    """

    done: int
    shards: int
    steps: int
    all_steps: int
    there: int
    damaged: int


class FailedShardsError(LowRegretError):
    """Some shards could not be computed; all others are kept."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; the shards that are stored in a folder are kept."""


def run(
    experiment: Experiment,
    out: str | Path | None = None,
    *,
    executor: Executor | Callable[[], Executor] | None = None,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    shard_steps: int = SHARD_STEPS,
) -> Results:
    """Compute the missing shards and return the results; see `Experiment.run`."""
    threads = integer("run", "threads", (os.cpu_count() or 1) if threads is None else threads)
    make = (lambda: ThreadExecutor(threads)) if executor is None else executor
    plan = make_plan(experiment, shard_steps)
    if out is None:
        return _run_in_memory(plan, make, progress)
    store = ResultStore(Path(out))
    policies = {shard.name: pair.policy for pair in plan.pairs for shard in pair.shards}

    def keep(done: Done) -> None:
        store.put([(shard, policies[shard.name], finished) for shard, finished in done])

    with store.open():
        if store.published().get("plan") != plan.name:
            store.withdraw()
        missing = store.missing(plan)
        if missing:
            write_plan(store.folder, plan)
        job = _Job(plan, keep, progress, damaged=len(store.damaged))
        _compute(job, missing, make)
        store.publish(plan)
        return open_results(out)


def _run_in_memory(
    plan: Plan, make: Executor | Callable[[], Executor], progress: Callable[[Progress], None] | None
) -> Results:
    kept: dict[str, bytes] = {}

    def keep(done: Done) -> None:
        kept.update({shard.name: finished.data for shard, finished in done})

    def rows(shards: Sequence[NamedShard]) -> pl.LazyFrame:
        files = {shard.name: pl.read_parquet(BytesIO(kept[shard.name])) for shard in shards}
        return pl.concat([file.with_columns(shard=pl.lit(name)) for name, file in files.items()]).lazy()

    _compute(_Job(plan, keep, progress, stored=False), list(plan.shards), make)
    return Results(description(plan), plan_tables(plan, rows).__getitem__)


@dataclass
class _Job:
    """The state of a run: shards that wait, run, are done and failed.

    Where an executor breaks, any of the running shards may have killed a worker. These ``suspects`` are run
    one at a time, each alone; one that breaks an executor by itself is tried again when all others are done.
    """

    plan: Plan
    keep: Callable[[Done], None]
    progress: Callable[[Progress], None] | None
    damaged: int = 0
    stored: bool = True
    waiting: deque[Shard] = field(default_factory=deque)
    suspects: deque[Shard] = field(default_factory=deque)
    last: deque[Shard] = field(default_factory=deque)
    alone: bool = False
    running: dict[Future[Finished | Arrays], Shard] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    reported: Progress = field(default_factory=lambda: Progress(0, 0, 0, 0, 0, 0))

    def begin(self, missing: list[Shard]) -> None:
        """Queue the shards to compute."""
        self.waiting.extend(missing)
        steps = sum(shard.steps for shard in missing)
        there = len(self.plan.shards) - len(missing)
        self.reported = Progress(0, len(missing), 0, steps, there, self.damaged)
        if self.progress:
            self.progress(self.reported)

    def has_waiting(self) -> bool:
        """Return whether any shard waits."""
        return bool(self.waiting or self.suspects or self.last)

    def submit(self, pool: Executor, most: int) -> bool:
        """Send the next shard to an executor, if one may run beside those that are running."""
        line = self.suspects or self.waiting or self.last
        alone = line is not self.waiting
        if not line or self.alone or len(self.running) >= (1 if alone else most):
            return False
        future = pool.submit(work, line[0], self.plan.environments[line[0].environment])
        self.running[future] = line.popleft()
        self.alone = alone
        return True

    def collect(self, futures: Iterable[Future[Finished | Arrays]]) -> BaseException | None:
        """Store the results of shards or queue them again; return the error if the executor broke.

        A shard counts as running until it is stored, so that an interrupt loses nothing.
        """
        done: dict[Future[Finished | Arrays], tuple[Shard, Finished]] = {}
        broke: BaseException | None = None
        alone, self.alone = self.alone, False
        for future in futures:
            shard = self.running[future]
            try:
                done[future] = shard, written(shard, future.result())
                continue
            except (BrokenExecutor, CancelledError) as error:
                self.fail(shard, error, self.last if alone else self.suspects)
                broke = error
            except Exception as error:  # whatever happened to the worker
                self.fail(shard, error, self.waiting)
            del self.running[future]
        if done:
            self.keep(list(done.values()))
            self.count([self.running.pop(future) for future in done])
        return broke

    def fail(self, shard: Shard, error: BaseException, line: deque[Shard]) -> None:
        """Queue a shard again, or record that it failed."""
        self.failures[shard.name] += 1
        permanent = isinstance(error, InputError) and not isinstance(error, NotHere)
        if permanent or self.failures[shard.name] > RETRIES:
            self.failed[shard.name] = str(error) or type(error).__name__
        else:
            line.append(shard)

    def count(self, shards: Sequence[Shard]) -> None:
        """Report stored shards one by one; all of them count even if a report is interrupted."""
        states = [self.reported]
        for shard in shards:
            last = states[-1]
            states.append(last._replace(done=last.done + 1, steps=last.steps + shard.steps))
        self.reported = states[-1]
        if self.progress:
            for state in states[1:]:
                self.progress(state)

    def kept(self, advice: str = "") -> str:
        """Return how many shards are done, and whether they are kept; if so, with some advice."""
        done = f"{self.reported.there + self.reported.done} of {len(self.plan.shards)} shards are done"
        if not self.stored:
            return f"{done}, and none is kept: give a folder for the results"
        return f"{done} and kept{advice}"


def _compute(job: _Job, missing: list[Shard], make: Executor | Callable[[], Executor]) -> None:
    """Compute shards; replace an executor that broke where another can be made."""
    job.begin(missing)
    broken = 0
    while job.has_waiting():
        error, before = None, job.reported.done
        with _pool(make) as pool:
            try:
                error = _drive(job, pool)
            except KeyboardInterrupt:
                _stop(job)
        if error is not None:
            broken = broken + 1 if job.reported.done == before else 1
            if isinstance(make, Executor) or broken == POOLS:
                raise FailedShardsError(_lost_workers(job, error))
    if job.failed:
        raise FailedShardsError(_failures(job))


def _drive(job: _Job, pool: Executor) -> BaseException | None:
    """Keep an executor busy until no shard is left, with at most two shards per worker."""
    error: BaseException | None = None
    asked = -inf
    while job.has_waiting() or job.running:
        if monotonic() - asked >= WORKERS_CHECK_INTERVAL:  # workers may join and leave
            workers, asked = worker_count(pool), monotonic()
        try:
            while error is None and job.submit(pool, 2 * workers):
                pass
        except BrokenExecutor as problem:
            error = problem
        if not job.running:
            break
        done = wait(job.running, SIGNAL_INTERVAL, FIRST_COMPLETED).done
        error = job.collect(done) or error if done else error
    return error


def _stop(job: _Job) -> None:
    """After an interrupt, stop the running shards, and store those that end in a moment."""
    with suppress(KeyboardInterrupt):  # a second one leaves them alone
        for future in list(job.running):
            if future.cancel():
                del job.running[future]
        stop(job.running.values())
        job.collect(wait(job.running, timeout=STOP_TIMEOUT).done)
    raise Interrupted(f"interrupted: {job.kept(AGAIN)}")


@contextmanager
def _pool(make: Executor | Callable[[], Executor]) -> Iterator[Executor]:
    """Yield an executor, and shut it down if it was made here."""
    if isinstance(make, Executor):
        yield make
        return
    pool = make()
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _lost_workers(job: _Job, error: BaseException) -> str:
    """Return the message for lost workers, with the shards at which they were lost repeatedly."""
    reason = str(error) or type(error).__name__
    for shard in job.last:
        job.failed[shard.name] = "its worker went away"
    lost = f"; {_failures(job, AGAIN)}" if job.failed else f": {job.kept(AGAIN)}"
    return f"the workers went away ({reason}){lost}"


def _failures(job: _Job, advice: str = "") -> str:
    """Return the message for failed shards, by policy and environment."""
    failed: dict[str, tuple[int, str]] = {}
    for pair in job.plan.pairs:
        reasons = [job.failed[shard.name] for shard in pair.shards if shard.name in job.failed]
        if reasons:
            failed[f"{pair.policy} on {pair.environment!r}"] = len(reasons), reasons[0]
    first = list(failed.items())[:3]
    parts = [f"{name} ({count(shards, 'shard')}): {reason}" for name, (shards, reason) in first]
    more = f"; and {len(failed) - 3} more pairs" if len(failed) > 3 else ""
    return f"failed: {'; '.join(parts)}{more}; {job.kept(advice)}"

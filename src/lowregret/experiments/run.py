"""Compute what is missing of an experiment, on any executor, and keep each shard as it is finished."""

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
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from math import inf
from pathlib import Path
from time import monotonic
from typing import NamedTuple, TypeAlias

import polars as pl

from lowregret._common.validation import integer
from lowregret.errors import InputError, LowRegretError
from lowregret.experiments.executors import ThreadExecutor, worker_count
from lowregret.experiments.plan import SHARD_STEPS, Plan, Shard, make_plan
from lowregret.experiments.policy_loading import NotHere
from lowregret.experiments.spec import Experiment
from lowregret.experiments.store import ResultStore, description
from lowregret.experiments.worker import Finished, work
from lowregret.results.layout import long_tables
from lowregret.results.stored import Results, describe, open_results

Done: TypeAlias = list[tuple[Shard, Finished]]
"""Shards with their results."""

RETRIES = 3
"""How often a shard that failed is tried again."""

POOLS = 5
"""How many executors may break with no shard finished in between, where new ones can be made."""

PATIENCE = 1.0
"""For how many seconds the number of workers is taken to be what it was."""


class Progress(NamedTuple):
    """How far a run is, in shards and in steps.

    ``there`` shards were there when it began; ``done`` and ``steps`` count what was finished since, out of
    ``shards`` and ``all_steps`` that were missing, ``damaged`` ones among them.
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
    """A run was stopped by the user; what was finished is kept.

    ``at_once`` says that the user was in a hurry, and shards are still under way in other threads.
    """

    at_once = False


def run(
    experiment: Experiment,
    out: str | Path | None = None,
    *,
    executor: Executor | Callable[[], Executor] | None = None,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    shard_steps: int = SHARD_STEPS,
) -> Results:
    """Compute what is not there yet and give the results; see `Experiment.run`.

    Parameters
    ----------
    experiment, out, executor, threads, progress
        As in `Experiment.run`.
    shard_steps : int
        About how many steps a shard has; the results do not depend on it.
    """
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

    def rows(shards: Sequence[Shard]) -> pl.LazyFrame:
        files = {shard.name: pl.read_parquet(BytesIO(kept[shard.name])) for shard in shards}
        return pl.concat([file.with_columns(shard=pl.lit(name)) for name, file in files.items()]).lazy()

    _compute(_Job(plan, keep, progress), list(plan.shards), make)
    return Results(describe(description(plan)), long_tables(plan, rows))


@dataclass
class _Job:
    """The state of a run: what waits, what is under way, what is done and what failed.

    Where an executor breaks, any of the shards under way may be the one that killed a worker. These
    ``suspects`` go on one by one, nothing beside them; one that breaks an executor by itself is taken up
    again when all else is done.
    """

    plan: Plan
    keep: Callable[[Done], None]
    progress: Callable[[Progress], None] | None
    damaged: int = 0
    waiting: deque[Shard] = field(default_factory=deque)
    suspects: deque[Shard] = field(default_factory=deque)
    last: deque[Shard] = field(default_factory=deque)
    alone: bool = False
    under_way: dict[Future[Finished], Shard] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    told: Progress = field(default_factory=lambda: Progress(0, 0, 0, 0, 0, 0))

    def begin(self, missing: list[Shard]) -> None:
        """Line up what is to be computed."""
        self.waiting.extend(missing)
        steps = sum(shard.steps for shard in missing)
        there = len(self.plan.shards) - len(missing)
        self.told = Progress(0, len(missing), 0, steps, there, self.damaged)
        if self.progress:
            self.progress(self.told)

    def lines(self) -> bool:
        """Say whether anything waits."""
        return bool(self.waiting or self.suspects or self.last)

    def submit(self, pool: Executor, most: int) -> bool:
        """Send the next shard to an executor, if one may go while others are under way."""
        line = self.suspects or self.waiting or self.last
        alone = line is not self.waiting
        if not line or self.alone or len(self.under_way) >= (1 if alone else most):
            return False
        future = pool.submit(work, line[0], self.plan.environments[line[0].environment])
        self.under_way[future] = line.popleft()
        self.alone = alone
        return True

    def settle(self, futures: Iterable[Future[Finished]]) -> BaseException | None:
        """Keep the results of shards, or line them up again; give the error if the executor broke.

        A shard is under way until it is kept, so that an interrupt in the middle of that loses nothing.
        """
        done: dict[Future[Finished], tuple[Shard, Finished]] = {}
        broke: BaseException | None = None
        alone, self.alone = self.alone, False
        for future in futures:
            shard = self.under_way[future]
            try:
                done[future] = shard, future.result()
                continue
            except (BrokenExecutor, CancelledError) as error:
                self.fail(shard, error, self.last if alone else self.suspects)
                broke = error
            except Exception as error:  # whatever happened to the worker
                self.fail(shard, error, self.waiting)
            del self.under_way[future]
        if done:
            self.keep(list(done.values()))
            self.count([self.under_way.pop(future) for future in done])
        return broke

    def fail(self, shard: Shard, error: BaseException, line: deque[Shard]) -> None:
        """Line a shard up again, or give it up."""
        self.failures[shard.name] += 1
        hopeless = isinstance(error, InputError) and not isinstance(error, NotHere)
        if hopeless or self.failures[shard.name] > RETRIES:
            self.failed[shard.name] = str(error) or type(error).__name__
        else:
            line.append(shard)

    def count(self, shards: Sequence[Shard]) -> None:
        """Report shards that are kept, one by one; all of them count even if a report is interrupted."""
        told = [self.told]
        for shard in shards:
            told.append(told[-1]._replace(done=told[-1].done + 1, steps=told[-1].steps + shard.steps))
        self.told = told[-1]
        if self.progress:
            for now in told[1:]:
                self.progress(now)

    def kept(self) -> str:
        """Say how much is there."""
        return f"{self.told.there + self.told.done} of {len(self.plan.shards)} shards are done and kept"


def _compute(job: _Job, missing: list[Shard], make: Executor | Callable[[], Executor]) -> None:
    """Compute shards, with a new executor where one broke and another can be made."""
    job.begin(missing)
    broken = 0
    while job.lines():
        error, before = None, job.told.done
        with _pool(make) as pool:
            try:
                error = _drive(job, pool)
            except KeyboardInterrupt:
                _wind_up(job)
        if error is not None:
            broken = broken + 1 if job.told.done == before else 1
            if isinstance(make, Executor) or broken == POOLS:
                raise FailedShardsError(_gone(job, error))
    if job.failed:
        raise FailedShardsError(_failures(job))


def _drive(job: _Job, pool: Executor) -> BaseException | None:
    """Keep an executor busy until nothing is left, never with more than two shards per worker."""
    error: BaseException | None = None
    asked = -inf
    while job.lines() or job.under_way:
        if monotonic() - asked >= PATIENCE:  # workers come and go
            workers, asked = worker_count(pool), monotonic()
        try:
            while error is None and job.submit(pool, 2 * workers):
                pass
        except BrokenExecutor as problem:
            error = problem
        if not job.under_way:
            break
        error = job.settle(wait(job.under_way, return_when=FIRST_COMPLETED).done) or error
    return error


def _wind_up(job: _Job) -> None:
    """After an interrupt, keep what is nearly done; a second interrupt leaves at once."""
    at_once = False
    try:
        for future in list(job.under_way):
            if future.cancel():
                del job.under_way[future]
        job.settle(wait(job.under_way).done)
    except KeyboardInterrupt:
        at_once = True
    end = Interrupted(f"interrupted: {job.kept()}, run it again to go on")
    end.at_once = at_once
    raise end


@contextmanager
def _pool(make: Executor | Callable[[], Executor]) -> Iterator[Executor]:
    """Give an executor, and end it if it is ours."""
    if isinstance(make, Executor):
        yield make
        return
    pool = make()
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _gone(job: _Job, error: BaseException) -> str:
    """Say that no workers are left, and at which shards they were lost again and again."""
    reason = str(error) or type(error).__name__
    for shard in job.last:
        job.failed[shard.name] = "its worker went away"
    lost = f"; {_failures(job)}" if job.failed else f": {job.kept()}"
    return f"the workers went away ({reason}){lost}, run it again to go on"


def _failures(job: _Job) -> str:
    """Name what failed, by policy and environment, and why."""
    told: dict[str, tuple[int, str]] = {}
    for pair in job.plan.pairs:
        reasons = [job.failed[shard.name] for shard in pair.shards if shard.name in job.failed]
        if reasons:
            told[f"{pair.policy} on {pair.environment!r}"] = len(reasons), reasons[0]
    parts = [f"{name} ({count} shards): {reason}" for name, (count, reason) in list(told.items())[:3]]
    more = f"; and {len(told) - 3} more pairs" if len(told) > 3 else ""
    return f"failed: {'; '.join(parts)}{more}; {job.kept()}"

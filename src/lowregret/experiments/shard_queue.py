"""The queue of shards that wait to be computed: which is next, which run alone, how much work remains."""

import sys
from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any, NamedTuple, TypeAlias

from lowregret.experiments.sharding import Shard
from lowregret.experiments.worker import Finished

Code: TypeAlias = tuple[Any, ...]
"""Shards of equal code have one class to compile, and take about the same time for a step."""


class ShardAttempt(NamedTuple):
    """A shard to compute, with the number of its failures; ``alone`` if an executor broke while it ran."""

    shard: Shard
    failures: int = 0
    alone: bool = False

    @property
    def code(self) -> Code:
        shard = self.shard
        return shard.policy, shard.parameters, shard.arms, shard.settings["delay"] is None


class ShardQueue:
    """The attempts that wait.

    1. A shard that may have broken an executor is next, and nothing runs beside it.
    2. The first shard of a policy compiles its class. The others wait for it: then their time is known, and
       the first runs of all policies come first, the slowest before the others.
    3. A shard that broke an executor while it was alone is last.
    """

    def __init__(self, shards: Iterable[Shard] = ()) -> None:
        self._suspects: deque[ShardAttempt] = deque()
        self._untried: dict[Code, deque[ShardAttempt]] = {}
        self._tried: dict[Code, deque[ShardAttempt]] = {}
        self._ready: list[tuple[int, float, str, ShardAttempt]] = []
        self.last: deque[ShardAttempt] = deque()
        self._step_seconds: dict[Code, float] = {}
        self._setup_seconds: dict[Code, float] = {}
        self._steps_left: dict[Code, int] = {}
        self._seconds = 0.0
        for attempt in map(ShardAttempt, shards):
            self._untried.setdefault(attempt.code, deque()).append(attempt)
            self._steps_left[attempt.code] = self._steps_left.get(attempt.code, 0) + attempt.shard.steps

    def __bool__(self) -> bool:
        return bool(self._suspects or self._has_others() or self.last)

    def _has_others(self) -> bool:
        return bool(self._ready or self._untried or any(self._tried.values()))

    def next_is_alone(self) -> bool:
        """Return whether nothing may run beside the next attempt."""
        return bool(self._suspects) or not self._has_others()

    def pop(self, compiling: int) -> ShardAttempt:
        """Return the next attempt; at most ``compiling`` compile at a time, unless no other waits."""
        if self.next_is_alone():
            return (self._suspects or self.last).popleft()
        if self._untried and (len(self._tried) < compiling or not self._ready):
            code = next(iter(self._untried))
            self._tried[code] = self._untried.pop(code)
            return self._tried[code].popleft()
        if self._ready:
            return heappop(self._ready)[-1]
        return next(line for line in self._tried.values() if line).popleft()

    def put_back(self, attempt: ShardAttempt) -> None:
        """Take back an attempt that no executor has begun."""
        if attempt.alone:
            self._suspects.appendleft(attempt)
        else:
            self._queue(attempt)

    def retry(self, attempt: ShardAttempt, *, alone: bool) -> None:
        """Queue a shard that failed: behind all others, or if an executor broke, to be run alone."""
        again = ShardAttempt(attempt.shard, attempt.failures + 1, alone)
        if alone:
            self.drop(attempt)
            (self.last if attempt.alone else self._suspects).append(again)
        else:
            self._queue(again)

    def drop(self, attempt: ShardAttempt) -> None:
        """Take note that a shard failed, so that another one compiles its class."""
        if attempt.code not in self._step_seconds:
            line = self._untried.pop(attempt.code, deque())
            line.extend(self._tried.pop(attempt.code, ()))
            if line:
                self._untried[attempt.code] = line

    def _queue(self, attempt: ShardAttempt) -> None:
        if attempt.code in self._step_seconds:
            heappush(self._ready, (sys.maxsize, 0.0, attempt.shard.name, attempt))
        else:
            self.drop(attempt)
            self._untried.setdefault(attempt.code, deque()).append(attempt)

    def finish(self, shard: Shard, result: Finished) -> None:
        """Take note of the time of a shard, and make those of the same code ready."""
        code = ShardAttempt(shard).code
        self._steps_left[code] -= shard.steps
        self._seconds += result.seconds + result.setup_seconds
        if code not in self._step_seconds:
            self._step_seconds[code] = result.seconds / shard.steps
            self._setup_seconds[code] = result.setup_seconds
            for other in (*self._tried.pop(code, ()), *self._untried.pop(code, ())):
                seconds = self._step_seconds[code] * other.shard.steps
                heappush(self._ready, (other.shard.first, -seconds, other.shard.name, other))

    def share(self) -> float:
        """Return the share of the work that is done, in time; code that has not run yet costs the mean."""
        count = len(self._step_seconds)
        if not count:
            return 0.0
        step_seconds = sum(self._step_seconds.values()) / count
        setup_seconds = sum(self._setup_seconds.values()) / count
        remaining = sum(
            self._step_seconds[code] * steps
            if code in self._step_seconds
            else setup_seconds + step_seconds * steps
            for code, steps in self._steps_left.items()
        )
        return self._seconds / max(self._seconds + remaining, 1e-9)

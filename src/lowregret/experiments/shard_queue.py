"""The order in which shards are computed, and an estimate of the work that remains."""

import sys
from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any, TypeAlias

from lowregret.experiments.sharding import Shard
from lowregret.experiments.worker import Finished

Code: TypeAlias = tuple[Any, ...]
"""Shards of equal code have one class to compile, and take about the same time for a step."""


def _code(shard: Shard) -> Code:
    return shard.policy, shard.parameters, shard.arms, shard.delay is None


class ShardQueue:
    """The shards that wait to be computed.

    The first shard of a policy compiles its class. The others wait for it: then their time is known, and the
    first runs of all policies come first, the slowest before the others.
    """

    def __init__(self, shards: Iterable[Shard] = ()) -> None:
        self._untried: dict[Code, deque[Shard]] = {}
        self._tried: dict[Code, deque[Shard]] = {}
        self._ready: list[tuple[int, float, str, Shard]] = []
        self._step_seconds: dict[Code, float] = {}
        self._setup_seconds: dict[Code, float] = {}
        self._steps_left: dict[Code, int] = {}
        self._seconds = 0.0
        for shard in shards:
            code = _code(shard)
            self._untried.setdefault(code, deque()).append(shard)
            self._steps_left[code] = self._steps_left.get(code, 0) + shard.steps

    def __bool__(self) -> bool:
        return bool(self._ready or self._untried or any(self._tried.values()))

    def pop(self, compiling: int) -> Shard:
        """Return the next shard; at most ``compiling`` that compile are under way, unless no other waits."""
        if self._untried and (len(self._tried) < compiling or not self._ready):
            code = next(iter(self._untried))
            self._tried[code] = self._untried.pop(code)
            return self._tried[code].popleft()
        if self._ready:
            return heappop(self._ready)[-1]
        return next(line for line in self._tried.values() if line).popleft()

    def fail(self, shard: Shard, *, again: bool) -> None:
        """Take note that a shard failed; if it is tried ``again``, it waits behind all others."""
        code = _code(shard)
        if code not in self._step_seconds:
            line = self._untried.pop(code, deque())
            line.extend(self._tried.pop(code, ()))
            line.extend([shard] * again)
            if line:
                self._untried[code] = line
        elif again:
            heappush(self._ready, (sys.maxsize, 0.0, shard.name, shard))

    def finish(self, shard: Shard, result: Finished) -> None:
        """Take note of the time of a shard, and make those of the same code ready."""
        code = _code(shard)
        self._steps_left[code] -= shard.steps
        self._seconds += result.seconds + result.setup_seconds
        if code not in self._step_seconds:
            self._step_seconds[code] = result.seconds / shard.steps
            self._setup_seconds[code] = result.setup_seconds
            for other in (*self._tried.pop(code, ()), *self._untried.pop(code, ())):
                seconds = self._step_seconds[code] * other.steps
                heappush(self._ready, (other.first, -seconds, other.name, other))

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

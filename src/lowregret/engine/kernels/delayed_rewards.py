"""When rewards are known: the delay of each, and the rewards that are pending.

A delay is a pure function of (seed, run, arm, n), as the reward is: the n-th pull of an arm in a run has the
same reward and the same delay for every policy. The draws have a stream of their own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lowregret._common.arrays import Floats, Integers
from lowregret.engine.bridge.compile import compiled, compiled_inline
from lowregret.engine.kernels.rng import DELAY_STREAM, bits, exponential, normal, stream, uniform
from lowregret.environments.delays import CONSTANT, EMPIRICAL, GEOMETRIC, LOGNORMAL, Delay

LOST = -1
"""The delay of a reward that is never reported."""

LONGEST = 2.0**53


class DelaySource(NamedTuple):
    """A distribution of delays; given values are ``data[a : a + b]``."""

    kind: int
    a: float
    b: float
    lost: float


class DelayModel(NamedTuple):
    """When rewards are known: by their delays, and between batches of decisions only."""

    positive: DelaySource
    other: DelaySource
    data: Floats
    batch: int
    longest: int


class Queue(NamedTuple):
    """The rewards that are pending, in a ring of steps; each step has a list of those due at its end.

    ``first`` and ``last`` are the ends of the list of a step, and ``following`` leads from a decision to the
    next one in its list, all by their places in the ring; -1 is none. ``place`` and ``reward`` are those of a
    decision. A list is in the order of decisions.
    """

    first: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]
    following: npt.NDArray[np.int32]
    place: npt.NDArray[np.int32]
    reward: Floats
    eliminated: Integers  # the decision after which each arm was


def delay_model(delay: Delay | None, batch: int) -> DelayModel:
    """Return when rewards are known; without a delay, before the next decision or batch of decisions."""
    delay, sources, data = delay or Delay.constant(0), list[DelaySource](), list[float]()
    for encoding in (delay.positive.encoding, delay.other.encoding):
        first = len(data) + encoding.a if encoding.values else encoding.a
        sources.append(DelaySource(encoding.kind, first, encoding.b, encoding.lost))
        data += encoding.values
    positive, other = sources
    return DelayModel(positive, other, np.array(data, np.float64), batch, delay.longest)


def new_queue(size: int, arms: int) -> Queue:
    """Return room for so many pending rewards."""
    if size >= 2**31:
        raise MemoryError
    first, last, following, place = (np.empty(size, np.int32) for _ in range(4))
    return Queue(first, last, following, place, np.empty(size), np.zeros(arms, np.int64))


@compiled_inline
def _steps(source: DelaySource, data: Floats, key: Any, n: int) -> int:
    """Draw the n-th delay of a stream."""
    if source.lost > 0.0 and uniform(key, 2 * n + 1) < source.lost:
        return LOST
    if source.kind == CONSTANT:
        return int(source.a)
    return _draw_steps(source, data, key, n)


@compiled
def _draw_steps(source: DelaySource, data: Floats, key: Any, n: int) -> int:
    if source.kind == EMPIRICAL:
        return int(data[int(source.a) + int(uniform(key, 2 * n) * source.b)])
    if source.kind == GEOMETRIC:
        return int(min(source.a * exponential(key, 2 * n), LONGEST))
    if source.kind == LOGNORMAL:
        return int(min(source.a * np.exp(source.b * normal(key, 2 * n)) + 0.5, LONGEST))
    raise NotImplementedError  # of a distribution that has no sampler here


@compiled
def delay_key(seed: Any, run: int) -> Any:
    """Return the key of the delays of a run."""
    return stream(seed, run, DELAY_STREAM)


@compiled_inline
def nth_delay(model: DelayModel, key: Any, arm: int, n: int, reward: float) -> int:
    """Return the delay of the n-th reward of an arm, ``LOST`` if it is never reported."""
    own = bits(key, arm)
    if reward > 0.0:
        return _steps(model.positive, model.data, own, n)
    return _steps(model.other, model.data, own, n)


@compiled_inline
def due_after(t: int, delay: int, batch: int) -> int:
    """Return the step at whose end the reward of decision ``t`` is known: the last one of a batch."""
    due = t + delay
    return due if batch == 1 else (due + batch - 1) // batch * batch


@compiled
def clear(queue: Queue) -> None:
    """Forget all pending rewards."""
    queue.first[:], queue.eliminated[:] = -1, 0


@compiled_inline
def enqueue(queue: Queue, slot: int, ahead: int, place: int, reward: float) -> None:
    """Store the reward of the decision in a slot of the ring, due so many steps ahead."""
    due = slot + ahead
    if due >= len(queue.first):
        due -= len(queue.first)
    queue.place[slot], queue.reward[slot], queue.following[slot] = place, reward, -1
    if queue.first[due] < 0:
        queue.first[due] = slot
    else:
        queue.following[queue.last[due]] = slot
    queue.last[due] = slot

"""Blocks of runs over threads, such that an interrupt stops them at once."""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import current_thread, main_thread
from typing import Any, TypeVar

from lowregret._common.progress import tick
from lowregret.engine.problem import Control

Result = TypeVar("Result")

BLOCK_STEPS = 2_000_000
"""About how many steps a thread makes at a stretch: some tens of milliseconds."""

SIGNAL_SECONDS = 0.1
"""For how long the main thread waits at most before it looks for an interrupt.

The SIGINT handler of polars lets the system restart a wait, which would never end by itself.
"""


class Stopped(Exception):  # noqa: N818  # nothing went wrong
    """Another thread stopped a simulation."""


def run_in_threads(block: Callable[[int, int], int], runs: int, steps: int, control: Control) -> int:
    """Let threads play blocks of runs, each run of so many steps; return the number of threads.

    The main thread only waits, since Python handles no signal while the main thread runs compiled code.
    ``block(start, stop)`` plays runs and returns how many, and must end soon after ``control.halt`` is set.
    """
    threads = max(min(control.threads or os.cpu_count() or 1, runs), 1)
    length = max(min(BLOCK_STEPS // steps, -(-runs // (4 * threads))), 1)
    bounds = [(start, min(start + length, runs)) for start in range(0, runs, length)]
    if threads == 1 and current_thread() is not main_thread():
        for start, stop in bounds:
            _report(control, block(start, stop))
            if control.halt[0]:
                break
    else:
        with ThreadPoolExecutor(threads) as pool:
            try:
                for future in [pool.submit(block, start, stop) for start, stop in bounds]:
                    _report(control, _result(future))
            except BaseException:
                control.halt[0] = 1  # the threads look at this at least every ``POLL_STEPS`` steps
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    if control.halt[0]:
        raise Stopped
    return threads


def _report(control: Control, runs: int) -> None:
    if control.progress:
        control.progress(runs)


def interruptible(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function in another thread if this is the main one, so that an interrupt does not wait."""
    if current_thread() is not main_thread():
        return function(*arguments)
    pool = ThreadPoolExecutor(1)
    try:
        return _result(pool.submit(function, *arguments))
    finally:
        pool.shutdown(wait=False)


def _result(future: Future[Result]) -> Result:
    while not future.done():
        wait([future], SIGNAL_SECONDS)
        tick()
    return future.result()

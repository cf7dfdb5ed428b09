"""Executors that know their number of workers: threads of this process, and Dask (the extra ``dask``)."""

import logging
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread
from typing import Any, NamedTuple

from lowregret._common.extras import import_extra
from lowregret.errors import InputError
from lowregret.experiments.sharding import ArmGroups

DASK_CONFIG = {
    "distributed.admin.tick.limit": "1h",  # a compiling worker is busy, not lost
    # By default Dask profiles its workers a hundred times a second, which costs a part of a core.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.large-graph-warning-threshold": "1TB",  # large data is sent only once
    # Ctrl-C reaches every process of a terminal; the planner decides what happens then, not the workers.
    "distributed.worker.preload": ["import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"],
}

CLOSE_TIMEOUT = 15
"""Seconds to wait for workers to end; Dask waits without limit for one that was damaged."""

INTERRUPT_TIMEOUT = 0.2
"""The same after an interrupt; processes of ours end when this one does."""

CONNECT_TIMEOUT = 5

LARGE_ENVIRONMENT = 10_000
"""Numbers that describe an environment above which it is sent once, not with every shard: some 100 kB."""


def worker_count(executor: Executor) -> int:
    """Return how many tasks an executor runs at once now; one per core where it does not say."""
    workers: Callable[[], int] | None = getattr(executor, "workers", None)
    return workers() if workers else os.cpu_count() or 1


class ThreadExecutor(ThreadPoolExecutor):
    """Threads of this process."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self._count = threads

    def workers(self) -> int:
        return self._count


class TaskFailure(NamedTuple):
    """The error of a task, and the worker on which it was raised."""

    worker: str
    error: Exception


class DaskExecutor(Executor):
    """A Dask client as an executor; a task that failed and is submitted again goes to another worker."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._failed_on: dict[int, set[str]] = {}
        self._environments: dict[ArmGroups, Any] = {}

    def workers(self) -> int:
        try:
            threads: list[int] = list(self._client.nthreads().values())
        except Exception:  # the scheduler is gone, as the next task reports
            return 1
        return max(sum(threads), 1)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        key = hash((fn, args))
        bad = self._failed_on.get(key, set())
        try:
            others = sorted(set(self._client.nthreads()) - bad) if bad else []
            where = {"workers": others, "allow_other_workers": True} if others else {}
            sent = [self._send(value) for value in args]
            task = self._client.submit(_run_task, fn, sent, kwargs, pure=False, **where)
        except Exception as error:
            raise BrokenExecutor(f"the scheduler is gone: {error or type(error).__name__}") from None
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()  # a task that was sent cannot be cancelled
        task.add_done_callback(lambda done: self._resolve(done, future, key))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster as it is: whoever made the client closes it."""

    def _send(self, value: Any) -> Any:
        """Return a Dask future for a large environment, sent once, and any other argument unchanged."""
        if not isinstance(value, ArmGroups) or value.numbers <= LARGE_ENVIRONMENT:
            return value
        sent = self._environments.get(value)
        if sent is None or sent.status in ("error", "cancelled", "lost"):
            sent = self._environments[value] = self._client.submit(_unchanged, value, pure=False)
        return sent

    def _resolve(self, task: Any, future: Future[Any], key: int) -> None:
        """Pass the result or the error of a task on to its future."""
        try:
            answer = task.result()
        except BaseException as error:  # the scheduler is gone, or one worker after the other died
            lost = BrokenExecutor("the connection to the scheduler is lost") if task.cancelled() else error
            future.set_exception(lost if isinstance(lost, Exception) else RuntimeError(str(lost)))
        else:
            if isinstance(answer, TaskFailure):
                self._failed_on.setdefault(key, set()).add(answer.worker)
                future.set_exception(answer.error)
            else:
                future.set_result(answer)
        task.release()


def local_workers(cluster: str) -> int | None:
    """Return how many processes ``local:N`` asks for, or None for the address of a scheduler."""
    local = re.fullmatch(r"local:([1-9][0-9]{0,3})", cluster)
    address = re.fullmatch(r"(?:tcp|tls|wss?)://[^\s/]+:([0-9]{1,5})/?", cluster)
    if not local and not (address and 1 <= int(address[1]) < 2**16):
        raise InputError(f"cluster must be local:N or an address such as tcp://host:8786, got {cluster!r}")
    return int(local[1]) if local else None


def cluster_workers(cluster: str) -> int:
    """Return how many tasks a cluster runs at once: N of ``local:N``, or what the scheduler says."""
    count = local_workers(cluster)
    if count:
        return count
    with dask_cluster(cluster) as executor:
        return executor.workers()


@contextmanager
def dask_cluster(cluster: str) -> Iterator[DaskExecutor]:
    """Open an executor on ``local:N`` (N processes here) or ``tcp://host:port`` (a Dask scheduler)."""
    count = local_workers(cluster)
    dask, distributed = import_extra("dask", "dask"), import_extra("dask", "distributed")
    with dask.config.set(DASK_CONFIG), _silence_logs():
        processes = client = None
        timeout: float = CLOSE_TIMEOUT
        try:
            if count:
                processes = distributed.LocalCluster(
                    n_workers=count, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
                )
            else:
                _check_scheduler(distributed, cluster)
            try:
                client = distributed.Client(processes or cluster, timeout="20s", set_as_default=False)
            except OSError as error:
                raise InputError(f"no Dask scheduler answers at {cluster}: {error}") from None
            yield DaskExecutor(client)
        except KeyboardInterrupt:
            timeout = INTERRUPT_TIMEOUT
            raise
        finally:
            closing = Thread(target=_close, args=(client, processes), daemon=True)
            closing.start()
            closing.join(timeout)


@contextmanager
def _silence_logs() -> Iterator[None]:
    """Silence the log of Dask: what goes wrong is raised."""
    handlers = logging.getLogger("distributed").handlers
    levels = [(handler, handler.level) for handler in handlers]
    for handler, _ in levels:
        handler.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for handler, level in levels:
            handler.setLevel(level)


def _check_scheduler(distributed: Any, address: str) -> None:
    """Reject an address where no scheduler answers; a client waits without limit for one that is silent."""
    import asyncio

    async def connect() -> None:
        security = distributed.Security().get_connection_args("client")
        connecting = distributed.connect(address, timeout=CONNECT_TIMEOUT, **security)
        comm = await asyncio.wait_for(connecting, CONNECT_TIMEOUT + 1)
        comm.abort()

    try:
        with ThreadPoolExecutor(1) as other:  # the user's thread may run a loop of its own, as in a notebook
            other.submit(lambda: asyncio.run(connect())).result()
    except OSError:
        raise InputError(f"no Dask scheduler answers at {address} within {CONNECT_TIMEOUT} seconds") from None
    except Exception as error:
        raise InputError(f"cannot connect to a Dask scheduler at {address}: {error}") from None


def _close(*opened: Any) -> None:
    for resource in opened:
        if resource is not None:
            resource.close()


def _unchanged(value: Any) -> Any:
    return value


def _run_task(fn: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Run a task on a worker; return its error with the address of the worker."""
    import warnings

    from distributed import get_worker

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the planner has shown them already
            return fn(*args, **kwargs)
    except Exception as error:  # raised where the task was submitted
        return TaskFailure(get_worker().address, error)

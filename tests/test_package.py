"""The package as a whole: every public name is there, and importing it is light."""

import re
import subprocess
import sys
from pathlib import Path

import lowregret as lr
import lowregret.policies
from lowregret.policies import POLICIES


def test_every_public_name_can_be_had():
    for name in dir(lr):
        assert getattr(lr, name) is not None
    assert set(POLICIES) <= set(dir(lr))


def test_type_checkers_see_the_same_names():
    text = Path(lr.__file__).read_text()
    assert "    from lowregret.policies import *\n" in text
    seen = set(re.findall(r"^    from lowregret\S* import \w+ as (\w+)$", text, re.MULTILINE))
    assert seen | {"NEVER", "Arm", "Arms", "Clock", "Policy", "Random", *POLICIES} == set(dir(lr))
    assert set(POLICIES) <= set(lowregret.policies.__all__)


def test_a_star_import_gives_the_public_names():
    names = {}
    exec("from lowregret import *", names)
    assert set(dir(lr)) <= set(names)


def test_a_wrong_name_is_an_attribute_error():
    assert not hasattr(lr, "nothing")


def test_importing_policies_loads_nothing_heavy():
    program = "import sys, lowregret; lowregret.EUCBV(); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    for heavy in ("numba", "polars", "altair", "scipy", "numpy"):
        assert f"'{heavy}'" not in done.stdout

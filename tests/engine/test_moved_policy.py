"""A policy file that is moved: machine code on disk refers to classes of the old file."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

SHEET = Path(__file__).parents[2] / "reproductions" / "eucbv" / "policies.py"
PLAY = """
import sys
import lowregret as lr
from lowregret.policies.loading import load_class
policy = load_class("policies", "UCBImprovedScript", sys.argv[1])()  # its rounds are a NamedTuple
print(lr.simulate(policy, "paper-2", 3_000, 2, progress=False).regret(policy))
"""


def test_a_moved_file_with_a_named_tuple_is_compiled_again(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    printed = []
    for folder in ("first", "second", "second"):
        path = tmp_path / folder / "policies.py"
        path.parent.mkdir(exist_ok=True)
        shutil.copy(SHEET, path)
        call = [sys.executable, "-W", "ignore", "-c", PLAY, str(path)]
        done = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert len(set(printed)) == 1

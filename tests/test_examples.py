"""Every example runs as a user would run it."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
DOWNLOADS = {"open_bandit"}
"""What needs the network; tests/offline/test_open_bandit.py looks at its parts."""
SCRIPTS = sorted(path for path in FOLDER.glob("*.py") if path.stem not in DOWNLOADS)
EXPERIMENTS = sorted(FOLDER.glob("*.toml"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script(path):
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_experiment(path, tmp_path):
    call = [sys.executable, "-m", "lowregret", "run", str(path), "--out", str(tmp_path / "out")]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"results in {tmp_path / 'out'}\n")
    assert (tmp_path / "out" / "finals.parquet").is_file()


def test_there_are_examples():
    assert SCRIPTS
    assert EXPERIMENTS

"""Killed at random moments and resumed each time, a run ends as if nothing had happened."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from random import Random
from time import monotonic, sleep

import pytest
from forked import LIMIT_SECONDS, running

import lowregret as lr

KILLS = 20
LATE = 4
"""How many of the kills come while tables are written."""

SPEC = """
horizon = 2000
runs = 40
seed = 7
grid = { points = 50 }
policies = ["MOSS", "RoundRobin"]
[[environments]]
environment = "bernoulli:0.2,{p/1000}"
"""


@pytest.mark.heavy
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_killed_twenty_times_and_resumed(tmp_path: Path) -> None:
    spec, out = tmp_path / "many.toml", tmp_path / "many"
    spec.write_text(SPEC + f"grid = {{ p = {list(range(300, 500))} }}\n")  # 400 shards of some milliseconds
    shards = 400
    random = Random(2018)
    # Some kills wait for many shards, some for few, and the last ones until tables are being written.
    marks = sorted(random.randrange(shards) for _ in range(KILLS - LATE))
    moments = [partial(has_lines, out, mark) for mark in marks] + [partial(writes_tables, out)] * LATE
    for reached in moments:
        (out / "experiment.json").unlink(missing_ok=True)
        with start(spec) as process:
            wait_for(process, reached)
            sleep(random.uniform(0, 0.03))
            process.send_signal(signal.SIGKILL)
            _, told = process.communicate(timeout=LIMIT_SECONDS)
        assert process.returncode == -signal.SIGKILL, told
    with start(spec) as process:
        _, told = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, told

    whole = tmp_path / "whole"
    truth = lr.Experiment.from_toml(spec).run(whole)
    results = lr.open_results(out)
    assert results.description == truth.description
    for name in ("finals", "paths", "pulls", "events", "arms"):
        assert getattr(results, name).equals(getattr(truth, name)), name
    assert contents(out) == contents(whole)
    assert len(contents(out)) == shards
    assert finished(out) == shards
    assert not list(out.rglob("*.unfinished"))


def start(spec: Path) -> AbstractContextManager[subprocess.Popen]:
    call = [sys.executable, "-m", "lowregret", "run", str(spec)]
    return running(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for(process: subprocess.Popen, reached: Callable[[], bool]) -> None:
    """Wait for a moment, or until the process has ended."""
    end = monotonic() + 120
    while not reached() and process.poll() is None:
        assert monotonic() < end
        sleep(0.002)


def has_lines(out: Path, lines: int) -> bool:
    """Say whether the manifest has so many lines; to read them each time would cost more than the run."""
    try:
        return (out / "manifest.jsonl").read_bytes().count(b"\n") >= lines
    except FileNotFoundError:
        return lines == 0


def writes_tables(out: Path) -> bool:
    return any(out.glob("*.parquet.unfinished"))


def finished(out: Path) -> int:
    """Count the shards that the manifest names."""
    lines = (out / "manifest.jsonl").read_bytes().split(b"\n")[:-1]
    return len({json.loads(line)["shard"] for line in lines if line.endswith(b"}")})


def contents(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "shards").iterdir()}

"""Compiling beside the caller and beforehand: processes fill the cache on disk."""

import os
import subprocess
import sys

import pytest

from lowregret._common.progress import ignore
from lowregret.engine.bridge import precompile
from lowregret.engine.bridge.precompile import default_processes, precompiled

PROGRAM = """
import json, sys
import lowregret as lr
from lowregret.engine.bridge import compiler
result = lr.simulate({policies}, "bernoulli:0.1,0.9", 50, 3, progress=False)
counts = [compiler.counts["compiled"], compiler.counts["loaded"]]
print(json.dumps([*counts, result["RoundRobin"].pulls.tolist()]))
"""


def run(code: str, cache, processes: str) -> str:
    environ = {**os.environ, "XDG_CACHE_HOME": str(cache), precompile.SWITCH: processes}
    command = (
        [sys.executable, "-c", code] if "\n" in code else [sys.executable, "-m", "lowregret", *code.split()]
    )
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_another_process_compiles_and_this_one_loads(tmp_path):
    """In an empty cache, the last policy comes from the other process; afterwards all is on disk."""
    names = ["FixedArm(arm=0)", "FixedArm(arm=1)", "RoundRobin"]
    first = run(PROGRAM.format(policies=names), tmp_path, "1")
    assert run("compile RoundRobin FixedArm(arm=0)", tmp_path, "1").startswith(
        "0 policies compiled, 2 policies compiled before\nkept in /"
    )
    again = run(PROGRAM.format(policies=names), tmp_path, "0")
    assert again.startswith("[0, 2,") and first.partition("[[")[2] == again.partition("[[")[2]
    compiled, loaded = map(int, first[1:].split(", ")[:2])
    assert compiled + loaded == 2 and loaded >= 1


def test_how_many_processes(monkeypatch):
    monkeypatch.setenv(precompile.SWITCH, "3")
    assert default_processes() == 3
    monkeypatch.delenv(precompile.SWITCH)
    assert default_processes() == (os.cpu_count() or 1) - 1
    monkeypatch.setattr(precompile, "parent_process", lambda: object())
    assert default_processes() == 0  # a worker of a pool has no room beside it


@pytest.mark.parametrize("processes", [0, 4])
def test_nothing_is_started_where_nothing_is_missing(monkeypatch, processes):
    monkeypatch.setattr(precompile, "_missing", lambda problems: {})
    monkeypatch.setattr(precompile.subprocess, "Popen", None)
    with precompiled([object(), object()], processes) as wait:
        wait(0)
    ignore(None)


def test_a_process_that_cannot_start_or_dies_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(precompile, "_missing", lambda problems: dict(enumerate(problems)))
    monkeypatch.setattr(precompile, "_packed", lambda problem: b"not a problem")
    monkeypatch.setattr(precompile, "WORKER", "raise SystemExit(1)")
    with precompiled([object(), object()], 1) as wait:
        wait(1), wait(0)

"""Compiling beside the caller and beforehand: processes fill the cache on disk."""

import os
import subprocess
import sys
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest

import lowregret as lr
from lowregret._common.progress import ignore
from lowregret.engine.backends import cpu
from lowregret.engine.backends.cpu import Game
from lowregret.engine.bridge import compiler, precompile
from lowregret.engine.bridge.precompile import Precompiler, Task, default_processes, precompiled
from lowregret.engine.problem import Problem

PROGRAM = """
import json, sys
import lowregret as lr
from lowregret.engine.bridge import compiler
result = lr.simulate({policies}, "bernoulli:0.1,0.9", 50, 3, progress=False)
called = sum(code.cache_hits for code in compiler._addresses.values())
counts = [compiler.counts["compiled"], compiler.counts["loaded"], called]
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
    """In an empty cache, something comes from the other process; afterwards all is on disk."""
    names = ["FixedArm(arm=0)", "FixedArm(arm=1)", "RoundRobin"]
    first = run(PROGRAM.format(policies=names), tmp_path, "1")
    assert run("compile RoundRobin FixedArm(arm=0)", tmp_path, "1").startswith(
        "0 policies compiled, 2 policies compiled before\nkept in /"
    )
    again = run(PROGRAM.format(policies=names), tmp_path, "0")
    assert again.startswith("[0, 2, 3, [[") and first.partition("[[")[2] == again.partition("[[")[2]
    compiled, loaded, called = map(int, first[1:].split(", ")[:3])
    assert compiled + loaded == 2 and loaded + called >= 1


def test_how_many_processes(monkeypatch):
    monkeypatch.setenv(precompile.SWITCH, "3")
    assert default_processes() == 3
    monkeypatch.delenv(precompile.SWITCH)
    assert default_processes() == (os.cpu_count() or 1) - 1
    monkeypatch.setattr(precompile, "parent_process", lambda: object())
    assert default_processes() == 0  # a worker of a pool has no room beside it


@pytest.mark.parametrize("processes", [0, 4])
def test_nothing_is_started_where_nothing_is_missing(monkeypatch, processes):
    monkeypatch.setattr(precompile, "_is_first_call", lambda: False)
    monkeypatch.setattr(precompile, "_tasks", lambda problems: ({}, [set(), set()]))
    monkeypatch.setattr(precompile.subprocess, "Popen", None)
    with precompiled([object(), object()], processes) as wait:
        wait(0)
    ignore(None)


@pytest.mark.parametrize("worker", ["raise SystemExit(1)", "import time; time.sleep(600)"])
def test_a_process_that_cannot_start_or_dies_is_not_waited_for(monkeypatch, worker):
    """Nor is one that is slow to start: this process compiles what no other has begun."""
    tasks = {name: Task(None, name, b"") for name in ("shared", "first", "second")}
    tasks["shared"] = Task(None, "shared", b"not a problem" if "raise" in worker else b"")
    compiled = []
    monkeypatch.setattr(precompile, "_tasks", lambda problems: (tasks, [{"shared", "first"}, {"second"}]))
    monkeypatch.setattr(cpu, "prepare", lambda problem, part: compiled.append(part))
    monkeypatch.setattr(precompile, "WORKER", worker)
    with precompiled([object(), object()], 1) as wait:
        wait(1), wait(0), wait(0)
    assert sorted(set(compiled) | {"shared"}) == sorted(tasks) and len(compiled) == len(set(compiled))


def test_what_is_compiled_elsewhere_is_waited_for_while_this_process_compiles_another(monkeypatch):
    """The other process takes the last task, and answers once this one has compiled all others."""
    tasks = {name: Task(None, name, b"x") for name in ("first", "second", "shared")}
    compiled, answer, taken = [], Event(), Event()

    class Worker:
        stdin = SimpleNamespace(write=lambda data: taken.set(), flush=lambda: None)
        stdout = SimpleNamespace(readline=answer.wait)
        __enter__ = __exit__ = kill = lambda *_: None

    def prepare(problem, part):
        compiled.append(part)
        if part == "second":
            answer.set()

    monkeypatch.setattr(cpu, "prepare", prepare)
    compiler = Precompiler(tasks, [{"first", "shared"}, {"second", "shared"}], [Worker()], list)
    assert taken.wait(10)
    compiler.wait(0)
    assert compiled == ["first", "second"]
    compiler.wait(1)
    compiler.close()
    assert compiled == ["first", "second"]


def test_problems_share_what_knows_no_policy(monkeypatch):
    for compiled in ("_entries", "_addresses"):  # as if this process had compiled nothing
        monkeypatch.setattr(compiler, compiled, {})
    problems = [Problem(policy, lr.bernoulli([0.1, 0.9]), 50) for policy in (lr.UCB1(), lr.MOSS())]
    parts = [Game(problem, np.zeros(1, np.int64)).missing_paths() for problem in problems]
    assert {part for part in parts[0] if parts[0][part] == parts[1][part]} == {
        "prepare_run",
        "pull_each",
        "finish",
    }

"""``lowregret run`` and ``lowregret new`` as a user meets them."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import process_time, sleep

import pytest
from forked import LIMIT_SECONDS, running
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.experiments import executors

SOON = r"(less than a second|about 0:00:\d\d)"
"""What a busy machine measures for a few steps."""

SPEC = """
name = "two coins"
horizon = 60
runs = 4
environments = ["bernoulli:0.1,0.5"]
policies = ["MOSS", "RoundRobin"]
"""


def call(*arguments: str):
    return CliRunner().invoke(app, list(arguments), prog_name="lowregret")


def write(folder: Path, text: str = SPEC) -> Path:
    path = folder / "coins.toml"
    path.write_text(text)
    return path


def test_run_prints_what_the_library_gives_and_keeps_it_beside_the_file(tmp_path: Path) -> None:
    path = write(tmp_path)
    done = call("run", str(path))
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.endswith(f"results in {tmp_path / 'coins'}\n")
    results = lr.open_results(tmp_path / "coins")
    assert results.finals.equals(lr.Experiment.from_toml(path).run().finals)
    row = next(line.split() for line in done.stdout.splitlines() if line.strip().startswith("MOSS"))
    assert float(row[1]) == pytest.approx(results.finals.filter(policy="MOSS")["regret"].mean(), rel=0.006)
    assert call("run", str(path)).stdout == done.stdout


@pytest.mark.filterwarnings("default")
def test_a_dry_run_says_what_would_be_done_and_does_nothing(tmp_path: Path) -> None:
    path, out = write(tmp_path), tmp_path / "out"
    done = call("run", str(path), "--out", str(out), "--dry-run", "--threads", "3")
    assert done.exit_code == 0
    assert "two coins: 1 environment, 2 policies, 4 runs\n" in done.stdout
    assert "2 shards, of which 2 would be computed: 480 steps\n" in done.stdout
    assert re.search(f"^{SOON} on 3 workers", done.stdout, re.MULTILINE)
    assert not out.exists()
    call("run", str(path), "--out", str(out))
    next((out / "shards").iterdir()).write_bytes(b"")
    done = call("run", str(path), "--out", str(out), "--dry-run")
    assert "2 shards, of which 1 (1 of them damaged) would be computed: 240 steps" in done.stdout
    told = "lowregret: warning: 1 of the finished shards are damaged and are computed again\n"
    assert [call("run", str(path), "--out", str(out)).stderr for _ in range(2)] == [told, ""]


@pytest.mark.parametrize(
    ("change", "more", "told"),
    [
        ("runs = 0", [], "lowregret: coins.toml, line 6: runs must be at least 1, got 0\n"),
        ("rums = 4", [], "lowregret: coins.toml: unknown key 'rums', did you mean 'runs'?\n"),
        ("", ["--threads", "0"], "lowregret: run: threads must be an integer of at least 1, got 0"),
        ("", ["--threads", "2", "--cluster", "local:2"], "lowregret: run: use either --threads or --cluster"),
        ("", ["--cluster", "moon"], "lowregret: cluster must be local:N or an address"),
        ("", ["--cluster", "moon", "--dry-run"], "lowregret: cluster must be local:N or an address"),
        ("", ["--cluster", "local:0", "--dry-run"], "lowregret: cluster must be local:N or an address"),
        ("", ["--cluster", "", "--dry-run"], "lowregret: cluster must be local:N or an address"),
        ("", ["--out", "/proc/lowregret"], "lowregret: cannot write to '/proc/lowregret': "),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(tmp_path: Path, change: str, more, told: str) -> None:
    text = SPEC.replace("runs = 4\n", "") + change + "\n"
    done = call("run", str(write(tmp_path, text)), *more)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(told)
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "coins").exists()


def test_a_policy_that_fails_is_named_with_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(
        "import lowregret as lr\nclass Bad(lr.Policy):\n"
        "    def score(self, arm, clock):\n        return (arm.mean + 1e308) * 10.0 * 0.0\n"
    )
    done = call("run", str(write(tmp_path, SPEC.replace('"RoundRobin"', '"bad:Bad"'))))
    assert done.exit_code == 1
    assert done.stderr.startswith("lowregret: failed: Bad on 'bernoulli:0.1,0.5' (1 shard): Bad: ")
    assert done.stderr.endswith("; 1 of 2 shards are done and kept\n")
    assert done.stderr.count("\n") == 1


def test_new_writes_a_file_that_runs_dry_and_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    done = call("new", str(path))
    assert done.stdout == f"wrote {path}: edit it, then `lowregret run {path}`\n"
    assert call("new", str(path)).exit_code == 2
    assert lr.Experiment.from_toml(path).name == "my experiment"


def test_the_schema_is_json() -> None:
    assert json.loads(call("new", "--schema").stdout)["title"] == "Experiment"


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_an_interrupt_keeps_what_is_done(tmp_path: Path) -> None:
    path = write(tmp_path, SPEC.replace("runs = 4", "runs = 1000000").replace("60", "100000"))
    command = [sys.executable, "-m", "lowregret", "run", str(path)]
    manifest = tmp_path / "coins" / "manifest.jsonl"
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not manifest.exists() or len(manifest.read_bytes().splitlines()) < 3:
            assert process.poll() is None
            sleep(0.05)
        second = call("run", str(path))
        process.send_signal(signal.SIGINT)
        output, messages = process.communicate(timeout=LIMIT_SECONDS)
    assert (process.returncode, output) == (130, "")
    done = len(manifest.read_bytes().splitlines())
    shards = 2 * -(-1_000_000 // 128)
    assert messages == (
        f"lowregret: interrupted: {done} of {shards} shards are done and kept, run it again to continue\n"
    )
    assert second.exit_code == 2
    assert f"is in use by process {process.pid} on " in second.stderr


def test_a_dry_run_asks_the_scheduler(tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "CONNECT_TIMEOUT", 1)
    done = call("run", str(write(tmp_path, SPEC)), "--dry-run", "--cluster", "tcp://localhost:1")
    assert done.exit_code == 2
    assert "no Dask scheduler answers at tcp://localhost:1" in done.stderr


def test_a_dry_run_of_a_million_arms(tmp_path: Path) -> None:
    text = 'policies = ["MOSS"]\nhorizon = 100\nruns = 1\n[[environments]]\n'
    path = write(tmp_path, text + 'environment = "bernoulli:0.1*{K}"\ngrid.K = [999_999]\n')
    began = process_time()  # which other processes do not lengthen
    done = call("run", str(path), "--dry-run")
    assert process_time() - began < 20.0
    assert re.search(f"^{SOON} on ", done.stdout, re.MULTILINE)


def test_control_characters_of_old_results_are_escaped(tmp_path: Path) -> None:
    import polars as pl

    from lowregret.reporting.regret_text import regret_table

    table = pl.DataFrame(
        {"policy": ["a\x1b[31m"], "mean": [1.0], "optimal_arm_eliminated": [None], "runs": [1]}
    )
    assert "\na\\x1b[31m " in regret_table(table)

"""A first interrupt, or SIGTERM, stops a long run soon and says what is kept."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest
from forked import running

import lowregret as lr

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")

PATIENCE = 180.0
"""Seconds until a test stops waiting; what is not stopped would take hours."""

LONG = """
environments = ["bernoulli:0.4,0.6"]
policies = ["UCB1"]
horizon = 1_000_000_000_000
runs = 2
"""

SCRIPT = """
import sys

import lowregret as lr

for policy in sys.argv[1:]:
    lr.simulate(policy, "bernoulli:0.4,0.6", horizon=10, runs=1).finals  # compile; polars handles signals
    try:
        print("ready", flush=True)
        lr.simulate(policy, "bernoulli:0.4,0.6", horizon=10**12, runs=1, grid=1)
    except KeyboardInterrupt:
        print(policy, flush=True)
"""


SIMULATE = """
import sys

import lowregret as lr
from lowregret.cli import main

lr.simulate("UCB1", "paper-1", horizon=10, runs=2).finals
sys.argv = ["lowregret", "simulate", "-e", "paper-1", "--policy", "UCB1", "--horizon", "1000000000000"]
print("ready", flush=True)
main()
"""


def stop(process: subprocess.Popen, number: int) -> tuple[str, str]:
    """Send a signal; return the output and the errors of a process that then ends."""
    process.send_signal(number)
    return process.communicate(timeout=PATIENCE)


def handles(process: subprocess.Popen, number: int) -> bool:
    """Return whether a process has a handler for a signal."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    (mask,) = (int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:"))
    return bool(mask >> (number - 1) & 1)


@pytest.mark.parametrize(
    ("number", "moment"),
    [(signal.SIGINT, "playing"), (signal.SIGTERM, "compiling")],
)
def test_a_run_with_a_folder(tmp_path: Path, number: int, moment: str) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    if moment == "playing":
        lr.simulate("UCB1", "bernoulli:0.4,0.6", horizon=10, runs=2)  # the code is on disk now
    command = [sys.executable, "-m", "lowregret", "run", str(tmp_path / "long.toml")]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not (tmp_path / "long" / "manifest.jsonl").exists():
            assert process.poll() is None, process.communicate()
            sleep(0.02)
        sleep(2.0 if moment == "playing" else 1.0)  # on a slow machine it compiles in both cases
        output, told = stop(process, number)
    assert (process.returncode, output) == (128 + number, "")
    lines = told.splitlines()
    assert lines[-1] == ("lowregret: interrupted: 0 of 2 shards are done and kept, run it again to continue")


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the handlers of a process")
def test_a_simulation_keeps_nothing() -> None:
    command = [sys.executable, "-c", SIMULATE]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == "ready\n"
        while not handles(process, signal.SIGTERM):
            assert process.poll() is None
            sleep(0.02)
        sleep(1.0)
        output, told = stop(process, signal.SIGTERM)
    assert (process.returncode, output) == (143, "")
    assert told == "lowregret: interrupted: nothing is kept; `lowregret run` keeps what is finished\n"


def test_every_mode_stops() -> None:
    """One policy for each file of the engine that plays step by step."""
    policies = ["UCB1", "UCBV", "MOSS", "DMED", "ThompsonGauss", "EpsilonGreedy"]
    command = [sys.executable, "-c", SCRIPT, *policies]
    with running(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        for policy in policies:
            assert process.stdout.readline() == "ready\n"
            sleep(0.3)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == f"{policy}\n"

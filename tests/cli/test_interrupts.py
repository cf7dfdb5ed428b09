"""A first interrupt, or SIGTERM, stops a long run soon and says what is kept."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

import lowregret as lr

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")

SECONDS = 5.0
"""A busy machine may need more than the second that it should take; without a mend it takes a minute."""

LONG = """
environments = ["bernoulli:0.4,0.6"]
policies = ["UCB1"]
horizon = 2_000_000_000
runs = 2
"""

SCRIPT = """
import sys

import lowregret as lr

lr.simulate({policy!r}, "bernoulli:0.4,0.6", horizon=10, runs=2).finals  # compile; polars handles signals
print("ready", flush=True)
try:
    lr.simulate({policy!r}, "bernoulli:0.4,0.6", horizon=10**12, runs=2, grid=1)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def stop(process: subprocess.Popen, number: int) -> tuple[str, str]:
    """Send a signal; return the output and the errors of a process that ends soon."""
    began = monotonic()
    process.send_signal(number)
    try:
        told = process.communicate(timeout=60)
    finally:
        process.kill()
    assert monotonic() - began < SECONDS
    return told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["compiling", "playing"])
def test_a_run_with_a_folder(tmp_path: Path, number: int, moment: str) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    if moment == "playing":
        lr.simulate("UCB1", "bernoulli:0.4,0.6", horizon=10, runs=2)  # the code is on disk now
    command = [sys.executable, "-m", "lowregret", "run", str(tmp_path / "long.toml")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "long" / "manifest.jsonl").exists():
        sleep(0.02)
    sleep(3.0 if moment == "playing" else 1.0)  # on a slow machine it compiles in both cases
    output, told = stop(process, number)
    assert (process.returncode, output) == (128 + number, "")
    lines = told.splitlines()
    assert lines[-1] == ("lowregret: interrupted: 0 of 2 shards are done and kept, run it again to continue")


def test_a_simulation_keeps_nothing() -> None:
    command = [sys.executable, "-m", "lowregret", "simulate", "-e", "paper-1", "--horizon", "1000000000000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sleep(4.0)
    output, told = stop(process, signal.SIGTERM)
    assert (process.returncode, output) == (143, "")
    assert told == "lowregret: interrupted: nothing is kept; `lowregret run` keeps what is finished\n"


@pytest.mark.parametrize("policy", ["UCB1", "MOSS", "DMED", "ThompsonGauss"])
def test_every_way_to_play_a_run_stops(policy: str) -> None:
    """One policy for each file of the engine that plays step by step."""
    command = [sys.executable, "-c", SCRIPT.format(policy=policy)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "ready\n"
    sleep(1.0)
    assert stop(process, signal.SIGINT)[0] == "stopped\n"

"""``lowregret run --cluster tcp://...`` with a Dask scheduler and a worker in processes of their own."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.experiments import executors

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

SPEC = """
horizon = 500
runs = 20
environments = [{ rewards = "rewards.csv" }, "bernoulli:0.1,0.5"]
policies = ["MOSS", "UCB1"]
"""


def call(*arguments: str):
    return CliRunner().invoke(app, list(arguments), prog_name="lowregret")


def dask(*arguments: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "dask", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """Start a scheduler at a port of the system's choice, and a worker; give the address."""
    known = tmp_path / "scheduler.json"
    where = ("--host", "127.0.0.1", "--no-dashboard")
    processes = [dask("scheduler", "--port", "0", "--scheduler-file", str(known), *where)]
    try:
        end = monotonic() + 180
        while not known.exists() or not known.read_text().endswith("}"):
            assert monotonic() < end and processes[0].poll() is None
            sleep(0.05)
        own = ("--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path / "worker"))
        processes.append(dask("worker", "--scheduler-file", str(known), *own, *where))
        yield json.loads(known.read_text())["address"]
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def test_workers_elsewhere_give_the_same_bits_as_threads(tmp_path: Path, scheduler: str, monkeypatch) -> None:
    monkeypatch.setattr(executors, "CONNECT_TIMEOUT", 120)  # of a busy machine
    monkeypatch.setattr(executors, "LARGE_ENVIRONMENT", 5)  # the rewards of the file travel by themselves
    (tmp_path / "rewards.csv").write_text("a,b\n0.1,0.3\n0.9,0.4\n0.2,\n")
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC)
    done = call("run", str(spec), "--cluster", scheduler)
    assert (done.exit_code, done.stderr) == (0, "")
    ours, truth = lr.open_results(tmp_path / "spec"), lr.Experiment.from_toml(spec).run(threads=1)
    for name in ("finals", "paths", "pulls", "events", "arms"):
        assert getattr(ours, name).equals(getattr(truth, name)), name


def test_an_address_where_nobody_answers(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(executors, "CONNECT_TIMEOUT", 1)
    (tmp_path / "spec.toml").write_text(SPEC.replace('{ rewards = "rewards.csv" }, ', ""))
    with socket.socket() as listening:  # it takes the call and says nothing
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        address = f"tcp://127.0.0.1:{listening.getsockname()[1]}"
        silent = address, call("run", str(tmp_path / "spec.toml"), "--cluster", address)
    with socket.socket() as closed:  # bound, so that nobody else gets the port
        closed.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
        refused = address, call("run", str(tmp_path / "spec.toml"), "--cluster", address)
    for address, done in (silent, refused):
        told = f"lowregret: no Dask scheduler answers at {address} within 1 seconds\n"
        assert (done.exit_code, done.stdout, done.stderr) == (2, "", told)
    assert not (tmp_path / "spec").exists()

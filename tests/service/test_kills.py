"""Workers are killed under load: what was acknowledged is there, once, and the service goes on by itself."""

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Event
from time import sleep

import httpx
import pytest
from serving import AGENT, PATIENCE, Oracle, check_log, commanded, until, workers_of

KILLS = int(os.environ.get("LOWREGRET_KILLS", "2"))
"""How many workers a test kills; the issue's 100 with LOWREGRET_KILLS=100."""
CLIENTS = 8


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.heavy), 2])
def test_kills_lose_nothing(tmp_path, workers):
    path, stop = tmp_path / "a.db", Event()
    choose = random.Random(workers)
    with commanded(path, "--workers", workers) as (process, url):
        until(lambda: reachable(url))
        assert httpx.post(f"{url}/v1/agents", json=AGENT, timeout=PATIENCE).status_code == 201
        oracles = [Oracle(url, number, stop) for number in range(CLIENTS)]
        for oracle in oracles:
            oracle.start()
        killed = 0
        while killed < KILLS:
            until(lambda: len(workers_of(process)) == workers)
            before = sum(len(oracle.told) for oracle in oracles)
            until(lambda before=before: sum(len(oracle.told) for oracle in oracles) > before + 20)
            sleep(choose.uniform(0, 0.2))
            os.kill(choose.choice(workers_of(process)), signal.SIGKILL)
            killed += 1
        until(lambda: reachable(url))
        until(lambda: all(oracle.told for oracle in oracles))
        stop.set()
        for oracle in oracles:
            oracle.join(PATIENCE)
            assert oracle.failure is None and not oracle.is_alive()
    assert process.returncode == 0 and not list(tmp_path.glob("*-wal"))  # a signal closes it in good order
    check_log(path, oracles)


def test_workers_end_with_their_supervisor(tmp_path):
    with commanded(tmp_path / "a.db", "--workers", 2) as (process, url):
        until(lambda: len(workers_of(process)) == 2 and reachable(url))
        workers = workers_of(process)
        process.kill()
        process.wait(PATIENCE)
        until(lambda: not any(os.path.exists(f"/proc/{each}") and alive(each) for each in workers))


def alive(process):
    with open(f"/proc/{process}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def reachable(url):
    try:
        return json.loads(httpx.get(f"{url}/ready", timeout=5).text) == {"status": "ok"}
    except (httpx.TransportError, ValueError):
        return False


def test_workers_killed_while_they_start_are_started_again(tmp_path):
    with commanded(tmp_path / "a.db") as (process, url):
        for _ in range(7):
            until(lambda: kill(workers_of(process)))
        until(lambda: reachable(url))


def kill(workers):
    """Kill the workers, and return whether there was one."""
    for worker in workers:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    return bool(workers)


def test_a_service_that_cannot_start_ends(tmp_path):
    """A worker that ends by itself again and again is not started for ever, however long it tries."""
    program = (
        "import sys; from lowregret.service import Options, serve\n"
        "serve.work, serve.MIN_LIFE_SECONDS = print, 0\n"  # which ends without an answer
        "if __name__ == '__main__':\n"
        "    serve.serve(Options(sys.argv[1]), port=0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.db")],
        timeout=PATIENCE,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "failed to start" in done.stderr


def test_a_signal_while_a_worker_is_started_ends_that_one_too(tmp_path):
    program = (
        "import os, signal, sys\n"
        "from multiprocessing import active_children\n"
        "from lowregret.service import Options, serve\n"
        "def started(*given, real=serve._start_worker):\n"
        "    process = real(*given)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return process\n"
        "serve._start_worker = started\n"
        "if __name__ == '__main__':\n"
        "    serve.serve(Options(sys.argv[1]), port=0, workers=2)\n"
        "    print('left', len(active_children()))\n"
    )
    call = [sys.executable, "-c", program, str(tmp_path / "a.db")]
    done = subprocess.run(call, timeout=PATIENCE, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[-2:]) == (0, ["left", "0"]), done.stderr

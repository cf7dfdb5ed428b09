"""Services for tests: in a thread of this process, or as a command with processes of its own."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from threading import Thread
from time import monotonic, sleep

import httpx
import uvicorn

from lowregret.service.agents import check_store
from lowregret.service.app import create_app
from lowregret.service.app_options import Options
from lowregret.service.connections import Connection

PATIENCE = 60.0
"""Seconds until a test stops waiting."""
AGENT = {"name": "buttons", "policy": "UCB1", "arms": ["red", "green", "blue"], "seed": 1}


@contextmanager
def served(store, tokens=None, token=None, **options):
    """Serve a store by a thread; yield a client."""
    check_store(str(store))
    app = create_app(Options(str(store), None if tokens is None else str(tokens), **options))
    config = uvicorn.Config(
        app, http=Connection, access_log=False, log_level="error", ws="none", lifespan="on"
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        thread = Thread(target=server.run, args=([listening],))
        thread.start()
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE, trust_env=False) as client:
                until(lambda: server.started)
                yield client
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
    assert not thread.is_alive()


@contextmanager
def commanded(*arguments):
    """Run ``lowregret serve``; yield its process and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lowregret", "serve", *map(str, arguments), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline()
        assert "http://" in line, line
        yield process, line.split()[-1]
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def workers_of(process):
    """Return the processes that answer: children with the address of the service, by their command line."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            with open(f"/proc/{entry}/cmdline") as file:
                command = file.read()
        except (OSError, ValueError):
            continue
        if parent == process.pid and "spawn_main" in command:
            found.append(int(entry))
    return found


def until(condition, patience=PATIENCE):
    """Wait until something is true."""
    end = monotonic() + patience
    while not condition():
        assert monotonic() < end, "never true"
        sleep(0.01)

"""Services for tests: in a thread of this process, or as a command with processes of its own."""

import os
import random
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from threading import Thread
from time import monotonic, sleep

import httpx
import uvicorn

import lowregret as lr
from lowregret.service import Options
from lowregret.service.agents import check_store
from lowregret.service.app import Service
from lowregret.service.connections import Connection

PATIENCE = 180.0
"""Seconds until a test stops waiting."""
AGENT = {"name": "buttons", "policy": "UCB1", "arms": ["red", "green", "blue"], "seed": 1}


@contextmanager
def served(store, tokens=None, token=None, **options):
    """Serve a store by a thread; yield a client."""
    check_store(str(store))
    app = Service(Options(str(store), None if tokens is None else str(tokens), **options))
    config = uvicorn.Config(
        app,
        http=Connection,
        access_log=False,
        log_level="error",
        ws="none",
        lifespan="on",
        timeout_keep_alive=int(PATIENCE),  # on a busy machine a test may take longer than the usual 5 s
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
def commanded(*arguments, limits=None):
    """Run ``lowregret serve``, with soft and hard limits of open files; yield its process and address."""
    command = [sys.executable, "-m", "lowregret", "serve", *map(str, arguments), "--port", "0"]
    if limits is not None:
        limit = "ulimit -S -n {}; ulimit -H -n {}; exec".format(*limits)
        command = ["sh", "-c", f'{limit} "$@"', "sh", *command]
    process = subprocess.Popen(
        command,
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


class Oracle(Thread):
    """A client that writes down what it was answered, and repeats what was not answered."""

    def __init__(self, url, number, stop):
        super().__init__(daemon=True)
        self.url, self.number, self.stop = url, number, stop
        self.asked, self.told, self.statuses, self.failure = {}, {}, set(), None

    def run(self):
        try:
            self._play()
        except BaseException as error:
            self.failure = error

    def _play(self):
        turn, choose = 0, random.Random(self.number)
        with httpx.Client(base_url=self.url, timeout=30, trust_env=False) as link:
            while not self.stop.is_set():
                turn += 1
                request = f"client {self.number}, {turn}"
                answer = self._sent(link, "ask", {"request": request})
                if answer is None:
                    return
                (made,) = answer["decisions"]
                self.asked[request] = made
                reward = turn * 7 % 5 / 4
                answer = self._sent(link, "tell", {"rewards": [{"id": made["id"], "reward": reward}]})
                if answer is None:
                    return
                self.told[made["id"]] = reward
                if choose.random() < 0.3:  # repeated, though it was answered
                    again = self._sent(link, "ask", {"request": request})
                    assert again is None or again["decisions"] == [made]

    def _sent(self, link, path, body):
        """Send a call until it is answered; return None if the test ends meanwhile."""
        while True:
            with suppress(httpx.TransportError):
                answer = link.post(f"/v1/agents/buttons/{path}", json=body)
                self.statuses.add(answer.status_code)
                if answer.status_code == 200:
                    return answer.json()
                assert answer.status_code == 503, answer.text
            if self.stop.is_set():
                return None
            sleep(0.02)


def check_log(path, oracles):
    """Compare the log with what the clients were answered."""
    with lr.open_agent(path, name="buttons", read_only=True) as agent:
        assert agent.verify() > 0
        rows = agent.events().to_dicts()
    asked = [row for row in rows if row["kind"] == "asked"]
    requests = [row["request"] for row in asked]
    assert len(set(requests)) == len(requests), "a request was decided twice"
    by_request = {row["request"]: f"{row['key']}-{row['decision']}" for row in asked}
    told = {row["decision"]: row["reward"] for row in rows if row["kind"] == "told"}
    assert len(told) == sum(row["kind"] == "told" for row in rows), "a reward was told twice"
    assert not any(row["kind"] == "conflict" for row in rows)
    for oracle in oracles:
        assert oracle.asked and oracle.statuses <= {200, 503}
        for request, made in oracle.asked.items():
            assert by_request[request] == made["id"]
        for key, reward in oracle.told.items():
            assert told[int(key.rpartition("-")[2])] == reward

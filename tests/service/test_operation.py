"""What an operator sees of a service: whether it is ready, its log, its metrics, and how it stops."""

import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from threading import Event
from time import monotonic

import httpx
import pytest
from serving import AGENT, PATIENCE, commanded, served, until, workers_of

import lowregret as lr
from lowregret.errors import StoreError
from lowregret.online import event_tables
from lowregret.online.stores.sqlite import SQLiteStore
from lowregret.service import logs, readiness
from lowregret.service.prometheus import WORKER_COUNTS, Metrics
from lowregret.service.tokens import new_token

ASK = "/v1/agents/buttons/ask"


@pytest.fixture
def lines(caplog, monkeypatch):
    """Return a function that returns the lines that were logged, as dictionaries."""
    monkeypatch.setattr(logs, "_written", {})
    caplog.set_level(logging.INFO, "lowregret.service")

    def read():
        ours = [record.getMessage() for record in caplog.records if record.name == "lowregret.service"]
        return [parsed(line) for line in ours]

    return read


def parsed(line):
    pairs = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)', line)
    return {key: json.loads(value) if value[0] == '"' else value for key, value in pairs}


def test_a_full_disk_is_not_ready(tmp_path, monkeypatch, lines):
    space = shutil.disk_usage(tmp_path)
    commit = SQLiteStore._commit

    def full(store):
        """Let SQLite find that the file may not grow."""
        ((pages,),) = store._connection.execute("PRAGMA page_count")
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        commit(store)

    with served(tmp_path / "a.db") as client:
        client.post("/v1/agents", json=AGENT)
        assert client.get("/ready").status_code == 200
        with monkeypatch.context() as patch:
            patch.setattr(readiness, "disk_usage", lambda path: space._replace(free=1_000))
            patch.setattr(SQLiteStore, "_commit", full)
            assert client.get("/ready").status_code == 503
            until(lambda: client.post(ASK, json={"n": 100}).status_code == 503)
        assert client.get("/ready").status_code == 200
        assert client.post(ASK, json={}).status_code == 200
    assert [line["event"] for line in lines()] == ["create", "disk_full", "store_regained"]


def test_ready_answers_within_its_limit_and_tells_nothing(tmp_path, monkeypatch, lines):
    """The store hangs, then fails with its address: the first waits for the limit alone, once for all."""
    tries = []

    def stuck(where):
        tries.append(where)
        release.wait(PATIENCE)
        raise StoreError("cannot use the database at db.internal port 5432: no route to host")

    release = Event()
    monkeypatch.setattr(readiness, "LIMIT_SECONDS", 0.05)
    monkeypatch.setattr(readiness, "_try", stuck)
    with served(tmp_path / "a.db") as client:
        answers = [client.get("/ready") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [503] * 3 and len(tries) == 1
        release.set()
        until(lambda: client.get("/ready").status_code == 503 and len(tries) > 1)
        answers.append(client.get("/ready"))
    for answer in answers:
        assert not any(word in answer.text for word in ("db.internal", "5432", str(tmp_path), "route"))


def test_who_changed_an_agent_is_logged(tmp_path, lines):
    secret = new_token(tmp_path / "t.json", "the boss", ["admin"])
    with served(tmp_path / "a.db", tmp_path / "t.json", secret) as client:
        client.post("/v1/agents", json=AGENT)
        client.post("/v1/agents/buttons/arms", json={"add": 'new\u202e "x"'})
        client.post("/v1/agents/buttons/arms", json={"add": "neu é"})
        client.post("/v1/agents/buttons/status", json={"status": "paused", "fallback": "red"})
        client.post("/v1/agents/buttons/status", json={"status": "retired"})
        client.post(ASK, json={})
    made = [{key: value for key, value in line.items() if key != "event"} for line in lines()]
    assert [line["event"] for line in lines()] == ["create", "change_arms", "change_status", "change_status"]
    assert all((line.pop("agent"), line.pop("token")) == ("buttons", "the boss") for line in made)
    assert made == [
        {"policy": "UCB1"},
        {"add": "neu é"},
        {"status": "paused", "fallback": "red"},
        {"status": "retired"},
    ]


def test_refused_tokens_cannot_flood_the_log(tmp_path, lines, monkeypatch):
    reader = new_token(tmp_path / "t.json", "reader", ["read"])
    with served(tmp_path / "a.db", tmp_path / "t.json") as client:
        for number in range(20):
            client.get("/v1/agents", headers={"Authorization": f'Bearer lrt_{number}" event=x'})
        for _ in range(20):
            client.post(ASK, json={}, headers={"Authorization": f"Bearer {reader}"})
        first, second = lines()
        assert "unknown" in first["reason"] and "'reader' lacks the scope 'decide'" in second["reason"]
        assert first["event"] == second["event"] == "refused" and first["client"] == "127.0.0.1"
        monkeypatch.setattr(logs, "SELDOM_SECONDS", 0.0)
        client.get("/v1/agents")
        assert lines()[-1]["omitted"] == "19"


def test_the_access_log_is_an_option(tmp_path, lines):
    with served(tmp_path / "a.db", access_log=True) as client:
        client.get("/health")
        client.get("/nothing here\u202e")
    first, second = lines()
    assert first == {**first, "event": "access", "method": "GET", "path": "/health", "status": "200"}
    assert second["path"] == "/nothing here\u202e" and second["status"] == "404"


def test_a_worker_that_ended_is_logged_and_metrics_of_workers_add_up(tmp_path):
    """Every scrape has the answers of both workers, also those of one that was killed."""
    command = [sys.executable, "-m", "lowregret", "serve", str(tmp_path / "a.db"), "--port", "0"]
    process = subprocess.Popen(
        [*command, "--workers", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        url = process.stdout.readline().split()[-1]
        count, asked = 0, 0
        while count < 2 or asked < 20:  # each request over a new connection, until both workers answer
            assert httpx.get(f"{url}/health", trust_env=False, timeout=PATIENCE).status_code == 200
            asked += 1
            count = len(workers_of(process))
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as link:
            link.sendall(b"no request\r\n\r\n")  # what strangers send is not logged
            assert link.recv(1_000).startswith(b"HTTP/1.1 400")
        for worker in (None, workers_of(process)[0]):
            if worker is not None:
                os.kill(worker, signal.SIGKILL)
                until(lambda gone=worker: gone not in workers_of(process) and len(workers_of(process)) == 2)
            for _ in range(6):
                text = scrape(url)
                assert f'lowregret_requests_total{{route="/health",status="200"}} {asked}\n' in text
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    events = [parsed(line) for line in errors.splitlines()]
    assert {line.get("event") for line in events} == {"worker_started", "worker_ended"}
    assert [line["event"] for line in events].count("worker_started") == 3
    (ended,) = (line for line in events if line["event"] == "worker_ended")
    assert ended["level"] == "WARNING" and ended["exitcode"] == "-9" and ended["time"].startswith("20")


def scrape(url):
    """Return the metrics, from whichever worker answers; one that was killed may reset the connection."""
    end = monotonic() + PATIENCE
    while True:
        try:
            return httpx.get(f"{url}/metrics", trust_env=False, timeout=PATIENCE).text
        except httpx.TransportError:
            assert monotonic() < end


def test_workers_count_apart():
    shared = bytearray(8 * 2 * WORKER_COUNTS)
    first, second = (Metrics(["/a", "/b"], shared, worker) for worker in range(2))
    for metrics, times in ((first, 3), (second, 4)):
        for _ in range(times):
            metrics.observe("/b", 200, 0.002)
    second.observe("/b", 503, 100.0)
    text = "\n".join(first.lines())
    assert text == "\n".join(second.lines())
    assert 'lowregret_requests_total{route="/b",status="200"} 7' in text and "/a" not in text
    assert 'lowregret_request_seconds_bucket{route="/b",le="0.0025"} 7' in text
    assert 'lowregret_request_seconds_count{route="/b"} 8' in text


def test_a_service_that_stops_refuses_new_connections_first(tmp_path):
    """A call is under way when the signal comes: nobody can connect any more, and the call is answered."""
    with commanded(tmp_path / "a.db") as (process, url):
        host, port = url.removeprefix("http://").split(":")
        assert (
            httpx.post(f"{url}/v1/agents", json=AGENT, trust_env=False, timeout=PATIENCE).status_code == 201
        )
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as link:
            head = f"POST {ASK} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            link.sendall(f"{head}Content-Length: 2\r\n\r\n".encode())
            assert (
                httpx.get(f"{url}/health", trust_env=False, timeout=PATIENCE).status_code == 200
            )  # it has read the headers
            process.send_signal(signal.SIGTERM)
            until(lambda: refused(host, int(port)))
            assert process.poll() is None
            link.sendall(b"{}")
            assert link.recv(100).startswith(b"HTTP/1.1 200")


def refused(host, port):
    try:
        socket.create_connection((host, port), timeout=PATIENCE).close()
    except ConnectionRefusedError:
        return True
    return False


def test_an_export_is_sent_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(event_tables, "CHUNK_EVENTS", 10)
    with served(tmp_path / "a.db") as client:
        client.post("/v1/agents", json=AGENT)
        url = str(client.base_url)
        with lr.connect(url, name="buttons") as agent:
            made = agent.ask(60)
            agent.tell_many((choice, choice.time % 2) for choice in made if choice.time % 5)
            expected = agent.rewards().write_csv()
        with client.stream("GET", "/v1/agents/buttons/export") as answer:
            assert "content-length" not in answer.headers
            assert answer.read().decode() == expected
    assert len(expected.splitlines()) == 49

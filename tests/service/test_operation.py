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
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from time import monotonic

import httpx
import pytest
from serving import AGENT, PATIENCE, commanded, served, until, workers_of

import lowregret as lr
from lowregret._common import progress
from lowregret.errors import StoreError
from lowregret.online import event_tables
from lowregret.online.stores.sqlite import SQLiteStore
from lowregret.service import agents, app, connections, logs, requests
from lowregret.service.app import ROUTES
from lowregret.service.openapi import openapi_document
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
            patch.setattr(agents, "disk_usage", lambda path: space._replace(free=1_000))
            patch.setattr(SQLiteStore, "_commit", full)
            assert client.get("/ready").status_code == 503
            until(lambda: client.post(ASK, json={"n": 100}).status_code == 503)
            assert client.get("/v1/agents/buttons").status_code == 200  # to read is still possible
            assert [line["event"] for line in lines()] == ["create", "disk_full"]
        assert client.get("/ready").status_code == 200
        assert client.post(ASK, json={}).status_code == 200
    assert [line["event"] for line in lines()] == ["create", "disk_full", "store_regained"]


@pytest.mark.parametrize("end", ["-wal", "-shm"])
def test_files_beside_the_store_that_were_deleted(tmp_path, end, lines):
    """Nothing that was answered is lost, and calls go on."""
    path = tmp_path / "a.db"
    with served(path) as client:
        client.post("/v1/agents", json=AGENT)
        for number in range(4):
            assert client.post(ASK, json={"request": f"visit {number}"}).status_code == 200
            assert client.get("/v1/agents/buttons/events").status_code == 200
            (tmp_path / f"a.db{end}").unlink()
        assert client.get("/ready").status_code == 200
        assert client.post(ASK, json={"request": "visit 4"}).status_code == 200
        assert (tmp_path / f"a.db{end}").exists()
    with lr.open_agent(path, name="buttons") as agent:
        assert agent.time == agent.verify() == 5
    assert [line["event"] for line in lines()] == ["create"]


READER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM log").fetchall()
print("reads", flush=True)
sys.stdin.read()
connection.close()
"""


def test_a_file_that_was_deleted_while_another_process_has_it(tmp_path, lines):
    """It is emptied when that process no longer reads it: until then, nobody says that all is well."""
    path = tmp_path / "a.db"
    pipe = subprocess.PIPE
    with served(path) as client:
        client.post("/v1/agents", json=AGENT)
        assert client.post(ASK, json={"request": "first"}).status_code == 200
        other = subprocess.Popen([sys.executable, "-c", READER, path], stdin=pipe, stdout=pipe)
        try:
            other.stdout.readline()
            (tmp_path / "a.db-wal").unlink()
            for _ in range(3):
                assert client.post(ASK, json={"request": "second"}).status_code == 503
                client.get("/v1/agents/buttons")
                assert client.get("/ready").status_code == 503
            assert [line["event"] for line in lines()] == ["create", "store_lost"]
            assert "its -wal was deleted while others read it" in lines()[-1]["reason"]
        finally:
            other.communicate()
        assert client.get("/ready").status_code == 200
        assert client.post(ASK, json={"request": "second"}).status_code == 200
        assert [line["event"] for line in lines()] == ["create", "store_lost", "store_regained"]
    with lr.open_agent(path, name="buttons") as agent:
        assert agent.time == agent.verify() == 2


def test_ready_answers_within_its_limit_and_tells_nothing(tmp_path, monkeypatch, lines):
    """The store hangs, then fails with its address: the first waits for the limit alone, once for all."""
    tries = []

    def stuck(where):
        tries.append(where)
        release.wait(PATIENCE)
        raise StoreError("cannot use the database at db.internal port 5432: no route to host")

    release = Event()
    monkeypatch.setattr(agents, "READY_SECONDS", 0.05)
    monkeypatch.setattr(agents, "_check_usable", stuck)
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
        for _ in range(2):  # the second changes nothing
            client.post("/v1/agents", json=AGENT)
            client.post("/v1/agents/buttons/arms", json={"add": 'new\u202e "x"'})
            client.post("/v1/agents/buttons/arms", json={"add": "neu é"})
        client.post("/v1/agents/buttons/status", json={"status": "paused", "fallback": "red"})
        for _ in range(2):
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


OFREP = Path(__file__).parents[1] / "data" / "ofrep-0.3.json"


def test_every_status_that_a_route_can_answer_is_counted():
    ours = openapi_document(ROUTES, True)["paths"]
    paths = {**ours, **json.loads(OFREP.read_text(encoding="utf-8"))["paths"]}
    answers = [(path, int(status)) for path in paths for way in methods(paths[path]) for status in way]
    assert {200, 201, 304, 401, 404, 409, 500, 503} <= {status for _, status in answers}
    metrics = Metrics(paths)
    for path, status in answers:
        metrics.observe(path, status, 0.1)
    text = "\n".join(metrics.lines())
    for path, status in answers:
        assert f'lowregret_requests_total{{route="{path}",status="{status}"}} ' in text


def methods(path):
    return [operation["responses"] for operation in path.values() if isinstance(operation, dict)]


def test_answers_and_their_times_are_counted_alike(tmp_path, monkeypatch):
    """Also those of OFREP, and those that fail."""
    flag = {**AGENT, "matures_after": {"seconds": 60}}
    evaluate, seen = "/ofrep/v1/evaluate/flags", Counter()
    with served(tmp_path / "a.db") as client:
        client.event_hooks["response"] = [lambda answer: seen.update([(kind(answer), answer.status_code)])]
        for name in ("buttons", "buttons", "no name"):
            client.post("/v1/agents", json={**flag, "name": name})
        body = {"context": {"targetingKey": "x", "agents": "buttons"}}
        tag = client.post(evaluate, json=body).headers["etag"]
        client.post(evaluate, json=body, headers={"If-None-Match": tag})
        client.post(f"{evaluate}/nobody", json=body)
        client.post(ASK, content="{}")
        with monkeypatch.context() as patch:
            patch.setattr(SQLiteStore, "_commit", fail)
            for key in "yz":
                client.post(f"{evaluate}/buttons", json={"context": {"targetingKey": key}})
            client.post(ASK, json={})
        text = client.get("/metrics").text
    assert {status for _, status in seen} == {200, 201, 304, 400, 404, 415, 500, 503}
    pattern = r'lowregret_requests_total\{route="(.+)",status="(\d+)"\} (\d+)'
    counted = {(route, int(status)): int(times) for route, status, times in re.findall(pattern, text)}
    del seen["/metrics", 200]
    assert counted == seen
    times = re.findall(r'lowregret_request_seconds_count\{route="(.+)"\} (\d+)', text)
    assert {(route, int(number)) for route, number in times} == {
        (route, sum(number for (other, _), number in seen.items() if other == route)) for route, _ in seen
    }


def fail(store):
    raise StoreError("the disk is gone")


def kind(answer):
    """Return the path of the route that has answered."""
    path = re.sub(r"flags/.+", "flags/{name}", answer.url.path)
    return re.sub("agents/buttons", "agents/{name}", path)


def kept(client, source="127.0.0.1", call=b"GET /health"):
    """Open a connection that stays open, after a request and its answer."""
    where = (client.base_url.host, client.base_url.port)
    link = socket.create_connection(where, timeout=PATIENCE, source_address=(source, 0))
    link.sendall(call + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert b" 200 " in link.recv(10_000)
    return link


def test_a_client_that_keeps_many_connections_keeps_nobody_out(tmp_path, monkeypatch, lines):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 6)
    with served(tmp_path / "a.db") as client, ExitStack() as links:
        url = str(client.base_url)
        other = links.enter_context(kept(client, "127.0.0.2"))
        mine = [links.enter_context(kept(client)) for _ in range(20)]
        answer = httpx.get(f"{url}/health", trust_env=False, timeout=PATIENCE)
        assert answer.status_code == 200
        for link in mine[:14]:  # those that were idle longest
            assert link.recv(1) == b""
        for link in (other, *mine[-3:]):
            link.sendall(b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b" 200 " in link.recv(10_000)
    (line,) = lines()
    assert line["event"] == "connections_closed" and line["client"] == "127.0.0.1"


@pytest.mark.parametrize("limits", [(64, 400), (300, 300)])
def test_connections_leave_files_for_the_store(tmp_path, limits):
    """Where few files may be open. A worker raises the soft limit, the first one, to the hard limit."""
    with commanded(tmp_path / "a.db", limits=limits) as (_, url), ExitStack() as links:
        client = links.enter_context(httpx.Client(base_url=url))
        for _ in range(limits[1] // 25):
            for _ in range(30):
                links.enter_context(kept(client))
            assert httpx.get(f"{url}/ready", trust_env=False, timeout=PATIENCE).status_code == 200


def test_more_calls_than_a_worker_answers_at_a_time(tmp_path, monkeypatch, lines):
    reading, body_of = [], app.body_of

    def noticed(*arguments):
        reading.append(arguments)
        return body_of(*arguments)

    monkeypatch.setattr(app, "MAX_CONNECTIONS", 3)
    monkeypatch.setattr(app, "body_of", noticed)
    monkeypatch.setattr(requests, "BODY_SECONDS", PATIENCE)
    with served(tmp_path / "a.db") as client, ExitStack() as links:
        client.post("/v1/agents", json=AGENT)
        where = (client.base_url.host, client.base_url.port)
        head = f"POST {ASK} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        reading.clear()
        slow = [links.enter_context(socket.create_connection(where, PATIENCE)) for _ in range(3)]
        for link in slow:
            link.sendall(f"{head}Content-Length: 2\r\n\r\n".encode())
        until(lambda: len(reading) == 3)
        answer = client.post(ASK, json={})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert answer.json()["type"] == "urn:lowregret:overloaded" and "3 calls" in answer.json()["detail"]
        for path in ("/health", "/ready", "/"):
            assert client.get(path).status_code == 200
        for link in slow:
            link.sendall(b"{}")
            assert b" 200 " in link.recv(10_000)
        text = client.get("/metrics").text
        assert 'lowregret_requests_total{route="/v1/agents/{name}/ask",status="503"}' in text
    assert [line["event"] for line in lines()] == ["create", "overloaded"]
    assert lines()[-1]["client"] == "127.0.0.1"


def test_lines_on_compiling_are_those_of_the_log(lines, capsys, monkeypatch):
    monkeypatch.setattr(progress, "_last_line", -1e9)
    monkeypatch.setattr(progress, "_log", None)
    monkeypatch.setenv(progress.LINES_SWITCH, "1")
    log = logging.getLogger("lowregret.service")
    handlers, propagates = log.handlers, log.propagate
    try:
        logs.configure()
        with progress.compiling("GLRKLUCB"):
            pass
        (line,) = capsys.readouterr().err.splitlines()
    finally:
        log.handlers, log.propagate = handlers, propagates
    fields = parsed(line)
    assert (fields["level"], fields["event"]) == ("INFO", "progress") and fields["time"]
    assert fields["detail"].startswith("compiling GLRKLUCB, which takes")


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

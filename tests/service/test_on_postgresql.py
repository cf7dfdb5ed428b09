"""Services on PostgreSQL: two make the decisions of one, and a server that stops loses nothing."""

import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from threading import Event
from time import sleep

import pytest
from serving import AGENT, PATIENCE, Oracle, check_log, served, until

import lowregret as lr
from lowregret.online.stores import postgresql
from lowregret.service import agents

postgres_server = pytest.importorskip("postgres_server")
ASK = "/v1/agents/buttons/ask"
STOPS = int(os.environ.get("LOWREGRET_STOPS", "3"))
"""How often the server stops; the issue's 20 with LOWREGRET_STOPS=20."""


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory(prefix="lowregret-pg-") as folder:
        server = postgres_server.PostgresServer(Path(folder))
        yield server
        server.remove()


def test_two_services_are_one(server):
    with served(server.url) as one, served(server.url) as other:
        assert one.post("/v1/agents", json={**AGENT, "name": "shared"}).status_code == 201
        assert other.post("/v1/agents", json={**AGENT, "name": "shared"}).status_code == 200

        def play(number):
            for turn in range(15):
                client = (one, other)[(number + turn) % 2]
                body = {"request": f"{number} {turn}"}
                found = client.post("/v1/agents/shared/ask", json=body).json()
                again = (other, one)[(number + turn) % 2].post("/v1/agents/shared/ask", json=body).json()
                assert found == again
                told = {"rewards": [{"id": found["decisions"][0]["id"], "reward": turn % 2}]}
                assert client.post("/v1/agents/shared/tell", json=told).json() == {"new": 1}

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(play, range(6)))
        summaries = [client.get("/v1/agents/shared/summary").json() for client in (one, other)]
        assert summaries[0] == summaries[1] and summaries[0]["pulls"] == 90
        text = one.post("/v1/agents", json={**AGENT, "name": "shared", "seed": 9}).text
        assert "postgres" not in text and "the store" in text
    with lr.open_agent(server.url, name="shared") as agent:
        assert agent.verify() == 180


def test_ready_while_the_server_is_down(server, monkeypatch):
    """It answers at its own limit, not that of the store, and says nothing of the server."""
    monkeypatch.setattr(agents, "READY_SECONDS", 0.1)
    with served(server.url) as client:
        until(lambda: client.get("/ready").status_code == 200)
        monkeypatch.setattr(agents, "TIMEOUT_SECONDS", 0.1)
        assert client.post("/v1/agents", json={**AGENT, "name": "known"}).status_code == 201
        server.stop_immediately()
        try:
            until(lambda: client.get("/ready").status_code == 503)
            answer, refused = client.get("/ready"), client.post("/v1/agents/known/ask", json={})
        finally:
            server.start()
        assert answer.json()["detail"].startswith("the store cannot be used at present")
        assert refused.status_code == 503
        assert refused.json()["detail"] == "the store cannot be reached at present: try again"
        until(lambda: client.get("/ready").status_code == 200)


def test_a_server_whose_disk_is_full_is_not_ready(server, monkeypatch):
    with served(server.url) as client:
        until(lambda: client.get("/ready").status_code == 200)
        with monkeypatch.context() as patch:
            full = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$"
            patch.setattr(postgresql, "SPILL", full)
            answer = client.get("/ready")
        assert answer.status_code == 503 and "the store cannot be used at present" in answer.text
        until(lambda: client.get("/ready").status_code == 200)


@pytest.mark.heavy
def test_a_disk_that_is_full_in_earnest():
    """A call is refused, nothing is lost, and all is well when there is space again."""
    with mounted(160) as folder:
        server = postgres_server.PostgresServer(Path(tempfile.mkdtemp(dir=folder)))
        try:
            with served(server.url) as client:
                assert client.post("/v1/agents", json=AGENT).status_code == 201
                with open(folder / "ballast", "wb", buffering=0) as ballast, suppress(OSError):
                    while True:
                        ballast.write(b"x" * 10_000)
                until(lambda: client.get("/ready").status_code == 503)
                asked = []
                until(lambda: asked.append(client.post(ASK, json={"n": 100}).status_code) or 503 in asked)
                (folder / "ballast").unlink()
                until(lambda: client.get("/ready").status_code == 200)
                assert client.post(ASK, json={"n": 1}).status_code == 200
                pending = client.get("/v1/agents/buttons/pending").json()["decisions"]
                assert len(pending) == 100 * asked.count(200) + 1
        finally:
            server.remove()


@contextmanager
def mounted(megabytes):
    """Mount a small disk in memory, which takes root."""
    with tempfile.TemporaryDirectory() as folder:
        options = f"size={megabytes}m,mode=777"
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True)
        if done.returncode:
            pytest.skip("cannot mount a disk")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def test_a_server_that_stops_loses_nothing(server):
    choose, stop = Random(1), Event()
    with served(server.url) as client:
        assert client.post("/v1/agents", json=AGENT).status_code == 201
        oracles = [Oracle(str(client.base_url), number, stop) for number in range(6)]
        for oracle in oracles:
            oracle.start()
        for _ in range(STOPS):
            before = sum(len(oracle.told) for oracle in oracles)
            until(lambda before=before: sum(len(oracle.told) for oracle in oracles) > before + 20)
            sleep(choose.uniform(0, 0.1))
            server.stop_immediately()
            sleep(choose.uniform(0, 0.3))
            server.start()
        until(lambda: client.get("/ready").status_code == 200)
        until(lambda: all(oracle.told for oracle in oracles))
        stop.set()
        for oracle in oracles:
            oracle.join(PATIENCE)
            assert oracle.failure is None and not oracle.is_alive()
    check_log(server.url, oracles)

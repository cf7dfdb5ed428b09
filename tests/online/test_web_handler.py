"""The example of a web service decides only where it is asked to; tests/test_examples.py plays with it."""

import json
import runpy
from http.client import HTTPConnection
from http.server import HTTPServer
from pathlib import Path
from threading import Thread

import pytest

import lowregret as lr

SERVICE = Path(__file__).parents[2] / "examples" / "web_handler.py"


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/choose", None, 200),
        ("GET", "/favicon.ico", None, 404),
        ("POST", "/", "{}", 404),
        ("GET", "/choose?visit=%ED%A0%80", None, 200),
        ("POST", "/choose", "{}", 400),
        ("POST", "/choose", "[1]", 400),
        ("POST", "/choose", "no JSON", 400),
        ("POST", "/choose", "[" * 9_000, 400),
        ("POST", "/choose", "[" * 100_000, 400),
        ("POST", "/choose", '{"id": "somebody-1", "reward": 1}', 404),
        ("POST", "/choose", '{"id": 7, "reward": 1}', 400),
    ],
)
def test_paths_and_bodies(method, path, body, status):
    agent = lr.Agent(lr.UCB1(), ["red", "green"])
    assert answered(agent, method, path, body) == status
    assert agent.time == (method == "GET" and status == 200)


def test_a_second_reward_is_a_conflict():
    agent = lr.Agent("UCB1", ["red", "green"])
    key = agent.ask().id
    statuses = [
        answered(agent, "POST", "/choose", json.dumps({"id": key, "reward": reward})) for reward in (1, 1, 0)
    ]
    assert statuses == [200, 200, 409]


def test_a_file_that_is_gone_is_not_the_visitors_fault(tmp_path):
    with lr.open_agent(tmp_path / "agent.db", lr.UCB1(), ["red", "green"]) as agent:
        (tmp_path / "agent.db").rename(tmp_path / "elsewhere.db")
        assert answered(agent, "GET", "/choose", None) == 503


def test_a_negative_length_holds_no_thread():
    assert (
        answered(lr.Agent("UCB1", ["red", "green"]), "POST", "/choose", None, {"Content-Length": "-1"}) == 400
    )


def answered(agent, method, path, body, headers=None):
    """Let the handler answer one call; give the status."""
    handler = runpy.run_path(str(SERVICE))["Handler"]
    handler.do_GET.__globals__["agent"] = agent
    handler.log_message = lambda *_: None
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        link = HTTPConnection("127.0.0.1", server.server_port)
        link.request(method, path, body, headers or {})
        status = link.getresponse().status
        link.close()
        thread.join(120)
    return status

"""Attacks: each is named, answered with a status of the 400s, and leaves the service as it was."""

import json
import socket
from contextlib import suppress
from select import select

import pytest
from serving import AGENT, served

from lowregret.service import connections, requests
from lowregret.service.models import MAX_BODY_BYTES

ASK, TELL = "/v1/agents/buttons/ask", "/v1/agents/buttons/tell"
JSON = {"Content-Type": "application/json"}
SQL = "x'; DROP TABLE log; --"
NESTED = "[" * 100_000 + "]" * 100_000


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with served(tmp_path_factory.mktemp("store") / "a.db") as client:
        assert client.post("/v1/agents", json=AGENT).status_code == 201
        client.post(ASK, json={"request": "first"})
        yield client


@pytest.fixture(autouse=True)
def unharmed(client):
    """Check that an attack has changed nothing."""
    before = client.get("/v1/agents/buttons/summary").json()
    yield
    assert client.get("/v1/agents/buttons/summary").json() == before
    assert [each["name"] for each in client.get("/v1/agents").json()["agents"]] == ["buttons"]
    assert client.get("/health").status_code == 200


BODIES = {
    "no JSON": (ASK, "x", 400),
    "nested lists": (ASK, NESTED, 400),
    "nested lists in a field": (ASK, f'{{"only": {NESTED}}}', 400),
    "a huge integer": (ASK, f'{{"n": {"9" * 10_000}}}', 400),
    "a huge float": (TELL, '{"rewards": [{"id": "x-1", "reward": 1e999}]}', 400),
    "NaN": (TELL, '{"rewards": [{"id": "x-1", "reward": NaN}]}', 400),
    "infinity": (TELL, '{"rewards": [{"id": "x-1", "reward": -Infinity}]}', 400),
    "a lone surrogate": (ASK, '{"request": "\\ud800"}', 400),
    "invalid UTF-8": (ASK, b'{"request": "\xff\xfe"}', 400),
    "an empty request": (ASK, '{"request": ""}', 400),
    "a long request": (ASK, json.dumps({"request": "x" * 1_001}), 400),
    "a negative count": (ASK, '{"n": -1}', 400),
    "a count of true": (ASK, '{"n": true}', 400),
    "an unknown key": (ASK, '{"__class__": "x"}', 400),
    "SQL as an arm": (ASK, json.dumps({"only": [SQL]}), 400),
    "SQL as an id": (TELL, json.dumps({"rewards": [{"id": SQL, "reward": 1}]}), 404),
    "a forged id": (TELL, json.dumps({"rewards": [{"id": "0" * 32 + "-1", "reward": 1}]}), 404),
    "an id of other digits": (TELL, json.dumps({"rewards": [{"id": "x-\u0661", "reward": 1}]}), 404),
    "a long id": (TELL, json.dumps({"rewards": [{"id": "9" * 5_000, "reward": 1}]}), 400),
    "a list for an object": (TELL, "[]", 400),
    "null": (ASK, "null", 400),
    "code as a policy": ("/v1/agents", json.dumps({**AGENT, "policy": "exec('1')", "name": "x"}), 400),
    "nested code as a policy": ("/v1/agents", json.dumps({**AGENT, "policy": "(" * 150, "name": "x"}), 400),
    "a module as a policy": ("/v1/agents", json.dumps({**AGENT, "policy": "os:System", "name": "x"}), 400),
    "a path as a name": ("/v1/agents", json.dumps({**AGENT, "name": "../../etc/passwd"}), 400),
    "SQL as a name": ("/v1/agents", json.dumps({**AGENT, "name": SQL}), 400),
    "too many arms": ("/v1/agents", json.dumps({**AGENT, "arms": [str(n) for n in range(10_001)]}), 400),
    "a long arm": ("/v1/agents/buttons/arms", json.dumps({"add": "x" * 201}), 400),
    "a large body": (ASK, " " * (MAX_BODY_BYTES + 1), 413),
}


@pytest.mark.parametrize("attack", BODIES)
def test_body(client, attack):
    path, body, status = BODIES[attack]
    answer = client.post(path, content=body, headers=JSON)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json" and len(answer.text) < 1_000


PATHS = [
    "/v1/agents/..%2f..%2fetc%2fpasswd/summary",
    "/v1/agents/%00/summary",
    "/v1/agents/%ff/summary",
    "/v1/agents/buttons%0d%0aX-Evil:1/summary",
    "/v1/agents/buttons/../../metrics/x",
    "/v1/agents//summary",
    "/v1/agents/" + "x" * 5_000 + "/summary",
    "/dashboard.js/../../serve.py",
    "/..%2fserve.py",
    "/v1/agents/buttons/ask/",
]


@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
def test_path(client, path):
    answer = raw(client, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert answer.split()[1] in (b"400", b"404", b"405")
    assert b"x-evil" not in answer.lower().partition(b"\r\n\r\n")[0]


def test_a_page_of_another_site_cannot_use_the_service(client):
    """A form cannot send JSON, and a name that resolves to this machine is refused."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert client.post(ASK, content="{}", headers={"Content-Type": kind}).status_code == 415
    for host in ("evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", ""):
        assert client.post(ASK, json={}, headers={"Host": host}).status_code == 403
        assert client.get("/v1/agents", headers={"Host": host}).status_code == 403
    head = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    assert client.post(ASK, json={}, headers=head).status_code == 403
    preflight = client.options(ASK, headers={**head, "Access-Control-Request-Method": "POST"})
    assert preflight.status_code == 405
    assert not any(key.startswith("access-control") for key in preflight.headers)


def test_pages_cannot_be_framed_or_load_from_elsewhere(client):
    for path in ("/", "/dashboard.js", "/dashboard.css"):
        head = client.get(path).headers
        policy = head["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "http" not in policy
        assert head["x-content-type-options"] == "nosniff"
    head = client.get("/v1/agents").headers
    assert head["cache-control"] == "no-store" and head["x-content-type-options"] == "nosniff"


def test_a_body_without_end_is_cut_off(client):
    """A client that sends more than it may, in chunks, without announcing how much."""
    head = f"POST {ASK} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    sent = head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + b" " * 65_536 + b"\r\n"
    answer = raw(client, sent + (b"10000\r\n" + b" " * 65_536 + b"\r\n") * 20)
    assert b" 413 " in answer.split(b"\r\n")[0]


@pytest.mark.parametrize("seconds", [0.3, 600.0])
def test_a_slow_client_holds_nobody(client, monkeypatch, seconds):
    monkeypatch.setattr(requests, "BODY_SECONDS", seconds)
    head = f"POST {ASK} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    slow = [connected(client) for _ in range(20)]
    for link in slow:
        link.sendall(head.encode() + b'Content-Length: 20\r\n\r\n{"n"')
    assert client.get("/health").status_code == 200
    if seconds > 1.0:  # others were answered while these wait
        assert select(slow, [], [], 0.0)[0] == []
    for link in slow:
        if seconds > 1.0:
            link.sendall(b": 0}" + b" " * 12)
        assert (b" 400 " if seconds > 1.0 else b" 408 ") in link.recv(1_000).split(b"\r\n")[0]
        link.close()


@pytest.mark.parametrize(
    "sent", [b"", b"GET /health HTTP/1.1\r\nHost: lo"], ids=["nothing", "part of a header"]
)
@pytest.mark.parametrize("before", [False, True], ids=["at first", "after an answer"])
def test_a_client_that_sends_no_headers_is_cut_off(client, monkeypatch, sent, before):
    if not before:
        monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)
    with connected(client) as link:
        if before:
            link.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            while b"}" not in answer:
                part = link.recv(10_000)
                assert part
                answer += part
            assert b" 200 " in answer
            if not sent:
                return  # an idle connection, which stays open for the next call
            monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)
        with suppress(ConnectionError):  # where the service was first
            link.sendall(sent)
            assert link.recv(1_000) == b""


def test_headers_without_end_are_cut_off(client):
    with connected(client) as link:
        link.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        with suppress(ConnectionError):
            for number in range(1_000):
                link.sendall(b"X-%d: %s\r\n" % (number, b"x" * 10_000))
            pytest.fail("10 MB of headers were read")
        with suppress(ConnectionError):  # which may overtake the answer
            assert link.recv(1_000).split()[1] in (b"400", b"431")
    assert client.get("/health").status_code == 200


def test_two_lengths_are_refused(client):
    head = f"POST {ASK} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    answer = raw(client, head.encode() + b"Content-Length: 2\r\nContent-Length: 50\r\n\r\n{}")
    assert b" 400 " in answer.split(b"\r\n")[0]


@pytest.mark.parametrize("again", ["Host: example.org", "Content-Type: text/plain"])
def test_a_header_that_is_checked_comes_once(client, again):
    head = f"POST {ASK} HTTP/1.1\r\n{again}\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    answer = raw(client, head.encode() + b"Content-Length: 2\r\n\r\n{}")
    assert b" 400 " in answer.split(b"\r\n")[0]


def test_a_replayed_call_changes_nothing(client):
    first = client.post(ASK, json={"request": "first"}).json()
    for _ in range(5):
        assert client.post(ASK, json={"request": "first"}).json() == first


def connected(client):
    return socket.create_connection((client.base_url.host, client.base_url.port), timeout=120)


def raw(client, data):
    """Send bytes, and return what comes back until the connection ends."""
    with connected(client) as link:
        answer = b""
        with suppress(OSError):  # closed by the service
            link.sendall(data)
        with suppress(OSError):
            while part := link.recv(65_536):
                answer += part
                if b"\r\n\r\n" in answer and b"connection: close" not in answer.lower():
                    break
        return answer

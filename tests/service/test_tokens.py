"""Tokens: what each scope allows, that they are stored hashed, and where a service listens without them."""

import json
import logging
import os
from hashlib import sha256
from threading import Thread
from uuid import uuid4

import pytest
from serving import AGENT, served
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.service import Options
from lowregret.service import tokens as tokens_module
from lowregret.service.serve import serve
from lowregret.service.tokens import INCLUDED_IN, SCOPES, Tokens, new_token, read_tokens, remove_token

ROUTES = [
    ("POST", "/v1/agents", "admin"),
    ("GET", "/v1/agents", "read"),
    ("GET", "/v1/agents/buttons", "read"),
    ("POST", "/v1/agents/buttons/ask", "ask"),
    ("POST", "/v1/agents/buttons/tell", "visitor"),
    ("POST", "/v1/agents/buttons/observe", "decide"),
    ("GET", "/v1/agents/buttons/preview", "read"),
    ("GET", "/v1/agents/buttons/shadow", "read"),
    ("POST", "/v1/agents/buttons/forget", "decide"),
    ("GET", "/v1/agents/buttons/summary", "read"),
    ("GET", "/v1/agents/buttons/verdict", "read"),
    ("GET", "/v1/agents/buttons/pending", "read"),
    ("GET", "/v1/agents/buttons/arms", "read"),
    ("POST", "/v1/agents/buttons/arms", "admin"),
    ("POST", "/v1/agents/buttons/status", "admin"),
    ("GET", "/v1/agents/buttons/events", "read"),
    ("GET", "/v1/agents/buttons/history", "read"),
    ("GET", "/v1/agents/buttons/export", "read"),
    ("GET", "/metrics", "read"),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """Serve a store with one token for each scope; yield a client without a token, and the tokens."""
    folder = tmp_path_factory.mktemp("tokens")
    secrets = {scope: new_token(folder / "t.json", scope, [scope]) for scope in SCOPES}
    with served(folder / "a.db", folder / "t.json") as client:
        head = {"Authorization": f"Bearer {secrets['admin']}"}
        assert client.post("/v1/agents", json=AGENT, headers=head).status_code == 201
        yield client, secrets, folder / "t.json"


@pytest.mark.parametrize(("method", "path", "scope"), ROUTES)
def test_each_route_needs_its_scope(service, method, path, scope):
    client, secrets, _ = service
    for given, secret in {**secrets, "none": None, "unknown": "lrt_unknown"}.items():
        head = {} if secret is None else {"Authorization": f"Bearer {secret}"}
        answer = client.request(method, path, json=None if method == "GET" else {"x": 1}, headers=head)
        if given in ("none", "unknown"):
            assert answer.status_code == 401 and answer.headers["www-authenticate"].startswith("Bearer")
        elif given in (scope, "admin") or given in INCLUDED_IN.get(scope, ()):
            assert answer.status_code == (200 if method == "GET" else 400)
        else:
            needed = "decide" if given == "read" and scope in INCLUDED_IN else scope
            assert answer.status_code == 403 and f"lacks the scope '{needed}'" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("ask", {"n": 1000, "only": ["red"], "request": "x"}),  # twenty of these ended an experiment
        ("ask", {"n": 2, "request": "x"}),
        ("ask", {"only": ["red"], "request": "x"}),
        ("ask", {}),
        ("tell", {"rewards": []}),
        ("tell", {"rewards": [{"id": "1-1", "reward": 1}, {"id": "1-2", "reward": 1}]}),
        ("tell", {"rewards": [{"request": "somebody else", "reward": 1}]}),  # a name can be guessed
    ],
)
def test_what_a_visitor_may_not(service, path, body):
    client, secrets, _ = service
    head = {"Authorization": f"Bearer {secrets['visitor']}"}
    before = client.get("/v1/agents/buttons", headers={"Authorization": f"Bearer {secrets['read']}"}).json()
    answer = client.post(f"/v1/agents/buttons/{path}", json=body, headers=head)
    assert answer.status_code == 403 and "one reward a call" in answer.json()["detail"]
    after = client.get("/v1/agents/buttons", headers={"Authorization": f"Bearer {secrets['read']}"}).json()
    assert after == before


def test_what_a_visitor_may(service):
    client, secrets, path = service
    for secret in (secrets["visitor"], new_token(path, "bound", ["visitor"], ["buttons"])):
        head = {"Authorization": f"Bearer {secret}"}
        answer = client.post("/v1/agents/buttons/ask", json={"request": str(uuid4())}, headers=head)
        (decision,) = answer.json()["decisions"]
        for reward, status in ((1, 200), (1, 200), (0, 409)):
            body = {"rewards": [{"id": decision["id"], "reward": reward}]}
            assert client.post("/v1/agents/buttons/tell", json=body, headers=head).status_code == status


def test_a_token_may_be_bound_to_agents(service):
    client, _, path = service
    head = {"Authorization": f"Bearer {new_token(path, 'other', ['admin'], ['links'])}"}
    for method, route in (("GET", "/v1/agents/buttons"), ("GET", "/v1/agents"), ("GET", "/metrics")):
        answer = client.request(method, route, headers=head)
        assert answer.status_code == 403 and "for calls of other agents" in answer.json()["detail"]
    assert client.get("/v1/agents/links", headers=head).status_code == 404
    with pytest.raises(lr.InputError, match="the name of an agent"):
        new_token(path, "wrong", ["visitor"], ["../x"])


def test_every_route_is_in_the_table():
    from lowregret.service.app import ROUTES as ALL

    named = {(route.method, route.path.replace("{name}", "buttons"), route.scope) for route in ALL}
    assert named == {*ROUTES, ("GET", "/health", None), ("GET", "/ready", None)}


@pytest.mark.parametrize("header", ["", "Bearer", "Basic eDp5", "Token lrt_x", "Bearer lrt_x y", "Bearer é"])
def test_a_malformed_header_is_401(service, header):
    client, _, _ = service
    answer = client.get("/v1/agents", headers={"Authorization": header.encode("latin-1")})
    assert answer.status_code == 401


@pytest.mark.parametrize("first", ["admin", "visitor", "unknown"])
def test_of_two_tokens_none_is_used(service, first):
    """A proxy that checks the first one must not be overruled by the second, nor the other way round."""
    client, secrets, _ = service
    pair = secrets.get(first, "lrt_unknown"), secrets["admin"]
    for order in (pair, pair[::-1]):
        head = [("Authorization", f"Bearer {secret}") for secret in order]
        answer = client.get("/v1/agents", headers=head)
        assert answer.status_code == 400 and "Authorization once" in answer.json()["detail"]


def test_the_file_holds_hashes_alone(service):
    _, secrets, path = service
    text = path.read_text()
    for secret in secrets.values():
        assert secret not in text and sha256(secret.encode()).hexdigest() in text
        assert len(secret) >= 43
    assert path.stat().st_mode & 0o77 == 0


def test_a_removed_token_is_refused_at_once(service):
    client, _, path = service
    secret = new_token(path, "guest", ["read"])
    head = {"Authorization": f"Bearer {secret}"}
    assert client.get("/v1/agents", headers=head).status_code == 200
    remove_token(path, "guest")
    assert client.get("/v1/agents", headers=head).status_code == 401


def test_tokens_that_are_added_at_once_are_all_kept(tmp_path, monkeypatch):
    path, first, others = tmp_path / "t.json", new_token(tmp_path / "t.json", "first", ["read"]), []
    real = tokens_module.read_tokens

    def read(path):
        found = real(path)
        if not others:  # while one has read the file and not yet written it, another comes
            others.append(Thread(target=lambda: others.append(new_token(path, "third", ["read"]))))
            others[0].start()
            others[0].join(0.5)
        return found

    monkeypatch.setattr(tokens_module, "read_tokens", read)
    second = new_token(path, "second", ["read"])
    others[0].join(120)
    tokens = Tokens(path)
    assert all(tokens.find(secret).scopes == ["read"] for secret in (first, second, others[1]))
    assert list(tmp_path.iterdir()) == [path]


def test_a_damaged_file_lets_nobody_in(tmp_path):
    secret = new_token(tmp_path / "t.json", "me", ["admin"])
    tokens = Tokens(tmp_path / "t.json")
    assert tokens.find(secret).allows("decide")
    (tmp_path / "t.json").write_text("[{}]")
    with pytest.raises(lr.StoreError, match="not a file of tokens"):
        tokens.find(secret)
    (tmp_path / "t.json").unlink()
    with pytest.raises(lr.StoreError):
        tokens.find(secret)


def test_no_secret_is_logged(service, caplog):
    client, secrets, _ = service
    with caplog.at_level(logging.DEBUG):
        for secret in (*secrets.values(), "lrt_wrong"):
            client.get("/v1/agents", headers={"Authorization": f"Bearer {secret}"})
            client.get(f"/v1/agents/{secret}", headers={"Authorization": f"Bearer {secret}"})
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert not any(secret in record.getMessage() for record in ours for secret in secrets.values())


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_others_need_tokens(tmp_path, host):
    with pytest.raises(lr.InputError, match="pass --tokens"):
        serve(Options(str(tmp_path / "a.db")), host=host, port=0)
    assert not (tmp_path / "a.db").exists()


def test_a_link_to_the_tokens_stays_one(tmp_path):
    """A service that reads the file itself is to refuse what was removed by the link."""
    path, link = tmp_path / "t.json", tmp_path / "link.json"
    new_token(path, "shop", ["decide"])
    link.symlink_to(path)
    new_token(link, "page", ["visitor"])
    remove_token(link, "shop")
    assert link.is_symlink() and [token.name for token in read_tokens(path)] == ["page"]


def test_tokens_that_are_no_file_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/null"):
        for call in (lambda path=path: Tokens(path), lambda path=path: new_token(path, "shop", ["decide"])):
            with pytest.raises(lr.StoreError, match="there is no file of tokens"):
                call()
    with pytest.raises(lr.StoreError, match="there is no file of tokens"):
        remove_token(tmp_path / "gone", "shop")


def test_tokens_on_the_command_line(tmp_path):
    path = str(tmp_path / "t.json")
    done = CliRunner().invoke(app, ["token", "add", path, "shop", "--scope", "decide", "--scope", "read"])
    assert done.exit_code == 0 and done.stdout.startswith("lrt_")
    assert "decide, read" in CliRunner().invoke(app, ["token", "list", path]).stdout
    assert CliRunner().invoke(app, ["token", "add", path, "shop", "--scope", "read"]).exit_code == 2
    arguments = ["token", "add", path, "page", "--scope", "visitor", "--agent", "buttons"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert "buttons" in CliRunner().invoke(app, ["token", "list", path]).stdout
    assert CliRunner().invoke(app, ["token", "remove", path, "page"]).exit_code == 0
    assert CliRunner().invoke(app, ["token", "remove", path, "nobody"]).exit_code == 2
    assert CliRunner().invoke(app, ["token", "remove", path, "shop"]).exit_code == 0
    assert json.loads((tmp_path / "t.json").read_text()) == []

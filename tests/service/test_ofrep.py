"""Agents as feature flags: OFREP by its official description, and by its official providers, unchanged."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode, openapi
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from serving import AGENT, PATIENCE, served

import lowregret as lr
from lowregret.service import ofrep
from lowregret.service.tokens import new_token

FLAGS = "/ofrep/v1/evaluate/flags"
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "live" / "integrate.md").read_text(encoding="utf-8")
VALUES = {"red": {"colour": "#f00"}, "green": True, "blue": 2.5}
FLAG = {**AGENT, "matures_after": {"seconds": 3600}, "default_reward": 0, "values": VALUES}


@pytest.fixture
def client(tmp_path):
    with served(tmp_path / "a.db") as client:
        assert client.post("/v1/agents", json=FLAG).status_code == 201
        yield client


def evaluate(client, key=None, name="buttons", **context):
    context |= {} if key is None else {"targetingKey": key}
    return client.post(f"{FLAGS}/{name}" if name else FLAGS, json={"context": context})


def test_the_same_key_has_the_same_arm_and_its_decision_is_stored(client):
    answers = [evaluate(client, f"user {number % 4}").json() for number in range(8)]
    assert answers[:4] == answers[4:]
    assert {answer["variant"] for answer in answers} == set(VALUES)
    for answer in answers:
        assert answer["key"] == "buttons" and answer["reason"] == "SPLIT"
        assert answer["value"] == VALUES[answer["variant"]]
        assert answer["metadata"].keys() == {"decision", "propensity"}
    with lr.connect(str(client.base_url), name="buttons") as agent:
        assert agent.time == 4 and len(agent.pending) == 4
        assert agent.ask(request="user 1").id == answers[1]["metadata"]["decision"]
        assert agent.tell(request="user 1", reward=1) is True
        assert agent.tell(answers[1]["metadata"]["decision"], 1) is False


def test_the_value_of_an_arm_is_its_name_unless_it_was_given_one(client):
    client.post("/v1/agents", json={**FLAG, "name": "plain", "values": {"red": "R"}})
    for arm, value in (("pink", {"colour": "pink"}), ("grey", None)):
        assert client.post("/v1/agents/plain/arms", json={"add": arm, "value": value}).status_code == 200
    expected = {"red": "R", "green": "green", "blue": "blue", "pink": {"colour": "pink"}, "grey": "grey"}
    answers = [evaluate(client, f"{number}", "plain").json() for number in range(20)]
    assert {answer["variant"]: answer["value"] for answer in answers} == expected


def test_values_are_stored_and_validated(tmp_path):
    path, arms = tmp_path / "a.db", ["a", "b"]
    with lr.open_agent(path, lr.UCB1(), arms, values={"a": {"x": [1, None]}}) as agent:
        agent.add_arm("c", value="C")
        for wrong in ([1], float("nan"), {"x": {1}}, "x" * 10_001):
            with pytest.raises(lr.InputError, match="the value of arm 'd' must be"):
                agent.add_arm("d", value=wrong)
        again = lr.Agent.from_json(agent.to_json())
        assert agent.verify() == 1 and agent.compact() == 1
    with lr.open_agent(path) as agent:
        for state in (agent.transactions.state, again.transactions.state):
            assert (state.settings.values, state.values) == ({"a": {"x": [1, None]}}, {"c": "C"})
    for values, problem in (
        ({"z": 1}, "values: unknown arm 'z'"),
        ([1], "values must be"),
        ({"a": [1]}, "'a' must"),
    ):
        with pytest.raises(lr.InputError, match=problem):
            lr.Agent(lr.UCB1(), arms, values=values)


@pytest.mark.parametrize(
    ("name", "body", "status", "code"),
    [
        ("buttons", {"context": {}}, 400, "TARGETING_KEY_MISSING"),
        ("buttons", {}, 400, "TARGETING_KEY_MISSING"),
        ("buttons", {"context": {"targetingKey": ""}}, 400, "TARGETING_KEY_MISSING"),
        ("buttons", {"context": {"targetingKey": 7}}, 400, "TARGETING_KEY_MISSING"),
        ("buttons", {"context": {"targetingKey": "x" * 1_001}}, 400, "INVALID_CONTEXT"),
        ("buttons", {"context": []}, 400, "INVALID_CONTEXT"),
        ("buttons", "{", 400, "PARSE_ERROR"),
        ("nobody", {"context": {"targetingKey": "x"}}, 404, "FLAG_NOT_FOUND"),
        ("no/body", {"context": {"targetingKey": "x"}}, 404, "FLAG_NOT_FOUND"),
        ("endless", {"context": {"targetingKey": "x"}}, 400, "GENERAL"),
    ],
)
def test_errors_are_those_of_the_protocol(client, name, body, status, code):
    client.post("/v1/agents", json={**AGENT, "name": "endless"})  # without a window
    text = body if isinstance(body, str) else json.dumps(body)
    answer = client.post(f"{FLAGS}/{name}", content=text, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert (
        answer.json()["key"] == name and answer.json()["errorCode"] == code and answer.json()["errorDetails"]
    )
    assert client.get("/v1/agents/endless").json()["pulls"] == 0


def test_a_paused_agent_is_disabled(client):
    first = evaluate(client, "old").json()
    client.post("/v1/agents/buttons/status", json={"status": "paused"})
    assert evaluate(client, "old").json() == first  # which was decided before
    assert evaluate(client, "new").json() == {"key": "buttons", "reason": "DISABLED", "variant": "paused"}
    client.post("/v1/agents/buttons/status", json={"status": "paused", "fallback": "green"})
    shown = {"key": "buttons", "reason": "DISABLED", "variant": "green", "value": True, "metadata": {}}
    assert evaluate(client, "new").json() == shown
    assert client.get("/v1/agents/buttons").json()["pulls"] == 1


def test_the_bulk_form_decides_for_the_named_agents_alone(client):
    for name in ("banner", "third"):
        client.post("/v1/agents", json={**FLAG, "name": name})
    answer = evaluate(client, "user", None)
    assert answer.status_code == 400 and answer.json()["errorCode"] == "INVALID_CONTEXT"
    assert "name the agents" in answer.json()["errorDetails"] and "key" not in answer.json()
    many = evaluate(client, "user", None, agents=["x"] * 101)
    assert many.status_code == 400
    answer = evaluate(client, "user", None, agents="buttons, banner,nobody")
    flags = answer.json()["flags"]
    assert [flag["key"] for flag in flags] == ["buttons", "banner", "nobody"]
    assert flags[2]["errorCode"] == "GENERAL" and "there is no agent" in flags[2]["errorDetails"]
    assert flags[0] == evaluate(client, "user").json()
    again = evaluate(client, "user", None, agents=["buttons", "banner", "nobody"])
    assert again.headers["etag"] == answer.headers["etag"] and again.json() == answer.json()
    pulls = [client.get(f"/v1/agents/{name}").json()["pulls"] for name in ("buttons", "banner", "third")]
    assert pulls == [1, 1, 0]


def test_etags(client):
    body = {"context": {"targetingKey": "user", "agents": ["buttons"]}}
    tag = client.post(FLAGS, json=body).headers["etag"]
    for known in (tag, f'"other", W/{tag}', "*"):
        answer = client.post(FLAGS, json=body, headers={"If-None-Match": known})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
    assert client.post(FLAGS, json=body, headers={"If-None-Match": '"other"'}).status_code == 200


def test_tokens(tmp_path):
    tokens = tmp_path / "t.json"
    scopes = {"admin": "admin", "decide": "decide", "page": "visitor", "read": "read"}
    head = {}
    for name, scope in scopes.items():
        secret = new_token(tokens, name, [scope], ["buttons"] if name == "page" else None)
        head[name] = {"Authorization": f"Bearer {secret}"}
    body = {"context": {"targetingKey": "user"}}
    with served(tmp_path / "a.db", tokens) as client:
        for name in ("buttons", "banner"):
            client.post("/v1/agents", json={**FLAG, "name": name}, headers=head["admin"])
        assert client.post(f"{FLAGS}/buttons", json=body).status_code == 401
        statuses = {
            name: client.post(f"{FLAGS}/banner", json=body, headers=h).status_code for name, h in head.items()
        }
        assert statuses == {"admin": 200, "decide": 200, "page": 403, "read": 403}
        bulk = client.post(FLAGS, json=body, headers=head["page"])  # the agents of its token
        assert [flag["key"] for flag in bulk.json()["flags"]] == ["buttons"]
        body["context"]["agents"] = "banner"
        assert client.post(FLAGS, json=body, headers=head["page"]).status_code == 403
        assert client.post(FLAGS, json=body, headers=head["decide"]).status_code == 200


def test_a_store_that_is_gone_is_500_and_says_when_to_try_again(tmp_path, monkeypatch):
    async def fails(*_):
        raise lr.StoreError("the disk is full")

    with served(tmp_path / "a.db") as client:
        client.post("/v1/agents", json=FLAG)
        monkeypatch.setattr(ofrep, "_evaluate", fails)
        answer = evaluate(client, "user")
        assert answer.status_code == 500 and answer.json() == {"errorDetails": "the disk is full"}
        assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_the_official_description(client, mode):
    """Its oneOf of a value is meant as anyOf: the flag without a value matches every value."""
    text = (ROOT / "tests" / "data" / "ofrep-0.3.json").read_text(encoding="utf-8")
    description = json.loads(text)
    kinds = description["components"]["schemas"]["evaluationSuccess"]["allOf"][1]
    kinds["anyOf"] = kinds.pop("oneOf")
    items = description["components"]["schemas"]["bulkEvaluationSuccess"]["properties"]["flags"]["items"]
    items["anyOf"] = items.pop("oneOf")
    schema = openapi.from_dict(description)
    schema.config.update(base_url=str(client.base_url))
    seen = set()
    for operation in schema.get_all_operations():
        generated(operation.ok(), mode, seen)
    if mode is GenerationMode.POSITIVE:
        assert {label for label, status in seen if status == 200} == {
            f"POST {FLAGS}",
            f"POST {FLAGS}/{{key}}",
        }
    else:
        assert any(status == 400 for _, status in seen)


def generated(operation, mode, seen):
    """Make calls of a route; note their statuses."""
    positive = mode is GenerationMode.POSITIVE
    checks = [not_a_server_error, response_schema_conformance]
    checks += [status_code_conformance, content_type_conformance] if positive else []

    @settings(max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case):
        if positive:
            case.body["context"]["agents"] = ["buttons", "nobody"]
            if "key" in (case.path_parameters or {}):
                case.path_parameters["key"] = "buttons"
        answer = case.call()
        case.validate_response(answer, checks=checks)
        seen.add((operation.label, answer.status_code))

    check()


def block(language, containing):
    """Return a block of the page, with the address of a service in it."""
    texts = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (text,) = [text for text in texts if containing in text]
    return text


def create_flag(client):
    """Create the agent of the page."""
    (settings,) = re.findall(r"lowregret agent create flags.db '(.*?)'$", PAGE, re.MULTILINE)
    assert client.post(
        "/v1/agents", content=settings, headers={"Content-Type": "application/json"}
    ).is_success


def test_the_official_python_provider(tmp_path):
    pytest.importorskip(
        "openfeature.contrib.provider.ofrep", reason="openfeature-provider-ofrep is not installed"
    )
    from openfeature import api
    from openfeature.contrib.provider.ofrep import OFREPProvider
    from openfeature.evaluation_context import EvaluationContext

    with served(tmp_path / "a.db") as client:
        create_flag(client)
        printed: list[str] = []  # standard output belongs to all threads, those of the service too
        code = block("python", "OFREPProvider").replace("http://127.0.0.1:8000", str(client.base_url))
        exec(code, {"print": lambda *words: printed.extend(map(str, words))})
        (decision,) = client.get("/v1/agents/buttons/pending").json()["decisions"]
        assert printed[:2] == [decision["arm"], "SPLIT"]
        client.post("/v1/agents", json=FLAG | {"name": "kinds", "policy": "RoundRobin"})
        api.set_provider(OFREPProvider(str(client.base_url)))
        flags, kinds = api.get_client(), {}
        for user in "abc":
            at = EvaluationContext(user)
            for kind in ("object", "boolean", "float"):
                details = getattr(flags, f"get_{kind}_details")("kinds", None, at)
                if details.error_code is None:
                    kinds[details.variant] = details.value
        assert kinds == VALUES
        missing = flags.get_string_details("nobody", "none", EvaluationContext("a"))
        assert (missing.value, missing.error_code) == ("none", "FLAG_NOT_FOUND")
        assert flags.get_string_details("buttons", "none").error_code == "TARGETING_KEY_MISSING"
        client.post("/v1/agents/kinds/status", json={"status": "paused"})
        paused = flags.get_string_details("kinds", "default", EvaluationContext("new"))
        assert (paused.value, paused.reason) == ("default", "DISABLED")
        api.clear_providers()


@pytest.mark.heavy
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_the_official_javascript_providers(tmp_path):
    """The front end of the page, and a server under Node."""
    packages = [
        f"@openfeature/{name}" for name in ("web-sdk", "ofrep-web-provider", "server-sdk", "ofrep-provider")
    ]
    try:
        subprocess.run(
            ["npm", "install", "--no-audit", *packages], cwd=tmp_path, check=True, timeout=PATIENCE
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("npm cannot install the providers")
    visitor = re.search(r'const visitor = "(.+)"', PAGE)[1]
    server = """
import { OpenFeature } from "@openfeature/server-sdk";
import { OFREPProvider } from "@openfeature/ofrep-provider";
await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: "http://127.0.0.1:8000" }));
const at = { targetingKey: "VISITOR" }, flags = OpenFeature.getClient();
const details = await flags.getObjectDetails("buttons", {}, at);
const missing = await flags.getStringDetails("nobody", "none", at);
console.log(JSON.stringify([details.variant, details.reason, details.value, missing.errorCode]));
"""
    with served(tmp_path / "a.db") as client:
        create_flag(client)
        printed = []
        for name, text in (("page", block("typescript", "OFREPWebProvider")), ("server", server)):
            source = tmp_path / f"{name}.mjs"
            text = text.replace("VISITOR", visitor)
            source.write_text(text.replace("http://127.0.0.1:8000", str(client.base_url).rstrip("/")))
            done = subprocess.run(
                ["node", source], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
            )
            assert done.returncode == 0, done.stderr
            printed.append(done.stdout)
        with lr.connect(str(client.base_url), name="buttons") as agent:
            choice = agent.ask(request=visitor)
            assert agent.time == 1 and agent.pending == () and agent.tell(choice, 1) is False
        assert printed[0].split()[:2] == [choice.arm, "SPLIT"]
        assert json.loads(printed[1])[::3] == [choice.arm, "FLAG_NOT_FOUND"]

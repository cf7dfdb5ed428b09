"""The routes of the service: what they answer, and that calls may be repeated."""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from serving import AGENT, PATIENCE, served

import lowregret as lr
from lowregret.service import agents
from lowregret.service.models import MAX_BATCH

ASK, TELL = "/v1/agents/buttons/ask", "/v1/agents/buttons/tell"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with served(tmp_path_factory.mktemp("store") / "a.db") as client:
        yield client


@pytest.fixture
def agent(client, request):
    """Create an agent of the test; return the address of its routes."""
    name = request.node.name[:60].translate(str.maketrans("[] ,", "----"))
    assert client.post("/v1/agents", json={**AGENT, "name": name}).status_code == 201
    return f"/v1/agents/{name}"


def problem(answer, status):
    """Check problem details; return the sentence."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == status and found["type"].startswith("urn:lowregret:")
    assert found["detail"] and "\n" not in found["detail"]
    return found["detail"]


def test_it_decides_and_learns_as_the_library_does(client, agent):
    twin = lr.Agent("UCB1", AGENT["arms"], seed=1)
    for turn in range(30):
        (decision,) = client.post(f"{agent}/ask", json={}).json()["decisions"]
        choice = twin.ask()
        assert (decision["arm"], decision["time"], decision["propensity"]) == choice[1:4]
        reward = float(turn % 3 == 0)
        twin.tell(choice, reward)
        body = {"rewards": [{"id": decision["id"], "reward": reward}]}
        assert client.post(f"{agent}/tell", json=body).json() == {"new": 1}
    table = client.get(f"{agent}/summary").json()["table"]
    assert table == twin.summary().to_dicts()


def test_creating_again_changes_nothing(client, agent):
    new = {**AGENT, "name": agent.rpartition("/")[2]}
    assert client.post("/v1/agents", json=new).status_code == 200
    assert "seed 1" in problem(client.post("/v1/agents", json={**new, "seed": 2}), 409)
    assert client.post("/v1/agents", json={**new, "policy": "UCB1(alpha=2.0)"}).status_code in (200, 409)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("policy", "Nothing"),
        ("policy", "__import__('os')"),
        ("policy", "FixedArm(arm=3)"),
        ("arms", []),
        ("arms", ["a", "a"]),
        ("arms", "red"),
        ("name", "../x"),
        ("name", "a" * 65),
        ("horizon", -1),
        ("horizon", 1.5),
        ("seed", "1"),
        ("reward_range", [1, 0]),
        ("matures_after", {"seconds": -1}),
        ("matures_after", {"years": 1}),
        ("minimum_share", 0.9),
        ("control", ["grey", 0.1]),
        ("default_reward", 0.5),
        ("unknown", 1),
    ],
)
def test_an_invalid_agent_is_400(client, key, value):
    problem(client.post("/v1/agents", json={**AGENT, "name": "invalid", key: value}), 400)
    assert "invalid" not in [each["name"] for each in client.get("/v1/agents").json()["agents"]]


def test_a_misspelled_key_and_a_float_are_named(client):
    misspelled = {("polcy" if key == "policy" else key): value for key, value in AGENT.items()}
    assert "did you mean 'policy'?" in problem(client.post("/v1/agents", json=misspelled), 400)
    for window in (0, True, "1", {"days": 1}, {"seconds": 1, "days": 1}, {"seconds": float(10**10)}, {}):
        body = {**AGENT, "name": "invalid", "matures_after": window}
        assert "matures_after: a window is a number" in problem(client.post("/v1/agents", json=body), 400)
    body = {**AGENT, "name": "invalid", "horizon": 1.5}
    assert problem(client.post("/v1/agents", json=body), 400).endswith("must be an integer, got 1.5")


def test_no_module_is_imported_for_a_policy(client, tmp_path, monkeypatch):
    (tmp_path / "own_agents_http.py").write_text("raise RuntimeError('imported')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    new = {**AGENT, "name": "own", "policy": "own_agents_http:Last"}
    refused = problem(client.post("/v1/agents", json=new), 400)
    assert "cannot read the policy 'own_agents_http:Last'" in refused


def test_paths_and_methods_that_do_not_exist(client, agent):
    for path in ("/nothing", "/v1/agents/", "/v1/agents//ask", f"{agent}/nothing", f"{agent}/ask/x", "/v1"):
        assert "there is no '/" in problem(client.get(path), 404)
    for path, allowed in ((f"{agent}/ask", "POST"), ("/v1/agents", "POST, GET"), ("/", "GET, HEAD")):
        answer = client.put(path)
        assert "PUT is not a method of this path: use " in problem(answer, 405)
        assert answer.headers["allow"] == allowed
    page = client.head("/")
    assert (page.status_code, page.content) == (200, b"")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in page.headers["content-security-policy"]


def test_pending_decisions_are_listed(client, agent):
    decisions = client.post(f"{agent}/ask", json={"n": 3}).json()["decisions"]
    client.post(f"{agent}/forget", json={"ids": [decisions[1]["id"]]})
    assert client.get(f"{agent}/pending").json() == {"decisions": [decisions[0], decisions[2]]}


def test_all_settings_are_accepted(client):
    new = {
        "name": "all",
        "policy": "EUCBV(rho=0.4)",
        "arms": ["red", "green", "blue"],
        "horizon": 1_000,
        "seed": 2**60,
        "reward_range": [-1, 5],
        "outside": "clip",
        "matures_after": {"seconds": 3600},
        "default_reward": 0,
        "minimum_share": 0.01,
        "control": ["red", 0.1],
        "log_propensities": True,
        "values": {"red": {"colour": "#f00", "sizes": [1, 2]}, "green": True},
        "prior": {"green": [2.5, 40], "blue": [0.5, 8]},
    }
    assert client.post("/v1/agents", json=new).status_code == 201
    stored = client.get("/v1/agents/all/summary").json()["settings"]
    assert stored["matures_after"] == {"seconds": 3600.0} and stored["control"] == ["red", 0.1]
    assert client.post("/v1/agents", json=new).status_code == 200


def test_a_repeated_request_returns_the_same_decisions(client, agent):
    body = {"n": 3, "request": "visit 17", "only": ["red", "green"]}
    first = client.post(f"{agent}/ask", json=body).json()
    assert client.post(f"{agent}/ask", json=body).json() == first
    assert client.get(agent).json()["pulls"] == 3
    problem(client.post(f"{agent}/ask", json={"n": 2, "request": "visit 17"}), 409)


def test_rewards_are_told_once(client, agent):
    key = client.post(f"{agent}/ask", json={}).json()["decisions"][0]["id"]
    told = [
        client.post(f"{agent}/tell", json={"rewards": [{"id": key, "reward": reward}]})
        for reward in (1, 1, 0)
    ]
    assert [answer.status_code for answer in told] == [200, 200, 409]
    assert [answer.json().get("new") for answer in told] == [1, 0, None]
    assert client.get(agent).json()["conflicts"] == 1
    problem(client.post(f"{agent}/forget", json={"ids": [key]}), 409)


def test_invalid_input_rejects_all_rewards(client, agent):
    keys = [each["id"] for each in client.post(f"{agent}/ask", json={"n": 2}).json()["decisions"]]
    rewards = [{"id": keys[0], "reward": 1}, {"id": keys[1], "reward": 7}]
    problem(client.post(f"{agent}/tell", json={"rewards": rewards}), 400)
    assert client.get(agent).json()["pending"] == 2
    assert client.post(f"{agent}/forget", json={"ids": keys}).json() == {"new": 2}
    assert client.post(f"{agent}/forget", json={"ids": keys}).json() == {"new": 0}


def test_arms_come_and_go(client, agent):
    for _ in range(2):
        assert "new" in client.post(f"{agent}/arms", json={"add": "new"}).json()["arms"]
    for _ in range(2):
        assert "red" not in client.post(f"{agent}/arms", json={"retire": "red"}).json()["arms"]
    problem(client.post(f"{agent}/arms", json={"add": "red"}), 409)
    problem(client.post(f"{agent}/arms", json={"retire": "grey"}), 400)
    problem(client.post(f"{agent}/arms", json={}), 400)
    assert sorted(client.get(f"{agent}/arms").json()["arms"]) == ["blue", "green", "new"]


def test_events_come_in_pages(client, agent):
    client.post(f"{agent}/ask", json={"n": 250})
    tail = client.get(f"{agent}/events").json()
    assert [event["position"] for event in tail["events"]] == list(range(151, 251))
    page = client.get(f"{agent}/events", params={"after": 10, "limit": 5}).json()
    assert [event["decision"] for event in page["events"]] == [11, 12, 13, 14, 15] and page["position"] == 15
    assert client.get(f"{agent}/events", params={"after": 10**9}).json()["events"] == []
    for wrong in ("-1", "x", "1e3", "²", "9" * 30):
        problem(client.get(f"{agent}/events", params={"after": wrong}), 400)


def test_the_export_is_what_replay_reads(client, agent):
    keys = [each["id"] for each in client.post(f"{agent}/ask", json={"n": 5}).json()["decisions"]]
    client.post(f"{agent}/tell", json={"rewards": [{"id": key, "reward": 1} for key in keys]})
    answer = client.get(f"{agent}/export")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.text.splitlines()[0] == "decision,time,timestamp,arm,reward,propensity"
    assert len(answer.text.splitlines()) == 6


def test_the_history_counts_decisions_and_rewards(client, agent):
    for _ in range(4):
        keys = [each["id"] for each in client.post(f"{agent}/ask", json={"n": 400}).json()["decisions"]]
        client.post(f"{agent}/tell", json={"rewards": [{"id": key, "reward": 1} for key in keys[:300]]})
        client.post(f"{agent}/forget", json={"ids": keys[300:310]})
    found = client.get(f"{agent}/history").json()
    assert found["complete"] and len(found["periods"]) <= 64
    assert sum(sum(period["asked"].values()) for period in found["periods"]) == 1_600
    assert sum(sum(period["rewards"].values()) for period in found["periods"]) == 1_200
    none = {"observed": 0, "defaulted": 0, "expired": 0, "conflict": 0}
    assert found["counts"] == {"asked": 1600, "told": 1200, "forgot": 40, **none}


def test_metrics_are_in_the_format_of_prometheus(client, agent):
    client.post(f"{agent}/ask", json={"n": 7})
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    name = agent.rpartition("/")[2]
    assert f'lowregret_decisions_total{{agent="{name}"}} 7' in answer.text
    assert f'lowregret_regret_bound{{agent="{name}"}} 7\n' in answer.text  # rewards in [0, 1], none known
    assert 'lowregret_request_seconds_count{route="/v1/agents/{name}/ask"' in answer.text
    for line in answer.text.splitlines():
        assert line.startswith("# ") or float(line.rpartition(" ")[2]) >= -1e9


def test_health_and_readiness(client):
    assert client.get("/health").json() == {"status": "ok", "tokens": False}
    assert client.get("/ready").json() == {"status": "ok"}


def test_an_unknown_agent_is_404(client):
    for path in ("ask", "tell", "forget"):
        body = {"tell": {"rewards": [{"id": "x-1", "reward": 1}]}, "forget": {"ids": ["x-1"]}}.get(path, {})
        assert "no agent 'nobody'" in problem(client.post(f"/v1/agents/nobody/{path}", json=body), 404)
    for path in ("", "/summary", "/pending", "/events", "/history", "/export", "/arms"):
        problem(client.get(f"/v1/agents/nobody{path}"), 404)


def test_every_route_is_described(client):
    document = client.get("/openapi.json").json()
    assert {"/v1/agents/{name}/ask", "/v1/agents", "/metrics"} <= set(document["paths"])
    ask = document["paths"]["/v1/agents/{name}/ask"]["post"]
    assert ask["requestBody"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Ask"}
    assert "examples" in document["components"]["schemas"]["NewAgent"]["properties"]["policy"]
    text = json.dumps(document)
    for reference in {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}:
        assert reference in document["components"]["schemas"]


def test_many_clients_at_once(client, agent):
    def play(number):
        with httpx.Client(base_url=client.base_url, trust_env=False, timeout=PATIENCE) as own:
            for turn in range(10):
                body = {"request": f"{number} {turn}"}
                first = own.post(f"{agent}/ask", json=body).json()
                assert own.post(f"{agent}/ask", json=body).json() == first
                rewards = [{"id": first["decisions"][0]["id"], "reward": turn % 2}]
                assert own.post(f"{agent}/tell", json={"rewards": rewards}).json() == {"new": 1}

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(play, range(8)))
    found = client.get(agent).json()
    assert (found["pulls"], found["pending"], found["conflicts"]) == (80, 0, 0)


def test_batches_are_limited(client, agent):
    problem(client.post(f"{agent}/ask", json={"n": MAX_BATCH + 1}), 400)
    rewards = [{"id": "x-1", "reward": 1}] * (MAX_BATCH + 1)
    problem(client.post(f"{agent}/tell", json={"rewards": rewards}), 400)


def test_a_store_that_is_gone_is_503_and_comes_back(tmp_path):
    path, away = tmp_path / "a.db", tmp_path / "away.db"
    with served(path) as client:
        client.post("/v1/agents", json=AGENT)
        before = client.post(ASK, json={"request": "x"}).json()
        for end in ("", "-wal", "-shm"):
            path.with_name(path.name + end).rename(away.with_name(away.name + end))
        answer = client.post(ASK, json={})
        assert "the store" in problem(answer, 503) and answer.headers["retry-after"] == "1"
        assert str(tmp_path) not in answer.text
        problem(client.get("/ready"), 503)
        assert client.get("/health").status_code == 200
        for end in ("", "-wal", "-shm"):
            away.with_name(away.name + end).rename(path.with_name(path.name + end))
        assert client.post(ASK, json={"request": "x"}).json() == before
        assert client.get("/ready").status_code == 200


class Mine(lr.Policy):
    """A policy that the service does not have."""

    def score(self, arm, clock):
        return arm.mean


def test_an_agent_that_cannot_be_opened_hides_no_other(tmp_path):
    lr.open_agent(tmp_path / "a.db", Mine(), ["a", "b"], name="mine").close()
    with served(tmp_path / "a.db") as client:
        client.post("/v1/agents", json=AGENT)
        found = client.get("/v1/agents").json()
        assert [each["name"] for each in found["agents"]] == ["buttons"]
        assert [each["name"] for each in found["unavailable"]] == ["mine"]
        assert "Mine" in problem(client.post("/v1/agents/mine/ask", json={}), 409)
        assert client.get("/metrics").status_code == 200


def test_lists_of_agents_have_pages(tmp_path):
    names = [f"agent-{number}" for number in range(7)]
    with served(tmp_path / "a.db") as client:
        for name in names:
            client.post("/v1/agents", json={**AGENT, "name": name})

        def page(query):
            found = client.get(f"/v1/agents?{query}").json()
            measured = re.findall(r'lowregret_pending.agent="(.*)"', client.get(f"/metrics?{query}").text)
            listed = [each["name"] for each in found["agents"]]
            assert measured == listed and found["total"] == 7
            return listed, found["position"]

        assert page("") == (names, 7)
        assert page("limit=3") == (names[-3:], 7)
        assert page("limit=3&after=0") == (names[:3], 3)
        assert page("limit=3&after=6") == (names[6:], 7)
        assert page("limit=3&after=70") == ([], 7)
        assert page("limit=0") == ([], 7)
        for query in ("limit=201", "limit=-1", "after=x"):
            assert "must be an integer from 0 to" in problem(client.get(f"/v1/agents?{query}"), 400)
            assert "must be an integer from 0 to" in problem(client.get(f"/metrics?{query}"), 400)


def test_an_agent_that_is_closed_for_another_is_opened_again(tmp_path, monkeypatch):
    monkeypatch.setattr(agents, "MAX_OPEN_AGENTS", 2)
    with served(tmp_path / "a.db") as client:
        for name in "abcd":
            client.post("/v1/agents", json={**AGENT, "name": name})

        def play(number):
            for turn in range(10):
                path = f"/v1/agents/{'abcd'[(number + turn) % 4]}/ask"
                while True:  # one that is just being closed is 503
                    answer = client.post(path, json={"request": f"{number} {turn}"})
                    if answer.status_code == 200:
                        break
                    assert answer.status_code == 503, answer.text

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(play, range(4)))
        assert sum(client.get(f"/v1/agents/{name}").json()["pulls"] for name in "abcd") == 40


def test_a_call_for_an_agent_that_just_could_not_be_opened(tmp_path):
    """Its turn comes after the opening has failed, and before the call that opened the agent has noticed."""

    async def play():
        opened, failed = agents.Agents(str(tmp_path / "a.db")), asyncio.get_running_loop().create_future()

        async def fail(name, settings):
            if not failed.done():
                failed.set_result(None)
            raise lr.InputError("no")

        async def call_after_failure():
            await failed
            await opened.get("x")

        opened._open_one = fail
        return await asyncio.gather(call_after_failure(), opened.get("x"), return_exceptions=True)

    assert list(map(str, asyncio.run(play()))) == ["no", "no"]


def test_a_scrape_closes_no_agent(tmp_path, monkeypatch):
    """What is not open and has no room is counted; a look at the store does not list all its names."""
    monkeypatch.setattr(agents, "MAX_OPEN_AGENTS", 2)
    opened, real = [], agents.open_or_create
    monkeypatch.setattr(agents, "open_or_create", lambda *given: opened.append(given[2]) or real(*given))
    with served(tmp_path / "a.db") as client:
        for name in "abc":
            client.post("/v1/agents", json={**AGENT, "name": name})
        opened.clear()
        for _ in range(2):
            text = client.get("/metrics").text
            assert re.findall(r'lowregret_decisions_total.agent="(.*)"', text) == ["b", "c"]
            assert "\nlowregret_agents 3\n" in text
        monkeypatch.setattr(agents, "agent_names", None)
        client.post("/v1/agents/c/ask", json={})
        assert opened == []
        client.post("/v1/agents/a/ask", json={})
        assert opened == ["a"]


def test_two_services_share_an_agent(tmp_path):
    with served(tmp_path / "a.db") as one, served(tmp_path / "a.db") as other:
        one.post("/v1/agents", json=AGENT)
        for turn in range(40):
            (choice,) = (one, other)[turn % 2].post(ASK, json={}).json()["decisions"]
            body = {"rewards": [{"id": choice["id"], "reward": turn % 2}]}
            assert (other, one)[turn % 3 == 0].post(TELL, json=body).json() == {"new": 1}
        tables = [client.get("/v1/agents/buttons/summary").json() for client in (one, other)]
        assert tables[0] == tables[1] and tables[0]["pulls"] == 40
    with lr.open_agent(tmp_path / "a.db", name="buttons") as agent:
        assert agent.verify() == 80


def test_an_agent_can_be_paused_and_retired(client, agent):
    assert client.post(f"{agent}/status", json={"status": "paused"}).json()["status"] == "paused"
    assert "paused" in problem(client.post(f"{agent}/ask", json={}), 409)
    for _ in range(2):
        assert client.post(f"{agent}/status", json={"status": "active"}).json()["status"] == "active"
    assert client.post(f"{agent}/ask", json={}).status_code == 200
    for changed in (True, False):
        answer = client.post(f"{agent}/status", json={"status": "retired"}).json()
        assert (answer["status"], answer["changed"]) == ("retired", changed)
    problem(client.post(f"{agent}/status", json={"status": "active"}), 409)
    problem(client.post(f"{agent}/status", json={"status": "gone"}), 400)

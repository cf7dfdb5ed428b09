"""Visitors: whoever opens the page can send what the page can, and must not own the rewards of others."""

from uuid import uuid4

import pytest
from serving import AGENT, served

import lowregret as lr
from lowregret.service import protocol
from lowregret.service.handlers import BY_REQUEST
from lowregret.service.tokens import SCOPES, new_token

FLAG = {**AGENT, "matures_after": {"seconds": 3600}, "default_reward": 0}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """Serve a store; yield a client of an administrator, and a token for each scope."""
    folder = tmp_path_factory.mktemp("visitors")
    secrets = {scope: new_token(folder / "t.json", scope, [scope]) for scope in SCOPES}
    with served(folder / "a.db", folder / "t.json", secrets["admin"]) as client:
        yield client, secrets


@pytest.fixture
def shop(service):
    """Create an agent; yield a function that sends a call with a scope, and the agent of the shop itself."""
    client, secrets = service
    name = f"agent-{uuid4()}"
    assert client.post("/v1/agents", json={**FLAG, "name": name}).status_code == 201

    def send(scope, call, body):
        path = f"/ofrep/v1/evaluate/flags/{name}" if call == "flag" else f"/v1/agents/{name}/{call}"
        return client.post(path, json=body, headers={"Authorization": f"Bearer {secrets[scope]}"})

    with lr.connect(str(client.base_url), name=name, token=secrets["admin"]) as agent:
        yield send, agent


def asked(send, scope, request, **options):
    answer = send(scope, "ask", {"request": request, **options})
    assert answer.status_code == 200, answer.text
    return answer.json()["decisions"][0]


def told(send, scope, key, reward):
    return send(scope, "tell", {"rewards": [{"id": key, "reward": reward}]})


def flag(send, scope, key):
    body = {"context": {"targetingKey": key}}
    return send(scope, "flag", body).json()


@pytest.mark.parametrize(
    ("scope", "first", "ofrep"),
    [
        ("visitor", "page", False),
        ("visitor", "attacker", False),
        ("visitor", "attacker", True),
        ("ask", "attacker", False),
    ],
)
def test_a_checkout_that_reports_by_order_number(shop, scope, first, ofrep):
    """The example of the documentation: the attacker guesses the number, after the page or before it."""
    send, agent = shop
    orders = [f"order {number}" for number in range(4_711, 4_715)]
    arms, attacks = {}, 0
    for who in ("page", "attacker") if first == "page" else ("attacker", "page"):
        for order in orders:
            if ofrep:
                shown = flag(send, scope, order)
                arm, key = shown["variant"], shown["metadata"]["decision"]
            else:
                shown = asked(send, scope, order)
                arm, key = shown["arm"], shown["id"]
            assert arms.setdefault(order, arm) == arm
            if who == "attacker":
                attacks += told(send, scope, key, 0).status_code == 200
                attacks += send(scope, "tell", {"rewards": [{"request": order, "reward": 0}]}).is_success
    report = {"rewards": [{"request": order, "reward": 1} for order in orders]}
    answer = send("decide", "tell", report)
    assert (answer.status_code, answer.json()) == (200, {"new": 4}) and attacks == 0
    assert agent.time == 4 and agent.conflicts == 0


def test_the_shop_may_forget_what_visitors_asked_for(shop):
    send, agent = shop
    asked(send, "visitor", "order 4711")
    told(send, "visitor", asked(send, "visitor", "order 4711")["id"], 0)
    assert agent.forget(request="order 4711") is True


def test_why_a_visitor_cannot_report(shop):
    send, _ = shop
    decision = asked(send, "visitor", "order 4711")
    assert decision["id"] == BY_REQUEST and decision["arm"] in AGENT["arms"]
    answer = told(send, "visitor", decision["id"], 1)
    assert answer.status_code == 403 and "ask with a random UUID" in answer.json()["detail"]
    answer = told(send, "ask", decision["id"], 1)
    assert answer.status_code == 403 and "lacks the scope 'visitor'" in answer.json()["detail"]
    assert told(send, "decide", decision["id"], 1).status_code == 404


@pytest.mark.parametrize("request_", ["{}", "session 17 {}"])
def test_a_page_that_nobody_can_guess_reports_its_reward(shop, request_):
    send, agent = shop
    secret = request_.format(uuid4())
    decision = asked(send, "visitor", secret)
    assert asked(send, "visitor", secret) == decision
    assert told(send, "visitor", decision["id"], 1).json() == {"new": 1}
    assert told(send, "visitor", decision["id"], 0).status_code == 409
    assert told(send, "ask", decision["id"], 1).status_code == 403
    assert agent.tell(request=secret, reward=1) is False
    guessable = str(uuid4()).replace("-", "")
    for name in (guessable, f"{uuid4()} 1", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"):
        assert asked(send, "visitor", name)["id"] == BY_REQUEST


def test_a_program_with_the_token_of_a_visitor(service, shop):
    (_, agent), (_, secrets) = shop, service
    with lr.connect(agent.url, name=agent.name, token=secrets["visitor"]) as page:
        choice = page.ask()
        assert page.tell(choice, 1) is True and page.tell(choice, 1) is False
        with pytest.raises(lr.InputError, match="others can guess the request"):
            page.tell(page.ask(request="order 4711"), 1)


def test_a_visitor_cannot_take_names_from_the_server(shop):
    """What a visitor asked for first neither fails a call of the server, nor decides what it records."""
    send, agent = shop
    arm = asked(send, "visitor", "one")["arm"]
    assert agent.ask(request="one").arm == arm  # where it fits, both show the same
    for name in ("several", "among", "seen", "seen too"):
        asked(send, "visitor", name)
    several = agent.ask(3, request="several")
    assert len(several) == 3 and agent.ask(3, request="several") == several
    arm = asked(send, "visitor", "among")["arm"]
    (other, _) = (name for name in AGENT["arms"] if name != arm)
    among = agent.ask(only=[other], request="among")
    assert among.arm == other and agent.ask(only=[other], request="among") == among
    assert agent.observe("red", 1, request="seen") is True
    assert agent.observe("red", 1, request="seen") is False
    assert agent.observe("green", 0, request="seen too") is True
    with pytest.raises(lr.ConflictError):
        agent.observe("green", 1, request="seen too")
    # From now on these are the decisions of their names, for visitors too, who get no id of them.
    for name, arm in (("several", several[0].arm), ("among", other), ("seen", "red"), ("seen too", "green")):
        decision = asked(send, "visitor", name)
        assert (decision["id"], decision["arm"]) == (BY_REQUEST, arm)
    assert agent.tell(request="among", reward=1) is True and agent.tell(among, 1) is False
    ids = {row["request"]: row["key"][:7] for row in agent.events().to_dicts() if row["kind"] == "asked"}
    assert ids["one"] == "visitor" and ids["among"] != "visitor"


def test_the_server_asks_first_and_the_page_shows_the_same(shop):
    send, agent = shop
    choices = {name: agent.ask(request=name) for name in ("visit 17", str(uuid4()))}
    for name, choice in choices.items():
        assert asked(send, "visitor", name)["arm"] == choice.arm
    guessable, secret = (asked(send, "visitor", name)["id"] for name in choices)
    assert guessable == BY_REQUEST and secret == choices[[*choices][1]].id
    assert told(send, "visitor", choices["visit 17"].id, 1).json() == {"new": 1}  # which the server passed on


def test_names_that_visitors_took_survive(tmp_path):
    """They stay apart when the store is opened again, verified and compacted."""
    secret, admin = (new_token(tmp_path / "t.json", scope, [scope]) for scope in ("ask", "admin"))
    first, page, boss = None, *({"Authorization": f"Bearer {token}"} for token in (secret, admin))
    for _ in range(2):
        with served(tmp_path / "a.db", tmp_path / "t.json") as client:
            client.post("/v1/agents", json=AGENT, headers=boss)
            answer = client.post("/v1/agents/buttons/ask", json={"request": "x"}, headers=page)
            assert answer.json()["decisions"][0]["id"] == BY_REQUEST
            body = {"n": 2, "request": "x"}
            answer = client.post("/v1/agents/buttons/ask", json=body, headers=boss)
            first = first or answer.json()
            assert answer.json() == first and len(first["decisions"]) == 2
    with lr.open_agent(tmp_path / "a.db", name="buttons") as agent:
        assert agent.time == 3 and agent.verify() == 3
        assert agent.erase_request("x") == 3
        assert {row["request"] for row in agent.events().to_dicts()} == {None}


def test_one_bad_entry_does_not_hinder_a_batch(shop):
    send, agent = shop
    names = [f"order {number}" for number in range(12)]
    for name in names[:11]:
        asked(send, "ask", name)
    agent.tell(request="order 7", reward=0)
    body = {"rewards": [{"request": name, "reward": 1} for name in names]}
    answer = send("decide", "tell", body)
    problem = answer.json()
    assert answer.status_code == 409 and problem["detail"].startswith(
        "2 of 12 rewards are rejected, the others"
    )
    assert [(each["index"], each["type"]) for each in problem["rejected"]] == [
        (7, "urn:lowregret:conflict"),
        (11, "urn:lowregret:unknown-decision"),
    ]
    assert len(agent.pending) == 0 and agent.conflicts == 1
    assert send("decide", "tell", {"rewards": body["rewards"][:7]}).json() == {"new": 0}
    answer = send("decide", "tell", {"rewards": [body["rewards"][11]] * 2})
    assert answer.status_code == 404 and len(answer.json()["rejected"]) == 2
    assert "rejected" not in told(send, "decide", "nobody-1", 1).json()


def test_a_client_goes_on_after_a_batch_with_a_bad_entry(shop, monkeypatch):
    """The places are those of what was passed, over all batches."""
    _, agent = shop
    monkeypatch.setattr(protocol, "MAX_BATCH", 10)
    made = [choice for _ in range(3) for choice in agent.ask(7)]
    agent.tell(made[5], 0)
    rewards = [("fallback", 1), *((choice, 1) for choice in made)]
    rewards[15] = "nobody-3", 1
    with pytest.raises(lr.ConflictError, match="2 of 21 rewards are rejected") as caught:
        agent.tell_many(rewards)
    kinds = {place: type(error) for place, error in caught.value.rejected.items()}
    assert kinds == {6: lr.ConflictError, 15: lr.UnknownDecisionError}
    assert [choice.id for choice in agent.pending] == [made[14].id]

"""The client has the calls of an agent, raises its errors, and repeats what was not answered."""

import asyncio
import json
import socket
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from serving import served

import lowregret as lr
from lowregret.service import protocol
from lowregret.service.tokens import new_token

ARMS = ["red", "green", "blue"]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with served(tmp_path_factory.mktemp("store") / "a.db") as client:
        yield str(client.base_url)


def test_it_does_what_an_agent_does(url):
    twin = lr.Agent("EUCBV", ARMS, horizon=500, seed=3)
    with lr.connect(url, "EUCBV", ARMS, horizon=500, seed=3, name="twin") as agent:
        for turn in range(40):
            mine, theirs = twin.ask(), agent.ask()
            assert theirs[1:4] == mine[1:4]
            assert twin.tell(mine, turn % 2) is agent.tell(theirs, turn % 2) is True
            assert agent.tell(theirs.id, turn % 2) is False
        batch = agent.ask(3, only=["red", "green"], request="x")
        assert batch == agent.ask(3, only=["red", "green"], request="x")
        assert {choice.arm for choice in batch} <= {"red", "green"}
        twin.ask(3, only=["red", "green"])
        assert agent.forget(batch[0]) is True and agent.forget(batch[0]) is False
        assert agent.forget_many(batch[1:]) == 2 and agent.tell_many([]) == 0
        twin.forget_many(twin.pending)
        assert agent.summary().equals(twin.summary())
        agent.add_arm("new")
        agent.add_arm("new")
        agent.retire_arm("red")
        assert (set(agent.arms), agent.time, agent.conflicts) == ({"green", "blue", "new"}, 40, 0)


def test_it_shows_what_an_agent_shows(tmp_path):
    """Tables, chart, policy and pending decisions are those of the store, also after more than one page."""
    with (
        served(tmp_path / "a.db") as client,
        lr.connect(str(client.base_url), "UCB1(alpha=1)", ARMS) as agent,
    ):
        made = [*agent.ask(1_000), *agent.ask(200)]
        agent.tell_many((choice, choice.time % 2) for choice in made[:1_150])
        agent.forget(made[1_160])
        with lr.open_agent(tmp_path / "a.db", read_only=True) as local:
            assert agent.events().equals(local.events()) and local.events().height == 2_351
            assert agent.rewards().equals(local.rewards()) and local.rewards().height == 1_150
            assert agent.pending == local.pending and len(local.pending) == 49
            assert agent.policy == local.policy == lr.UCB1(alpha=1)
            assert agent.plot().to_dict() == local.plot().to_dict()
            for name in ("name", "arms", "time", "conflicts", "status"):
                assert getattr(agent, name) == getattr(local, name)

            async def main():
                async with agent.asynchronous() as awaited, lr.AsyncAgent(local) as stored:
                    assert awaited.name == stored.name == "default"
                    for name in ("policy", "arms", "time", "conflicts", "status", "pending"):
                        assert await getattr(awaited, name)() == await getattr(stored, name)()
                    for name in ("events", "rewards", "summary"):
                        assert (await getattr(awaited, name)()).equals(await getattr(stored, name)())
                    assert await awaited.pause() is True and await awaited.pause() is False

            asyncio.run(main())


def test_errors_are_those_of_the_library(url):
    with lr.connect(url, lr.UCB1(), ARMS, name="errors") as agent:
        choice = agent.ask(request="x")
        agent.tell(choice, 1)
        with pytest.raises(lr.ConflictError, match=r"has the reward 1\.0"):
            agent.tell(choice, 0)
        with pytest.raises(lr.ConflictError, match="asked for 1 decision before"):
            agent.ask(2, request="x")
        with pytest.raises(lr.UnknownDecisionError):
            agent.tell("f" * 32 + "-9", 1)
        for wrong in (lambda: agent.ask(0), lambda: agent.ask(only=["grey"]), lambda: agent.ask(request="")):
            with pytest.raises(lr.InputError):
                wrong()
        for rewards in ([(choice, "x")], [1], [(3, 1)]):
            with pytest.raises(lr.InputError):
                agent.tell_many(rewards)
        with pytest.raises(lr.ConflictError, match="seed"):
            lr.connect(url, lr.UCB1(), ARMS, seed=1, name="errors")
    with lr.connect(url, name="nobody") as agent, pytest.raises(lr.InputError, match="no agent 'nobody'"):
        agent.ask()
    with pytest.raises(lr.InputError, match="pass the policy and the arms"):
        lr.connect(url, lr.UCB1(), name="errors")
    with pytest.raises(lr.InputError, match="unknown argument 'tokn': did you mean 'token'"):
        lr.connect(url, tokn="x")
    with pytest.raises(lr.InputError, match="the name of an agent must be"):
        lr.connect(url, name="../x")


def test_settings_travel(url):
    window = {"matures_after": timedelta(hours=1), "default_reward": 0, "minimum_share": 0.1}
    policy = lr.UCB1(alpha=1.25)
    with lr.connect(url, policy, ARMS, name="settings", control=("red", 0.1), **window) as agent:
        settings = _read(agent)
    assert settings["settings"]["matures_after"] == {"seconds": 3600.0}
    assert settings["settings"]["policy"]["parameters"]["alpha"] == 1.25
    with lr.connect(url, policy, ARMS, name="decisions", expires_after=7) as agent:
        assert _read(agent)["settings"]["expires_after"] == {"decisions": 7}
    for period, stored in ((50, {"decisions": 50}), (timedelta(days=1), {"seconds": 86_400.0})):
        with lr.connect(url, "UCB1", ARMS, name=f"period-{type(period).__name__}", period=period) as agent:
            assert _read(agent)["settings"]["period"] == stored


def test_coroutines(url):
    async def main():
        async with lr.connect(url, lr.UCB1(), ARMS, name="async").asynchronous() as agent:
            choices = await asyncio.gather(*(agent.ask() for _ in range(20)))
            assert await agent.tell_many((choice, 1) for choice in choices) == 20
            assert await agent.tell(choices[0], 1) is False
            one, two = await agent.ask(2)
            assert await agent.forget(one) and await agent.forget_many([one, two]) == 1
            await agent.add_arm("new")
            await agent.retire_arm("red")
            with pytest.raises(lr.ConflictError):
                await agent.tell(choices[0], 0)
            return await agent.summary()

    assert asyncio.run(main())["pulls"].sum() == 20


def test_a_lost_answer_is_asked_for_again(url):
    """A proxy drops every other answer; the decisions are those of one agent that answers."""
    with (
        lr.connect(url, lr.UCB1(), ARMS, name="lossy") as agent,
        lossy(url) as (address, dropped),
        lr.connect(address, name="lossy", timeout=60) as remote,
    ):
        ids = [remote.ask().id for _ in range(10)]
        for key in ids:
            remote.tell(key, 1)
        remote.add_arm("new")
        assert len(set(ids)) == 10 and agent.time == 10 and len(dropped) > 10
        assert agent.summary()["pending"].sum() == 0


def test_the_status(url):
    with lr.connect(url, "UCB1", ["a", "b"], name="status") as agent:
        assert agent.status == "active"
        assert (agent.pause(), agent.pause()) == (True, False)
        assert agent.status == "paused"
        with pytest.raises(lr.ConflictError, match="paused"):
            agent.ask()
        assert agent.resume() is True
        assert agent.ask().time == 1
        assert agent.retire() is True
        assert agent.status == "retired"


def test_many_rewards_are_sent_in_parts(url):
    with lr.connect(url, "UCB1", ["a", "b"], name="parts") as agent:
        with pytest.raises(
            lr.InputError, match=r"at most 1,000 decisions a call, got n=2,300: call ask again"
        ):
            agent.ask(2_300)
        made = [choice for size in (1_000, 1_000, 300) for choice in agent.ask(size)]
        rewards = [(choice, choice.time % 2) for choice in made[:2_100]]
        assert agent.tell_many(rewards) == 2_100
        assert agent.tell_many(rewards) == 0
        assert agent.forget_many(made[2_100:]) == 200
        assert agent.tell_many([]) == agent.forget_many([]) == 0
        with pytest.raises(lr.InputError):
            agent.tell_many([*rewards, (made[0], "much")])
        assert agent.time == 2_100

    async def play():
        async with lr.connect(url, name="parts").asynchronous() as agent:
            made = await agent.ask(1_000) + await agent.ask(1)
            return len(made), await agent.tell_many((choice, 1) for choice in made)

    assert asyncio.run(play()) == (1_001, 1_001)


def test_nobody_answers():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen: nobody else gets the port, and nobody answers
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with (
            lr.connect(url, name="x", timeout=0.3) as agent,
            pytest.raises(lr.StoreError, match="cannot be used"),
        ):
            agent.ask()


@pytest.mark.parametrize(
    "answer", [[], {}, {"decisions": []}, {"decisions": [{"a": 1}]}, {"decisions": [1]}, 5]
)
def test_an_answer_of_another_service(tmp_path, monkeypatch, answer):
    """Somebody else listens at the address: the shop shows the fallback."""
    with served(tmp_path / "a.db") as client:
        monkeypatch.setattr(protocol, "_content", lambda status, content: answer)
        url = str(client.base_url)
        with lr.connect(url, name="x", fallback="red") as agent:
            assert agent.ask() == ("fallback", "red", 0, None, None)
        with lr.connect(url, name="x") as agent, pytest.raises(lr.StoreError, match="not as lowregret does"):
            agent.ask()


def test_a_token_is_sent(tmp_path):
    secret = new_token(tmp_path / "t.json", "me", ["admin"])
    reader = new_token(tmp_path / "t.json", "reader", ["read"])
    with served(tmp_path / "a.db", tmp_path / "t.json") as client:
        url = str(client.base_url)
        with lr.connect(url, "UCB1", ARMS, name="a", token=secret) as agent:
            assert agent.ask().time == 1
            assert secret not in repr(agent)
        with lr.connect(url, name="a", token=reader) as agent, pytest.raises(lr.InputError, match="'decide'"):
            agent.ask()
        with lr.connect(url, name="a") as agent, pytest.raises(lr.InputError, match="token"):
            agent.ask()


class lossy:  # noqa: N801  # used as a function
    """A proxy that closes every other connection in place of the answer."""

    def __init__(self, url):
        host, port = url.removeprefix("http://").rstrip("/").split(":")
        self._target, self._dropped = (host, int(port)), []

    def __enter__(self):
        self._listening = socket.create_server(("127.0.0.1", 0))
        Thread(target=self._run, daemon=True).start()
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}", self._dropped

    def __exit__(self, *_):
        self._listening.close()

    def _run(self):
        number = 0
        while True:
            try:
                link, _ = self._listening.accept()
            except OSError:
                return
            number += 1
            with link, socket.create_connection(self._target) as behind:
                data = link.recv(65_536)
                part = data
                while part and (
                    b"\r\n\r\n" not in data or (data.startswith(b"POST") and data.endswith(b"\r\n\r\n"))
                ):
                    data += (part := link.recv(65_536))
                behind.sendall(data.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
                answer = b""
                while part := behind.recv(65_536):
                    answer += part
                if number % 2:
                    self._dropped.append(number)
                else:
                    link.sendall(answer)


def _read(agent):
    return agent._http.get(f"/v1/agents/{agent.name}/summary").json()


@contextmanager
def answering(*answers):
    """Answer requests with these statuses and headers, and then with a decision; yield the address."""
    waiting, sent = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            status, head = waiting.pop(0) if waiting else (200, {})
            choice = {"id": "a-1", "arm": "red", "time": 1, "propensity": 1.0, "timestamp": 1.0}
            body = json.dumps({"decisions": [choice]}).encode() if status == 200 else b"<html>a proxy</html>"
            self.send_response(status)
            for name, value in {**head, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", sent
    finally:
        server.shutdown()
        thread.join(120)
        server.server_close()


@pytest.fixture
def pauses(monkeypatch):
    """Return the pauses of a client, which are not made."""
    made = []
    monkeypatch.setattr("lowregret.service.client.sleep", made.append)
    return made


def test_what_a_proxy_answers_is_sent_again(pauses):
    answers = [(502, {}), (503, {}), (504, {}), (429, {"Retry-After": "7"}), (429, {"Retry-After": "soon"})]
    with answering(*answers) as (url, sent), lr.connect(url, name="a") as agent:
        assert agent.ask().arm == "red"
    assert len(sent) == 6 and all(body == sent[0] for body in sent)
    assert pauses[3] == 7.0 and max(pauses[:3] + pauses[4:]) < 2.0


def test_a_long_retry_after_is_not_waited_for(pauses):
    with answering(*[(429, {"Retry-After": "900"})] * 9) as (url, sent):
        with lr.connect(url, name="a") as agent, pytest.raises(lr.StoreError, match="answers with 429"):
            agent.ask()
        assert len(sent) == 1 and pauses == []
        with lr.connect(url, name="a", fallback="green", deadline=0.5) as agent:
            assert agent.ask().arm == "green"
        assert len(sent) == 2


def test_the_fallback_is_shown_and_not_recorded():
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never answers
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with lr.connect(url, name="a", fallback="green", deadline=0.05) as agent:
            choice = agent.ask(request="x")
            assert choice == lr.Decision("fallback", "green", 0) and agent.ask(2) == [choice] * 2
            assert agent.ask(only=["red", "blue"]).arm == "red"
            assert agent.ask(only=["red", "green"]).arm == "green"
            assert (agent.tell(choice, 1), agent.tell_many([(choice, 1)]), agent.forget(choice)) == (
                False,
                0,
                False,
            )

            async def main():
                async with agent.asynchronous() as awaited:
                    return await awaited.ask()

            assert asyncio.run(main()) == choice
        with lr.connect(url, name="a", timeout=0.05) as agent, pytest.raises(lr.StoreError):
            agent.ask()
    for wrong in ({"deadline": 1.0}, {"deadline": 0, "fallback": "red"}):
        with pytest.raises(lr.InputError, match="pass a fallback, and a deadline"):
            lr.connect("http://127.0.0.1:1", name="a", **wrong)


def test_a_paused_agent_has_a_fallback_of_its_own(url):
    with (
        lr.connect(url, "UCB1", ARMS, name="paused", fallback="green") as agent,
        lr.connect(url, name="paused") as plain,
    ):
        agent.pause()
        assert agent.ask().arm == "green"
        with pytest.raises(lr.ConflictError, match="paused"):
            plain.ask()
        assert agent.pause(fallback="blue") and not agent.pause(fallback="blue")
        assert agent.ask() == plain.ask() == lr.Decision("fallback", "blue", 0)
        assert plain.tell("fallback", 1) is False and plain.time == 0
        with pytest.raises(lr.InputError, match="unknown arm 'grey'"):
            agent.pause(fallback="grey")
        agent.retire()
        assert agent.ask().arm == "green"

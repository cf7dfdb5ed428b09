"""The client has the calls of an agent, raises its errors, and repeats what was not answered."""

import asyncio
import socket
from datetime import timedelta
from threading import Thread

import pytest
from serving import served

import lowregret as lr
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


def test_settings_travel(url):
    window = {"matures_after": timedelta(hours=1), "default_reward": 0, "minimum_share": 0.1}
    policy = lr.UCB1(alpha=1.25)
    with lr.connect(url, policy, ARMS, name="settings", control=("red", 0.1), **window) as agent:
        settings = _read(agent)
    assert settings["settings"]["matures_after"] == {"seconds": 3600.0}
    assert settings["settings"]["policy"]["parameters"]["alpha"] == 1.25
    with lr.connect(url, policy, ARMS, name="decisions", expires_after=7) as agent:
        assert _read(agent)["settings"]["expires_after"] == {"decisions": 7}


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
        agent.pause()
        assert agent.status == "paused"
        with pytest.raises(lr.ConflictError, match="paused"):
            agent.ask()
        agent.resume()
        assert agent.ask().time == 1
        agent.retire()
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
                while b"\r\n\r\n" not in data or (data.startswith(b"POST") and data.endswith(b"\r\n\r\n")):
                    data += link.recv(65_536)
                behind.sendall(data.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
                answer = b""
                while part := behind.recv(65_536):
                    answer += part
                if number % 2:
                    self._dropped.append(number)
                else:
                    link.sendall(answer)


def _summary(agent):
    from lowregret.service.protocol import reading

    return reading(agent.name, "/summary")


def _read(agent):
    return agent._send(_summary(agent))

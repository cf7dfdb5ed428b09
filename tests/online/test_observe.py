"""Decisions that somebody else made: they count, marked; what the agent would have done, and a preview."""

import asyncio
import json
from random import Random

import polars as pl
import pytest
from agent_workers import contents, interrupted
from serving import AGENT, served
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.online import agent_state, calls, daily_rewards, earlier_rewards, transactions
from lowregret.online.stores.in_memory import MemoryStore
from lowregret.service.shadow import shadow_report

ARMS = ["red", "green", "blue"]


@pytest.mark.parametrize("policy", ["UCB1", "EUCBV", "NPTS", "IMED", "GLRKLUCB"])
@pytest.mark.parametrize("window", [{}, {"matures_after": 3, "default_reward": 0}])
def test_it_counts_as_a_decision_and_its_reward_do(policy, window):
    """The agent is, but for the mark and the random numbers, that which made the choice itself."""
    own, other = (lr.open_agent(MemoryStore(), policy, ARMS, horizon=100, **window) for _ in range(2))
    random = Random(1)
    for step in range(40):
        arm, reward = random.choice(ARMS), random.randrange(2)
        if step % 5 == 4:
            assert own.ask().arm == other.ask().arm
        own.tell(own.ask(only=[arm], request=str(step)), reward)
        assert other.observe(arm, reward, 1.0, str(step)) is True
    parts = [contents(agent) for agent in (own, other)]
    for part in parts:
        del (
            part["drawn"],
            part["answers"],
            part["requests"],
            part["pending"]["propensity"],
            part["pending"]["id"],
        )
        del part["early"]
    assert parts[0] == parts[1] and own.preview().arm == other.preview().arm
    assert other.verify() == other.transactions.position
    marked = other.events().filter(pl.col("key").str.starts_with("observed"))
    assert (
        marked.height == 40
        and set(marked["kind"]) == {"asked"}
        and marked["propensity"].to_list() == [1.0] * 40
    )


def test_a_request_makes_it_idempotent(tmp_path, monkeypatch):
    monkeypatch.setattr(agent_state, "MAX_REMEMBERED", 1)
    with lr.open_agent(tmp_path / "a.db", lr.UCB1(), ARMS) as agent:
        for name in "abc":
            assert agent.observe("red", 1, request=name) is True
        assert agent.observe("red", 1, request="a") is False
        assert agent.tell(request="a", reward=1) is False
        assert agent.ask(request="a").arm == "red" and agent.time == 3
        for arm, reward in (("green", 1), ("red", 0)):
            with pytest.raises(lr.ConflictError, match="request 'a' has arm 'red' and the reward 1.0"):
                agent.observe(arm, reward, request="a")
        choice = agent.ask(request="d")
        with pytest.raises(lr.ConflictError, match="no reward yet"):
            agent.observe(choice.arm, 1, request="d")
        assert agent.observe("red", 1) and agent.observe("red", 1) and agent.time == 6
        agent.retire_arm("red")
        assert agent.observe("red", 1, request="a") is False  # known before


def test_what_is_refused():
    agent = lr.Agent(lr.UCB1(), ARMS, control=("blue", 0.1))
    assert agent.observe("blue", 1) is True
    for arguments in (
        ("grey", 1),
        ("red", 2),
        ("red", None),
        ("red", 1, 0),
        ("red", 1, 1.5),
        ("red", 1, 1, ""),
    ):
        with pytest.raises(lr.InputError):
            agent.observe(*arguments)
    agent.retire_arm("red")
    with pytest.raises(lr.InputError, match="is retired"):
        agent.observe("red", 1)
    assert agent.pause() and agent.observe("green", 1)
    agent.retire()
    with pytest.raises(lr.ConflictError, match="is retired, which is final"):
        agent.observe("green", 1)
    assert agent.time == 2
    with pytest.raises(lr.InputError, match="unknown arm None"):
        lr.Agent(lr.UCB1(), ARMS).observe(None, 1)


@pytest.mark.parametrize("policy", ["UCB1", "ThompsonBeta", "EpsilonGreedy(epsilon=0.5)"])
def test_a_preview_is_the_next_choice_and_changes_nothing(tmp_path, policy):
    path = tmp_path / "a.db"
    options = {"matures_after": 5, "default_reward": 0, "minimum_share": 0.1}
    with lr.open_agent(path, policy, ARMS, **options) as agent, lr.open_agent(path, read_only=True) as reader:
        for _ in range(30):
            before = agent.to_json()
            preview = agent.preview()
            assert agent.to_json() == before and reader.preview() == preview
            choice = agent.ask()
            assert preview == ("preview", choice.arm, choice.time, choice.propensity, None)
        with pytest.raises(lr.UnknownDecisionError):
            agent.tell(preview, 1)
        agent.pause()
        assert agent.preview().arm in ARMS and agent.verify() == agent.transactions.position


def test_an_interrupted_preview_leaves_the_agent_as_it_was():
    agent = lr.Agent(lr.ThompsonBeta(), ARMS, seed=1)
    agent.tell(agent.ask(), 1)
    before, expected = agent.to_json(), agent.preview()
    for after in range(0, 400, 23):
        with pytest.raises(KeyboardInterrupt):
            interrupted(agent.preview, after, transactions, calls, agent_state, daily_rewards)
        assert agent.to_json() == before
    assert agent.preview() == expected


def test_the_other_kinds_of_agents(tmp_path):
    async def main(agent):
        async with agent:
            return await agent.observe("red", 1, 0.5, "x"), (await agent.preview()).id, await agent.time()

    assert asyncio.run(main(lr.AsyncAgent(lr.Agent(lr.UCB1(), ARMS)))) == (True, "preview", 1)
    with served(tmp_path / "a.db") as client:
        client.post("/v1/agents", json=AGENT)
        with lr.connect(str(client.base_url), name="buttons") as agent:
            assert agent.observe("red", 1) is True and agent.observe("red", 1, 0.5, "x") is True
            assert agent.observe("red", 1, 0.5, "x") is False
            assert agent.preview().arm in ("green", "blue") and agent.time == 2
            with pytest.raises(lr.ConflictError):
                agent.observe("red", 0, 0.5, "x")
        assert client.get("/v1/agents/buttons/history").json()["counts"]["observed"] == 2
        report = client.get("/v1/agents/buttons/shadow").json()
        assert (report["observed"], report["without_propensity"]) == (2, 1)


def log_of(rows, seed=1):
    """Return a log of choices that are not uniform, with their propensities."""
    random, shares = Random(seed), {"red": 0.5, "green": 0.3, "blue": 0.2}
    means, lines = {"red": 0.2, "green": 0.5, "blue": 0.8}, []
    for _ in range(rows):
        arm = random.choices(list(shares), list(shares.values()))[0]
        lines.append((arm, int(random.random() < means[arm]), shares[arm]))
    return pl.DataFrame(lines, schema=["arm", "reward", "propensity"], orient="row")


def called(*words, code=0):
    result = CliRunner().invoke(app, ["agent", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.output.strip()


def test_a_log_is_imported_once_and_goes_on_after_an_interrupt(tmp_path, monkeypatch):
    store, log, table = tmp_path / "a.db", tmp_path / "log.csv", log_of(60)
    table.write_csv(log)
    lr.open_agent(store, lr.UCB1(), ARMS).close()
    monkeypatch.setattr(earlier_rewards, "MAX_ROWS", 25)
    with lr.open_agent(store) as agent:
        execute, batches = agent.transactions.execute, []

        def interrupt(*arguments):
            batches.append(1)
            if len(batches) == 2:
                raise KeyboardInterrupt
            return execute(*arguments)

        monkeypatch.setattr(agent.transactions, "execute", interrupt)
        with pytest.raises(KeyboardInterrupt):
            earlier_rewards.observe_log(agent, log)
    assert called("import", store, log) == "35 decisions observed, 25 rows known before"
    pl.concat([table, log_of(3, seed=2)]).write_csv(log)
    assert called("import", store, log) == "3 decisions observed, 60 rows known before"
    assert called("import", store, log) == "0 decisions observed, 63 rows known before"
    with lr.open_agent(store) as agent:
        assert agent.time == 63 and agent.rewards()["reward"].sum() == pl.read_csv(log)["reward"].sum()
    assert "there is no file" in called("import", store, tmp_path / "no.csv", code=2)


def test_the_shadow_is_what_previews_say(tmp_path):
    """The same by another way: the agent is asked before each row, and the estimate is written out."""
    log, store = log_of(300), tmp_path / "a.db"
    log.write_csv(tmp_path / "log.csv")
    plain = lr.Agent(lr.UCB1(), ARMS, seed=3)
    weights, earned, agreed = 0.0, 0.0, 0
    for arm, reward, propensity in log.iter_rows():
        if plain.preview().arm == arm:
            agreed += 1
            weights, earned = weights + 1 / propensity, earned + reward / propensity
        plain.observe(arm, reward, propensity)
    lr.open_agent(store, lr.UCB1(), ARMS, seed=3).close()
    called("import", store, tmp_path / "log.csv")
    report = json.loads(called("shadow", store, "--json"))
    assert (report["observed"], report["agreed"], report["without_propensity"]) == (300, agreed, 0)
    assert report["would_have_earned"] == pytest.approx(earned / weights)
    assert report["earned"] == pytest.approx(log["reward"].mean())
    assert report["low"] < report["would_have_earned"] < report["high"]
    words = called("shadow", store)
    assert words.startswith(f"300 decisions observed, agreed in {agreed}\nmean reward ") and "95%" in words


def test_the_shadow_of_a_sampling_policy_draws_anew_for_each_decision():
    """With equal rewards all three arms stay equally likely, and agreement is a third."""
    agent = lr.open_agent(MemoryStore(), lr.ThompsonGauss(), ARMS, seed=1)
    for step in range(900):
        agent.observe(ARMS[step % 3], 0.5)
    report = shadow_report(agent, agent.transactions.store, agent.transactions.position)
    assert abs(report["agreed"] / 900 - 1 / 3) < 5 * (2 / 9 / 900) ** 0.5
    assert report["without_propensity"] == 900


def test_the_shadow_leaves_out_what_was_withdrawn_and_what_the_agent_decided():
    agent = lr.open_agent(MemoryStore(), lr.UCB1(), ARMS)
    agent.tell(agent.ask(), 1)
    for name in ("good 1", "bad 1", "good 2"):
        agent.observe("red", 1, request=name)
    agent.forget_where(request_prefix="bad")
    store = agent.transactions.store
    assert shadow_report(agent, store, agent.transactions.position)["observed"] == 2
    empty = lr.open_agent(MemoryStore(), lr.UCB1(), ARMS)
    report = shadow_report(empty, empty.transactions.store, 0)
    assert report["observed"] == 0 and report["would_have_earned"] is None

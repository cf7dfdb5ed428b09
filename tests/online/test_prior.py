"""A prior: rewards that count in the statistics, and not in the time; and what earlier rewards are worth."""

import json

import numpy as np
import polars as pl
import pytest
from serving import served

import lowregret as lr
from lowregret.engine.kernels.state import ArmTable
from lowregret.engine.prior import MAX_WEIGHT, ArmPrior
from lowregret.online.stores.in_memory import MemoryStore
from lowregret.policies import POLICIES
from lowregret.policies.views import arm_view

ARMS = ["0", "1", "2"]
PRIOR = {0: (0.3, 20), 2: (0.55, 13)}
NAMED = {str(arm): prior for arm, prior in PRIOR.items()}
COMPILED = {"UCB1": 0, "NPTS": 0, "GLRKLUCB": 0, "SlidingWindowUCB": 7}
"""Policies with plain statistics, with all rewards, with resets and with times; and a delay."""


@pytest.mark.parametrize(
    ("mean", "weight"), [(0.04, 200), (0.29, 100), (0.55, 13), (1.0, 3), (0.0, 2), (0.5, 1)]
)
def test_rewards_have_the_mean_and_the_largest_variance(mean, weight):
    rewards = ArmPrior(mean, weight).rewards()
    assert len(rewards) == weight and rewards.mean() == pytest.approx(mean, abs=1e-12)
    assert ((rewards == 0) | (rewards == 1)).sum() >= weight - 1 and ((rewards >= 0) & (rewards <= 1)).all()
    ahead = np.cumsum(rewards) - mean * np.arange(1, weight + 1)  # mixed, so that no change is detected
    assert np.abs(ahead).max() <= 1.0


def test_rewards_without_a_range_have_the_deviation():
    rewards = ArmPrior(3.0, 101, 1.5).rewards()
    assert rewards.mean() == pytest.approx(3.0)
    assert rewards.std() == pytest.approx(1.5, rel=0.01)


@pytest.mark.parametrize("name", sorted(set(POLICIES) - {"TsallisINF", "TsallisINFRV"}))
def test_every_policy_plays_live_what_it_plays_simulated(name):
    """With its arms in the order of the numbers, the agent plays run 0."""
    policy = POLICIES[name]() if name not in ("FixedArm", "EpsilonGreedy") else POLICIES[name](1)
    bandit, horizon, prior = "bernoulli:0.2,0.5,0.6", 40, {**PRIOR}
    path = lr.trace(policy, bandit, horizon, seed=1, prior=prior, engine="reference")
    agent = lr.Agent(policy, ARMS, horizon, seed=1, prior=NAMED)
    row = agent.transactions.state.rows[agent.transactions.state.places["2"]]
    _, pulls, mean, variance, *_ = arm_view(policy, ArmTable(row.reshape(1)), 0)
    rewards = ArmPrior(*PRIOR[2]).rewards()
    assert (pulls, int(row["pulls"])) == (13, 0) and agent.time == 0
    assert (mean, variance) == pytest.approx((rewards.mean(), rewards.var()))
    for step, (arm, reward) in enumerate(zip(path.arm, path.reward, strict=True), 1):
        choice = agent.ask()
        assert (choice.arm, choice.time) == (str(arm), step)
        agent.tell(choice, float(reward))
        if step == 25:
            agent = lr.Agent.from_json(agent.to_json())
    assert agent.time == horizon


@pytest.mark.parametrize(("name", "delay"), COMPILED.items())
def test_compiled_runs_are_those_of_the_reference(name, delay):
    options = {"horizon": 200, "runs": 3, "seed": 5, "prior": PRIOR, "delay": delay, "progress": False}
    bandit = "bernoulli:0.05,0.5,0.95"  # far from its prior, so that a change is detected
    fast, plain = (
        lr.simulate(name, bandit, engine=engine, **options) for engine in ("compiled", "reference")
    )
    assert np.array_equal(fast[name].pulls, plain[name].pulls)
    assert np.array_equal(fast.regret(name), plain.regret(name))
    assert fast[name].pulls.sum(axis=1).tolist() == [200] * 3  # the prior is no pull


def test_a_right_prior_lowers_the_regret_and_is_noted():
    options = {"horizon": 500, "runs": 100, "seed": 1, "progress": False}
    bandit = lr.bernoulli([0.3, 0.6])
    with_it = lr.simulate("UCB1", bandit, prior={0: (0.3, 200), 1: (0.6, 200)}, **options)
    saved = lr.simulate("UCB1", bandit, **options).regret("UCB1") - with_it.regret("UCB1")
    assert saved.mean() > 5 * saved.std() / 10  # 100 runs
    assert "200 of mean 0.3 for 0" in str(with_it.notes)


def test_the_summary_is_that_of_the_rewards_alone(tmp_path):
    """Pulls, means and intervals hold for what was observed; the prior has a column of its own."""
    path = tmp_path / "a.db"
    plain = lr.Agent(lr.RoundRobin(), ["a", "b"], reward_range=(-1, 5))
    with lr.open_agent(
        path, lr.RoundRobin(), ["a", "b"], reward_range=(-1, 5), prior={"a": (2, 30), "b": [0, 30]}
    ) as agent:
        for step in range(50):
            choice, same = agent.ask(), plain.ask()
            while same.arm != choice.arm:
                same = plain.ask(only=[choice.arm])
            agent.tell(choice, step % 6 - 1)
            plain.tell(same, step % 6 - 1)
        plain.forget_many(plain.pending)
        table = agent.summary()
        assert table["prior"].to_list() == [30, 30] and "prior" not in plain.summary().columns
        for one, other in zip(table.iter_rows(), plain.summary().iter_rows(), strict=True):
            assert one[:3] == other[:3]
            assert one[3:6] == pytest.approx(other[3:6], rel=1e-12)
        assert "30 of mean 2 for 'a'" in agent.notes[0]
        assert agent.verify() == 100
        assert agent.compact() == 100 and agent.verify() == 0
    with lr.open_agent(path) as agent:
        assert agent.summary().equals(table)
    other = {"a": (2, 31), "b": (0, 30)}
    with pytest.raises(lr.InputError, match="was created with prior"):
        lr.open_agent(path, lr.RoundRobin(), ["a", "b"], reward_range=(-1, 5), prior=other)
    with lr.open_agent(path, lr.RoundRobin(), ["a", "b"], reward_range=(-1, 5)) as agent:
        assert agent.summary().equals(table)  # what is left out is as stored


def test_an_agent_without_a_prior_is_stored_as_before():
    store = MemoryStore()
    lr.open_agent(store, lr.UCB1(), ARMS)
    assert list(json.loads(store.header())["made_with"]) == [
        *("policy", "arms", "horizon", "seed", "reward_range", "outside", "matures_after", "expires_after"),
        *("default_reward", "minimum_share", "control", "log_propensities"),
    ]


@pytest.mark.parametrize(
    ("prior", "problem"),
    [
        ([0.5], "prior must be a dictionary"),
        ({"3": (0.5, 2)}, "unknown arm '3'"),
        ({"0": 0.5}, r"as \(0.04, 200\), a mean and a weight"),
        ({"0": (0.5, 2, 0.1)}, "a mean and a weight"),
        ({"0": (1.5, 2)}, "lies outside"),
        ({"0": (float("nan"), 2)}, "finite"),
        ({"0": (0.5, 0)}, "a weight"),
        ({"0": (0.5, 2.5)}, "a weight"),
        ({"0": (0.5, MAX_WEIGHT + 1)}, "a weight"),
        ({"1": (0.5, 2)}, "is the control arm"),
    ],
)
def test_a_wrong_prior_is_refused(prior, problem):
    with pytest.raises(lr.InputError, match=problem):
        lr.Agent(lr.UCB1(), ARMS, prior=prior, control=("1", 0.1))


def test_other_refusals():
    with pytest.raises(lr.InputError, match="cannot use a prior"):
        lr.Agent(lr.TsallisINF(), ARMS, prior=NAMED)
    with pytest.raises(lr.InputError, match="mean, weight, deviation"):
        lr.Agent(lr.ThompsonNormal(), ARMS, reward_range=None, prior=NAMED)
    agent = lr.Agent(lr.ThompsonNormal(), ARMS, reward_range=None, prior={"0": (30, 40, 2)})
    agent.tell(agent.ask(only=["0"]), 31)
    assert agent.summary().filter(arm="0")["mean"].item() == pytest.approx(31)
    with pytest.raises(lr.InputError, match="the arms are 0 to 1, got 2"):
        lr.simulate("UCB1", "bernoulli:0.2,0.5", horizon=10, prior={2: (0.5, 1)})


def test_start_from_a_log_a_store_and_an_agent(tmp_path):
    rewards = {
        "arm": ["0"] * 40 + ["1"] * 20 + ["9"] * 5,
        "reward": [0.0, 1.0] * 20 + [0.25] * 20 + [1.0] * 5,
    }
    log = tmp_path / "log.csv"
    pl.DataFrame(rewards).write_csv(log)
    with lr.open_agent(
        tmp_path / "old.db", lr.RoundRobin(), ARMS, name="old", prior={"2": (0.5, 100)}
    ) as old:
        for step in range(60):
            choice = old.ask(only=[ARMS[step % 3]])
            old.tell(choice, {"0": 0.5, "1": 0.25, "2": 0.75}[choice.arm])
        sources = {"log": log, "table": pl.DataFrame(rewards), "columns": rewards, "agent": old}
        for name, source in {**sources, "store": tmp_path / "old.db"}.items():
            kept = lr.open_agent(tmp_path / "new.db", "UCB1", ARMS, name=name, start_from=source, weight=0.5)
            prior = kept.transactions.state.settings.prior
            twenty = 10 if name in ("agent", "store") else 20
            assert prior["0"] == [0.5, twenty] and prior["1"] == [0.25, 10]
            assert set(prior) == ({"0", "1", "2"} if name in ("agent", "store") else {"0", "1"})
    with log.open("a") as file:
        file.write("0,1\n" * 50)
    again = lr.open_agent(tmp_path / "new.db", "UCB1", ARMS, name="log", start_from=log, weight=0.5)
    assert again.transactions.state.settings.prior["0"] == [0.5, 20]  # that it was created with
    lr.open_agent(tmp_path / "new.db", name="log").close()


@pytest.mark.parametrize(
    ("log", "options", "problem"),
    [
        ({"arm": ["0"]}, {}, "no column 'reward'"),
        ({"arm": ["0", "1"], "reward": [1, "x"]}, {}, "the reward in row 2 of the log"),
        ({"arm": ["8"], "reward": [1]}, {}, "no arm of the new agent has rewards"),
        ({"arm": ["0"], "reward": [1]}, {"weight": 1.5}, "weight must be above 0"),
        ({"arm": ["0"], "reward": [1]}, {"prior": {"0": (1, 1)}}, "and no prior"),
        ({"arm": ["0"], "reward": [7]}, {}, "lies outside"),
        ("missing.csv", {}, "there is no file 'missing.csv'"),
    ],
)
def test_earlier_rewards_that_cannot_be_used(log, options, problem):
    with pytest.raises(lr.InputError, match=problem):
        lr.open_agent(MemoryStore(), lr.UCB1(), ARMS, start_from=log, **options)


def test_a_service_creates_an_agent_with_a_prior(tmp_path):
    with served(tmp_path / "a.db") as client:
        url = str(client.base_url)
        with lr.connect(url, "UCB1", ARMS, prior=NAMED, matures_after=5, default_reward=0) as agent:
            agent.tell(agent.ask(), 1)
            assert agent.summary()["prior"].to_list() == [20, 0, 13]
        with pytest.raises(lr.ConflictError, match="was created with prior"):
            lr.connect(url, "UCB1", ARMS, matures_after=5, default_reward=0)
        assert client.get("/v1/agents/default/summary").json()["settings"]["prior"] == {
            "0": [0.3, 20],
            "2": [0.55, 13],
        }

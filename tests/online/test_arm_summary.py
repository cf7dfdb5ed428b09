"""What an agent says of its arms: the interval covers at all times at once, in the user's units."""

import json
from datetime import timedelta

import numpy as np
import polars as pl
import pytest

import lowregret as lr
from lowregret.analysis.confidence_sequences import Totals, mean_intervals, normal_width
from lowregret.analysis.nonnegative_means import Products, add_rewards, lower_ends
from lowregret.online.arm_summary import ADDED_VARIANCE, gain_over_control, regret_bound


def test_the_columns_in_the_users_units():
    agent = lr.Agent(lr.UCB1(), ["a", "b"], reward_range=(100, 300))
    for _ in range(400):
        choice = agent.ask()
        agent.tell(choice, 300 if choice.arm == "a" else 150)
    agent.ask()
    table = agent.summary()
    shown = ["to_leader_low", "to_leader_high", "to_control_low", "to_control_high"]
    assert table.columns == ["arm", "pulls", "pending", "mean", "low", "high", "state", "share", *shown]
    a, b = table.iter_rows(named=True)
    assert (a["mean"], b["mean"]) == (300.0, 150.0)
    assert a["high"] == 300.0
    assert 100 <= b["low"] < 150 < b["high"] <= 300
    assert a["to_leader_low"] is None and a["to_leader_high"] is None and b["to_control_low"] is None
    assert -200 <= b["to_leader_low"] < -150 < b["to_leader_high"] < 0
    assert a["pulls"] + b["pulls"] == 400
    assert a["pending"] + b["pending"] == 1
    assert a["share"] + b["share"] == pytest.approx(1)


def test_an_arm_without_rewards_has_no_intervals():
    agent = lr.Agent("UCB1", ["red", "green", "blue"], control=("blue", 0.1))
    agent.observe("red", 1)
    ends = ["low", "high", "to_leader_low", "to_leader_high", "to_control_low", "to_control_high"]
    red, green, blue = agent.summary().select(ends).iter_rows()
    assert green == blue == (None,) * 6
    assert red[0] is not None
    assert red[2:] == (None,) * 4


def test_without_a_range_the_interval_follows_the_variance():
    agent = lr.Agent(lr.ThompsonNormal(), ["a"], reward_range=None)
    agent.tell(agent.ask(), 5)
    for reward in (4.0, 6.0) * 49:
        agent.tell(agent.ask(), reward)
    assert agent.summary()["high"].item() is None  # the variance of so few rewards may be far too small
    for reward in (4.0, 6.0) * 3:
        agent.tell(agent.ask(), reward)
    assert agent.summary()["high"].item() == pytest.approx(
        5 + normal_width(np.array(105.0), np.sqrt(104 / 105), 0.05)
    )


def sold(agent, seed=3, turns=600):
    """Let two arms have a sale of uneven size in a fifth of the decisions."""
    random = np.random.default_rng(seed)
    for _ in range(turns):
        choice = agent.ask(request=f"{'evil' if random.random() < 0.1 else 'good'} {agent.time}")
        agent.tell(choice, float(random.lognormal()) if random.random() < 0.2 else 0.0)
    return agent


def test_without_a_range_the_lower_end_is_proved_and_the_upper_end_waits_for_enough_rewards():
    agent = sold(lr.Agent("RoundRobin", ["a", "b"], reward_range=None, seed=1))
    with agent.transactions.reading() as state:
        rewards = [reward for _, arm, reward in state.by_period.days.recent if arm == "a"]
    assert 0 < len(rewards) < 300  # others are folded into products
    a, b = agent.summary().iter_rows(named=True)
    assert 0.0 < a["low"] < a["mean"] and 0.0 < b["low"] < b["mean"]
    ends = ["high", "to_leader_low", "to_leader_high", "to_control_low", "to_control_high"]
    assert {a[end] for end in ends} == {b[end] for end in ends} == {None}
    sold(agent, turns=4_000)
    assert all(row["low"] < row["mean"] < row["high"] for row in agent.summary().iter_rows(named=True))
    agent.tell(agent.ask(), -0.5)
    normal = agent.summary().row(0, named=True)
    assert normal["high"] - normal["mean"] == pytest.approx(normal["mean"] - normal["low"])


def test_the_lower_end_is_that_of_all_rewards_after_every_way_to_open_an_agent(tmp_path, monkeypatch):
    options = {"arms": ["a", "b"], "seed": 1, "reward_range": None}
    with sold(lr.open_agent(tmp_path / "x.db", "RoundRobin", **options)) as agent:
        lows = agent.summary()["low"].to_list()
        assert min(lows) > 0.0
        assert lr.Agent.from_json(agent.to_json()).summary()["low"].to_list() == lows
        assert agent.verify() > 1_000
    with lr.open_agent(tmp_path / "x.db") as again:
        assert again.summary()["low"].to_list() == lows
        rewards = again.rewards().filter(~pl.col("decision").is_in(evil_of(again)))
        assert again.forget_where(request_prefix="evil") > 20
        left = again.summary()["low"].to_list()
        assert left == [
            lower_ends(add_rewards([Products()], [rewards.filter(arm=arm)["reward"]]), 0.025).item()
            for arm in "ab"
        ]
        assert left != lows
        again.compact(timedelta(0))
        assert again.verify() == 0
    with lr.open_agent(tmp_path / "x.db") as last:
        assert last.summary()["low"].to_list() == left


def evil_of(agent):
    events = agent.events().filter(kind="asked")
    return events.filter(pl.col("request").str.starts_with("evil"))["decision"].implode()


def test_an_agent_of_an_older_version_counts_from_when_it_is_opened():
    agent = sold(lr.Agent("RoundRobin", ["a", "b"], reward_range=None, seed=1))
    parts = json.loads(agent.to_json())
    del parts["products"]
    older = lr.Agent.from_json(json.dumps(parts))
    assert older.summary()["low"].to_list() == [0.0, 0.0]
    assert sold(older, seed=4).summary()["low"].min() > 0.0
    parts["arms"]["origin"][0] = -1.0  # its first reward: none of its rewards need be at least 0
    assert lr.Agent.from_json(json.dumps(parts)).summary()["low"].min() < 0.0


def test_damaged_products_are_rejected():
    text = sold(lr.Agent("RoundRobin", ["a", "b"], reward_range=None, seed=1)).to_json()
    for place, value in ((0, 0), (3, -1.0), (3, 1.5)):
        parts = json.loads(text)
        parts["products"]["a"][place] = value
        with pytest.raises(lr.InputError, match="products of arm 'a'"):
            lr.Agent.from_json(json.dumps(parts))


def test_means_that_change_with_periods_have_no_interval():
    agent = lr.Agent(lr.UCB1(), ["a", "b"], period=10)
    agent.tell_many((choice, 1) for choice in agent.ask(40))
    assert set(agent.summary().select("low", "high", "to_leader_low").row(0)) == {None}


def test_no_gain_over_the_control_where_successes_are_known_before_failures():
    for options, none in (({"expires_after": 1_000, "default_reward": 0}, True), ({}, False)):
        agent = lr.Agent(lr.UCB1(), ["a", "b"], control=("a", 0.5), seed=1, **options)
        agent.tell_many((choice, 1) for choice in agent.ask(40)[:20])
        with agent.transactions.reading() as state:
            assert (gain_over_control(state) is None) == none


def test_the_states_of_arms():
    agent = lr.Agent(lr.FixedArm(0), ["a", "b"])
    assert agent.summary()["state"].to_list() == ["active", "inactive"]
    agent = lr.Agent(lr.DMED(), ["a", "b"], seed=1)
    for _ in range(60):
        choice = agent.ask()
        agent.tell(choice, float(choice.arm == "a"))
    assert agent.summary()["state"].to_list() == ["active", "inactive"]


def test_the_regret_bound_holds_and_is_what_the_intervals_say():
    random, chances = np.random.default_rng(7), {"a": 0.2, "b": 0.5, "c": 0.55}
    missed = 0
    for seed in range(20):
        agent = lr.Agent(lr.UCB1(), list(chances), reward_range=(0, 10), seed=seed)
        assert bound_of(agent) == 0.0
        for turn in range(1, 301):
            choice = agent.ask()
            agent.tell(choice, 10.0 * (random.random() < chances[choice.arm]))
            if turn in (10, 100, 300):
                pulls = dict(agent.summary().select("arm", "pulls").iter_rows())
                regret = sum(10 * pulls[arm] * (0.55 - chance) for arm, chance in chances.items())
                missed += regret > bound_of(agent)
    assert missed <= 3  # 5% of the agents
    ends = {}
    for arm, pulls, _, mean, *_ in agent.summary().iter_rows():
        sums = np.array([mean * pulls / 10])
        low, high = mean_intervals(Totals(np.array([float(pulls)]), sums, sums), 0.05 / 3)
        ends[arm] = pulls, 10 * low[0], 10 * high[0]
    expected = sum(
        pulls * max(max(high for other, (_, _, high) in ends.items() if other != arm) - low, 0)
        for arm, (pulls, low, _) in ends.items()
    )
    assert bound_of(agent) == pytest.approx(expected) and expected < 10 * 300
    agent.retire_arm("c")
    agent.retire_arm("b")
    retired = sum(pulls * max(ends["a"][2] - low, 0) for arm, (pulls, low, _) in ends.items() if arm != "a")
    assert bound_of(agent) == pytest.approx(retired)
    agent.transactions.state.rows["forgotten"][0] = (
        3  # the intervals are those of the rewards since, the pulls all
    )
    assert bound_of(agent) is None
    assert bound_of(lr.Agent(lr.ThompsonNormal(), ["a", "b"], reward_range=None)) is None


def bound_of(agent):
    with agent.transactions.reading() as state:
        return regret_bound(state)


@pytest.mark.parametrize("chance", [0.5, 0.05, 0.01, 0.002])
def test_the_interval_by_the_variance_covers_at_all_times_at_once(chance):
    """1,000 arms of 3,000 rewards: at most 2.5% may ever leave it; more than 45 have odds below 1e-4."""
    random, pulls = np.random.default_rng(27), np.arange(2, 3_001)
    unit = normal_width(pulls.astype(float), np.ones(len(pulls)), 0.025)
    means = (random.random((1_000, 3_000)) < chance).cumsum(axis=1)[:, 1:] / pulls
    wide = np.sqrt(means * (1 - means) + ADDED_VARIANCE / pulls) * unit
    assert (np.abs(means - chance) > wide).any(axis=1).sum() <= 45


def play_with_control(chances, seed, turns=500):
    """Return the gain over the control arm "a", in a range of 10 times the chances."""
    random = np.random.default_rng(seed)
    options = {"reward_range": (0, 10), "seed": seed, "control": ("a", 0.2)}
    agent = lr.Agent(lr.UCB1(), list(chances), **options)
    for choice in (agent.ask() for _ in range(turns)):
        agent.tell(choice, 10.0 * (random.random() < chances[choice.arm]))
    with agent.transactions.reading() as state:
        gain = gain_over_control(state)
    return gain, agent.summary()


def test_identical_arms_gain_nothing_over_the_control():
    gains = [play_with_control(dict.fromkeys("abcde", 0.1), seed)[0] for seed in range(20)]
    assert all(gain["low"] < 0 < gain["high"] for gain in gains)
    assert 4 <= sum(gain["estimate"] > 0 for gain in gains) <= 16  # odds of 1 in 400 to fail


def test_the_gain_over_the_control_is_found_and_needs_a_control():
    chances = {"a": 0.1, "b": 0.6, "c": 0.5}
    gain, table = play_with_control(chances, 1, 1_000)
    pulls = dict(table.select("arm", "pulls").iter_rows())
    true = sum(10 * pulls[arm] * (chances[arm] - 0.1) for arm in "bc")
    assert 0 < gain["low"] < true < gain["high"]
    means = dict(table.select("arm", "mean").iter_rows())
    assert gain["estimate"] == pytest.approx(sum(pulls[arm] * (means[arm] - means["a"]) for arm in "bc"))
    for agent in (lr.Agent("UCB1", ["a", "b"]), lr.Agent("UCB1", ["a", "b"], control=("a", 0.5))):
        agent.tell(agent.ask(), 1)
        with agent.transactions.reading() as state:
            assert gain_over_control(state) is None

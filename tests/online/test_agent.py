"""The agent against the simulator, pull by pull; late rewards, subsets, arms that come and go."""

import json

import numpy as np
import pytest
from engine_runs import PlainRun
from helpers import POLICIES as FORMS
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import typeof

import lowregret as lr
from lowregret.engine.kernels.rewards import reward
from lowregret.engine.kernels.rng import shuffle
from lowregret.engine.kernels.state import lay_out, rows_of
from lowregret.errors import InputError
from lowregret.online import agent_state, calls
from lowregret.policies import POLICIES

OURS = [kind(0) if kind is lr.FixedArm else kind() for kind in POLICIES.values()]
OTHERS = [
    lr.EUCBV(rho=0.02, psi=3.0),
    lr.BayesUCBBetaHorizon(c=1.0),
    lr.CCB(r="log"),
    lr.DMED(genuine=False),
    lr.MedianElimination(0.9, 0.9),
]
EVERY = [*OURS, *OTHERS, *(policy for policy in FORMS if type(policy).__module__ == "helpers")]
SOME = [*FORMS, *OTHERS, lr.LBSDA(), lr.SlidingWindowUCB(20), lr.ThompsonBeta(), lr.TsallisINF()]
"""Policies of every form; the conformance suite does the same with each of the package, on fewer problems."""

ARMS = ["red", "green", "blue", ""]


@st.composite
def problems(draw, most=7, longest=150):
    means = draw(st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=1, max_size=most))
    kind = draw(st.sampled_from([lr.bernoulli, lambda p: lr.beta([0.2 + 3 * x for x in p], 1.5)]))
    return kind(means), draw(st.integers(1, longest)), draw(st.integers(0, 2**64 - 1))


def run_rows(bandit, seed):
    """Return the arms of run 0 of the simulator, with their streams of rewards."""
    given = rows_of(bandit)
    rows, order = given.copy(), np.zeros(len(given), np.int64)
    shuffle(np.uint64(seed), 0, order)
    lay_out(given, order, np.uint64(seed), 0, rows)
    return rows


def played(agent, bandit, horizon, seed, stops, compiled=False):
    """Feed an agent with the simulator's rewards; save and load it at the stops."""
    if compiled:
        agent.compile()
    rows = {f"arm {row['number']}": row for row in run_rows(bandit, seed)}
    counts, arms = dict.fromkeys(rows, 0), []
    for step in range(horizon):
        if step in stops:
            agent = lr.Agent.from_json(agent.to_json(), policy=agent.policy)
            if compiled:
                agent.compile()
        choice = agent.ask()
        assert choice.time == step + 1
        counts[choice.arm] += 1
        agent.tell(choice, reward(rows[choice.arm], bandit.data, counts[choice.arm]))
        arms.append(int(choice.arm.split()[1]))
    return arms


def names(bandit):
    return [f"arm {number}" for number in range(len(bandit))]


@pytest.mark.parametrize("policy", SOME, ids=str)
@settings(max_examples=10)
@given(problem=problems(), stops=st.sets(st.integers(0, 150), max_size=3))
def test_it_chooses_what_the_simulator_chooses(policy, problem, stops):
    bandit, horizon, seed = problem
    truth = PlainRun(policy, bandit, horizon, seed, 0).arm.tolist()
    agent = lr.Agent(policy, names(bandit), horizon, seed)
    assert played(agent, bandit, horizon, seed, stops) == truth


@pytest.mark.parametrize("policy", [lr.EUCBV(), lr.UCB1(), lr.ThompsonBeta(), FORMS[-1]], ids=str)
@settings(max_examples=10)
@given(problem=problems(longest=300), stops=st.sets(st.integers(0, 300), max_size=3))
def test_compiled_it_chooses_the_same(policy, problem, stops):
    bandit, horizon, seed = problem
    truth = PlainRun(policy, bandit, horizon, seed, 0).arm.tolist()
    agent = lr.Agent(policy, names(bandit), horizon, seed)
    assert played(agent, bandit, horizon, seed, stops, compiled=True) == truth


@pytest.mark.parametrize(("policy", "size"), [(lr.ThompsonBeta(), 20), (lr.ThompsonGauss(), 85)], ids=str)
@pytest.mark.parametrize("compiled", [False, True])
def test_with_many_arms_it_samples_as_the_simulator_does(policy, size, compiled):
    bandit, horizon, seed = lr.bernoulli(np.linspace(0.1, 0.5, size)), 250, 4
    truth = PlainRun(policy, bandit, horizon, seed, 0).arm.tolist()
    agent = lr.Agent(policy, names(bandit), horizon, seed)
    assert played(agent, bandit, horizon, seed, {40, 41, 200}, compiled) == truth


def test_an_agent_that_sampled_every_arm_continues():
    """Former versions stored no threshold."""
    agent = lr.Agent(lr.ThompsonBeta(), [f"arm {number}" for number in range(20)], seed=1)
    for _ in range(30):
        agent.tell(agent.ask(), 1.0)
    stored = json.loads(agent.to_json())
    assert float(stored["round"]["threshold"]) > -np.inf
    stored["round"] = {"number": 0, "until": lr.NEVER}
    former = lr.Agent.from_json(json.dumps(stored))
    former.tell(former.ask(), 0.0)
    assert float(json.loads(former.to_json())["round"]["threshold"]) > -np.inf
    del stored["round"]["until"]
    with pytest.raises(InputError, match="a round of ThompsonBeta has number, until, threshold"):
        lr.Agent.from_json(json.dumps(stored))


@pytest.mark.parametrize("policy", [lr.ThompsonBeta(), lr.EUCBV(), lr.DMED()], ids=str)
@settings(max_examples=10)
@given(data=st.data())
def test_compiled_and_plain_agree_also_with_rewards_pending(policy, data):
    plain, fast = (lr.Agent(policy, ARMS, 200, 5) for _ in range(2))
    fast.compile()
    waiting = []
    for _ in range(data.draw(st.integers(1, 60))):
        if waiting and data.draw(st.booleans()):
            one, other = waiting.pop(data.draw(st.integers(0, len(waiting) - 1)))
            value = data.draw(st.sampled_from([0.0, 0.3, 1.0]))
            plain.tell(one, value)
            fast.tell(other, value)
        else:
            only = data.draw(st.sampled_from([None, ["red"], ["blue", ""]]))
            waiting.append((plain.ask(only=only), fast.ask(only=only)))
            assert waiting[-1][0].arm == waiting[-1][1].arm


@pytest.mark.parametrize("horizon", [40, None])
def test_compiled_code_meets_the_types_it_was_compiled_for(monkeypatch, horizon):
    """It does not look at them again, whatever becomes of the agent."""
    monkeypatch.setattr(agent_state, "MIN_FIRST_HORIZON", 25)
    plain, fast = (lr.Agent(lr.EUCBV(), ARMS, horizon, 5) for _ in range(2))
    state = fast.compile().transactions.state
    types = [typeof(part) for part in (state.rows, state.models, state.round)]
    for step in range(60):
        one, other = plain.ask(), fast.ask()
        assert one.arm == other.arm
        for agent, choice in ((plain, one), (fast, other)):
            if step == 20:
                agent.add_arm("yellow")
            if step == 30:
                agent.retire_arm("red")
            with pytest.raises(lr.InputError):  # which restores the model
                agent.tell_many([(choice, 1), (choice, "no number")])
            agent.tell(choice, step % 3 == 0)
        assert [typeof(part) for part in (state.rows, state.models, state.round)] == types
    assert plain.summary().equals(fast.summary())
    assert (state.epoch > 0) == (horizon is None)


@pytest.mark.parametrize("policy", EVERY, ids=str)
def test_parallel_asks_spread_out(policy):
    """Even before the first reward, and whatever comes first."""
    agent = lr.Agent(policy, ARMS, horizon=500, seed=3)
    choices = agent.ask(40)
    if isinstance(policy, lr.FixedArm):
        assert {choice.arm for choice in choices} == {"red"}
    elif not isinstance(policy, lr.LUCB):  # it decides by known rewards alone
        assert {choice.arm for choice in choices} == set(ARMS)
    assert [choice.time for choice in choices] == list(range(1, 41))
    for place, choice in enumerate(reversed(choices)):
        agent.tell(choice, place % 2)
    assert agent.pending == ()
    assert agent.summary()["pulls"].sum() == 40


def test_pending_pulls_count_at_the_current_mean():
    """Two arms, equal so far: each ask that waits makes its arm's bound narrower, so they alternate."""
    agent = lr.Agent(lr.UCB1(), ["a", "b"], seed=1)
    for _ in range(2):
        agent.tell(agent.ask(), 0.5)
    arms = [agent.ask().arm for _ in range(6)]
    assert [arms.count("a"), arms.count("b")] == [3, 3]
    assert agent.summary()["pending"].to_list() == [3, 3]
    assert agent.summary()["mean"].to_list() == [0.5, 0.5]
    assert agent.time == 8


def test_a_forgotten_decision_is_as_if_never_asked():
    agent, other = (lr.Agent(lr.UCB1(), ARMS, seed=4) for _ in range(2))
    for _ in range(30):
        lost = agent.ask()
        assert agent.forget(lost)
        assert not agent.forget(lost)
        one, same = agent.ask(), other.ask()
        assert one.arm == same.arm
        agent.tell(one, 1.0 if one.arm == "red" else 0.25)
        other.tell(same, 1.0 if one.arm == "red" else 0.25)
    with pytest.raises(lr.ConflictError, match="was discarded: the reward 1.0 is rejected"):
        agent.tell(lost, 1)
    with pytest.raises(lr.ConflictError, match="has the reward .*: it cannot be discarded"):
        agent.forget(one)


def test_a_warm_up_pull_that_was_forgotten_is_made_again():
    agent = lr.Agent(lr.UCB1(), ["a", "b"], seed=1)
    first = agent.ask()
    agent.tell(agent.ask(), 1)
    agent.forget(first)
    assert agent.ask().arm == first.arm


def test_only_restricts_and_finds_dropped_arms_too():
    agent = lr.Agent(lr.EUCBV(rho=0.02), ["good", "bad"], horizon=2_000, seed=1)
    for _ in range(500):
        choice = agent.ask()
        agent.tell(choice, float(choice.arm == "good"))
    assert agent.summary()["state"].to_list() == ["active", "eliminated"]
    assert agent.ask(only=["bad"]).arm == "bad"
    assert agent.ask().arm == "good"
    assert {choice.arm for choice in agent.ask(5, only=["bad", "good"])} == {"good"}


def test_an_added_arm_is_pulled_first():
    agent = lr.Agent(lr.BayesUCBStudent(), ["a", "b"], seed=1)
    for _ in range(20):
        agent.tell(agent.ask(), 0.5)
    agent.add_arm("c")
    assert [agent.ask().arm for _ in range(2)] == ["c", "c"]
    assert agent.arms[-1] == "c"


@pytest.mark.parametrize("policy", EVERY, ids=str)
def test_arms_come_and_go(policy):
    agent = lr.Agent(policy, ["a", "b", "c"], horizon=1_000, seed=2)
    late = None
    for step in range(120):
        if step == 30:
            agent.add_arm("d")
        if step == 60:
            late = agent.ask(only=["b"])
            agent.retire_arm("b")
        choice = agent.ask()
        assert step < 60 or choice.arm != "b"
        agent.tell(choice, (step % 3) / 2)
        if step % 40 == 35:
            agent = lr.Agent.from_json(agent.to_json(), policy=policy)
    agent.tell(late, 1)
    table = agent.summary()
    assert table["arm"].to_list() == ["a", "b", "c", "d"]
    assert table["state"].to_list()[1] == "retired"
    assert table["pulls"].sum() == 121
    assert abs(table["share"].sum() - 1) < 1e-12


def test_a_late_reward_of_a_retired_arm_that_is_refused_counts_nowhere():
    agent = lr.Agent(lr.UCB1(), ["a", "b"], seed=1)
    late = agent.ask(3, only=["a"])
    agent.retire_arm("a")
    state = agent.to_json()
    with pytest.raises(lr.InputError, match="must be a finite number"):
        agent.tell_many([(late[0], 1), (late[1], None)])
    assert agent.to_json() == state
    agent.tell(late[0], 1)
    assert agent.forget(late[1])
    assert agent.summary().row(0)[:4] == ("a", 1, 1, 1.0)


def test_when_all_in_play_are_retired_the_others_come_back():
    agent = lr.Agent(lr.EUCBV(rho=0.02), ["good", "bad"], horizon=2_000, seed=1)
    for _ in range(500):
        choice = agent.ask()
        agent.tell(choice, float(choice.arm == "good"))
    agent.retire_arm("good")
    assert agent.ask().arm == "bad"


def test_telling_again_is_free_and_telling_otherwise_is_refused():
    agent = lr.Agent(lr.UCB1(), ARMS)
    choice = agent.ask()
    assert agent.tell(choice, 0.5) is True
    state = agent.to_json()
    assert agent.tell(choice.id, 0.5) is False
    assert agent.to_json() == state
    with pytest.raises(lr.ConflictError, match="has the reward 0.5: the reward 1.0 is rejected"):
        agent.tell(choice, 1)
    assert agent.conflicts == 1
    assert agent.to_json() == state.replace('"conflicts": 0', '"conflicts": 1')


def test_a_request_gives_the_same_decision_again():
    agent = lr.Agent(lr.UCB1(), ARMS)
    first = agent.ask(request="visit 17")
    several = agent.ask(3, request="page 2")
    agent.tell(first, 1)
    loaded = lr.Agent.from_json(agent.to_json())
    for one in (agent, loaded):
        assert one.ask(request="visit 17") == first
        assert one.ask(3, request="page 2") == several
        assert one.time == 4
        with pytest.raises(lr.ConflictError, match="'page 2' asked for 3 decisions before, not for 1"):
            one.ask(request="page 2")
        with pytest.raises(lr.ConflictError, match="'visit 17' asked for 1 decision before, not for 2"):
            one.ask(2, request="visit 17")


def test_an_empty_request_is_rejected():
    """It would give every visitor without a request of their own the same decision."""
    agent = lr.Agent(lr.UCB1(), ARMS)
    with pytest.raises(lr.InputError, match="^a request must not be empty: leave it out"):
        agent.ask(request="")
    assert agent.time == 0


def test_a_request_is_refused_where_its_arms_are_not_allowed():
    agent = lr.Agent(lr.UCB1(), ARMS)
    first = agent.ask(request="visit 17", only=["red"])
    for only in (["red"], ["red", "blue"], None):
        assert agent.ask(request="visit 17", only=only) == first
    with pytest.raises(lr.ConflictError, match="request 'visit 17' chose 'red' before, which is not in only"):
        agent.ask(request="visit 17", only=["blue"])
    with pytest.raises(lr.InputError, match="unknown arm 'nobody'"):
        agent.ask(request="visit 17", only=["nobody"])
    agent.retire_arm("red")
    assert agent.ask(request="visit 17", only=["red"]) == first


def test_invalid_input_rejects_all_rewards_of_a_call():
    agent = lr.Agent(lr.EUCBV(), ARMS, horizon=1_000)
    choices = agent.ask(6)
    state = agent.to_json()
    with pytest.raises(lr.InputError, match="must be a finite number"):
        agent.tell_many([(choices[0], 1), (choices[1], float("nan"))])
    assert agent.to_json() == state
    assert agent.tell_many([(choice, 1) for choice in choices * 2]) == 6


def test_a_reward_that_is_rejected_hinders_no_other_one():
    agent = lr.Agent(lr.EUCBV(), ARMS, horizon=1_000)
    first, second, *others = agent.ask(6)
    agent.tell(second, 0)
    rewards = [(first, 1), (second, 1), ("nobody-9", 1), *((choice, 1) for choice in others), (first, 0.5)]
    with pytest.raises(lr.ConflictError, match="^3 of 8 rewards are rejected, the others are rec") as caught:
        agent.tell_many(rewards)
    assert agent.pending == () and agent.summary()["mean"].sum() > 0 and agent.conflicts == 2
    kinds = {1: lr.ConflictError, 2: lr.UnknownDecisionError, 7: lr.ConflictError}
    assert {place: type(error) for place, error in caught.value.rejected.items()} == kinds
    assert "has the reward 1.0: the reward 0.5 is rejected" in str(caught.value.rejected[7])
    with pytest.raises(lr.UnknownDecisionError, match="^2 of 2 rewards are rejected, none is") as caught:
        agent.tell_many([("nobody-9", 1), (lr.Request("nobody"), 1)])
    assert list(caught.value.rejected) == [0, 1] and agent.conflicts == 2
    for call in (lambda: agent.tell(first, 0), lambda: agent.tell("nobody-9", 0)):
        with pytest.raises(lr.LowRegretError) as caught:
            call()
        assert not caught.value.rejected


def test_rewards_are_scaled_and_clipped():
    agent = lr.Agent(lr.UCB1(), ["a"], reward_range=(-10, 30))
    agent.tell(agent.ask(), 20)
    assert agent.summary()["mean"].item() == 20.0
    with pytest.raises(lr.InputError, match=r"reward 31.0 lies outside \[-10, 30\]"):
        agent.tell(agent.ask(), 31)
    clipping = lr.Agent(lr.UCB1(), ["a"], outside="clip")
    clipping.tell(clipping.ask(), 7)
    assert clipping.summary()["mean"].item() == 1.0
    free = lr.Agent(lr.ThompsonGauss(), ["a"], reward_range=None)
    free.tell(free.ask(), 1e6)
    assert free.summary()["mean"].item() == 1e6


def test_compiled_coins_are_the_same_after_a_decision_was_given_up():
    plain, fast = (lr.Agent(lr.EpsilonGreedy(0.5), ARMS, seed=2) for _ in range(2))
    fast.compile()
    for step in range(60):
        one, other = plain.ask(), fast.ask()
        assert (one.arm, one.propensity) == (other.arm, other.propensity)
        for agent, choice in ((plain, one), (fast, other)):
            if step % 3:
                agent.forget(choice)
            else:
                agent.tell(choice, step % 2)


def test_propensities():
    agent = lr.Agent(lr.EpsilonGreedy(0.2), ["a", "b"], seed=1)
    assert [agent.ask().propensity for _ in range(2)] == [1.0, 1.0]
    agent = lr.Agent(lr.EpsilonGreedy(0.2), ["a", "b"], seed=1)
    counts = dict.fromkeys(("a", "b"), 0)
    for _ in range(2_000):
        choice = agent.ask()
        agent.tell(choice, float(choice.arm == "a"))
        counts[choice.arm] += 1
        assert choice.time <= 2 or choice.propensity == pytest.approx({"a": 0.9, "b": 0.1}[choice.arm])
    assert 140 < counts["b"] < 260  # 4.5 standard deviations of a binomial(2000, 0.1)
    assert lr.Agent(lr.ThompsonBeta(), ["a", "b"]).ask().propensity is None  # unless it is logged
    assert lr.Agent(lr.MOSS(), ["a", "b"], horizon=9).ask().propensity == 1.0


def test_a_plot_shows_every_arm():
    agent = lr.Agent(lr.UCB1(), ARMS)
    agent.tell(agent.ask(), 1)
    chart = agent.plot().to_dict()
    (rows,) = chart["datasets"].values()
    assert [row["arm"] for row in rows] == ARMS


def test_arms_are_listed_in_the_order_in_which_they_were_added():
    agent = lr.Agent(lr.UCB1(), list("abcdefg"), seed=1, control=("d", 0.1))
    agent.add_arm("h")
    agent.retire_arm("b")
    assert agent.arms == ("a", "c", "e", "f", "g", "h", "d")
    assert lr.Agent.from_json(agent.to_json()).arms == agent.arms


class Inverse(lr.Policy):
    def score(self, arm, clock):
        return arm.mean + 0.01 / arm.variance


def test_a_division_by_0_is_infinity_in_every_agent(tmp_path):
    """In plain Python it raises, so an agent compiles such a policy."""
    fast, plain = (lr.Agent(Inverse(), ARMS, 200, 5) for _ in range(2))
    fast.compile()
    stored = lr.open_agent(tmp_path / "a.db", Inverse(), ARMS, 200, 5)
    for t in range(20):
        choices = [agent.ask() for agent in (fast, plain)]
        choices += stored.transactions.execute_group([(calls.ask, (1, None, str(t)))] * 2)[0]
        assert len({choice.arm for choice in choices}) == 1
        for agent, choice in zip((fast, plain, stored), choices, strict=True):
            agent.tell(choice, t % 3 / 2)
        plain = lr.Agent.from_json(plain.to_json(), Inverse())
    stored.close()

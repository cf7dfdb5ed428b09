"""``arm.rewards``: all rewards of an arm, in simulations, replays and agents."""

import json
from typing import NamedTuple

import numpy as np
import pytest
from engine_runs import PlainRun, compiled_trace

import lowregret as lr
from lowregret.online import snapshot
from lowregret.online.decisions import decision_of


class Latest(lr.Policy):
    """The arm with the best mean of its last three rewards, an arm with fewer pulls first."""

    uses_rewards = True

    def score(self, arm, clock):
        total = 0.0
        for k in range(max(len(arm.rewards) - 3, 0), len(arm.rewards)):
            total += arm.rewards[k]
        return total / min(max(len(arm.rewards), 1), 3) + 1.0 / arm.pulls  # none while a reward is pending


class Count(NamedTuple):
    pulls: int = 0


class Everything(Latest):
    """The same with rewards that are changed, a memory, and a look at the other arms."""

    Memory = Count
    uses_arms = True

    def transform_reward(self, reward, rng):
        return 0.5 * reward

    def update_memory(self, arm, reward, clock):
        return Count(arm.memory.pulls + 1)

    def score(self, arm, clock):
        others = 0.0
        for i in range(clock.arms):
            others += arm.arms.at(i).rewards[0]
        last = arm.rewards[len(arm.rewards) - 1]
        return last + others / (1.0 + arm.memory.pulls)


class Doubling(NamedTuple):
    number: int
    until: int


class Restarting(Latest):
    """The same, with statistics that are cleared after 4, 8, 16, ... steps."""

    def first_round(self, clock):
        return Doubling(0, 4 * clock.arms)

    def score(self, arm, clock, round):
        total = 1.0
        for reward in arm.rewards:
            total += reward
        return total / (1.0 + len(arm.rewards))

    def next_round(self, arms, clock, round):
        for i in range(clock.arms):
            if len(arms.at(i).rewards) > 2:
                arms.reset(i)
        return Doubling(round.number + 1, 2 * clock.t)


def naive(rewards, horizon):
    seen, chosen = [[] for _ in rewards], []
    for t in range(horizon):
        scores = [sum(x[-3:]) / min(len(x), 3) + 1 / len(x) if x else np.inf for x in seen]
        choice = t if t < len(rewards) else int(np.argmax(scores))
        seen[choice].append(rewards[choice][len(seen[choice])])
        chosen.append(choice)
    return chosen


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_the_rewards_are_all_and_in_their_order(engine):
    rewards = np.random.RandomState(0).random_sample((4, 300))
    found = lr.trace(Latest(), rewards, horizon=300, engine=engine).arm.tolist()
    assert found == naive(rewards, 300)


@pytest.mark.parametrize("policy", [Latest(), Everything(), Restarting()], ids=str)
def test_compiled_equals_plain(policy):
    for seed in range(5):
        bandit = lr.beta(np.arange(1, 6), 3)
        plain = PlainRun(policy, bandit, 200, seed, 0).arm
        fast = compiled_trace(policy, bandit, 200, seed).arm
        assert plain.tolist() == fast.tolist()


def test_a_replay_shows_the_rewards_of_the_log():
    draws = np.random.RandomState(1)
    log = {"arm": draws.choice(["a", "b"], 500), "reward": draws.random_sample(500)}
    result = lr.replay(log, Latest(), horizon=60, resamples=3)
    seen = {"a": [], "b": []}
    for row in result.events["Latest"]:
        arm = log["arm"][row]
        if all(seen.values()):
            scores = {each: sum(x[-3:]) / min(len(x), 3) + 1 / len(x) for each, x in seen.items()}
            assert scores[arm] == pytest.approx(max(scores.values()))
        seen[arm].append(log["reward"][row])
    assert sum(map(len, seen.values())) == 60


@pytest.mark.parametrize("policy", [Latest(), Everything(), Restarting()], ids=str)
def test_an_agent_chooses_as_the_simulator_and_continues_from_a_snapshot(policy):
    bandit = lr.beta([1, 2, 3], 3)
    expected = PlainRun(policy, bandit, 300, 6, 0)
    agent = lr.Agent(policy, ["0", "1", "2"], 300, seed=6)
    for step, (arm, reward) in enumerate(zip(expected.arm, expected.reward, strict=True)):
        choice = agent.ask()
        assert int(choice.arm) == arm
        agent.tell(choice, reward)
        if step % 70 == 13:
            agent = lr.Agent.from_json(agent.to_json(), policy)
    kept = json.loads(agent.to_json())["arms"]["rewards"]
    assert sum(map(len, kept)) == 300
    assert max(map(len, kept)) > 64


def test_rewards_of_new_and_retired_arms():
    agent = lr.Agent(Latest(), ["a", "b"], seed=1)
    pending = agent.ask()
    agent.add_arm("c")
    agent = lr.Agent.from_json(agent.to_json(), Latest())
    for number in range(200):
        choice = agent.ask()
        agent.tell(choice, {"a": 0.2, "b": 0.1, "c": 0.9}[choice.arm])
        if number == 100:
            agent.retire_arm(pending.arm)
            agent.tell(pending, 0.125)
    parts = json.loads(agent.to_json())
    (retired,) = parts["retired"]["rewards"]
    assert retired[-1] == 0.125
    rewards = dict(zip(parts["arms"]["name"], parts["arms"]["rewards"], strict=True))
    assert set(rewards["c"]) == {0.9}
    again = lr.Agent.from_json(agent.to_json(), Latest())
    assert again.ask().arm == agent.ask().arm


def test_rewards_of_a_control_arm_and_of_an_arm_that_is_pending():
    agent = lr.Agent(Latest(), ["a", "b", "c"], seed=1, control=("a", 0.3))
    agent = lr.Agent.from_json(agent.to_json(), Latest())
    agent.add_arm("d")
    choices = [agent.ask() for _ in range(20)]
    for choice in choices:
        agent.tell(choice, 0.25 if choice.arm == "a" else 0.5)
    parts = json.loads(agent.to_json())
    kept = {
        name: rewards
        for part in (parts["arms"], parts["retired"])
        for name, rewards in zip(part["name"], part["rewards"], strict=True)
    }
    assert {name: len(rewards) for name, rewards in kept.items()} == {
        name: sum(choice.arm == name for choice in choices) for name in "abcd"
    }
    assert set(kept["a"]) == {0.25}


def test_a_transaction_that_fails_leaves_no_reward_behind():
    state = snapshot.read(lr.Agent(Latest(), ["a"], seed=1).to_json(), Latest())
    for number in range(1, 201):
        decision = decision_of(state.choose(number, None, 0.0))
        saved = state.save()
        state.apply_reward(decision, 1.0)
        state.restore(saved)
        state.apply_reward(decision, number / 200)
    assert state.rewards[0, :200].tolist() == [number / 200 for number in range(1, 201)]


def test_a_snapshot_with_other_rewards_is_refused():
    agent = lr.Agent(Latest(), ["a", "b"], seed=1)
    agent.tell(agent.ask(), 0.5)
    parts = json.loads(agent.to_json())
    parts["arms"]["rewards"] = [[], []]
    with pytest.raises(lr.InputError, match="has 0 rewards for 1 pulls"):
        lr.Agent.from_json(json.dumps(parts), Latest())


def test_a_horizon_that_needs_too_much_memory_is_refused():
    with pytest.raises(lr.InputError, match="GB of memory: use a shorter horizon"):
        lr.simulate(Latest(), lr.bernoulli([0.5] * 100), 10**15, runs=1)

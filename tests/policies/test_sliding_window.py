"""SlidingWindowUCB against a computation from the whole history, in simulations and in agents."""

import json
from math import inf, log, sqrt

import numpy as np
import pytest
from engine_runs import PlainRun

import lowregret as lr


def naive(rewards, horizon, tau, xi, b):
    """Play SW-UCB as printed: sums over the last tau steps."""
    arms, history = len(rewards), []
    for t in range(1, horizon + 1):
        window = history[-tau:]
        bounds = []
        for i in range(arms):
            values = [x for arm, x in window if arm == i]
            width = b * sqrt(xi * log(min(t - 1, tau)) / len(values)) if values else inf
            bounds.append(np.mean(values) + width if values else inf)
        choice = t - 1 if t <= arms else int(np.argmax(np.round(bounds, 12)))
        history.append((choice, rewards[choice][sum(arm == choice for arm, _ in history)]))
    return [arm for arm, _ in history]


@pytest.mark.parametrize(
    ("tau", "xi", "b"), [(20, 0.6, 1.0), (3, 0.5, 1.0), (1_000, 0.2, 0.5), (1, 1.0, 1.0)]
)
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_choices_are_those_of_the_formula(tau, xi, b, engine):
    rewards = np.random.RandomState(3).random_sample((4, 200))  # continuous: no ties
    found = lr.trace(
        lr.SlidingWindowUCB(tau=tau, xi=xi, b=b), rewards, horizon=200, engine=engine
    ).arm.tolist()
    assert found == naive(rewards, 200, tau, xi, b)


def test_an_agent_keeps_the_steps_of_its_rewards():
    policy, bandit = lr.SlidingWindowUCB(tau=30), lr.beta([1, 2, 3], 3)
    expected = PlainRun(policy, bandit, 300, 6, 0)
    agent = lr.Agent(policy, ["0", "1", "2"], 300, seed=6)
    for step, (arm, reward) in enumerate(zip(expected.arm, expected.reward, strict=True)):
        choice = agent.ask()
        assert int(choice.arm) == arm
        agent.tell(choice, reward)
        if step % 70 == 13:
            agent = lr.Agent.from_json(agent.to_json(), policy)
    kept = json.loads(agent.to_json())["arms"]["times"]
    assert sorted(time for arm in kept for time in arm) == list(range(1, 301))


def test_pending_pulls_spread_over_the_arms():
    agent = lr.Agent(lr.SlidingWindowUCB(tau=10), ["a", "b", "c"], seed=1)
    assert {agent.ask().arm for _ in range(12)} == {"a", "b", "c"}


def test_times_need_rewards():
    with pytest.raises(lr.InputError, match="Odd: uses_times needs uses_rewards = True"):
        type("Odd", (lr.Policy,), {"uses_times": True})

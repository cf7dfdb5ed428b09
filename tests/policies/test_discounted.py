"""Discounted policies against a computation from the whole history, and the memory that it stands on."""

from math import log, sqrt
from typing import NamedTuple

import numpy as np
import pytest

import lowregret as lr
from lowregret.engine.kernels.rng import policy_rng
from lowregret.engine.kernels.state import rows_of
from lowregret.errors import InputError
from lowregret.policies import Arm, clock_at
from lowregret.policies.discounted import Discounted


def naive(rewards, horizon, gamma, xi, b):
    """Play D-UCB as printed: sums over all earlier pulls at every step."""
    arms, history = len(rewards), []
    for t in range(1, horizon + 1):
        if t <= arms:
            choice = t - 1
        else:
            bounds = []
            for i in range(arms):
                weights = [gamma ** (t - 1 - s) for s, (arm, _) in enumerate(history, 1) if arm == i]
                values = [x for arm, x in history if arm == i]
                count = sum(weights)
                every = sum(gamma ** (t - 1 - s) for s in range(1, t))
                mean = sum(w * x for w, x in zip(weights, values, strict=True)) / count
                bounds.append(mean + 2 * b * sqrt(xi * log(every) / count))
            choice = int(np.argmax(np.round(bounds, 12)))
        pulls = sum(arm == choice for arm, _ in history)
        history.append((choice, rewards[choice][pulls]))
    return [arm for arm, _ in history]


@pytest.mark.parametrize(("gamma", "xi", "b"), [(0.9, 0.6, 1.0), (0.99, 0.5, 1.0), (0.7, 0.2, 0.5)])
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_choices_are_those_of_the_formula(gamma, xi, b, engine):
    rewards = np.random.RandomState(3).random_sample((4, 200))  # continuous: no ties
    policy = lr.DiscountedUCB(gamma=gamma, xi=xi, b=b)
    found = lr.trace(policy, rewards, horizon=200, engine=engine).arm.tolist()
    assert found == naive(rewards, 200, gamma, xi, b)


def test_it_follows_a_change_that_ucb1_misses():
    before, after = [1.0, 0.0], [0.0, 1.0]
    table = [[one] * 500 + [other] * 3_000 for one, other in zip(before, after, strict=True)]
    late = {p: lr.trace(p, table, horizon=3_000).arm[-500:].mean() for p in ("DiscountedUCB", "UCB1")}
    assert late["DiscountedUCB"] > 0.8
    assert late["UCB1"] < 0.5


class Shapes:
    """A source of draws that remembers the parameters of a beta distribution."""

    def beta(self, a, b):
        self.asked = a, b
        return 0.5


def test_discounted_thompson_samples_from_discounted_counts():
    history = [(0, 1.0), (1, 0.0), (0, 0.0), (1, 1.0), (1, 1.0), (0, 1.0), (1, 0.0)]
    policy, memories, gamma = lr.DiscountedThompson(gamma=0.8), [Discounted(), Discounted()], 0.8
    for t, (arm, reward) in enumerate(history, 1):
        seen = Arm(arm, 0, 0.0, 0.0, memories[arm])
        memories[arm] = policy.update_memory(seen, reward, clock_at(t, 100, 2, 0.0))
    for t in (8, 11):
        for arm in (0, 1):
            draws = Shapes()
            policy.sample(Arm(arm, 1, 0.0, 0.0, memories[arm]), clock_at(t, 100, 2, 0.0), draws)
            weights = [(gamma ** (t - 1 - s), x) for s, (each, x) in enumerate(history, 1) if each == arm]
            successes = sum(w for w, x in weights if x == 1)
            failures = sum(w for w, x in weights if x == 0)
            assert draws.asked == pytest.approx((1 + successes, 1 + failures))
    arms = Arm(*[np.zeros(2)] * 4, Discounted(*map(np.array, zip(*memories, strict=True))))
    shares = policy.propensities(arms, clock_at(8, 100, 2, 0.0))
    rng = policy_rng(1, 0)
    clock = clock_at(8, 100, 2, 0.0)
    drawn = [
        [policy.sample(Arm(i, 1, 0.0, 0.0, m), clock, rng) for i, m in enumerate(memories)]
        for _ in range(4_000)
    ]
    assert np.bincount(np.argmax(drawn, axis=1)) / 4_000 == pytest.approx(shares, abs=0.03)


class Count(NamedTuple):
    pulls: int = 0
    last: float = -1.0


class Remembering(lr.Policy):
    """The arm that was pulled longest ago; its memory counts pulls."""

    Memory = Count

    def score(self, arm, clock):
        return -float(arm.memory.last)

    def update_memory(self, arm, reward, clock):
        return Count(arm.memory.pulls + 1, float(clock.t))


def test_a_memory_is_numbers_behind_the_other_fields():
    rows = rows_of(lr.bernoulli([0.1, 0.2]), Remembering())
    assert rows.dtype.names[-2:] == ("memory_pulls", "memory_last")
    path = lr.trace(Remembering(), np.zeros((3, 9)), horizon=9, engine="reference")
    assert path.arm.tolist() == [0, 1, 2] * 3


def test_an_agent_keeps_the_memory():
    agent = lr.Agent(Remembering(), ["x", "y", "z"])
    for _ in range(5):
        agent.tell(agent.ask(), 1)
    again = lr.Agent.from_json(agent.to_json(), Remembering())
    assert [again.ask().arm for _ in range(1)] == [agent.ask().arm for _ in range(1)]
    assert '"memory": {' in agent.to_json()


class Missing(NamedTuple):
    pulls: int


class Words(NamedTuple):
    name: str = "x"


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (Missing, "Odd: Memory must be a NamedTuple in which every field has a default"),
        (dict, "Odd: Memory must be a NamedTuple in which every field has a default"),
        (Words, "Odd: name of Memory must be a finite number, got 'x'"),
    ],
)
def test_other_memories_are_refused(memory, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        type("Odd", (lr.Policy,), {"Memory": memory})

"""LB-SDA and LDS-SDA against a game that is written round by round."""

from fractions import Fraction
from itertools import accumulate
from math import ceil, log, sqrt

import numpy as np
import pytest

import lowregret as lr
from lowregret.engine.kernels.state import add_exactly
from lowregret.online import snapshot
from lowregret.policies.subsampling import DuelRound, leading_arm


def naive(policy, rewards, horizon):
    """Play in rounds, the arms of a round in the order of their last pulls."""
    seen, path = [[x[0]] for x in rewards], list(range(len(rewards)))
    leader, number = None, 1

    def pull(arm):
        seen[arm].append(rewards[arm][len(seen[arm])])
        path.append(arm)

    def rank(arm):
        return len(seen[arm]), sum(seen[arm]), arm == leader, -arm

    while len(path) < horizon:
        leader = max(range(len(rewards)), key=rank)
        winners = []
        for arm, x in enumerate(seen):
            spare = len(seen[leader]) - len(x)
            if spare > 0:
                start, forced = spare, sqrt(log(number))
                if isinstance(policy, lr.LDSSDA):
                    digits = f"{number:b}"[::-1]
                    start, forced = ceil(Fraction(int(digits, 2), 2 ** len(digits)) * spare), 0
                block = seen[leader][start : start + len(x)]
                if len(x) <= forced or np.mean(x) >= np.mean(block):
                    winners.append(arm)
        last = {arm: max(t for t, each in enumerate(path) if each == arm) for arm in winners}
        for arm in sorted(winners, key=last.get) or [leader]:
            pull(arm)
        number += 1
    return path[:horizon]


@pytest.mark.parametrize("arms", [1, 2, 3, 6])
@pytest.mark.parametrize(
    ("policy", "engine"),
    [(lr.LBSDA(), "compiled"), (lr.LBSDA(), "reference"), (lr.LDSSDA(), "reference")],
)
def test_choices_are_those_of_the_rounds(arms, policy, engine):
    draws = np.random.RandomState(arms)
    rewards = draws.random_sample((arms, 400)) + draws.random_sample((arms, 1)) / 4  # continuous: no ties
    found = lr.trace(policy, rewards, horizon=400, engine=engine).arm.tolist()
    assert found == naive(policy, rewards, 400)


def test_equal_rewards_are_shared_out():
    path = lr.trace(lr.LBSDA(), np.full((3, 90), 0.3), horizon=90).arm
    assert np.bincount(path).tolist() == [30, 30, 30]


class Summed(lr.LBSDA):
    """LBSDA without totals: it adds up the rewards of a block, as the paper does."""

    uses_totals = False

    def next_round(self, arms, clock, round):
        number, place = round.number + 1, leading_arm(arms, clock, round.leader)
        leader, winners = arms.at(place), 0
        for i in range(clock.arms):
            rewards, won = arms.at(i).rewards, False
            spare = len(leader.rewards) - len(rewards)
            if spare > 0:
                own = latest = 0.0
                for k in range(len(rewards)):
                    own += rewards[k]
                    latest += leader.rewards[spare + k]
                n = len(rewards)
                won = n <= self.forced_pulls(number) or own / n >= latest / n
            if won:
                arms.reactivate(i)
                winners += 1
            else:
                arms.eliminate(i)
        if winners == 0:
            arms.reactivate(place)
            winners = 1
        return DuelRound(number, clock.t + winners, leader.number)


@pytest.mark.parametrize(
    "bandit",
    [
        lr.bernoulli([0.3, 0.4, 0.45]),
        lr.poisson([3.0, 3.2]),
        lr.empirical([[0, 1, -4], [0, 1, 1, 0.5]]),
        lr.gaussian([2**52, 0.5], 4.0),
    ],
)
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_totals_change_no_choice(bandit, engine):
    for seed in range(2):
        paths = (lr.trace(policy(), bandit, 600, seed=seed, engine=engine) for policy in (lr.LBSDA, Summed))
        fast, plain = (path.arm.tolist() for path in paths)
        assert fast == plain


def test_a_total_is_exact_or_nan():
    totals = [*accumulate([1.0, -3.0, 2.0**51, 2.0**51, 0.5, 1.0], add_exactly, initial=0.0)]
    assert totals[1:4] == [1, -2, 2**51 - 2]
    assert np.isnan(totals[5:]).all()
    for x in (0.5, np.inf, -np.inf, np.nan, 2.0**52):
        assert np.isnan(add_exactly(0.0, x))
    assert np.isnan(add_exactly(2.0**51, 2.0**51))


def test_an_agent_continues_with_the_totals_of_its_rewards_and_its_prior():
    prior = {"a": (0.5, 4), "b": (0.25, 8)}
    draws = np.random.RandomState(0)
    agents = [lr.Agent(policy(), ["a", "b"], seed=1, prior=prior) for policy in (lr.LBSDA, Summed)]
    for step in range(300):
        choices = [agent.ask() for agent in agents]
        assert choices[0].arm == choices[1].arm
        reward = float(draws.random_sample() < {"a": 0.4, "b": 0.6}[choices[0].arm])
        for agent, choice in zip(agents, choices, strict=True):
            agent.tell(choice, reward)
        if step % 70 == 13:
            agents[0] = lr.Agent.from_json(agents[0].to_json(), lr.LBSDA())
    state = snapshot.read(agents[0].to_json(), lr.LBSDA())
    for row in state.rows:
        rewards = state.rewards[row["number"], : row["prior"] + row["pulls"]]
        assert rewards[:, 1].tolist() == np.cumsum(rewards[:, 0]).tolist()


def test_totals_beside_times_are_refused():
    with pytest.raises(lr.InputError, match="uses_times and uses_totals: a policy has one of them"):
        type("Odd", (lr.Policy,), {"uses_rewards": True, "uses_times": True, "uses_totals": True})
    with pytest.raises(lr.InputError, match="uses_totals needs uses_rewards = True"):
        type("Odd", (lr.Policy,), {"uses_totals": True})

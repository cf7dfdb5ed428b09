"""Policies that combine what ours do not: compiled, they play as the reference does."""

from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np
import pytest

import lowregret as lr
from lowregret.engine import start
from lowregret.errors import InputError
from lowregret.policies import annotations


class Round(NamedTuple):
    number: int
    until: int


class Flags(NamedTuple):
    won: bool = False
    before: bool = False


class LowerBound(lr.Policy):
    index_trend = "increasing"

    def score(self, arm, clock):
        return arm.mean + 0.4 * sqrt(log(clock.t + 1) / arm.pulls)

    def lower_bound(self, arm, clock, round):
        return arm.mean - 0.2 / sqrt(arm.pulls)


class LowerBoundOfPulls(lr.Policy):
    round_robin = True

    def lower_bound(self, arm, clock, round):
        return -5.0


class UntilFloat(NamedTuple):
    number: int
    until: float


class RoundsByBest(lr.Policy):
    """With the best mean, and rounds that end at a number that is not whole."""

    round_robin = True
    uses_best = True

    def first_round(self, clock):
        return UntilFloat(0, 8.5)

    def next_round(self, arms, clock, round):
        for i in range(clock.arms):
            if arms.active(i) and arms.at(i).mean < clock.best - 0.3:
                arms.eliminate(i)
        return UntilFloat(round.number + 1, round.until * 1.5)


class Posterior(NamedTuple):
    alpha: float = 1.0
    beta: float = 1.0


class RemembersBeta(lr.Policy):
    """With a field that has the name of a method of random numbers."""

    Memory = Posterior
    warmup = 0

    def update_memory(self, arm, reward, clock):
        return Posterior(arm.memory.alpha + reward, arm.memory.beta + 1.0 - reward)

    def score(self, arm, clock):
        return arm.memory.alpha / (arm.memory.alpha + arm.memory.beta)


class OwnRow(lr.Policy):
    index_trend = "constant"
    uses_arms = True

    def score(self, arm, clock):
        pulls = 0
        for i in range(clock.arms):
            if arm.arms.at(i).number == arm.number:
                pulls = arm.arms.at(i).pulls
        return arm.mean + 1.0 / sqrt(pulls)


class UndefinedInWarmup(lr.Policy):
    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")
    separable_width = True

    def score(self, arm, clock):
        if clock.t < clock.arms:
            raise ValueError("a score in the warm-up")
        return arm.mean + sqrt(log(clock.t) / arm.pulls)


class JoinLater(lr.Policy):
    index_trend = "constant"
    eliminates_permanently = False

    def initially_active(self, number):
        return number != 1

    def first_round(self, clock):
        return Round(0, 12)

    def next_round(self, arms, clock, round):
        for i in range(clock.arms):
            arms.reactivate(i)
        return Round(round.number + 1, round.until + 12)

    def score(self, arm, clock, round):
        return arm.mean if arm.pulls > 0 else -1.0


class BestBeforeAnyPull(lr.Policy):
    negative: bool = False
    warmup = 0
    uses_best = True
    index_trend = "constant"

    def score(self, arm, clock):
        if self.negative:
            return -clock.best if arm.pulls == 0 else 4.0 / arm.pulls
        return min(-clock.best, float(arm.number)) if arm.pulls == 0 else -100.0 * arm.pulls


class SumOfFlags(lr.Policy):
    difference: bool = False
    Memory = Flags

    def update_memory(self, arm, reward, clock):
        return Flags(reward > 0.5, arm.memory.won)

    def score(self, arm, clock):
        if self.difference:
            return arm.memory.won - arm.memory.before + 1.0 / arm.pulls
        return arm.mean + 0.3 * (arm.memory.won + arm.memory.before)


class Places(lr.Policy):
    method: int = 0
    place: int = 0
    Memory = Flags

    def first_round(self, clock):
        return Round(0, 4)

    def next_round(self, arms, clock, round):
        if self.method == 0:
            arms.eliminate(self.place)
        elif self.method == 1:
            arms.reactivate(self.place)
        elif self.method == 2:
            arms.reset(self.place)
        elif self.method == 3:
            arms.set_memory(self.place, Flags(True, False))
        elif self.method == 4 and not arms.active(self.place):
            return Round(7, 8)
        elif self.method == 5 and arms.at(self.place).mean > 1.0:
            return Round(8, 8)
        return Round(round.number + 1, 9)

    def score(self, arm, clock, round):
        return arm.mean + arm.memory.won


class NoMemory(SumOfFlags):
    def update_memory(self, arm, reward, clock):
        pass


class OtherRound(JoinLater):
    def next_round(self, arms, clock, round):
        return Round(1, 20.5)


class OneNumber(lr.Policy):
    def normal_posterior(self, arm):
        return arm.mean


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (NoMemory, r"update_memory \(.*\) must return a Memory, and returns none"),
        (OtherRound, r"next_round \(.*\) must return a round as first_round does, Round\(int64 x 2\), and"),
        (
            OneNumber,
            r"normal_posterior \(.*\) must return a mean and a standard deviation, and returns float64",
        ),
    ],
)
def test_errors_are_one_sentence(kind, message):
    with pytest.raises(lr.InputError, match=message) as caught:
        lr.trace(kind(), [[1.0] * 9, [0.0] * 9], 9)
    assert "\n" not in str(caught.value)


ODD = (
    LowerBound(),
    LowerBoundOfPulls(),
    RoundsByBest(),
    JoinLater(),
    BestBeforeAnyPull(),
    BestBeforeAnyPull(negative=True),
    SumOfFlags(),
    SumOfFlags(difference=True),
    OwnRow(),
    UndefinedInWarmup(),
)


@pytest.mark.parametrize("policy", ODD, ids=str)
@pytest.mark.parametrize("shift", [0.0, -5.0])
def test_every_step_is_that_of_the_reference(policy, shift):
    rewards = np.random.default_rng(1).random((4, 60)).round() + np.arange(4)[:, None] / 10 + shift
    compiled, reference = (lr.trace(policy, rewards, 60, engine=each) for each in ("compiled", "reference"))
    assert compiled.arm.tolist() == reference.arm.tolist()
    if reference.active is not None:
        assert compiled.active.tolist() == reference.active.tolist()
        assert compiled.round.tolist() == reference.round.tolist()


@pytest.mark.parametrize("method", range(6))
def test_a_place_beyond_the_arms_is_an_error(method):
    rewards = [[0.0] * 9, [0.5] * 9, [1.0] * 9]
    for place in (2, -3):
        paths = [
            lr.trace(Places(method, place), rewards, 9, engine=each) for each in ("compiled", "reference")
        ]
        assert paths[0].arm.tolist() == paths[1].arm.tolist()
    for place in (3, 99, -4, 2**40):
        policy = Places(method, place)
        with pytest.raises(lr.InputError) as caught:
            lr.trace(policy, rewards, 9)
        assert str(caught.value) == f"{policy}: no arm is in place {place}: use range(clock.arms)"
        with pytest.raises(IndexError, match=f"index {place} is out of bounds"):
            lr.trace(policy, rewards, 9, engine="reference")


def one_of(rewards, k):
    return rewards[k]


class RewardAhead(lr.Policy):
    """Looks at the latest reward, or at one beyond it."""

    uses_rewards = True
    ahead: int = 0

    def score(self, arm, clock):
        return arm.mean + one_of(arm.rewards, len(arm.rewards) - 1 + self.ahead)


def test_an_index_beyond_the_rewards_is_an_error():
    rewards = [[0.0, 1.0] * 5, [0.5] * 9]
    paths = [lr.trace(RewardAhead(), rewards, 9, engine=each) for each in ("compiled", "reference")]
    assert paths[0].arm.tolist() == paths[1].arm.tolist()
    for ahead in (1, 99, -99, 2**40):
        with pytest.raises(lr.InputError, match="beyond the end of an array: for arm.rewards use range"):
            lr.trace(RewardAhead(ahead), rewards, 9)
        with pytest.raises(IndexError, match="is out of bounds"):
            lr.trace(RewardAhead(ahead), rewards, 9, engine="reference")


class Reciprocal(lr.Policy):
    """Divides by 0 while the rewards of an arm are equal."""

    def score(self, arm, clock):
        return arm.mean + 0.01 / arm.variance

    def transform_reward(self, reward, rng):
        return reward + 0.5 * rng.uniform()


class Written(Reciprocal):
    """The same without a division by 0."""

    def score(self, arm, clock):
        return arm.mean + 0.01 / arm.variance if arm.variance > 0.0 else inf


def test_a_division_by_0_is_infinity_in_the_reference_engine_too():
    """From the beginning of the run: what a first attempt has drawn does not count."""
    rewards = np.random.default_rng(1).random((3, 40)).round()
    paths = [
        lr.trace(policy, rewards, 40, engine="reference").arm.tolist() for policy in (Reciprocal(), Written())
    ]
    assert paths[0] == paths[1]
    assert paths[0] == lr.trace(Reciprocal(), rewards, 40).arm.tolist()


def test_the_methods_of_a_class_are_read_once(monkeypatch):
    """A call of ``simulate`` costs less than a millisecond: reading signatures took a third of that."""
    runs = [lr.trace(lr.UCB1(), "bernoulli:0.4,0.6", 5, engine="reference")]
    monkeypatch.setattr(start, "signature", None)
    monkeypatch.setattr(annotations, "get_type_hints", None)
    runs.append(lr.trace(lr.UCB1(alpha=2), "bernoulli:0.4,0.6", 5, engine="reference"))
    assert (runs[0].arm == runs[1].arm).all()


def test_a_method_that_is_replaced_is_read_again(monkeypatch):
    lr.trace(lr.UCBV(), "bernoulli:0.4,0.6", 5, engine="reference")
    monkeypatch.setattr(lr.UCBV, "score", lambda self, arm: arm.mean)
    with pytest.raises(lr.InputError, match="write score"):
        lr.trace(lr.UCBV(), "bernoulli:0.4,0.6", 5, engine="reference")


def test_a_field_with_the_name_of_a_method_is_named():
    with pytest.raises(InputError, match=r"RemembersBeta: Posterior\.beta: .*so rename the field"):
        lr.simulate(RemembersBeta(), "bernoulli:0.4,0.5", horizon=10, runs=1)

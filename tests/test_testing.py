"""The conformance suite: ours pass, and a policy that breaks a rule is named."""

import pytest

import lowregret as lr
from lowregret.policies import POLICIES

ONES = [kind(0) if kind is lr.FixedArm else kind() for kind in POLICIES.values()]
OTHERS = [
    lr.EUCBV(width="released"),
    lr.EUCBV(rho=0.1, psi=5.0),
    lr.KLUCB(c=3.0),
    lr.KLUCBGauss(plus=True),
    lr.DMED(genuine=False),
    lr.BayesUCBBeta(c=1.0),
    lr.CCB(r="log"),
    lr.CCB(r="linear"),
    lr.MedianElimination(epsilon=1.0),
    lr.MOSSV(anytime=True),
    lr.KLUCBSwitch(exponent=8 / 9),
    lr.TsallisINF(reduced_variance=True),
    lr.EmpiricalKLUCB(c=1.0),
]


@pytest.mark.parametrize("policy", ONES + OTHERS, ids=str)
def test_our_policies_conform(policy):
    lr.testing.check_policy(policy)


class LooksAtTheNumber(lr.Policy):
    def score(self, arm, clock):
        return arm.mean + 0.001 * arm.number


class Worst(lr.Policy):
    def score(self, arm, clock):
        return -arm.mean


class SaysStillButMoves(lr.Policy):
    index_trend = "constant"

    def score(self, arm, clock):
        return arm.mean * ((clock.t * 7) % 5 - 2)


class LowerBoundMoves(lr.Policy):
    index_trend = "constant"

    def score(self, arm, clock):
        return arm.mean + 1.0 / arm.pulls

    def lower_bound(self, arm, clock, round):
        return arm.mean - 1.0 / clock.t


class SaysIncreasingButMoves(lr.Policy):
    index_trend = "increasing"

    def score(self, arm, clock):
        return arm.mean * ((clock.t * 7) % 5 - 2)


class SaysMeanButUsesVariance(lr.Policy):
    index_depends_on = ("pulls", "mean")

    def score(self, arm, clock):
        return arm.mean + arm.variance


class DecreasesWithVariance(lr.Policy):
    index_depends_on = ("pulls", "mean", "variance")

    def score(self, arm, clock):
        return arm.mean - arm.variance


class DecreasesWithMean(lr.Policy):
    index_depends_on = ("pulls", "mean")

    def score(self, arm, clock):
        return abs(arm.mean - 0.5)


class HasNumber(lr.Policy):
    index_depends_on = ("pulls", "mean")

    def score(self, arm, clock):
        return arm.mean + 0.001 * arm.number


class NoProduct(lr.Policy):
    index_depends_on = ("pulls", "mean")
    separable_width = True

    def score(self, arm, clock):
        return arm.mean + (clock.t / arm.pulls) ** 0.5 + 1.0


class NoSum(NoProduct):
    index_depends_on = ("pulls", "mean")
    separable_width = True

    def score(self, arm, clock):
        return 2.0 * arm.mean + clock.t / arm.pulls


class DividesByPulls(lr.Policy):
    warmup = 0

    def score(self, arm, clock):
        return arm.mean + 1.0 / arm.pulls


class Unchecked(lr.Policy):
    width: float = 1.0

    def __post_init__(self):
        pass

    def score(self, arm, clock):
        return arm.mean


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (LooksAtTheNumber(), "Permuting the arms permutes the pulls: it looks at arm.number"),
        (Worst(), "regret is below that of uniform play on an easy bandit"),
        (
            SaysStillButMoves(),
            'Scores and lower bounds do not depend on time, .*"constant" says: the score of',
        ),
        (LowerBoundMoves(), "Scores and lower bounds do not depend on time, .*: the lower bound of"),
        (SaysIncreasingButMoves(), "Compiled, it pulls the same arms as plain: they differ at step"),
        (SaysMeanButUsesVariance(), "Scores depend on what .* says.*: it depends on arm.variance"),
        (DecreasesWithVariance(), "Scores depend on what .* says.*: it decreases with the variance"),
        (DecreasesWithMean(), "Scores depend on what .* says.*: it decreases with the mean"),
        (HasNumber(), "Scores depend on what .* says.*: it depends on arm.number"),
        (NoProduct(), "Widths are .*: the width is no such product"),
        (NoSum(), "Widths are .*: the score is not the mean and a width"),
        (DividesByPulls(), "ZeroDivisionError"),
        (Unchecked(), "Parameters are immutable and validated: width=nan is accepted"),
    ],
    ids=str,
)
def test_a_policy_that_breaks_a_rule_is_named(policy, message):
    with pytest.raises(AssertionError, match=message):
        lr.testing.check_policy(policy)


def test_a_class_or_another_object_is_no_policy():
    with pytest.raises(lr.InputError, match=r"^UCB1 is a class: write UCB1\(\)$"):
        lr.testing.check_policy(lr.UCB1)
    with pytest.raises(lr.InputError, match="a policy must be a Policy or its name, got 5"):
        lr.testing.check_policy(5)

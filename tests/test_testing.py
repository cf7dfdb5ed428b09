"""The conformance suite: ours pass, and a policy that breaks a rule is named."""

import pytest

import lowregret as lr
from lowregret import testing
from lowregret.engine.kernels.lazy import separable_index, time_varying_index
from lowregret.engine.kernels.lazy.leaves import groups_for
from lowregret.engine.kernels.modes import select_mode
from lowregret.engine.kernels.posteriors import MIN_BETA_ARMS, MIN_NORMAL_ARMS
from lowregret.engine.kernels.state import rows_of
from lowregret.engine.problem import Problem
from lowregret.policies import POLICIES

ONES = [kind(0) if kind is lr.FixedArm else kind() for kind in POLICIES.values()]
OTHERS = [
    lr.EUCBV(width="released"),
    lr.KLUCB(c=3.0),
    lr.KLUCBGauss(plus=True),
    lr.DMED(genuine=False),
    lr.BayesUCBBetaHorizon(c=1.0),
    lr.CCB(r="log"),
    lr.CCB(r="linear"),
    lr.MedianElimination(epsilon=1.0),
    lr.TsallisINF(reduced_variance=True),
]


GROUPED = (lr.UCB1, lr.UCBV, lr.KLUCBPlus, lr.IMED)
"""Of the classes with ``index_depends_on`` those that tests of the engine play with groups of arms."""


SLOW = pytest.param(lr.EmpiricalKLUCB(c=1.0), marks=pytest.mark.heavy)
LONG_STEPS = (
    lr.AdaUCB,
    lr.EmpiricalKLUCB,
    lr.GLRKLUCB,
    lr.TopTwoThompson,
    lr.TopTwoThompsonGauss,
    lr.TsallisINF,
)
"""Classes that take seconds for ``test_beats_uniform``; their recorded outcomes pin their regret."""


def policy_tests(policy):
    tests = lr.testing.PolicyTests()
    tests.policy = policy
    return tests


@pytest.mark.parametrize("policy", [*ONES, *OTHERS, SLOW], ids=str)
def test_our_policies_conform(policy, monkeypatch):
    """Groups of arms are another entry point to compile; that of all classes is compared in `make verify`."""
    if policy.index_depends_on and type(policy) not in GROUPED:
        monkeypatch.setattr(testing, "_large_problems", lambda policy: [])
    if isinstance(policy, LONG_STEPS):
        monkeypatch.delattr(lr.testing.PolicyTests, "test_beats_uniform")
    lr.testing.check_policy(policy)


@pytest.mark.heavy
@pytest.mark.parametrize("policy", [each for each in ONES + OTHERS if isinstance(each, LONG_STEPS)], ids=str)
def test_policies_with_long_steps_beat_uniform_play(policy):
    policy_tests(policy).test_beats_uniform()


@pytest.mark.heavy
@pytest.mark.parametrize("policy", [each for each in ONES + OTHERS if each.index_depends_on], ids=str)
def test_our_policies_conform_with_many_arms(policy):
    policy_tests(policy).test_compiled_equals_plain()


def test_the_problems_reach_every_shortcut_that_a_class_selects():
    """Groups of arms and thresholds are used with many arms only."""
    reached = {
        str(policy): [len(bandit) for bandit, *_ in testing._large_problems(policy)]
        for policy in (lr.UCB1(), lr.UCBV(), lr.ThompsonGauss(), lr.ThompsonBeta(), lr.MOSS())
    }
    assert reached["MOSS"] == []
    assert min(reached["ThompsonGauss"]) >= MIN_NORMAL_ARMS and min(reached["ThompsonBeta"]) >= MIN_BETA_ARMS
    for policy in (lr.UCB1(), lr.UCBV()):
        few, *more = reached[str(policy)]
        assert groups_for(policy, rows_of(lr.bernoulli([0.5] * few))) is not None
        modes = {select_mode(Problem(policy, lr.bernoulli([0.5] * arms), 1_000)) for arms in (2, *more)}
        assert modes == ({separable_index, time_varying_index} if more else {time_varying_index})


class LooksAtTheNumber(lr.Policy):
    def score(self, arm, clock):
        return arm.mean + 0.001 * arm.number


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


class SaysRoundsKeepArms(lr.UCBImproved):
    rounds_eliminate = False


class Unchecked(lr.Policy):
    width: float = 1.0

    def __post_init__(self):
        pass

    def score(self, arm, clock):
        return arm.mean


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            SaysStillButMoves(),
            'Scores and lower bounds do not depend on time, .*"constant" says: the score of',
        ),
        (LowerBoundMoves(), "Scores and lower bounds do not depend on time, .*: the lower bound of"),
        (SaysIncreasingButMoves(), "index_trend = 'increasing' is false: the score of"),
        (SaysMeanButUsesVariance(), "Scores depend on what .* says.*: it depends on arm.variance"),
        (DecreasesWithVariance(), "Scores depend on what .* says.*: it decreases with the variance"),
        (DecreasesWithMean(), "Scores depend on what .* says.*: it decreases with the mean"),
        (HasNumber(), "Scores depend on what .* says.*: it depends on arm.number"),
        (NoProduct(), "Widths are .*: the width is no such product"),
        (NoSum(), "Widths are .*: the score is not the mean and a width"),
        (SaysRoundsKeepArms(), "No round eliminates an arm, .*: an arm is eliminated at step"),
        (Unchecked(), "Parameters are immutable and validated: width=nan is accepted"),
    ],
    ids=str,
)
def test_a_policy_that_breaks_a_rule_is_named(policy, message):
    with pytest.raises(AssertionError, match=message):
        lr.testing.check_policy(policy)


class TestRoundRobin(lr.testing.PolicyTests):
    """What an author of a policy writes."""

    policy = lr.RoundRobin()


@pytest.mark.parametrize(
    ("policy", "name", "message"),
    [
        (LooksAtTheNumber(), "test_numbers_do_not_matter", "it looks at arm.number"),
        (lr.EpsilonGreedy(epsilon=1.0), "test_beats_uniform", "and uniform play has"),
    ],
    ids=["numbers", "regret"],
)
def test_a_policy_that_breaks_one_of_the_last_rules_is_named(policy, name, message):
    """By that test alone, since those before it would compile the class."""
    with pytest.raises(AssertionError, match=message):
        getattr(policy_tests(policy), name)()


def test_a_class_or_another_object_is_no_policy():
    with pytest.raises(lr.InputError, match=r"^UCB1 is a class: write UCB1\(\)$"):
        lr.testing.check_policy(lr.UCB1)
    with pytest.raises(lr.InputError, match="a policy must be a Policy or its name, got 5"):
        lr.testing.check_policy(5)

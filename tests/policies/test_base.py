"""Parameters, names and attributes of a class."""

from typing import Annotated, Literal, Optional

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lowregret as lr
from lowregret.errors import InputError
from lowregret.policies import POLICIES, Policy
from lowregret.policies.policy_string import policy as read


class Plain(Policy):
    count: int = 3
    width: float = 1.0
    label: str = "x"
    on: bool = True

    def validate(self):
        self.require("count", "positive", self.count > 0)

    def score(self, arm, clock):
        return self.half(arm.mean)

    def half(self, value):
        return value / 2.0


class Typed(Policy):
    """Parameters whose annotations are not single types."""

    level: Optional[float] = None  # noqa: UP045
    count: Annotated[int, "of arms"] | None = 2
    mode: Literal["a", "b"] = "a"

    def score(self, arm, clock):
        return arm.mean


def test_none_is_allowed_where_the_annotation_says_so():
    assert Typed(level=None, count=None).level is None
    assert Typed(level=2).level == 2.0


def test_a_policy_is_immutable_comparable_and_printable():
    policy = Plain(width=2)
    assert policy.width == 2.0
    assert isinstance(policy.width, float)
    with pytest.raises(AttributeError):
        policy.width = 3.0
    assert policy == Plain(width=2.0)
    assert hash(policy) == hash(Plain(width=2.0))
    assert policy != Plain()
    assert str(policy) == "Plain(width=2)"
    assert str(Plain()) == "Plain"
    assert str(lr.EUCBV(psi=2.5, width="released")) == "EUCBV(psi=2.5, width='released')"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Plain(count=0), "Plain: count must be positive, got 0"),
        (lambda: Plain(count=1.5), "Plain: count must be an integer, got 1.5"),
        (lambda: Plain(count=2**63), f"Plain: count must be an integer from -2^63 to 2^63 - 1, got {2**63}"),
        (lambda: Plain(count=True), "Plain: count must be an integer, got True"),
        (lambda: Plain(width="wide"), "Plain: width must be a finite number, got 'wide'"),
        (lambda: Plain(width=None), "Plain: width must be a finite number, got None"),
        (lambda: Plain(width=float("nan")), "Plain: width must be a finite number, got nan"),
        (lambda: lr.EUCBV(rho=-1), "EUCBV: rho must be positive, got -1"),
        (lambda: lr.EUCBV(rho=0), "EUCBV: rho must be positive, got 0"),
        (lambda: lr.EUCBV(psi=0), "EUCBV: psi must be between 0 and 1e250, got 0"),
        (lambda: lr.EUCBV(psi="1"), "EUCBV: psi must be a finite number, got '1'"),
        (lambda: Typed(level="x"), "Typed: level must be a finite number, got 'x'"),
        (lambda: Typed(count=1.5), "Typed: count must be an integer, got 1.5"),
        (lambda: Typed(mode="c"), "Typed: mode must be 'a' or 'b', got 'c'"),
        (lambda: lr.EUCBV(width="wide"), "EUCBV: width must be 'paper' or 'released', got 'wide'"),
        (lambda: lr.UCB1(alpha=10**400), "UCB1: alpha must be a finite number, got 1" + "0" * 400),
        (lambda: lr.EUCBV(psi=1e300), "EUCBV: psi must be between 0 and 1e250, got 1e+300"),
        (lambda: lr.UCB1(alpha=0), "UCB1: alpha must be positive, got 0"),
        (lambda: lr.FixedArm(-1), "FixedArm: arm must be 0 or more, got -1"),
    ],
)
def test_bad_parameters_are_refused_at_once(call, message):
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message


def test_numbers_of_numpy_are_numbers():
    assert lr.UCB1(alpha=np.float64(1.5)) == lr.UCB1(alpha=1.5)
    assert lr.FixedArm(np.int64(2)) == lr.FixedArm(2)
    assert lr.EUCBV(psi=np.int64(2)) == lr.EUCBV(psi=2.0)


def test_a_fixed_arm_must_exist():
    with pytest.raises(InputError, match=r"FixedArm: arm must be below the number of arms \(2\), got 2"):
        lr.simulate(lr.FixedArm(2), lr.bernoulli([0.1, 0.2]), 10)


@pytest.mark.parametrize("kind", POLICIES.values())
def test_every_policy_says_its_formula_and_source(kind):
    assert kind.__doc__.splitlines()[0].endswith(".")
    assert kind.source
    assert ">>> " in kind.__doc__


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"warmup": 1.5}, "Odd: warmup must be an integer of at least 0, got 1.5"),
        ({"warmup": -1}, "Odd: warmup must be an integer of at least 0, got -1"),
        ({"eliminates_permanently": 1}, "Odd: eliminates_permanently must be True or False, got 1"),
        (
            {"list_index": lambda: 0, "score": lambda: 0},
            "Odd: a policy has one of score and list_index, not both",
        ),
        (
            {"normal_posterior": lambda: 0, "next_round": lambda: 0},
            "Odd: a policy with normal_posterior has no next_round",
        ),
        (
            {"__annotations__": {"sample": float}},
            "Odd: a parameter cannot be called sample: that is a method",
        ),
    ],
)
def test_facts_the_engine_cannot_work_with_are_refused(facts, message):
    with pytest.raises(InputError, match=message):
        type("Odd", (Policy,), facts)


@given(st.floats(1e-300, 1e300))
def test_a_name_keeps_every_digit(alpha):
    assert read(str(lr.UCB1(alpha))) == lr.UCB1(alpha)


def test_the_base_itself_is_no_policy():
    with pytest.raises(InputError, match="Policy is the base class of policies"):
        Policy()


def test_an_unknown_way_to_move_is_refused():
    with pytest.raises(InputError, match="Odd: index_trend must be one of 'constant', .*, got 'sideways'"):

        class Odd(Policy):
            index_trend = "sideways"


def test_what_an_index_depends_on_is_validated():
    with pytest.raises(InputError, match=r"Odd: index_depends_on must be one of \(\), .*, got 'mean'"):

        class Odd(Policy):
            index_depends_on = "mean"

    with pytest.raises(
        InputError, match=r"Even: separable_width needs index_depends_on = \('pulls', 'mean'\)"
    ):

        class Even(Policy):
            separable_width = True


def test_a_class_with_another_score_promises_nothing_about_it():
    class Same(lr.UCB1):
        alpha: float = 3.0

    class Other(lr.UCB1):
        def score(self, arm, clock):
            return arm.number

    assert (Same.index_depends_on, Same.separable_width) == (("pulls", "mean"), True)
    assert (Other.index_depends_on, Other.separable_width) == ((), False)


def test_a_policy_without_a_score_is_told_what_to_define():
    class Empty(Policy):
        pass

    with pytest.raises(InputError, match=r"Empty: define score\(self, arm, clock\), sample"):
        lr.simulate(Empty(), lr.bernoulli([0.5]), 10)


def test_what_cannot_be_compiled_is_one_sentence():
    class Wordy(Policy):
        label: str = "x"

        def score(self, arm, clock):
            return arm.mean + len(self.label)

    with pytest.raises(InputError, match="Wordy: Numba cannot compile score .*: it reads label") as caught:
        lr.simulate(Wordy(), lr.bernoulli([0.5, 0.4]), 10)
    assert "\n" not in str(caught.value)

"""Mistakes in a policy or a sampler of one's own: one sentence, before anything is compiled."""

import random
from random import gauss
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from numpy.random import default_rng

import lowregret as lr

GENERATOR = default_rng(1)
BANDIT = lr.bernoulli([0.2, 0.8])


class Count(NamedTuple):
    total: int = 0


def at(function, more):
    """Return how a message names a line of a function of this file."""
    return f"{function.__name__} (test_mistakes.py, line {function.__code__.co_firstlineno + more})"


def refused(call, *arguments, **named):
    with pytest.raises(lr.InputError) as caught:
        call(*arguments, **named)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


def score(self, arm, clock):
    return arm.mean


def own_init(self, width):
    self.width = width


def sets(self, arm, clock):
    self.last = arm.mean
    return self.last


def counts(self, arm, clock):
    best = arm.mean
    self.count += 1
    return best + self.count


CHANGING = "; a policy never changes: what changes is the Memory of an arm, or a round"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"__init__": own_init},
            at(own_init, 1) + " sets self.width; declare parameters in the class, as in width: float = 1.0",
        ),
        ({"score": sets}, at(sets, 1) + " sets self.last" + CHANGING),
        ({"score": counts}, at(counts, 2) + " sets self.count" + CHANGING),
        (
            {"weights": [1.0], "__annotations__": {"weights": list}},
            "weights is a list: declare numbers; keep a table in a tuple elsewhere",
        ),
        ({"index_trand": "increasing"}, "unknown attribute 'index_trand': did you mean 'index_trend'?"),
        (
            {"uses_arm": True, "__annotations__": {"uses_arm": ClassVar[bool]}},
            "unknown attribute 'uses_arm': did you mean 'uses_arms'?",
        ),
        ({"memory": Count}, "unknown attribute 'memory': did you mean 'Memory'?"),
        ({"lower_bond": score}, "unknown attribute 'lower_bond': did you mean 'lower_bound'?"),
        ({"scores": score, "score": None}, "unknown attribute 'scores': did you mean 'score'?"),
    ],
)
def test_a_class_that_cannot_work_is_refused(members, message):
    members = {name: value for name, value in {"score": score, **members}.items() if value is not None}
    assert refused(type, "Odd", (lr.Policy,), members) == f"Odd: {message}"


def test_names_of_ones_own_are_no_misspellings():
    members = {"scores": score, "samples": score, "learn": score, "level": 2.0, "_warmup": 3}
    kind = type(
        "Own", (lr.Policy,), {"score": score, "__annotations__": {"warm_up": int}, "warm_up": 1} | members
    )
    assert kind(warm_up=2).warm_up == 2


def test_an_own_init_that_calls_the_inherited_one_works():
    class Wide(lr.UCB1):
        def __init__(self, factor):
            super().__init__(alpha=2 * factor)

    assert Wide(factor=3).alpha == 6.0


def test_an_unknown_parameter_is_named():
    assert refused(lr.EUCBV, roh=1) == "EUCBV: unknown parameter 'roh': did you mean 'rho'?"
    assert (
        refused(lr.simulate, "EUCBV(roh=1)", BANDIT, horizon=9)
        == "EUCBV: unknown parameter 'roh': did you mean 'rho'?"
    )
    assert refused(lr.EUCBV, c=1) == "EUCBV: unknown parameter 'c': it takes rho, psi, width"
    assert refused(lr.MOSS, c=1) == "MOSS: unknown parameter 'c': it takes none"


def noise():
    return np.random.normal()


def from_helper(self, arm, clock):
    return arm.mean + noise()


def from_module(self, arm, clock):
    return arm.mean + random.random()


def from_name(self, arm, clock):
    return sum([arm.mean, *(gauss(0, 1) for _ in range(2))])


def from_generator(self, arm, clock):
    return GENERATOR.normal() * arm.mean


def from_new_generator(self, arm, clock):
    return default_rng().normal()


def imported(self, arm, clock):
    import random

    return random.random()


def closed():
    hidden = default_rng(2)

    def from_closure(self, arm, clock):
        return hidden.normal()

    return from_closure


@pytest.mark.parametrize(
    ("method", "place"),
    [
        (from_helper, at(noise, 1) + " draws from np.random"),
        (from_module, at(from_module, 1) + " draws from random"),
        (from_name, at(from_name, 1) + " draws from gauss"),
        (from_generator, at(from_generator, 1) + " draws from GENERATOR"),
        (from_new_generator, at(from_new_generator, 1) + " draws from default_rng"),
        (imported, at(imported, 1) + " draws from random"),
        (closed(), at(closed(), 1) + " draws from hidden"),
    ],
)
def test_random_numbers_that_the_seed_does_not_determine_are_refused(method, place):
    policy = type(
        "Odd", (lr.Policy,), {"score": lambda self, arm, clock: self.inner(arm, clock), "inner": method}
    )()
    message = (
        f"Odd: {place}, which the seed does not determine: draw from the rng of sample(self, arm, clock, rng)"
    )
    for engine in ("compiled", "reference"):
        assert refused(lr.simulate, policy, BANDIT, horizon=9, engine=engine) == message
    assert refused(lr.Agent, policy, ["a", "b"]) == message


def test_random_parameters_and_names_of_modules_are_no_draws():
    class Fine(lr.Policy):
        random: float = 0.5

        @classmethod
        def drawn(cls):
            return cls(np.random.random())

        def score(self, arm, clock):
            return np.sqrt(arm.mean) + self.random

    assert len(lr.trace(Fine.drawn(), BANDIT, horizon=9, engine="reference").arm) == 9


def test_a_function_that_is_defined_anew_is_looked_at_again(monkeypatch):
    kind = type("Odd", (lr.Policy,), {"score": from_helper})
    monkeypatch.setitem(globals(), "noise", lambda: 0.0)
    lr.trace(kind(), BANDIT, horizon=9, engine="reference")
    monkeypatch.undo()
    assert "draws from np.random" in refused(lr.trace, kind(), BANDIT, horizon=9, engine="reference")


def unseeded(rng):
    return np.random.random()


def no_number(rng):
    return rng.uniform() / 0.0 * 0.0


def test_a_sampler_draws_from_its_argument_and_returns_numbers():
    arms = [lr.Bandit((lr.Sampled(sample, 0.5, 0.1),), "own") for sample in (unseeded, no_number)]
    assert refused(lr.simulate, "UCB1", arms[0], horizon=9) == (
        f"sampled: {at(unseeded, 1)} draws from np.random, which the seed does not determine: "
        "draw from its argument rng"
    )
    for engine in ("compiled", "reference"):
        message = refused(lr.simulate, "UCB1", arms[1], horizon=9, engine=engine)
        assert message == "sampled: no_number returned nan for arm 0: return a number"


def test_a_negative_deviation_is_refused():
    class Negative(lr.Policy):
        def normal_posterior(self, arm):
            return arm.mean, 0.4 - arm.mean

    message = refused(lr.simulate, Negative(), BANDIT, horizon=9)
    assert message == "Negative: normal_posterior must return a deviation >= 0, got -0.1"


class Branch(lr.Policy):
    def score(self, arm, clock):
        if arm.pulls < 3:
            return 1.0


def test_a_branch_without_a_value_is_named():
    message = f"Branch: {at(Branch.score, 1)} returned None: return a value in every branch"
    assert refused(lr.trace, Branch(), BANDIT, horizon=9, engine="reference") == message
    agent = lr.Agent(Branch(), ["a", "b"])
    for _ in range(4):
        agent.tell(agent.ask(), 1)
    assert refused(agent.ask) == message

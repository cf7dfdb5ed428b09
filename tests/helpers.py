"""Policies of every form the protocol allows, for tests of the engine, and random bandits."""

from math import inf, log, sqrt
from typing import NamedTuple

from hypothesis import strategies as st

import lowregret as lr


class Greedy(lr.Policy):
    """The plainest index policy: ties are everywhere. Or with scores of plus and minus infinity."""

    infinite: bool = False
    index_trend = "constant"

    def score(self, arm, clock):
        if self.infinite and arm.pulls % 5 == 4:
            return -inf
        return inf if self.infinite and arm.pulls == 3 else arm.mean


class Falling(lr.Policy):
    """A score that falls with time, with two pulls of each arm first."""

    alpha: float = 3.0
    index_trend = "decreasing"
    warmup = 2

    def score(self, arm, clock):
        return arm.mean + sqrt(self.alpha * log(2.0 * clock.horizon / clock.t) / arm.pulls)


def posterior_deviation(pulls):
    """A plain function, called from a method: it must compile too."""
    return 1.0 / sqrt(pulls + 1.0)


class Sampler(lr.Policy):
    """Thompson sampling with a normal posterior, from the first step on."""

    warmup = 0

    def sample(self, arm, clock, rng):
        centre = arm.mean * arm.pulls / (arm.pulls + 1.0)
        return centre + posterior_deviation(arm.pulls) * rng.normal()


class Regretful(lr.Policy):
    """A score that falls as the best mean rises."""

    index_trend = "constant"
    uses_best = True

    def score(self, arm, clock):
        gap = clock.best - arm.mean
        return -arm.pulls * gap * gap - log(arm.pulls)


class Impatiently(Regretful):
    """One that rises with time as well."""

    index_trend = "increasing"
    warmup = 2

    def score(self, arm, clock):
        gap = clock.best - arm.mean
        return log(clock.t) / arm.pulls - gap


class Phase(NamedTuple):
    number: int
    until: int
    gap: float


class Phases(lr.Policy):
    """UCB-Improved in miniature: equal pulls in a round, arms dropped between rounds."""

    index_trend = "constant"

    def first_round(self, clock):
        return Phase(0, 4 * clock.arms, 1.0)

    def score(self, arm, clock, round):
        return -float(arm.pulls)

    def next_round(self, arms, clock, round):
        best = -1e300
        for i in range(clock.arms):
            if arms.active(i):
                best = max(best, arms.at(i).mean)
        for i in range(clock.arms):
            if arms.active(i) and arms.at(i).mean < best - round.gap / 2.0:
                arms.eliminate(i)
        return Phase(round.number + 1, clock.t + 4 * arms.count_active(), round.gap / 2.0)


class Lists(lr.Policy):
    """A list of arms that is written anew each time it has been played, so arms come back."""

    index_trend = "constant"
    eliminates_permanently = False

    def first_round(self, clock):
        return Phase(0, 2 * clock.arms, 0.0)

    def score(self, arm, clock, round):
        return -float(arm.pulls)

    def next_round(self, arms, clock, round):
        best = -1e300
        for i in range(clock.arms):
            best = max(best, arms.at(i).mean)
        for i in range(clock.arms):
            arm = arms.at(i)
            if arm.pulls * (best - arm.mean) ** 2 <= log(clock.t) / 4.0:
                arms.reactivate(i)
            else:
                arms.eliminate(i)
        return Phase(round.number + 1, clock.t + arms.count_active(), 0.0)


class Impatient(lr.EUCBV):
    """A class of the user's with another default; no test compiles it."""

    rho: float = 0.02


IMPATIENT = lr.EUCBV(rho=0.02)
"""EUCBV with a narrow interval, so that small problems eliminate many arms."""

POLICIES = [
    lr.EUCBV(),
    lr.EUCBV(width="released"),
    lr.EUCBV(rho=0.02, psi=3.0),
    IMPATIENT,
    lr.MOSS(),
    lr.UCB1(),
    lr.RoundRobin(),
    lr.FixedArm(0),
    Greedy(),
    Greedy(infinite=True),
    Falling(),
    Regretful(),
    Impatiently(),
    Sampler(),
    Phases(),
    Lists(),
]

_unit = st.floats(0.0, 1.0)
_shape = st.floats(0.05, 20.0)
_arm = st.one_of(
    st.builds(lambda p: lr.bernoulli([p]), _unit),
    st.builds(lambda p: lr.bernoulli([p]), st.sampled_from([0.0, 0.5, 1.0])),
    st.builds(lambda m, v: lr.gaussian([m], v), st.floats(-2.0, 2.0), st.sampled_from([0.0, 1e-4, 0.25])),
    st.builds(lambda a, b: lr.beta([a], b), _shape, _shape),
    st.builds(lambda m: lr.exponential([m]), st.floats(0.01, 5.0)),
    st.builds(lambda m: lr.poisson([m]), st.floats(0.0, 40.0)),
    st.builds(lambda low, width: lr.uniform([low], [low + width]), st.floats(-1.0, 1.0), _unit),
    st.builds(lambda values: lr.empirical([values]), st.lists(_unit, min_size=1, max_size=5)),
)


@st.composite
def bandits(draw, most=40):
    """Draw a bandit of up to ``most`` arms, of one family or mixed, some arms the same."""
    kinds = draw(st.lists(_arm, min_size=1, max_size=4))
    copies = draw(st.lists(st.integers(0, len(kinds) - 1), min_size=1, max_size=most))
    bandit = kinds[copies[0]]
    for copy in copies[1:]:
        bandit = bandit + kinds[copy]
    return bandit


SHARD_STEPS = 4_000
"""Shards of this many steps cut the small experiment of tests/experiments into 24."""


def fail_on(bad: str) -> str:
    """Fail on one worker of a Dask cluster; give the address of any other."""
    from distributed import get_worker

    if get_worker().address == bad:
        raise OSError("a bad machine")
    return get_worker().address

"""Late rewards and batches: the live agent, the plain engine and the compiled one make the same choices."""

from heapq import heappop, heappush

import numpy as np
import pytest
from engine_runs import PlainRun, compiled_trace, simulate
from helpers import IMPATIENT, POLICIES, Lists, Regretful, Sampler, bandits
from hypothesis import given, settings
from hypothesis import strategies as st

import lowregret as lr
from lowregret.environments.delays import DISTRIBUTIONS, ConstantDelay
from lowregret.policies import POLICIES as NAMED

OURS = [kind(0) if kind is lr.FixedArm else kind() for kind in NAMED.values()]
FORMS = [IMPATIENT, *(each for each in POLICIES if type(each).__name__ not in NAMED)]
SCANNED = [
    lr.EUCBV(),
    IMPATIENT,
    lr.UCB1(),
    lr.DMED(),
    lr.LBSDA(),
    lr.MedianElimination(0.9, 0.9),
    Sampler(),
    Regretful(),
    Lists(),
]
"""One policy of each form. With delayed rewards there is one mode, whatever an index depends on."""
BANDIT = lr.bernoulli([0.2, 0.35, 0.6])
RANDOM = "random, lost, in batches"
LATE = {
    "constant": ("7", 1),
    "batch": (0, 12),
    RANDOM: ("geometric(mean=9, lost=0.05)", 4),
    "by reward": ("by_reward(positive=2, other=25)", 1),
}
ZERO = lr.Delay.empirical([0, 0])
"""A delay of 0 that is not known to be 0, so that the code for late rewards runs."""


def delays():
    steps = st.integers(0, 40)
    lost = st.sampled_from([0.0, 0.0, 0.1, 1.0])
    plain = st.one_of(
        st.builds(lambda d, p: lr.Delay.constant(d, lost=p), steps, lost),
        st.builds(lambda m, p: lr.Delay.geometric(m, lost=p), st.floats(0, 40), lost),
        st.builds(lambda m, s, p: lr.Delay.lognormal(m, s, lost=p), st.floats(0, 40), st.floats(0, 2), lost),
        st.builds(lambda v, p: lr.Delay.empirical(v, lost=p), st.lists(steps, min_size=1), lost),
    )
    return st.one_of(plain, st.builds(lr.Delay.by_reward, plain, plain))


def live_arms(policy, path, batch, horizon, seed):
    """Return the arms that an agent chooses when it is told the rewards of a trace when they are due."""
    agent = lr.Agent(policy, ["0", "1", "2"], horizon=horizon, seed=seed)
    late, arms = [], []
    for t, (reward, delay) in enumerate(zip(path.reward, path.delay, strict=True), start=1):
        choice = agent.ask()
        arms.append(int(choice.arm))
        if delay >= 0:
            heappush(late, (-(-(t + delay) // batch) * batch, t, choice, float(reward)))
        while late and late[0][0] <= t:
            agent.tell(*heappop(late)[2:])
    return arms


@pytest.mark.parametrize(
    ("policy", "late"),
    [
        *((policy, RANDOM) for policy in (*OURS, *FORMS)),
        *((policy, late) for policy in SCANNED for late in LATE if late != RANDOM),
    ],
    ids=str,
)
def test_an_agent_makes_the_choices_of_the_simulator(policy, late):
    delay, batch = LATE[late]
    path = lr.trace(policy, BANDIT, horizon=150, seed=3, delay=delay, batch=batch, engine="reference")
    assert live_arms(policy, path, batch, 150, 3) == path.arm.tolist()


@pytest.mark.parametrize("policy", SCANNED, ids=str)
@settings(max_examples=8)
@given(
    data=st.data(),
    bandit=bandits(most=12),
    horizon=st.integers(1, 200),
    seed=st.integers(0, 2**64 - 1),
    delay=delays(),
    batch=st.sampled_from([1, 1, 2, 7, 400]),
)
def test_the_engines_agree(policy, data, bandit, horizon, seed, delay, batch):
    times = data.draw(st.sets(st.integers(1, horizon), max_size=9)) | {horizon}
    grid = np.array(sorted(times), np.int64)
    found = simulate(policy, bandit, horizon, 2, seed, grid, 1, delay=delay, batch=batch)
    for run in range(2):
        played = PlainRun(policy, bandit, horizon, seed, run, grid, delay=delay, batch=batch)
        assert found.pulls[run].tolist() == played.pulls.tolist()
        np.testing.assert_allclose(found.regret[run], played.regret, rtol=1e-12, atol=1e-12)
        if found.eliminated is not None:
            assert found.eliminated[run].tolist() == played.eliminated.tolist()
        path = compiled_trace(policy, bandit, horizon, seed, run, delay=delay, batch=batch)
        assert path.arm.tolist() == played.arm.tolist()
        assert path.reward.tolist() == played.reward.tolist()
        if path.delay is not None:
            assert path.delay.tolist() == played.delay.tolist()
        if path.round is not None:
            assert path.round.tolist() == played.round.tolist()
            assert path.active.tolist() == played.active.tolist()


@pytest.mark.parametrize("policy", SCANNED, ids=str)
def test_with_a_delay_of_0_late_rewards_are_no_different(policy):
    grid = np.array([17, 300], np.int64)
    plain = simulate(policy, BANDIT, 300, 3, 5, grid, 1)
    late = simulate(policy, BANDIT, 300, 3, 5, grid, 1, delay=ZERO)
    assert late.regret.tolist() == plain.regret.tolist()
    assert late.pulls.tolist() == plain.pulls.tolist()
    if plain.eliminated is not None:
        assert late.eliminated.tolist() == plain.eliminated.tolist()


def test_when_a_reward_is_known():
    """Rewards of 1 on one arm and 0 on the other: Greedy changes its arm when it learns of the first 1."""
    greedy, table = lr.EpsilonGreedy(0), [[0.0] * 60, [1.0] * 60]
    for delay, batch, known in ((0, 1, 2), (9, 1, 11), (0, 10, 10), (9, 10, 20), (8, 10, 10)):
        path = lr.trace(greedy, table, horizon=60, delay=delay, batch=batch)
        first = int(np.flatnonzero(path.arm != path.arm[0])[0])  # index of decision 2, in the warm-up
        assert first == 1
        assert (path.arm[known:] == 1).all()
        assert not (path.arm[max(known - 2, 0) : known] == 1).all()


def test_rewards_that_are_never_reported_stay_pending():
    lost = lr.trace("UCB1", BANDIT, horizon=90, delay=lr.Delay.constant(0, lost=1.0))
    assert (lost.delay == -1).all()
    assert np.bincount(lost.arm).tolist() == [30, 30, 30]
    some = lr.trace("UCB1", BANDIT, horizon=4_000, delay="constant(0, lost=0.25)")
    assert abs((some.delay < 0).mean() - 0.25) < 0.03


def test_delays_have_their_distributions_and_are_those_of_a_pull():
    paths = [
        lr.trace(policy, BANDIT, horizon=20_000, seed=2, delay="geometric(mean=50)")
        for policy in ("RoundRobin", "EpsilonGreedy(epsilon=1)")
    ]
    delays = paths[0].delay
    assert abs(delays.mean() - 50) < 4 * 50 / 20_000**0.5
    assert abs((delays == 0).mean() - 1 / 51) < 4 * (1 / 51 / 20_000) ** 0.5
    for arm in range(3):
        one, other = (path.delay[path.arm == arm][:6_000] for path in paths)
        assert one.tolist() == other.tolist()
    log = np.log(lr.trace("RoundRobin", BANDIT, 20_000, delay="lognormal(median=1e6, sigma=0.5)").delay)
    assert abs(log.mean() - np.log(1e6)) < 4 * 0.5 / 20_000**0.5
    assert abs(log.std() - 0.5) < 4 * 0.5 / 40_000**0.5
    seen = lr.trace("RoundRobin", BANDIT, 20_000, delay=lr.Delay.empirical([3, 3, 8.2])).delay
    assert set(seen) == {3, 8} and abs((seen == 3).mean() - 2 / 3) < 4 * (2 / 9 / 20_000) ** 0.5
    path = lr.trace("RoundRobin", BANDIT, 500, delay="by_reward(positive=4, other=30)")
    assert path.delay.tolist() == np.where(path.reward > 0, 4, 30).tolist()


DRAWN = {
    "constant": ("7", 7.0, 0.0),
    "geometric": ("geometric(mean=50)", 50.0, (50 * 51) ** 0.5),
    "lognormal": ("lognormal(median=200, sigma=0.5)", 200 * np.exp(1 / 8), 129.0),
    "empirical": ("empirical([3, 5, 40])", 16.0, 17.0),
}
"""By distribution of delays: one of them, its mean, and its standard deviation."""


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_each_distribution_is_drawn_with_its_own_mean(name, engine):
    delay, mean, deviation = DRAWN[name]
    delays = lr.trace("RoundRobin", BANDIT, 4_000, seed=4, delay=delay, engine=engine).delay
    assert abs(delays.mean() - mean) <= 4 * deviation / 4_000**0.5


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_distribution_without_a_sampler_is_an_error(engine):
    class Forgotten(ConstantDelay):
        kind = 99

    delay = lr.Delay(Forgotten(3), Forgotten(3))
    with pytest.raises(NotImplementedError):
        lr.simulate("UCB1", BANDIT, 20, 1, delay=delay, engine=engine)


def test_a_run_does_not_depend_on_the_others():
    grid = np.array([400], np.int64)
    settings = {"delay": lr.Delay.lognormal(20, 1), "batch": 3}
    whole = simulate(lr.EUCBV(), BANDIT, 400, 6, 1, grid, 2, **settings)
    part = simulate(lr.EUCBV(), BANDIT, 400, 2, 1, grid, 1, first_run=4, **settings)
    assert whole.pulls[4:].tolist() == part.pulls.tolist()


def test_rewards_are_recorded_whether_they_are_known_or_not():
    results = lr.simulate("UCB1", BANDIT, 300, 4, delay="geometric(30)", record_rewards=True)
    plain = lr.simulate(
        "UCB1", BANDIT, 300, 4, delay="geometric(30)", record_rewards=True, engine="reference"
    )
    assert results.finals["reward"].to_list() == plain.finals["reward"].to_list()
    path = lr.trace("UCB1", BANDIT, 300, run=2, delay="geometric(30)")
    assert results.finals["reward"][2] == path.reward.sum()


@pytest.mark.parametrize("policy", [lr.EUCBV(), lr.UCB1(), lr.ThompsonBeta(), lr.DMED()], ids=str)
def test_a_window_of_d_decisions_is_a_delay_of_d(policy):
    path = lr.trace(policy, BANDIT, 400, seed=3, delay=50, engine="reference")
    agent = lr.Agent(policy, ["0", "1", "2"], horizon=400, seed=3, matures_after=50, default_reward=0)
    for arm, reward in zip(path.arm, path.reward, strict=True):
        choice = agent.ask()
        assert choice.arm == str(arm)
        if reward:
            agent.tell(choice, 1)

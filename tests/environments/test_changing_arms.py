"""Arms that rot or rise with their pulls, or are replaced: regret against all sequences, and other games."""

from itertools import product
from math import log1p, sqrt

import numpy as np
import pytest

import lowregret as lr
from lowregret.engine.kernels.drifting import mean_path
from lowregret.engine.kernels.modes import unsupported_on_gpu
from lowregret.engine.kernels.rng import beta, bits, exponential, stream
from lowregret.engine.problem import Problem
from lowregret.errors import InputError

PAIR, THREE = lr.bernoulli([0.2, 0.5]), lr.bernoulli([0.9, 0.6, 0.5])
FALLING = [[0.9, 0.7, 0.5], [0.4, 0.7, 0.1], [0.1, 0, 0.1]]
ROTTING = lr.rotting_arms(THREE, [0.1, 0.5, 0.5], [30, 50, 1])
WORN = lr.rotting_arms(lr.gaussian([0, 0, 0], 0.1), FALLING, every=20)
RISING = lr.rising_arms(lr.bernoulli([0.1, 0.5, 0.3]), [0.9, 0.6, 0.8], 60)
PRIORS = "bernoulli:uniform(0,1)*2,0.5"
REPLACED = lr.replaced_arms(PRIORS, rate=0.02)
HORIZON = 300


@pytest.mark.parametrize(
    "bandit",
    [
        lr.rotting_arms(THREE, [0.1, 0.5, 0.2], [2, 5, 1]),
        lr.rotting_arms(THREE, FALLING, every=2),
        lr.rising_arms(lr.bernoulli([0.1, 0.5, 0.4]), [0.9, 0.6, 0.7], 4),
        lr.rising_arms(THREE, [[0.3, 0.2, 0.4], [0.3, 0.9, 0.4], [1, 1, 0.4]], every=3),
    ],
)
def test_regret_is_that_against_the_best_of_all_sequences_of_pulls(bandit):
    steps = 12
    sums = np.vstack([np.zeros(3), np.cumsum(bandit.means_at(np.arange(1, steps + 1)), axis=0)])
    best = np.full(steps + 1, -np.inf)
    for pulls in product(range(steps + 1), repeat=3):
        if sum(pulls) <= steps:
            best[sum(pulls)] = max(best[sum(pulls)], sums[pulls, [0, 1, 2]].sum())
    assert np.cumsum(mean_path(bandit, steps).best) == pytest.approx(best[1:])
    means, average = bandit.averages(steps)
    assert means == pytest.approx(sums[steps] / steps)
    assert average == pytest.approx(best[-1] / steps)
    result = lr.simulate("FixedArm(1)", bandit, steps, runs=1, grid=steps, engine="reference")
    assert result["FixedArm(arm=1)"].regret[0] == pytest.approx(best[1:] - sums[1:, 1])


def means_of_run(seed, run):
    """Return the means of the arms of ``REPLACED`` at the steps of a run."""
    means = np.full((HORIZON, 3), 0.5)
    for arm in (0, 1):
        key, t = bits(stream(seed, run, arm), -1), 1
        while t <= HORIZON:
            lifetime = 1 + int(exponential(key, 2 * t + 1) / -log1p(-0.02))
            means[t - 1 : t - 1 + lifetime, arm] = beta(1, 1, key, 2 * t)
            t += lifetime
    return means


def regret_of_path(bandit, arms, seed, run):
    """Return the regret at all steps of a run that pulled these arms."""
    if bandit is REPLACED:
        means = means_of_run(seed, run)
        return np.cumsum(means.max(axis=1) - means[np.arange(HORIZON), arms])
    means = bandit.means_at(np.arange(1, HORIZON + 1))
    pulls = np.array([(arms[: t + 1] == arm).sum() for t, arm in enumerate(arms)])
    alone = np.cumsum(means, axis=0).max(axis=1)
    largest = [np.sort(means[:t].ravel())[-t:].sum() for t in range(1, HORIZON + 1)]
    return (alone if bandit is RISING else largest) - np.cumsum(means[pulls - 1, arms])


@pytest.mark.parametrize("delay", [{}, {"delay": "geometric(mean=20, lost=0.1)", "batch": 3}])
@pytest.mark.parametrize("bandit", [ROTTING, WORN, RISING, REPLACED])
@pytest.mark.parametrize("policy", ["UCB1", "EUCBV"])
def test_both_engines_agree_and_regret_is_that_of_the_path(policy, bandit, delay):
    options = {"runs": 3, "seed": 4, "grid": 7, "record_rewards": True, "clip": True, **delay}
    fast = lr.simulate(policy, bandit, HORIZON, **options, threads=2)[policy]
    plain = lr.simulate(policy, bandit, HORIZON, **options, engine="reference")[policy]
    assert fast.regret.tolist() == plain.regret.tolist()
    assert fast.pulls.tolist() == plain.pulls.tolist()
    assert fast.rewards == pytest.approx(plain.rewards)
    for run in (0, 2):
        path = lr.trace(policy, bandit, HORIZON, seed=4, run=run, clip=True, **delay)
        assert fast.regret[run] == pytest.approx(regret_of_path(bandit, path.arm, 4, run)[fast.grid - 1])
        assert fast.rewards[run].sum() == pytest.approx(path.reward.sum())


def test_the_regret_of_the_best_arm_is_not_negative():
    bandit = lr.rising_arms(lr.bernoulli([0.6, 0]), [[0.6, 0], [0.6, 0.3], [0.8, 1]], every=5)
    for engine in ("compiled", "reference"):
        result = lr.simulate("FixedArm(1)", bandit, 40, runs=1, grid=40, engine=engine)
        final = result["FixedArm(arm=1)"].regret[0, -1]
        assert final == pytest.approx(0.0, abs=1e-12)
        assert not np.signbit(final)


def game(bandit, runs, draws):
    """Play UCB1 in many runs at once, with NumPy's generator; return the regrets."""
    each, collected, best = np.arange(runs), np.zeros(runs), np.zeros(runs)
    pulls, sums, means = np.zeros((runs, 3), int), np.zeros((runs, 3)), draws.random((runs, 3))
    table = None if bandit is REPLACED else bandit.means_at(np.arange(1, HORIZON + 1))
    for t in range(1, HORIZON + 1):
        if t > 1:
            means = np.where(draws.random((runs, 3)) < 0.02, draws.random((runs, 3)), means)
        means[:, 2] = 0.5
        arm = np.full(runs, t - 1)
        if t > 3:
            arm = np.argmax(sums / pulls + np.sqrt(2 * np.log(t - 1) / pulls), axis=1)
        mean = means[each, arm] if table is None else table[pulls[each, arm], arm]
        best += means.max(axis=1)
        collected += mean
        pulls[each, arm] += 1
        sums[each, arm] += draws.random(runs) < mean
    if bandit is REPLACED:
        return best - collected
    return (
        table.sum(axis=0).max() if bandit is RISING else np.sort(table.ravel())[-HORIZON:].sum()
    ) - collected


@pytest.mark.parametrize("bandit", [ROTTING, RISING, REPLACED])
def test_mean_regret_is_that_of_an_independent_game(bandit):
    naive = game(bandit, 2_000, np.random.default_rng(3))
    regret = lr.simulate("UCB1", bandit, HORIZON, runs=2_000, seed=1, grid=1).regret("UCB1")
    assert abs(naive.mean() - regret.mean()) < 3 * sqrt((naive.var() + regret.var()) / 2_000)


@pytest.mark.parametrize("rate", [1, 0.5])
@pytest.mark.parametrize(("prior", "mean", "sd"), [("normal(1,2)", 1, 2), ("beta(1,3)", 0.25, sqrt(3 / 80))])
def test_new_means_come_from_the_prior_as_often_as_the_rate_says(prior, mean, sd, rate):
    bandit = lr.replaced_arms(f"gaussian:mean={prior}*2;variance=1e-12", rate)
    rewards = lr.trace("FixedArm(0)", bandit, 2_000, engine="reference").reward
    changes = np.abs(np.diff(rewards)) > 1e-4
    assert changes.mean() == pytest.approx(rate, abs=4 * sqrt(rate * (1 - rate) / 2_000) + 2e-3)
    means = rewards[1:][changes]
    assert means.mean() == pytest.approx(mean, abs=4 * sd / sqrt(len(means)))
    assert means.std() == pytest.approx(sd, rel=0.15)
    average, best = bandit.averages(9)
    assert average == pytest.approx([mean, mean])
    pairs = means[: len(means) // 2 * 2].reshape(-1, 2)
    assert best == pytest.approx(pairs.max(axis=1).mean(), abs=0.2 * sd)


def test_scaled_rewards_change_alike():
    far = lr.gaussian([2, 10, 5], 4.0)
    for bandit in (
        lr.rotting_arms(far, -3, 40),
        lr.rising_arms(far, [[2, 10, 5], [3, 10, 6]], every=9),
        lr.replaced_arms("gaussian:mean=normal(1,2)*3;variance=4", 0.1),
    ):
        near = bandit.scaled(-10, 30)
        plain, scaled = (lr.trace("FixedArm(1)", arms, 100, engine="reference") for arms in (bandit, near))
        assert scaled.reward == pytest.approx((plain.reward + 10) / 40)
        assert near.largest_gap == pytest.approx(bandit.largest_gap / 40)


def test_strings_and_files_are_the_constructors(tmp_path):
    means, file = tmp_path / "means.csv", tmp_path / "changing.toml"
    means.write_text("a,b\n0.1,0.2\n0.3,0.4\n")
    falling, rising = (
        lr.rotting_arms(PAIR, [0.1, 0.4], 50),
        lr.rising_arms(PAIR, [[0.1, 0.2], [0.3, 0.4]], every=5),
    )
    for made, lines, text in (
        (falling, 'kind = "rotting"\nmeans = [0.1, 0.4]\nscale = 50', "rotting: means=0.1,0.4; scale=50"),
        (rising, 'kind = "rising"\nfile = "means.csv"\nevery = 5', f"rising: file={means}; every=5"),
    ):
        file.write_text(f'family = "bernoulli"\nprobabilities = [0.2, 0.5]\n[drift]\n{lines}\n')
        for bandit in (lr.environment(file), lr.environment(f"bernoulli:0.2,0.5 | {text}")):
            assert (bandit.drift, bandit.arms) == (made.drift, made.arms)
    for bandit in (
        lr.environment(f"{PRIORS} | replaced: rate=0.02"),
        lr.replaced_arms(lr.random_bandit(PRIORS), 0.02),
    ):
        assert (bandit.drift, bandit.arms) == (REPLACED.drift, REPLACED.arms)


def test_an_experiment_stores_what_simulate_returns(tmp_path):
    replaced = {"kind": "replaced", "rate": 0.02}
    rotting = {"kind": "rotting", "means": [0.1, 0.5, 0.5], "scale": [30, 50, 1]}
    entries = [
        {"name": "new", "random": "bernoulli:uniform(0,1)*{K},0.5", "grid": {"K": [2]}, "drift": replaced},
        {"name": "old", "environment": "bernoulli:0.9,0.6,0.5", "drift": rotting},
    ]
    settings = {"policies": "UCB1", "horizon": HORIZON, "runs": 5, "engine": "reference"}
    stored = lr.Experiment(environments=entries, **settings).run(tmp_path)
    for name, bandit in (("new (K=2)", REPLACED), ("old", ROTTING)):
        direct = lr.simulate("UCB1", bandit, HORIZON, runs=5, engine="reference")
        assert stored.regret("UCB1", name).tolist() == direct.regret("UCB1").tolist()
        assert stored.description.largest_gaps[name] == pytest.approx(bandit.largest_gap)


def test_a_gpu_does_not_play_them():
    for bandit in (ROTTING, WORN, RISING, REPLACED):
        assert "more than the step" in unsupported_on_gpu(Problem(lr.UCB1(), bandit, HORIZON))


REFUSED = [
    (lambda: lr.rotting_arms(PAIR, 0.3, 9), "must not increase, got 0.2 and then 0.3 for arm 0"),
    (lambda: lr.rising_arms(PAIR, [[0.1, 0.2], [0.2, 0.1]], every=9), "0.2 and then 0.1 for arm 1"),
    (lambda: lr.rotting_arms(PAIR, 0.1), "give scale, with the limits of the means, or every"),
    (lambda: lr.rotting_arms(PAIR, 0.1, 9, 9), "give scale, with the limits of the means, or every"),
    (lambda: lr.rotting_arms(PAIR, 0.1, [9, 0]), "scale must be positive and finite, got 0"),
    (lambda: lr.rotting_arms(PAIR, 0.1, every=9), "means must be rows of numbers, got 0.1"),
    (lambda: lr.rotting_arms(PAIR, -0.1, 9), r"must stay in \[0, 1\], got -0.1 for arm 0"),
    (lambda: lr.rising_arms("bernoulli:0.1,0.2", 0.3, 9), "bandit must be a Bandit"),
    (lambda: lr.rising_arms(ROTTING, 1, 9), "drifts already"),
    (lambda: lr.rising_arms(lr.random_bandit(PRIORS), 1, 9), "can be replaced, but do not drift"),
    (lambda: lr.replaced_arms(PAIR, 0.1), "give arms with a prior, such as 'bernoulli:uniform"),
    (lambda: lr.replaced_arms("bernoulli:0.1,0.2", 0.1), "the means need a prior"),
    (lambda: lr.replaced_arms(PRIORS, 0), "rate must be more than 0 and at most 1, got 0"),
    (lambda: lr.replaced_arms("exponential:0.1", 0.1), "bernoulli and gaussian arms"),
    (lambda: lr.replaced_arms("gaussian:mean=0,1;variance=uniform(1,2)", 0.1), "of the mean alone"),
    (lambda: REPLACED.means_at(3), "are replaced, at other steps in each run"),
    (lambda: lr.environment("bernoulli:0.1,0.2 | replaced: rate=0.1"), "the means need a prior"),
    (lambda: lr.environment("bernoulli:0.1,0.2 | rotting: scale=3"), "rotting: means is missing"),
    (lambda: lr.environment("bernoulli:0.1,0.2 | replaced: rates=0.1"), "unknown key 'rates'"),
    (lambda: lr.simulate("UCB1", ROTTING, 9, record_recommendations=True), "need arms with fixed means"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_what_is_refused(make, message):
    with pytest.raises(InputError, match=message) as found:
        make()
    assert "\n" not in str(found.value)

"""Policies that choose the arm themselves, random draws in rounds and memories, ties, bandits drawn anew."""

from math import exp, log
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import betainc

import lowregret as lr
from lowregret.engine.backends import run, unsupported_reason
from lowregret.engine.problem import Problem
from lowregret.theory.sample_complexity import sample_complexity

PATH = frozenset({"path"})
BANDIT = lr.bernoulli([0.2, 0.5, 0.6])


class Weight(NamedTuple):
    score: float = 0.0


class Exp3(lr.Policy):
    """EXP3 of Auer et al. 2002: weights by importance-weighted rewards, mixed with uniform play."""

    gamma: float = 0.2

    Memory = Weight
    warmup = 0
    uses_arms = True

    def share(self, arms, clock, i):
        total = 0.0
        for j in range(clock.arms):
            total += exp(arms.at(j).memory.score - arms.at(i).memory.score)
        return (1.0 - self.gamma) / total + self.gamma / clock.arms

    def choose(self, arms, clock, rng):
        left = rng.uniform()
        for i in range(clock.arms):
            left -= self.share(arms, clock, i)
            if left < 0.0:
                return i
        return clock.arms - 1

    def update_memory(self, arm, reward, clock):
        share = 0.0
        for i in range(clock.arms):
            if arm.arms.at(i).number == arm.number:
                share = self.share(arm.arms, clock, i)
        return Weight(arm.memory.score + self.gamma * reward / (share * clock.arms))


class Sampled(NamedTuple):
    sample: float = 0.0


class ThompsonByScratch(lr.Policy):
    """Thompson sampling that keeps the samples of a step in the memories, and looks at them again."""

    Memory = Sampled
    warmup = 0

    def choose(self, arms, clock, rng):
        for i in range(clock.arms):
            arm = arms.at(i)
            ones = arm.mean * arm.pulls
            arms.set_memory(i, Sampled(rng.beta(1.0 + ones, 1.0 + arm.pulls - ones)))
        best = 0
        for i in range(clock.arms):
            if arms.at(i).memory.sample > arms.at(best).memory.sample:
                best = i
        return best


class Round(NamedTuple):
    number: int
    until: int
    place: int


class RandomRounds(lr.Policy):
    """Pulls a random arm for ten steps; adds noise to a memory."""

    Memory = Weight
    rounds_eliminate = False

    def first_round(self, clock):
        return Round(0, 10, 0)

    def next_round(self, arms, clock, round, rng):
        return Round(round.number + 1, clock.t + 10, int(rng.uniform() * clock.arms))

    def update_memory(self, arm, reward, clock, rng):
        return Weight(arm.memory.score + rng.uniform())

    def choose(self, arms, clock, rng, round):
        return round.place


class Beyond(lr.Policy):
    def choose(self, arms, clock, rng):
        return clock.arms


@pytest.mark.parametrize("policy", [Exp3(), ThompsonByScratch(), RandomRounds()], ids=str)
def test_compiled_equals_plain_and_an_agent(policy):
    problem = Problem(policy, BANDIT, 300, 3, runs=3, record=PATH)
    plain, compiled = run(problem, "reference"), run(problem)
    assert np.array_equal(plain.records["path"], compiled.records["path"])
    assert (compiled.pulls > 0).all()
    agent, expected = lr.Agent(policy, ["0", "1", "2"], 300, seed=3), lr.trace(policy, BANDIT, 300, 3)
    for step, (arm, reward) in enumerate(zip(expected.arm, expected.reward, strict=True)):
        choice = agent.ask()
        assert int(choice.arm) == arm, step
        agent.tell(choice, reward)
        if step in (40, 41, 200):
            agent = lr.Agent.from_json(agent.to_json(), policy)
    assert unsupported_reason(problem, "cuda")


def test_exp3_finds_the_best_arm():
    """Over 4,000 steps its share of the best arm grows; uniform play has a third."""
    pulls = lr.simulate(Exp3(), lr.bernoulli([0.2, 0.2, 0.8]), 4_000, 10, seed=1)["Exp3"].pulls
    assert (pulls[:, 2] > 0.7 * 4_000).all()


def test_a_place_without_an_arm_is_refused():
    with pytest.raises(lr.InputError, match="no arm is in place 3"):
        lr.simulate(Beyond(), BANDIT, 10, 1)


class Constant(lr.Policy):
    counts_pending = False

    def score(self, arm, clock):
        return 0.0


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_order_and_ties_can_be_chosen(engine):
    """In batches of six after a warm-up: ties go to the fewest pending pulls, or to the first arm."""
    runs = {}
    for shuffle in (True, False):
        for ties in ("pending", "first"):
            problem = Problem(
                Constant(), BANDIT, 12, 3, runs=8, shuffle=shuffle, ties=ties, batch=6, record=PATH
            )
            runs[shuffle, ties] = run(problem, engine).records["path"][:, :, 0]
    assert (runs[False, "pending"] == [0, 1, 2] * 4).all()
    assert (runs[False, "first"] == [0, 1, 2, *[0] * 9]).all()
    assert {tuple(row[:3]) for row in runs[True, "first"].tolist()} > {(0, 1, 2)}
    for row in runs[True, "first"].tolist():
        assert row[3:] == [row[0]] * 9


def test_simulate_and_files_choose_order_and_ties():
    with pytest.raises(lr.InputError, match="ties 'pending' or 'first', got True and 'last'"):
        lr.simulate("UCB1", BANDIT, 10, 1, ties="last")
    kept = lr.simulate("RoundRobin", BANDIT, 4, 9, shuffle=False)["RoundRobin"].pulls
    assert (kept == [2, 1, 1]).all()
    assert (lr.simulate("RoundRobin", BANDIT, 4, 9)["RoundRobin"].pulls != kept).any()
    settings = {"environments": [BANDIT], "policies": "RoundRobin", "horizon": 4, "runs": 9}
    result = lr.Experiment(**settings, shuffle=False).run()
    assert result.outcome("RoundRobin").pulls.tolist() == kept.tolist()


def test_a_policy_of_a_file_has_a_name_runs_and_times_of_its_own(tmp_path):
    policies = ["MOSS", {"policy": "UCB1", "name": "first", "runs": 3}, {"policy": "UCB1", "name": "again"}]
    settings = {"environments": [BANDIT], "horizon": 50, "runs": 7, "engine": "reference"}
    result = lr.Experiment(policies=policies, grid=[10, 25, 400], **settings).run(tmp_path / "one")
    assert result.policies == ("MOSS", "first", "again")
    assert result.summary()["runs"].to_list() == [7, 3, 7]
    assert result.paths["t"].unique().sort().to_list() == [10, 25, 50]
    assert result.regret("first").tolist() == result.regret("again").tolist()[:3]
    grid = {"policy": "UCB1", "name": "U{alpha}", "grid": {"alpha": [1, 2]}}
    assert lr.Experiment(policies=grid, **settings).run().policies == ("U1", "U2")
    with pytest.raises(lr.InputError, match="UCB1 is given twice: give one a name"):
        lr.Experiment(policies=["UCB1", "UCB1"], **settings)


def test_several_folders_make_one_report(tmp_path):
    from typer.testing import CliRunner

    from lowregret.cli import app

    for name, policy in (("one", "MOSS"), ("two", "UCB1")):
        settings = {"environments": [BANDIT], "horizon": 50, "runs": 3, "engine": "reference", "name": name}
        lr.Experiment(policies=policy, **settings).run(tmp_path / name)
    folders = [str(tmp_path / "one"), str(tmp_path / "two")]
    done = CliRunner().invoke(app, ["report", *folders, "--figures", "none"])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "one" / "report.html").read_text()
    assert "MOSS" in page and "UCB1" in page
    twice = CliRunner().invoke(app, ["report", folders[0], folders[0]])
    assert twice.exit_code == 2 and "is in two results" in " ".join(twice.output.split())


@pytest.mark.parametrize(
    "text",
    ["bernoulli:uniform(0.1,0.9)*4", "gaussian:mean=normal(0,2)*3,beta(2,3),1;variance=uniform(1,2)"],
)
def test_random_bandits_are_the_same_on_both_engines_and_for_every_policy(text):
    bandit = lr.random_bandit(text)
    grid = np.array([20, 100])
    problem = Problem(lr.UCB1(), bandit, 100, 3, first_run=5, runs=6, record=PATH, grid=grid, clip=True)
    plain, compiled = run(problem, "reference"), run(problem)
    assert np.array_equal(plain.records["path"], compiled.records["path"])
    assert compiled.regret == pytest.approx(plain.regret, rel=1e-12)
    later = run(Problem(lr.UCB1(), bandit, 100, 3, first_run=8, runs=2, record=PATH, grid=grid, clip=True))
    assert np.array_equal(later.regret, compiled.regret[3:5])


def test_the_mean_regret_of_uniform_play_is_the_bayesian_one():
    """Of n uniform means the best is n / (n + 1) in the mean, so an arm loses (n - 1) / (2 (n + 1))."""
    result = lr.simulate("RoundRobin", lr.random_bandit("bernoulli:uniform(0,1)*4"), 40, 2_000, seed=2)
    regret = result.regret("RoundRobin")
    assert abs(regret.mean() - 40 * 3 / 10) < 4 * regret.std() / 2_000**0.5
    bandit = lr.random_bandit("bernoulli:uniform(0,1)*4")
    assert bandit.means == pytest.approx([0.8, 0.6, 0.4, 0.2], abs=0.02) and bandit.largest_gap == 1.0


def test_priors_have_their_distributions():
    bandit = lr.random_bandit("gaussian:mean=beta(2,5),normal(1,2),uniform(-1,3);variance=1")
    draws = np.random.default_rng(1).random((4_000, 3, 2))
    rows = [zip(bandit.priors, draw[:, 0], strict=True) for draw in draws]
    rows = [zip(bandit.priors, draw[:, 0], strict=True) for draw in draws]
    means = np.array([[prior.quantiles(u) for (prior, _), u in row] for row in rows])
    for column, cdf in enumerate(
        (
            lambda x: betainc(2, 5, x),
            lambda x: 0.5 * (1 + np.vectorize(_erf)((x - 1) / 2)),
            lambda x: (x + 1) / 4,
        )
    ):
        values = np.sort(means[:, column])
        assert np.abs(cdf(values) - np.arange(1, 4_001) / 4_000).max() < 0.035  # Kolmogorov's at 1e-4


def _erf(x):
    from math import erf, sqrt

    return erf(x / sqrt(2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bernoulli:uniform(0,2)*3", "the prior allows what the family does not"),
        ("uniform:low=0;high=uniform(1,2)*3", "would depend on the draw"),
        ("bernoulli:gamma(1,2)", "a prior is uniform"),
        ("bernoulli:uniform(0,1", "cannot read"),
        ("gaussian:0,1", "takes mean, variance"),
        ("normal:0,1", "unknown family"),
        ("gaussian:mean=uniform(0,1)*3;variance=1,2", "one for each of the arms"),
    ],
)
def test_strings_that_make_no_random_bandit(text, message):
    with pytest.raises(lr.InputError, match=message):
        lr.random_bandit(text)


def test_files_draw_bandits_anew(tmp_path):
    entry = {"random": "bernoulli:beta({a},2)*3", "grid": {"a": [1, 2]}, "name": "prior {a}"}
    settings = {"policies": "UCB1", "horizon": 30, "runs": 5, "engine": "reference"}
    result = lr.Experiment(environments=entry, **settings).run(tmp_path)
    bandit = lr.random_bandit("bernoulli:beta(2,2)*3")
    direct = lr.simulate("UCB1", bandit, 30, 5, engine="reference")
    assert result.regret("UCB1", "prior 2").tolist() == direct.regret("UCB1").tolist()
    assert result.description.largest_gaps == {"prior 1": 1.0, "prior 2": 1.0}
    with pytest.raises(lr.InputError, match="does not go with random"):
        lr.Experiment(environments={**entry, "scale": [0, 2]}, **settings)
    with pytest.raises(lr.InputError, match="not recorded for it"):
        lr.simulate("UCB1", bandit, 30, 5, record_rewards=True)


@pytest.mark.parametrize("text", ["bernoulli:0.5,0.45,0.3,0.6", "gaussian:mean=1,0.4,0,-1;variance=2"])
def test_the_lower_bound_is_the_value_of_its_game(text):
    """No allocation has more evidence per pull against the closest rival, and one nearly has as much."""
    bandit, delta = lr.environment(text), 0.05
    best, variance = bandit.best, bandit.variances[0]

    def d(p, q):
        if text.startswith("gaussian"):
            return (p - q) ** 2 / (2 * variance)
        return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))

    weights = np.random.default_rng(3).dirichlet(np.ones(4), 200_000)
    least = np.full(len(weights), np.inf)
    for arm, mean in enumerate(bandit.means):
        if arm != best:
            w, v = weights[:, best], weights[:, arm]
            middle = (w * bandit.means[best] + v * mean) / (w + v)
            least = np.minimum(least, w * d(bandit.means[best], middle) + v * d(mean, middle))
    time = sample_complexity(bandit, delta) / ((1 - 2 * delta) * log((1 - delta) / delta))
    assert 0.97 < least.max() * time <= 1.0 + 1e-9
    with pytest.raises(lr.InputError, match="one best arm"):
        sample_complexity("bernoulli:0.5,0.5", delta)


def test_a_false_claim_is_named():
    class Wave(lr.Policy):
        index_trend = "increasing"

        def score(self, arm, clock):
            return arm.mean + 1 / arm.pulls - 0.3 * clock.t / clock.horizon * (arm.pulls % 3)

    with pytest.raises(AssertionError, match="index_trend = 'increasing' is false"):
        lr.testing.check_policy(Wave())
    tests = lr.testing.PolicyTests()
    tests.policy = Wave()
    with pytest.raises(AssertionError, match="without this claim they agree"):
        tests.test_compiled_equals_plain()


def test_a_policy_is_checked_on_a_bandit_of_the_user():
    bandit = lr.gaussian([100.0, 101.0, 103.0], 4.0)
    lr.testing.check_policy(Greedy(), bandit)
    with pytest.raises(AssertionError, match=r"Worst: Its regret is below .* on an easy bandit"):
        lr.testing.check_policy(Worst(), bandit)


class Greedy(lr.Policy):
    def score(self, arm, clock):
        return arm.mean + 9.0 / arm.pulls


class Worst(Greedy):
    def score(self, arm, clock):
        return -arm.mean

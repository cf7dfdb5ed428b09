"""Best arm identification and thresholding against plain implementations of the papers' formulas."""

from math import ceil, exp, floor, inf, log, log2, sqrt

import numpy as np
import pytest
from polars.testing import assert_frame_equal
from scipy.optimize import brentq, minimize_scalar
from scipy.special import zeta

import lowregret as lr
from lowregret.engine.backends import run
from lowregret.engine.problem import Problem
from lowregret.policies.base import NoRound
from lowregret.special.likelihood_ratios import bernoulli_evidence, gaussian_limit, optimal_ratio


def table_of(means, pulls=400, seed=1):
    return (np.random.default_rng(seed).random((len(means), pulls)) < np.array(means)[:, None]).astype(float)


class Game:
    """The rewards so far of each arm of a table."""

    def __init__(self, table):
        self.table, self.seen, self.arms = table, [[] for _ in table], []

    def pull(self, arm):
        self.seen[arm].append(self.table[arm][len(self.seen[arm])])
        self.arms.append(arm)

    def mean(self, arm):
        return sum(self.seen[arm]) / len(self.seen[arm])

    @property
    def counts(self):
        return [len(seen) for seen in self.seen]

    def leader(self):
        return max(range(len(self.seen)), key=lambda arm: (self.mean(arm), -arm))


def kl(p, q):
    return sum(x * log(x / y) if y > 0 else inf for x, y in ((p, q), (1 - p, 1 - q)) if x > 0)


def successive_rejects(game, budget):
    size, left = len(game.table), list(range(len(game.table)))
    logbar = 0.5 + sum(1 / i for i in range(2, size + 1))
    for phase in range(1, size):
        length = ceil((budget - size) / (logbar * (size + 1 - phase)))
        while min(game.counts[arm] for arm in left) < length:
            game.pull(min(left, key=lambda arm: (game.counts[arm], arm)))
        left.remove(min(left, key=lambda arm: (game.mean(arm), -arm)))
    while len(game.arms) < budget:
        game.pull(left[0])


def sequential_halving(game, budget):
    left, rounds = list(range(len(game.table))), ceil(log2(len(game.table)))
    for _ in range(rounds):
        for _ in range(floor(budget / (len(left) * rounds))):
            for arm in left:
                game.pull(arm)
        left = sorted(sorted(left, key=lambda arm: (-game.mean(arm), arm))[: ceil(len(left) / 2)])
    while len(game.arms) < budget:
        game.pull(left[0])


def indexed(index):
    def play(game, budget):
        for _ in range(budget):
            unseen = [arm for arm, count in enumerate(game.counts) if count == 0]
            game.pull(unseen[0] if unseen else max(range(len(game.seen)), key=lambda i: (index(game, i), -i)))

    return play


def lucb(limits, delta, epsilon=0.0):
    def play(game, budget):
        size = len(game.table)
        for arm in range(size):
            game.pull(arm)
        pair = []
        while len(game.arms) < budget:
            if not pair:
                best, rival = rivals(game, limits, delta)
                pair = [best, rival]
            game.pull(pair.pop(0))
            best, rival = rivals(game, limits, delta)
            if limits(game, rival, delta)[1] - limits(game, best, delta)[0] < epsilon:
                while len(game.arms) < budget:
                    game.pull(best)

    return play


def rivals(game, limits, delta):
    best = game.leader()
    others = [arm for arm in range(len(game.table)) if arm != best]
    return best, max(others, key=lambda arm: (limits(game, arm, delta)[1], -arm))


def hoeffding(game, arm, delta):
    t, size = len(game.arms), len(game.table)
    width = sqrt(log(5 / 4 * size * t**4 / delta) / (2 * game.counts[arm]))
    return game.mean(arm) - width, game.mean(arm) + width


def chernoff(game, arm, delta):
    x = log(405.5 * len(game.table) * len(game.arms) ** 1.1 / delta)
    mean, level = game.mean(arm), (x + log(x)) / game.counts[arm]
    upper = brentq(lambda q: kl(mean, q) - level, mean, 1 - 1e-12) if mean < 1 else 1.0
    lower = brentq(lambda q: kl(mean, q) - level, 1e-12, mean) if mean > 0 else 0.0
    upper, lower = (upper if mean > 0 else 1 - exp(-level)), (lower if mean < 1 else exp(-level))
    return lower, upper


def weights_of(means):
    """Solve the game of Garivier and Kaufmann on a grid that is refined: maximise the least evidence."""
    best = int(np.argmax(means))

    def ratio(arm, level):
        def evidence(x):
            middle = (means[best] + x * means[arm]) / (1 + x)
            return kl(means[best], middle) + x * kl(means[arm], middle)

        return brentq(lambda x: evidence(x) - level, 1e-14, 1e7, xtol=1e-13)

    others = [arm for arm in range(len(means)) if arm != best]

    def value(level):  # the evidence per pull if each rival has this level for a pull of the best
        return level / (1 + sum(ratio(arm, level) for arm in others))

    top = min(kl(means[best], means[arm]) for arm in others)
    top = min(top, 10.0)
    level = minimize_scalar(
        lambda x: -value(x), bounds=(1e-6 * top, top * (1 - 1e-5)), options={"xatol": 1e-12}
    ).x
    shares = np.array([1.0 if arm == best else ratio(arm, level) for arm in range(len(means))])
    return shares / shares.sum()


def track_and_stop(delta):
    def play(game, budget):
        size = len(game.table)
        for arm in range(size):
            game.pull(arm)
        while len(game.arms) < budget:
            t, counts, means = len(game.arms), game.counts, [game.mean(arm) for arm in range(size)]
            tied = [arm for arm in range(size) if means[arm] == max(means)]
            if min(counts) < sqrt(t) - size / 2:
                game.pull(int(np.argmin(counts)))
            elif len(tied) > 1:
                game.pull(min(tied, key=lambda arm: (counts[arm], arm)))
            else:
                game.pull(int(np.argmax(t * weights_of(means) - np.array(counts))))
            if evidence_of(game) >= log(2 * len(game.arms) * (size - 1) / delta):
                best = game.leader()
                while len(game.arms) < budget:
                    game.pull(best)

    return play


def evidence_of(game):
    best, least = game.leader(), inf
    for arm in range(len(game.table)):
        if arm != best:
            both = game.seen[best] + game.seen[arm]
            middle = sum(both) / len(both)
            parts = (len(game.seen[i]) * kl(game.mean(i), middle) for i in (best, arm))
            least = min(least, sum(parts))
    return least


def augucb(threshold, rho=1 / 3):
    def play(game, budget):
        size, m, eps = len(game.table), 0, 1.0
        left = list(range(size))
        psi = budget * eps / (128 * log(3 / 16 * size * log(size)) ** 2)
        deadline = size * ceil(2 * psi * log(budget * eps) / eps)
        for arm in left:
            game.pull(arm)

        def width(arm):
            wide = np.var(game.seen[arm]) + 1
            return sqrt(rho * psi * wide * log(budget * eps) / (4 * game.counts[arm]))

        def far(arm):
            return abs(game.mean(arm) - threshold)

        while len(game.arms) < budget:
            game.pull(min(left, key=lambda arm: (far(arm) - 2 * width(arm), arm)))
            for arm in list(left):
                if len(left) > 1 and far(arm) > 2 * width(arm):
                    left.remove(arm)
            if len(game.arms) >= deadline and m <= floor(0.5 * log2(budget / np.e)):
                m, eps = m + 1, eps / 2
                psi = budget * eps / (128 * log(3 / 16 * size * log(size)) ** 2)
                deadline = len(game.arms) + len(left) * ceil(2 * psi * log(budget * eps) / eps)

    return play


MEANS = [0.2, 0.9, 0.4, 0.1, 0.5, 0.3]
CASES = [
    (lr.SuccessiveRejects(), successive_rejects, 300),
    (lr.SequentialHalving(), sequential_halving, 300),
    (lr.UCBE(a=5), indexed(lambda game, i: game.mean(i) + sqrt(5 / game.counts[i])), 300),
    (
        lr.APT(0.47, 0.01),
        indexed(lambda game, i: -sqrt(game.counts[i]) * (abs(game.mean(i) - 0.47) + 0.01)),
        300,
    ),
    (lr.AugUCB(0.47), augucb(0.47), 350),
    (lr.LUCB(0.4, 0.4), lucb(hoeffding, 0.4, 0.4), 400),
    (lr.KLLUCB(0.4, 0.3), lucb(chernoff, 0.4, 0.3), 400),
    (lr.TrackAndStop(0.2), track_and_stop(0.2), 250),
]


@pytest.mark.parametrize(("policy", "plain", "budget"), CASES, ids=[str(case[0]) for case in CASES])
def test_each_pulls_the_arms_of_a_plain_implementation(policy, plain, budget):
    for seed in (1, 2):
        game = Game(table_of(MEANS, seed=seed))
        plain(game, budget)
        pulled = lr.trace(policy, game.table, budget, engine="reference").arm
        assert pulled.tolist() == game.arms[:budget]


def test_fixed_confidence_policies_stop_within_these_runs():
    """Else the cases above would not reach what follows the stop."""
    for policy, budget in (
        (lr.LUCB(0.4, 0.4), 400),
        (lr.KLLUCB(0.4, 0.3), 400),
        (lr.TrackAndStop(0.2), 250),
    ):
        active = lr.trace(policy, table_of(MEANS), budget, engine="reference").active
        assert active[-1] == 1 and active[40] == 6, policy


def test_ebtc_pulls_the_leader_or_the_closest_rival_and_stops_by_its_rule():
    """The draws of the policy decide which of the two; the rest is computed anew here."""
    table, policy = table_of(MEANS, 900), lr.EBTC(0.3, slack=0.05, variance=0.25)
    path = lr.trace(policy, table, 900, engine="reference")
    game, led, size = Game(table), 0, len(MEANS)

    def distance(arm, slack):
        best = game.leader()
        counts = game.counts[best], game.counts[arm]
        return (game.mean(best) - game.mean(arm) + slack) / sqrt(0.25 * (1 / counts[0] + 1 / counts[1]))

    for t, (arm, active) in enumerate(zip(path.arm.tolist(), path.active.tolist(), strict=True), 1):
        if t > size and (len(game.arms) < size + 1 or path.active[t - 2] > 1):
            others = [other for other in range(size) if other != game.leader()]
            rival = min(others, key=lambda other: (distance(other, 0.05), other))
            assert arm in (game.leader(), rival)
            led += arm == game.leader()
        game.pull(arm)
        if t > size:
            others = [other for other in range(size) if other != game.leader()]
            limit = gaussian_limit(t, size, 0.3)
            stops = min(distance(other, 0.0) for other in others) >= sqrt(2 * limit)
            assert stops == (active == 1) or path.active[t - 2] == 1
    decided = int((path.active > 1).sum()) - size
    assert path.active[-1] == 1 and 0.4 * decided < led < 0.6 * decided


def test_top_two_stops_by_the_evidence():
    table, policy = table_of(MEANS, 900), lr.TopTwoStopping(delta=0.2)
    path = lr.trace(policy, table, 600, engine="reference")
    free = lr.trace(lr.TopTwoThompson(), table, 600, engine="reference").arm
    stopped = int((path.active > 1).sum())
    game = Game(table)
    for t, arm in enumerate(free[: stopped + 1].tolist(), 1):
        game.pull(arm)
        if min(game.counts) > 0:
            assert (evidence_of(game) >= log(2 * t * 5 / 0.2)) == (t == stopped + 1)
    assert path.arm[: stopped + 1].tolist() == free[: stopped + 1].tolist()
    assert 100 < stopped < 599 and set(path.arm[stopped + 1 :].tolist()) == {game.leader()}


def test_the_evidence_is_the_likelihood_ratio():
    for n, mean, m, other in ((10, 0.7, 20, 0.4), (5, 1.0, 9, 0.0), (30, 0.5, 3, 1 / 3)):
        middle = (n * mean + m * other) / (n + m)
        assert bernoulli_evidence(n, mean, m, other) == pytest.approx(
            n * kl(mean, middle) + m * kl(other, middle), rel=1e-12
        )
    assert bernoulli_evidence(10, 0.4, 20, 0.7) == 0.0
    assert bernoulli_evidence(0, 0.9, 20, 0.7) == 0.0


@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-3, 1e-9])
def test_the_gaussian_limit_is_valid_and_close_to_the_least_one(delta):
    for arms in (2, 10, 1_000):
        x = log((arms - 1) / delta) / 2

        def bound(u, x=x):
            g = 2 * u - 2 * u * log(4 * u) + log(zeta(2 * u)) - 0.5 * log(1 - u)
            return (g + x) / u

        least = minimize_scalar(bound, bounds=(0.51, 0.9999), method="bounded").fun
        ours = gaussian_limit(500, arms, delta) - 4 * log(4 + log(250))
        assert 2 * least - 1e-7 <= ours < 2 * least * 1.001


def test_the_ratio_of_pulls_gives_the_wanted_evidence():
    for best, mean in ((0.6, 0.5), (0.95, 0.02), (0.5, 0.499), (1.0, 0.3), (0.4, 0.0)):
        for share in (0.01, 0.5, 0.99):
            level = share * kl(best, mean)
            x = optimal_ratio(best, mean, level)
            middle = (best + x * mean) / (1 + x)
            assert kl(best, middle) + x * kl(mean, middle) == pytest.approx(level, rel=1e-6)


class SecondArm(lr.RoundRobin):
    """Recommends the arm with the second number."""

    def recommend(self, arms, clock):
        for i in range(clock.arms):
            if arms.at(i).number == 1:
                return i
        return 0


class Late(lr.UCB1):
    """Stops after 90 pulls."""

    def stop(self, arms, clock):
        return clock.t >= 90


class Newcomers(lr.UCB1):
    """Pulls two arms three times, then all others three times: it recommends none meanwhile."""

    warmup = 3

    def initially_active(self, number):
        return number < 2

    def first_round(self, clock):
        return NoRound(0, 6)

    def next_round(self, arms, clock, round):
        for i in range(clock.arms):
            arms.reactivate(i)
        return NoRound(1, lr.NEVER)

    def score(self, arm, clock, round):
        return arm.mean


RECORD = frozenset({"recommended", "loss", "stopped", "path"})
GRID = np.array([1, 2, 3, 4, 7, 50, 89, 90, 91, 150, 200])
RECORDED = [
    *(lr.SuccessiveRejects(), lr.LUCB(0.3, 0.2), lr.APT(0.4), Late(), SecondArm(), Newcomers()),
    *(pytest.param(policy, marks=pytest.mark.heavy) for policy in (
        lr.SequentialHalving(reset=True), lr.UCBE(), lr.AugUCB(0.4), lr.KLLUCB(0.3, 0.2),
        lr.EBTC(variance=0.25), lr.TopTwoStopping(delta=0.2), lr.TrackAndStop(0.2), lr.UCB1(),
        lr.ThompsonNormal(), lr.DMED(), lr.EUCBV(), lr.MedianElimination(0.9, 0.9), lr.FixedArm(1),
    )),
]  # fmt: skip


@pytest.mark.parametrize("policy", RECORDED, ids=str)
def test_compiled_runs_record_what_plain_ones_do(policy):
    for means in ([0.3, 0.6, 0.5, 0.1], [0.5]):
        if len(means) == 1 and isinstance(policy, lr.FixedArm):
            continue
        problem = Problem(policy, lr.bernoulli(means), 200, 3, runs=4, record=RECORD, grid=GRID)
        plain, compiled = run(problem, "reference"), run(problem, "compiled")
        for name in RECORD:
            assert np.array_equal(plain.records[name], compiled.records[name], equal_nan=name == "loss"), name
        assert np.array_equal(plain.pulls, compiled.pulls)


def test_the_records_follow_from_the_path():
    """The loss is the gap of the recommended arm; of a policy with a threshold, its wrong answers."""
    bandit, grid = lr.bernoulli([0.3, 0.6, 0.5, 0.1]), np.arange(1, 201)
    problem = Problem(SecondArm(), bandit, 200, 3, runs=3, record=RECORD, grid=grid)
    records = run(problem).records
    assert (records["recommended"][:, 3:] == 1).all() and (records["loss"][:, 3:] == 0.0).all()
    assert (records["recommended"][:, :3] == -1).all() and np.isnan(records["loss"][:, :3]).all()
    problem = Problem(lr.APT(0.4, 0.0), bandit, 200, 3, runs=3, record=RECORD, grid=grid)
    records = run(problem).records
    for number in range(3):
        path = lr.trace(lr.APT(0.4, 0.0), bandit, 200, 3, run=number, engine="reference")
        for t in (4, 17, 60, 200):
            accepted = [path.reward[:t][path.arm[:t] == arm].mean() >= 0.4 for arm in range(4)]
            wrong = np.sum(np.array(accepted) != np.array([False, True, True, False]))
            assert records["loss"][number, t - 1] == wrong


def test_a_policy_that_stops_goes_on_with_the_recommended_arm():
    outcome = run(Problem(Late(), lr.bernoulli([0.3, 0.6, 0.5]), 1_000, 3, runs=5, record=RECORD, grid=GRID))
    assert outcome.records["stopped"].ravel().tolist() == [90] * 5
    for path, recommended in zip(outcome.records["path"], outcome.records["recommended"], strict=True):
        assert set(path[90:, 0].tolist()) == {recommended[-1]} and (path[90:, 2] == 1).all()
        assert (path[:89, 2] == 3).all() and (recommended[GRID >= 90] == recommended[-1]).all()
    agent = lr.Agent(Late(), ["a", "b", "c"], seed=4)
    for _ in range(90):
        decision = agent.ask()
        agent.tell(decision, {"a": 0.1, "b": 0.2, "c": 0.9}[decision.arm])
    assert {agent.ask().arm for _ in range(20)} == {"c"}


def test_results_summarise_recommendations():
    result = lr.simulate(
        ["SuccessiveRejects", "LUCB(delta=0.3, epsilon=0.2)", "APT(threshold=0.4)"],
        "bernoulli:0.3,0.6,0.5",
        300,
        runs=40,
        grid=[100, 300],
        record_recommendations=True,
        engine="reference",
    )
    final, times = result.identification(), result.identification(by_time=True)
    paths = result.paths.filter(policy="SuccessiveRejects", t=300)
    gaps = dict(result.arms.select("arm", "gap").iter_rows())
    losses = np.array([gaps[arm] for arm in paths["recommended"]])
    row = final.row(0, named=True)
    assert row["error"] == (losses > 0).mean() and row["loss"] == pytest.approx(losses.mean())
    assert 0 < row["error"] < 0.5 and row["error_low"] < row["error"] < row["error_high"]
    assert times.filter(t=300).select(final.columns[:8]).equals(final.select(final.columns[:8]))
    lucb = final.filter(policy="LUCB(delta=0.3, epsilon=0.2)").row(0, named=True)
    stopped = result.finals.filter(policy="LUCB(delta=0.3, epsilon=0.2)")["stopped"]
    assert lucb["stopped"] == (stopped > 0).mean()
    assert final["stopping_time"].to_list()[2] is None
    assert type(result.plot_identification()).__name__ == "Figure"
    with pytest.raises(lr.InputError, match="record_recommendations=True"):
        lr.simulate("UCBE", "bernoulli:0.3,0.6", 30, runs=2, engine="reference").identification()


def test_files_of_experiments_have_the_same_recommendations(tmp_path):
    settings = {"horizon": 120, "runs": 6, "seed": 3, "record_recommendations": True, "engine": "reference"}
    environment, policies = "bernoulli:0.3,0.6,0.5", ["SuccessiveRejects", "APT(threshold=0.4)"]
    experiment = lr.Experiment(environments=environment, policies=policies, **settings)
    experiment.run(tmp_path)
    stored = lr.open_results(tmp_path)
    direct = lr.simulate(policies, environment, **settings)
    for by_time in (False, True):
        assert_frame_equal(stored.identification(by_time=by_time), direct.identification(by_time=by_time))


@pytest.mark.parametrize("settings", [{"delay": 3}, {"batch": 2}, {"period": 10}])
def test_recommendations_need_arms_with_fixed_means_and_rewards_known_at_once(settings):
    with pytest.raises(lr.InputError, match="leave out delays, batches, periods and drift"):
        lr.simulate("UCB1", "bernoulli:0.3,0.6", 30, 2, record_recommendations=True, **settings)


@pytest.mark.parametrize(
    "policy", [lr.LUCB(), lr.KLLUCB(), lr.TrackAndStop(), lr.EBTC(variance=0.25)], ids=str
)
def test_decisions_without_a_reward_are_of_several_arms(policy):
    agent = lr.Agent(policy, list("abcde"), seed=1)
    first = [agent.ask() for _ in range(10)]
    assert sorted(decision.arm for decision in first) == sorted("abcde" * 2)
    for decision in first:
        agent.tell(decision, float(decision.arm in "ab"))
    later = [agent.ask().arm for _ in range(8)]
    assert max(map(later.count, later)) < 8
    if isinstance(policy, lr.LUCB):  # the leader and its rival in turn
        assert sorted(map(later.count, set(later))) == [4, 4]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"choose": lambda self, arms, clock, rng: 0, "lower_bound": lambda *_: 0.0}, "has no lower_bound"),
        ({"accepts": lambda self, arm: True, "stop": lambda *_: True}, "does not stop"),
        ({"stop": lambda self, arms, clock: True, "eliminates_permanently": False}, "eliminates_permanently"),
        ({"choose": lambda self, arms, clock, rng: 0, "score": lambda *_: 0.0}, "one of score and choose"),
    ],
)
def test_a_class_that_contradicts_itself_is_named(members, message):
    with pytest.raises(lr.InputError, match=message):
        type("Mine", (lr.UCB1 if "accepts" in members or "stop" in members else lr.Policy,), members)


def test_a_verdict_has_what_the_policy_recommends():
    agent = lr.Agent(lr.TopTwoStopping(delta=0.2), ["red", "green"], seed=2)
    assert agent.verdict().recommended is None
    for pull in range(400):
        decision = agent.ask()
        agent.tell(decision, float(pull % 10 < (8 if decision.arm == "green" else 2)))
        if pull == 3:
            assert agent.verdict().recommended in ("red", "green") and not agent.verdict().stopped
    verdict = agent.verdict()
    assert verdict.recommended == "green" and verdict.stopped
    assert "The policy recommends green, and has stopped." in str(verdict)
    assert verdict.to_dict()["stopped"] is True
    plain = lr.Agent("MOSSVAnytime", ["red", "green"], seed=2)
    plain.tell(plain.ask(), 1.0)
    assert plain.verdict().recommended is None

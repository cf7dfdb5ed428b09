"""Every index against the formula of its source, written again here with SciPy, on random arms and times."""

from fractions import Fraction
from math import ceil, exp, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import lowregret as lr
from lowregret.policies import Arm, clock_at


def kl(p, q):
    """The divergence of Bernoulli distributions."""
    first = 0.0 if p == 0 else inf if q == 0 else p * log(p / q)
    second = 0.0 if p == 1 else inf if q == 1 else (1 - p) * log((1 - p) / (1 - q))
    return first + second


def kl_bound(m, n, level):
    """The largest q in [m, 1] with n kl(m, q) <= level."""
    if level <= 0 or m == 1:
        return m
    if n * kl(m, 1.0 - 1e-16) <= level:
        return 1.0
    return optimize.brentq(lambda q: n * kl(m, q) - level, m, 1.0 - 1e-16, xtol=1e-15, rtol=1e-15)


def log_plus(x):
    return max(log(x), 0.0)


def mossv(m, v, n, T, K, arms, a=1.2, c=1.4, caution=0.0):
    """The smallest of Bernstein's, MOSS's and Chernoff's bound; on the scale above 0.8. K stands for K'."""
    caution += 1 if arms == 2 else 0  # half of the default of peers
    plain = log_plus(T / (K * n))
    level = plain * (1 + caution * (plain / log(T / K)) ** 2) if plain else 0.0
    bernstein = m + sqrt(a * v * level / n) + c * level / n
    q = min(bernstein, m + sqrt(plain / n), kl_bound(m, n, level))
    return q if q <= 0.8 else 0.8 + 0.2 * (q - 0.8) / max(1 - q, 1e-17)


def counted_arms(K, T):
    """K', which is K up to 2 sqrt(T) arms, and 2 K for many."""
    return float(np.clip(K**3 / (4 * T), K, 2 * K))


def near(found, expected):
    """Whether two indices agree; above 0.8 on the scale of the bounds, whose distance from 1 is rounded."""
    found, expected = (x if x <= 0.8 else 1 - 0.04 / (x - 0.6) for x in (found, expected))
    return found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def klucb_switch(m, n, T, K, exponent):
    """The paper's two indices, and its f(T, K) = floor((T / K)^exponent)."""
    level = log_plus(T / (K * n))
    return kl_bound(m, n, level) if n <= (T / K) ** exponent + 1e-9 else m + sqrt(level / (2 * n))


def ucb_normal(m, v, n, t):
    """UCB1-NORMAL from the sum of squares, as printed."""
    squares = n * (Fraction(v) + Fraction(m) ** 2)  # exact: the difference below cancels
    if n < ceil(8 * log(t)):
        return inf
    return m + sqrt(16 * float(squares - n * Fraction(m) ** 2) / (n - 1) * log(t - 1) / n)


def score(policy, arm, clock):
    """The score in the first round, whose median raises no level."""
    return policy.arm_index(arm, clock, policy.first_round(clock), None)


FORMULAS = {
    lr.KLMOSS(): lambda m, v, n, t, T, K: klucb_switch(m, n, T, K, 1),
    lr.KLUCBSwitch(): lambda m, v, n, t, T, K: klucb_switch(m, n, T, K, 0.2),
    lr.KLUCBSwitch(exponent=8 / 9): lambda m, v, n, t, T, K: klucb_switch(m, n, T, K, 8 / 9),
    lr.UCBNormal(): lambda m, v, n, t, T, K: ucb_normal(m, v, n, t),
    lr.MOSSV(): lambda m, v, n, t, T, K: mossv(m, v, n, T, counted_arms(K, T), K),
    lr.MOSSV(a=8, c=13 / 3, caution=2): lambda m, v, n, t, T, K: mossv(
        m, v, n, T, counted_arms(K, T), K, 8, 13 / 3, 2
    ),
    lr.MOSSVAnytime(): lambda m, v, n, t, T, K: mossv(m, v, n, 1.5 * t, K, K),
    lr.MOSSVAnytime(caution=0.5): lambda m, v, n, t, T, K: mossv(m, v, n, 1.5 * t, K, K, caution=0.5),
    lr.UCB1(): lambda m, v, n, t, T, K: m + sqrt(2 * log(t - 1) / n),
    lr.UCB1(alpha=0.3): lambda m, v, n, t, T, K: m + sqrt(0.3 * log(t - 1) / n),
    lr.UCBTuned(): lambda m, v, n, t, T, K: (
        m + sqrt((log(t - 1) / n) * min(1 / 4, v + sqrt(2 * log(t - 1) / n)))
    ),
    lr.UCBV(): lambda m, v, n, t, T, K: m + sqrt(2 * v * 1.2 * log(t) / n) + 3 * 1.2 * log(t) / n,
    lr.UCBV(zeta=0.9, c=0.5, b=2): lambda m, v, n, t, T, K: (
        m + sqrt(2 * v * 0.9 * log(t) / n) + 3 * 0.5 * 2 * 0.9 * log(t) / n
    ),
    lr.MOSS(): lambda m, v, n, t, T, K: m + sqrt(log_plus(T / (K * n)) / n),
    lr.MOSSAnytime(): lambda m, v, n, t, T, K: m + sqrt((2.35 / 2) * log_plus(t / (K * n)) / n),
    lr.OCUCB(): lambda m, v, n, t, T, K: m + sqrt(3 / n * log(2 * T / t)),
    lr.OCUCB(alpha=2.1, psi=5): lambda m, v, n, t, T, K: m + sqrt(2.1 / n * log(5 * T / t)),
    lr.KLUCB(): lambda m, v, n, t, T, K: kl_bound(m, n, log(t)),
    lr.KLUCB(c=3): lambda m, v, n, t, T, K: kl_bound(m, n, log(t) + 3 * log(log(t))),
    lr.KLUCBPlus(): lambda m, v, n, t, T, K: kl_bound(m, n, log(t / n)),
    lr.KLUCBPlusPlus(): lambda m, v, n, t, T, K: kl_bound(
        m, n, log_plus(T / (K * n) * (1 + log_plus(T / (K * n)) ** 2))
    ),
    lr.KLUCBGauss(): lambda m, v, n, t, T, K: m + sqrt(2 * 0.25 * log(t) / n),
    lr.KLUCBGauss(variance=1e-4, plus=True): lambda m, v, n, t, T, K: m + sqrt(2e-4 * log(t / n) / n),
    lr.BayesUCBBeta(): lambda m, v, n, t, T, K: stats.beta.isf(1 / t, 1 + m * n, 1 + n - m * n),
    lr.BayesUCBBetaHorizon(c=2): lambda m, v, n, t, T, K: stats.beta.isf(
        1 / (t * log(T) ** 2), 1 + m * n, 1 + n - m * n
    ),
    lr.BayesUCBGauss(): lambda m, v, n, t, T, K: m + sqrt(0.25 / n) * stats.norm.isf(1 / t),
    lr.BayesUCBStudent(): lambda m, v, n, t, T, K: (
        m + sqrt(v * n / (n - 1)) / sqrt(n) * stats.t.isf(1 / t, n - 1)
    ),
}


@pytest.mark.parametrize("policy", FORMULAS, ids=str)
@settings(max_examples=200)
@given(
    pulls=st.integers(2, 10**5),
    successes=st.floats(0.0, 1.0),
    spread=st.floats(0.0, 1.0),
    later=st.integers(1, 10**6),
    rest=st.integers(0, 10**6),
    arms=st.integers(1, 1000),
)
def test_the_index_is_that_of_the_source(policy, pulls, successes, spread, later, rest, arms):
    mean = round(successes * pulls) / pulls
    variance = spread * mean * (1.0 - mean)
    t = pulls + later
    horizon = t + rest
    found = score(policy, Arm(0, pulls, mean, variance), clock_at(t, horizon, arms, 0.0))
    expected = FORMULAS[policy](mean, variance, pulls, t, horizon, arms)
    if isinstance(policy, lr.MOSSV | lr.MOSSVAnytime):
        assert near(found, expected)
    else:
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("policy", FORMULAS, ids=str)
def test_the_index_depends_on_the_horizon_exactly_if_the_class_needs_it(policy):
    arm = Arm(0, 12, 0.4, 0.2)
    scores = {score(policy, arm, clock_at(60, horizon, 4, 0.0)) for horizon in (100, 10_000, 10**6)}
    assert (len(scores) > 1) == ("horizon" in policy.needs)


@pytest.mark.parametrize(("mean", "variance"), [(0.5, 0.3), (1.2, 0.0), (-0.1, 0.01), (0.2, 5.0)])
def test_mossv_of_rewards_outside_the_unit_interval_uses_no_divergence(mean, variance):
    level = log(10_000 / (10 * 10))
    width = sqrt(1.2 * variance * level / 10) + 1.4 * level / 10
    found = score(lr.MOSSV(), Arm(0, 10, mean, variance), clock_at(500, 10_000, 10, 0.0))
    assert found == pytest.approx(mean + min(width, sqrt(level / 10)), rel=1e-12)
    assert (width > sqrt(level / 10)) == (variance > 0.0)


@given(pulls=st.integers(1, 10**5), mean=st.floats(0.0, 1.0), best=st.floats(0.0, 1.0))
def test_imed(pulls, mean, best):
    best = max(best, mean)
    found = -lr.IMED().score(Arm(0, pulls, mean, 0.0), clock_at(5, 10, 2, best))
    assert found == pytest.approx(pulls * kl(mean, best) + log(pulls), rel=1e-9, abs=1e-7)


class Fixed:
    """A source of chosen numbers in place of random ones, which notes what it was asked for."""

    def __init__(self, value):
        self.value, self.asked = value, None

    def normal(self):
        return self.value

    def uniform(self):
        return self.value

    def beta(self, a, b):
        self.asked = (a, b)
        return self.value

    def student(self, degrees):
        self.asked = degrees
        return self.value

    def binomial(self, trials, p):
        self.asked = (trials, p)
        return self.value

    def uniform_at(self, t):
        return self.value


def test_thompson_samplers_ask_for_the_posterior():
    clock = clock_at(50, 100, 3, 0.0)
    rng = Fixed(0.7)
    assert lr.ThompsonBeta().beta_posterior(Arm(0, 10, 0.3, 0.1)) == (4.0, 8.0)
    assert lr.ThompsonBeta().arm_index(Arm(0, 10, 0.3, 0.1), clock, None, rng) == 0.7
    assert rng.asked == pytest.approx((4.0, 8.0))
    expected = 10 * 0.3 / 11, sqrt(4.0 / 11)
    assert lr.ThompsonGauss(variance=4).normal_posterior(Arm(0, 10, 0.3, 0.1)) == pytest.approx(expected)
    assert lr.ThompsonGauss().normal_posterior(Arm(0, 0, 0.0, 0.0)) == (0.0, 1.0)
    n, v, alpha, rng = 10, 0.1, -1.0, Fixed(2.0)
    sum_of_squares = n * v
    scale = sqrt(sum_of_squares / (n * (n + 2 * alpha - 1)))
    found = lr.ThompsonNormal().sample(Arm(0, n, 0.3, v), clock, rng)
    assert found == pytest.approx(0.3 + 2.0 * scale)
    assert rng.asked == n + 2 * alpha - 1


@given(share=st.integers(2, 40), exponent=st.sampled_from([0.2, 0.25, 0.5]))
def test_klucb_switch_changes_its_index_after_a_whole_power(share, exponent):
    """T / K = n^(1 / exponent) exactly: the divergence is still used for n pulls, and not for n + 1."""
    power, clock = round(1 / exponent), clock_at(5, 10 * share ** round(1 / exponent), 10, 0.0)
    policy = lr.KLUCBSwitch(exponent=exponent)
    for n, bound in ((share, kl_bound), (share + 1, lambda m, n, level: m + sqrt(level / (2 * n)))):
        level = log_plus(share**power / n)
        assert policy.score(Arm(0, n, 0.3, 0.1), clock) == pytest.approx(bound(0.3, n, level), rel=1e-9)


@given(
    pulls=st.integers(1, 10**5),
    mean=st.floats(0.0, 1.0),
    normal=st.floats(-5.0, 5.0),
    arms=st.integers(1, 99),
)
def test_mots(pulls, mean, normal, arms):
    """A sample of standard deviation sqrt(1 / (rho n)), clipped at tau, for two variances of the rewards."""
    tau = sqrt(3 / pulls * log_plus(10_000 / (arms * pulls)))
    for variance in (1, 0.25):
        policy = lr.MOTS(rho=0.7, alpha=3, variance=variance)
        found = policy.sample(Arm(0, pulls, mean, 0.1), clock_at(50, 10_000, arms, 0.0), Fixed(normal))
        expected = min(normal / sqrt(0.7 * pulls), tau) * sqrt(variance)
        assert found == pytest.approx(mean + expected, rel=1e-12, abs=1e-12)


class Uniforms:
    """A source of given uniform numbers."""

    def __init__(self, *values):
        self.values = list(values)

    def uniform(self):
        return self.values.pop(0)


@given(pulls=st.integers(2, 10**4), mean=st.floats(0.001, 0.999), u=st.floats(1e-9, 1 - 1e-9))
def test_expts_plus_inverts_the_distribution_function(pulls, mean, u):
    clock, arm = clock_at(50, 100, 4, 0.0), Arm(0, pulls, mean, 0.1)
    x = lr.ExpTSPlus().sample(arm, clock, Uniforms(0.249, u))
    assert (x >= mean) == (u >= 0.5) or x == pytest.approx(mean, abs=1e-9)
    if min(x, 1 - x) > 1e-9:
        half = exp(-(pulls - 1) * kl(mean, x)) / 2
        assert (1 - half if u >= 0.5 else half) == pytest.approx(u, rel=1e-6, abs=1e-9)


def test_expts_plus_is_greedy_in_all_but_one_of_k_draws():
    clock = clock_at(50, 100, 4, 0.0)
    assert lr.ExpTSPlus().sample(Arm(0, 9, 0.3, 0.1), clock, Uniforms(0.251)) == 0.3
    assert lr.ExpTSPlus().sample(Arm(0, 9, 0.3, 0.1), clock, Uniforms(0.1, 0.5)) == pytest.approx(0.3)
    one = Arm(0, 1, 1.0, 0.0)
    assert [lr.ExpTSPlus().sample(one, clock, Uniforms(0.1, u)) for u in (0.0, 0.49, 0.5, 0.99)] == [
        0,
        0,
        1,
        1,
    ]
    sure = Arm(0, 9, 0.0, 0.0)
    assert lr.ExpTSPlus().sample(sure, clock, Uniforms(0.1, 0.0)) == 0.0
    assert lr.ExpTSPlus().sample(sure, clock, Uniforms(0.1, 0.75)) == pytest.approx(1 - 0.5 ** (1 / 8))


@pytest.mark.parametrize(
    ("a", "n", "trials"), [(1.1, 10, 11), (1.1, 1, 2), (2.0, 7, 14), (0.5, 5, 3), (1.1, 990, 1089)]
)
def test_phe_adds_pseudo_rewards(a, n, trials):
    clock, rng = clock_at(50, 100, 4, 0.0), Fixed(3.0)
    found = lr.PHE(a=a).sample(Arm(0, n, 0.4, 0.1), clock, rng)
    assert found == pytest.approx((0.4 * n + 3) / (n + trials))
    assert rng.asked == (trials, 0.5)


def test_a_reward_in_between_is_a_success_with_that_probability():
    for policy in (lr.ThompsonBeta(), lr.BayesUCBBeta()):
        assert policy.transform_reward(0.3, Fixed(0.29)) == 1.0
        assert policy.transform_reward(0.3, Fixed(0.31)) == 0.0
        assert policy.transform_reward(0.0, None) == 0.0
        assert policy.transform_reward(1.0, None) == 1.0


def test_epsilon_greedy_tosses_one_coin_a_step():
    clock = clock_at(50, 100, 3, 0.0)
    assert lr.EpsilonGreedy().sample(Arm(0, 10, 0.3, 0.1), clock, Fixed(0.09)) == 0.09
    assert lr.EpsilonGreedy().sample(Arm(0, 10, 0.3, 0.1), clock, Fixed(0.11)) == 0.3


def test_the_share_of_random_pulls():
    """A quarter of the steps explore, 3/4 of those off the best of four arms (5 sigma, so 6e-7)."""
    runs, horizon = 40, 2000
    result = lr.simulate(lr.EpsilonGreedy(0.25), lr.gaussian([0.0, 0.0, 0.0, 9.0], 0.0), horizon, runs=runs)
    wrong = result["EpsilonGreedy(epsilon=0.25)"].pulls[:, :3].sum() - 3 * runs
    steps = runs * (horizon - 4)
    share = 0.25 * 0.75
    assert abs(wrong - share * steps) < 5 * np.sqrt(share * (1 - share) * steps)

"""Rewards of one's own and of heavy tails: what the engine draws has the stated distribution."""

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

import lowregret as lr
from lowregret.environments import LogNormal, Pareto, TruncNormal
from lowregret.errors import InputError


def square(rng) -> float:
    return rng.uniform() ** 2


def power(exponent):
    def sample(rng):
        return rng.uniform() ** exponent

    return sample


OWN = lr.Bandit((lr.Sampled(square, 1 / 3, 4 / 45, 0, 1), lr.Sampled(power(0.5), 2 / 3, 1 / 18, 0, 1)), "own")


def drawn(bandit: lr.Bandit, arm: int, pulls: int = 20_000) -> np.ndarray:
    """Return rewards of an arm as the engine draws them."""
    return lr.trace(f"FixedArm(arm={arm})", bandit, horizon=pulls, seed=3).reward


@pytest.mark.parametrize(
    ("arm", "distribution"),
    [
        (LogNormal(-0.5, 0.75), stats.lognorm(0.75, scale=np.exp(-0.5))),
        (Pareto(4.5, 2.0), stats.pareto(4.5, scale=2.0)),
        (TruncNormal(0.75, 0.5, 0.0, 2.0), stats.truncnorm(-1.5, 2.5, 0.75, 0.5)),
        (TruncNormal(5.0, 1.0, 0.0, 1.0), stats.truncnorm(-5.0, -4.0, 5.0, 1.0)),
        (lr.Sampled(square, 1 / 3, 4 / 45, 0, 1), stats.beta(0.5, 1.0)),
    ],
)
def test_the_engine_and_numpy_draw_from_the_distribution(arm, distribution) -> None:
    bandit = lr.Bandit((arm,), "one")
    for rewards in (drawn(bandit, 0), bandit.sample(0, 20_000)):
        assert stats.kstest(rewards, distribution.cdf).pvalue > 1e-4
        assert arm.support[0] <= rewards.min() and rewards.max() <= arm.support[1]


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_the_engine_and_numpy_draw_sales(rate: float) -> None:
    bandit = lr.revenue(rate, 40, 50).scaled(-10, 30)
    sale = stats.lognorm(np.log1p(1.25**2) ** 0.5, loc=0.25, scale=1 / (1 + 1.25**2) ** 0.5)
    assert sale.mean() == pytest.approx(1.25)
    for rewards in (drawn(bandit, 0), bandit.sample(0, 20_000)):
        sold = rewards[rewards != 0.25]
        assert stats.binomtest(len(sold), 20_000, rate).pvalue > 1e-4
        assert stats.kstest(sold, sale.cdf).pvalue > 1e-4


def test_both_engines_draw_the_same_and_a_closure_keeps_its_value() -> None:
    compiled = lr.simulate(["MOSS", "UCB1"], OWN, horizon=300, runs=3)
    reference = lr.simulate(["MOSS", "UCB1"], OWN, horizon=300, runs=3, engine="reference")
    assert compiled.finals.equals(reference.finals)
    assert stats.kstest(drawn(OWN, 1), stats.beta(2.0, 1.0).cdf).pvalue > 1e-4


@pytest.mark.parametrize("policy", ["MOSS", "UCB1", "EpsilonGreedy", "RoundRobin", "ThompsonGauss"])
def test_an_error_names_the_arm_whose_sampler_returned_nan(policy: str) -> None:
    """Runs shuffle the arms, and the place of an arm in a run is not its number."""
    broken = lr.Sampled(lambda rng: np.nan * rng.uniform(), 0.5, 1 / 12, 0, 1)
    bandit = lr.Bandit((*lr.bernoulli([0.5] * 6).arms, broken), "broken")
    with pytest.raises(InputError, match="sampled: <lambda> returned nan for arm 6: return a number"):
        lr.simulate(policy, bandit, horizon=50, runs=8)


def test_scaling_a_sampler() -> None:
    scaled = OWN.scaled(-1, 1)
    assert scaled.means == pytest.approx((OWN.means + 1) / 2)
    assert drawn(scaled, 0) == pytest.approx((drawn(OWN, 0) + 1) / 2)
    assert scaled.support == (0.5, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: lr.simulate(
                "MOSS", lr.Bandit((lr.Sampled(lambda rng: rng.coin(), 0, 1),), "x"), horizon=9
            ),
            "sampled: Numba cannot compile <lambda>: Unknown attribute 'coin' of type Rng",
        ),
        (lambda: lr.Sampled(3, 0, 1), "sampled: sample must be a function of rng, got 3"),
        (
            lambda: lr.Sampled(square, 2, 1, 0, 1),
            "sampled: mean must lie between low and high, got 2 for 0 and 1",
        ),
        (lambda: lr.pareto(2, 1), "pareto: shape must be above 2, got 2 for arm 0"),
        (lambda: OWN.sample(2, 5), "sample: arm must be an integer from 0 to 1, got 2"),
    ],
)
def test_refusals(call, message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message


def test_a_bandit_is_a_sequence_of_arms() -> None:
    bandit = lr.bernoulli([0.1, 0.9])
    assert bandit[1] == bandit.arms[1] and list(bandit) == list(bandit.arms)
    assert bandit.sample(0, 4, np.random.default_rng(1)).shape == (4,)


def test_the_lower_bounds_of_heavy_tails() -> None:
    """The divergence of the registry is the integral of the definition."""
    from scipy.integrate import quad  # type: ignore[import-untyped]

    from lowregret.environments import entry_of

    for arm, one, two in (
        (LogNormal(0.0, 0.5), stats.lognorm(0.5), stats.lognorm(0.5, scale=1.5)),
        (Pareto(4.0, 1.0), stats.pareto(4.0), stats.pareto(3.0)),
    ):
        low = arm.support[0]
        value = quad(lambda x, f=one, g=two: f.pdf(x) * (f.logpdf(x) - g.logpdf(x)), low + 1e-12, 200.0)[0]
        assert entry_of(arm).divergence(arm, float(two.mean())) == pytest.approx(value, rel=1e-4)

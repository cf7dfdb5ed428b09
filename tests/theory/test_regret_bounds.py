"""``lr.bounds``: the testbeds, the notes, and the constant of Lai and Robbins by family."""

from math import inf, log

import polars as pl
import pytest
from scipy import integrate, optimize, stats

import lowregret as lr
from lowregret.theory import formulas
from lowregret.theory.regret_bounds import problem_constants

UNIFORM_TO_TWO_THIRDS = -optimize.minimize_scalar(
    # The integral of log(1 - u + 3 u z) over z from 0 to 1.
    lambda u: 1 - ((1 + 2 * u) * log(1 + 2 * u) - (1 - u) * log(1 - u)) / (3 * u),
    bounds=(0.01, 0.999),
    method="bounded",
    options={"xatol": 1e-9},
).fun
"""K_inf from the uniform distribution on [0, 1] to the mean 2/3."""


def row(table, name):
    return table.filter(name=name).row(0, named=True)


def constant(bandit, horizon=1_000):
    return problem_constants(bandit, horizon)["lai_robbins"]


def test_the_testbeds_of_the_paper():
    tables = {number: lr.bounds(f"paper-{number}") for number in (1, 2, 3, 4)}
    for number, table in tables.items():
        for name in ("Theorem 1", "Corollary 1"):
            line = row(table, name)
            assert line["kind"] == "part of a bound"
            assert line["note"].startswith("vacuous: above T x largest gap")
            assert ("[0, 1]" in line["note"]) == (number > 1)
    assert row(tables[1], "Theorem 1")["rest"] == "+ 194,239 C_0"
    assert "negative for 99 of the arms" in row(tables[3], "Theorem 1")["note"]
    assert row(tables[3], "Theorem 1")["value"] < 0
    assert "for all C_0, C_2 >= 1" in row(tables[4], "Theorem 1")["note"]


def test_lai_and_robbins_on_the_testbeds():
    kl = 0.07 * log(0.7) + 0.93 * log(0.93 / 0.9)
    assert constant("paper-1", None) == pytest.approx(19 * 0.03 / kl)
    assert constant("paper-2", None) == pytest.approx(66 * 0.02 / 0.02 + 33 * 0.5 / 0.08)
    # Only experiments 3 and 4 are too short for it.
    for number, short in ((1, False), (2, False), (3, True), (4, True)):
        table, known = lr.bounds(f"paper-{number}"), problem_constants(f"paper-{number}")
        lines = table.filter(pl.col("name").str.starts_with("Lai and Robbins")).to_dicts()
        assert len(lines) == (1 if number == 1 else 2)
        for line in lines:
            assert (line["value"] > known["uniform_regret"]) == short
            assert ("too short" in line["note"]) == short
        assert lines[0]["value"] == pytest.approx(known["lai_robbins"] * log(known["horizon"]))
    assert problem_constants("paper-1")["uniform_regret"] == pytest.approx(1710)
    assert problem_constants("paper-3")["uniform_regret"] == pytest.approx(3760)


def test_the_finite_time_lower_bound():
    name = "Garivier, Menard and Stoltz"
    line = row(lr.bounds("bernoulli:0.5,0.6,0.6", 100), name)
    kl = 0.5 * log(0.5 / 0.6) + 0.5 * log(0.5 / 0.4)
    assert line["value"] == pytest.approx(0.1 * formulas.finite_time_pulls(3, 100, kl))
    assert "for this T" in line["note"]
    assert row(lr.bounds(lr.empirical([[0, 1], [1, 2]]), 100), name)["value"] is None
    for number in (1, 2, 3, 4):
        lines = lr.bounds(f"paper-{number}").filter(pl.col("name").str.starts_with(name))
        assert len(lines) == (1 if number == 1 else 2)
        assert all(
            0 < value < problem_constants(f"paper-{number}")["uniform_regret"] for value in lines["value"]
        )


@pytest.mark.parametrize("policy", ["UCB1", "ThompsonBeta", "EUCBV"])
def test_policies_respect_the_finite_time_lower_bound(policy):
    for horizon in (20, 200):
        regret = lr.simulate(policy, "bernoulli:0.5,0.6", horizon, runs=4_000, seed=1, grid=1).regret(policy)
        bound = row(lr.bounds("bernoulli:0.5,0.6", horizon), "Garivier, Menard and Stoltz")["value"]
        assert regret.mean() > bound


def test_constants_of_a_small_problem():
    known = problem_constants("bernoulli:0.25,0.5,0.75", 1_000)
    assert (known["arms"], known["H_1"], known["uniform_regret"]) == (3, 36.0, 250.0)
    assert known["groups"][1] == {"gap": 0.25, "arms": 1, "H_i": 36.0, "round": 11}


def test_normal_arms_with_variances_known_and_unknown():
    table = lr.bounds(lr.gaussian([0.0, 1.0], [0.5, 9.0]), 1_000)
    assert row(table, "Lai and Robbins, variances known")["value"] == pytest.approx(log(1_000))
    assert row(table, "Lai and Robbins, variances unknown")["value"] == pytest.approx(2 * log(1_000) / log(3))


def test_divergences_against_numerical_integrals():
    def kl(first, second, low, high):
        return integrate.quad(lambda x: first.pdf(x) * (first.logpdf(x) - second.logpdf(x)), low, high)[0]

    expected = 1.5 / kl(stats.expon(0.5, 1.0), stats.expon(0.5, 2.5), 0.5, 60)
    arms = lr.Bandit((lr.exponential(1.0).arms[0], lr.exponential(2.5).arms[0]), "two").scaled(-0.5, 0.5)
    assert constant(arms) == pytest.approx(expected)
    counts = stats.poisson(2), stats.poisson(3)
    expected = 1 / sum(counts[0].pmf(k) * (counts[0].logpmf(k) - counts[1].logpmf(k)) for k in range(80))
    assert constant(lr.poisson([2, 3])) == pytest.approx(expected)
    # The least divergence over normal distributions of mean 1 and any variance, found by search.
    best = optimize.minimize_scalar(
        lambda s: kl(stats.norm(0, 0.7), stats.norm(1, s), -6, 6), bounds=(0.5, 3), method="bounded"
    )
    table = lr.bounds(lr.gaussian([0, 1], 0.49), 1_000)
    assert row(table, "Lai and Robbins, variances unknown")["value"] == pytest.approx(log(1_000) / best.fun)
    # Uniform distributions with mean 0.9 that cover [0, 1]: from -x to 1.8 + x.
    widths = [log(1.8 + 2 * x) for x in (0.0, 0.1, 0.5)]
    assert constant(lr.uniform([0, 0.4], [1, 1.4])) == pytest.approx(0.4 / min(widths))


def test_lai_and_robbins_does_not_depend_on_the_unit():
    for bandit in (
        lr.bernoulli([0.2, 0.5]),
        lr.exponential([1, 2]),
        lr.poisson([1, 3]),
        lr.uniform(0, [1, 2]),
    ):
        assert constant(bandit.scaled(-1, 3)) == pytest.approx(constant(bandit) / 4)


@pytest.mark.parametrize(
    ("bandit", "expected"),
    [
        (lr.bernoulli([0.5, 1.0]), 0.0),  # one failure shows that an arm is not the best
        (lr.gaussian([0.1, 0.2], 0.0), 0.0),
        (lr.poisson([0, 2]), 1.0),
        (lr.uniform([0.1, 0.2], [0.1, 0.2]), 0.0),
        (lr.bernoulli([0.5]), 0.0),
        (lr.beta([1, 2], 1), pytest.approx(1 / 6 / UNIFORM_TO_TWO_THIRDS)),
        (lr.beta([1e-9, 2], 1), None),
        (lr.empirical([[0, 0, 0, 1], [0, 1]]), pytest.approx(0.25 / (0.25 * log(0.5) + 0.75 * log(1.5)))),
        (lr.empirical([[0.5], [0.8]]), pytest.approx(0.3 / log(2.5))),  # (1 - 0.5) / (1 - 0.8)
        (lr.empirical([[0.5], [1]]), 0.0),
        (lr.empirical([[0, 1], [1, 2]]), None),
        (lr.beta(1, 1) + lr.bernoulli([0.4]), pytest.approx(0.1 / (0.4 * log(0.8) + 0.6 * log(1.2)))),
    ],
)
def test_lai_and_robbins_in_corner_cases(bandit, expected):
    assert constant(bandit) == expected
    line = lr.bounds(bandit, 1_000).filter(kind="lower bound").row(0, named=True)
    assert (line["value"] is None) == (expected is None)


def test_an_informative_bound_is_not_called_vacuous():
    table = lr.bounds("bernoulli:0.4*4,0.9", 10**12)
    by_proof = "by the constants in the proof"
    refuted = "refuted for large T where variances are small, see docs/explanation/theory.md"
    assert row(table, "Theorem 1")["note"] == f"for b = sqrt(e / T); C_0 = 5,888 {by_proof}; {refuted}"
    stated = "stated for equal gaps of sqrt(K log K / T), where no policy exceeds it"
    assert row(table, "Corollary 1")["note"] == f"{stated}; C_3 = 8,832 {by_proof}"


def test_theorem_1_with_gaps_on_both_sides_of_b():
    line = row(lr.bounds("bernoulli:0.4999,0.4,0.5", 10**6), "Theorem 1")
    assert "C_0 = 5,888, C_2 = 2,944 by the constants in the proof" in line["note"]


def test_violated_assumptions_are_noted():
    note = row(lr.bounds("gaussian:mean=0,1,1;variance=1", 10), "Theorem 1")["note"]
    for words in ("T >= K^2.4", "rewards in [0, 1]", "one optimal arm"):
        assert f"assumes {words}, which does not hold here" in note
    assert "stated for 3 arms" in row(lr.bounds("bernoulli:0.1,0.2", 10), "Corollary 1")["note"]


@pytest.mark.parametrize("bandit", ["bernoulli:0.5", "gaussian:mean=1*3;variance=0", "bernoulli:0,1e-200"])
def test_every_number_is_finite(bandit):
    for horizon in (1, 2, 2**53):
        for value in [*lr.bounds(bandit, horizon)["value"], *problem_constants(bandit, horizon).values()]:
            assert value not in (inf, -inf)


def test_bad_input_is_refused():
    with pytest.raises(
        lr.InputError, match="bounds: horizon is required, since 'bernoulli:0.1' has none of its own"
    ):
        lr.bounds("bernoulli:0.1")
    with pytest.raises(lr.InputError, match="horizon must be an integer of at least 1, got 0"):
        lr.bounds("paper-1", 0)

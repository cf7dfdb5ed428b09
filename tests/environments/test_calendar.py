"""Bandits with a common factor by period: strings, files, experiments, and what is refused."""

import numpy as np
import pytest

import lowregret as lr
from lowregret.engine.kernels.drifting import mean_path
from lowregret.environments.calendar import period_factors

ARMS = lr.bernoulli([0.1, 0.12])


@pytest.mark.parametrize(
    ("arguments", "factors"),
    [
        ({"weekend": 1.3}, [0.88] * 5 + [1.3] * 2),
        ({"trend": (0.5, 1.5), "periods": 3}, [0.5, 1.0, 1.5]),
        ({"days": {2: 3}}, [1, 3, 1, 1, 1, 1, 1]),
        ({"days": {2: 3}, "factors": [1, 0.5, 2]}, [1, 1.5, 2]),
        ({"weekend": 1.3, "trend": (1, 2), "periods": 2}, [0.88, 1.76]),
    ],
)
def test_the_factors(arguments, factors):
    assert period_factors(**arguments).tolist() == pytest.approx(factors)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("weekend=1.3", {"weekend": 1.3}),
        ("trend=0.5,1.5; periods=14", {"trend": (0.5, 1.5), "periods": 14}),
        ("3=2.5; 5=2", {"days": {3: 2.5, 5: 2.0}}),
        ("weekend=1.3; file=factors.csv", {"weekend": 1.3, "factors": [1, 2, 0.5]}),
    ],
)
def test_strings_and_files_are_the_constructor(tmp_path, monkeypatch, text, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "factors.csv").write_text("factor\n1\n2\n0.5\n")
    made = lr.rhythm(ARMS, 100, **arguments)
    assert lr.environment(f"bernoulli:0.1,0.12 | rhythm: every=100; {text}").drift == made.drift


def test_toml_files_and_experiments_have_a_drift(tmp_path):
    (tmp_path / "factors.csv").write_text("factor\n1\n2\n0.5\n")
    tables = ("weekend = 1.3", 'days = {"3" = 2.5}', 'file = "factors.csv"')
    for line, arguments in zip(
        tables, ({"weekend": 1.3}, {"days": {3: 2.5}}, {"factors": [1, 2, 0.5]}), strict=True
    ):
        made = lr.rhythm(ARMS, 100, **arguments)
        drift = f'kind = "rhythm"\nevery = 100\n{line}\n'
        (tmp_path / "shop.toml").write_text(
            f'family = "bernoulli"\nprobabilities = [0.1, 0.12]\n[drift]\n{drift}'
        )
        assert lr.environment(tmp_path / "shop.toml").drift == made.drift
        (tmp_path / "experiment.toml").write_text(
            'horizon = 700\nruns = 1\npolicies = ["UCB1"]\n[[environments]]\n'
            f'environment = "bernoulli:0.1,0.12"\nname = "shop"\n[environments.drift]\n{drift}'
        )
        assert (
            lr.Experiment.from_toml(tmp_path / "experiment.toml").resolved_environments[0].bandit.drift
            == made.drift
        )


def test_an_error_in_the_drift_of_an_experiment_names_its_key(tmp_path):
    (tmp_path / "experiment.toml").write_text(
        'horizon = 700\nruns = 1\npolicies = ["UCB1"]\n[[environments]]\n'
        'environment = "bernoulli:0.1,0.12"\n[environments.drift]\nkind = "rhythmic"\n'
    )
    with pytest.raises(lr.InputError, match=r"drift.*did you mean 'rhythm'"):
        lr.Experiment.from_toml(tmp_path / "experiment.toml")


@pytest.mark.parametrize("arguments", [{"weekend": 1.5}, {"trend": (0.5, 1.5), "periods": 9}])
def test_the_engine_has_the_means_of_every_step(arguments):
    bandit, steps = lr.rhythm(ARMS, 10, **arguments), np.arange(1, 201)
    assert mean_path(bandit, 200).best.tolist() == bandit.means_at(steps).max(axis=1).tolist()


def test_a_weekend_alone_repeats():
    shop = lr.rhythm(ARMS, 10, weekend=1.5)
    assert shop.means_at(51).tolist() == shop.means_at(7 * 10 * 1_000 + 51).tolist()
    assert shop.averages(70)[0] == pytest.approx(ARMS.means)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give weekend, trend"),
        ({"weekend": 4}, "weekend must lie between 0 and 3.5"),
        ({"trend": (1, 2)}, "a trend needs the number of periods"),
        ({"trend": (1, 2, 3), "periods": 3}, "trend must be two factors"),
        ({"factors": [1, -1]}, "each of factors must be positive"),
        ({"factors": [1, 2], "periods": 3}, "3 periods need as many factors, got 2"),
        ({"days": {9: 2}, "periods": 3}, "there are 3 periods, got a factor of period 9"),
        ({"days": [3]}, "days must be periods with their factors"),
        ({"days": {1: 20}}, "the mean of a Bernoulli arm must stay in"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(lr.InputError, match=message):
        lr.rhythm(ARMS, 10, **arguments)

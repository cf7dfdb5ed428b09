"""Texts with holes: arithmetic, and nothing more than arithmetic."""

import pytest

import lowregret as lr
from lowregret.errors import InputError
from lowregret.experiments.templates import combinations, fill_template, names_in


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("nothing", "nothing"),
        ("{K}", "10"),
        ("{K-1}", "9"),
        ("{K/2}", "5"),
        ("{-gap}", "-0.1"),
        ("{(K+2)*gap}", "1.2"),
        ("{0.1+0.02}", "0.12"),
        ("{1-9*gap}", "0.1"),
        ("{1/3}", "0.3333333333333333"),
        ("{K**-20}", "1e-20"),
        ("{K**2}", "100"),
        ("{family}:{0.5+gap}", "bernoulli:0.6"),
    ],
)
def test_filling(text: str, filled: str) -> None:
    assert fill_template(text, {"K": 10, "gap": 0.1, "family": "bernoulli"}) == filled


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{L}", "{L} is not a name of the grid: it has K, word"),
        ("{K/0}", "not a finite number for K=2"),
        ("{10.0**1000}", "not a finite number"),
        ("{9**9**9**9}", "not a finite number"),
        ("{(-1)**0.5}", "not a finite number"),
        ("{word+1}", "{word} must be a number"),
        ("{K.real}", "cannot read {K.real}"),
        ("{__import__('os')}", "cannot read"),
        ("{K if K else 1}", "cannot read"),
        ("{}", "cannot read {}"),
        ("{1+}", "cannot read {1+}"),
    ],
)
def test_what_is_no_arithmetic_is_refused(text: str, told: str) -> None:
    with pytest.raises(InputError) as error:
        fill_template(text, {"K": 2, "word": "x"})
    assert told in str(error.value)


def test_names() -> None:
    assert names_in("a {K-1} b {gap} {K}") == {"K", "gap"}


def test_combinations_of_nothing_is_one() -> None:
    assert list(combinations({})) == [{}]
    assert len(list(combinations({"a": [1, 2], "b": [3, 4, 5]}))) == 6


def test_a_name_is_short_and_determines_the_environment() -> None:
    entry = {"environment": "bernoulli:0.1,{0.1+gap}", "grid": {"gap": [0.02, 0.2, 1 / 3]}}
    cases = lr.Experiment(environments=[entry], policies="UCB1", horizon=9).resolved_environments
    assert [case.name for case in cases[:2]] == ["bernoulli:0.1,0.12", "bernoulli:0.1,0.3"]
    assert [lr.environment(case.name).arms for case in cases] == [case.bandit.arms for case in cases]

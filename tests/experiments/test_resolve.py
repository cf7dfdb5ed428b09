"""What an experiment expands to: names, labels of sweeps, policies for some environments, and limits."""

from time import process_time

import pytest

import lowregret as lr
from lowregret.errors import InputError


def experiment(**given) -> lr.Experiment:
    return lr.Experiment(**{"environments": "bernoulli:0.1,0.9", "horizon": 50, "runs": 2, **given})


@pytest.mark.parametrize("name", ["a\x1b[31mb", "a\nb", "a\x00b", "a\u2028b"])
def test_control_characters_in_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="name must have no control characters"):
        experiment(environments=[{"environment": "bernoulli:0.1,0.9", "name": name}], policies="MOSS")
    with pytest.raises(InputError, match="name must have no control characters"):
        experiment(name=name, policies="MOSS")
    with pytest.raises(InputError, match="name must have no control characters"):
        lr.Bandit(lr.bernoulli([0.1, 0.9]).arms, name)


def test_a_string_over_several_lines_is_named_on_one() -> None:
    assert lr.environment("bernoulli:0.1,\n  0.9").name == "bernoulli:0.1, 0.9"


@pytest.mark.parametrize(
    "entry",
    [
        {"policy": "UCB1(alpha=1)", "parameters": {"alpha": 2}},
        {"policy": "UCB1(alpha=2)", "parameters": {"alpha": 3}},  # 2 is the default
        {"policy": "UCB1(alpha=1)", "grid": {"alpha": [2, 3]}},
        {"policy": "UCB1", "parameters": {"alpha": 1}, "grid": {"alpha": [2, 3]}},
    ],
)
def test_a_parameter_is_given_once(entry: dict) -> None:
    with pytest.raises(InputError, match="alpha is in (policy|parameters) as well: give it once"):
        experiment(policies=[entry])


def test_a_swept_parameter_is_in_the_label_also_at_its_default() -> None:
    made = experiment(policies=["MOSS", {"policy": "UCB1", "grid": {"alpha": [1, 2]}}])
    assert [player.name for player in made.resolved_policies] == ["MOSS", "UCB1(alpha=1)", "UCB1(alpha=2)"]
    result = made.run()
    assert result.policies == ("MOSS", "UCB1(alpha=1)", "UCB1(alpha=2)")
    assert result.summary().filter(policy="UCB1(alpha=2)")["alpha"].to_list() == [2.0]
    with pytest.raises(InputError, match="UCB1 is given twice"):
        experiment(policies=["UCB1", {"policy": "UCB1", "grid": {"alpha": [1, 2]}}])
    named = experiment(policies=[{"policy": "UCB1", "name": "ours"}, "UCB1"])
    assert [player.name for player in named.resolved_policies] == ["ours", "UCB1"]


def test_policies_for_some_environments() -> None:
    made = experiment(
        environments=[
            {"environment": "bernoulli:0.1*{K-1},0.9", "name": "coins", "grid": {"K": [2, 3]}},
            "gaussian:mean=0,1;variance=1",
        ],
        policies=["UCB1", {"policy": "MOSS", "environments": ["coins"]}],
    )
    result = made.run()
    assert result.pairs == [
        ("coins (K=2)", "UCB1"),
        ("coins (K=2)", "MOSS"),
        ("coins (K=3)", "UCB1"),
        ("coins (K=3)", "MOSS"),
        ("gaussian:mean=0,1;variance=1", "UCB1"),
    ]
    assert result.compare("UCB1").height == 2


def test_an_unknown_environment_of_a_policy() -> None:
    with pytest.raises(InputError, match=r"policies\[0\].environments: unknown environment 'coin': did you"):
        experiment(
            environments=[{"environment": "bernoulli:0.1,0.9", "name": "coins"}],
            policies=[{"policy": "MOSS", "environments": ["coin"]}],
        )
    with pytest.raises(InputError, match="no policy plays on 'bernoulli:0.1,0.8'"):
        experiment(
            environments=["bernoulli:0.1,0.9", "bernoulli:0.1,0.8"],
            policies=[{"policy": "MOSS", "environments": ["bernoulli:0.1,0.9"]}],
        )


def test_a_grid_that_nobody_could_wait_for_is_refused_at_once() -> None:
    grid = {"p": [i / 1000 for i in range(1000)], "q": [i / 1000 for i in range(1000)]}
    began = process_time()  # which other processes do not lengthen
    with pytest.raises(InputError, match="1,000,000 environments and 1 policy are 1,000,000 combinations"):
        experiment(environments=[{"environment": "bernoulli:{p},{q}", "grid": grid}], policies="MOSS")
    assert process_time() - began < 5.0


def test_a_million_equal_arms_are_made_once() -> None:
    bandit = lr.environment("bernoulli:0.1*{K}".replace("{K}", "999999"))
    assert len(bandit) == 999_999
    assert len({id(arm) for arm in bandit.arms}) == 1


def test_a_name_alone_as_the_grid() -> None:
    made = experiment(policies="MOSS", grid="log", horizon=1_000)
    assert made.resolved_environments[0].times[:3] == (1, 2, 3)
    with pytest.raises(InputError, match="grid.scale must be 'linear' or 'log', got 'square'"):
        experiment(policies="MOSS", grid="square")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lr.simulate("eucb", "paper-1"), "unknown policy 'eucb': did you mean 'EUCBV'?"),
        (lambda: lr.simulate("UCB", "paper-1"), "unknown policy 'UCB': use lr.UCB1"),
        (lambda: experiment(policies="Mos"), "unknown policy 'Mos': did you mean 'MOSS'?"),
        (
            lambda: lr.environment("bernouli:0.1"),
            "unknown environment 'bernouli:': did you mean 'bernoulli:'?",
        ),
        (lambda: lr.environment("paper1"), "unknown environment 'paper1': did you mean 'paper-1'?"),
        (lambda: lr.environment("poisson"), "poisson: give its parameters, as in poisson:..."),
        (
            lambda: experiment(environments=[{"family": "gausian", "means": [0, 1]}], policies="MOSS"),
            "unknown family 'gausian': did you mean 'gaussian'?",
        ),
    ],
)
def test_did_you_mean(call, message: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).endswith(message)

"""``lowregret bounds`` as a user meets it."""

import json

import pytest
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.theory.regret_bounds import problem_constants


def call(*arguments: str):
    """Call the command line inside this process."""
    return CliRunner().invoke(app, ["bounds", *arguments], prog_name="lowregret")


def test_the_table_has_constants_and_every_statement():
    result = call("--environment", "paper-1")
    assert result.exit_code == 0 and result.stderr == ""
    assert "paper-1, horizon T = 60,000, K = 20 arms" in result.stdout
    for name in lr.bounds("paper-1")["name"]:
        assert name in result.stdout
    for words in ("22,222.2", "1,134.6", "+ 194,239 C_0", "vacuous", "order without constant"):
        assert words in result.stdout
    assert "Lemma 3" not in result.stdout


def test_json_is_one_object_with_what_the_library_gives():
    result = call("-e", "gaussian:mean=0.1,0.2;variance=0.25", "--horizon", "5000", "--json")
    assert result.stdout.count("\n") == 1
    data = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(name))
    lines = data.pop("bounds")
    bandit = "gaussian:mean=0.1,0.2;variance=0.25"
    assert lines == lr.bounds(bandit, 5_000).to_dicts()
    assert data == problem_constants(bandit, 5_000)


def test_estimates_on_demand():
    arguments = ["-e", "bernoulli:0.5,1", "--horizon", "100", "--runs", "20", "--seed", "4"]
    rows = json.loads(call(*arguments, "--json").stdout)["estimates"]
    assert [row["event"] for row in rows] == ["optimal arm eliminated", "Lemma 3", "Lemma 5"]
    assert rows[1]["exact"] < rows[1]["bound"]
    shown = call(*arguments).stdout
    assert "0 of 20" in shown and "0 to 0.168" in shown


def test_many_gaps_are_not_all_printed():
    means = ",".join(str(i / 20) for i in range(20))
    assert "and 10 more gaps" in call("-e", f"bernoulli:{means}", "--horizon", "100").stdout


@pytest.mark.parametrize(
    "environment", ["bernoulli:0.5", "gaussian:mean=1*3;variance=0", "bernoulli:0,1e-200"]
)
def test_corner_cases_print_and_are_valid_json(environment):
    assert call("-e", environment, "--horizon", "1").exit_code == 0
    text = call("-e", environment, "--horizon", "1", "--json").stdout
    json.loads(text, parse_constant=lambda name: pytest.fail(name))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-e", "bernoulli:0.1,0.2"], "bounds: horizon is required"),
        (["-e", "paper-9"], "paper-9"),
        (["-e", "paper-1", "--horizon", "0"], "got 0"),
        (["-e", "paper-1", "--runs", "0"], "got 0"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("lowregret: ") and message in result.stderr

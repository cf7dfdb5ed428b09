"""Experiments as files and objects: what they mean, and one clear sentence for what is wrong."""

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import lowregret as lr
from lowregret._common.spec_errors import line_of
from lowregret.cli.run_command import write_starter

GOOD = {"environments": ["bernoulli:0.1,0.5"], "policies": ["MOSS"], "horizon": 50}


def names(experiment: lr.Experiment) -> list[str]:
    return [case.name for case in experiment.resolved_environments]


def toml(folder: Path, text: str) -> Path:
    path = folder / "my.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_grid_gives_every_combination() -> None:
    entry = {
        "environment": "gaussian:mean=0.5*{K-1},{0.5+gap};variance={variance}",
        "name": "K={K}, gap={gap}, v={variance}",
        "horizon": "{100*K}",
        "grid": {"K": [2, 3], "gap": [0.1, 0.2], "variance": [0.25]},
    }
    experiment = lr.Experiment(environments=[entry], policies=["MOSS"])
    assert names(experiment)[:2] == ["K=2, gap=0.1, v=0.25", "K=2, gap=0.2, v=0.25"]
    assert [case.horizon for case in experiment.resolved_environments] == [200, 200, 300, 300]
    assert experiment.resolved_environments[3].bandit.means.tolist() == [0.5, 0.5, 0.7]


def test_a_name_without_holes_gets_the_values() -> None:
    entry = {"environment": "bernoulli:0.1,{p}", "name": "coins", "grid": {"p": [0.2, 0.3]}}
    experiment = lr.Experiment(**{**GOOD, "environments": [entry]})
    assert names(experiment) == ["coins (p=0.2)", "coins (p=0.3)"]


def test_policies_with_parameters_and_grids() -> None:
    policies = [
        "UCB1(alpha=1)",
        {"policy": "UCB1", "grid": {"alpha": [0.5, 2]}},
        {"policy": "EUCBV", "parameters": {"rho": 1}, "grid": {"width": ["paper", "released"]}},
        {"policy": "FixedArm", "parameters": {"arm": 1}},
        lr.MOSS(),
    ]
    experiment = lr.Experiment(**{**GOOD, "policies": policies})
    assert [player.name for player in experiment.resolved_policies] == [
        "UCB1(alpha=1)",
        "UCB1(alpha=0.5)",
        "UCB1(alpha=2)",
        "EUCBV(rho=1, width='paper')",
        "EUCBV(rho=1, width='released')",
        "FixedArm(arm=1)",
        "MOSS",
    ]


def test_objects_and_texts_are_the_same_experiment() -> None:
    one = lr.Experiment(environments=lr.paper(1), policies=lr.MOSS(), runs=2)
    two = lr.Experiment(environments="paper-1", policies="MOSS", runs=2)
    assert one.resolved_environments == two.resolved_environments
    assert one.resolved_policies == two.resolved_policies


def test_inline_families_and_arms() -> None:
    entries = [
        {"family": "gaussian", "means": [0.1, 0.2], "variances": 0.25},
        {"name": "mixed", "arms": [{"family": "bernoulli", "probability": 0.3, "count": 2}], "scale": [0, 2]},
    ]
    first, second = lr.Experiment(**{**GOOD, "environments": entries}).resolved_environments
    assert (first.name, first.bandit.variances.tolist()) == ("gaussian", [0.25, 0.25])
    assert (second.name, second.bandit.means.tolist()) == ("mixed", [0.15, 0.15])


@pytest.mark.parametrize("suffix", ["csv", "parquet", "CSV"])
def test_rewards_from_a_file(tmp_path: Path, suffix: str) -> None:
    table = pl.DataFrame({"a": [0, 1, None], "b": [1.0, 0.5, 0.0]})
    path = tmp_path / f"clicks.{suffix}"
    table.write_csv(path) if suffix.lower() == "csv" else table.write_parquet(path)
    text = f'horizon = 9\npolicies = ["MOSS"]\n[[environments]]\nrewards = "clicks.{suffix}"\n'
    (case,) = lr.Experiment.from_toml(toml(tmp_path, text)).resolved_environments
    assert (case.name, case.bandit.means.tolist()) == ("clicks", [0.5, 0.5])


def test_paths_start_where_the_file_is(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('family = "bernoulli"\nprobabilities = [0.1, 0.2]\nhorizon = 7\n')
    experiment = lr.Experiment.from_toml(
        toml(tmp_path, 'environments = ["mine.toml"]\npolicies = ["MOSS"]\n')
    )
    assert (experiment.name, names(experiment), experiment.resolved_environments[0].horizon) == (
        "my",
        ["mine"],
        7,
    )


OWN = """
import lowregret as lr

class Mine(lr.Policy):
    width: float = 1.0
    def score(self, arm, clock):
        return arm.mean + self.width / arm.pulls
"""


def test_your_own_class_next_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "my_policies.py").write_text(OWN)
    text = (
        'environments = "paper-1"\n[[policies]]\npolicy = "my_policies:Mine"\nparameters = { width = 0.5 }\n'
    )
    (player,) = lr.Experiment.from_toml(toml(tmp_path, text)).resolved_policies
    assert player.name == "Mine(width=0.5)"
    before = player.reference.identity
    (tmp_path / "my_policies.py").write_text(OWN.replace("arm.mean +", "arm.mean -"))
    (player,) = lr.Experiment.from_toml(tmp_path / "my.toml").resolved_policies
    assert player.reference.identity != before


def test_log_grid() -> None:
    experiment = lr.Experiment(**{**GOOD, "horizon": 1000, "grid": {"points": 4, "scale": "log"}})
    assert experiment.resolved_environments[0].times == (1, 10, 100, 1000)


WRONG = {
    "environments is missing": {"environments": ...},
    "unknown key 'enviroments', did you mean 'environments'?": {"environments": ..., "enviroments": []},
    "policies[0]: unknown key 'polcy', did you mean 'policy'?": {"policies": [{"polcy": "UCB1"}]},
    "environments must have at least one entry, got []": {"environments": []},
    "unknown key 'polices', did you mean 'policies'?": {"polices": []},
    "unknown key 'xyz', use name, horizon, runs": {"xyz": 1},
    "runs must be at least 1, got 0": {"runs": 0},
    "runs must be an integer, got '3'": {"runs": "3"},
    "horizon must be an integer, got 1.5": {"horizon": 1.5},
    "seed must be at least 0, got -1": {"seed": -1},
    "clip must be true or false, got 1": {"clip": 1},
    "grid must be a table, got 3": {"grid": 3},
    "grid.scale must be 'linear' or 'log', got 'cubic'": {"grid": {"scale": "cubic"}},
    "grid: unknown key 'point', did you mean 'points'?": {"grid": {"point": 3}},
    "environments[0].environment must be a string": {"environments": [7]},
    "environments[0]: give one of environment, random, rewards, family, arms, got none": {
        "environments": [{}]
    },
    "environments[0]: give one of environment, random, rewards, family, arms, got environment and family": {
        "environments": [{"environment": "paper-1", "family": "beta"}]
    },
    "environments[0].means: goes with family": {"environments": [{"environment": "paper-1", "means": 1}]},
    "environments[0]: unknown key 'mean', did you mean 'means'?": {"environments": [{"mean": 1}]},
    "environments[0].family: gaussian: variance is missing": {
        "environments": [{"family": "gaussian", "means": [1]}]
    },
    "environments[0].environment: bernoulli: a probability must lie in [0, 1], got 2.0": {
        "environments": ["bernoulli:2"]
    },
    "environments[0].environment: unknown environment 'paper-9'": {"environments": ["paper-9"]},
    "environments[0]: give a horizon, since 'bernoulli:0.1,0.5' has none": {"horizon": None},
    "environments[0].horizon must be an integer from 1": {
        "environments": [{"environment": "paper-1", "horizon": 0}]
    },
    "environments[0].horizon must be an integer from 1 to 2^53, got '1.5'": {
        "environments": [{"environment": "paper-1", "horizon": "{K/2}", "grid": {"K": [3]}}]
    },
    "environments[0].horizon must be an integer from 1 to 2^53, got '000000000000000000099": {
        "environments": [
            {"environment": "paper-1", "horizon": "0" * 19 + "9" * 20 + "{K}", "grid": {"K": [3]}}
        ]
    },
    "environments[0].grid.K must have at least one entry, got []": {
        "environments": [{"environment": "bernoulli:{K}", "grid": {"K": []}}]
    },
    "environments[0].grid.K[0] must be a number, a string or true or false, got [1]": {
        "environments": [{"environment": "bernoulli:{K}", "grid": {"K": [[1]]}}]
    },
    "environments[0].grid.L is not used: write {L}": {
        "environments": [{"environment": "bernoulli:{K}", "grid": {"K": [1], "L": [1]}}]
    },
    "environments[0].environment: {L} is not a name of the grid": {
        "environments": [{"environment": "bernoulli:{K},{L}", "grid": {"K": [1]}}]
    },
    "environments[1]: two environments have the name 'paper-1'": {"environments": ["paper-1", "paper-1"]},
    "environments[0].rewards: a file of rewards must be .csv or .parquet": {
        "environments": [{"rewards": "x.txt"}]
    },
    "environments[0].rewards: cannot read 'none.csv'": {"environments": [{"rewards": "none.csv"}]},
    "environments[0].environment: no module 'nowhere': put nowhere.py into": {
        "environments": ["nowhere:mine"]
    },
    "environments[0].environment: json:JSONEncoder must be a Bandit, or a function that returns one": {
        "environments": ["json:JSONEncoder"]
    },
    "environments[0].scale: scale: low must lie below high": {
        "environments": [{"environment": "paper-1", "scale": [1.0, 0.0]}]
    },
    "policies[0].policy: unknown policy 'UCB2'": {"policies": ["UCB2"]},
    "policies[0].policy: no module 'nowhere': put nowhere.py into": {"policies": ["nowhere:Mine"]},
    "policies[0].policy: cannot read 'mine.py:Mine': leave out .py": {"policies": ["mine.py:Mine"]},
    "policies[0].policy: json:JSONDecoder: 'json' has no class": {"policies": ["json:JSONDecoder"]},
    "policies[0].policy: MOSS is a class: write MOSS()": {"policies": [lr.MOSS]},
    "policies[0].parameters: unknown key 'alpa', did you mean 'alpha'?": {
        "policies": [{"policy": "UCB1", "parameters": {"alpa": 1}}]
    },
    "policies[0].parameters.arm is missing": {"policies": ["FixedArm"]},
    "policies[0]: UCB1: alpha must be positive, got -1": {
        "policies": [{"policy": "UCB1", "grid": {"alpha": [-1]}}]
    },
    "policies[0].grid.alpha is in parameters as well": {
        "policies": [{"policy": "UCB1", "parameters": {"alpha": 1}, "grid": {"alpha": [2]}}]
    },
    "policies[1]: MOSS is given twice": {"policies": ["MOSS", "MOSS"]},
    "policies[0]: KLUCB needs rewards in [0, 1], and the rewards of 'paper-2'": {
        "environments": ["paper-2"],
        "policies": ["KLUCB"],
    },
    "policies[0]: on 'bernoulli:0.1,0.5': FixedArm: arm must be": {"policies": ["FixedArm(arm=7)"]},
}


@pytest.mark.parametrize(("told", "change"), WRONG.items(), ids=range(len(WRONG)))
def test_what_is_wrong_is_told_in_one_sentence(told: str, change: dict) -> None:
    given = {key: value for key, value in {**GOOD, **change}.items() if value is not ...}
    with pytest.raises(lr.InputError) as error:
        lr.Experiment(**given)
    assert str(error.value).startswith(told), str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_names_the_line(tmp_path: Path) -> None:
    text = 'horizon = 9\n\n[[environments]]\nenvironment = "paper-1"\n\n[[environments]]\n'
    text += 'environment = "bernoulli:{K}"\n[environments.grid]\nK = []\n\n[[policies]]\npolicy = "MOSS"\n'
    with pytest.raises(lr.InputError) as error:
        lr.Experiment.from_toml(toml(tmp_path, text))
    assert str(error.value) == "my.toml, line 9: environments[1].grid.K must have at least one entry, got []"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("horizon = ", "my.toml is not valid TOML: "),
        ("folder = 'x'", "my.toml: unknown key 'folder'"),
        ("runs = 0\npolicies = ['MOSS']\nenvironments = ['paper-1']", "my.toml, line 1: runs must be"),
    ],
)
def test_a_bad_file(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(lr.InputError) as error:
        lr.Experiment.from_toml(toml(tmp_path, text))
    assert str(error.value).startswith(told)


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text('family = "bernoulli"\nprobabilities = [0.1, 0.5]', "utf-8-sig")
    (tmp_path / "rewards.csv").write_text("a,b\n0.5,1\n", "utf-8-sig")
    text = 'policies = "MOSS"\nhorizon = 9\n[[environments]]\nenvironment = "two.toml"\n[[environments]]\n'
    (tmp_path / "my.toml").write_text(f'{text}rewards = "rewards.csv"', "utf-8-sig")
    first, second = lr.Experiment.from_toml(tmp_path / "my.toml").resolved_environments
    assert first.bandit.means.tolist() == [0.1, 0.5] and second.bandit.means.tolist() == [0.5, 1.0]


POINT = "write decimals with a point, as in 0.5, and separate columns by commas"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,b\n", "'rewards.csv' has a header and no rows: give at least one"),
        ('a,b\n1,"0,5"\n', f"column 'b' of 'rewards.csv' must hold only numbers, got '0,5': {POINT}"),
        ("a;b\n1;2\n", f"column 'a;b' of 'rewards.csv' must hold only numbers, got '1;2': {POINT}"),
        ("a;b\n0,5;0,1\n", f"cannot read 'rewards.csv': a row has more fields than the header: {POINT}"),
        ("a,b\n1,x\n", "column 'b' of 'rewards.csv' must hold only numbers, got 'x'"),
        ("a,b\n1,\n2,\n", "column 'b' of 'rewards.csv' must hold only numbers, got None"),
    ],
)
def test_what_is_wrong_in_a_file_of_rewards(tmp_path: Path, monkeypatch, text: str, problem: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rewards.csv").write_text(text)
    with pytest.raises(lr.InputError) as error:
        lr.Experiment(environments=[{"rewards": "rewards.csv"}], policies="UCB1", horizon=9)
    assert str(error.value) == f"environments[0].rewards: {problem}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(lr.InputError, match="cannot read .*none.toml'"):
        lr.Experiment.from_toml(tmp_path / "none.toml")


def test_lines_of_inline_lists_and_of_nothing() -> None:
    text = 'policies = [\n  "MOSS",\n]\n'
    assert line_of(text, ("policies", 0, "policy")) == 1
    assert line_of(text, ("runs",)) is None


def test_the_starter_is_a_good_experiment_and_keeps_to_the_schema(tmp_path: Path) -> None:
    import tomllib

    path = tmp_path / "new.toml"
    write_starter(path)
    experiment = lr.Experiment.from_toml(path)
    assert (len(experiment.resolved_environments), len(experiment.resolved_policies)) == (5, 4)
    schema = lr.Experiment.model_json_schema()
    json.dumps(schema)
    jsonschema.validate(tomllib.loads(path.read_text()), schema)
    jsonschema.validate({"environments": ["paper-1"], "policies": ["MOSS"]}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"environments": ["paper-1"], "policies": ["MOSS"], "rums": 3}, schema)
    with pytest.raises(lr.InputError, match="exists already"):
        write_starter(path)


def test_every_source_of_the_starter_that_is_commented_out_is_known(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    write_starter(path)
    pl.DataFrame({"a": [1, 2], "b": [3, 4]}).write_csv(tmp_path / "clicks.csv")
    (tmp_path / "my_policies.py").write_text(OWN)
    lines = path.read_text().splitlines()
    keys = ("# clip", "# grid", "# [[", "# rewards", "# scale", "# policy", "# parameters")
    path.write_text("\n".join(line[2:] if line.startswith(keys) else line for line in lines))
    experiment = lr.Experiment.from_toml(path)
    assert (len(experiment.resolved_environments), len(experiment.resolved_policies)) == (6, 5)


def test_a_copy_is_checked_and_written_out_anew() -> None:
    experiment = lr.Experiment(**GOOD)
    assert experiment.resolved_environments[0].horizon == 50
    assert experiment.model_copy(update={"horizon": 60}).resolved_environments[0].horizon == 60
    with pytest.raises(lr.InputError, match="runs must be at least 1"):
        experiment.model_copy(update={"runs": 0})

"""Delays and batches in experiments: files, sweeps, folders and reports."""

import json

import pytest
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app


def test_a_file_with_a_sweep_over_delays(tmp_path) -> None:
    (tmp_path / "delays.csv").write_text("steps\n3\n9\n")
    (tmp_path / "late.toml").write_text(
        """
        policies = ["UCB1"]
        horizon = 200
        runs = 8
        seed = 3
        delay = "empirical('delays.csv')"

        [[environments]]
        environment = "bernoulli:0.2,0.8"
        name = "from the file"

        [[environments]]
        environment = "bernoulli:0.2,0.8"
        name = "swept"
        delay = "geometric(mean={d})"
        batch = "{d}"
        grid = { d = [2, 20] }
        """
    )
    results = lr.Experiment.from_toml(tmp_path / "late.toml").run(tmp_path / "out")
    assert results.delay_notes == {
        "from the file": f"delay empirical({str(tmp_path / 'delays.csv')!r})",
        "swept (d=2)": "delay geometric(mean=2), batches of 2",
        "swept (d=20)": "delay geometric(mean=20), batches of 20",
    }
    same = lr.simulate("UCB1", "bernoulli:0.2,0.8", 200, 8, 3, delay="geometric(20)", batch=20)
    assert results.regret("UCB1", "swept (d=20)").tolist() == same.regret("UCB1").tolist()
    given = lr.simulate("UCB1", "bernoulli:0.2,0.8", 200, 8, 3, delay=lr.Delay.empirical([3, 9]))
    assert results.regret("UCB1", "from the file").tolist() == given.regret("UCB1").tolist()
    again = lr.open_results(tmp_path / "out")
    assert again.delay_notes == results.delay_notes
    again.report(tmp_path / "report", figures="none")
    assert "delay geometric(mean=20), batches of 20" in (tmp_path / "report" / "report.html").read_text()


def test_an_experiment_without_delay_says_nothing_of_it(tmp_path) -> None:
    experiment = lr.Experiment(environments="bernoulli:0.1,0.9", policies="UCB1", horizon=50, runs=4)
    results = experiment.run(tmp_path)
    assert results.delay_notes == {}
    assert results.to_dict()["delay"] == "0" and results.to_dict()["batch"] == 1
    known = json.loads((tmp_path / "experiment.json").read_text())
    assert "delay" not in known["spec"]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "delay",
            -1,
            "delay must be an integer of at least 0, or a string such as 'geometric(mean=50)', got -1",
        ),
        ("delay", "geometric(mean=-1)", "delay: the mean of geometric must be from 0 to 2^53, got -1"),
        ("batch", 0, "batch must be at least 1, got 0"),
    ],
)
def test_bad_values_name_their_key(key, value, message) -> None:
    with pytest.raises(lr.InputError) as error:
        lr.Experiment(environments="bernoulli:0.1,0.9", policies="UCB1", horizon=50, **{key: value})
    assert str(error.value) == message


def test_the_command_says_how_late_rewards_are(tmp_path) -> None:
    path = tmp_path / "late.toml"
    path.write_text('environments = ["bernoulli:0.2,0.8"]\npolicies = ["UCB1"]\nhorizon = 50\ndelay = 5\n')
    printed = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path / "out")]).stdout
    assert "horizon 50, 100 runs, seed 0, delay 5\n" in printed

"""Results show themselves: `print` has the table and sentences of the command line, notebooks round."""

import polars as pl
import pytest
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.errors import InputError

TWO = ["MOSS", "RoundRobin"]


@pytest.fixture(scope="module")
def result() -> lr.Results:
    return lr.simulate(TWO, "bernoulli:0.1,0.9", horizon=200, runs=30, engine="reference")


def called(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments, prog_name="lowregret")
    assert done.exit_code == 0, done.output
    return done.stdout


def test_print_is_the_table_of_the_command_line(result, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ours = str(result).splitlines()
    options = ["-e", "bernoulli:0.1,0.9", "-p", "MOSS", "-p", "RoundRobin", "--horizon", "200"]
    theirs = called("simulate", *options, "--runs", "30", "--engine", "reference").splitlines()
    assert ours[-1] == theirs[-1] == "bernoulli:0.1,0.9, horizon 200, 30 runs, seed 0"
    for place in (0, 2, 3):  # the command line also has the time of a step
        assert ours[place].split() == theirs[place].split()[: len(ours[place].split())]
    assert ours[0].split()[:4] == ["policy", "mean", "se", "median"] and "ns/step" not in str(result)
    assert "\n" not in repr(result)


def test_a_summary_has_the_seven_columns_people_read(result) -> None:
    short, table = result.summary(), result.summary(all=True)
    assert type(short) is pl.DataFrame
    assert short.columns == ["environment", "policy", "runs", "mean", "se", "median", "worst05"]
    assert len(table.columns) > 20 and table.select(short.columns).equals(short)
    comparison = result.compare("RoundRobin")
    assert len(comparison.columns) == 7 and isinstance(comparison, pl.DataFrame)
    assert result.compare("RoundRobin", all=True).select(comparison.columns).equals(comparison)


def test_what_was_asked_for_stays_in_the_short_summary() -> None:
    policies = [lr.UCB1(alpha=1), lr.UCB1(alpha=2)]
    played = lr.simulate(
        policies, "bernoulli:0.1,0.9", 50, runs=4, engine="reference", record_rewards=True
    ).with_metrics(lr.Metric("least pulls", lambda pulls, rewards: pulls.min(axis=1)))
    assert {"alpha", "realised_regret", "metric.least pulls"} < set(played.summary().columns)
    assert "least pulls" in str(played) and "realised" in str(played)


def test_a_comparison_prints_its_sentences(result, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = str(result.compare("RoundRobin"))
    assert "  MOSS has lower regret than RoundRobin: by " in text and "(30 runs)" in text
    assert str(result.compare("RoundRobin", all=True)) == text
    assert str(result.compare("RoundRobin").select("policy")).startswith("shape:")
    assert "<td" in result.compare("RoundRobin")._repr_html_()
    share = lr.Metric("best", lambda pulls, rewards: pulls[:, 1] / pulls.sum(axis=1), lower_is_better=False)
    by_share = result.compare("RoundRobin", metric=share)
    assert "MOSS is better than RoundRobin in these runs: by 0." in str(by_share)
    assert "student_low" in by_share.columns


def test_many_environments_print_one_table() -> None:
    entries = [{"environment": "bernoulli:0.1,{q}", "grid": {"q": [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]}}]
    experiment = lr.Experiment(environments=entries, policies=TWO, horizon=30, runs=4, engine="reference")
    assert repr(experiment) == "Experiment('experiment': 2 policies, 7 environments, 4 runs, seed 0)"
    assert str(experiment).splitlines()[0] == "experiment: 4 runs, seed 0"
    assert "bernoulli:0.1,0.8 (horizon 30)" in str(experiment) and "policies: MOSS, RoundRobin" in str(
        experiment
    )
    many = experiment.run()
    assert "mean rank" in str(many) and "7 environments, 4 runs" in str(many)
    few = lr.Experiment(
        environments=entries[0]["environment"].replace("{q}", "0.5"), policies=TWO, horizon=30, runs=4
    )
    assert "horizon 30, 4 runs, seed 0" in str(few.run())


def test_a_notebook_shows_rounded_numbers(result) -> None:
    html = result._repr_html_()
    assert "MOSS</td>" in html and "worst05" in html and "p95" not in html
    mean = result.summary()["mean"][0]
    assert f">{mean:.3g}<" in html and str(mean) not in html


def test_results_are_a_collection_of_policies(result) -> None:
    assert len(result) == 2 and list(result) == TWO
    assert "MOSS" in result and lr.MOSS() in result and "UCB1" not in result
    for wrong in (0, slice(1), ("MOSS", 1)):
        with pytest.raises(InputError, match=r"indexed by a policy, such as result\['MOSS'\]"):
            result[wrong]
    with pytest.raises(InputError, match="did you mean 'MOSS'"):
        result["moss"]


def test_an_agent_and_its_verdict_print_as_on_the_command_line(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    file = str(tmp_path / "a.db")
    with lr.open_agent(file, lr.UCB1(), ["red", "green"]) as agent:
        for _ in range(60):
            choice = agent.ask()
            agent.tell(choice, choice.arm == "green")
        text, verdict, closed = str(agent), agent.verdict(), repr(agent)
    assert closed == "Agent(UCB1, 2 arms, 60 pulls)"
    assert text + "\n" == called("agent", "show", file)
    assert str(verdict).startswith(verdict.sentence) and "best: posterior probability" in str(verdict)
    assert len(str(verdict).splitlines()) > 4
    assert called("agent", "verdict", file).startswith(verdict.sentence)
    assert repr(verdict) == f"Verdict({verdict.sentence!r})"
    assert str(agent) == repr(agent)  # of a closed agent


def test_a_plan_a_league_and_a_replay_print(tmp_path) -> None:
    plan = lr.plan(options=2, rate=0.2, lift=0.5, visitors=100, days=5, policies="RoundRobin", runs=4)
    assert "Fixed split: power" in str(plan) and "fixed split" in str(plan) and "--explain" not in str(plan)
    assert repr(plan).startswith("Plan(2 options, 500 visitors in 5 days") and "\n" not in repr(plan)
    log = {"arm": ["a", "b", "c"] * 200, "reward": [0, 1, 0] * 200}
    replayed = lr.replay(log, lr.FixedArm(1), resamples=0)
    assert "mean reward" in str(replayed) and "600 rows, 3 arms" in str(replayed)

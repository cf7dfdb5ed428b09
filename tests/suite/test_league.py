"""The league: its numbers are those of simulations, it is continued, and a user's policy takes part."""

import json

import polars as pl
import pytest
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.suite import league as league_module
from lowregret.suite import league_page, participants
from lowregret.suite.league_testbeds import TESTBEDS
from lowregret.suite.stability import STABILITY, stability

POLICIES = ("MOSS", "UCB1", "KLUCB", "KLUCBGauss", "MOSSV", "MOSSVAnytime")
BEDS = ("short", "gaussian-tiny")
OWN = """
import lowregret as lr

class Greedy(lr.Policy):
    index_trend = "constant"

    def score(self, arm, clock):
        return arm.mean
"""


@pytest.fixture(scope="module", autouse=True)
def few_runs():
    """Make the league small; a generous time keeps the runs equal on a slow machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(participants.SIZES, "quick", participants.LeagueSize(6_000, 60.0, 4, 20))
        patch.setitem(league_module.SEARCH, "quick", {"horizon": 100, "arms": 2, "starts": 4, "runs": 20})
        patch.setattr(league_module, "SLOW_STEP_SECONDS", 1.0)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("league")


@pytest.fixture(scope="module")
def found(folder):
    return lr.league(out=folder, testbeds=BEDS, policies=POLICIES, seed=7)


def score(found, bed, policy):
    return found.scores.filter(testbed=bed, policy=policy).row(0, named=True)


def test_scores_are_those_of_a_simulation(found):
    regret = lr.simulate("MOSS", TESTBEDS["short"].bandit(), runs=20, seed=7).regret("MOSS")
    row = score(found, "short", "MOSS")
    assert (row["runs"], row["mean"]) == (20, pytest.approx(regret.mean()))
    assert row["se"] == pytest.approx(regret.std(ddof=1) / 20**0.5)
    assert row["ns_per_step"] > 0


def test_scores_and_standings_say_what_the_means_are_worth(found):
    bandit = TESTBEDS["short"].bandit()
    pulls = lr.simulate("MOSS", bandit, runs=20, seed=7)["MOSS"].pulls
    row = score(found, "short", "MOSS")
    assert {name: row[name] for name in STABILITY} == stability(bandit, 7, {"MOSS": pulls})["MOSS"]
    placed = found.standings.filter(scope="all testbeds", policy="MOSS")["cover_worst"].item()
    assert placed == pytest.approx(sum(score(found, bed, "MOSS")["cover_worst"] for bed in BEDS) / len(BEDS))


def test_a_policy_that_cannot_play_is_marked(found):
    assert score(found, "gaussian-tiny", "KLUCB") | {
        "runs": 0,
        "mean": None,
        "note": "needs rewards in [0, 1]",
    } == (score(found, "gaussian-tiny", "KLUCB"))
    assert score(found, "short", "KLUCBGauss")["note"] == "needs a known variance"
    assert "assumes rewards in [0, 1]" in score(found, "gaussian-tiny", "MOSS")["note"]
    everywhere = found.standings.filter(scope="all testbeds")["policy"].to_list()
    assert sorted(everywhere) == ["MOSS", "MOSSV", "MOSSVAnytime", "UCB1"]
    assert "KLUCB" in found.standings.filter(scope="rewards in [0, 1]")["policy"].to_list()


def test_a_known_variance_is_given(found):
    policy = lr.KLUCBGauss(variance=0.0001)
    regret = lr.simulate(policy, TESTBEDS["gaussian-tiny"].bandit(), runs=4, seed=7).regret(policy)
    assert score(found, "gaussian-tiny", "KLUCBGauss")["mean"] == pytest.approx(regret.mean())


def test_a_league_is_continued_and_takes_a_policy_from_a_file(found, folder, tmp_path, monkeypatch):
    (tmp_path / "entrant.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    computed = []

    def count(now):
        if now.unit == "shards":
            computed.append(now.total)

    monkeypatch.setattr(league_module, "worst_case", None)  # what was searched is not searched again
    known = lr.league(out=folder, testbeds=BEDS, policies=POLICIES, seed=7, progress=count)
    assert sum(computed) == 0
    assert known.scores.equals(found.scores)
    assert known.worst_cases.equals(found.worst_cases)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(participants.SIZES, "quick", participants.LeagueSize(6_000, 60.0, 4, 20))
        patch.setitem(league_module.SEARCH, "quick", {})
        more = lr.league(
            out=folder,
            testbeds=BEDS,
            policies=POLICIES,
            seed=7,
            progress=count,
            policy="entrant:Greedy",
        )
    assert more.policies.filter("own")["policy"].to_list() == ["Greedy"]
    assert max(computed) == 1  # only its own shard on each testbed
    assert score(more, "short", "MOSS") == score(found, "short", "MOSS")


def test_worst_cases_are_in_the_table(found):
    assert sorted(found.worst_cases["policy"]) == ["KLUCB", "MOSS", "MOSSV", "MOSSVAnytime", "UCB1"]


def test_the_page_and_the_tables_are_written(found, folder):
    files = found.report(folder)
    html = files[0].read_text()
    for words in (
        "Standings: all testbeds",
        "needs a known variance",
        "covers worst",
        "gaussian-tiny",
    ):
        assert words in html
    assert pl.read_csv(folder / "scores.csv").height == len(BEDS) * len(POLICIES)
    stored = json.loads((folder / "league.json").read_text())
    assert len(stored["standings"]) == len(found.standings)
    assert stored["size"] == "quick"


def test_all_policies_that_learn_take_part():
    names = {player.name for player in participants.participants()}
    assert {"EUCBV", "MOSS", "MOSSV", "MOSSVAnytime", "ThompsonBeta"} <= names
    assert not {"FixedArm", "RoundRobin"} & names


def test_the_family_is_what_the_class_says(found):
    families = dict(found.policies.select("policy", "family").iter_rows())
    assert families["MOSSV"] == families["MOSSVAnytime"] == families["KLUCB"] == "Bernoulli"
    assert families["KLUCBGauss"] == "Gaussian"
    assert families["MOSS"] is families["UCB1"] is None


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.01, 100), (0.02, 50), (0.2, 5), (0.5, 4), (0.75, 4), (0.8, 0)]
)
def test_slow_policies_have_fewer_runs(seconds, expected):
    assert participants.affordable_runs(100, seconds, share=1.0) == expected


def test_runs_are_round_numbers_within_the_limits():
    size = participants.LeagueSize(1_000_000, 1.0, 20, 400)
    assert [participants.planned_runs(horizon, size) for horizon in (100, 3_000, 30_000, 10**6)] == [
        200,
        200,
        20,
        20,
    ]


def test_invalid_arguments_are_refused(tmp_path):
    with pytest.raises(lr.InputError, match="size must be one of quick, standard, full, got 'huge'"):
        lr.league("huge", out=tmp_path)
    with pytest.raises(lr.InputError, match="unknown testbed 'nope'"):
        lr.league(testbeds=["nope"], out=tmp_path)
    with pytest.raises(lr.InputError, match="two policies are called MOSS"):
        lr.league(policies=["MOSS"], policy="MOSS", testbeds=["short"], out=tmp_path)


def test_the_command_prints_standings_and_json(monkeypatch, tmp_path):
    monkeypatch.setattr(participants, "POLICIES", {name: getattr(lr, name) for name in ("MOSS", "UCB1")})
    call = ["league", "--testbed", "short", "--out", str(tmp_path), "--policy", "UCB1(alpha=1)"]
    printed = CliRunner().invoke(app, call)
    assert printed.exit_code == 0, printed.output
    for words in ("Standings: all testbeds", "UCB1(alpha=1)", "league.html"):
        assert words in printed.output
    data = json.loads(CliRunner().invoke(app, [*call, "--json"]).stdout)
    assert {row["policy"] for row in data["scores"]} == {"MOSS", "UCB1", "UCB1(alpha=1)"}
    wrong = CliRunner().invoke(app, ["league", "--size", "huge"])
    assert wrong.exit_code == 2


def test_every_scope_has_an_explanation():
    kinds = {league_module.BINARY, league_module.GRADED, league_module.OUTSIDE}
    assert set(league_page.SCOPES) == {league_module.ALL, league_module.UNIT_REWARDS} | kinds


def test_standings_by_kind_of_reward(found):
    by_scope = {scope: part["policy"].to_list() for (scope,), part in found.standings.group_by("scope")}
    assert "KLUCB" in by_scope["rewards 0 and 1"] and "KLUCB" not in by_scope["rewards beyond [0, 1]"]
    assert "rewards between 0 and 1" not in by_scope  # none of these testbeds has such rewards


def test_the_time_of_a_step_is_measured_once_and_kept(tmp_path, monkeypatch):
    bandit, (player,) = TESTBEDS["short"].bandit(), participants.participants(policies=["MOSS"])
    costs = participants.Costs(tmp_path / "new" / "costs.json")
    first = costs.of(player, player.policy, bandit, 300)
    assert 0 < first < 1e-3
    costs.save()
    monkeypatch.setattr(participants, "measure_step", None)
    assert participants.Costs(costs.path).of(player, player.policy, bandit, 300) == first
    costs.path.write_text("[1")
    assert participants.Costs(costs.path).measured == {}

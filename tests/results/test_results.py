"""Results: made by a simulation, joined, with the columns of a sweep."""

import json

import polars as pl
import pytest
from analysis_data import frames_of

import lowregret as lr
from lowregret.analysis.columns import TABLE_COLUMNS
from lowregret.results import join

TABLES = ("finals", "paths", "pulls", "events", "arms")
POLICIES = ["EUCBV", "UCB1(alpha=1)", "UCB1", "ThompsonBeta"]


@pytest.fixture(scope="module")
def trio(tmp_path_factory: pytest.TempPathFactory) -> list[lr.Results]:
    """The same problem by simulate, by an experiment in memory, and from the folder of an experiment."""
    text, folder = "beta:a=1,2;b=2,1", tmp_path_factory.mktemp("results")
    experiment = lr.Experiment(
        name=text, environments=text, policies=POLICIES, horizon=300, runs=25, seed=4, grid={"points": 10}
    )
    experiment.run(folder)
    simulated = lr.simulate(POLICIES, text, 300, runs=25, seed=4, grid=10)
    return [simulated, experiment.run(), lr.open_results(folder)]


def test_a_simulation_and_an_experiment_have_equal_tables(trio: list[lr.Results]) -> None:
    simulated, *others = trio
    for other in others:
        assert other.description == simulated.description
        for table in TABLES:
            ours, theirs = getattr(simulated, table), getattr(other, table)
            assert ours.schema == theirs.schema, table
            assert ours.equals(theirs), table
            assert simulated.scan(table).collect().equals(other.scan(table).collect())


def test_a_simulation_and_an_experiment_have_equal_summaries(trio: list[lr.Results]) -> None:
    simulated, *others = trio
    for other in others:
        assert simulated.summary(all=True).equals(other.summary(all=True))
        assert simulated.curves().equals(other.curves())
        assert simulated.compare("EUCBV", all=True).equals(other.compare("EUCBV", all=True))
        assert simulated.notes == other.notes
        assert simulated.plot().to_dict() == other.plot().to_dict()
        for policy in POLICIES:
            one, two = simulated[policy], other[policy]
            for name in ("grid", "regret", "pulls"):
                assert getattr(one, name).tolist() == getattr(two, name).tolist()
            assert (one.eliminated is None) == (two.eliminated is None)
            if one.eliminated is not None:
                assert one.eliminated.tolist() == two.eliminated.tolist()
            assert simulated.regret(policy).tolist() == other.regret(policy).tolist()
    timeless = [
        [
            {key: value for key, value in each.items() if key not in ("seconds", "threads")}
            for each in policies
        ]
        for policies in (result.to_dict()["policies"] for result in trio)
    ]
    assert timeless[0] == timeless[1] == timeless[2]


def test_the_columns(trio: list[lr.Results]) -> None:
    for name, columns in TABLE_COLUMNS.items():
        found = getattr(trio[0], "paths" if name == "curves" else name).columns
        assert tuple(column for column in found if column != "alpha") == columns
    with pytest.raises(lr.InputError, match="no table 'curves': use finals, paths"):
        trio[0].scan("curves")


def test_notes_say_how_rewards_were_changed(trio: list[lr.Results]) -> None:
    assert list(trio[0].notes) == ["ThompsonBeta"]
    assert trio[0].notes["ThompsonBeta"].startswith("rewards transformed by ThompsonBeta: ")
    experiment = lr.Experiment(
        environments=["paper-1", "gaussian:mean=0,1;variance=1", "gaussian:mean=0,2;variance=1"],
        policies="KLUCB",
        horizon=9,
        runs=1,
        clip=True,
    )
    found = experiment.run().notes
    where = "'gaussian:mean=0,1;variance=1', 'gaussian:mean=0,2;variance=1'"
    assert found == {"KLUCB": f"in {where}: rewards clipped to [0, 1]"}


def test_a_policy_that_eliminated_nothing_counts_0(trio: list[lr.Results]) -> None:
    for result in trio:
        assert result.summary(all=True)["optimal_arm_eliminated"].to_list() == [0, None, None, None]


def test_a_sweep_of_a_policy_is_a_column(trio: list[lr.Results]) -> None:
    for result in trio:
        assert result.summary(all=True).columns[:4] == ["environment", "policy", "alpha", "runs"]
        assert result.summary(all=True)["alpha"].to_list() == [None, 1.0, 2.0, None]
        assert result.finals.columns == ["environment", "policy", "alpha", "run", "regret"]
        assert result.compare("EUCBV", all=True).columns[:4] == ["environment", "policy", "baseline", "alpha"]
        assert "alpha" in result.curves().columns
        assert "alpha" not in result.arms.columns


def test_a_sweep_of_environments_is_a_column() -> None:
    experiment = lr.Experiment(
        environments=[
            {"environment": "bernoulli:0.5*{K-1},{0.5+gap}", "grid": {"K": [2, 5], "gap": [0.1, 0.4]}}
        ],
        policies=["MOSS", {"policy": "EpsilonGreedy", "grid": {"epsilon": [0.1, 0.2]}}],
        horizon=20,
        runs=2,
    )
    table = experiment.run().summary(all=True)
    assert table.columns[:6] == ["environment", "policy", "K", "gap", "epsilon", "runs"]
    assert table.filter(K=5, gap=0.4, epsilon=0.2).height == 1
    assert table["epsilon"].to_list() == [None, 0.1, 0.2] * 4
    assert experiment.run().arms.columns == ["environment", "K", "arm", "mean", "variance", "gap", "optimal"]


def test_a_name_that_is_taken_gets_a_prefix() -> None:
    experiment = lr.Experiment(
        environments=[{"environment": "bernoulli:0.1,0.2,{alpha}", "grid": {"alpha": [0.5, 0.6]}}],
        policies=["FixedArm(arm=0)", "FixedArm(arm=1)", "UCB1", "UCB1(alpha=1)"],
        horizon=20,
        runs=2,
    )
    pulls = experiment.run().pulls
    assert pulls.columns == [
        "environment", "policy", "environment.alpha", "policy.arm", "policy.alpha", "run", "arm", "pulls"
    ]  # fmt: skip
    assert pulls["policy.arm"].unique().sort().to_list() == [None, 0, 1]


def test_summaries_of_a_simulation_build_no_long_tables() -> None:
    result = lr.simulate(["EUCBV", "MOSS"], "bernoulli:0.1,0.9", horizon=60, runs=3)
    (
        result.summary(all=True),
        result.curves(),
        result.compare("MOSS", all=True),
        result.to_dict(),
        result.plot(),
    )
    assert not {"paths", "pulls", "events"} & vars(result).keys()


def test_joined_results_keep_a_seed_they_share() -> None:
    one, other = frames_of({"e": {"A": [1.0]}}), frames_of({"f": {"A": [2.0]}})
    joined = join("both", [one, other])
    assert (joined.name, joined.seed, len(joined.finals)) == ("both", 1, 2)
    assert joined.outcome("A", "f").regret[:, -1].tolist() == [2.0]
    assert joined.summary(all=True)["mean"].to_list() == [1.0, 2.0]


def test_several_environments_need_a_name() -> None:
    results = frames_of({"e": {"A": [1.0]}, "f": {"A": [2.0]}})
    for call in (results.plot_tail, results.to_dict, lambda: results["A"]):
        with pytest.raises(lr.InputError, match="name the environment: these results have e, f"):
            call()
    with pytest.raises(lr.InputError, match="unknown environment 'g': these results have e, f"):
        results.outcome("A", "g")
    assert results.regret("A", "f").tolist() == [2.0]
    assert results.plot("f").title.text == "f"


def test_the_error_for_an_unknown_policy_lists_those_of_the_environment() -> None:
    results = frames_of({"e": {"A": [1.0]}, "f": {"B": [2.0], "C": [3.0]}})
    with pytest.raises(lr.InputError, match=r"^unknown policy 'A': environment 'f' has B, C$"):
        results.outcome("A", "f")


def test_reprs(trio: list[lr.Results]) -> None:
    text = "Results('beta:a=1,2;b=2,1': 4 policies, 1 environment, horizon 300, 25 runs, seed 4)"
    for result in trio:
        assert repr(result) == text
        html = result._repr_html_()
        assert "4 policies" in html and "EUCBV</td>" in html and "worst05" in html
    assert repr(frames_of({"e": {"A": [1.0]}})) == (
        "Results('made up': 1 policy, 1 environment, horizon 100, 1 run, seed 1)"
    )
    runs = [repr(result["UCB1"]) for result in trio]
    assert runs == ["Outcome(UCB1, regret (25, 10), pulls (25, 2))"] + 2 * [
        "TableRuns(UCB1 in 'beta:a=1,2;b=2,1')"
    ]


def test_curves_and_summary_have_the_same_types(trio: list[lr.Results]) -> None:
    summary, curves = trio[0].summary(all=True).schema, trio[0].curves().schema
    assert {name: summary[name] for name in curves if name in summary} == {
        name: kind for name, kind in curves.items() if name in summary
    }


def test_reprs_of_bandits_and_policies() -> None:
    html = lr.bernoulli([0.07] * 19 + [0.10])._repr_html_()
    assert html.count("<tr>") == 3 and "<td>19</td>" in html
    assert repr(lr.UCB1(alpha=1)) == "UCB1(alpha=1.0)"
    assert "<td>alpha</td><td>1</td>" in lr.UCB1(alpha=1)._repr_html_()


def test_the_html_of_an_agent_is_the_table_of_its_arms() -> None:
    html = lr.Agent(lr.UCB1(), ["red", "green"])._repr_html_()
    assert html.startswith("<p>Agent(UCB1, 2 arms, 0 pulls)</p>") and "green" in html
    agent = lr.Agent(lr.UCB1(), ["red"])
    agent.ask()
    agent.close()
    assert agent._repr_html_() == "<p>Agent(UCB1, 1 arm, 1 pull)</p>"


def test_a_baseline_is_a_policy_or_its_name(trio: list[lr.Results], tmp_path) -> None:
    result = trio[0]
    assert result.compare("UCB1", all=True).equals(result.compare(lr.UCB1(), all=True))
    by_policy = result.report(tmp_path / "one", lr.UCB1())
    by_name = result.report(tmp_path / "two", "UCB1")
    assert [path.name for path in by_policy] == [path.name for path in by_name]
    assert by_policy[0].read_text() == by_name[0].read_text()


def test_plain_data_of_stored_results(trio: list[lr.Results]) -> None:
    data = trio[2].to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["policies"][0]["regret"]["worst05"] == trio[2].summary(all=True)["worst05"][0]
    assert isinstance(trio[0].finals, pl.DataFrame)

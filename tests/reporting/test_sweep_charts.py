"""Charts of the final regret against a parameter of a sweep."""

import polars as pl
import pytest

import lowregret as lr
from lowregret.errors import InputError
from lowregret.reporting.chart_style import svg_of
from lowregret.reporting.experiment_report import report_sections
from lowregret.reporting.page import pictures
from lowregret.reporting.sweep_charts import sweep_chart, sweep_tables, swept_parameters


@pytest.fixture(scope="module")
def sweep() -> lr.Results:
    """Two arms or three, three gaps, and three values of alpha."""
    return lr.Experiment(
        environments={
            "name": "K={K}, gap={gap}",
            "environment": "bernoulli:0.5*{K-1},{0.5+gap}",
            "grid": {"K": [2, 3], "gap": [0.4, 0.02, 0.1]},
        },
        policies=["MOSS", {"policy": "UCB1", "grid": {"alpha": [0.5, 1, 2]}}],
        horizon=100,
        runs=5,
    ).run()


def test_parameters_with_several_values_are_swept(sweep: lr.Results) -> None:
    assert swept_parameters(sweep.parameters) == ["K", "gap", "alpha"]
    two = lr.simulate(["UCB1(alpha=1)", "UCB1(alpha=3)", "MOSS"], "bernoulli:0.1,0.9", horizon=20, runs=2)
    assert swept_parameters(two.parameters) == []


def test_there_is_a_table_for_each_combination_of_the_others(sweep: lr.Results) -> None:
    summary = sweep.summary(all=True)
    tables = sweep_tables(summary, sweep.parameters, "gap")
    assert list(tables) == ["K=2", "K=3"]
    for row in tables["K=3"].to_dicts():
        (mean,) = summary.filter(K=3, gap=row["value"], policy=row["policy"])["mean"]
        assert row["mean"] == mean
    assert len(tables["K=3"]) == 3 * 4


def test_policies_without_the_parameter_are_level(sweep: lr.Results) -> None:
    tables = sweep_tables(sweep.summary(all=True), sweep.parameters, "alpha")
    assert list(tables) == list(sweep.environments)
    table = tables["K=2, gap=0.1"]
    moss, ucb = table.filter(policy="MOSS"), table.filter(policy="UCB1")
    assert len(table) == len(moss) + len(ucb)
    assert sorted(moss["value"]) == sorted(ucb["value"]) == [0.5, 1.0, 2.0]
    assert moss["mean"].n_unique() == 1
    wanted = sweep.summary(all=True).filter(environment="K=2, gap=0.1").drop_nulls("alpha")
    assert ucb.sort("value")["mean"].to_list() == wanted.sort("alpha")["mean"].to_list()


def test_equal_values_of_different_environments_are_not_on_one_line() -> None:
    results = lr.Experiment(
        environments=[
            {"name": f"{family} {{gap}}", "environment": text, "grid": {"gap": [0.1, 0.2]}}
            for family, text in (("b", "bernoulli:0.5,{0.5+gap}"), ("c", "bernoulli:0.3,{0.3+gap}"))
        ],
        policies=["MOSS"],
        horizon=50,
        runs=2,
    ).run()
    assert sweep_tables(results.summary(all=True), results.parameters, "gap") == {}
    with pytest.raises(InputError, match="plot: no two environments differ in 'gap' alone"):
        results.plot(against="gap")


def test_values_are_in_order_on_an_axis_that_is_logarithmic_if_they_span_a_decade(sweep: lr.Results) -> None:
    tables = sweep_tables(sweep.summary(all=True), sweep.parameters, "gap")
    chart = sweep_chart(tables["K=2"], "gap", "Title").to_dict()
    x = chart["layer"][0]["encoding"]["x"]
    assert (x["title"], x["scale"]["type"], x["scale"]["domain"]) == ("gap", "log", [0.02, 0.4])
    assert x["axis"]["values"] == [0.02, 0.1, 0.4]
    (alpha,) = {
        sweep.plot(name, against="alpha")
        .to_dict()["layer"][0]["encoding"]["x"]["scale"]
        .get("type", "linear")
        for name in sweep.environments
    }
    assert alpha == "linear"


def test_words_are_categories() -> None:
    table = pl.DataFrame(
        {
            "policy": ["A", "A", "B", "B"],
            "value": ["released", "paper"] * 2,
            "mean": [1.0, 2.0, 3.0, 4.0],
            "low": [1.0, 2.0, 3.0, 4.0],
            "high": [1.0, 2.0, 3.0, 4.0],
        }
    )
    svg = svg_of(sweep_chart(table, "width", "Title"))
    assert svg.index(">paper<") < svg.index(">released<")


def test_plot_draws_a_line_for_each_policy_and_other_value(sweep: lr.Results) -> None:
    svg = svg_of(sweep.plot(against="gap"))
    assert all(f">{policy}, K={arms}<" in svg for policy in sweep.policies for arms in (2, 3))
    svg = svg_of(sweep.plot("K=2, gap=0.1", against="alpha"))
    assert ">UCB1<" in svg
    assert ">UCB1(alpha=1)<" not in svg
    with pytest.raises(InputError, match="name the environment"):
        sweep.plot(against="alpha")
    with pytest.raises(InputError, match=r"no parameter 'beta' .*: they have K, gap, alpha"):
        sweep.plot(against="beta")


def test_the_report_has_a_section_of_parameters(sweep: lr.Results) -> None:
    sections = {section.title: section for section in report_sections(sweep)}
    found = {picture.name: picture for picture in pictures([sections["Parameters"]])}
    assert list(found) == ["against-k", "against-gap", "against-alpha"]
    assert list(found["against-gap"].views) == ["K=2", "K=3"]
    # A line that stands for three policies is not in the list of policies.
    for picture in found.values():
        for chart in picture.views.values():
            assert set(chart.usermeta["policies"]) <= set(sweep.policies)
    for picture in found.values():
        assert all("NaN" not in svg_of(chart) for chart in picture.views.values())


def test_results_without_a_sweep_have_no_such_section() -> None:
    results = lr.simulate(["MOSS", "UCB1"], "bernoulli:0.1,0.9", horizon=20, runs=2)
    assert [section.title for section in report_sections(results)] == ["bernoulli:0.1,0.9"]

"""Charts of one row per policy: what they draw of the runs."""

import io

import numpy as np
import polars as pl
import pytest
from analysis_data import frames_of, many

from lowregret.analysis.comparison import compare
from lowregret.analysis.summary import summarise
from lowregret.reporting.chart_style import svg_of
from lowregret.reporting.row_charts import MAX_MARKS, differences_chart, runs_chart, tail_chart


def data(chart, mark: str) -> list[dict]:
    """Give the rows behind the first layer with a mark."""
    spec = chart.to_dict()
    layer = next(layer for layer in spec["layer"] if layer["mark"]["type"] == mark)
    name = layer.get("data", spec.get("data"))["name"]
    return pl.read_csv(io.StringIO(spec["datasets"][name])).to_dicts()


def test_few_runs_are_all_drawn() -> None:
    frames = many(["EUCBV", "MOSS"], runs=30)
    chart = runs_chart(frames.finals, summarise(frames), "")
    assert len(data(chart, "tick")) == 60


@pytest.mark.parametrize("runs", [100, 20_000])
def test_of_many_runs_the_tails_are_drawn_and_the_worst_always(runs: int) -> None:
    frames = many(["EUCBV"], runs=runs)
    finals = frames.finals["regret"].to_numpy()
    drawn = [row["regret"] for row in data(runs_chart(frames.finals, summarise(frames), ""), "tick")]
    assert len(drawn) <= 2 * MAX_MARKS
    assert max(drawn) == pytest.approx(finals.max(), rel=1e-5)
    low, high = np.quantile(finals, [0.05, 0.95])
    assert all(not low < regret < high for regret in drawn)


def test_rows_are_sorted_by_mean() -> None:
    frames = frames_of({"e": {"A": [1.0, 2.0], "B": [9.0, 8.0], "C": [5.0, 5.0]}})
    spec = runs_chart(frames.finals, summarise(frames), "").to_dict()
    assert spec["layer"][0]["encoding"]["y"]["sort"] == ["B", "C", "A"]


def test_the_axis_is_logarithmic_where_means_span_decades() -> None:
    for worst, kind in ((20.0, None), (2000.0, "log")):
        frames = frames_of({"e": {"A": [10.0, 11.0], "B": [worst, worst]}})
        spec = runs_chart(frames.finals, summarise(frames), "").to_dict()
        assert spec["layer"][0]["encoding"]["x"]["scale"].get("type") == kind


def test_the_tail_holds_every_bad_run() -> None:
    frames = many(["EUCBV"], runs=5_000)
    finals = np.sort(frames.finals["regret"].to_numpy())[::-1]
    rows = data(tail_chart(frames.finals, ""), "line")
    assert len(rows) < 300
    for row in rows:
        assert row["share"] == pytest.approx((finals >= row["regret"] * (1 - 1e-5)).mean(), abs=0.001)
    assert min(row["share"] for row in rows) == pytest.approx(1 / 5_000)
    assert max(row["share"] for row in rows) == pytest.approx(1.0)


def test_differences_have_their_intervals_and_verdicts() -> None:
    comparison = compare(many(["MOSS", "EUCBV", "UCB1"]), "MOSS")
    rows = data(differences_chart(comparison, ""), "point")
    assert [row["policy"] for row in rows] == ["UCB1", "EUCBV"]
    assert all(row["low"] < row["difference"] < row["high"] for row in rows)
    assert "higher regret" in svg_of(differences_chart(comparison, ""))


@pytest.mark.parametrize("values", [[0.0], [3.0, 3.0], [0.0, 1.0]])
def test_the_smallest_results_can_be_drawn(values: list[float]) -> None:
    frames = frames_of({"e": {"A": values, "B": values}})
    charts = (
        runs_chart(frames.finals, summarise(frames), ""),
        tail_chart(frames.finals, ""),
        tail_chart(frames.finals, "", log_regret=True),
        differences_chart(compare(frames, "A"), ""),
    )
    for chart in charts:
        assert "NaN" not in svg_of(chart)

"""The figures of regret: what is drawn, and what is written."""

import io
import itertools
import re
from pathlib import Path

import polars as pl
import pytest

from lowregret.reporting.chart_style import CONTEXT, HEIGHT, MAX_IN_FOCUS, svg_of
from lowregret.reporting.curve_charts import MAX_TIMES, arms_left_chart, pulls_chart, regret_chart
from lowregret.reporting.line_chart import LABEL_GAP, MAX_LABELS, TIGHT_GAP
from lowregret.reporting.policy_styles import styles


def curve(finals: dict[str, float], times: int = 20) -> pl.DataFrame:
    """Make straight lines of regret that end where they are told to."""
    rows = [
        (policy, 100 * step, final * step / times)
        for policy, final in finals.items()
        for step in range(1, times + 1)
    ]
    table = pl.DataFrame(rows, schema=["policy", "t", "mean"], orient="row")
    mean = pl.col("mean")
    return table.with_columns(
        se=mean / 50,
        median=mean,
        p05=mean * 0.9,
        p95=mean * 1.1,
        student_low=mean * 0.96,
        student_high=mean * 1.04,
    )


def taken_apart(chart, title: str = "Title") -> tuple[dict, dict]:
    """Give a chart as plain data: its layers by mark, and its data sets by name."""
    spec = chart.to_dict()
    layers = {}
    for layer in spec["layer"]:
        layers.setdefault(layer["mark"]["type"], []).append(layer)
    data = {name: pl.read_csv(io.StringIO(text)).to_dicts() for name, text in spec["datasets"].items()}
    return layers, data | ({"title": spec["title"]["text"]} if title else {})


def drawn(finals: dict[str, float], times: int = 20, **options) -> tuple[dict, dict]:
    """Draw straight lines of regret."""
    return taken_apart(regret_chart(curve(finals, times), "Title", **options))


def test_axes_and_title_read_well() -> None:
    layers, data = drawn({"EUCBV": 900.0, "MOSS": 700.0})
    encoding = layers["line"][0]["encoding"]
    assert data["title"] == "Title"
    assert encoding["x"]["title"] == "time step t"
    assert encoding["y"]["title"] == "cumulative regret"
    assert encoding["x"]["scale"]["domain"] == [0, 2000]


def test_bands_go_from_5_to_95_percent_or_hold_the_interval() -> None:
    for band, ends in (("spread", (810.0, 990.0)), ("interval", (864.0, 936.0))):
        layers, data = drawn({"EUCBV": 900.0}, band=band)
        area = layers["area"][0]
        assert (area["encoding"]["y"]["field"], area["encoding"]["y2"]["field"]) == ("low", "high")
        last = data[area["data"]["name"]][-1]
        assert (last["low"], last["high"]) == ends


def test_every_line_begins_at_zero() -> None:
    layers, data = drawn({"EUCBV": 900.0, "MOSS": 700.0})
    rows = data[layers["line"][0]["data"]["name"]]
    assert [row for row in rows if row["x"] == 0] == [
        {"policy": policy, "x": 0, "mean": 0.0, "low": 0.0, "high": 0.0} for policy in ("EUCBV", "MOSS")
    ]


def test_few_lines_are_labelled_at_their_ends_without_overlap() -> None:
    finals = {"EUCBV": 3618.0, "RoundRobin": 3760.0, "UCB1": 3723.0, "MOSS": 3338.0}
    layers, data = drawn(finals)
    labels = data[layers["text"][0]["data"]["name"]]
    top = layers["line"][0]["encoding"]["y"]["scale"]["domain"][1]
    pixels = [HEIGHT * label["place"] / top for label in labels]
    assert [label["policy"] for label in labels] == ["RoundRobin", "UCB1", "EUCBV", "MOSS"]
    assert all(above - below > LABEL_GAP - 1e-3 for above, below in itertools.pairwise(pixels))
    assert layers["line"][1]["encoding"]["color"]["legend"] is None


def focus(chart) -> list[str]:
    """Give the policies that a chart draws in colour."""
    return next(parameter["value"] for parameter in chart.to_dict()["params"] if parameter["name"] == "focus")


def test_few_lines_are_all_in_focus_and_of_many_the_lowest_or_those_given() -> None:
    finals = {f"UCB1(alpha={alpha})": 100.0 + alpha for alpha in range(MAX_IN_FOCUS)}
    assert focus(regret_chart(curve(finals), "")) == list(finals)[::-1]
    finals["MOSS"] = 500.0
    assert focus(regret_chart(curve(finals), "")) == [f"UCB1(alpha={alpha})" for alpha in (4, 3, 2, 1, 0)]
    given = ["MOSS", "UCB1(alpha=9)", "absent"]
    assert focus(regret_chart(curve(finals), "", focus=given)) == given[:2]


def test_of_many_lines_those_in_focus_are_in_colour_and_all_have_labels_that_do_not_overlap() -> None:
    finals = {f"P{number:02}": 100.0 + number / 10 for number in range(26)}
    chart = regret_chart(curve(finals), "")
    spec = chart.to_dict()
    layers, data = taken_apart(chart, title="")
    labels = data[layers["text"][0]["data"]["name"]]
    assert len(labels) == 26
    top = layers["line"][0]["encoding"]["y"]["scale"]["domain"][1]
    pixels = [spec["height"] * label["place"] / top for label in labels]
    assert all(above - below > TIGHT_GAP - 1e-2 for above, below in itertools.pairwise(pixels))
    assert -1e-6 < min(pixels) < max(pixels) < spec["height"] + 1e-6
    svg = svg_of(chart)
    strokes = re.findall(r'<path d="[^"]*" stroke="(#[0-9A-F]{6})" stroke-width', svg)
    assert strokes.count(CONTEXT) == 21
    own = {style.colour for style in styles(finals).values()}
    assert len([stroke for stroke in strokes if stroke in own]) == 5


def test_of_very_many_lines_only_those_in_focus_have_labels() -> None:
    finals = {f"P{number:02}": 100.0 + number for number in range(MAX_LABELS + 1)}
    layers, data = drawn(finals)
    labels = data[layers["text"][0]["data"]["name"]]
    assert [label["policy"] for label in labels] == ["P04", "P03", "P02", "P01", "P00"]


def test_hovering_tells_every_policy_even_with_odd_names() -> None:
    layers, _ = drawn({"EUCBV(width='released')": 10.0, 'Mine(a="b")': 20.0})
    (hover,) = layers["rect"]
    tips = hover["encoding"]["tooltip"]
    assert [tip["title"] for tip in tips] == ["time step t", 'Mine(a="b")', "EUCBV(width='released')"]
    assert [tip["field"] for tip in tips] == ["heading", "p0", "p1"]
    assert hover["transform"][1]["calculate"] == (
        '\'p\' + indexof(["Mine(a=\\"b\\")", "EUCBV(width=\'released\')"], datum.policy)'
    )


def test_what_only_a_pointer_shows_is_not_in_a_file(tmp_path: Path) -> None:
    chart = regret_chart(curve({"EUCBV": 900.0, "MOSS": 700.0}), "Title")
    chart.save(tmp_path / "figure.svg")
    assert "hover" not in (tmp_path / "figure.svg").read_text()
    assert any(layer.get("name") == "hover" for layer in chart.to_dict()["layer"])


def test_a_large_curve_is_thinned_and_keeps_its_end() -> None:
    layers, data = drawn({"EUCBV": 1.0, "MOSS": 2.0}, times=3000)
    rows = data[layers["line"][0]["data"]["name"]]
    assert len(rows) == 2 * (MAX_TIMES + 1)
    assert rows[-1]["x"] == 300_000


def test_logarithmic_axes() -> None:
    layers, data = drawn({"EUCBV": 900.0, "MOSS": 9.0}, log_time=True, log_regret=True)
    encoding = layers["line"][0]["encoding"]
    for axis, low in (("x", 100), ("y", 0.45)):
        scale = encoding[axis]["scale"]
        assert (scale["type"], scale["clamp"]) == ("log", True)
        assert scale["domain"][0] == pytest.approx(low)
    assert encoding["y"]["axis"]["values"] == [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]
    labels = data[layers["text"][0]["data"]["name"]]
    assert [label["place"] for label in labels] == pytest.approx([900.0, 9.0], rel=1e-5)


def test_a_palette_is_shared() -> None:
    palette = styles(["Mine", "Yours", "Theirs"])
    layers, _ = drawn({"Theirs": 2.0, "Yours": 1.0}, palette=palette)
    colours = layers["line"][1]["encoding"]["color"]["scale"]["range"]
    assert colours == [palette["Theirs"].colour, palette["Yours"].colour]


def test_published_points_and_bounds_are_drawn_beside_the_lines() -> None:
    points = pl.DataFrame({"policy": ["EUCBV"], "t": [2000], "mean": [2000.0]})
    bounds = pl.DataFrame({"label": ["bound"] * 2, "t": [100, 2000], "mean": [50.0, 80.0]})
    layers, data = drawn({"EUCBV": 900.0}, points=points, bounds=bounds)
    assert data[layers["point"][0]["data"]["name"]] == [{"policy": "EUCBV", "x": 2000, "mean": 2000.0}]
    assert layers["line"][0]["encoding"]["y"]["scale"]["domain"][1] > 2000
    assert len(layers["line"]) == 3  # in grey, in colour, the bound
    assert data[layers["text"][0]["data"]["name"]] == [{"label": "bound", "x": 2000, "mean": 80.0}]


def test_pulls_are_put_together_by_mean() -> None:
    arms = pl.DataFrame({"arm": [0, 1, 2], "mean": [0.1, 0.5, 0.1], "gap": [0.4, 0.0, 0.4]})
    pulls = pl.DataFrame(
        {"policy": ["A"] * 6, "run": [0] * 3 + [1] * 3, "arm": [0, 1, 2] * 2, "pulls": [1, 90, 3, 5, 80, 7]}
    )
    layers, data = taken_apart(pulls_chart(pulls, arms, "Title"))
    rows = data[layers["line"][0]["data"]["name"]]
    assert [(row["x"], row["mean"]) for row in rows] == [(1, 85.0), (2, 4.0)]
    label = layers["line"][0]["encoding"]["x"]["axis"]["labelExpr"]
    assert label == '[["0.5", "1 arm"], ["0.1", "2 arms"]][datum.value - 1]'


def test_many_means_are_put_together_by_rank() -> None:
    arms = pl.DataFrame({"arm": range(50), "mean": [1 - 0.01 * i for i in range(50)]})
    arms = arms.with_columns(gap=1 - pl.col("mean"))
    pulls = pl.DataFrame({"policy": "A", "run": 0, "arm": range(50), "pulls": range(1, 51)})
    layers, data = taken_apart(pulls_chart(pulls, arms, "Title"))
    rows = data[layers["line"][0]["data"]["name"]]
    assert [(row["x"], row["mean"]) for row in rows[:3]] == [(1, 1.0), (2, 5.0), (3, 12.0)]
    assert len(rows) == 8
    assert '["0.93-0.99", "7 arms"]' in layers["line"][0]["encoding"]["x"]["axis"]["labelExpr"]


def test_arms_left_are_counted_at_each_time() -> None:
    events = pl.DataFrame({"policy": ["A"] * 3, "run": [0, 0, 1], "t": [10, 50, 50], "arm": [0, 1, 0]})
    layers, data = taken_apart(arms_left_chart(events, {"A": 2, "B": 1}, 4, 100, "Title"))
    left = {(row["policy"], row["x"]): row["mean"] for row in data[layers["line"][0]["data"]["name"]]}
    assert [left["A", t] for t in (0, 9, 10, 49, 50, 100)] == [4.0, 4.0, 3.5, 3.5, 2.5, 2.5]
    assert left["B", 100] == 4.0


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("finals", [{"EUCBV": 0.0}, {"EUCBV": 0.003, "MOSS": 12_345_678.0}])
def test_any_size_of_regret_can_be_drawn(finals: dict[str, float], log: bool, tmp_path: Path) -> None:
    regret_chart(curve(finals), "", log_time=log, log_regret=log).save(tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    assert "NaN" not in text
    assert ">time step t<" in text


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        ("svg", b"<svg"),
        ("png", b"\x89PNG"),
        ("pdf", b"%PDF"),
        ("html", b"<!DOCTYPE html>"),
        ("PNG", b"\x89PNG"),
        ("HTML", b"<!DOCTYPE html>"),
    ],
)
def test_save(tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"figure.{suffix}"
    regret_chart(curve({"EUCBV": 900.0, "MOSS": 700.0}), "Title").save(path)
    assert path.read_bytes().lstrip().startswith(start)


def test_html_needs_no_network(tmp_path: Path) -> None:
    path = tmp_path / "figure.html"
    regret_chart(curve({"EUCBV": 900.0}), "Title").save(path)
    text = path.read_text()
    assert "<script src=" not in text
    assert "cdn.jsdelivr.net" not in text

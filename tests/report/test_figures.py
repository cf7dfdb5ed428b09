"""The figures of regret: what is drawn, and what is written."""

import itertools
from pathlib import Path

import polars as pl
import pytest

from lowregret.errors import InputError
from lowregret.report.figures import HEIGHT, LABEL_GAP, MOST_LABELS, regret_chart, save


def curve(finals: dict[str, float], times: int = 20) -> pl.DataFrame:
    """Make straight lines of regret that end where they are told to."""
    rows = [
        (policy, 100 * step, final * step / times)
        for policy, final in finals.items()
        for step in range(1, times + 1)
    ]
    table = pl.DataFrame(rows, schema=["policy", "t", "mean"], orient="row")
    mean = pl.col("mean")
    return table.with_columns(se=mean / 50, median=mean, p05=mean * 0.9, p95=mean * 1.1)


def drawn(finals: dict[str, float], times: int = 20) -> tuple[dict, dict]:
    """Give the chart as plain data: its layers by mark, and its data sets by name."""
    spec = regret_chart(curve(finals, times), "Title").to_dict()
    layers = {}
    for layer in spec["layer"]:
        layers.setdefault(layer["mark"]["type"], []).append(layer)
    return layers, spec["datasets"] | {"title": spec["title"]["text"]}


def test_axes_and_title_read_well() -> None:
    layers, data = drawn({"EUCBV": 900.0, "MOSS": 700.0})
    encoding = layers["line"][0]["encoding"]
    assert data["title"] == "Title"
    assert encoding["x"]["title"] == "time step t"
    assert encoding["y"]["title"] == "cumulative regret"
    assert encoding["x"]["scale"]["domain"] == [0, 2000]


def test_bands_go_from_5_to_95_percent() -> None:
    band = drawn({"EUCBV": 900.0})[0]["area"][0]["encoding"]
    assert (band["y"]["field"], band["y2"]["field"]) == ("p05", "p95")


def test_every_line_begins_at_zero() -> None:
    layers, data = drawn({"EUCBV": 900.0, "MOSS": 700.0})
    rows = data[layers["line"][0]["data"]["name"]]
    assert [row for row in rows if row["t"] == 0] == [
        {"policy": policy, "t": 0, "mean": 0.0, "p05": 0.0, "p95": 0.0} for policy in ("MOSS", "EUCBV")
    ]


def test_few_lines_are_labelled_at_their_ends_without_overlap() -> None:
    finals = {"EUCBV": 3618.0, "Uniform": 3760.0, "UCB1": 3723.0, "MOSS": 3338.0}
    layers, data = drawn(finals)
    labels = data[layers["text"][0]["data"]["name"]]
    top = layers["line"][0]["encoding"]["y"]["scale"]["domain"][1]
    pixels = [HEIGHT * label["place"] / top for label in labels]
    assert [label["policy"] for label in labels] == ["Uniform", "UCB1", "EUCBV", "MOSS"]
    assert all(above - below > LABEL_GAP - 1e-6 for above, below in itertools.pairwise(pixels))
    assert layers["line"][0]["encoding"]["color"]["legend"] is None


def test_many_lines_get_a_legend() -> None:
    layers, _ = drawn({f"UCB1(alpha={alpha})": 100.0 + alpha for alpha in range(MOST_LABELS + 1)})
    assert "text" not in layers
    color = layers["line"][0]["encoding"]["color"]
    assert color["legend"] is not None
    assert color["scale"]["domain"][0] == f"UCB1(alpha={MOST_LABELS})"


def test_hovering_shows_every_policy_even_with_odd_names() -> None:
    layers, data = drawn({"EUCBV(width='released')": 10.0, "UCB1(alpha=0.5)": 20.0})
    hover = next(layer for layer in layers["rule"] if "tooltip" in layer["encoding"])
    tips = hover["encoding"]["tooltip"]
    assert [tip["title"] for tip in tips] == ["time step t", "EUCBV(width='released')", "UCB1(alpha=0.5)"]
    last = data[hover["data"]["name"]][-1]
    assert [last[tip["field"]] for tip in tips] == [2000, 10.0, 20.0]


def test_a_large_curve_is_not_refused() -> None:
    layers, data = drawn({"EUCBV": 1.0, "MOSS": 2.0}, times=3000)
    assert len(data[layers["line"][0]["data"]["name"]]) == 6002


@pytest.mark.parametrize("finals", [{"EUCBV": 0.0}, {"EUCBV": 0.003, "MOSS": 12_345_678.0}])
def test_any_size_of_regret_can_be_drawn(finals: dict[str, float], tmp_path: Path) -> None:
    save(regret_chart(curve(finals), ""), tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    assert "NaN" not in text
    assert ">time step t<" in text


@pytest.mark.parametrize(
    ("suffix", "start"),
    [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("html", b"<!DOCTYPE html>")],
)
def test_save(tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"figure.{suffix}"
    save(regret_chart(curve({"EUCBV": 900.0, "MOSS": 700.0}), "Title"), path)
    assert path.read_bytes().lstrip().startswith(start)


def test_html_needs_no_network(tmp_path: Path) -> None:
    path = tmp_path / "figure.html"
    save(regret_chart(curve({"EUCBV": 900.0}), "Title"), path)
    text = path.read_text()
    assert "<script src=" not in text
    assert "cdn.jsdelivr.net" not in text


@pytest.mark.parametrize("name", ["figure.gif", "figure"])
def test_an_unknown_format_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"got .*{name}'"):
        save(regret_chart(curve({"EUCBV": 900.0}), "Title"), tmp_path / name)
    assert not (tmp_path / name).exists()

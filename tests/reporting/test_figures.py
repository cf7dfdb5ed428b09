"""Figures for papers and notebooks: their size, their text, their bands, and the names of their files."""

import io
import itertools
import re
from pathlib import Path

import altair as alt
import polars as pl
import pytest

import lowregret as lr
from lowregret.errors import InputError
from lowregret.reporting.experiment_report import report_sections
from lowregret.reporting.page import pictures

CLOSE = ["RoundRobin", "MOSS", "MOSSV", "UCB1", "UCBV", "ThompsonBeta"]
LONG = ["UCB1(alpha=0.123456789)", "UCB1(alpha=1.123456789012345)"]


def simulated(policies: list[str]) -> lr.Results:
    """Simulate a few steps, after which the regrets are close to each other."""
    return lr.simulate(policies, "bernoulli:0.4,0.5", 60, runs=4, engine="reference")


@pytest.fixture(scope="module")
def results() -> lr.Results:
    """Six policies."""
    return simulated(CLOSE)


@pytest.fixture(scope="module")
def sweep() -> lr.Results:
    """Two environments that differ in a parameter."""
    grid = {"name": "gap={gap}", "environment": "bernoulli:0.5,{0.5+gap}", "grid": {"gap": [0.1, 0.4]}}
    return lr.Experiment(environments=grid, policies=["MOSS", "RoundRobin"], horizon=40, runs=4).run()


def drawn(chart: alt.LayerChart, path: Path) -> tuple[str, tuple[float, float], float]:
    """Save a chart as SVG, and return the text, its size in points, and the size of a pixel."""
    chart.save(path / "figure.svg")
    svg = (path / "figure.svg").read_text(encoding="utf-8")
    width, height, pixels = re.findall(r'width="([\d.]+)" height="([\d.]+)" viewBox="0 0 ([\d.]+)', svg)[0]
    return svg, (float(width), float(height)), float(width) / float(pixels)


def labels(svg: str, scale: float) -> dict[str, tuple[float, float]]:
    """Return the height and the size of the font of every text that begins at its place, in points."""
    form = r'<text text-anchor="start" transform="translate\([\d.]+,([\d.]+)\)"[^>]*'
    form += r' font-size="([\d.]+)px"[^>]*>([^<]+)'
    return {name: (float(y) * scale, float(size) * scale) for y, size, name in re.findall(form, svg)}


def test_six_labels_in_a_column_do_not_overlap_and_have_8_points(results: lr.Results, tmp_path: Path) -> None:
    svg, (width, _), scale = drawn(results.plot(width=240, title=""), tmp_path)
    assert width == pytest.approx(240, abs=1)
    places = labels(svg, scale)
    assert set(places) == set(CLOSE)
    assert {round(size, 3) for _, size in places.values()} == {8.0}
    heights = sorted(height for height, _ in places.values())
    assert all(below - above > 1.2 * 8 for above, below in itertools.pairwise(heights))
    sizes = [float(size) * scale for size in re.findall(r'font-size="([\d.]+)px"', svg)]
    assert min(sizes) > 7


@pytest.mark.parametrize(("width", "height"), [(240, 160), (505, 220), (None, 300), (1000, None)])
def test_a_figure_has_the_size_that_is_asked_for(
    results: lr.Results, tmp_path: Path, width: float | None, height: float | None
) -> None:
    chart = results.plot(width=width, height=height, title="a title that is much too long " * 8)
    _, size, _ = drawn(chart, tmp_path)
    for wanted, got in zip((width, height), size, strict=True):
        assert wanted is None or got == pytest.approx(wanted, abs=1)
    chart.save(tmp_path / "figure.pdf")
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", (tmp_path / "figure.pdf").read_bytes())
    assert box is not None
    assert [float(box[1]), float(box[2])] == pytest.approx(size, abs=0.1)


def test_what_does_not_fit_is_refused(results: lr.Results) -> None:
    with pytest.raises(InputError, match=r"plot: these lines need a height of \d+ points, got 50"):
        results.plot(width=240, height=50)
    with pytest.raises(InputError, match=r"plot: these lines need a width of \d+ points, got 20"):
        results.plot(width=20)
    with pytest.raises(InputError, match="width must be positive"):
        results.plot(width=-240)


def test_names_too_long_for_a_column_are_in_a_legend(tmp_path: Path) -> None:
    long = simulated(LONG)
    svg, (width, _), scale = drawn(long.plot(width=240, title=""), tmp_path)
    assert width == pytest.approx(240, abs=1)
    assert set(labels(svg, scale)) == set(LONG)
    assert float(long.plot(width=240).width) * scale > 240 * 0.7  # the names are below
    legends = [
        long.plot(width=width).to_dict()["layer"][2]["encoding"]["color"]["legend"] for width in (240, 600)
    ]
    assert legends[0]["orient"] == "bottom"
    assert legends[1] is None


def bands(chart: alt.LayerChart) -> list[dict[str, float]]:
    """Return the rows behind the lines of a chart."""
    spec = chart.to_dict()
    area = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "area")
    rows = pl.read_csv(io.StringIO(spec["datasets"][area["data"]["name"]]))
    return rows.sort("policy", "x").to_dicts()


@pytest.mark.parametrize("options", [{}, {"band": "interval"}, {"band": "spread"}, {"band": "none"}])
def test_plot_and_report_have_the_same_band(results: lr.Results, sweep: lr.Results, options: dict) -> None:
    (picture, *_) = pictures(report_sections(results, **options))
    assert bands(results.plot(**options)) == bands(picture.views["linear"])
    (against,) = [each for each in pictures(report_sections(sweep, **options)) if "against" in each.name]
    assert bands(sweep.plot(against="gap", **options)) == bands(next(iter(against.views.values())))


def test_a_band_is_what_it_is_said_to_be(results: lr.Results) -> None:
    end = results.curves().filter(policy="MOSS").sort("t").tail(1).to_dicts()[0]
    for band, names in {
        "interval": ("student_low", "student_high"),
        "spread": ("p05", "p95"),
        "none": ("mean", "mean"),
    }.items():
        last = [row for row in bands(results.plot(band=band)) if row["policy"] == "MOSS"][-1]
        low, high = (end[name] for name in names)
        assert (last["low"], last["high"]) == pytest.approx((max(low, 0), high), rel=1e-5)
    with pytest.raises(InputError, match="plot: band must be interval, spread or none, got 'wide'"):
        results.plot(band="wide")


def test_a_title_is_that_of_the_environment_or_ones_own_or_none(results: lr.Results) -> None:
    assert results.plot().title.text == "bernoulli:0.4,0.5"
    assert results.plot(title="Mine").title.text == "Mine"
    assert results.plot(title="").title is alt.Undefined


def test_a_notebook_shows_a_chart_without_a_network(results: lr.Results) -> None:
    agent = lr.Agent("UCB1", ["old", "new"]).plot()
    charts = [results.plot(), results.plot(width=240).properties(title="Mine"), agent]
    shown = [chart._repr_mimebundle_() for chart in charts]
    for bundle in shown:
        assert list(bundle) == ["image/svg+xml"]
        svg = bundle["image/svg+xml"].replace('="http://www.w3.org/', "")
        assert svg.startswith("<svg")
        assert "http" not in svg
        assert "<script" not in svg
    ids = [set(re.findall(r'\bid="([^"]+)"', bundle["image/svg+xml"])) for bundle in shown[:2]]
    assert not ids[0] & ids[1]  # a page with both draws each with its own clipping
    with alt.renderers.enable("json"):
        assert "application/json" in charts[0]._repr_mimebundle_()[0]


def test_latex_accepts_the_names_of_all_files(results: lr.Results, sweep: lr.Results, tmp_path: Path) -> None:
    _, *files = results.report(tmp_path)
    _, *more = sweep.report(tmp_path)
    assert [path.name for path in (*files, *more) if not re.fullmatch("[a-z0-9-]+[.]svg", path.name)] == []

"""The page of the EUCBV paper, from synthetic results of all experiments."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from analysis_data import changed, frames_of
from browser import opened, require_chromium

from lowregret.reporting.page import page, pictures
from lowregret.reporting.page_parts import Fold, Part, Section, Table
from lowregret.reproductions.page import Evaluation, format_signed, format_with_error, page_sections, palette
from lowregret.reproductions.reproduce import evaluate
from lowregret.reproductions.sheet import paper_function, read_sheet

SHEET = read_sheet()
near_uniform_play = paper_function("eucbv", "report:near_uniform_play")
uniform_text = paper_function("eucbv", "report:uniform_text")


def synthetic_evaluation(numbers: Sequence[int]) -> Evaluation:
    """Evaluate synthetic results of some experiments, with regrets that differ between policies."""
    random = np.random.default_rng(5)
    regrets: dict[str, dict[str, list[float]]] = {}
    for environment, policy in SHEET.times:
        if int(environment[6]) in numbers:
            runs = 1000.0 * (1 + random.random()) + 50.0 * random.random(4)
            regrets.setdefault(environment, {})[policy] = runs.tolist()
    results = frames_of(regrets)
    moved = []
    for (environment,), paths in results.paths.group_by("environment", maintain_order=True):
        place = f"Figure {str(environment)[6]}"
        times = sorted({point.t for point in SHEET.published if point.place == place})[-4:]
        known = dict(zip((25, 50, 75, 100)[-len(times) :], times, strict=True))
        moved.append(paths.with_columns(pl.col("t").replace(known)))
    return evaluate(SHEET, changed(results, curves=pl.concat(moved)))


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return synthetic_evaluation([1, 2, 3, 4])


@pytest.fixture(scope="module")
def sections(evaluation: Evaluation) -> list[Section]:
    return page_sections(evaluation)


@pytest.fixture(scope="module")
def text(sections: list[Section]) -> str:
    return page("The paper", [], sections)


def test_every_experiment_has_its_figures(sections: list[Section]) -> None:
    names = [picture.name for picture in pictures(sections)]
    assert names[:4] == [f"published-figure-{number}" for number in (1, 2, 3, 4)]
    for number in (1, 2, 3, 4):
        kinds = ("regret", "runs", "arms-left", "pulls")
        assert [name for name in names if name.startswith(f"experiment-{number}-")] == [
            f"experiment-{number}-{kind}" for kind in kinds
        ]


def test_the_sections_of_all_experiments_and_of_one(sections: list[Section]) -> None:
    titles = [section.title for section in sections]
    assert titles[:2] == ["Summary", "Figures of the paper, and ours"]
    assert titles[-3:] == ["Published numbers", "Claims", "Theory"]
    assert sum(title.startswith("Experiment ") for title in titles) == 4
    alone = [section.title for section in page_sections(synthetic_evaluation([3]))]
    assert "Experiment 3: Failure of Thompson sampling" in alone
    assert not any(title.startswith("Experiment 4") for title in alone)


def test_published_points_are_drawn_beside_our_lines(sections: list[Section]) -> None:
    figure = next(picture for picture in pictures(sections) if picture.name == "published-figure-3")
    (chart,) = figure.views.values()
    squeezed = next(picture for picture in pictures(sections) if picture.name == "published-figure-2")
    assert list(squeezed.views) == ["log", "linear"]  # UCB-Improved ends at five times the median there
    spec = chart.to_dict()

    def data(wanted: Callable[[dict[str, Any]], bool]) -> str:
        layer = next(layer for layer in spec["layer"] if wanted(layer))
        return str(spec["datasets"][layer["data"]["name"]])

    circles = data(lambda layer: layer["mark"]["type"] == "point")
    assert "TS-G,400000,1535.2" in circles and "EUCBV,400000,894.61" in circles
    assert "TS-G" in data(lambda layer: layer.get("name") == "labels-text")


def test_the_page_contains_the_tables(evaluation: Evaluation, text: str) -> None:
    claims, curves = evaluation.tables["claims"], evaluation.tables["curves"]
    failing = sum(claims.filter(**{name: "does not hold"}).height for name in ("printed", "released"))
    assert text.count("does not hold</td>") >= failing > 0
    assert "273.56" in text and "971.86" in text
    matched = curves.filter(verdict="matched").height
    assert f"Of the 30 published curves {matched} are matched as plotted" in text
    assert "The published EUCBV curve has the released width and no noise" in text
    assert "chosen because it gives" in text and "refute it for large T" in text


def test_the_readings_have_the_paper_names_beside_ours(evaluation: Evaluation) -> None:
    readings = evaluation.tables["readings"]
    rows = {(row["experiment"], row["policy"], row["reading"]): row for row in readings.to_dicts()}
    assert rows[1, "MOSS", "as plotted"]["our_policy"] == "MOSSAnytime(alpha=1)"
    assert rows[1, "MOSS", "as plotted"]["published"] == 624.16
    assert rows[1, "MOSS", "as printed"]["our_policy"] == "MOSS"
    assert rows[4, "EUCBV", "as plotted"]["environment"] == "paper-4-noiseless"
    counts = readings.filter(experiment=4)["reading"].to_list()
    assert {name: counts.count(name) for name in counts} == {
        "as printed": 7,
        "released width": 1,
        "as plotted": 6,
    }


def test_policies_near_uniform_play_are_counted_as_printed() -> None:
    rows = [("EUCBV", 96.0), ("MOSS", 51.0), ("UCB-V", 109.0), ("uniform play", 100.0)]
    readings = pl.DataFrame(rows, ["policy", "mean"], orient="row")
    table = readings.with_columns(experiment=pl.lit(3), reading=pl.lit("as printed"))
    found = near_uniform_play(table)
    assert found.to_dicts() == [
        {"experiment": 3, "uniform_play": 100.0, "policies": 3, "near": 2, "most": True}
    ]
    (words,) = uniform_text(found)
    assert "experiment 3: 2 of 3. In experiment 3 these are most policies" in words.text
    assert uniform_text(found.clear()) == []


def test_estimated_probabilities_and_their_bounds(evaluation: Evaluation) -> None:
    eliminated, lemma = evaluation.tables["estimates"].filter(experiment=1).to_dicts()[:2]
    assert (eliminated["event"], eliminated["runs"], eliminated["occurrences"]) == (
        "optimal arm eliminated",
        4,
        0,
    )
    assert lemma["event"] == "Lemma 3"
    assert lemma["low"] <= lemma["exact"] <= lemma["high"] < lemma["bound"]


def test_policies_have_the_paper_names_and_distinct_styles() -> None:
    looks = palette(SHEET, **{"EUCBV, released width": "EUCBV(width='released')"})
    assert set(SHEET.names) <= set(looks)
    assert looks["TS"] == looks["TS-G"]
    assert looks["EUCBV"].colour == looks["EUCBV, released width"].colour
    shown = [looks[name] for name in ("EUCBV", "EUCBV, released width", "MOSS", "UCB-V", "TS", "BU", "DMED")]
    assert len(set(shown)) == len(shown)


def test_formatted_numbers() -> None:
    assert (format_signed(-0.001), format_signed(None)) == ("+0.00", "-")
    assert (format_with_error(1.5, 0.0), format_with_error(12.34, 0.5), format_with_error(None, None)) == (
        "1.50",
        "12.3 (0.5)",
        "-",
    )


def test_every_table_has_cells_for_its_heads(sections: list[Section]) -> None:
    def tables(parts: Sequence[Part]) -> list[Table]:
        inside = [tables(part.parts) if isinstance(part, Fold) else [part] for part in parts]
        return [part for group in inside for part in group if isinstance(part, Table)]

    found = [table for section in sections for table in tables(section.parts)]
    assert len(found) == 1 + 4 + 3 + 3 + 2
    for table in found:
        assert table.rows and all(len(row) == len(table.heads) for row in table.rows)


def test_a_browser_draws_every_chart_and_makes_no_requests(text: str, tmp_path: Path) -> None:
    require_chromium()
    found, errors = opened(text, tmp_path)
    assert errors == ""
    assert len(re.findall(r'class="chart[^"]* live"', found)) == 20

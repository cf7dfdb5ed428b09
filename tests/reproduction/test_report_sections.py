"""The page, from synthetic results of all experiments."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from analysis_data import changed, frames_of
from browser import opened, require_chromium

from lowregret.reporting.page import page, pictures
from lowregret.reporting.page_parts import Fold, Part, Section, Table, Text
from lowregret.reproduction.evaluation import Evaluation, evaluate
from lowregret.reproduction.interpretations import configurations
from lowregret.reproduction.published import TIMES
from lowregret.reproduction.report_sections import page_sections, paper_names, paper_palette
from lowregret.reproduction.report_tables import signed, terminal_sections, with_error
from lowregret.reproduction.stated import PAPER
from lowregret.results import Results


def synthetic_evaluation(numbers: list[int]) -> Evaluation:
    """Evaluate synthetic results of some experiments, with regrets that differ between policies."""
    random = np.random.default_rng(5)
    regrets: dict[str, dict[str, list[float]]] = {}
    for each in (each for number in numbers for each in configurations(number)):
        runs = 1000.0 * (1 + random.random()) + 50.0 * random.random(6)
        regrets.setdefault(each.environment, {})[each.our_policy] = runs.tolist()
    return evaluate(at_published_times(frames_of(regrets)))


def at_published_times(results: Results) -> Results:
    """Move the four recorded times to the last published ones."""
    moved = []
    for (environment,), paths in results.paths.group_by("environment", maintain_order=True):
        times = TIMES[int(str(environment)[6])][-4:]
        known = dict(zip((25, 50, 75, 100)[-len(times) :], times, strict=True))
        moved.append(paths.with_columns(pl.col("t").replace(known)))
    return changed(results, curves=pl.concat(moved))


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
    assert names[:4] == [f"figure-experiment-{number}" for number in (1, 2, 3, 4)]
    for number in (1, 2, 3, 4):
        kinds = ("regret", "runs", "arms-left", "pulls")
        assert [name for name in names if name.startswith(f"experiment-{number}-")] == [
            f"experiment-{number}-{kind}" for kind in kinds
        ]


def test_one_experiment_alone() -> None:
    titles = [section.title for section in page_sections(synthetic_evaluation([3]))]
    assert "Experiment 3: Failure of Thompson sampling" in titles
    assert not any(title.startswith("Experiment 4") for title in titles)


def test_published_points_are_drawn_also_for_curves_without_a_line(sections: list[Section]) -> None:
    figure = next(picture for picture in pictures(sections) if picture.name == "figure-experiment-3")
    (chart,) = figure.views.values()
    spec = chart.to_dict()

    def data(wanted: Callable[[dict[str, Any]], bool]) -> str:
        layer = next(layer for layer in spec["layer"] if wanted(layer))
        return str(spec["datasets"][layer["data"]["name"]])

    circles = data(lambda layer: layer["mark"]["type"] == "point")
    assert "TS-G,400000,1535.2" in circles and "EUCBV,400000,894.61" in circles
    assert "TS-G" in data(lambda layer: layer.get("name") == "labels-text")


def test_the_page_contains_the_tables(evaluation: Evaluation, text: str) -> None:
    for row in evaluation.claims.to_dicts():
        for reading in ("printed", "released"):
            assert row[reading] in ("holds", "does not hold", "inconclusive")
    failing = sum(
        evaluation.claims.filter(**{name: "does not hold"}).height for name in ("printed", "released")
    )
    assert text.count("does not hold</td>") >= failing > 0
    assert "273.56" in text and "971.86" in text
    matched = evaluation.matches.filter(verdict="matched").height
    assert f"Of the 30 published curves {matched} are matched" in text


def test_the_terminal_shows_what_the_page_shows(evaluation: Evaluation, sections: list[Section]) -> None:
    def inside(parts: Sequence[Part]) -> list[Part]:
        return [each for part in parts for each in (inside(part.parts) if isinstance(part, Fold) else [part])]

    page_parts = [part for section in sections for part in inside(section.parts)]
    printed = [part for section in terminal_sections(evaluation) for part in section.parts]
    assert sum(isinstance(part, Table) for part in printed) == 4 + 2 + 2
    assert all(part in page_parts for part in printed)


def test_experiments_near_uniform_play_are_named_beside_the_claims(evaluation: Evaluation) -> None:
    uniform = pl.DataFrame({"experiment": [1, 3], "uniform_play": [1.0, 1.0], "policies": [9, 11]})
    uniform = uniform.with_columns(near=pl.Series([2, 10]), most=pl.Series([False, True]))
    changed_evaluation = replace(evaluation, uniform=uniform)
    (claims,) = (
        each for each in terminal_sections(changed_evaluation) if each.title == "Claims of the paper"
    )
    table, words = claims.parts[:2]
    assert isinstance(table, Table) and isinstance(words, Text)
    assert (
        "experiment 1: 2 of 9; experiment 3: 10 of 11. In experiment 3 these are most policies" in words.words
    )
    marked = {row[-1] for row in table.rows}
    assert marked == {"", "3"}


def test_policies_have_the_paper_names_and_distinct_styles() -> None:
    palette = paper_palette()
    for experiment in PAPER:
        assert set(experiment.policies) <= set(palette)
    assert palette["TS"] == palette["TS-G"]
    assert palette["EUCBV"].colour == palette["EUCBV, released width"].colour
    shown = [
        palette[name] for name in ("EUCBV", "EUCBV, released width", "MOSS", "UCB-V", "TS", "BU", "DMED")
    ]
    assert len(set(shown)) == len(shown)
    table = pl.DataFrame({"environment": ["paper-2"], "policy": ["BayesUCBStudent"], "x": [1]})
    assert paper_names(table, 2, "as printed").rows() == [("paper-2", "BU-G", 1)]


def test_formatted_numbers() -> None:
    assert (signed(-0.001), signed(None)) == ("+0.00", "-")
    assert (with_error(1.5, 0.0), with_error(12.34, 0.5), with_error(None, None)) == (
        "1.50",
        "12.3 (0.5)",
        "-",
    )


def test_a_browser_draws_every_chart_and_makes_no_requests(text: str, tmp_path: Path) -> None:
    require_chromium()
    found, errors = opened(text, tmp_path)
    assert errors == ""
    assert len(re.findall(r'class="chart[^"]* live"', found)) == 20
    charts = re.findall(r'<div class="chart[^>]*>(.*?)</figure>', found, re.DOTALL)
    for chart in charts:
        assert re.search(r'aria-roledescription="(line mark|tick|bar|point|circle|rule)[^"]*"', chart)

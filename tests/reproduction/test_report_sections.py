"""The page, from synthetic results of all experiments."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from analysis_data import frames_of
from browser import CHROMIUM, opened

from lowregret.reporting.page import page, pictures
from lowregret.reporting.page_parts import Section
from lowregret.reproduction.evaluation import Evaluation, evaluate
from lowregret.reproduction.readings import configurations
from lowregret.reproduction.report_sections import page_sections, paper_names, paper_palette
from lowregret.reproduction.report_tables import format_differences, signed, with_error
from lowregret.reproduction.stated import PAPER


def synthetic_evaluation(numbers: list[int]) -> Evaluation:
    """Evaluate synthetic results of some experiments, with regrets that differ between policies."""
    random = np.random.default_rng(5)
    regrets: dict[str, dict[str, list[float]]] = {}
    for each in (each for number in numbers for each in configurations(number)):
        runs = 1000.0 * (1 + random.random()) + 50.0 * random.random(6)
        regrets.setdefault(each.environment, {})[each.our_policy] = runs.tolist()
    return evaluate(frames_of(regrets))


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
        assert row["verdict"] in ("holds", "does not hold", "inconclusive")
    assert text.count("does not hold</td>") >= evaluation.claims.filter(verdict="does not hold").height
    assert "273.56" in text and "971.86" in text
    matched = evaluation.matches.filter(verdict="matched").height
    assert f"{matched} of the 30 published curves" in text


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


def test_formatted_differences() -> None:
    row = {"better": "A", "worse": "B", "difference": -3.25, "low": -4.0, "high": -2.0, "verdict": "holds"}
    one, two = ({**row, "experiment": number} for number in (1, 2))
    assert format_differences([one, two]) == "1: -3.2 (-4.0 to -2.0); 2: -3.2 (-4.0 to -2.0)"
    many = [{**one, "worse": str(place), "difference": float(place)} for place in range(7)]
    assert format_differences(many) == "7 of 7 hold; largest difference: 1, A minus 6: +6.0 (-4.0 to -2.0)"
    assert (signed(-0.001), signed(None)) == ("+0.00", "-")
    assert (with_error(1.5, 0.0), with_error(12.34, 0.5), with_error(None, None)) == (
        "1.50",
        "12.3 (0.5)",
        "-",
    )


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium")
def test_a_browser_draws_every_chart_and_makes_no_requests(text: str, tmp_path: Path) -> None:
    found, errors = opened(text, tmp_path)
    assert errors == ""
    assert len(re.findall(r'class="chart[^"]* live"', found)) == 20
    charts = re.findall(r'<div class="chart[^>]*>(.*?)</figure>', found, re.DOTALL)
    for chart in charts:
        assert re.search(r'aria-roledescription="(line mark|tick|bar|point|circle|rule)[^"]*"', chart)

"""The report of an experiment: complete, for few and for many policies and environments."""

import re
from pathlib import Path

import pytest
from analysis_data import changed, frames_of, many

from lowregret._common.progress import Progress
from lowregret.errors import InputError, StoreError
from lowregret.policies import POLICIES
from lowregret.reporting.experiment_report import introduction, report_sections, write_report
from lowregret.reporting.page import page, pictures
from lowregret.reporting.page_parts import Fold, Table

KINDS = (
    "regret",
    "regret-log-time",
    "regret-log-both",
    "differences",
    "runs",
    "runs-tail",
    "pulls",
    "arms-left",
)


def test_page_and_figures_are_written(tmp_path: Path) -> None:
    paths = write_report(many(["EUCBV", "MOSS"]), tmp_path / "new", figures="all")
    found = sorted(path.relative_to(tmp_path / "new").as_posix() for path in paths)
    figures = [f"figures/testbed-1-{kind}.{suffix}" for kind in KINDS for suffix in ("pdf", "png", "svg")]
    assert found == sorted([*figures, "report.html"])
    assert all(path.stat().st_size > 1_000 for path in paths)


def test_figures_can_be_left_out_or_be_svg_alone(tmp_path: Path) -> None:
    results = many(["EUCBV", "MOSS"], runs=5)
    assert [path.name for path in write_report(results, tmp_path / "none", figures="none")] == ["report.html"]
    assert [path.name for path in (tmp_path / "none").iterdir()] == ["report.html"]
    _, *figures = results.report(tmp_path / "svg")
    assert sorted(path.name for path in figures) == sorted(f"testbed-1-{kind}.svg" for kind in KINDS)
    with pytest.raises(InputError, match="report: figures must be none, svg or all, got 'png'"):
        results.report(tmp_path, figures="png")


def test_progress_counts_charts_and_files(tmp_path: Path) -> None:
    calls: list[Progress] = []
    write_report(many(["EUCBV", "MOSS"], runs=5), tmp_path, report=calls.append)
    charts = [("drawing charts", number, 5) for number in range(1, 6)]
    assert [call[:3] for call in calls] == [
        *charts,
        *(("writing figures", number, 8) for number in range(1, 9)),
    ]


def test_every_policy_has_one_colour_on_the_whole_page() -> None:
    frames = frames_of(
        {"e": {"Mine": [1.0, 2.0], "Yours": [2.0, 3.0]}, "f": {"Yours": [2.0, 3.0], "His": [1.0, 1.0]}}
    )
    seen: dict[str, set] = {}
    for picture in pictures(report_sections(frames)):
        for chart in picture.views.values():
            for policy, look in chart.usermeta["policies"].items():
                seen.setdefault(policy, set()).add(tuple(look))
    assert {policy: len(looks) for policy, looks in seen.items()} == {"Mine": 1, "Yours": 1, "His": 1}
    assert len(set.union(*seen.values())) == 3


def test_the_baseline_is_the_first_policy_that_plays_everywhere() -> None:
    frames = frames_of({"e": {"A": [1.0, 2.0], "B": [2.0, 3.0]}, "f": {"B": [2.0, 3.0], "C": [1.0, 1.0]}})
    text = page("Title", [], report_sections(frames))
    assert "Against B," in text
    assert "Against C," in page("Title", [], report_sections(frames, "C"))


def test_an_unknown_baseline_is_refused() -> None:
    with pytest.raises(InputError, match="report: unknown policy 'X': these results have A, B"):
        report_sections(frames_of({"e": {"A": [1.0], "B": [1.0]}}), "X")


def test_one_policy_is_shown_without_comparison() -> None:
    (section,) = report_sections(frames_of({"e": {"A": [1.0, 2.0]}}))
    assert not any(isinstance(part, Fold) for part in section.parts)
    assert [picture.name for picture in pictures([section])] == ["e-regret", "e-runs", "e-pulls"]


def test_many_environments_are_folded_under_an_overview() -> None:
    first, *others = report_sections(many(["EUCBV", "MOSS"], environments=8, runs=5))
    assert first.title == "Overview"
    assert isinstance(first.parts[0], Table)
    assert len(others) == 8
    assert all(section.folded for section in others)


def test_every_known_policy_fits_on_one_page() -> None:
    frames = many(list(POLICIES), runs=5)
    text = page(frames.name, introduction(frames), report_sections(frames))
    assert text.count('<button type="button" aria-pressed="false" data-policy=') == len(POLICIES)
    assert "NaN" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_the_introduction_tells_the_size() -> None:
    sentence, words = introduction(many(["EUCBV", "MOSS"], environments=3))
    assert sentence.text.startswith("EUCBV has the lowest regret in all 3 environments.")
    assert words.startswith("2 policies in 3 environments, 40 runs each, seed 1.")
    assert introduction(frames_of({"e": {"A": [1.0]}}))[0].startswith("1 policy in 1 environment, 1 run each")


def test_names_of_files_are_plain_and_differ() -> None:
    frames = frames_of({"a:0.1*2, b": {"A": [1.0]}, "A 0.1 2 b": {"A": [1.0]}, "../..": {"A": [1.0]}})
    names = [picture.name for picture in pictures(report_sections(frames)) if picture.name.endswith("regret")]
    assert names == ["a-0-1-2-b-regret", "a-0-1-2-b-2-regret", "figure-regret"]


def test_a_place_that_takes_no_files_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"^cannot write to '.*file': "):
        write_report(many(["EUCBV"]), tmp_path / "file")


def test_no_runs_are_refused() -> None:
    frames = many(["EUCBV"])
    empty = changed(frames, finals=frames.finals.clear())
    with pytest.raises(InputError, match="have no runs"):
        report_sections(empty)

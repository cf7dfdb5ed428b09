"""The report in a real browser: charts are drawn, nothing goes wrong, nothing is asked from outside."""

import re
from pathlib import Path

import pytest
from analysis_data import many
from browser import CHROMIUM, opened

from lowregret.reporting.experiment_report import introduction, report_sections
from lowregret.reporting.page import page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium")

POLICIES = ["EUCBV", "EUCBV(width='released')", "MOSS", 'Mine(name="a<b")']
CLICK = """
const wait = setInterval(() => {
  const charts = [...document.querySelectorAll(".chart")];
  if (!charts.length || charts.some((chart) => !chart.matches(".live"))) return;
  clearInterval(wait);
  %s
}, 50);
"""


@pytest.fixture(scope="module")
def report() -> str:
    tables = many(POLICIES, environments=2)
    return page(tables.name, introduction(tables), report_sections(tables))


def charts(text: str) -> list[str]:
    """Give what is inside each figure's chart."""
    return re.findall(r'<div class="chart[^>]*>(.*?)</figure>', text, re.DOTALL)


@pytest.mark.parametrize("width", [1400, 500])
def test_every_chart_is_drawn_and_nothing_goes_wrong(report: str, tmp_path: Path, width: int) -> None:
    text, told = opened(report, tmp_path, width=width)
    assert told == ""
    found = charts(text)
    assert len(found) == len(charts(report)) == 10
    assert len(re.findall(r'class="chart[^"]* live"', text)) == 10
    for chart in found:
        assert "<svg" in chart
        marks = re.findall(r'aria-roledescription="(line mark|tick|bar|point|circle|rule)[^"]*"', chart)
        assert marks, chart[:500]
    assert 'class="still"' not in text


def test_a_click_in_the_key_fades_the_others_in_every_chart(report: str, tmp_path: Path) -> None:
    click = CLICK % 'document.querySelector("#key button[data-policy=MOSS]").click();'
    text, told = opened(report, tmp_path, click)
    assert told == ""
    assert re.search(r'<button[^>]*aria-pressed="true"[^>]*data-policy="MOSS"', text)
    first = charts(text)[0]
    lines = re.findall(
        r'<path aria-label="[^"]*policy: ([^";]*)[^>]*stroke="#[^>]*?(?: opacity="([\d.]+)")', first
    )
    assert lines
    for policy, opacity in lines:
        assert (float(opacity) == 1.0) == (policy == "MOSS"), (policy, opacity)
    assert '<tr data-policy="EUCBV" class="off">' in text


def test_another_view_can_be_chosen(report: str, tmp_path: Path) -> None:
    click = CLICK % 'document.querySelectorAll(".views button")[2].click();'
    text, told = opened(report, tmp_path, click)
    assert told == ""
    assert re.search(r'aria-pressed="true">log both<', text)
    assert ">50<" in charts(text)[0]
    assert ">50<" not in charts(report)[0]


def test_the_pointer_tells_every_policy_with_its_interval(report: str, tmp_path: Path) -> None:
    move = """
    const chart = charts[0].querySelector("svg");
    const box = chart.getBoundingClientRect();
    setTimeout(() => {
      const cell = [...chart.querySelectorAll("path")].filter((path) => path.__data__?.datum?.heading).at(-1);
      const place = { bubbles: true, clientX: box.left + 400, clientY: box.top + 200 };
      cell.dispatchEvent(new PointerEvent("pointerover", place));
      cell.dispatchEvent(new MouseEvent("mouseover", place));
      cell.dispatchEvent(new PointerEvent("pointermove", place));
      cell.dispatchEvent(new MouseEvent("mousemove", place));
    }, 200);
    """
    text, told = opened(report, tmp_path, CLICK % move)
    assert told == ""
    tip = re.search(r'<div id="tip".*?</div>', text, re.DOTALL)[0]
    assert "hidden" not in tip.partition(">")[0]
    assert "<b>time step t 100</b>" in tip
    rows = re.findall(r"</svg>([^<]*)</td><td>([^<]*)</td>", tip)
    assert {name for name, _ in rows} == {"EUCBV", "EUCBV(width='released')", "MOSS", 'Mine(name="a&lt;b")'}
    assert all(re.fullmatch(r"[\d.,]+ \([\d.,]+ to [\d.,]+\)", numbers) for _, numbers in rows)


def test_a_request_would_be_noticed(report: str, tmp_path: Path) -> None:
    _, told = opened(report, tmp_path, 'fetch("https://example.invalid/").catch(() => {});')
    assert "request https://example.invalid" in told

"""The report in a real browser: it fits every width, answers to its reader, and asks nothing from outside."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from analysis_data import many
from browser import Browser, Tab, require_chromium

import lowregret as lr
from lowregret.policies import POLICIES
from lowregret.reporting.experiment_report import introduction, report_sections
from lowregret.reporting.page import page

require_chromium()

FEW = ["EUCBV", "EUCBV(width='released')", "MOSS", 'Mine(name="a<b")']
SLOW = {"EmpiricalIMED", "EmpiricalKLUCB", "NPTS"}
PLAYED = [name for name, kind in POLICIES.items() if name not in SLOW and not kind.identifies]
MANY = [*PLAYED[:20], "UCB1(alpha=1)"]
WIDTHS = (390, 1280, 2560)
ROWS = "[...document.querySelectorAll('table')[0].tBodies[0].rows]"
NAMES = f"{ROWS}.filter(row => row.checkVisibility()).map(row => row.cells[0].textContent)"
LABEL = "[...document.querySelectorAll('figure text')].find(text => text.textContent === '%s')"
# Texts of charts that overlap or are cut off, and blocks of the page that overlap or reach beyond the window.
OVERLAPS = """(() => {
  const found = [];
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  const pairs = (boxes, where) => boxes.forEach(([name, box], place) => boxes.slice(0, place).forEach(
    ([other, its]) => { if (meet(box, its)) found.push(`${where}: ${name} / ${other}`); }));
  for (const figure of document.querySelectorAll("figure")) {
    if (!figure.checkVisibility()) continue;
    const label = figure.querySelector("h3").textContent;
    const frame = figure.querySelector("svg.marks").getBoundingClientRect();
    const texts = [...figure.querySelectorAll("svg.marks text")].filter((text) => text.textContent.trim()
      && !text.hasAttribute("stroke") && !text.closest("[display=none]"));
    const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
    pairs(boxes, label);
    for (const [name, box] of boxes)
      if (box.left < frame.left - 1 || box.right > frame.right + 1
          || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        found.push(`${label}: ${name} is cut off`);
    const room = figure.getBoundingClientRect();
    if (frame.right > room.right + 1) found.push(`${label}: wider than its place`);
  }
  const blocks = "h1, h2, h3, p, figcaption, .views button, .names li, .chart, .wide, .tools, #theme, nav li";
  pairs([...document.querySelectorAll(blocks)].filter((block) => block.checkVisibility()).map(
    (block) => [block.className + block.tagName, block.getBoundingClientRect()]), "page");
  for (const text of document.querySelectorAll("svg.marks text, .names li, td, figcaption"))
    if (text.checkVisibility() && text.textContent.trim() && parseFloat(getComputedStyle(text).fontSize) < 11)
      found.push(`${text.textContent}: smaller than 11 pixels`);
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page is wider than the window");
  return found;
})()"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as found:
        yield found


def written(policies: list[str], folder: Path, **options) -> Path:
    tables = many(policies, environments=2, runs=12)
    path = folder / "report.html"
    path.write_text(page(tables.name, introduction(tables), report_sections(tables), **options), "utf-8")
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(FEW, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(MANY, tmp_path_factory.mktemp("large"))


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Write the page of a small league and of a small plan, once."""
    folder = tmp_path_factory.mktemp("others")
    policies = ["MOSS", "UCB1", "EUCBV"]
    league = lr.league(policies=policies, testbeds=["short", "two-arms"], out=folder / "runs", progress=False)
    plan = lr.plan(
        options=3, rate=0.2, lift=0.3, visitors=100, days=5, policies=policies, runs=20, progress=False
    )
    return league.report(folder / "league")[0], plan.report(folder / "plan")[0]


@pytest.fixture
def tab(browser: Browser, small: Path) -> Iterator[Tab]:
    """Open the page of a few policies; at the end it must have nothing to complain of."""
    with browser.tab(small) as found:
        found.wait_for_charts()
        yield found
        assert found.complaints() == []


def has_labels_and_verdicts(tab: Tab) -> None:
    """Every curve has its label and every difference its verdict."""
    texts = (
        "[...document.querySelectorAll('figure')[{}].querySelectorAll('text:not([stroke])')]"
        ".map(text => text.textContent)"
    )
    labels = " ".join(tab.evaluate(texts.format(0)))
    if tab.evaluate("innerWidth") < 500:  # the names of the lines in colour stand under the plot
        named = tab.evaluate(
            "[...document.querySelectorAll('figure')[0].querySelectorAll('.names li')]"
            ".map(name => name.textContent)"
        )
        assert sorted(named) == sorted(MANY[:5])
        assert "UCB" not in labels
    else:
        assert all(policy in labels for policy in MANY), labels
    verdicts = tab.evaluate(texts.format(1))
    words = ("regret", "in these runs", "inconclusive")
    assert sum(text.endswith(words) for text in verdicts) >= len(MANY) - 1
    assert all(any(text.startswith(policy) for text in verdicts) for policy in MANY[1:])


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overlaps_or_goes_wrong_at_any_width(
    browser: Browser, large: Path, width: int, dark: bool
) -> None:
    with browser.tab(large, width, dark=dark) as tab:
        tab.wait_for_charts()
        assert tab.evaluate("document.querySelectorAll('.chart.live svg.marks').length") == 10
        assert tab.evaluate(OVERLAPS) == []
        has_labels_and_verdicts(tab)
        assert tab.complaints() == []


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_of_the_league_and_of_a_plan_fit(
    browser: Browser, others: tuple[Path, Path], width: int
) -> None:
    """They have the same layouts as a report: nothing is cut, and no letter is smaller than 11 pixels."""
    for path in others:
        with browser.tab(path, width) as tab:
            tab.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
            tab.wait_for_charts()
            found = [words for words in tab.evaluate(OVERLAPS) if "cut off" in words or "pixels" in words]
            assert found == [], path
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, path
            assert tab.evaluate("document.querySelector('header p').className") == "headline", path
            if width < 500:
                assert tab.evaluate("document.querySelectorAll('.names li').length") > 2, path
            assert tab.complaints() == []


def test_an_overlap_would_be_found(tab: Tab) -> None:
    assert tab.evaluate(OVERLAPS) == []
    tab.evaluate("document.querySelectorAll('svg.marks text')[2].setAttribute('transform', 'translate(0,0)')")
    tab.evaluate("document.querySelectorAll('svg.marks text')[1].setAttribute('transform', 'translate(0,0)')")
    assert tab.evaluate(OVERLAPS) != []


@pytest.mark.parametrize("width", [1000, 700, 375])
def test_a_chart_follows_the_width_of_the_window(browser: Browser, small: Path, width: int) -> None:
    with browser.tab(small, 1400) as tab:
        tab.wait_for_charts()
        tab.resize(width)
        tab.wait(
            "[...document.querySelectorAll('figure')].every(figure => Math.abs("
            "figure.clientWidth - figure.querySelector('svg.marks').width.baseVal.value) < 2)"
        )
        assert tab.evaluate(OVERLAPS) == []


def test_of_many_policies_some_are_in_colour_and_a_choice_takes_their_place(
    browser: Browser, large: Path
) -> None:
    lines = (
        "[...document.querySelectorAll('figure')[0].querySelectorAll('.mark-line path')]"
        ".map(path => path.getAttribute('stroke'))"
    )
    with browser.tab(large) as tab:
        tab.wait_for_charts()
        strokes = tab.evaluate(lines)
        assert len(strokes) == len(MANY)
        assert strokes.count("#C2C2C2") == len(MANY) - 5
        tab.click("#policies button[data-policy=CCB]")
        tab.wait(f"{lines}.filter(stroke => stroke === '#C2C2C2').length === {len(MANY) - 1}")
        assert tab.complaints() == []


def test_the_pointer_at_a_policy_brings_its_line_into_colour(browser: Browser, large: Path) -> None:
    grey = (
        "[...document.querySelectorAll('figure')[0].querySelectorAll('.mark-line path')]"
        ".filter(path => path.getAttribute('stroke') === '#C2C2C2').length"
    )
    with browser.tab(large) as tab:
        tab.wait_for_charts()
        before = tab.evaluate(grey)
        tab.mouse("mouseMoved", *tab.place(LABEL % "UCB1(alpha=1)"))
        tab.wait(f"{grey} === {before - 1}")
        tab.mouse("mouseMoved", 1, 1)
        tab.wait(f"{grey} === {before}")


def test_a_table_is_sorted_by_a_column_and_back(tab: Tab) -> None:
    first = tab.evaluate(NAMES)
    for order, direction in ((FEW, "ascending"), (FEW[::-1], "descending"), (first, None)):
        tab.click("table th:nth-child(3) button")
        assert tab.evaluate(NAMES) == order
        assert (
            tab.evaluate("document.querySelector('th:nth-child(3)').getAttribute('aria-sort')") == direction
        )
    tab.click("table th:nth-child(1) button")
    assert tab.evaluate(NAMES) == sorted(FEW, key=str.lower)


def test_numbers_are_sorted_as_numbers_and_missing_ones_come_last(browser: Browser, tmp_path: Path) -> None:
    from lowregret.reporting.page_parts import Section, Table

    values = ["1,200.5 ± 3", "-", "9 (0.1)", "< 0.0001", "-12.5", "85%", "3e-07"]
    table = Table(["name", "value"], [[str(place), value] for place, value in enumerate(values)])
    path = tmp_path / "table.html"
    path.write_text(page("Table", [], [Section("One", [table])]))
    with browser.tab(path) as tab:
        tab.click("th:nth-child(2) button")
        assert tab.evaluate(NAMES) == ["4", "6", "3", "2", "5", "0", "1"]
        tab.click("th:nth-child(2) button")
        assert tab.evaluate(NAMES) == ["0", "5", "2", "3", "6", "4", "1"]


def test_rows_are_filtered_by_words_and_numbers(browser: Browser, large: Path) -> None:
    with browser.tab(large) as tab:
        tab.write(".tools input", "ucb")
        names = [policy for policy in MANY if "ucb" in policy.lower()]
        assert sorted(tab.evaluate(NAMES)) == sorted(names)
        output = "document.querySelector('.tools output').textContent"
        assert tab.evaluate(output) == f"{len(names)} of {len(MANY)} rows"
        tab.write(".tools input", "ucb, testbed-1 < 600")
        assert sorted(tab.evaluate(NAMES)) == sorted(set(names) & set(MANY[:5]))
        tab.write(".tools input", "no such policy")
        assert tab.evaluate(NAMES) == []
        tab.write(".tools input", "mean rank > 20.5")
        assert tab.evaluate(NAMES) == [MANY[-1]]
        assert tab.complaints() == []


def test_a_chosen_policy_stays_and_the_others_fade_in_charts_and_tables(tab: Tab) -> None:
    tab.click("#policies button[data-policy=MOSS]")
    assert tab.evaluate("document.querySelector('[aria-pressed=true][data-policy]').dataset.policy") == "MOSS"
    off = "[...document.querySelectorAll('tr.off')].map(row => row.dataset.policy)"
    assert set(tab.evaluate(off)) == {policy for policy in FEW if policy != "MOSS"}
    marks = (
        "[...document.querySelectorAll('figure')[1].querySelectorAll('.mark-symbol path')]"
        ".map(path => path.getAttribute('opacity'))"
    )
    tab.wait(f"{marks}.filter(opacity => opacity === '1').length === 1")
    tab.click("#controls input[type=checkbox]")
    assert tab.evaluate(NAMES) == ["MOSS"]
    tab.click("#controls button")
    assert len(tab.evaluate(NAMES)) == len(FEW)
    assert tab.evaluate(off) == []


def test_a_click_on_a_label_or_a_row_chooses_too(tab: Tab) -> None:
    pressed = (
        "[...document.querySelectorAll('#policies [aria-pressed=true]')].map(chip => chip.dataset.policy)"
    )
    tab.click("tr[data-policy=MOSS] td")
    assert tab.evaluate(pressed) == ["MOSS"]
    tab.click_at(*tab.place(LABEL % "EUCBV"))
    tab.wait(f"{pressed}.sort().join() === 'EUCBV,MOSS'")


def test_choices_stay_when_the_page_is_loaded_again(browser: Browser, large: Path) -> None:
    with browser.tab(large) as tab:
        tab.click("#policies button[data-policy=KLUCB]")
        tab.write(".tools input", "ucb")
        tab.click("table th:nth-child(1) button")
        rows = tab.evaluate(NAMES)
        tab.go(large)
        assert tab.evaluate(NAMES) == rows
        assert tab.evaluate("document.querySelector('.tools input').value") == "ucb"
        assert tab.evaluate("document.querySelectorAll('#policies [aria-pressed=true]').length") == 1


def test_a_policy_is_found_in_the_list(browser: Browser, large: Path) -> None:
    with browser.tab(large) as tab:
        tab.write("#controls input[type=search]", "klucb")
        shown = "[...document.querySelectorAll('#policies button:not([hidden])')]"
        shown += ".map(chip => chip.dataset.policy)"
        assert set(tab.evaluate(shown)) == {policy for policy in MANY if "klucb" in policy.lower()}


def test_another_view_can_be_chosen(tab: Tab) -> None:
    ticks = (
        "[...document.querySelectorAll('figure')[0].querySelectorAll('text')].map(text => text.textContent)"
    )
    assert "50" not in tab.evaluate(ticks)
    tab.click(".views button:nth-child(3)")
    tab.wait(f"{ticks}.includes('50')")
    assert tab.evaluate("document.querySelector('.views [aria-pressed=true]').textContent") == "log both"


def test_the_pointer_shows_every_policy_with_its_interval(tab: Tab) -> None:
    x, y = tab.place("document.querySelector('figure svg.marks')")
    tab.mouse("mouseMoved", x + 400, y)
    tab.wait("!document.getElementById('tip').hidden")
    assert re.fullmatch(
        r"time step t (25|50|75|100)", tab.evaluate("document.querySelector('#tip b').textContent")
    )
    rows = tab.evaluate(
        "[...document.querySelectorAll('#tip tr')].map(row => [...row.cells].map(cell => cell.textContent))"
    )
    assert {name for name, _ in rows} == set(FEW)
    assert all(re.fullmatch(r"[\d.,]+ \([\d.,]+ to [\d.,]+\)", numbers) for _, numbers in rows)


def luminance(colour: str) -> float:
    """Give the brightness of a computed colour, from 0 to 1."""
    red, green, blue = (int(part) / 255 for part in re.findall(r"\d+", colour)[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_dark_page_has_light_text_in_page_and_charts(browser: Browser, large: Path) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    ink = "[...document.querySelectorAll('p, td, [aria-pressed=false], svg.marks text')]"
    ink += ".map(each => getComputedStyle(each)[each.matches('text') ? 'fill' : 'color'])"
    lines = "[...document.querySelectorAll('.swatch line')].map(line => getComputedStyle(line).stroke)"
    with browser.tab(large, dark=True) as tab:
        tab.wait_for_charts()
        dark = luminance(tab.evaluate(paper))
        assert dark < 0.15
        assert min(luminance(colour) for colour in tab.evaluate(ink)) > dark + 0.4
        assert min(luminance(colour) for colour in tab.evaluate(lines)) > dark + 0.25
        tab.click("#theme")
        assert luminance(tab.evaluate(paper)) == 1
        assert max(luminance(colour) for colour in tab.evaluate(ink)) < 0.5


def test_on_paper_the_page_is_light_and_has_no_controls(browser: Browser, small: Path) -> None:
    with browser.tab(small, dark=True) as tab:
        tab.wait_for_charts()
        tab.send("Emulation.setEmulatedMedia", media="print")
        assert luminance(tab.evaluate("getComputedStyle(document.body).backgroundColor")) == 1
        controls = "[...document.querySelectorAll('.views, #controls, #theme')]"
        assert not tab.evaluate(f"{controls}.some(each => each.checkVisibility())")
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert tab.evaluate("document.querySelectorAll('details:not([open])').length") == 0
        tab.evaluate("dispatchEvent(new Event('afterprint'))")
        assert tab.evaluate("document.querySelectorAll('details:not([open])').length") == 2


def test_without_scripts_all_is_there(browser: Browser, large: Path) -> None:
    with browser.tab(large, scripts=False) as tab:
        assert tab.evaluate("document.querySelectorAll('.chart > svg.marks').length") == 10
        assert tab.evaluate("document.querySelectorAll('tbody')[0].rows.length") == len(MANY)
        controls = "document.querySelectorAll('.tools, #controls, #theme, th button').length"
        assert tab.evaluate(controls) == 0
        assert (
            tab.evaluate("[...document.querySelectorAll('.views')].some(each => each.checkVisibility())")
            is False
        )
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_page_of_results_under_way_is_loaded_again(browser: Browser, tmp_path: Path) -> None:
    path = written(["EUCBV", "MOSS"], tmp_path, refresh=1)
    with browser.tab(path) as tab:
        path.write_text(path.read_text().replace("<h1>made up", "<h1>new"))
        tab.wait("document.querySelector('h1')?.textContent === 'new'")


def test_a_request_and_an_error_would_be_noticed(browser: Browser, small: Path) -> None:
    with browser.tab(small) as tab:
        tab.evaluate('fetch("https://example.invalid/").catch(() => {})')
        assert any("example.invalid" in complaint for complaint in tab.complaints())
        tab.evaluate("console.error('oh'); setTimeout(() => { throw new Error('no'); })")
        tab.evaluate("new Promise(done => setTimeout(done, 50))")
        assert {"error oh"} < set(tab.complaints())
        assert any("Error: no" in complaint for complaint in tab.complaints())

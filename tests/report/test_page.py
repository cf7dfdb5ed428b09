"""The HTML page: complete, offline, and safe with any text."""

import re
from html.parser import HTMLParser

import polars as pl

from lowregret.report.figures import regret_chart
from lowregret.report.page import Section, page

CURVE = pl.DataFrame(
    {
        "policy": ["EUCBV", "EUCBV", "MOSS", "MOSS"],
        "t": [50, 100, 50, 100],
        "mean": [4.0, 8.0, 5.0, 6.0],
        "se": [0.5] * 4,
        "median": [4.0, 8.0, 5.0, 6.0],
        "p05": [3.0, 7.0, 4.0, 5.0],
        "p95": [5.0, 9.0, 6.0, 7.0],
    }
)
TABLE = pl.DataFrame(
    {
        "policy": ["EUCBV", "MOSS"],
        "mean": [960.04, 724.61],
        "se": [10.41, None],
        "p05": [807.6, 576.8],
        "p95": [1134.9, 965.1],
        "optimal_arm_eliminated": [2, None],
        "published": [273.56, None],
    }
)
SECTIONS = [
    Section(f"Part {number} <&>", "20 arms, 100 runs", regret_chart(CURVE, ""), TABLE, "Why <b>so</b>?")
    for number in (1, 2)
]


class Balance(HTMLParser):
    """Follow the tags, and complain where they do not match; collect the cells of tables."""

    VOID = ("meta",)

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.cells.append(data)


def test_the_page_is_well_formed_and_holds_every_number() -> None:
    reader = Balance()
    reader.feed(page("Title", ["One.", "Two."], SECTIONS[:1]))
    assert reader.open == []
    assert reader.cells == [
        *("policy", "mean regret (se)", "5% to 95%", "optimal arm eliminated (runs)", "published"),
        *("EUCBV", "960.0 (10.4)", "807.6 to 1,134.9", "2", "273.56"),
        *("MOSS", "724.6 (-)", "576.8 to 965.1", "-", "-"),
    ]


def test_text_is_escaped() -> None:
    text = page("<T>", ["a < b & c"], SECTIONS[:1])
    for escaped in (
        "<h1>&lt;T&gt;</h1>",
        "a &lt; b &amp; c",
        "Part 1 &lt;&amp;&gt;",
        "Why &lt;b&gt;so&lt;/b&gt;?",
    ):
        assert escaped in text


def test_the_page_needs_nothing_but_itself() -> None:
    text = page("Title", ["One."], SECTIONS)
    assert text.count("<svg") == 2
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r"<(script|link|img|iframe)\b|@import|url\(", text)


def test_figures_on_one_page_share_no_identifiers() -> None:
    identifiers = re.findall(r'\sid="([^"]+)"', page("Title", [], SECTIONS))
    assert len(identifiers) == len(set(identifiers))

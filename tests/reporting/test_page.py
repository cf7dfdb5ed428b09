"""The HTML page: complete, offline, and safe with any text."""

import gzip
import json
import re
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path

import polars as pl

from lowregret.reporting.chart_style import shorten_svg
from lowregret.reporting.curve_charts import regret_chart
from lowregret.reporting.page import page, save_pictures
from lowregret.reporting.page_parts import Beside, Cell, Fold, Picture, Section, Table, Text
from lowregret.reporting.policy_styles import styles

CURVE = pl.DataFrame(
    {
        "policy": ["EUCBV", "EUCBV", "MOSS", "MOSS"],
        "t": [50, 100, 50, 100],
        "mean": [4.0, 8.0, 5.0, 6.0],
        "se": [0.5] * 4,
        "median": [4.0, 8.0, 5.0, 6.0],
        "student_low": [3.0, 7.0, 4.0, 5.0],
        "student_high": [5.0, 9.0, 6.0, 7.0],
    }
)
CHART = regret_chart(CURVE, "")
TABLE = Table(
    ["policy", "mean", "so"],
    [["EUCBV", "960.0", Cell("no <b>", "quiet")], ["MOSS", "724.6", "-"]],
    caption="Below.",
)
PARTS = [
    Text("20 arms", "facts"),
    Picture(
        {"one": CHART, "two": regret_chart(CURVE, "", log_time=True)}, "Regret", "A <caption>.", "regret"
    ),
    Beside([Picture({"": CHART}, "Again"), Text("Why <b>so</b>?")]),
    Fold("More", [TABLE]),
]
SECTIONS = [Section(f"Part {number} <&>", PARTS, folded=number == 2) for number in (1, 2)]


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
        if {"td", "th"} & {*self.open[-2:]}:
            self.cells.append(data)


def unpacked(text: str) -> dict:
    """Give what the page's script works on."""
    packed = re.search(r'id="packed">([^<]*)<', text)[1]
    return json.loads(gzip.decompress(b64decode(packed)))


def test_the_page_is_well_formed_and_holds_every_number() -> None:
    reader = Balance()
    reader.feed(page("Title", ["One.", "Two."], SECTIONS[:1]))
    assert reader.open == []
    assert reader.cells == ["policy", "mean", "so", "EUCBV", "960.0", "no <b>", "MOSS", "724.6", "-"]


def test_text_is_escaped() -> None:
    text = page("<T>", ["a < b & c"], SECTIONS[:1])
    for escaped in (
        "<h1>&lt;T&gt;</h1>",
        "a &lt; b &amp; c",
        "Part 1 &lt;&amp;&gt;",
        "Why &lt;b&gt;so&lt;/b&gt;?",
        "A &lt;caption&gt;.",
        '<td class="quiet">no &lt;b&gt;</td>',
    ):
        assert escaped in text


def test_the_page_needs_nothing_but_itself() -> None:
    text = page("Title", ["One."], SECTIONS)
    assert text.count("<figure") == 4
    assert len(re.findall(r'<svg[^>]* class="marks"', text)) == 4
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r"<(link|img|iframe)\b|<script[^>]* src|@import|url\((?!#)", text)
    assert "default-src 'none'" in text


def test_figures_on_one_page_share_no_identifiers() -> None:
    identifiers = re.findall(r'\sid="([^"]+)"', page("Title", [], SECTIONS))
    assert len(identifiers) == len(set(identifiers))


def test_library_and_data_are_packed_once() -> None:
    content = unpacked(page("Title", [], SECTIONS))
    assert "vegaEmbed" in content["library"]
    assert [len(views) for views in content["charts"]] == [2, 1, 2, 1]
    data = {name for views in content["charts"] for view in views for name in view["data"]}
    assert data == set(content["datasets"])
    assert len(data) == 2  # the lines and the labels: all six charts draw the same
    assert "datasets" not in content["charts"][0][0]["spec"]


def test_a_policy_has_its_line_in_the_key_and_in_tables() -> None:
    text = page("Title", [], SECTIONS[:1])
    colour = styles(["EUCBV"])["EUCBV"].colour
    assert re.search(rf'<button[^>]*data-policy="EUCBV"><svg[^>]*><line[^>]*stroke="{colour}"', text)
    assert re.search(rf'<tr data-policy="EUCBV"><td class="word"><svg[^>]*><line[^>]*stroke="{colour}"', text)


def test_a_page_without_charts_has_no_library_and_one_of_words_no_script() -> None:
    text = page("Title", [], [Section("One", [Text("Word."), TABLE])])
    assert text.count("<script") == 1
    assert 'id="key"' not in text
    assert 'id="packed"' not in text
    assert "<script" not in page("Title", [], [Section("One", [Text("Word.")])])


def test_many_sections_get_a_list_of_contents() -> None:
    sections = [Section(f"Number {number}", []) for number in range(1, 7)]
    assert '<li><a href="#part-6">Number 6</a></li>' in page("Title", [], sections)
    assert "<nav>" not in page("Title", [], sections[:2])


def test_the_same_parts_give_the_same_page() -> None:
    assert page("Title", [], SECTIONS) == page("Title", [], SECTIONS)


def test_named_pictures_are_saved_in_every_format(tmp_path: Path) -> None:
    paths = save_pictures(SECTIONS[:1], tmp_path, ("svg", "png", "pdf"))
    assert [path.name for path in paths] == [
        f"{name}.{suffix}" for name in ("regret", "regret-two") for suffix in ("svg", "png", "pdf")
    ]
    for path, start in zip(paths, (b"<svg", b"\x89PNG", b"%PDF") * 2, strict=True):
        assert path.read_bytes().startswith(start)


def test_slim_pictures_look_the_same() -> None:
    svg = '<path d="M10.123,20.96L3.04,1" id="a"/><g clip-path="url(#a)"><text>0.00123</text></g>'
    assert shorten_svg(svg, "c1") == (
        '<path d="M10.1,21L3,1" id="c1-a"/><g clip-path="url(#c1-a)"><text>0.00123</text></g>'
    )

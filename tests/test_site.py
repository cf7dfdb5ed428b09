"""The documentation site: complete, without broken links, and readable without a network."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browser import Browser, require_chromium
from docs_hooks import LARGEST, typeset, weight, with_narrow_forms
from docs_terms import OTHER_SENSE, TERMS, linked
from draw import narrow_file, smaller
from fontTools.ttLib import TTFont
from test_docstrings import NAMED

import lowregret as lr

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(r'<(?:script|img|link|iframe)[^>]+(?:src|href)="(https?:)?//')


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site without the gallery, whose scripts test_examples.py runs."""
    folder = tmp_path_factory.mktemp("site")
    call = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    settings = {"RUN_EXAMPLES": "false", "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(call, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr  # strict: a broken link, also to an anchor, is an error
    return folder


def test_every_public_name_is_in_the_reference(site):
    pages = "".join(page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html"))
    kinds = "DriftingBandit.", "RandomBandit."  # their members are on the page of Bandit
    names = {*dir(lr), *NAMED} - {name for name in NAMED if name.startswith(kinds)}
    assert [name for name in sorted(names) if f'id="lowregret.{name}"' not in pages] == []


def test_every_command_is_in_the_reference(site):
    from typer.main import get_command

    from lowregret.cli import app

    page = (site / "reference/commands.html").read_text(encoding="utf-8")
    assert [name for name in get_command(app).commands if f"lowregret {name}" not in page] == []


def test_pages_request_nothing_from_outside_and_are_small(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not OUTSIDE.search(text), page.name
        if page.name != "404.html":  # whose addresses are absolute
            assert len(text) < weight(page, site) <= LARGEST == 1.6e6, page.name


def test_search_works_in_a_file_and_pages_fit_a_phone(site):
    require_chromium()
    with Browser() as browser:
        with browser.tab(site / "index.html") as tab:
            tab.click(".md-search__input")
            tab.write(".md-search__input", "propensity")
            tab.wait("document.querySelectorAll('.md-search-result__item').length > 2")
            assert tab.complaints() == []
        for page in ("index", "how-to/policies", "live/live", "reference/simulation"):
            with browser.tab(site / f"{page}.html", width=375) as tab:
                assert tab.evaluate("document.documentElement.scrollWidth") <= 375, page
        figures = "[...document.querySelectorAll('picture img')]"
        for width in (390, 1280):
            with browser.tab(site / "how-to/drift.html", width) as tab:
                tab.wait(f"{figures}.every(image => image.complete && image.naturalWidth)")
                forms = tab.evaluate(f"{figures}.map(image => image.currentSrc.endsWith('-narrow.svg'))")
                assert forms and set(forms) == {width == 390}
                rights = tab.evaluate(f"{figures}.map(image => image.getBoundingClientRect().right)")
                assert max(rights) <= width


def test_terms_are_linked_once_to_where_they_are_explained(site):
    concepts = (site / "reference/concepts.html").read_text(encoding="utf-8")
    assert [anchor for anchor in TERMS.values() if f'id="{anchor}"' not in concepts] == []
    for page, anchor in {
        "live/live": "propensity",
        "how-to/experiments": "shard",
        "evidence/league": "regret",
    }.items():
        text = (site / f"{page}.html").read_text(encoding="utf-8")
        assert text.count(f'href="../reference/concepts.html#{anchor}"') == 1, page


def test_only_the_first_use_in_prose_is_linked():
    code = "```python\nregret\n```\n"
    text = f"# Regret\n\n``a regret`` `regret` [regret](a.md) worst-case regret, Regrets.\n\n{code}"
    assert linked(text, "c.md") == text.replace("case regret", "case [regret](c.md#regret)")
    assert linked("a [tail](concepts.md#tail), tails", "c.md") == "a [tail](concepts.md#tail), tails"
    for other in ("surround, paired-up, gap.svg", "which delays them"):
        assert linked(other, "c.md") == other


def test_a_term_in_another_sense_is_not_linked():
    text, shown = "a binomial tail, and a horizon", "a binomial tail, and a [horizon](c.md#run-horizon-seed)"
    assert linked(text, "c.md", "explanation/theory.md") == shown
    assert linked(text, "c.md", "evidence/league.md").count("](c.md#") == 2
    for page, anchors in OTHER_SENSE.items():
        found = linked((ROOT / "docs" / page).read_text(encoding="utf-8"), "c.md")
        assert [anchor for anchor in anchors if f"c.md#{anchor}" not in found] == [], page


def test_formulas_are_mathml_without_a_script(site):
    page = (site / "explanation/confidence-bounds.html").read_text(encoding="utf-8")
    assert "<msqrt>" in page and "<mfrac>" in page
    font = TTFont(site / "assets/math.woff2")
    assert "MATH" in font and ord("√") in font.getBestCmap()  # roots and brackets grow
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        prose = re.sub(r"<(pre|code|script)\b.*?</\1>", "", text, flags=re.DOTALL)
        assert "arithmatex" not in prose, path.name
        assert re.findall(r"\\[a-z]{2,}", prose) == [], path.name


def test_a_formula_is_typeset():
    fraction = "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>n</mi></mrow></mfrac>"
    assert fraction in typeset(r"\frac{a}{n}")
    assert '<mi>log</mi><mspace width="0.17em" /><mi>t</mi>' in typeset(r"\log t")
    assert "<mo>&#x0002B;</mo></msup><mspace" in typeset(r"\log^+ t")
    assert typeset("x &lt; 1", block=True).startswith('<div class="formula"><math')


def test_a_smaller_figure_has_the_same_text():
    svg = '<path aria-label="a: 0.12345" d="M1.23456,2L3.5,0.999"/><text x="1.005">gamma=0.9975</text>'
    assert smaller(svg) == '<path d="M1.23,2L3.5,0.99"/><text x="1.00">gamma=0.9975</text>'


def test_a_narrow_window_gets_the_narrow_form_of_a_figure():
    html = '<img alt="A" src="../images/a.svg" /> <img alt="B" src="../images/b.svg" />'
    shown = with_narrow_forms(html, "how-to/figures.html", {"images/a-narrow.svg"})
    assert shown.startswith(
        '<picture><source media="(max-width: 499px)" srcset="../images/a-narrow.svg">'
        '<img alt="A" src="../images/a.svg" /></picture> <img alt="B"'
    )


def test_narrow_forms_of_figures_fit_a_phone_in_letters_that_can_be_read():
    all_figures = {path for path in (ROOT / "docs" / "images").glob("*.svg") if "-narrow" not in path.stem}
    figures = {path for path in all_figures if narrow_file(path).exists()}
    assert {path.stem for path in all_figures - figures} == {"column"}  # in the size of a paper
    for path in figures:
        text = narrow_file(path).read_text(encoding="utf-8")
        assert float(ElementTree.fromstring(text).get("width", 0)) <= 360, path
        assert min(map(float, re.findall(r'font-size[=:]"?([\d.]+)', text))) >= 11, path

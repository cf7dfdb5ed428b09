"""The documentation site: complete, without broken links, and readable without a network."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from browser import Browser, require_chromium
from docs_hooks import LARGEST, smaller, thumbnail, weight
from docs_math import typeset
from docs_terms import OTHER_SENSE, TERMS, linked
from test_docstrings import NAMED

import lowregret as lr

ROOT = Path(__file__).parents[1]
OUTSIDE = re.compile(r'<(?:script|img|link|iframe)[^>]+(?:src|href)="(https?:)?//')


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site without the gallery, whose scripts test_examples.py runs."""
    folder = tmp_path_factory.mktemp("site")
    call = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    settings = {"RUN_EXAMPLES": "false", "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(call, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr  # strict: a broken link, also to an anchor, is an error
    return folder


def test_every_public_name_is_in_the_reference(site):
    pages = "".join(page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html"))
    names = {*dir(lr), *NAMED} - {name for name in NAMED if name.startswith("DriftingBandit.")}  # see Bandit
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
            assert len(text) < weight(page, site) <= LARGEST == 1.5e6, page.name


def test_search_works_in_a_file_and_pages_fit_a_phone(site):
    require_chromium()
    with Browser() as browser:
        with browser.tab(site / "index.html") as tab:
            tab.click(".md-search__input")
            tab.write(".md-search__input", "propensity")
            tab.wait("document.querySelectorAll('.md-search-result__item').length > 2")
            assert tab.complaints() == []
        for page in ("index", "policies", "live", "reference/simulation"):
            with browser.tab(site / f"{page}.html", width=375) as tab:
                assert tab.evaluate("document.documentElement.scrollWidth") <= 375, page


def test_terms_are_linked_once_to_where_they_are_explained(site):
    concepts = (site / "concepts.html").read_text(encoding="utf-8")
    assert [anchor for anchor in TERMS.values() if f'id="{anchor}"' not in concepts] == []
    for page, anchor in (("live", "propensity"), ("experiments", "shard"), ("league", "regret")):
        text = (site / f"{page}.html").read_text(encoding="utf-8")
        assert text.count(f'href="concepts.html#{anchor}"') == 1, page


def test_only_the_first_use_in_prose_is_linked():
    code = "```python\nregret\n```\n"
    text = f"# Regret\n\n``a regret`` `regret` [regret](a.md) worst-case regret, Regrets.\n\n{code}"
    assert linked(text, "c.md") == text.replace("case regret", "case [regret](c.md#regret)")
    assert linked("a [tail](concepts.md#tail), tails", "c.md") == "a [tail](concepts.md#tail), tails"
    for other in ("surround, paired-up, gap.svg", "which delays them"):
        assert linked(other, "c.md") == other


def test_a_term_in_another_sense_is_not_linked():
    text = "a binomial tail, and a horizon"
    assert linked(text, "c.md", "theory.md") == "a binomial tail, and a [horizon](c.md#run-horizon-seed)"
    assert linked(text, "c.md", "league.md").count("](c.md#") == 2
    for page, anchors in OTHER_SENSE.items():
        found = linked((ROOT / "docs" / page).read_text(encoding="utf-8"), "c.md")
        assert [anchor for anchor in anchors if f"c.md#{anchor}" not in found] == [], page


def test_formulas_are_typeset_in_prose_alone():
    shown = {
        "D_i^2 <= K^(1/2)": "D<sub>i</sub><sup>2</sup> ≤ K<sup>1/2</sup>",
        "n_{m_i}, N_{m+1}": "n<sub>m<sub>i</sub></sub>, N<sub>m+1</sub>",
        "x_\\* >= r-hat_i": "x<sub>&#42;</sub> ≥ r̂<sub>i</sub>",
        "eps_m^2 < K^2.4. >= e^-m": "&epsilon;<sub>m</sub><sup>2</sup> < K<sup>2.4</sup>. ≥ e<sup>-m</sup>",
        "a\n\n    x_* = 1,\n\nb": 'a\n\n<p class="formula">x<sub>&#42;</sub> = 1,</p>\n\nb',
    }
    assert {text: typeset(text) for text in shown} == shown
    code = "```python\na\n\n    x_1 = 2\n\n```\n`D_i^2` [a](b_c.md#d_e) own_data.toml, epsilon, sqrt\n# x_i\n"
    assert typeset(code) == code


def test_a_smaller_figure_has_the_same_text():
    svg = '<path aria-label="a: 0.12345" d="M1.23456,2L3.5,0.999"/><text x="1.005">gamma=0.9975</text>'
    assert smaller(svg) == '<path d="M1.23,2L3.5,0.99"/><text x="1.00">gamma=0.9975</text>'


def test_a_thumbnail_is_the_first_plot_alone():
    svg = (
        '<svg width="880" height="560" viewBox="0 0 880 560"><g transform="translate(64,24)">'
        '<g transform="translate(0,0)"><path class="background" d="M0,0h0v0h0Z"/>'
        '<g transform="translate(16,26)"><path class="background" d="M0,0h300v200h-300Z"/></g></g></g></svg>'
    )
    cropped = thumbnail(svg)
    assert cropped.startswith(
        '<svg width="320" height="190" viewBox="77 46 306 208" preserveAspectRatio="none">'
    )
    assert "text { display: none }" in cropped

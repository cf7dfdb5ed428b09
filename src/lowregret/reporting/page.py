"""One HTML page of pictures, tables and words that needs nothing but itself.

The pictures are drawn twice: once here, as SVG that every reader sees at once, also on paper and with
scripts off, and again by the page's script, which brings hovering and highlighting. The script, its library
and the data are packed once for the whole page.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from lowregret.reporting.chart_style import HEIGHT, chart_dict, save_svg, shortened_svg, svg_of
from lowregret.reporting.page_parts import Beside, Cell, Fold, Part, Picture, Section, Table, Text

# The page cannot ask for anything from outside, whatever its scripts do. Vega compiles expressions.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
)
MANY = 4
"""With more sections than this the page gets a list of contents."""


def page(title: str, introduction: Sequence[str], sections: Sequence[Section]) -> str:
    """Return the HTML of the page: all of it is in one file, so it can be read offline and passed on.

    ``introduction`` are the paragraphs before the first section.
    """
    writer = _Writer(_policies(sections))
    body = "".join(writer.section(section, number) for number, section in enumerate(sections, 1))
    words = "".join(f"<p>{escape(text)}</p>\n" for text in introduction)
    return (
        '<!DOCTYPE html>\n<html lang="en" class="still">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_resource('page.css')}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{words}{_contents(sections)}{writer.key()}{body}{writer.script()}"
        "</body>\n</html>\n"
    )


def save_pictures(sections: Sequence[Section], folder: Path, formats: Sequence[str]) -> list[Path]:
    """Write every named picture of a page to a folder, in the given formats, and return the paths.

    Views after the first have their name added.
    """
    paths = []
    for picture in pictures(sections):
        if not picture.name:
            continue
        for number, (name, chart) in enumerate(picture.views.items()):
            svg, stem = svg_of(chart), picture.name + (f"-{name.replace(' ', '-')}" if number else "")
            for suffix in formats:
                paths.append(folder / f"{stem}.{suffix}")
                save_svg(svg, paths[-1])
    return paths


def pictures(parts: Sequence[Part | Section]) -> Iterator[Picture]:
    """Yield every picture among parts, also those inside others."""
    for part in parts:
        if isinstance(part, Picture):
            yield part
        elif isinstance(part, Section | Beside | Fold):
            yield from pictures(part.parts)


@dataclass
class _Writer:
    """Writes parts as HTML and gathers what the script needs."""

    policies: dict[str, list[Any]]
    charts: list[list[dict[str, Any]]] = field(default_factory=list)
    datasets: dict[str, Any] = field(default_factory=dict)

    def section(self, section: Section, number: int) -> str:
        head, parts = escape(section.title), "".join(map(self.part, section.parts))
        if section.folded:
            return f'<details id="part-{number}"><summary><h2>{head}</h2></summary>\n{parts}</details>\n'
        return f'<section id="part-{number}">\n<h2>{head}</h2>\n{parts}</section>\n'

    def part(self, part: Part) -> str:
        match part:
            case Text(words, kind):
                return f'<p class="{kind}">{escape(words)}</p>\n' if kind else f"<p>{escape(words)}</p>\n"
            case Table():
                return self.table(part)
            case Picture():
                return self.picture(part)
            case Beside(parts):
                return f'<div class="beside">\n{"".join(map(self.part, parts))}</div>\n'
            case Fold(title, parts):
                inside = "".join(map(self.part, parts))
                return f"<details><summary>{escape(title)}</summary>\n{inside}</details>\n"

    def table(self, table: Table) -> str:
        rows = ["<tr>" + "".join(_cell("th", head, i in table.words) for i, head in enumerate(table.heads))]
        for row in table.rows:
            policy = next((words for words in map(_words, row) if words in self.policies), None)
            mark = f' data-policy="{escape(policy)}"' if policy else ""
            cells = (self.cell(cell, i in table.words) for i, cell in enumerate(row))
            rows.append(f"<tr{mark}>" + "".join(cells))
        caption = f'<p class="facts">{escape(table.caption)}</p>\n' if table.caption else ""
        lines = "".join(f"{row}</tr>\n" for row in rows)
        return f'<div class="wide"><table>\n{lines}</table></div>\n{caption}'

    def cell(self, cell: str | Cell, word: bool) -> str:
        kind = cell.kind if isinstance(cell, Cell) else ""
        words = _words(cell)
        mark = _swatch(self.policies[words]) if words in self.policies else ""
        return _cell("td", words, word, kind, mark)

    def picture(self, picture: Picture) -> str:
        number, views = len(self.charts), list(picture.views.items())
        self.charts.append([])
        still = shortened_svg(svg_of(views[0][1]), f"c{number}")
        for _, chart in views:
            self.charts[-1].append(self.chart(chart, still))
        buttons = "".join(
            f'<button type="button" aria-pressed="{"false" if place else "true"}">{escape(name)}</button>'
            for place, (name, _) in enumerate(views)
        )
        choice = f'<div class="views">{buttons}</div>\n' if len(views) > 1 else ""
        caption = f"<figcaption>{escape(picture.caption)}</figcaption>\n" if picture.caption else ""
        label = escape(picture.label)
        return (
            f'<figure data-chart="{number}">\n{choice}'
            f'<div class="chart" role="img" aria-label="{label}">{still}</div>\n{caption}</figure>\n'
        )

    def chart(self, chart: Any, still: str) -> dict[str, Any]:
        """Take a chart apart: its data, which charts share, and the rest."""
        spec = chart_dict(chart)
        data = spec.pop("datasets", {})
        self.datasets |= data
        for needless in ("$schema", "usermeta"):
            spec.pop(needless, None)
        width = float(still.partition(' width="')[2].partition('"')[0])
        return {"spec": spec, "data": list(data), "width": width, "lines": spec["height"] == HEIGHT}

    def key(self) -> str:
        """List the policies with their lines; a click on one makes the others fade."""
        if not self.policies:
            return ""
        buttons = "".join(
            f'<button type="button" aria-pressed="false" data-policy="{escape(policy)}">{_swatch(look)}'
            f"{escape(policy)}</button>\n"
            for policy, look in self.policies.items()
        )
        return f'<div id="key">\n<span>Highlight:</span>\n{buttons}</div>\n'

    def script(self) -> str:
        if not self.charts:
            return ""
        content = {
            "library": _library(),
            "charts": self.charts,
            "datasets": self.datasets,
            "policies": self.policies,
        }
        packed = gzip.compress(json.dumps(content, separators=(",", ":")).encode(), 9, mtime=0)
        return (
            f'<script type="text/plain" id="packed">{b64encode(packed).decode()}</script>\n'
            f"<script>\n{_resource('page.js')}</script>\n"
        )


def _policies(sections: Sequence[Section]) -> dict[str, list[Any]]:
    """Gather the colour and dash of every policy in the charts."""
    found: dict[str, list[Any]] = {}
    for picture in pictures(sections):
        for chart in picture.views.values():
            known = chart.usermeta
            found |= known.get("policies", {}) if isinstance(known, dict) else {}
    return found


def _contents(sections: Sequence[Section]) -> str:
    if len(sections) <= MANY:
        return ""
    items = "".join(
        f'<li><a href="#part-{number}">{escape(section.title)}</a></li>\n'
        for number, section in enumerate(sections, 1)
    )
    return f"<nav><ul>\n{items}</ul></nav>\n"


def _words(cell: str | Cell) -> str:
    return cell.words if isinstance(cell, Cell) else cell


def _cell(tag: str, words: str, word: bool, kind: str = "", mark: str = "") -> str:
    kinds = " ".join(name for name in ("word" if word else "", kind) if name)
    attribute = f' class="{kinds}"' if kinds else ""
    return f"<{tag}{attribute}>{mark}{escape(words)}</{tag}>"


def _swatch(look: Sequence[Any]) -> str:
    colour, *dash = look
    dashes = "" if dash == [1, 0] else f' stroke-dasharray="{" ".join(map(str, dash))}"'
    return (
        '<svg class="swatch" width="26" height="8" aria-hidden="true">'
        f'<line x2="26" y1="4" y2="4" stroke="{colour}" stroke-width="3"{dashes}></line></svg>'
    )


@cache
def _library() -> str:
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def _resource(name: str) -> str:
    return files("lowregret.reporting").joinpath(name).read_text(encoding="utf-8")

"""One HTML page of pictures, tables and words that needs nothing but itself.

The pictures are drawn twice: once here, as SVG that every reader sees at once, also on paper and with
scripts off, and again by ``charts.js``, which fits them to the window and adds tooltips and the choice of
policies. Its library and the data are packed once for the whole page. ``page.js`` sorts and filters tables.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from lowregret._common.durable_files import as_store_error, write_atomically
from lowregret._common.progress import Report, counter, ignore
from lowregret._common.text import file_names
from lowregret.errors import InputError
from lowregret.reporting.chart_style import INKS_ON_DARK, crop_title, draw_svg, save_svg, shorten_svg
from lowregret.reporting.page_parts import Beside, Cell, Fold, Part, Picture, Section, Table, Text, cell_text
from lowregret.reporting.plots_extra import vl_convert
from lowregret.reporting.policy_styles import COLOURS_ON_DARK

# The page cannot ask for anything from outside, whatever its scripts do. Vega compiles expressions.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
)
MAX_WITHOUT_CONTENTS = 4
FIGURE_FORMATS = {"none": (), "svg": ("svg",), "all": ("svg", "png", "pdf")}
"""The files of figures that are written, by the value of the option ``figures``."""


def page(
    title: str,
    introduction: Sequence[str | Text],
    sections: Sequence[Section],
    *,
    refresh: int | None = None,
    report: Report = ignore,
) -> str:
    """Return the HTML of the page in one file, which can be read offline; ``report`` counts pictures."""
    advance = counter(report, len(list(pictures(sections))), "charts")
    writer = _Writer(_policies(sections), partial(advance, "drawing charts", 1))
    body = "".join(writer.section(section, number) for number, section in enumerate(sections, 1))
    words = "".join(writer.part(Text(part) if isinstance(part, str) else part) for part in introduction)
    beside = _contents(sections) + writer.key()
    side = f'<aside id="side">\n{beside}</aside>\n' if beside else ""
    again = f' data-refresh="{refresh}"' if refresh else ""
    reload = f'<noscript><meta http-equiv="refresh" content="{refresh}"></noscript>\n' if refresh else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en" class="still"{again}>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"{reload}<title>{escape(title)}</title>\n"
        f"<style>\n{_resource('page.css')}{_dark_colours()}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{escape(title)}</h1>\n{words}</header>\n"
        f"{side}<main>\n{body}</main>\n{writer.script()}</body>\n</html>\n"
    )


def write_page(
    path: Path,
    title: str,
    introduction: Sequence[str | Text],
    sections: Sequence[Section],
    *,
    formats: Sequence[str] = ("svg",),
    files: Mapping[str, str] | None = None,
    refresh: int | None = None,
    report: Report = ignore,
) -> list[Path]:
    """Write a page, its figures in ``formats`` and further ``files``; return all paths, the page first."""
    folder = path.parent
    if folder.suffix in (".html", ".htm") and not folder.exists():
        raise InputError(f"report writes a folder: pass {folder.stem!r} instead of {folder.name!r}")
    with as_store_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
        text = page(title, introduction, sections, refresh=refresh, report=report)
        write_atomically(path, text.encode())
        paths = [path]
        if formats:
            (folder / "figures").mkdir(exist_ok=True)
            paths += save_pictures(sections, folder / "figures", formats, report)
        for name, content in (files or {}).items():
            paths.append(folder / name)
            write_atomically(paths[-1], content.encode())
    return paths


def save_pictures(
    sections: Sequence[Section], folder: Path, formats: Sequence[str], report: Report = ignore
) -> list[Path]:
    """Write every named picture of a page to a folder, in the given formats, and return the paths."""
    charts = {
        picture.name + f"-{name}" * bool(number): spec
        for picture in pictures(sections)
        if picture.name
        for number, (name, spec) in enumerate(picture.specs.items())
    }
    paths, stems = [], file_names(charts, 120)
    advance = counter(report, len(charts) * len(formats), "files")
    for name, spec in charts.items():
        svg = draw_svg(spec)
        for suffix in formats:
            paths.append(folder / f"{stems[name]}.{suffix}")
            save_svg(svg, paths[-1])
        advance("writing figures", len(formats))
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
    advance: Callable[[], None]
    charts: list[list[dict[str, Any]]] = field(default_factory=list)
    datasets: dict[str, Any] = field(default_factory=dict)
    tables: int = 0

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
        heads = "".join(_cell("th", head, i in table.text_columns) for i, head in enumerate(table.heads))
        rows = []
        for row in table.rows:
            policy = next((words for words in map(cell_text, row) if words in self.policies), None)
            mark = f' data-policy="{escape(policy)}"' if policy else ""
            cells = (self.cell(cell, i in table.text_columns) for i, cell in enumerate(row))
            rows.append(f"<tr{mark}>" + "".join(cells) + "</tr>\n")
        self.tables += 1
        caption = f'<p class="facts">{escape(table.caption)}</p>\n' if table.caption else ""
        body = f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody>"
        return f'<div class="wide"><table>\n{body}</table></div>\n{caption}'

    def cell(self, cell: str | Cell, word: bool) -> str:
        words, kind, sign = cell if isinstance(cell, Cell) else Cell(cell)
        mark = _swatch(self.policies[words]) if words in self.policies else ""
        return _cell("td", words, word, kind, mark, sign)

    def picture(self, picture: Picture) -> str:
        number, views = len(self.charts), picture.specs
        still = shorten_svg(crop_title(draw_svg(next(iter(views.values())))), f"c{number}")
        self.charts.append([self.chart(spec, still) for spec in views.values()])
        self.advance()
        buttons = "".join(
            f'<button type="button" aria-pressed="{"false" if place else "true"}">{escape(name)}</button>'
            for place, name in enumerate(views)
        )
        choice = f'<div class="views">{buttons}</div>' if len(views) > 1 else ""
        caption = f"<figcaption>{escape(picture.caption)}</figcaption>\n" if picture.caption else ""
        label = escape(picture.label)
        return (
            f'<figure data-chart="{number}">\n<div class="head"><h3>{label}</h3>{choice}</div>\n'
            f'<div class="chart" role="img" aria-label="{label}">{still}</div>\n{caption}</figure>\n'
        )

    def chart(self, spec: Mapping[str, Any], still: str) -> dict[str, Any]:
        """Split a chart into its data, which charts share, and its specification."""
        content = {
            name: value for name, value in spec.items() if name not in ("$schema", "datasets", "usermeta")
        }
        data = spec.get("datasets", {})
        self.datasets |= data
        width = float(still.partition(' width="')[2].partition('"')[0])
        known = {name: value for name, value in spec["usermeta"].items() if name in ("lines", "columns")}
        return {"spec": content, "data": list(data), "width": width, **known}

    def key(self) -> str:
        """List the policies with their lines; a reader chooses there which ones the charts show in colour."""
        if not self.policies:
            return ""
        buttons = "".join(
            f'<button type="button" aria-pressed="false" data-policy="{escape(policy)}">{_swatch(look)}'
            f"{escape(policy)}</button>\n"
            for policy, look in self.policies.items()
        )
        return f'<div id="key">\n<h2>Policies</h2>\n<div id="policies">\n{buttons}</div>\n</div>\n'

    def script(self) -> str:
        if not self.charts:
            return f"<script>\n{_resource('page.js')}</script>\n" if self.tables else ""
        content = {
            "library": _library(),
            "charts": self.charts,
            "datasets": self.datasets,
            "policies": self.policies,
        }
        packed = gzip.compress(json.dumps(content, separators=(",", ":")).encode(), 6, mtime=0)
        return (
            f'<script type="text/plain" id="packed">{b64encode(packed).decode()}</script>\n'
            f"<script>\n{_resource('page.js')}</script>\n<script>\n{_resource('charts.js')}</script>\n"
        )


def _policies(sections: Sequence[Section]) -> dict[str, list[Any]]:
    """Gather the colour and dash of every policy in the charts, in the order of the first table."""
    lines: dict[str, list[Any]] = {}
    for picture in pictures(sections):
        for chart in picture.views.values():
            if isinstance(chart.usermeta, dict):
                lines |= chart.usermeta.get("policies", {})
    table = next((part for section in sections for part in section.parts if isinstance(part, Table)), None)
    listed = [] if table is None else [cell_text(cell) for row in table.rows for cell in row]
    return {name: lines[name] for name in dict.fromkeys((*listed, *lines)) if name in lines}


def _contents(sections: Sequence[Section]) -> str:
    if len(sections) <= MAX_WITHOUT_CONTENTS:
        return ""
    items = "".join(
        f'<li><a href="#part-{number}">{escape(section.title)}</a></li>\n'
        for number, section in enumerate(sections, 1)
    )
    return f'<nav aria-label="Contents">\n<h2>Contents</h2>\n<ul>\n{items}</ul></nav>\n'


def _cell(tag: str, words: str, word: bool, kind: str = "", mark: str = "", sign: str = "") -> str:
    kinds = " ".join(name for name in ("word" if word else "", kind) if name)
    attribute = f' class="{kinds}"' if kinds else ""
    # Long names, such as those of environments, may be broken after a comma.
    text = f"<span>{escape(words).replace(',', ',<wbr>')}</span>" if tag == "th" else escape(words)
    meaning = "lower" if "▼" in sign else "higher" if "▲" in sign else ""
    symbol = f'<span class="sign {meaning}">{escape(sign)}</span>' if sign else ""
    return f"<{tag}{attribute}>{mark}{text}{symbol}</{tag}>"


def _swatch(look: Sequence[Any]) -> str:
    colour, *dash = look
    dashes = "" if dash == [1, 0] else f' stroke-dasharray="{" ".join(map(str, dash))}"'
    return (
        '<svg class="swatch" width="26" height="8" aria-hidden="true">'
        f'<line x2="26" y1="4" y2="4" stroke="{colour}" stroke-width="3"{dashes}></line></svg>'
    )


def _dark_colours() -> str:
    """Return rules that replace the colours of charts on a dark page."""
    colours = {**COLOURS_ON_DARK, **INKS_ON_DARK, "white": "var(--paper)"}
    return "".join(
        f':is(.chart, .swatch) [{kind}="{light}"] {{ {kind}: light-dark({light}, {dark}); }}\n'
        for light, dark in colours.items()
        for kind in ("fill", "stroke")
    )


@cache
def _library() -> str:
    """Return the library that draws the charts; it is kept on disk, since it takes seconds to make."""
    code = "window.vegaEmbed = vegaEmbed;"
    with suppress(OSError, RuntimeError):  # no home, or none that can be written to
        path = user_cache_path("lowregret") / f"vega-{version('vl-convert-python')}.js"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, str(vl_convert.javascript_bundle(code)).encode())
        return path.read_text(encoding="utf-8")
    return str(vl_convert.javascript_bundle(code))


def _resource(name: str) -> str:
    return files("lowregret.reporting").joinpath(name).read_text(encoding="utf-8")

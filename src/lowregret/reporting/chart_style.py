"""What charts share: size, fonts, data, colours, highlighting of a policy, and writing a chart to a file."""

import json
import re
import sys
import webbrowser
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import ceil, inf
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple
from zlib import crc32

import polars as pl

from lowregret._common.other_names import CHARTS, answers
from lowregret._common.validation import POSITIVE, number
from lowregret.errors import InputError
from lowregret.reporting.plots_extra import alt, vl_convert
from lowregret.reporting.policy_styles import Style, styles

WIDTH, HEIGHT, PADDING = 640, 380, 10
# Thousands as 60k and 1.5M, but no thousandths as 500m.
TICKS = "format(datum.value, abs(datum.value) < 1 ? '~g' : '~s')"
# Named, since the sizes are worked out here with a font of Arial's widths and "sans-serif" alone
# may be a wider one where the figure is shown.
FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
INK, GREY, CONTEXT = "#222222", "#5F5F5F", "#C2C2C2"
"""The colours of text, of secondary text, and of lines that are not in focus."""
GRID, DOMAIN = "#E8E8E8", "#888888"

INKS_ON_DARK = {INK: "#E3E3E3", GREY: "#A6A8AC", CONTEXT: "#5A5D63", GRID: "#2D3035", DOMAIN: "#7A7D82"}
"""The colours in place of these on a dark page."""

MAX_IN_FOCUS = 12
"""A chart with more lines than this shows only some of them in colour, and the others in grey."""
DEFAULT_FOCUS = 5
"""The number of lines in focus by default in such a chart: those that end lowest."""
CONFIG = {
    "font": FONT,
    "axis": {
        "labelFontSize": 13,
        "titleFontSize": 14,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "gridColor": GRID,
        "labelColor": INK,
        "titleColor": INK,
        "labelLimit": 0,  # to measure every label is slow
    },
    "axisX": {"domainColor": DOMAIN, "tickColor": DOMAIN},
    "axisY": {"domain": False, "ticks": False},
    "legend": {
        "labelFontSize": 13,
        "labelLimit": 0,
        "labelColor": INK,
        "symbolType": "stroke",
        "symbolSize": 500,
        "symbolOpacity": 1,
        "symbolStrokeWidth": 2.5,
    },
    "view": {"stroke": None},
}
"""Fonts and colours of what surrounds the marks."""
HOVER = "hover"
"""The name of the layer that shows numbers at the pointer."""
IN_FOCUS = "(datum.policy === hovered || indexof(length(chosen) ? chosen : focus, datum.policy) >= 0)"
"""A Vega expression: whether the policy of a mark is drawn in colour.

``focus`` lists the policies of a chart that are in focus from the beginning. The page sets ``chosen`` and
``hovered`` in all its charts: the policies that a reader chose, and the one that the pointer is at.
"""


class Size(NamedTuple):
    """The size of a plot in pixels, and the width of the whole figure if it is limited."""

    width: float = WIDTH
    height: float = HEIGHT
    figure: float = inf


class Offline:
    """Makes files and notebook output of a chart that need no network; it comes before altair's class."""

    def save(self, fp: Any, *args: Any, **kwds: Any) -> None:
        """Write .svg, .png and .pdf without tooltips, .html that works offline, others as altair does."""
        suffix = "" if args or kwds or not isinstance(fp, str | Path) else Path(fp).suffix.lower()
        if suffix in (".svg", ".png", ".pdf"):
            save_svg(svg_of(self), fp)
        elif suffix == ".html":
            super().save(str(fp), format="html", inline=True)  # type: ignore[misc]
        else:
            super().save(fp, *args, **kwds)  # type: ignore[misc]

    def show(self, *args: Any, **kwds: Any) -> None:
        """Show the chart: in a notebook under the cell, in a script in the browser."""
        ipython = sys.modules.get("IPython")
        if ipython is not None and ipython.get_ipython() is not None:
            super().show(*args, **kwds)  # type: ignore[misc]
            return
        page = Path(mkdtemp(prefix="lowregret-")) / "chart.html"
        self.save(page)
        if not webbrowser.open(page.as_uri()):
            raise InputError(f"no browser can be opened here: the chart is in {page}")

    def _repr_mimebundle_(self, *args: Any, **kwds: Any) -> Any:
        """Return the chart as SVG, unless another renderer of altair is enabled."""
        if alt.renderers.active != "default":
            return super()._repr_mimebundle_(*args, **kwds)  # type: ignore[misc]
        svg = svg_of(self)
        return {"image/svg+xml": shorten_svg(svg, f"figure-{crc32(svg.encode()):08x}")}


@answers("a chart", CHARTS)
class Figure(Offline, alt.LayerChart):
    """A chart whose files and notebooks need no network."""


def fit_chart(draw: Callable[[Size], Figure], width: float | None, height: float | None) -> Figure:
    """Draw a chart so that all of it has this width and height in points, with labels of 8 points at 240.

    What surrounds the plot is measured, twice since that may change where a label is above the plot.
    """
    if width is None and height is None:
        return draw(Size())
    asked = {"width": width, "height": height}
    points = {
        name: number("plot", name, value, POSITIVE) for name, value in asked.items() if value is not None
    }
    scale = min(max(points.get("width", 960) / 120 + 6, 8), 14) / 14
    pixels = {name: value / scale for name, value in points.items()}
    size = Size(pixels["width"], pixels["width"] / 2, pixels["width"]) if width else Size()
    for _ in range(3):
        chart = draw(size)
        chart.padding = 3
        chart.usermeta |= {"scale": scale}
        if chart.title is not alt.Undefined:
            chart.title.frame, chart.title.limit = "bounds", 0.9 * size.figure if width else 0
        wide, high = map(float, SIZE.findall(svg_of(chart))[0])
        around = {"width": wide / scale - chart.width, "height": high / scale - chart.height}
        size = size._replace(**{name: max(pixels[name] - around[name], 100) for name in pixels})
    for (name, value), least in zip(asked.items(), (wide, high), strict=True):
        if value is not None and least > value + 1:
            raise InputError(f"plot: these lines need a {name} of {ceil(least)} points, got {value:g}")
    return chart


SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')
"""The width and the height of an SVG file; the first that is found is that of the whole."""


def palette_of(policies: Iterable[str], palette: Mapping[str, Style] | None = None) -> dict[str, Style]:
    """Return the style of each policy, from a palette that several charts share or made for this chart."""
    names = list(dict.fromkeys(policies))
    return styles(names) if palette is None else {name: palette[name] for name in names}


def line_encodings(
    palette: Mapping[str, Style], order: Sequence[str], legend: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Encode colour and dash of every policy; a legend, with these options, lists those in focus."""
    key = None
    if legend is not None:
        key = alt.Legend(title=None, values=alt.ExprRef("length(chosen) ? chosen : focus"), **legend)

    def scale(field: str) -> alt.Scale:
        return alt.Scale(
            type="ordinal", domain=list(order), range=[getattr(palette[policy], field) for policy in order]
        )

    return {
        "color": alt.Color("policy:N", scale=scale("colour"), legend=key),
        "strokeDash": alt.StrokeDash("policy:N", scale=scale("dash"), legend=key),
    }


def focus_of(order: Sequence[str], wanted: Sequence[str] = ()) -> list[str]:
    """Return the policies drawn in colour: all if few, else those ``wanted`` or the last of ``order``."""
    if len(order) <= MAX_IN_FOCUS:
        return list(order)
    return [policy for policy in order if policy in wanted] or list(order[-DEFAULT_FOCUS:])


def highlight(opacity: float = 1.0, kind: Any = alt.OpacityValue) -> Any:
    """Encode an opacity, or that of fills alone, that all but vanishes for policies that are not in focus."""
    return kind(opacity * 0.12, condition={"test": IN_FOCUS, "value": opacity})


def right_of_plot(distance: float) -> alt.ExprRef:
    """Return a horizontal position beside the plot, which follows when the page changes its width."""
    return alt.ExprRef(f"width + {distance:g}")


def inline_data(table: pl.DataFrame) -> alt.InlineData:
    """Put a table into a chart as text with commas, the shortest form on a page, with six digits."""
    numbers = [name for name, kind in table.schema.items() if kind.is_numeric()]
    text = table.with_columns(pl.selectors.float().round_sig_figs(6)).write_csv(null_value="")
    form = alt.CsvDataFormat(type="csv", parse=dict.fromkeys(numbers, "number"))
    return alt.InlineData(values=text, format=form)


def field(encoding: Any, name: str) -> Any:
    """Point an encoding at another column; its axis and title stay."""
    other = encoding.copy()
    other.shorthand = f"{name}:Q"
    return other


def layer_chart(
    layers: Sequence[alt.Chart],
    title: str,
    palette: Mapping[str, Style],
    height: float = HEIGHT,
    focus: Sequence[str] | None = None,
    width: float = WIDTH,
) -> Figure:
    """Return layers as one chart with size, fonts and title, and list its policies for the page.

    Layers called "labels-..." name the lines; where there is no room, the page names them under the plot.
    """
    heading = alt.TitleParams(title, anchor="start", frame="group", fontSize=16, offset=12, color=INK)
    lines = {name: [style.colour, *style.dash] for name, style in palette.items()}
    # Made at once: each method of a chart would copy all of it.
    return Figure(
        layer=list(layers),
        params=page_parameters(palette if focus is None else focus),
        title=heading if title else alt.Undefined,
        width=width,
        height=height,
        background="white",
        padding=PADDING,
        usermeta={"policies": lines, "lines": lines},
        config=CONFIG,
    )


def page_parameters(focus: Iterable[str]) -> list[alt.VariableParameter]:
    """Return the parameters of a chart that the page sets; `IN_FOCUS` explains the first three."""
    values = {"chosen": [], "hovered": "", "focus": list(focus), "labelLimit": 0}
    return [alt.VariableParameter(name=name, value=value) for name, value in values.items()]


def svg_of(chart: Any) -> str:
    """Draw a chart as SVG; its parts were validated when they were made, and again would be slow."""
    return draw_svg(chart.to_dict(validate=False))


def draw_svg(spec: dict[str, Any]) -> str:
    """Draw a chart, given as plain data, as SVG, without tooltips and descriptions of single marks."""
    drawn = spec | {"config": spec["config"] | {"aria": False}}
    drawn["params"] = [part for part in spec.get("params", []) if HOVER not in part.get("views", [])]
    if "layer" in spec:
        drawn["layer"] = [layer for layer in spec["layer"] if layer.get("name") != HOVER]
    svg = _svg(json.dumps(drawn))
    scale = spec.get("usermeta", {}).get("scale", 1)
    return SIZE.sub(
        lambda old: f'width="{float(old[1]) * scale:g}" height="{float(old[2]) * scale:g}"', svg, 1
    )


@lru_cache(maxsize=128)  # a page and its files draw the same charts
def _svg(spec: str) -> str:
    return str(vl_convert.vegalite_to_svg(spec))


def save_svg(svg: str, path: str | Path) -> None:
    """Write a drawn chart as .svg, .png or .pdf."""
    place = Path(path)
    suffix = place.suffix.lower()
    if suffix == ".svg":
        place.write_text(svg, encoding="utf-8")
    elif suffix == ".png":
        place.write_bytes(vl_convert.svg_to_png(svg, scale=2))
    else:
        place.write_bytes(vl_convert.svg_to_pdf(svg))


def shorten_svg(svg: str, name: str) -> str:
    """Shorten a drawn chart for the page to tenths of pixels; its identifiers get a name before them."""
    short = re.sub(r'(?<= d=")[^"]*|(?<=translate\()[^)]*', _rounded, svg)
    return re.sub(r'(?<=\bid=")|(?<=url\(#)', f"{name}-", short)


def crop_title(svg: str) -> str:
    """Crop a drawn chart to what is below its title, which the page shows as a heading."""
    head = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    plot = re.search(r'<g fill="none" stroke-miterlimit="10" transform="translate\([\d.]+,([\d.]+)\)"', svg)
    if head is None or plot is None or "role-title-text" not in svg:
        return svg
    top = float(plot[1]) - PADDING
    height = f"{float(head[2]) - top:g}"
    cropped = svg.replace(head[0], f'viewBox="0 {top:g} {head[1]} {height}"', 1)
    return cropped.replace(f'height="{head[2]}"', f'height="{height}"', 1)


def _rounded(match: re.Match[str]) -> str:
    return re.sub(r"\d+\.\d\d+", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), match[0])

"""Common to all charts: fonts, data, colours, highlighting of a policy, and writing a chart to a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from lowregret.errors import InputError
from lowregret.reporting.policy_styles import Style, styles

WIDTH, HEIGHT, PADDING = 640, 380, 10
FORMATS = ("html", "pdf", "png", "svg")
# Thousands as 60k and 1.5M, but no thousandths as 500m.
TICKS = "format(datum.value, abs(datum.value) < 1 ? '~g' : '~s')"
# Named, since the sizes are worked out here with a font of Arial's widths and "sans-serif" alone
# may be a wider one where the figure is shown.
FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
INK, GREY, CONTEXT = "#222222", "#5F5F5F", "#C2C2C2"
"""The colours of text, of secondary text, and of lines that are not in focus."""
GRID, DOMAIN = "#E8E8E8", "#888888"

ON_DARK = {INK: "#E3E3E3", GREY: "#A6A8AC", CONTEXT: "#5A5D63", GRID: "#2D3035", DOMAIN: "#7A7D82"}
"""The colours in place of these on a dark page."""

MOST_IN_FOCUS = 12
"""A chart with more lines than this shows only some of them in colour, and the others in grey."""
DEFAULT_FOCUS = 5
"""How many lines of such a chart are in focus if nothing else is given: those that end lowest."""
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


def palette_of(policies: Iterable[str], palette: Mapping[str, Style] | None = None) -> dict[str, Style]:
    """Return the style of each policy, from a palette that several charts share or made for this chart."""
    names = list(dict.fromkeys(policies))
    return styles(names) if palette is None else {name: palette[name] for name in names}


def line_encodings(
    palette: Mapping[str, Style], order: Sequence[str], legend: bool = False
) -> dict[str, Any]:
    """Encode colour, dash and width of every policy; a legend lists those in focus."""
    key = None
    if legend:
        key = alt.Legend(title=None, values=alt.ExprRef("length(chosen) ? chosen : focus"))

    def scale(field: str) -> alt.Scale:
        return alt.Scale(
            type="ordinal",
            domain=list(order),
            range=[getattr(palette[policy], field) for policy in order],
        )

    return {
        "color": alt.Color("policy:N", scale=scale("colour"), legend=key),
        "strokeDash": alt.StrokeDash("policy:N", scale=scale("dash"), legend=key),
        "strokeWidth": alt.StrokeWidth("policy:O", scale=scale("width"), legend=None),
    }


def focus_of(order: Sequence[str], wanted: Sequence[str] = ()) -> list[str]:
    """Return the policies of a chart that are drawn in colour.

    These are all if they are few, otherwise those ``wanted``, or the last ones of an ``order`` that goes from
    the highest line down.
    """
    if len(order) <= MOST_IN_FOCUS:
        return list(order)
    return [policy for policy in order if policy in wanted] or list(order[-DEFAULT_FOCUS:])


def highlight(opacity: float = 1.0) -> alt.OpacityValue:
    """Encode an opacity that all but vanishes for policies that are not in focus."""
    return alt.OpacityValue(opacity * 0.12, condition={"test": IN_FOCUS, "value": opacity})


def highlight_fill(opacity: float) -> alt.FillOpacityValue:
    """Encode the same for fills alone; files of many such marks are drawn several times faster."""
    return alt.FillOpacityValue(opacity * 0.12, condition={"test": IN_FOCUS, "value": opacity})


def right_of_plot(distance: float) -> alt.ExprRef:
    """Return a horizontal position beside the plot, which follows when the page changes its width."""
    return alt.ExprRef(f"width + {distance:g}")


def inline(table: pl.DataFrame) -> alt.InlineData:
    """Put a table into a chart.

    As text with commas, since a page holds many numbers and this is the shortest form; with six digits, more
    than any screen or paper can show.
    """
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
) -> alt.LayerChart:
    """Return layers as one chart with size, fonts and title, and list its policies for the page.

    All policies are in ``focus`` if none are given.
    """
    heading = alt.TitleParams(title, anchor="start", frame="group", fontSize=16, offset=12, color=INK)
    known = {name: [style.colour, *style.dash] for name, style in palette.items()}
    # Made at once: each method of a chart would copy all of it.
    return alt.LayerChart(
        layer=list(layers),
        params=[
            alt.VariableParameter(name="chosen", value=[]),
            alt.VariableParameter(name="hovered", value=""),
            alt.VariableParameter(name="focus", value=list(palette if focus is None else focus)),
            alt.VariableParameter(name="labelLimit", value=0),
        ],
        title=heading if title else alt.Undefined,
        width=WIDTH,
        height=height,
        background="white",
        padding=PADDING,
        usermeta={"policies": known},
        config=CONFIG,
    )


def save(chart: alt.LayerChart, path: str | Path) -> None:
    """Write a chart as .svg, .png or .pdf, or as .html that works offline."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise InputError(f"save: a figure must be named .html, .pdf, .png or .svg, got {str(path)!r}")
    if suffix == "html":
        chart.save(str(path), format="html", inline=True)
    else:
        save_svg(svg_of(chart), path)


def svg_of(chart: alt.LayerChart) -> str:
    """Draw a chart as SVG, without tooltips and descriptions of single marks."""
    return draw_svg(chart_dict(chart))


def draw_svg(spec: dict[str, Any]) -> str:
    """Draw a chart, given as plain data, as SVG."""
    plain = without_tooltips(spec)
    return _svg(json.dumps(plain | {"config": plain["config"] | {"aria": False}}))


@lru_cache(maxsize=128)  # a page and its files draw the same charts
def _svg(spec: str) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec))


def chart_dict(chart: alt.LayerChart) -> dict[str, Any]:
    """Return a chart as plain data; its parts were validated when they were made, and again would be slow."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    return spec


def without_tooltips(spec: dict[str, Any]) -> dict[str, Any]:
    """Take the hidden layer out of a chart given as plain data; it would make files slow and large."""
    layers = [layer for layer in spec["layer"] if layer.get("name") != HOVER]
    params = [parameter for parameter in spec.get("params", []) if HOVER not in parameter.get("views", [])]
    return spec | {"layer": layers, "params": params}


def save_svg(svg: str, path: str | Path) -> None:
    """Write a drawn chart as .svg, .png or .pdf."""
    import vl_convert

    place = Path(path)
    suffix = place.suffix.lower()
    if suffix == ".svg":
        place.write_text(svg, encoding="utf-8")
    elif suffix == ".png":
        place.write_bytes(vl_convert.svg_to_png(svg, scale=2))
    else:
        place.write_bytes(vl_convert.svg_to_pdf(svg))


def shortened_svg(svg: str, name: str) -> str:
    """Shorten a drawn chart for the page to tenths of pixels; its identifiers get a name before them."""
    short = re.sub(r'(?<= d=")[^"]*|(?<=translate\()[^)]*', _rounded, svg)
    return re.sub(r'(?<=\bid=")|(?<=url\(#)', f"{name}-", short)


def without_title(svg: str) -> str:
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

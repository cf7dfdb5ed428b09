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

WIDTH, HEIGHT = 640, 380
FORMATS = ("html", "pdf", "png", "svg")
# Thousands as 60k and 1.5M, but no thousandths as 500m.
TICKS = "format(datum.value, abs(datum.value) < 1 ? '~g' : '~s')"
# Named, since the sizes are worked out here with a font of Arial's widths and "sans-serif" alone
# may be a wider one where the figure is shown.
FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
INK, GREY = "#222222", "#5F5F5F"

CHOSEN = alt.VariableParameter(name="chosen", value=[])
"""The policies a reader picked; the page sets it in all charts at once."""
CONFIG = {
    "font": FONT,
    "axis": {
        "labelFontSize": 13,
        "titleFontSize": 14,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "gridColor": "#E8E8E8",
        "labelColor": INK,
        "titleColor": INK,
        "labelLimit": 230,
    },
    "axisX": {"domainColor": "#888888", "tickColor": "#888888"},
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
IS_CHOSEN = "length(chosen) == 0 || indexof(chosen, datum.policy) >= 0"


def palette_of(policies: Iterable[str], palette: Mapping[str, Style] | None = None) -> dict[str, Style]:
    """Return the style of each policy, from a palette that several charts share or made for this chart."""
    names = list(dict.fromkeys(policies))
    return styles(names) if palette is None else {name: palette[name] for name in names}


def line_encodings(palette: Mapping[str, Style], order: Sequence[str], legend: bool) -> dict[str, Any]:
    """Encode colour, dash and width of every policy; the legend lists them in the order given."""
    key = alt.Legend(title=None) if legend else None

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


def highlight(opacity: float = 1.0) -> alt.OpacityValue:
    """Encode an opacity that all but vanishes for the policies that were not chosen."""
    return alt.OpacityValue(opacity * 0.12, condition={"test": IS_CHOSEN, "value": opacity})


def highlight_fill(opacity: float) -> alt.FillOpacityValue:
    """Encode the same for fills alone; files of many such marks are drawn several times faster."""
    return alt.FillOpacityValue(opacity * 0.12, condition={"test": IS_CHOSEN, "value": opacity})


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
    layers: Sequence[alt.Chart], title: str, palette: Mapping[str, Style], height: float = HEIGHT
) -> alt.LayerChart:
    """Return layers as one chart with size, fonts and title, and list its policies for the page."""
    heading = alt.TitleParams(title, anchor="start", frame="group", fontSize=16, offset=12, color=INK)
    known = {name: [style.colour, *style.dash] for name, style in palette.items()}
    # Made at once: each method of a chart would copy all of it.
    return alt.LayerChart(
        layer=list(layers),
        params=[CHOSEN],
        title=heading if title else alt.Undefined,
        width=WIDTH,
        height=height,
        background="white",
        padding=10,
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
    """Draw a chart as SVG, without what only a pointer brings to light."""
    return _svg(json.dumps(without_tooltips(chart_dict(chart))))


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


def _rounded(match: re.Match[str]) -> str:
    return re.sub(r"\d+\.\d\d+", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), match[0])

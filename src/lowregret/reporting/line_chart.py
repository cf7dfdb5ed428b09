"""Charts of one line per policy, with bands, labels at the line ends and tooltips."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from math import ceil, exp, floor, log, log10
from typing import Any

import polars as pl

from lowregret.reporting import chart_style as chart
from lowregret.reporting.plots_extra import alt
from lowregret.reporting.policy_styles import Style

MAX_LABELS = 40
"""With more lines than this only those in focus have labels at their ends."""
LABEL_GAP, LABEL_SIZE = 19, 14
"""How far apart the labels are kept, and the size of their font, in pixels."""
TIGHT_GAP, TIGHT_SIZE = 16, 12
"""The same where not all lines are in focus."""
LETTER, MOST_FOR_LABELS = 0.5, 0.36
"""The width of a letter as a part of its size, and the largest part of a figure's width for labels."""
DEEPEST = 1e-5
"""A logarithmic axis reaches no further down than this part of its top."""
DECADE = 10.0
"""Where the largest value is about so many times the smallest, an axis is logarithmic."""


@dataclass(frozen=True)
class Axis:
    """One axis of a chart: its title, its ends, and whether it is logarithmic."""

    title: str
    low: float
    high: float
    log: bool = False
    names: tuple[tuple[str, ...], ...] = ()
    """The labels of the ticks at 1, 2, 3 and so on in place of numbers, in lines."""
    ticks: tuple[float, ...] = ()
    """The places of the ticks; round numbers if none are given."""

    def scale(self) -> alt.Scale:
        """Return the scale; values below a logarithmic one are drawn at its end."""
        ends = [self.low, self.high]
        if self.log:
            return alt.Scale(type="log", domain=ends, nice=False, clamp=True)
        return alt.Scale(domain=ends, nice=False, zero=False)

    def axis(self, **options: Any) -> alt.Axis:
        """Return the ticks: round numbers, or the names."""
        if self.names:
            places = list(range(1, len(self.names) + 1))
            text = f"{dumps(self.names)}[datum.value - 1]"
            return alt.Axis(values=places, labelExpr=text, labelLineHeight=16, **options)
        if self.log or self.ticks:
            return alt.Axis(values=self.ticks or self._decades(), labelExpr=chart.TICKS, **options)
        return alt.Axis(labelExpr=chart.TICKS, tickCount=6, **options)

    def _decades(self) -> list[float]:
        """List the powers of ten on a logarithmic axis, with 2 and 5 times those where they are few."""
        first, last = floor(log10(self.low)), ceil(log10(self.high))
        size = log10(self.high / self.low)
        steps = (1, 1.5, 2, 3, 4, 5, 6, 8) if size < 1 else (1, 2, 5) if size <= 3.5 else (1,)
        ticks = [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]
        return [tick for tick in ticks if self.low <= tick <= self.high]

    def pixels(self, value: float, size: float) -> float:
        """Return the distance in pixels between the low end and a value."""
        if self.log:
            return size * log(max(value, self.low) / self.low) / log(self.high / self.low)
        return size * (value - self.low) / (self.high - self.low)

    def value(self, pixels: float, size: float) -> float:
        """Return the value that is drawn that far from the low end."""
        if self.log:
            return self.low * exp(log(self.high / self.low) * pixels / size)
        return self.low + (self.high - self.low) * pixels / size


def line_chart(
    table: pl.DataFrame,
    title: str,
    x: Axis,
    y: Axis,
    *,
    palette: Mapping[str, Style] | None = None,
    points: pl.DataFrame | None = None,
    bounds: pl.DataFrame | None = None,
    focus: Sequence[str] = (),
    bands: bool = True,
    dots: bool = False,
    steps: bool = False,
    heading: str = "format(datum.x, ',d')",
    unit: str = "time step t",
    plot: chart.Size | None = None,
) -> chart.Figure:
    """Draw one line per policy from columns policy, x, mean, low and high, sorted by x.

    ``points`` (policy, x, mean) are marks, ``bounds`` (label, x, mean) thin grey lines. Lines with ``steps``
    keep a value until the next x. Without ``bands`` these are only in the tooltip, whose heading is the Vega
    expression ``heading`` under the name ``unit``.
    """
    ends = _ends(table, points)
    order = ends["policy"].to_list()
    in_focus, styles = chart.focus_of(order, focus), chart.palette_of(order, palette)
    width, height, figure = plot or chart.Size()
    legend = _legend(in_focus, figure)
    look = chart.line_encodings(styles, order, legend)
    whole = {} if x.ticks else {"tickMinStep": 1}
    ticks = x.axis(labelFlush=False, grid=False, **whole)
    across = alt.X("x:Q", scale=x.scale(), title=x.title, axis=ticks)
    up = alt.Y("mean:Q", scale=y.scale(), title=y.title, axis=y.axis())
    lines = table.select("policy", "x", "mean", "low", "high")
    layers = _lines(lines, across, up, look, bands=bands, dots=dots, steps=steps)
    if bounds is not None:
        layers += _bound_lines(bounds, across, up)
    if points is not None:
        marks = alt.Chart(chart.inline_data(points)).mark_point(size=70, strokeWidth=2, fill="white")
        tips = [alt.Tooltip("policy:N"), alt.Tooltip("x:Q", title=unit, format=",d"), alt.Tooltip("mean:Q")]
        layers.append(
            marks.encode(x=across, y=up, color=look["color"], opacity=chart.highlight(), tooltip=tips)
        )
    layers.append(_hover(lines, order, across, heading, unit))
    named = ends if len(ends) <= MAX_LABELS else ends.filter(pl.col("policy").is_in(in_focus))
    gap, size = (LABEL_GAP, LABEL_SIZE) if len(in_focus) == len(order) else (TIGHT_GAP, TIGHT_SIZE)
    if legend is None:
        height = max(height, gap * len(named))
        layers += _labels(named, y, up, look, (gap, size, height))
    return chart.layer_chart(layers, title, styles, height, in_focus, width)


def _legend(names: Sequence[str], figure: float) -> dict[str, Any] | None:
    """Return the options of a legend, where labels would take too much of the width of a figure."""
    width = LETTER * LABEL_SIZE * max(map(len, names))
    if width <= MOST_FOR_LABELS * figure:
        return None
    columns = max(1, floor(0.85 * figure / (width + 40)))
    return {"orient": "bottom", "offset": 10, "rowPadding": 0, "columns": columns, "labelLimit": 0.8 * figure}


def _lines(
    table: pl.DataFrame, x: alt.X, y: alt.Y, look: dict[str, Any], *, bands: bool, dots: bool, steps: bool
) -> list[alt.Chart]:
    """Draw the lines that are not in focus in grey, and above them the others with bands and dots."""
    base = alt.Chart(chart.inline_data(table))
    form: dict[str, Any] = {"strokeJoin": "round"} | ({"interpolate": "step-after"} if steps else {})
    context = base.transform_filter(f"!{chart.IN_FOCUS}").mark_line(strokeWidth=1.25, **form)
    focused = base.transform_filter(chart.IN_FOCUS)
    area = focused.mark_area().encode(
        x=x,
        y=chart.field(y, "low"),
        y2=alt.Y2("high:Q"),
        color=look["color"],
        fillOpacity=alt.FillOpacityValue(0.16),
    )
    spots = focused.mark_point(filled=True, size=28, opacity=1).encode(x=x, y=y, color=look["color"])
    return [
        context.encode(x=x, y=y, detail=alt.Detail("policy:N"), color=alt.ColorValue(chart.CONTEXT)),
        *([area] if bands else []),
        focused.mark_line(**form).encode(x=x, y=y, **look),
        *([spots] if dots else []),
    ]


def _ends(table: pl.DataFrame, points: pl.DataFrame | None) -> pl.DataFrame:
    """Return the last mean of every policy, from the highest down, also of those that have only points."""
    drawn = table.select("policy", "mean")
    if points is not None:
        alone = points.join(table, on="policy", how="anti").sort("x", maintain_order=True)
        drawn = pl.concat([drawn, alone.select("policy", pl.col("mean").cast(drawn.schema["mean"]))])
    return drawn.group_by("policy", maintain_order=True).last().sort("mean", descending=True)


def _hover(table: pl.DataFrame, order: list[str], x: alt.X, heading: str, unit: str) -> alt.Chart:
    """Return a layer that shows the mean of every policy with its band in a tooltip."""
    near = alt.selection_point(name="near", fields=["x"], on="pointerover", clear="pointerout", empty=False)
    form = "format(datum.{0}, abs(datum.{0}) >= 10 ? ',.1f' : '.3~r')".format
    band = f"' (' + {form('low')} + ' to ' + {form('high')} + ')'"
    text = f"{form('mean')} + (isValid(datum.low) && datum.high > datum.low ? {band} : '')"
    # Policies are numbered, since the names of columns may hold no brackets and quotes.
    tips = [alt.Tooltip("heading:N", title=unit)]
    tips += [alt.Tooltip(f"p{place}:N", title=policy) for place, policy in enumerate(order)]
    stripe: alt.Chart = (
        alt.Chart(chart.inline_data(table))
        .transform_calculate(text=text, key=f"'p' + indexof({dumps(order)}, datum.policy)")
        .transform_pivot("key", value="text", groupby=["x"], op="max")
        .transform_window(before="lag(x)", after="lead(x)", sort=[alt.SortField("x")])
        .transform_calculate(
            heading=heading,
            start="isValid(datum.before) ? (datum.before + datum.x) / 2 : datum.x",
            end="isValid(datum.after) ? (datum.after + datum.x) / 2 : datum.x",
        )
        .mark_rect(fill="#666666", aria=False)
        .encode(
            x=chart.field(x, "start"),
            x2=alt.X2("end:Q"),
            opacity=alt.OpacityValue(0.0, condition={"param": "near", "empty": False, "value": 0.15}),
            tooltip=tips,
        )
        .properties(name=chart.HOVER)
        .add_params(near)
    )
    return stripe


def _labels(
    ends: pl.DataFrame, axis: Axis, y: alt.Y, look: dict[str, Any], sizes: tuple[float, float, float]
) -> list[alt.Chart]:
    """Name each line at its end, moved apart where the ends are close, with a short line leading there."""
    gap, size, height = sizes
    heights = spread([axis.pixels(mean, height) for mean in ends["mean"]], gap, height)
    places = [axis.value(place, height) for place in heights]
    base = alt.Chart(
        chart.inline_data(ends.select("policy", "mean", place=pl.Series(places, dtype=pl.Float64)))
    )
    own = {"test": chart.IN_FOCUS, "field": "policy", "type": "nominal", "scale": look["color"]["scale"]}
    leader = base.mark_rule().encode(
        x=alt.XValue(chart.right_of_plot(3)),
        x2=alt.X2Value(chart.right_of_plot(16)),
        y=y,
        y2=alt.Y2("place:Q"),
        color=alt.ColorValue(chart.CONTEXT, condition=own),
        strokeWidth=alt.StrokeWidthValue(1, condition={"test": chart.IN_FOCUS, "value": 2}),
    )
    text = base.mark_text(
        align="left", baseline="middle", fontSize=size, cursor="pointer", limit=alt.ExprRef("labelLimit")
    ).encode(
        x=alt.XValue(chart.right_of_plot(21)),
        y=chart.field(y, "place"),
        text=alt.Text("policy:N"),
        color=alt.ColorValue(chart.GREY, condition={"test": chart.IN_FOCUS, "value": chart.INK}),
        tooltip=alt.Tooltip("policy:N"),  # without one Vega-Lite would let the pointer pass
    )
    return [leader.properties(name="labels-lines"), text.properties(name="labels-text")]


def _bound_lines(bounds: pl.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    base = alt.Chart(chart.inline_data(bounds))
    line = base.mark_line(color=chart.GREY, strokeDash=[1, 3], strokeWidth=1.5, clip=True)
    last = alt.Chart(chart.inline_data(bounds.group_by("label", maintain_order=True).last()))
    text = last.mark_text(align="right", baseline="bottom", dx=-4, dy=-4, fontSize=12, color=chart.INK)
    return [
        line.encode(x=x, y=y, detail=alt.Detail("label:N")),
        text.encode(x=x, y=y, text=alt.Text("label:N")),
    ]


def spread(wanted: Sequence[float], gap: float, height: float) -> list[float]:
    """Move labels, given from the highest down, at least ``gap`` apart, each as little as possible."""
    # Measured from where an unbroken stack would have it, a label may lie no higher than the one
    # before: least squares under that condition, by pooling the groups that break it.
    groups: list[list[float]] = []
    for position, place in enumerate(wanted):
        groups.append([place + position * gap])
        while len(groups) > 1 and _mean(groups[-1]) > _mean(groups[-2]):
            groups[-2:] = [groups[-2] + groups[-1]]
    levels = [_mean(group) for group in groups for _ in group]
    lowest = gap * (len(wanted) - 1)
    return [min(max(level, lowest), max(height, lowest)) - i * gap for i, level in enumerate(levels)]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)

"""Figures of regret over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from lowregret.errors import InputError
from lowregret.report.colours import styles
from lowregret.report.labels import spread

WIDTH, HEIGHT = 640, 380
MOST_LABELS = 8
"""With more lines than this a legend takes the place of the labels at the line ends."""
LABEL_GAP = 19
"""How far apart the labels are kept, in pixels."""
FORMATS = ("html", "pdf", "png", "svg")
# Thousands as 60k and 1.5M, but no thousandths as 500m.
TICKS = "format(datum.value, abs(datum.value) < 1 ? '~g' : '~s')"
# Named, since the sizes are worked out here with a font of Arial's widths and "sans-serif" alone
# may be a wider one where the figure is shown.
FONT = "Arial, Liberation Sans, Helvetica, sans-serif"


def regret_chart(curve: pl.DataFrame, title: str) -> alt.LayerChart:
    """Draw the mean regret of every policy over time, with bands from the 5% to the 95% quantile.

    Parameters
    ----------
    curve : polars.DataFrame
        Columns policy, t, mean, se, median, p05 and p95, as ``Result.curve`` gives them.
    title : str
        What stands above the figure; may be empty.

    Returns
    -------
    altair.LayerChart
        A chart that shows itself in a notebook; `save` writes it to a file.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.report.figures import regret_chart
    >>> result = lr.simulate(["MOSS", "Uniform"], "bernoulli:0.1,0.5", horizon=100, runs=5)
    >>> regret_chart(result.curve(), "Two arms").title.text
    'Two arms'
    """
    finals = curve.sort("t").group_by("policy", maintain_order=True).last().sort("mean", descending=True)
    labelled = len(finals) <= MOST_LABELS
    looks = _looks(curve, finals, legend=not labelled)
    top = float(curve.select(pl.max_horizontal("mean", "p95").max()).item()) or 1.0
    end = int(curve.select(pl.col("t").max()).item())
    x = alt.X("t:Q", scale=alt.Scale(domain=[0, end], nice=False), title="time step t")
    x = x.axis(labelExpr=TICKS, labelFlush=False, tickCount=6, tickMinStep=1, grid=False)
    y = alt.Y("mean:Q", scale=alt.Scale(domain=[0, top * 1.02], nice=False), title="cumulative regret")
    y = y.axis(labelExpr=TICKS, tickCount=6)
    base = alt.Chart(_inline(_from_zero(curve)))
    band = base.mark_area(opacity=0.13 if labelled else 0.06)
    layers = [
        band.encode(x=x, y=_field(y, "p05"), y2="p95:Q", color=looks["color"]),
        base.mark_line(strokeJoin="round").encode(x=x, y=y, **looks),
        *_hover(curve, x),
        *(_labels(finals, y, looks, top * 1.02) if labelled else []),
    ]
    return _dressed(alt.LayerChart(layer=layers), title)


def save(chart: alt.LayerChart, path: str | Path) -> None:
    """Write a chart as .svg, .png or .pdf, or as .html that works offline.

    Examples
    --------
    >>> from lowregret.report.figures import save
    >>> save(None, "regret.gif")
    Traceback (most recent call last):
    lowregret.errors.InputError: save: a figure must be named .html, .pdf, .png or .svg, got 'regret.gif'
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        raise InputError(f"save: a figure must be named .html, .pdf, .png or .svg, got {str(path)!r}")
    if suffix == "html":
        chart.save(str(path), inline=True)
    else:
        chart.save(str(path), scale_factor=2 if suffix == "png" else 1)


def _looks(curve: pl.DataFrame, finals: pl.DataFrame, legend: bool) -> dict[str, Any]:
    """Encode colour, dash and width of every policy; the legend lists them from the most regret down."""
    key = alt.Legend(title=None) if legend else None
    chosen = styles(curve["policy"].to_list())
    domain = finals["policy"].to_list()

    def scale(field: str) -> alt.Scale:
        return alt.Scale(
            type="ordinal", domain=domain, range=[getattr(chosen[policy], field) for policy in domain]
        )

    return {
        "color": alt.Color("policy:N", scale=scale("colour"), legend=key),
        "strokeDash": alt.StrokeDash("policy:N", scale=scale("dash"), legend=key),
        "strokeWidth": alt.StrokeWidth("policy:N", scale=scale("width"), legend=None),
    }


def _from_zero(curve: pl.DataFrame) -> pl.DataFrame:
    """Let every line begin at time 0 with regret 0, and put the most prominent on top."""
    width = {policy: style.width for policy, style in styles(curve["policy"].to_list()).items()}
    columns = curve.select("policy", "t", "mean", "p05", "p95")
    zero = columns.unique("policy", maintain_order=True).with_columns(
        pl.lit(0).alias(c) for c in columns.columns[1:]
    )
    joined = pl.concat([zero.cast(columns.schema), columns.filter(pl.col("t") > 0)])
    order = pl.col("policy").replace_strict(width, return_dtype=pl.Float64)
    return joined.sort(order, maintain_order=True)


def _hover(curve: pl.DataFrame, x: alt.X) -> list[alt.Chart]:
    """Show the mean of every policy at the time the pointer is at, with a line there."""
    policies = curve["policy"].unique(maintain_order=True).to_list()
    keys = {policy: f"policy{number}" for number, policy in enumerate(policies)}
    table = curve.with_columns(pl.col("policy").replace_strict(keys)).pivot(
        "policy", index="t", values="mean"
    )
    tips = [alt.Tooltip("t:Q", title="time step t", format=",d")]
    tips += [alt.Tooltip(f"{key}:Q", title=policy, format=",.1f") for policy, key in keys.items()]
    near = alt.selection_point(fields=["t"], nearest=True, on="pointermove", clear="pointerout", empty=False)
    rule = alt.Chart(_inline(table)).mark_rule(color="#666666", aria=False)
    seen = alt.when(near).then(alt.value(0.5)).otherwise(alt.value(0.0))
    return [rule.encode(x=x, opacity=seen, tooltip=tips).add_params(near)]


def _labels(finals: pl.DataFrame, y: alt.Y, looks: dict[str, Any], top: float) -> list[alt.Chart]:
    """Name each line at its end, moved apart where the ends are close, with a short line leading there."""
    heights = spread([HEIGHT * mean / top for mean in finals["mean"]], LABEL_GAP, HEIGHT)
    table = finals.select("policy", "mean", place=pl.Series([height * top / HEIGHT for height in heights]))
    base = alt.Chart(_inline(table))
    leader = base.mark_rule(opacity=0.6).encode(
        x=alt.value(WIDTH + 3), x2=alt.value(WIDTH + 16), y=y, y2="place:Q", color=looks["color"]
    )
    text = base.mark_text(align="left", baseline="middle", fontSize=14)
    return [
        leader,
        text.encode(x=alt.value(WIDTH + 21), y=_field(y, "place"), text="policy:N", color=looks["color"]),
    ]


def _dressed(chart: alt.LayerChart, title: str) -> alt.LayerChart:
    if title:
        heading = alt.TitleParams(title, anchor="start", frame="group", fontSize=18, offset=14)
        chart = chart.properties(title=heading)
    dressed: alt.LayerChart = (
        chart.properties(width=WIDTH, height=HEIGHT, background="white", padding=14)
        .configure(font=FONT)
        .configure_axis(
            labelFontSize=13, titleFontSize=14, titleFontWeight="normal", titlePadding=10, gridColor="#E8E8E8"
        )
        .configure_axisX(domainColor="#888888", tickColor="#888888")
        .configure_axisY(domain=False, ticks=False)
        .configure_legend(
            labelFontSize=13,
            labelLimit=0,
            symbolType="stroke",
            symbolSize=500,
            symbolOpacity=1,
            symbolStrokeWidth=2.5,
        )
        .configure_view(stroke=None)
    )
    return dressed


def _field(encoding: alt.Y, field: str) -> alt.Y:
    """Point an encoding at another column; its axis and title stay."""
    other: alt.Y = encoding.copy()
    other.shorthand = f"{field}:Q"
    return other


def _inline(table: pl.DataFrame) -> alt.InlineData:
    # A frame would be refused above 5,000 rows, a limit meant for notebooks.
    return alt.InlineData(values=table.to_dicts())

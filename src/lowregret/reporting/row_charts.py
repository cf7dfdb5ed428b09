"""Charts of one row per policy: the runs behind a mean, its tail, and differences from a baseline."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from lowregret.reporting import chart_style as chart
from lowregret.reporting.line_chart import DECADE, Axis
from lowregret.reporting.plots_extra import alt
from lowregret.reporting.policy_styles import Style

ROW_HEIGHTS = ((5, 48), (12, 34))
"""Pairs of a number of rows and the height of a row, in pixels, in charts with at most that many."""
SMALLEST_ROW_HEIGHT = 24
LONG_NAME, LABEL_WIDTH = 30, 230
"""Names are cut at this width, in pixels, where one has more letters than the first number."""
MAX_RUNS_DRAWN = 60
"""Up to this number all runs are drawn; of more runs, those beyond the 5% and 95% quantiles."""
MAX_MARKS = 120


def runs_chart(
    finals: pl.DataFrame,
    summary: pl.DataFrame,
    title: str,
    *,
    palette: Mapping[str, Style] | None = None,
    words: str = "final regret of a run",
) -> alt.LayerChart:
    """Draw the final regrets of the runs: box, spread, mean, mean of the worst 5%, and bad runs."""
    rows = summary.sort("mean", descending=True)
    order = rows["policy"].to_list()
    styles = chart.palette_of(order, palette)
    colour = chart.line_encodings(styles, order)["color"]
    low, high = float(finals["regret"].min() or 0), float(finals["regret"].max() or 0)  # type: ignore[arg-type]
    log = low > 0 and float(rows["mean"].max() or 0) > DECADE * float(rows["mean"].min() or 1)  # type: ignore[arg-type]
    axis = Axis(words, low / 1.05 if log else 0, max(high, 1e-9) * 1.02, log)
    x = alt.X("regret:Q", scale=axis.scale(), title=axis.title, axis=axis.axis(grid=True))
    y = _row_encoding(order)
    columns = ["policy", "mean", "p05", "p25", "median", "p75", "p95", "worst05", "worst"]
    base = alt.Chart(chart.inline_data(rows.select(columns)))
    tips = [alt.Tooltip("policy:N"), *(_number_tip(name, title) for name, title in STATISTICS.items())]
    shared: dict[str, Any] = {"y": y, "tooltip": tips, "opacity": chart.highlight()}
    outline = alt.Stroke("policy:N", scale=colour["scale"], legend=None)
    dot: dict[str, Any] = {"filled": True, "stroke": "white", "strokeWidth": 1}
    strokes = alt.Chart(chart.inline_data(_marks(finals))).mark_tick(thickness=1.2, size=15, aria=False)
    whiskers = base.mark_rule(strokeWidth=2).properties(name="rows")
    box = base.mark_bar(height=15, fill="white", strokeWidth=2)
    median = base.mark_tick(thickness=3, size=15)
    mean = base.mark_point(shape="diamond", size=75, **dot)
    tail = base.mark_point(shape="triangle-left", size=70, **dot)
    layers = [
        # Many marks whose fill alone has an opacity are drawn several times faster.
        strokes.encode(x=x, y=y, color=colour, fillOpacity=chart.highlight(0.85, alt.FillOpacityValue)),
        whiskers.encode(x=chart.field(x, "p05"), x2=alt.X2("p95:Q"), color=colour, **shared),
        box.encode(x=chart.field(x, "p25"), x2=alt.X2("p75:Q"), stroke=outline, **shared),
        median.encode(x=chart.field(x, "median"), color=colour, **shared),
        mean.encode(x=chart.field(x, "mean"), color=colour, **shared),
        tail.encode(x=chart.field(x, "worst05"), color=colour, **shared),
    ]
    return chart.layer_chart(layers, title, styles, height=_height(order))


STATISTICS = {
    "mean": "mean",
    "median": "median",
    "p05": "5%",
    "p95": "95%",
    "worst05": "mean of the worst 5%",
    "worst": "worst run",
}
"""The statistics in the tooltip of a row, and their labels."""


def tail_chart(
    finals: pl.DataFrame,
    title: str,
    *,
    palette: Mapping[str, Style] | None = None,
    focus: Sequence[str] = (),
    log_regret: bool = False,
) -> alt.LayerChart:
    """Draw which share of the runs had at least so much regret; the logarithmic axis shows rare bad runs."""
    means = finals.group_by("policy", maintain_order=True).agg(pl.col("regret").mean())
    order = means.sort("regret", descending=True)["policy"].to_list()
    in_focus, styles = chart.focus_of(order, focus), chart.palette_of(order, palette)
    look = chart.line_encodings(styles, order, legend={})
    worst = finals.sort("regret", descending=True, maintain_order=True).with_columns(
        place=pl.int_range(pl.len()).over("policy") + 1, runs=pl.len().over("policy")
    )
    # All of the worst runs, and an even choice of the others.
    every = (pl.col("runs") // MAX_MARKS).clip(lower_bound=1)
    some = (pl.col("place") <= MAX_MARKS // 2) | ((pl.col("runs") - pl.col("place")) % every == 0)
    table = worst.filter(some).select("policy", "regret", share=pl.col("place") / pl.col("runs"))
    top = max(float(finals["regret"].max() or 0), 1e-9)  # type: ignore[arg-type]
    floor = float(table["share"].min() or 1)  # type: ignore[arg-type]
    least = max(float(finals["regret"].min() or 0), top / 1e4)  # type: ignore[arg-type]
    if log_regret:
        table = table.filter(pl.col("regret") >= least)
    axis = Axis("final regret of a run", least if log_regret else 0, top * 1.02, log_regret)
    across = alt.X("regret:Q", scale=axis.scale(), title=axis.title, axis=axis.axis(grid=False))
    ticks = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, *(10.0**-k for k in range(3, 10)))
    shares = [share for share in ticks if share >= floor]
    up = alt.Y("share:Q", title="share of runs with at least this regret")
    up = up.scale(type="log", domain=[min(floor, 0.5) * 0.9, 1]).axis(values=shares, format="~%")
    base = alt.Chart(
        chart.inline_data(table.sort("policy", "share", "regret", descending=[False, True, False]))
    )
    near = base.mark_point(opacity=0, size=150).encode(
        x=across,
        y=up,
        tooltip=["policy:N", _number_tip("regret", "regret"), alt.Tooltip("share:Q", format=".2~%")],
    )
    context = base.transform_filter(f"!{chart.IN_FOCUS}").mark_line(
        strokeWidth=1.25, interpolate="step-before"
    )
    layers = [
        context.encode(x=across, y=up, detail=alt.Detail("policy:N"), color=alt.ColorValue(chart.CONTEXT)),
        base.transform_filter(chart.IN_FOCUS)
        .mark_line(interpolate="step-before")
        .encode(x=across, y=up, **look),
        near.properties(name=chart.HOVER),
    ]
    return chart.layer_chart(layers, title, styles, focus=in_focus)


def differences_chart(
    comparison: pl.DataFrame, title: str, *, palette: Mapping[str, Style] | None = None
) -> alt.LayerChart:
    """Draw how far each policy lies from the baseline, with the verdicts in words."""
    rows = comparison.sort("difference", descending=True)
    order = rows["policy"].to_list()
    styles = chart.palette_of(order, palette)
    colour = chart.line_encodings(styles, order)["color"]
    words = f"final regret less that of {rows['baseline'][0]}"
    ticks = alt.Axis(labelExpr=chart.TICKS, tickCount=6, grid=True)
    x = alt.X("difference:Q", title=words, axis=ticks)
    y = _row_encoding(order)
    columns = ("low", "high", "student_low", "student_high")
    ends = rows.with_columns(pl.col(columns).fill_null(pl.col("difference")))
    base = alt.Chart(
        chart.inline_data(ends.select("policy", "difference", *columns, "p_bounded", "verdict", "runs"))
    )
    named = {"difference": "difference", "low": "95% interval from", "high": "to"}
    tips = [alt.Tooltip("policy:N"), *(_number_tip(name, title) for name, title in named.items())]
    tips += [alt.Tooltip("p_bounded:Q", title="p (Holm)", format=".2~g"), alt.Tooltip("verdict:N")]
    tips.append(alt.Tooltip("runs:Q", format=",d"))
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color=chart.GREY, strokeDash=[4, 3])
    shared: dict[str, Any] = {"y": y, "color": colour, "tooltip": tips, "opacity": chart.highlight()}
    verdicts = base.mark_text(align="left", baseline="middle", fontSize=13, color=chart.INK)
    layers = [
        zero.encode(x=alt.X("zero:Q", title=words, axis=ticks)),
        base.mark_rule(strokeWidth=1).encode(x=chart.field(x, "low"), x2=alt.X2("high:Q"), **shared),
        # Taller than the dot, since this interval may be as short as the dot is wide.
        base.mark_bar(height=17, fillOpacity=0.4).encode(
            x=chart.field(x, "student_low"), x2=alt.X2("student_high:Q"), **shared
        ),
        base.mark_point(size=50, filled=True).encode(x=x, **shared).properties(name="rows"),
        verdicts.encode(
            x=alt.XValue(chart.right_of_plot(14)), y=y, text=alt.Text("verdict:N"), opacity=chart.highlight()
        ).properties(name="verdicts"),
    ]
    return chart.layer_chart(layers, title, styles, height=_height(order))


def _height(order: list[str]) -> int:
    count = len(order)
    height = next((height for rows, height in ROW_HEIGHTS if count <= rows), SMALLEST_ROW_HEIGHT)
    return height * count


def _row_encoding(order: list[str]) -> alt.Y:
    """Encode the row of a policy; the colour of a name would say nothing that the marks do not."""
    limit = LABEL_WIDTH if max(map(len, order)) > LONG_NAME else 0
    return alt.Y("policy:N", sort=order, title=None).axis(labelFontSize=14, labelPadding=8, labelLimit=limit)


def _number_tip(name: str, title: str) -> alt.Tooltip:
    return alt.Tooltip(f"{name}:Q", title=title, format=",.4~r")


def _marks(finals: pl.DataFrame) -> pl.DataFrame:
    """Choose the runs that are drawn one by one: all, or those in the tails, and of many an even choice."""
    regret = pl.col("regret")
    runs = pl.len().over("policy")
    low, high = (regret.quantile(share, "linear").over("policy") for share in (0.05, 0.95))
    drawn = (regret < low) | (regret > high) | (runs <= MAX_RUNS_DRAWN)
    chosen = finals.select("policy", "regret").filter(drawn).sort("policy", "regret")
    step = (pl.len().over("policy") // MAX_MARKS).clip(lower_bound=1)
    back = pl.len().over("policy") - 1 - pl.int_range(pl.len()).over("policy")
    return chosen.filter(back % step == 0)

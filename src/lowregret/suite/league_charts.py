"""Charts of the league: relative regrets, performance profiles, all testbeds at once, and wins."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from lowregret.reporting.chart_style import (
    GREY,
    INK,
    field,
    highlight,
    inline_data,
    layer_chart,
    line_encodings,
    palette_of,
)
from lowregret.reporting.line_chart import Axis, line_chart
from lowregret.reporting.plots_extra import alt
from lowregret.reporting.policy_styles import Style

ROW_PIXELS = 22
MAX_LINES = 10
"""How many policies the performance profiles show: the best ones by rank, and the user's own."""
LEGEND: Any = {"symbolType": "square", "orient": "right", "gradientLength": 140}
WORST_RATIO = 10.0
"""Where the colours of the overview end."""


def relative_chart(
    standings: pl.DataFrame, column: str, words: str, title: str, palette: Mapping[str, Style]
) -> alt.LayerChart:
    """Draw one row per policy: a number with its interval, on a logarithmic axis."""
    rows = standings.sort(column, descending=True)
    order = rows["policy"].to_list()
    names = {column: "value", f"{column}_low": "low", f"{column}_high": "high"}
    table = rows.select("policy", *names).rename(names)
    low, high = float(table["low"].min() or 1), float(table["high"].max() or 1)  # type: ignore[arg-type]
    axis = Axis(words, low / 1.1, high * 1.1, log=True)
    x = alt.X("value:Q", scale=axis.scale(), title=words, axis=axis.axis(grid=True))
    y = alt.Y("policy:N", sort=order, title=None).axis(labelFontSize=13, labelPadding=8)
    colour = line_encodings(palette_of(order, palette), order)["color"]
    tips = [alt.Tooltip("policy:N"), *(alt.Tooltip(f"{name}:Q", format=".3~g") for name in names.values())]
    shared: dict[str, Any] = {"y": y, "color": colour, "tooltip": tips, "opacity": highlight()}
    base = alt.Chart(inline_data(table))
    one = alt.Chart(alt.InlineData(values=[{"value": 1}])).mark_rule(color=GREY, strokeDash=[4, 3])
    layers = [
        one.encode(x=x),
        base.mark_rule(strokeWidth=3).encode(x=field(x, "low"), x2="high:Q", **shared),
        base.mark_point(size=60, filled=True).encode(x=x, **shared).properties(name="rows"),
    ]
    return layer_chart(layers, title, palette_of(order, palette), height=ROW_PIXELS * len(order))


def profile_chart(
    profiles: pl.DataFrame, policies: Sequence[str], title: str, palette: Mapping[str, Style]
) -> alt.LayerChart:
    """Draw the share of testbeds on which each policy is within a factor of the best."""
    share = pl.col("share")
    lines = profiles.filter(pl.col("policy").is_in(list(policies))).select(
        "policy", x="factor", mean=share, low=share, high=share
    )
    return line_chart(
        lines.sort("x", maintain_order=True),
        title,
        Axis("factor", 1.0, 10.0, log=True),
        Axis("share of testbeds within this factor of the lowest regret", 0.0, 1.02),
        palette={policy: palette[policy] for policy in policies},
        bands=False,
        steps=True,
        heading="format(datum.x, '.3~g')",
        unit="factor",
    )


def overview_chart(
    scores: pl.DataFrame, policies: Sequence[str], testbeds: Sequence[str], title: str
) -> alt.LayerChart:
    """Draw every policy on every testbed: the colour is its mean regret divided by the lowest there."""
    best = pl.col("mean").min().over("testbed")
    table = scores.select("testbed", "policy", "mean", "runs", "note", ratio=pl.col("mean") / best)
    scale = alt.Scale(type="log", domain=[1, WORST_RATIO], clamp=True, scheme="yelloworangered")
    legend = alt.Legend(values=[1, 2, 5, 10], **LEGEND)
    ratio = alt.Color("ratio:Q", title="times the lowest", scale=scale, legend=legend)
    numbers = [alt.Tooltip("mean:Q", format=",.4~r"), alt.Tooltip("ratio:Q", format=".3~g")]
    tips = ["testbed:N", "policy:N", *numbers, "runs:Q", "note:N"]
    return _cell_chart(table, ("testbed", testbeds), ("policy", policies), ratio, tips, title)


def wins_chart(wins: pl.DataFrame, policies: Sequence[str], title: str) -> alt.LayerChart:
    """Draw the win matrix: the colour is the share of testbeds won minus that lost by the row's policy."""
    balance = (pl.col("wins") - pl.col("losses")) / pl.max_horizontal("testbeds", 1)
    table = wins.rename({"policy": "row"}).with_columns(balance=balance)
    scale = alt.Scale(domain=[-1, 0, 1], scheme="purplegreen")
    legend = alt.Legend(values=[-1, 0, 1], format=".0%", **LEGEND)
    colour = alt.Color("balance:Q", title="won less lost", scale=scale, legend=legend)
    tips = ["row:N", "opponent:N", "wins:Q", "losses:Q", "testbeds:Q"]
    return _cell_chart(table, ("opponent", policies), ("row", policies), colour, tips, title)


def _cell_chart(
    table: pl.DataFrame,
    across: tuple[str, Sequence[str]],
    down: tuple[str, Sequence[str]],
    colour: alt.Color,
    tips: Sequence[Any],
    title: str,
) -> alt.LayerChart:
    """Draw a coloured cell for every pair of names; a pair without a number stays empty."""
    x = alt.X(f"{across[0]}:N", sort=list(across[1]), title=None)
    x = x.axis(orient="top", labelAngle=-60, labelFontSize=12, domain=False, ticks=False, labelLimit=0)
    y = alt.Y(f"{down[0]}:N", sort=list(down[1]), title=None).axis(labelFontSize=12, labelColor=INK)
    value = str(colour.shorthand).partition(":")[0]
    cells = alt.Chart(inline_data(table.filter(pl.col(value).is_not_null()))).mark_rect(stroke="white")
    layers = [cells.encode(x=x, y=y, color=colour, tooltip=list(tips))]
    chart = layer_chart(layers, title, {}, height=18 * len(down[1]))
    chart.usermeta |= {"columns": len(across[1])}
    return chart

"""The figure of a live agent: its arms with their means and intervals."""

import polars as pl

from lowregret.reporting.chart_style import CONFIG, GREY, INK, WIDTH, Figure
from lowregret.reporting.plots_extra import alt


def arms_chart(table: pl.DataFrame, title: str) -> Figure:
    """Draw the mean of every arm with its interval; arms that are not active are gray.

    An interval without an upper end is drawn up to the mean.
    """
    ends = table.with_columns(
        pl.when(pl.col("low").is_not_null()).then(pl.coalesce("high", "mean")).alias("end")
    )
    colour = alt.ColorValue(GREY, condition={"test": "datum.state == 'active'", "value": INK})
    arm = alt.Y("arm:N", sort=None, title=None)
    base = alt.Chart(alt.InlineData(values=ends.to_dicts())).encode(y=arm, color=colour)
    interval = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="mean reward"), x2="end:Q")
    tips = [
        alt.Tooltip(name, type="nominal" if kind == pl.String else "quantitative")
        for name, kind in table.schema.items()
    ]
    point = base.mark_point(filled=True, size=70, opacity=1).encode(x="mean:Q", tooltip=tips)
    return Figure(layer=[interval, point], title=title, width=WIDTH, background="white", config=CONFIG)

"""Figures of regret over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from lowregret.errors import InputError
from lowregret.report.colours import styles

WIDTH, HEIGHT = 640, 380
LABEL_GAP = 19
"""How far apart, in pixels, the labels at the line ends are kept."""
MOST_LABELS = 8
"""With more lines than this a legend takes the place of the labels."""
FORMATS = ("html", "pdf", "png", "svg")
FONT = "Arial, Liberation Sans, Helvetica, sans-serif"


def regret_chart(curve: pl.DataFrame, title: str) -> alt.LayerChart:
    """Draw the mean regret of every policy over time, with bands from the 5% to the 95% quantile.

    Parameters
    ----------
    curve : polars.DataFrame
        Columns policy, t, mean, se, median, p05 and p95, as ``Result.curve`` gives them.
    title : str
        What stands above the figure.

    Returns
    -------
    altair.LayerChart
        A chart that shows itself in a notebook; `save` writes it to a file.

    Examples
    --------
    >>> import lowregret as lr
    >>> result = lr.simulate(["MOSS", "Uniform"], "bernoulli:0.1,0.5", horizon=100, runs=5)
    >>> chart = regret_chart(result.curve(), "Two arms")
    >>> chart.title.text
    'Two arms'
    """
    policies = curve.get_column("policy").unique(maintain_order=True).to_list()
    finals = curve.sort("t").group_by("policy", maintain_order=True).last()
    labelled = len(policies) <= MOST_LABELS
    looks = _looks(finals, legend=not labelled)
    top, end = _most(curve, "p95"), _most(curve, "t")
    x = alt.X("t:Q", title="time step t", scale=alt.Scale(domain=[0, end], nice=False))
    x = x.axis(format="~s", tickCount=6, tickMinStep=1, grid=False)
    y = alt.Y("mean:Q", title="cumulative regret", scale=alt.Scale(domain=[0, top], nice=False))
    y = y.axis(format="~s" if top >= 1000 else "~g", tickCount=6)
    base = alt.Chart(_inline(_from_zero(curve)))
    layers: list[alt.Chart] = [
        base.mark_area(opacity=0.13 if labelled else 0.06).encode(x, y.field("p05"), y2="p95:Q", **looks.only("color")),
        base.mark_line(strokeCap="butt", strokeJoin="round").encode(x, y, **looks),
        _hover(curve, policies, x),
    ]
    if labelled:
        layers += _labels(finals, top, y, looks)
    return _dressed(alt.layer(*layers), title)

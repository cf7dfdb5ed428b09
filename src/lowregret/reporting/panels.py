"""Small charts side by side, one for each environment, as one figure."""

from collections.abc import Mapping
from math import inf
from typing import Any

import polars as pl

from lowregret._common.other_names import CHARTS, answers
from lowregret.reporting.chart_style import CONFIG, HOVER, PADDING, Figure, Offline, Size, page_parameters
from lowregret.reporting.curve_charts import regret_chart
from lowregret.reporting.plots_extra import alt
from lowregret.reporting.policy_styles import styles

PANEL = Size(290, 200, inf)
"""The size of a panel; a figure of two is as wide as a page."""
PANELS_IN_ROW = 2


@answers("a chart", CHARTS)
class Panels(Offline, alt.ConcatChart):
    """Several charts as one figure, whose files and notebooks need no network."""


def regret_panels(curves: Mapping[str, pl.DataFrame], band: str = "interval") -> Panels:
    """Draw the regret over time in one panel for each environment; a policy has one style in all."""
    names = dict.fromkeys(name for curve in curves.values() for name in curve["policy"])
    palette = styles(names)
    return panels(
        [regret_chart(curve, name, band=band, palette=palette, plot=PANEL) for name, curve in curves.items()]
    )


def panels(charts: list[Figure], columns: int = PANELS_IN_ROW) -> Panels:
    """Put charts beside each other, ``columns`` in a row."""
    focus: dict[str, None] = {}
    lines: dict[str, Any] = {}
    parts = []
    for chart in charts:
        params = {param.name: param.value for param in chart.params}  # type: ignore[union-attr]
        focus |= dict.fromkeys(params["focus"])
        lines |= chart.usermeta["lines"]
        layers = [_placed(layer, chart.width) for layer in chart.layer if layer.name != HOVER]
        parts.append(alt.LayerChart(layer=layers, title=chart.title, width=chart.width, height=chart.height))
    return Panels(
        concat=parts,
        columns=columns,
        spacing={"row": 24, "column": 8},
        params=page_parameters(focus),
        background="white",
        padding=PADDING,
        usermeta={"policies": lines, "lines": lines},
        config=CONFIG,
    )


def _placed(layer: Any, width: float) -> Any:
    """Fix the places beside the plot, which follow the width of a whole figure."""
    for name in ("x", "x2"):
        place = layer.encoding[name]
        if isinstance(place, alt.XValue | alt.X2Value) and isinstance(place["value"], alt.ExprRef):
            layer.encoding[name] = type(place)(width + float(place["value"]["expr"].removeprefix("width + ")))
    return layer

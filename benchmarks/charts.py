"""The figures of the benchmarks: peers, the floor, and growth; times are on logarithmic axes."""

from math import log10
from typing import Any

import altair as alt
from common import shown

from lowregret.reporting.chart_style import FONT
from lowregret.reporting.line_chart import spread
from lowregret.reporting.policy_styles import BLUE, STONE, VERMILION, colour_of

WIDTH, ROW, SIDE = 560, 26, 300
"""Of a panel of rows, of one row, and of a panel of curves, in pixels."""
TITLE = "nanoseconds a step"
PALE, INK = "#C8C8C8", "#333333"
KINDS = {"floor": STONE, "ours": VERMILION, "rescan": BLUE}
SHAPES = ["diamond", "circle", "square"]
LAYERS = ("floor", "rescan", "ours")
"""Ours is drawn last, on top."""


def peers_chart(records: list[dict[str, Any]]) -> alt.VConcatChart:
    """Draw the time a step of every peer and of ours, a panel for each policy."""
    played = [record for record in records if "policy" in record]
    domain = _domain([time for record in played for time in (record["ns"], record["ours"])])
    policies = [
        name for name in ("UCB1", "ThompsonBeta", "ThompsonGauss") if name in _column(played, "policy")
    ]
    panels = []
    for policy in policies:
        rows = [_peer(record) for record in played if record["policy"] == policy]
        time = min(record["ours"] for record in played if record["policy"] == policy)
        rows.append({"who": "lowregret", "ns": time, "label": f"{shown(time)} ns", "ours": True})
        rows.sort(key=lambda row: row["ns"])
        base = alt.Chart(alt.InlineData(values=[{**row, "least": time} for row in rows]))
        x, y = _time(domain, last=policy == policies[-1]), _names("who", _column(rows, "who"), 180)
        colour = alt.when("datum.ours").then(alt.value(VERMILION)).otherwise(alt.value(INK))
        line = base.mark_rule(color=PALE, strokeWidth=2).encode(x=x, x2="least:Q", y=y)
        dots = base.mark_circle(size=130, opacity=1).encode(x=x, y=y, color=colour)
        panels.append(_panel(line + dots + _remarks(base, y, colour), policy))
    missing = [f"not measured: {record['peer']}" for record in records if "reason" in record]
    return _dressed(alt.vconcat(*panels, spacing=20), "Time a step on paper-1 (20 arms), one thread", missing)


def floor_chart(rows: list[dict[str, Any]]) -> alt.VConcatChart:
    """Draw the floor, ours and the rescan of every policy, a panel for each testbed."""
    points = [{**row, "kind": kind, "ns": row[kind]} for kind in LAYERS for row in rows if row[kind]]
    domain = _domain(_column(points, "ns"))
    testbeds = list(dict.fromkeys(_column(rows, "testbed")))
    key = alt.Legend(title=None, orient="top", offset=6)
    colour = alt.Color("kind:N", scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())), legend=key)
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=list(KINDS), range=SHAPES), legend=key)
    panels = []
    for testbed in testbeds:
        chosen = [row for row in rows if row["testbed"] == testbed]
        x = _time(domain, last=testbed == testbeds[-1])
        y = _names("policy", _column(chosen, "policy"), 120)
        base = alt.Chart(alt.InlineData(values=[point for point in points if point["testbed"] == testbed]))
        line = base.mark_line(color=PALE, strokeWidth=2).encode(x=x, y=y, detail="policy:N")
        dots = base.mark_point(size=95, filled=True, opacity=1).encode(x=x, y=y, color=colour, shape=shape)
        labels = [
            {**row, "label": f"{shown(row['ratio'])} x floor (limit {row['limit']:g})"} for row in chosen
        ]
        ink = alt.when("datum.ratio <= datum.limit").then(alt.value(INK)).otherwise(alt.value(VERMILION))
        remarks = _remarks(alt.Chart(alt.InlineData(values=labels)), y, ink)
        panels.append(_panel(line + dots + remarks, testbed))
    return _dressed(alt.vconcat(*panels, spacing=20), "Time a step: the floor, ours, and our own rescan")


def growth_chart(numbers: dict[str, dict[str, dict[int, float]]]) -> alt.HConcatChart:
    """Draw the time a step against the number of arms and against the horizon."""
    domain = _domain(
        [time for part in numbers.values() for curve in part.values() for time in curve.values()]
    )
    arms = _curves(numbers["arms"], domain, "number of arms K, with T = 100 K", TITLE)
    horizon = _curves(numbers["horizon"], domain, "horizon T, with K = 20", None)
    return _dressed(alt.hconcat(arms, horizon, spacing=40), "Growth of the time a step, one thread")


def _curves(
    curves: dict[str, dict[int, float]], domain: list[float], title: str, time: str | None
) -> alt.LayerChart:
    points = [
        {"policy": name, "place": int(place), "ns": time}
        for name, curve in curves.items()
        for place, time in curve.items()
    ]
    places = sorted(set(_column(points, "place")))
    x = alt.X("place:Q", scale=alt.Scale(type="log", domain=[places[0], places[-1]], nice=False), title=title)
    x = x.axis(labelExpr="format(datum.value, '~s')", grid=False, values=places, labelFlush=False)
    y = alt.Y("ns:Q", scale=alt.Scale(type="log", domain=domain, nice=False), axis=_axis(), title=time)
    scale = alt.Scale(domain=list(curves), range=[colour_of(name) for name in curves])
    colour = alt.Color("policy:N", scale=scale, legend=None)
    base = alt.Chart(alt.InlineData(values=points))
    line = base.mark_line(strokeWidth=2.5).encode(x=x, y=y, color=colour)
    dots = base.mark_circle(size=55, opacity=1).encode(x=x, y=y, color=colour)
    ends = [max((p for p in points if p["policy"] == name), key=lambda p: p["place"]) for name in curves]
    text = alt.Chart(alt.InlineData(values=_apart(ends, domain))).mark_text(align="left", dx=10, fontSize=14)
    text = text.encode(x=x, y=y, text="policy:N", color=alt.value(INK))
    return alt.layer(line, dots, text).properties(width=SIDE, height=SIDE)


def _apart(ends: list[dict[str, Any]], domain: list[float]) -> list[dict[str, Any]]:
    """Move the labels of lines that end close to one another apart."""
    low, high = map(log10, domain)
    ends = sorted(ends, key=lambda end: -end["ns"])
    heights = spread([SIDE * (log10(end["ns"]) - low) / (high - low) for end in ends], 19, SIDE)
    return [
        {**end, "ns": 10 ** (low + height * (high - low) / SIDE)}
        for end, height in zip(ends, heights, strict=True)
    ]


def _peer(record: dict[str, Any]) -> dict[str, Any]:
    who = record["peer"] + (f", {record['form']}" if record["form"] else "")
    label = f"{shown(record['ns'])} ns, {shown(record['times'])} x ours"
    return {"who": who, "ns": record["ns"], "label": label, "ours": False}


def _column(rows: list[dict[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows]


def _domain(times: list[float]) -> list[float]:
    """Return an axis that holds all times with some room on both sides."""
    return [min(times) / 1.5, max(times) * 1.5]


def _axis() -> alt.Axis:
    powers = [10**power for power in range(10)]
    return alt.Axis(
        labelExpr="format(datum.value, ',')",
        values=powers,
        domain=False,
        ticks=False,
        labelFlush=False,
        labelPadding=8,
    )


def _time(domain: list[float], last: bool) -> alt.X:
    scale = alt.Scale(type="log", domain=domain, nice=False)
    return alt.X("ns:Q", scale=scale, axis=_axis(), title=TITLE if last else None)


def _names(field: str, order: list[str], width: int) -> alt.Y:
    axis = alt.Axis(
        domain=False, ticks=False, labelLimit=0, labelPadding=10, minExtent=width, maxExtent=width
    )
    return alt.Y(f"{field}:N", sort=order, axis=axis, title=None)


def _remarks(base: alt.Chart, y: alt.Y, colour: Any) -> alt.Chart:
    """Write the label of every row to the right of it."""
    text = base.mark_text(align="left", fontSize=13)
    return text.encode(x=alt.value(WIDTH + 16), y=y, text="label:N", color=colour)


def _panel(chart: alt.LayerChart, title: str) -> alt.LayerChart:
    heading = alt.TitleParams(title, anchor="start", frame="bounds", fontSize=14, offset=6)
    return chart.properties(width=WIDTH, height=alt.Step(ROW), title=heading)


def _dressed(chart: Any, title: str, remarks: list[str] | None = None) -> Any:
    heading = alt.TitleParams(title, subtitle=remarks or [], anchor="start", fontSize=18, offset=16)
    return (
        chart.properties(title=heading, background="white", padding=16)
        .configure(font=FONT)
        .configure_axis(
            labelFontSize=13, titleFontSize=13, titleFontWeight="normal", titlePadding=10, gridColor="#E8E8E8"
        )
        .configure_legend(labelFontSize=13)
        .configure_view(stroke=None)
    )

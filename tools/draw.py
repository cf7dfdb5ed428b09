"""Draw the figure of a script for the docs: ``python tools/draw.py SCRIPT FIGURE.svg [ARGUMENT ...]``.

Runs the script with the name of the figure and the other arguments. Its figure has the style of the
package. A second file, FIGURE-narrow.svg, is for windows below 500 pixels: the names of lines stand under
the plot, and text keeps its size.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt

from lowregret.reporting.chart_style import CONFIG, Offline, draw_svg
from lowregret.reporting.plots_extra import vl_convert
from lowregret.reporting.policy_styles import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    VIOLET,
    styles,
)

Spec = dict[str, Any]
COLOURS = [BLUE, VERMILION, GREEN, VIOLET, ORANGE, SKY, PURPLE, BLACK]
"""The colours of what is not a policy, in their order."""
SIZE = {"continuousWidth": 480, "continuousHeight": 260, "discreteHeight": {"step": 32}}
NARROW_WIDTH, NARROW_HEIGHT, NARROW_PART = 270, 210, 170
"""The size of a plot in a narrow window, and the height of one of several."""
WINDOW = 360
"""The width of a figure in a narrow window."""
LETTER = 6.6
"""The width of a letter of a title, in pixels."""


def save(chart: Any, path: Any, *_: Any, **__: Any) -> None:
    """Write both files of a chart; it takes the place of altair's method of this name."""
    place, spec = Path(path), styled(chart.to_dict(context={"pre_transform": False}))
    place.write_text(smaller(drawn(spec)), encoding="utf-8")
    narrow_file(place).write_text(smaller(narrow_form(spec)), encoding="utf-8")


def smaller(svg: str) -> str:
    """Round places to hundredths of a pixel, and leave out the labels of marks: an image shows none."""

    def tag(found: re.Match[str]) -> str:
        plain = re.sub(r' (?:aria-label|aria-roledescription|role)="[^"]*"', "", found[0])
        return re.sub(r"(\.\d\d)\d+", r"\1", plain)

    return re.sub(r"<[^>]+>", tag, svg)  # the text between tags stays


def narrow_file(path: Path) -> Path:
    """Return the file of the narrow form of a figure."""
    return path.with_name(f"{path.stem}-narrow.svg")


def styled(spec: Spec) -> Spec:
    """Give a chart that was made by altair alone the fonts and colours of the package."""
    if "lines" in spec.get("usermeta", {}):
        return spec
    spec = json.loads(json.dumps(spec))
    own = spec.get("config", {})
    config = {**CONFIG, "view": {**SIZE, "stroke": None}, "range": {"category": COLOURS}}
    legend = {name: value for name, value in CONFIG["legend"].items() if not name.startswith("symbol")}
    config["legend"] = {**legend, "orient": "top", "title": None}
    config["title"] = {"fontSize": 15, "anchor": "start"}
    config["header"] = {"labelFontSize": 13, "titleFontSize": 13}
    config["mark"] = {"color": BLUE}
    for name, value in own.items():
        config[name] = {**config.get(name, {}), **value} if isinstance(value, dict) else value
    spec["config"] = config
    spec |= {"background": "white", "padding": 10}
    rows = [row for rows in spec.get("datasets", {}).values() for row in rows if isinstance(row, dict)]
    policies = styles(str(row["policy"]) for row in rows if "policy" in row)
    for unit in _units(spec):
        colour = unit.get("encoding", {}).get("color", {})
        if colour.get("field") == "policy" and "scale" not in colour:
            looks = [policies[name].colour for name in policies]
            colour["scale"] = {"domain": list(policies), "range": looks}
    return spec


def narrow_form(spec: Spec) -> str:
    """Draw a chart for a narrow window; names beside a plot take some of its width."""
    width = NARROW_WIDTH
    svg = drawn(narrow(spec, width))
    while (excess := float(re.findall(r' width="([\d.]+)"', svg)[0]) - WINDOW) > 0 and width > WINDOW / 3:
        width -= max(int(excess), 10)
        svg = drawn(narrow(spec, width))
    return svg


def narrow(spec: Spec, width: int = NARROW_WIDTH) -> Spec:
    """Return a chart for a narrow window: parts under one another, and names of lines under the plot."""
    spec = json.loads(json.dumps(spec))
    several = any(name in spec for name in ("concat", "hconcat", "vconcat", "facet"))
    height = NARROW_PART if several else NARROW_HEIGHT
    if "hconcat" in spec:
        spec["vconcat"] = spec.pop("hconcat")
    if "concat" in spec or "facet" in spec:
        spec["columns"] = 1
    scale = spec.get("usermeta", {}).pop("scale", None)
    named = False
    for unit in _units(spec):
        if "layer" in unit:
            named |= any(_is_label(layer) for layer in unit["layer"])
            unit["layer"] = [layer for layer in unit["layer"] if not _is_label(layer)]
        if "width" in unit or "mark" in unit or "layer" in unit:
            unit["width"] = width
            if not isinstance(unit.get("height"), dict) and ("height" in unit or scale):
                unit["height"] = min(unit.get("height", height), height)
        for channel, room in (("x", width), ("y", height)):
            axis = unit.get("encoding", {}).get(channel, {})
            if isinstance(axis, dict) and isinstance(axis.get("title"), str):
                axis["title"] = _wrapped(axis["title"], room)
        if isinstance(unit.get("title"), dict) and isinstance(unit["title"].get("text"), str):
            unit["title"]["text"] = _wrapped(unit["title"]["text"], NARROW_WIDTH, 8.5)
    longest = max(map(len, spec.get("usermeta", {}).get("lines", {})), default=0)
    legend = {"orient": "bottom", "columns": 2 if longest <= 14 else 1, "labelLimit": 0, "offset": 8}
    for unit in _units(spec):
        for channel in ("color", "strokeDash"):
            encoding = unit.get("encoding", {}).get(channel)
            if isinstance(encoding, dict) and "field" in encoding and named:
                encoding["legend"] = {"title": None, **legend}
    if several:
        spec["resolve"] = {**spec.get("resolve", {}), "legend": {"color": "shared", "strokeDash": "shared"}}
        spec["resolve"]["scale"] = {
            **spec["resolve"].get("scale", {}),
            "color": "shared",
            "strokeDash": "shared",
        }
    config = spec["config"]
    config["axis"] = {**config["axis"], "labelFontSize": 12, "titleFontSize": 13, "titlePadding": 6}
    config["legend"] = {**config["legend"], **legend, "labelFontSize": 12}
    config["view"] = {**config["view"], "continuousWidth": width, "continuousHeight": height}
    spec["padding"] = 6
    return spec


def _is_label(layer: Spec) -> bool:
    return str(layer.get("name", "")).startswith("labels-")


def _units(spec: Spec) -> Iterator[Spec]:
    """Yield a chart and all charts in it."""
    yield spec
    for name in ("layer", "concat", "hconcat", "vconcat"):
        for part in spec.get(name, ()):
            yield from _units(part)
    if "spec" in spec:
        yield from _units(spec["spec"])


def _wrapped(title: str, room: float, letter: float = LETTER) -> str | list[str]:
    """Break a title in the middle where it is too long for its axis."""
    spaces = [place for place, sign in enumerate(title) if sign == " "]
    if len(title) * letter <= room or not spaces:
        return title
    middle = min(spaces, key=lambda place: abs(place - len(title) / 2))
    return [title[:middle], title[middle + 1 :]]


def drawn(spec: Spec) -> str:
    if "layer" in spec and "lines" in spec.get("usermeta", {}):
        return draw_svg(spec)
    spec["config"]["aria"] = False
    return str(vl_convert.vegalite_to_svg(json.dumps(spec)))


if __name__ == "__main__":
    alt.data_transformers.disable_max_rows()
    alt.TopLevelMixin.save = save  # type: ignore[method-assign, assignment]
    Offline.save = save  # type: ignore[method-assign, assignment]
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")

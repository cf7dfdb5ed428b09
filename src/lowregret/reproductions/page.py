"""The page of a reproduction: its figures with the published points, its tables, and its summary."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from lowregret._common.text import count as number_of
from lowregret._common.text import file_names
from lowregret.analysis.comparison import INCONCLUSIVE
from lowregret.analysis.equivalence import MATCHED, NOT_MATCHED, VERDICTS
from lowregret.reporting.curve_charts import regret_chart
from lowregret.reporting.number_format import format_number
from lowregret.reporting.page_parts import Beside, Cell, Fold, Part, Picture, Section, Table, Text
from lowregret.reporting.policy_styles import Style, styles
from lowregret.reproductions.claims import FAILS, HOLDS
from lowregret.reproductions.sheet import Sheet
from lowregret.results import Results

Columns = Mapping[str, Callable[[dict[str, Any]], str | Cell]]
SQUEEZED = 4.0
"""Where the highest published curve ends at so many times the median, a figure is logarithmic at first."""
EMPHASIS = {HOLDS: "", MATCHED: "", FAILS: "best", NOT_MATCHED: "best"}
"""The kind of a cell by the verdict that it shows; the others are grey."""
SUMMARY_TITLE = "Summary"
CAPTIONS = {
    "numbers": """\
The 90% interval of the difference, in percent, contains the errors of both numbers; that of the published
one is by its standard deviation, or estimated from our runs. Matched: the interval lies within
{margin:g}%. Not matched: the difference exceeds {margin:g}% at a joint level of 95%. Published too
imprecise: the published number cannot decide, whatever our runs are. The margin is ours.""",
    "claims": """\
A claim holds if the 95% interval of the difference is below 0 in all its environments, and does not hold
if one interval is above 0. The paper states no criteria: they are ours. Published: the verdict by the
published means at the horizon, without intervals. The intervals are not adjusted for multiple
comparisons.""",
    "comparisons": """\
Paired over the runs where both policies have equally many, else by the interval of Welch. The percentage
after a verdict is the share of runs that would reverse it, if the difference in them were the largest
possible one.""",
}


class More(NamedTuple):
    """What a sheet adds to its page by a function of its own."""

    summary: Sequence[Part] = ()
    numbers: Sequence[Part] = ()  # before the published numbers
    claims: Sequence[Part] = ()  # before the claims
    sections: Sequence[Section] = ()
    last: Sequence[Section] = ()
    tables: dict[str, pl.DataFrame] = {}  # noqa: RUF012


@dataclass
class Evaluation:
    """What the results say about a paper."""

    sheet: Sheet
    results: Results
    runs: int  # the value of --runs, or its default
    curves_over_time: pl.DataFrame
    tables: dict[str, pl.DataFrame]  # numbers, comparisons and claims, and the sheet's own
    more: More = field(default_factory=More)


def page_sections(evaluation: Evaluation) -> list[Section]:
    sheet, more = evaluation.sheet, evaluation.more
    sections = [
        Section(SUMMARY_TITLE, [*more.summary]),
        Section("Figures of the paper, and ours", figures(evaluation)),
    ]
    if len(evaluation.tables["numbers"]):
        details = Fold("What is read, and what is inferred", [details_table(evaluation)])
        points: Part = numbers_table(evaluation)
        points = Fold("Every published number", [points]) if more.numbers else points
        numbers = [*map(Text, sheet.text.get("numbers", ())), *more.numbers, details, points]
        sections += [*more.sections, Section("Published numbers", numbers)]
    if len(evaluation.tables["claims"]):
        comparisons = Fold("Every comparison", [comparisons_table(evaluation)])
        sections.append(Section("Claims", [*more.claims, claims_table(evaluation), comparisons]))
    return [section for section in (*sections, *more.last) if section.parts]


def outcome(evaluation: Evaluation) -> str:
    """Say what came out, and how many runs can decide what these do not."""
    sheet, numbers, claims = evaluation.sheet, evaluation.tables["numbers"], evaluation.tables["claims"]
    parts, rest, decided = [], evaluation.tables["comparisons"].filter(verdict=INCONCLUSIVE).height, 0
    if len(numbers):
        matched, differ, unclear, _ = (numbers.filter(verdict=name).height for name in VERDICTS)
        words = (
            f"{matched or 'none'} came out again to within {sheet.margin:g}% and {differ or 'none'} did not"
        )
        parts, decided = [f"Of {number_of(len(numbers), 'published number')}, {words}."], matched + differ
        rest += unclear
    if len(claims):
        held = ", ".join(
            f"{n or 'none'} {'hold' if n > 1 else 'holds'}{name}" for n, name in _held(evaluation)
        )
        parts.append(f"Of {number_of(len(claims), 'claim')}, {held}.")
        undecided = [claims.filter(**{reading.column: INCONCLUSIVE}).height for reading in sheet.readings]
        decided += sum(len(claims) - open_claims for open_claims in undecided)
    if parts and not decided:
        parts = [f"{number_of(evaluation.runs, 'run')} can decide nothing here."]
    if rest:
        parts.append(f"With --runs {runs_for_half(evaluation)}, about half of the rest can be decided.")
    return " ".join(parts) or "No number and no claim was run."


def runs_for_half(evaluation: Evaluation) -> int:
    """Return how many runs decide half of what is open, or the published number where that is not known."""
    numbers, half_width = evaluation.tables["numbers"], (pl.col("high") - pl.col("low")) / 2.0
    claims = evaluation.tables["comparisons"].filter(pl.col("difference") != 0.0, verdict=INCONCLUSIVE)
    parts = [claims.select(factor=(half_width / pl.col("difference")) ** 2.0)]
    if len(numbers):
        parts.append(numbers.filter(verdict=INCONCLUSIVE).select(factor=pl.col("needed") / pl.col("runs")))
    factors = pl.concat(parts)["factor"].drop_nulls().clip(2.0).to_list()
    return int(float(f"{median(factors) * evaluation.runs:.2g}")) if factors else evaluation.sheet.runs


def last_line(evaluation: Evaluation) -> str:
    """Return the line with which the command ends."""
    numbers, claims, parts = evaluation.tables["numbers"], evaluation.tables["claims"], []
    if len(numbers):
        counts = (f"{numbers.filter(verdict=verdict).height or 'none'} {verdict}" for verdict in VERDICTS)
        parts.append(f"{len(numbers)} numbers: {', '.join(counts)}")
    for held, name in _held(evaluation):
        parts.append(f"{held} of {len(claims)} claims hold{name}")
    return "; ".join(parts) or "no number and no claim was run"


def palette(sheet: Sheet, **labels: str) -> dict[str, Style]:
    """Return one line style per policy of the paper; versions of a policy share it."""
    own = {name: ours if isinstance(ours, str) else ours[0] for name, ours in sheet.names.items()}
    own = {point.policy: point.policy for point in sheet.published} | own | labels
    own = {name: ours for name, ours in own.items() if name not in sheet.versions.values()}
    looks = styles(own.values())
    named = {name: looks[ours] for name, ours in own.items()}
    return named | {version: named[name] for name, version in sheet.versions.items()}


def figures(evaluation: Evaluation) -> list[Part]:
    """Draw the curves of the paper, two figures per row: our curves as lines, published points as circles."""
    sheet, looks, numbers = evaluation.sheet, palette(evaluation.sheet), evaluation.tables["numbers"]
    if numbers.is_empty():
        return []
    numbers = numbers.filter(pl.col("t").is_not_null(), quantity="mean")
    several = pl.struct("policy", "t").is_duplicated().any().over("place")  # one figure for each environment
    place = pl.when(several).then(pl.concat_str("place", "environment", separator=", ")).otherwise("place")
    drawn = []
    for (title,), points in numbers.group_by(place, maintain_order=True):
        if points["t"].n_unique() > 1:
            own = points.select("environment", "ours", label="policy").unique(maintain_order=True)
            ours = evaluation.curves_over_time.rename({"policy": "ours"})
            lines = own.join(ours, on=["environment", "ours"], maintain_order="left_right").drop("ours")
            published = points.select("policy", "t", mean="published")
            words = sheet.titles.get(str(title), str(title))
            shared: Any = {"palette": looks, "points": published}
            curves = lines.rename({"label": "policy"})
            views = {"": regret_chart(curves, words, **shared)}
            last = published.sort("t").group_by("policy").last()["mean"].to_numpy()
            if last.max() > SQUEEZED * np.median(last):
                log = regret_chart(curves, words, log_regret=True, **shared)
                views = {"log": log, "linear": views[""]}
            name = f"published-{next(iter(file_names([str(title)]).values()))}"
            drawn.append(Picture(views, words, name=name))
    words = f"Lines: our means {sheet.reading}, with 95% intervals. Circles: published numbers."
    parts: list[Part] = [Text(words), *map(Text, sheet.text.get("figures", ()))]
    parts += [Beside(drawn[start : start + 2]) for start in range(0, len(drawn), 2)]
    if "configurations" in sheet.text:
        parts.append(Fold("Configurations", [*map(Text, sheet.text["configurations"])]))
    return parts if drawn else []


def details_table(evaluation: Evaluation) -> Table:
    """Lay out what of each configuration is read, what is inferred, and why numbers are not matched."""
    columns: Columns = {
        "our policy": lambda row: row["ours"],
        "where it is read": lambda row: Cell(row["source"] or "-", "long"),
        "inferred, not read": lambda row: Cell(row["inferred"] or "-", "long"),
        "why not matched": lambda row: Cell(row["reason"] or "-", "long"),
    }
    caption = " ".join(evaluation.sheet.text.get("details", ()))
    rows = evaluation.tables.get("curves", evaluation.tables["numbers"])
    keys = ["place", "environment", "policy", "quantity", "ours", "source", "inferred", "reason"]
    return table_of_numbers(rows.unique(keys, maintain_order=True), columns, range(7), caption)


def numbers_table(evaluation: Evaluation) -> Table:
    columns: Columns = {
        "t": lambda row: format_number(row["t"]),
        "published (se)": lambda row: f"{row['published']:,.10g} ({format_number(row['published_se'])})",
        "ours (se)": lambda row: format_with_error(row["mean"], row["se"]),
        "our runs": lambda row: f"{row['runs']:,}",
        "percent": lambda row: format_signed(row["percent"]),
        "90% interval": lambda row: format_signed_interval(row["low"], row["high"]),
        "verdict": lambda row: verdict_cell(row["verdict"], " (chosen)" * row["chosen"]),
    }
    caption = CAPTIONS["numbers"].replace("\n", " ").format(margin=evaluation.sheet.margin)
    return table_of_numbers(evaluation.tables["numbers"], columns, (0, 1, 2, 9), caption)


def claims_table(evaluation: Evaluation) -> Table:
    """Lay out the claims by group, with their verdicts in every reading and by the published numbers."""
    sheet, columns = evaluation.sheet, [reading.column for reading in evaluation.sheet.readings]
    rows: list[list[str | Cell]] = []
    for group, claims in groupby(evaluation.tables["claims"].to_dicts(), lambda row: row["group"]):
        rows += [[Cell(group, "best"), *[""] * (len(columns) + 1)]] if group else []
        for row in claims:
            claim, kind = f"“{row['quote']}”", sheet.claims[row["claim"] - 1].kind
            claim += f" ({row['place']})" * bool(row["place"])
            if row["worse"] and kind != "higher":
                claim += f": {row['better']} {'similar to' if kind == 'similar' else 'below'} {row['worse']}"
            claim += f". Judged by (ours): {row['criterion']}. In {row['environments']}."
            rows.append([Cell(claim, "long"), *(verdict_cell(row[name]) for name in (*columns, "published"))])
    caption = CAPTIONS["claims"].replace("\n", " ")
    return Table(["claim", *columns, "published"], rows, range(len(columns) + 2), caption)


def comparisons_table(evaluation: Evaluation) -> Table:
    """Lay out every comparison once, in all readings."""
    readings, heads = evaluation.sheet.readings, ["environment", "first", "second"]
    cells: dict[tuple[str, ...], dict[str, list[str | Cell]]] = {}
    for row in evaluation.tables["comparisons"].to_dicts():
        share = "" if row["fragility"] is None else f", {row['fragility']:.1%}"
        difference = f"{format_signed(row['difference'])} ({format_signed_interval(row['low'], row['high'])})"
        key = row["environment"], row["better"], row["worse"]
        cells.setdefault(key, {}).setdefault(
            row["reading"], [difference, verdict_cell(row["verdict"], share)]
        )
    for reading in readings:
        where = f" {reading.column}" * bool(reading.name)
        heads += [f"first minus second (95%){where}", f"verdict{where}"]
    rows = [
        [*key, *(cell for reading in readings for cell in cells[key].get(reading.name, ["-", "-"]))]
        for key in sorted(cells, key=lambda key: key[0])
    ]
    words = (0, 1, 2, *range(4, len(heads), 2))
    return Table(heads, rows, words, CAPTIONS["comparisons"].replace("\n", " "))


def format_with_error(mean: float | None, error: float | None, decimals: bool = True) -> str:
    """Format a mean with its standard error; a mean without error to two decimals."""
    if mean is None or (error is not None and error < 1e-9):
        return "-" if mean is None else f"{mean:,.2f}"
    return (
        f"{format_number(mean)} ({format_number(error)})"
        if decimals or error is None
        else f"{mean:,.0f} ({error:,.0f})"
    )


def format_signed(value: float | None) -> str:
    if value is None:
        return "-"
    digits = 1 if abs(value) >= 1 else 2
    return f"{round(value, digits) + 0.0:+,.{digits}f}"  # adding 0.0 turns -0.0 into 0.0


def format_signed_interval(low: float | None, high: float | None) -> str:
    return "-" if low is None else f"{format_signed(low)} to {format_signed(high)}"


def table_of_numbers(rows: pl.DataFrame, columns: Columns, words: Sequence[int], caption: str = "") -> Table:
    """Lay out rows of numbers, with their place, environment and policy in front."""
    cells = []
    for row in rows.to_dicts():
        policy = row["policy"] + (f", {row['quantity']}" if row["quantity"] != "mean" else "")
        own = [column(row) for column in columns.values()]
        cells.append([row["place"], row["environment"], policy, *own])
    return Table(["place", "environment", "policy", *columns], cells, words, caption)


def verdict_cell(verdict: str, more: str = "") -> Cell:
    return Cell(verdict + more, EMPHASIS.get(verdict, "quiet"))


def _held(evaluation: Evaluation) -> list[tuple[int, str]]:
    """Return how many claims hold in each reading, and its name in brackets."""
    claims, readings = evaluation.tables["claims"], evaluation.sheet.readings
    if claims.is_empty():
        return []
    names = [f" ({reading.name})" if reading.name else "" for reading in readings]
    return [
        (claims.filter(**{reading.column: HOLDS}).height, name)
        for reading, name in zip(readings, names, strict=True)
    ]

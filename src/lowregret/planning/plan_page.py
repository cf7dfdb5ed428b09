"""The page of a plan: the recommendation, the table, and charts by day."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl

from lowregret._common.durable_files import as_store_error, write_atomically
from lowregret._common.text import count
from lowregret.engine.state import Floats
from lowregret.planning.plan import Plan, Played
from lowregret.reporting.line_chart import Axis, line_chart
from lowregret.reporting.number_format import shown
from lowregret.reporting.page import page, save_pictures
from lowregret.reporting.page_parts import Beside, Cell, Picture, Section, Table, Text
from lowregret.reporting.policy_styles import Style, styles
from lowregret.reporting.row_charts import runs_chart


def write_files(plan: Plan, folder: Path) -> list[Path]:
    """Write the page, its figures and the table; return the paths."""
    sections = page_sections(plan)
    report, table, figures = folder / "plan.html", folder / "plan.csv", folder / "figures"
    with as_store_error(folder):
        figures.mkdir(parents=True, exist_ok=True)
        write_atomically(report, page("Plan of an experiment", introduction(plan), sections).encode())
        write_atomically(table, plan.table.write_csv().encode())
        return [report, table, *save_pictures(sections, figures, ("svg",))]


def introduction(plan: Plan) -> list[str | Text]:
    """Return the question, the recommendation and the code to start with."""
    given = plan.given
    expected = f"a rate of {given.rate:g}" if given.rate is not None else f"a mean reward of {given.value:g}"
    return [
        f"{given.options} options, {expected}, a lift of {given.lift:.3g} that matters, {given.visitors:,} "
        f"visitors a day for {count(given.days, 'day')}, a delay of {given.delay_in_words()}.",
        Text(f"Use {plan.recommended}: {plan.reason}", "notice"),
        "Start with:",
        Text(plan.code, "code"),
    ]


def page_sections(plan: Plan) -> list[Section]:
    """Return the sections of the page."""
    names = plan.table["policy"].to_list()
    palette, unit = styles(names), plan.given.unit
    loss = _by_day(plan.played, "loss")
    share = _by_day(plan.played, "share")
    top = max(float(loss["high"].max() or 0.0), 1e-9)  # type: ignore[arg-type]
    return [
        Section("What to expect", [plan_table(plan), *_split_words(plan)]),
        Section(
            "Day by day",
            [
                Beside(
                    [
                        _picture(
                            _days_chart(share, "Traffic of the best option", "share of the day's visitors",
                                        1.02, plan.given.days, palette),
                            "The share of each day's visitors that see the best option, mean of the runs. "
                            "Bands: from the 25% to the 75% quantile.", "traffic"),
                        _picture(
                            _days_chart(loss, "Loss", f"{unit} lost so far", top * 1.02, plan.given.days,
                                        palette),
                            f"What was lost in {unit}, against the best option from the first visitor on. "
                            "Bands: from the 25% to the 75% quantile.", "loss"),
                    ]
                ),
                _picture(
                    _losses_chart(plan, palette),
                    "The loss of every run. Box: the middle half of the runs; line: from the 5% to the 95% "
                    "quantile; diamond: the mean; triangle: the mean of the worst 5%.", "losses"),
            ],
        ),
        Section("What was assumed", [Text(sentence) for sentence in plan.assumptions]),
    ]  # fmt: skip


def _picture(chart: alt.LayerChart, caption: str, name: str) -> Picture:
    labels = {"traffic": "Traffic of the best option", "loss": "Loss by day", "losses": "Loss of every run"}
    return Picture({"": chart}, labels[name], caption, name)


def _split_words(plan: Plan) -> list[Text]:
    given = plan.given
    pairs = given.options - 1
    level = f"{given.alpha:g}" if pairs == 1 else f"{given.alpha:g} divided by {pairs} comparisons"
    return [
        Text(
            f"A fixed split has a power of {plan.power:.0%} to find a lift of {given.lift:.3g} by a "
            f"two-sided z test of one option against the control, at the level {level}. For a power of 80% "
            f"it needs {plan.days_needed:,.1f} days."
        )
    ]


def plan_table(plan: Plan) -> Table:
    """Return the table of policies as text."""
    unit = plan.given.unit
    heads = [
        "policy", f"{unit} lost", "95% of runs below", "worst 5%", "of all", "best leads", "good leads",
        "days to 80%",
    ]  # fmt: skip
    rows: list[list[str | Cell]] = []
    for row in plan.table.to_dicts():
        days = "-" if row["days_to_80"] is None else f"{row['days_to_80']:.0f}"
        name = row["policy"]
        rows.append(
            [
                Cell(name, "best" if name == plan.recommended else ""),
                f"{shown(row['loss'])} ({shown(row['se'])})",
                shown(row["p95"]),
                shown(row["worst05"]),
                f"{row['loss_share']:.2%}",
                f"{row['best_leads']:.0%}",
                f"{row['good_leads']:.0%}",
                days,
            ]
        )
    caption = (
        "In brackets: the standard error of the mean. Worst 5%: the mean of the worst 5% of the runs. Of "
        "all: the loss divided by what the best option would earn. Best leads: the share of runs in which "
        "the best option has most of the last day's traffic, or, for the fixed split, the largest observed "
        "mean; good leads: the same for options that are worse by less than the lift. Days to 80%: the "
        "median of the first day on which the best option has 80% of the traffic; a dash if fewer than half "
        "of the runs get there."
    )
    return Table(heads, rows, caption=caption)


def _by_day(played: Mapping[str, Played], what: str) -> pl.DataFrame:
    """Return mean and quartiles by policy and day."""
    parts = []
    for name, runs in played.items():
        values: Floats = getattr(runs, what)
        low, high = np.quantile(values, [0.25, 0.75], axis=0)
        days = np.arange(1, values.shape[1] + 1)
        parts.append(
            pl.DataFrame({"policy": name, "x": days, "mean": values.mean(axis=0), "low": low, "high": high})
        )
    return pl.concat(parts)


def _days_chart(
    table: pl.DataFrame, title: str, words: str, top: float, days: int, palette: Mapping[str, Style]
) -> alt.LayerChart:
    make: Callable[..., alt.LayerChart] = line_chart
    across = Axis("day", min(1, days - 1), days)
    return make(table.sort("x", maintain_order=True), title, across, Axis(words, 0.0, top),
                palette=palette, unit="day")  # fmt: skip


def _losses_chart(plan: Plan, palette: Mapping[str, Style]) -> alt.LayerChart:
    finals = pl.concat(
        pl.DataFrame({"policy": name, "regret": runs.loss[:, -1]}) for name, runs in plan.played.items()
    )
    regret = pl.col("regret")
    summary = finals.group_by("policy", maintain_order=True).agg(
        mean=regret.mean(),
        p05=regret.quantile(0.05, "linear"),
        p25=regret.quantile(0.25, "linear"),
        median=regret.median(),
        p75=regret.quantile(0.75, "linear"),
        p95=regret.quantile(0.95, "linear"),
        worst=regret.max(),
    )
    summary = summary.join(plan.table.select("policy", "worst05"), on="policy")
    words = f"{plan.given.unit} lost in a run"
    return runs_chart(finals, summary, "Loss of every run", palette=palette, words=words)

"""The page of a plan: the recommendation, the table, and charts by day."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats
from lowregret._common.text import count
from lowregret.planning.plan import COLUMNS, Plan, text_rows, ways_to_start
from lowregret.planning.policy_runs import PolicyRuns
from lowregret.planning.prior_value import prior_in_words
from lowregret.reporting.chart_style import inline, layer_chart
from lowregret.reporting.line_chart import Axis, line_chart
from lowregret.reporting.page import write_page
from lowregret.reporting.page_parts import Beside, Cell, Picture, Section, Table, Text
from lowregret.reporting.plots_extra import alt
from lowregret.reporting.policy_styles import Style, styles
from lowregret.reporting.row_charts import runs_chart


def write_files(plan: Plan, folder: Path) -> list[Path]:
    files = {"plan.csv": plan.table.write_csv()}
    title, sections = "Plan of an experiment", page_sections(plan)
    return write_page(folder / "plan.html", title, introduction(plan), sections, files=files)


def introduction(plan: Plan) -> list[str | Text]:
    scenario = plan.given
    expected = (
        f"a rate of {scenario.rate:g}"
        if scenario.rate is not None
        else f"a mean reward of {scenario.value:g}"
    )
    return [
        f"{scenario.options} options, {expected}, a lift of {scenario.lift_in_percent()} that matters, "
        f"{scenario.visitors:,} visitors a day for {count(scenario.days, 'day')}, a delay of "
        f"{scenario.delay_in_words()}.",
        *([Text(f"Note: {scenario.large_lift()}", "notice")] if scenario.large_lift() else []),
        Text(f"Use {plan.recommended}: {plan.reason}", "notice"),
        *(part for words, snippet in ways_to_start(plan) for part in (words, Text(snippet, "code"))),
    ]


def page_sections(plan: Plan) -> list[Section]:
    palette, unit, days = styles(plan.table["policy"].to_list()), plan.given.unit, plan.given.days
    share, loss = _by_day(plan.played, "share"), _by_day(plan.played, "loss")
    top = max(float(loss["high"].max() or 0.0), 1e-9)  # type: ignore[arg-type]
    label, bands = "Traffic of the best option", "Bands: from the 25% to the 75% quantile."
    traffic = _days_chart(share, label, "share of the day's visitors", 1.02, days, palette)
    by_day = _days_chart(loss, "Loss", f"{unit} lost so far", top * 1.02, days, palette)
    seen = f"The share of each day's visitors that see the best option, mean of the runs. {bands}"
    lost = f"What was lost in {unit}, against the best option from the first visitor on. {bands}"
    runs = (
        "The loss of every run. Box: the middle half of the runs; line: from the 5% to the 95% quantile; "
        "diamond: the mean; triangle: the mean of the worst 5%."
    )
    proved = (
        f"The share of runs that have had a verdict on the best option by the day, with an error of at most "
        f"{plan.given.alpha:g} however often one looks."
    )
    earned = (
        "What a policy loses, against the share of runs with a verdict by the last day. Policies of low "
        "regret seldom choose the worse options, so they prove little. Lower right is better."
    )
    verdicts = (
        Picture({"": _proved_chart(plan, palette)}, "Verdict by day", proved, "verdict"),
        Picture({"": _proving_chart(plan, palette)}, "Loss and verdict", earned, "proving"),
    )
    daily = Picture({"": traffic}, label, seen, "traffic"), Picture({"": by_day}, "Loss by day", lost, "loss")
    losses = Picture({"": _losses_chart(plan, palette)}, "Loss of every run", runs, "losses")
    return [
        Section(
            "What to expect",
            [plan_table(plan), *_split_words(plan), *map(Text, prior_in_words(plan.prior, plan.given.unit))],
        ),
        Section("Day by day", [Beside(daily), losses]),
        Section("Earning is not proving", [Beside(verdicts)]),
        Section("What was assumed", [Text(sentence) for sentence in plan.assumptions]),
    ]


def _split_words(plan: Plan) -> list[Text]:
    scenario = plan.given
    pairs = scenario.options - 1
    level = f"{scenario.alpha:g}" if pairs == 1 else f"{scenario.alpha:g} divided by {pairs} comparisons"
    return [
        Text(
            f"A fixed split has a power of {plan.power:.0%} to find a lift of {scenario.lift_in_percent()} "
            f"by a two-sided z test of one option against the control, at the level {level}. For a power of "
            f"80% it needs {plan.days_needed:,.1f} days."
        )
    ]


def plan_table(plan: Plan) -> Table:
    table = text_rows(plan)
    rows: list[list[str | Cell]] = [
        [Cell(name, "best" if name == plan.recommended else ""), *numbers]
        for name, *numbers in (row.values() for row in table)
    ]
    return Table(list(table[0]), rows, caption=COLUMNS)


def _by_day(played: Mapping[str, PolicyRuns], what: str) -> pl.DataFrame:
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
    x, y = Axis("day", min(1, days - 1), days), Axis(words, 0.0, top)
    return line_chart(table.sort("x", maintain_order=True), title, x, y, palette=palette, unit="day")


def _proved_chart(plan: Plan, palette: Mapping[str, Style]) -> alt.LayerChart:
    days = plan.given.days
    parts = [
        pl.DataFrame({"policy": name, "x": np.arange(1, days + 1), "mean": runs.proved(days)})
        for name, runs in plan.played.items()
    ]
    table = pl.concat(parts).with_columns(low=pl.col("mean"), high=pl.col("mean"))
    return _days_chart(table, "Verdict by day", "share of runs with a verdict", 1.02, days, palette)


def _proving_chart(plan: Plan, palette: Mapping[str, Style]) -> alt.LayerChart:
    """Draw the loss of each policy against the share of its runs with a verdict."""
    table = plan.table.select("policy", "loss", "verdict")
    names = table["policy"].to_list()
    colours = alt.Scale(domain=names, range=[palette[name].colour for name in names])
    base = alt.Chart(inline(table)).encode(
        x=alt.X("verdict:Q", title="share of runs with a verdict", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("loss:Q", title=f"{plan.given.unit} lost", scale=alt.Scale(zero=True)),
        color=alt.Color("policy:N", legend=None, scale=colours),
    )
    point = base.mark_point(filled=True, size=80, opacity=1)
    label = base.mark_text(align="left", dx=8).encode(text="policy:N")
    return layer_chart([point, label], "Loss and verdict", palette)


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

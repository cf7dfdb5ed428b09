"""The page of a plan: the recommendation, the table, and charts by day."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats
from lowregret._common.text import count
from lowregret.analysis.summary import regret_statistics
from lowregret.planning.plan import PLAN_COLUMNS, Plan, starting_code, text_rows
from lowregret.planning.policy_runs import FIXED_SPLIT, PRESENT_OPTION, PolicyRuns
from lowregret.planning.prior_value import describe_prior
from lowregret.planning.visitor_rewards import Conversions
from lowregret.reporting.chart_style import inline_data, layer_chart
from lowregret.reporting.line_chart import Axis, line_chart
from lowregret.reporting.number_format import format_number
from lowregret.reporting.page import write_page
from lowregret.reporting.page_parts import Beside, Cell, Part, Picture, Section, Table, Text, table_of
from lowregret.reporting.plots_extra import alt
from lowregret.reporting.policy_styles import Style, styles
from lowregret.reporting.row_charts import runs_chart


def write_files(plan: Plan, folder: Path) -> list[Path]:
    files = {"plan.csv": plan.table.write_csv()}
    title, sections = "Plan of an experiment", page_sections(plan)
    return write_page(folder / "plan.html", title, introduction(plan), sections, files=files)


def introduction(plan: Plan) -> list[str | Text]:
    scenario, delay = plan.scenario, plan.scenario.describe_delay()
    late = "rewards at once" if delay == "0 days" else f"a delay of {delay}"
    return [
        Text(headline(plan), "headline"),
        f"{scenario.options} options, {scenario.rewards}, a lift of {scenario.lift_in_percent()} that "
        f"matters, {scenario.visitors:,} visitors a day for {count(scenario.days, 'day')}, {late}.",
        *([Text(f"Note: {scenario.large_lift()}", "notice")] if scenario.large_lift() else []),
        Text(f"Why: {plan.reason}"),
    ]


def headline(plan: Plan) -> str:
    """Return what to use, and what it is expected to earn beside a fixed split and the present option."""
    won = {row["policy"]: row["won"] for row in plan.table.to_dicts()}
    own = won[plan.recommended]
    counted = isinstance(plan.scenario.rewards, Conversions)
    earned = f"{own:,.0f} conversions" if counted else f"a {plan.scenario.unit} of {own:,.0f}"
    more = " and ".join(
        f"{own - won[other]:,.0f} more than {words}"
        for other, words in ((FIXED_SPLIT, "a fixed split"), (PRESENT_OPTION, "the present option"))
        if other != plan.recommended and round(own - won[other]) > 0
    )
    days = count(plan.scenario.days, "day")
    return f"Use {plan.recommended}: expect {earned} in {days}" + f", {more}" * bool(more) + "."


def page_sections(plan: Plan) -> list[Section]:
    palette, unit = styles(plan.table["policy"].to_list()), plan.scenario.unit
    choices = choices_of(plan)
    start = [part for words, snippet in starting_code(plan) for part in (Text(words), Text(snippet, "code"))]
    expected = [*_split_words(plan), *map(Text, describe_prior(plan.prior, unit))]
    proved = (
        f"The share of runs that have had a verdict on the best option by the day, with an error of at most "
        f"{plan.scenario.alpha:g} however often one looks. Policies of low regret seldom choose the worse "
        "options, so they prove little."
    )
    verdict = Picture({"": _proved_chart(plan, choices, palette)}, "Verdict by day", proved, "verdict")
    sections = [
        Section("What to expect", [choices_table(plan), Beside(_daily(plan, choices, palette)), *expected]),
        Section("Start it", start),
        Section("Earning is not proving", [verdict]),
        Section("All policies", [plan_table(plan), *_all_pictures(plan, palette)], folded=True),
        Section("What was assumed", [Text(sentence) for sentence in plan.assumptions], folded=True),
    ]
    return [section for section in sections if section.parts]


def choices_of(plan: Plan) -> list[str]:
    """Return the three rows that come first: the recommended policy, or the best, and the alternatives."""
    best = next(name for name in plan.table["policy"] if name not in (FIXED_SPLIT, PRESENT_OPTION))
    return list(dict.fromkeys([plan.recommended, best, FIXED_SPLIT, PRESENT_OPTION]))[:3]


def choices_table(plan: Plan) -> Table:
    unit, rows = plan.scenario.unit, {row["policy"]: row for row in plan.table.to_dicts()}
    best, counted = rows[plan.recommended]["won"], isinstance(plan.scenario.rewards, Conversions)
    words = {
        FIXED_SPLIT: "equal shares until the last day",
        PRESENT_OPTION: "every visitor sees the first option",
    }
    table: list[Mapping[str, str | Cell]] = []
    for name in choices_of(plan):
        row, is_first = rows[name], name == plan.recommended
        what = words.get(name, "learns, and shifts the traffic")
        behind = round(best - row["won"])
        table.append(
            {
                "use": Cell(name, "best" if is_first else ""),
                f"{unit} won": Cell(f"{row['won']:,.0f}", "best" if is_first else ""),
                "fewer than recommended" if counted else "less than recommended": "-"
                if is_first
                else f"{behind:,}",
                "lost against the best option": format_number(row["loss"]),
                "lost in the worst 5% of runs": format_number(row["worst05"]),
                "best option leads at the end": f"{row['best_leads']:.0%}",
                "what it does": what + (" (recommended)" if is_first else ""),
            }
        )
    caption = (
        "Means of the simulated runs. Nobody knows the best option on the first day, so every choice loses "
        "something against it. At the end it leads if it has most of the last day's traffic or, for the "
        "fixed split, the largest observed mean."
    )
    return table_of(table, (0, 6), caption)


def _daily(plan: Plan, names: Sequence[str], palette: Mapping[str, Style], suffix: str = "") -> list[Picture]:
    """Draw the traffic of the best option and the loss by day; quartiles are in the tooltip."""
    unit, days = plan.scenario.unit, plan.scenario.days
    played = {name: plan.played[name] for name in names}
    share, loss = _by_day(played, "share"), _by_day(played, "loss")
    top = max(float(loss["mean"].max() or 0.0), 1e-9)  # type: ignore[arg-type]
    label, own = "Traffic of the best option", {name: palette[name] for name in names}
    traffic = _days_chart(share, label, "share of the day's visitors", 1.02, days, own)
    by_day = _days_chart(loss, "Loss", f"{unit} lost so far", top * 1.05, days, own)
    seen = "The share of each day's visitors that see the best option, mean of the runs."
    lost = f"What was lost in {unit}, against the best option from the first visitor on, mean of the runs."
    return [
        Picture({"": traffic}, label, seen, f"traffic{suffix}"),
        Picture({"": by_day}, "Loss by day", lost, f"loss{suffix}"),
    ]


def _all_pictures(plan: Plan, palette: Mapping[str, Style]) -> list[Part]:
    runs = (
        "The loss of every run. Box: the middle half of the runs; line: from the 5% to the 95% quantile; "
        "diamond: the mean; triangle: the mean of the worst 5%."
    )
    earned = "What a policy loses, against the share of runs with a verdict. Lower right is better."
    return [
        Beside(_daily(plan, plan.table["policy"].to_list(), palette, "-all")),
        Picture({"": _losses_chart(plan, palette)}, "Loss of every run", runs, "losses"),
        Picture({"": _proving_chart(plan, palette)}, "Loss and verdict", earned, "proving"),
    ]


def _split_words(plan: Plan) -> list[Text]:
    scenario = plan.scenario
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
    return Table(list(table[0]), rows, caption=PLAN_COLUMNS)


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
    lines = table.sort("x", maintain_order=True)
    return line_chart(lines, title, x, y, palette=palette, bands=False, unit="day")


def _proved_chart(plan: Plan, names: Sequence[str], palette: Mapping[str, Style]) -> alt.LayerChart:
    days = plan.scenario.days
    parts = [
        pl.DataFrame({"policy": name, "x": np.arange(1, days + 1), "mean": plan.played[name].proved(days)})
        for name in names
    ]
    table, own = pl.concat(parts), {name: palette[name] for name in names}
    table = table.with_columns(low=pl.col("mean"), high=pl.col("mean"))
    return _days_chart(table, "Verdict by day", "share of runs with a verdict", 1.02, days, own)


def _proving_chart(plan: Plan, palette: Mapping[str, Style]) -> alt.LayerChart:
    """Draw the loss of each policy against the share of its runs with a verdict."""
    table = plan.table.select("policy", "loss", "verdict")
    names = table["policy"].to_list()
    colours = alt.Scale(domain=names, range=[palette[name].colour for name in names])
    base = alt.Chart(inline_data(table)).encode(
        x=alt.X("verdict:Q", title="share of runs with a verdict", scale=alt.Scale(domain=[0, 1])),
        y=alt.Y("loss:Q", title=f"{plan.scenario.unit} lost", scale=alt.Scale(zero=True)),
        color=alt.Color("policy:N", legend=None, scale=colours),
    )
    point = base.mark_point(filled=True, size=80, opacity=1)
    label = base.mark_text(align="left", dx=8).encode(text="policy:N").properties(name="labels-text")
    return layer_chart([point, label], "Loss and verdict", palette)


def _losses_chart(plan: Plan, palette: Mapping[str, Style]) -> alt.LayerChart:
    finals = pl.concat(
        pl.DataFrame({"policy": name, "regret": runs.loss[:, -1]}) for name, runs in plan.played.items()
    )
    losses = {name: regret_statistics(runs.loss[:, -1]) for name, runs in plan.played.items()}
    summary = pl.DataFrame([{"policy": name, **statistics} for name, statistics in losses.items()])
    words = f"{plan.scenario.unit} lost in a run"
    return runs_chart(finals, summary, "Loss of every run", palette=palette, words=words)

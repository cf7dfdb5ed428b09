"""The report of an experiment: what ``lowregret report`` writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from lowregret._common.progress import Report, ignore
from lowregret._common.text import count, file_names, unknown_name_message
from lowregret.analysis.comparison import HIGHER, HIGHER_HERE, INCONCLUSIVE, LOWER, LOWER_HERE, compare
from lowregret.analysis.power import LEVEL
from lowregret.analysis.ranks import average_ranks, ranks
from lowregret.analysis.summary import summarise, summarise_curves
from lowregret.analysis.tables import Tables
from lowregret.errors import InputError
from lowregret.reporting.bands import BANDS
from lowregret.reporting.chart_style import DEFAULT_FOCUS, MAX_IN_FOCUS
from lowregret.reporting.curve_charts import arms_left_chart, pulls_chart, regret_chart
from lowregret.reporting.headline import headline
from lowregret.reporting.number_format import format_interval, format_number, lost_runs, p_value, rank_text
from lowregret.reporting.page import FIGURE_FORMATS, write_page
from lowregret.reporting.page_parts import Beside, Cell, Fold, Part, Picture, Section, Table, Text, table_of
from lowregret.reporting.plots_extra import alt
from lowregret.reporting.policy_styles import Style, styles
from lowregret.reporting.row_charts import differences_chart, runs_chart, tail_chart
from lowregret.reporting.sweep_charts import sweep_chart, sweep_tables, swept_parameters

SIGNS = {LOWER: "▼", HIGHER: "▲", LOWER_HERE: "▽", HIGHER_HERE: "△", INCONCLUSIVE: "≈"}


def summary_table(summary: pl.DataFrame, ranks: Mapping[str, str]) -> Table:
    different = summary["runs"].n_unique() > 1
    extra = [name for name in summary.columns if name == "realised_regret" or f"{name} se" in summary.columns]
    heads = {name: name.removeprefix("metric.").replace("realised_regret", "realised") for name in extra}
    rows = [
        {
            "policy": row["policy"],
            **({"runs": f"{row['runs']:,}"} if different else {}),
            "mean": format_number(row["mean"]),
            "95% interval": format_interval(row["low"], row["high"]),
            "median": format_number(row["median"]),
            "5% to 95%": format_interval(row["p05"], row["p95"]),
            "worst 5%": format_number(row["worst05"])
            + f" ({format_interval(row['worst05_low'], row['worst05_high'])})",
            "rank": ranks.get(row["policy"], "-"),
            "best arm pulled": f"{row['best_arm_pulls']:.1%}",
            "best arm found": f"{row['best_arm_found']:.1%}",
            "optimal arm eliminated": lost_runs(row),
            **{head: format_number(row[name]) for name, head in heads.items()},
        }
        for row in summary.sort("mean").to_dicts()
    ]
    caption = (
        "Final regret, with the 95% interval of its mean; the intervals allow for unseen runs at the largest "
        "possible regret. Rank: its mean over the runs, with the standard error. Worst 5%: the mean of the "
        "worst 5% of the runs, with its 95% interval. Best arm "
        "pulled: the share of pulls of an optimal arm; found: the share of runs in which one was pulled "
        "most. Eliminated: the number of runs in which no optimal arm was left, with the upper 95% limit "
        "of their share."
    )
    return table_of(rows, caption=caption)


def verdict_table(comparison: pl.DataFrame) -> Table:
    rows = [
        {
            "policy": row["policy"],
            "verdict": Cell(row["verdict"], "quiet" if row["verdict"] == INCONCLUSIVE else ""),
            "difference": format_number(row["difference"]),
            "95% interval": format_interval(row["low"], row["high"]),
            "p": p_value(row["p_bounded"]),
            "runs needed": format_number(row["runs_needed"]),
            "wins": f"{row['wins']:.0%}",
            "Student": format_interval(row["student_low"], row["student_high"]),
            "p (t test)": p_value(row["p_holm"]),
        }
        for row in comparison.sort("difference").to_dicts()
    ]
    caption = (
        f"Against {comparison['baseline'][0]}, on the same rewards. The 95% interval and p allow for unseen "
        "runs at the largest possible regret, and give the verdict. Lower or higher in these runs: by "
        "Student's interval and the t test, which see no failure that did not occur; rare failures are not "
        "excluded. Both p are adjusted (Holm), intervals are not. Runs needed: about so many for a verdict "
        "with probability 0.8, if the difference and the standard deviation in these runs are the true ones. "
        "Wins: the share of runs with the lower regret."
    )
    return table_of(rows, (0, 1), caption)


def overview_table(
    summary: pl.DataFrame, average_ranks: pl.DataFrame, comparison: pl.DataFrame | None = None
) -> Table:
    """Return a table of all environments: the mean regrets, each with the symbol of its verdict."""
    environments = summary["environment"].unique(maintain_order=True).to_list()
    ranks = {row["policy"]: row for row in average_ranks.to_dicts()}
    means = {(row["environment"], row["policy"]): row["mean"] for row in summary.to_dicts()}
    rows_of = [] if comparison is None else comparison.to_dicts()
    signs = {(row["environment"], row["policy"]): SIGNS[row["verdict"]] for row in rows_of}
    lowest = dict(summary.group_by("environment").agg(pl.col("mean").min()).iter_rows())
    policies = summary["policy"].unique(maintain_order=True).to_list()
    rows = []
    for policy in [*ranks, *(policy for policy in policies if policy not in ranks)]:
        cells: list[str | Cell] = [policy, rank_text(ranks[policy]) if policy in ranks else "-"]
        for environment in environments:
            mean, sign = means.get((environment, policy)), signs.get((environment, policy), "")
            best = mean is not None and mean == lowest[environment]
            cells.append(Cell(format_number(mean), "best" if best else "", sign or " " * bool(rows_of)))
        rows.append(cells)
    caption = (
        "Mean final regret; bold is the lowest. Ranks are averaged over runs and environments; in "
        "brackets the standard error over runs."
    )
    if rows_of:
        baseline = rows_of[0]["baseline"]
        caption += f" ▼ lower, ▲ higher regret than {baseline} ({LEVEL}, Holm); ▽ lower, △ higher in these "
        caption += "runs: rare failures are not excluded; ≈ inconclusive."
    return Table(["policy", "mean rank", *environments], rows, caption=caption)


MAX_VIEWS = 12
"""A picture has buttons for at most this many combinations of parameters."""
MAX_OPEN_SECTIONS = 6
"""With more environments than this their sections are folded."""
IN_GREY = (
    f" In color: the baseline and the {DEFAULT_FOCUS} policies of lowest regret, or those chosen in the "
    "list of policies."
)
REGRET_VIEWS = (("linear", False, False), ("log time", True, False), ("log both", True, True))
"""The views of the regret: their names, and which axes are logarithmic."""


@dataclass(frozen=True)
class EnvironmentResults:
    """The results of one environment."""

    name: str
    file: str
    palette: Mapping[str, Style]
    summary: pl.DataFrame
    curve: pl.DataFrame
    finals: pl.DataFrame
    pulls: pl.DataFrame
    events: pl.DataFrame
    arms: pl.DataFrame
    ranks: Mapping[str, str]
    comparison: pl.DataFrame | None
    focus: Sequence[str] = ()
    """The policies in colour where they are too many for all to be."""
    delay_note: str = ""
    """The delay and the batches in words."""
    band: str = "interval"

    def title(self, words: str) -> str:
        """Append the environment to the title of a picture, since its file may be shown alone."""
        return f"{words} · {self.name}"


def write_report(
    tables: Tables,
    folder: str | Path,
    baseline: str | None = None,
    *,
    figures: str = "svg",
    band: str = "interval",
    report: Report = ignore,
    refresh: int | None = None,
) -> list[Path]:
    """Write the page ``report.html`` and its figures to a folder; see `lowregret.Results.report`."""
    if figures not in FIGURE_FORMATS:
        raise InputError(f"report: figures must be none, svg or all, got {figures!r}")
    return write_page(
        Path(folder) / "report.html",
        tables.name,
        introduction(tables),
        report_sections(tables, baseline, band),
        formats=FIGURE_FORMATS[figures],
        refresh=refresh,
        report=report,
    )


def introduction(tables: Tables) -> list[str | Text]:
    """Return what came out, in a sentence, and a paragraph on the size of the experiment."""
    finals = tables.finals
    counts = finals.group_by("environment", "policy").len()["len"].to_list()
    least, most = min(counts), max(counts)
    runs = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    policies, environments = finals["policy"].n_unique(), finals["environment"].n_unique()
    size = f"{count(policies, 'policy', 'policies')} in {count(environments, 'environment')}"
    size += f", {runs} run{'s' * (most > 1)} each"
    seed = "" if tables.seed is None else f", seed {tables.seed}"
    if engine := tables.description.other_engine:
        seed += f', played by engine="{engine}"'
    notice: list[str | Text] = []
    if tables.planned_runs is not None:
        share = f"{len(finals):,} of {tables.planned_runs:,} runs ({len(finals) / tables.planned_runs:.0%})"
        both = (
            "Comparisons use the runs that both policies have. Verdicts are provisional: if you stop as soon "
            f"as one appears, it is wrong more often than in {LEVEL} of cases."
        )
        notice.append(Text(f"This experiment is unfinished: {share} are done. {both}", "notice"))
    sentence = headline(tables)
    return [
        *([Text(sentence, "headline")] if sentence else []),
        *notice,
        f"{size}{seed}. Regret is pseudo-regret: the sum of the gaps of the arms pulled. In each run all "
        "policies see the same rewards, so they are compared run by run.",
    ]


def report_sections(tables: Tables, baseline: str | None = None, band: str = "interval") -> list[Section]:
    if tables.finals.is_empty():
        raise InputError("report: these results have no runs")
    summary, curves, placed = summarise(tables), summarise_curves(tables), ranks(tables)
    palette = styles(summary["policy"].to_list(), tables.original_names)
    chosen = _baseline(summary, baseline)
    comparison = None if chosen is None else compare(tables, chosen)
    environments = summary["environment"].unique(maintain_order=True).to_list()
    files = file_names(environments)
    sections = []
    if len(environments) > 1:
        sections.append(Section("Overview", [overview_table(summary, average_ranks(tables), comparison)]))
    if swept := sweep_pictures(summary, tables, palette, _focus(summary, chosen), band):
        sections.append(Section("Parameters", [Beside(swept)]))
    for name in environments:
        part = EnvironmentResults(
            name=name,
            file=files[name],
            palette=palette,
            summary=summary.filter(environment=name),
            curve=curves.filter(environment=name),
            finals=tables.finals.filter(environment=name),
            pulls=tables.pulls.filter(environment=name),
            events=tables.events.filter(environment=name),
            arms=tables.arms.filter(environment=name),
            ranks={row["policy"]: rank_text(row) for row in placed.filter(environment=name).to_dicts()},
            comparison=None if comparison is None else comparison.filter(environment=name),
            focus=_focus(summary.filter(environment=name), chosen),
            delay_note=tables.delay_notes.get(name, ""),
            band=band,
        )
        # altair validates what a chart is made of; tests do so, and here it is slow
        with alt.utils.schemapi.debug_mode(False):
            parts = environment_parts(part)
        sections.append(Section(name, parts, folded=len(environments) > MAX_OPEN_SECTIONS))
    return sections


def sweep_pictures(
    summary: pl.DataFrame, tables: Tables, palette: Mapping[str, Style], focus: Sequence[str], band: str
) -> list[Picture]:
    pictures = []
    files = file_names(swept_parameters(tables.parameters))
    for parameter, file in files.items():
        parts = sweep_tables(summary, tables.parameters, parameter, band)
        views = {}
        for name, part in list(parts.items())[:MAX_VIEWS]:
            title = f"Final regret against {parameter}" + f" · {name}" * bool(name)
            moving = part.filter(pl.col("mean").n_unique().over("policy") > 1)["policy"].unique().to_list()
            wanted = [*focus, *moving] if len(moving) <= DEFAULT_FOCUS else focus
            views[name] = sweep_chart(part, parameter, title, palette=palette, focus=wanted)
        if views:
            caption = f"Mean final regret {BANDS[band][2]}."
            if len(parts) > MAX_VIEWS:
                caption += f" The first {MAX_VIEWS} of {len(parts)} combinations."
            label = f"Final regret against {parameter}"
            pictures.append(Picture(views, label, caption, f"against-{file}"))
    return pictures


def environment_parts(part: EnvironmentResults) -> list[Part]:
    horizon, runs = int(part.curve["t"].to_numpy().max()), int(part.summary["runs"].to_numpy().max())
    delay = f", {part.delay_note}" if part.delay_note else ""
    facts = f"{len(part.arms)} arms, horizon {horizon:,}, {runs:,} run{'s' * (runs > 1)}{delay}."
    outcomes, pulls = [regret_picture(part), runs_picture(part)], [pulls_picture(part)]
    tables: list[Part] = [summary_table(part.summary, part.ranks)]
    if part.comparison is not None and len(part.comparison):
        outcomes.insert(1, differences_picture(part, part.comparison))
        tables.append(Fold("Comparisons in numbers", [verdict_table(part.comparison)]))
    if len(part.events):
        pulls.append(arms_left_picture(part, horizon))
    return [Text(facts, "facts"), Beside(outcomes), *tables, Beside(pulls)]


def regret_picture(part: EnvironmentResults, bounds: pl.DataFrame | None = None, more: str = "") -> Picture:
    """Return charts of the regret over time, with linear and logarithmic axes, and bounds."""
    title = part.title("Regret over time")
    shared: Any = {"band": part.band, "palette": part.palette, "bounds": bounds, "focus": part.focus}
    views = {
        name: regret_chart(part.curve, title, log_time=log_time, log_regret=log_regret, **shared)
        for name, log_time, log_regret in REGRET_VIEWS
    }
    grey = len(part.summary) > MAX_IN_FOCUS
    caption = f"Mean regret {BANDS[part.band][2]}.{more}{IN_GREY * grey}"
    return Picture(views, "Regret over time", caption, f"{part.file}-regret")


def differences_picture(part: EnvironmentResults, comparison: pl.DataFrame) -> Picture:
    label = f"Difference from {comparison['baseline'][0]}"
    chart = differences_chart(comparison, part.title(label), palette=part.palette)
    caption = (
        "Mean paired difference of the final regrets with its 95% interval: the thin line allows for unseen "
        "runs at the largest possible regret and gives the verdict, the bar (Student) does not. The "
        f"level is {LEVEL} after Holm's correction for all comparisons on this page."
    )
    return Picture({"": chart}, label, caption, f"{part.file}-differences")


def runs_picture(part: EnvironmentResults) -> Picture:
    """Return charts of the final regrets of the runs and of their tail."""
    title, tail = part.title("Final regret of the runs"), part.title("Tail of the final regret")
    views = {
        "runs": runs_chart(part.finals, part.summary, title, palette=part.palette),
        "tail": tail_chart(part.finals, tail, palette=part.palette, focus=part.focus),
    }
    caption = (
        "Box: the middle half of the runs, with the median. Line: from the 5% to the 95% quantile. Strokes: "
        "the runs beyond it, or all if they are few. Diamond: the mean. Triangle: the mean of the worst 5%."
    )
    return Picture(views, "Final regret of the runs", caption, f"{part.file}-runs")


def pulls_picture(part: EnvironmentResults) -> Picture:
    title = part.title("Pulls per arm")
    chart = pulls_chart(part.pulls, part.arms, title, palette=part.palette, focus=part.focus)
    caption = "Mean pulls of one arm in a run; arms with the same mean, or close in rank, are put together."
    return Picture({"": chart}, "Pulls per arm", caption, f"{part.file}-pulls")


def arms_left_picture(part: EnvironmentResults, horizon: int) -> Picture:
    title, eliminating = part.title("Arms left"), set(part.events["policy"])
    runs = {row["policy"]: row["runs"] for row in part.summary.to_dicts() if row["policy"] in eliminating}
    arms = len(part.arms)
    chart = arms_left_chart(part.events, runs, arms, horizon, title, palette=part.palette, focus=part.focus)
    caption = "How many arms a policy that eliminates arms has left, mean over the runs."
    return Picture({"": chart}, "Arms left", caption, f"{part.file}-arms-left")


def _focus(summary: pl.DataFrame, baseline: str | None) -> list[str]:
    """Choose the policies in focus in one environment: the baseline, and those of lowest mean regret."""
    lowest = summary.sort("mean")["policy"].head(DEFAULT_FOCUS).to_list()
    return lowest if baseline is None else [*lowest, baseline]


def _baseline(summary: pl.DataFrame, wanted: str | None) -> str | None:
    """Choose the baseline: the first of the policies that occur in most environments."""
    policies = summary["policy"].unique(maintain_order=True).to_list()
    if wanted is not None and wanted not in policies:
        available = f"these results have {', '.join(policies)}"
        raise InputError(f"report: {unknown_name_message('policy', wanted, policies, available)}")
    if len(policies) < 2 or wanted is not None:
        return wanted if len(policies) > 1 else None
    spread = summary.group_by("policy", maintain_order=True).agg(pl.col("environment").n_unique())
    return str(spread.sort("environment", descending=True, maintain_order=True)["policy"][0])

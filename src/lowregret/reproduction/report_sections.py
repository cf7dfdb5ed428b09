"""The sections and figures of the page."""

from collections.abc import Mapping

import polars as pl

from lowregret.reporting.curve_charts import regret_chart
from lowregret.reporting.experiment_report import (
    EnvironmentResults,
    arms_left_picture,
    pulls_picture,
    regret_picture,
    runs_picture,
)
from lowregret.reporting.page_parts import Beside, Fold, Part, Picture, Section, Text
from lowregret.reporting.policy_styles import Style, styles
from lowregret.reproduction import report_tables as tables
from lowregret.reproduction.agreement import pivot_readings
from lowregret.reproduction.claims import GAUSSIAN_NAMES
from lowregret.reproduction.evaluation import Evaluation
from lowregret.reproduction.interpretations import AS_PLOTTED, AS_PRINTED, RELEASED_WIDTH, configurations
from lowregret.reproduction.plotted import RELEASED, paper_testbed
from lowregret.reproduction.report_text import FIGURES, MATCHING, NOTES, READINGS, THEORY
from lowregret.reproduction.stated import PAPER, UNIFORM_PLAY, PaperExperiment

RELEASED_LABEL = "EUCBV, released width"


def page_sections(evaluation: Evaluation) -> list[Section]:
    """Return the sections of the page: summary, figures, experiments, curves, claims, theory."""
    printed = evaluation.readings.filter(reading=AS_PRINTED)["experiment"].to_list()
    experiments = [experiment for experiment in PAPER if experiment.number in printed]
    palette = paper_palette()
    figures = figure_parts(evaluation.points, evaluation.curves, experiments, palette)
    headline: list[Part] = [
        tables.headline_table(evaluation.readings),
        *map(Text, tables.summary(evaluation)),
        *tables.uniform_text(evaluation.uniform),
    ]
    sections = [Section("Summary", headline), Section("Figures of the paper, and ours", figures)]
    for experiment in experiments:
        shown = printed_results(evaluation, experiment, palette)
        parts = experiment_parts(evaluation, experiment, shown)
        sections.append(Section(f"Experiment {experiment.number}: {experiment.title}", parts))
    matches, uniform = evaluation.matches, tables.uniform_text(evaluation.uniform)
    theory = [tables.bounds_table(evaluation.bounds), tables.estimates_table(evaluation.estimates)]
    details = Fold("What is read in the scripts, and what is inferred", [tables.details_table(matches)])
    published: list[Part] = [*map(Text, MATCHING), tables.curves_table(matches), details]
    comparisons = Fold("Every comparison", [tables.comparisons_table(evaluation.comparisons)])
    return [
        *sections,
        Section("Published curves", [*published, tables.points_table(evaluation.points)]),
        Section("Claims", [*uniform, tables.claims_table(evaluation), comparisons]),
        Section("Theory", [*map(Text, THEORY), *theory]),
    ]


def paper_palette() -> dict[str, Style]:
    """Return one line style per policy of the paper; Gaussian versions share that of their policy."""
    names = {name: ours for experiment in PAPER for name, ours in experiment.policies.items()}
    names = {name: ours for name, ours in names.items() if name not in GAUSSIAN_NAMES.values()}
    names[RELEASED_LABEL] = RELEASED
    by_policy = styles(names.values())
    palette = {name: by_policy[ours] for name, ours in names.items()}
    return palette | {gaussian: palette[name] for name, gaussian in GAUSSIAN_NAMES.items()}


def figure_parts(
    points: pl.DataFrame,
    curves: pl.DataFrame,
    experiments: list[PaperExperiment],
    palette: Mapping[str, Style],
) -> list[Part]:
    """Draw the figures of the paper, two per row: our curves as lines, published points as circles."""
    drawn = []
    for experiment in experiments:
        number, title = experiment.number, f"Experiment {experiment.number}: {experiment.title}"
        ours = paper_names(curves, number, AS_PLOTTED)
        published = points.filter(experiment=number).select("policy", "t", mean="published")
        chart = regret_chart(ours, title, band="interval", palette=palette, points=published)
        drawn.append(Picture({"": chart}, title, name=f"figure-experiment-{number}"))
    rows = [Beside(drawn[start : start + 2]) for start in range(0, len(drawn), 2)]
    return [*map(Text, FIGURES), *rows, Fold("Configurations as plotted", [*map(Text, READINGS)])]


def experiment_parts(
    evaluation: Evaluation, experiment: PaperExperiment, printed: EnvironmentResults
) -> list[Part]:
    """Show one experiment as printed: regret, its distribution, active arms, pulls, and all readings."""
    bandit, runs = paper_testbed(experiment.number), printed.summary["runs"].to_numpy()
    readings = evaluation.readings.filter(experiment=experiment.number)
    lines = reference_lines(evaluation.bounds, experiment)
    names = UNIFORM_PLAY
    if lines["label"].n_unique() > 1:
        names += ", and the constant of Lai and Robbins times log t, an asymptotic lower bound"
    seed = evaluation.results.seed
    more_runs = f" ({runs.max():,} of the released width)" if runs.max() > runs.min() else ""
    setting = f"{len(bandit)} arms, horizon {bandit.horizon:,}, {runs.min():,} runs{more_runs}, seed {seed}."
    more: list[Part] = [pulls_picture(printed)]
    if len(printed.events):
        more.insert(0, arms_left_picture(printed, bandit.horizon or 0))
    return [
        Text(setting, "facts"),
        tables.readings_table(pivot_readings(readings)),
        Text(NOTES[experiment.number]),
        tables.eliminations_text(readings),
        *tables.uniform_text(evaluation.uniform.filter(experiment=experiment.number)),
        regret_picture(printed, lines, f" Dotted: {names}."),
        runs_picture(printed),
        Fold("Active arms, and pulls per arm", more),
    ]


def printed_results(
    evaluation: Evaluation, experiment: PaperExperiment, palette: Mapping[str, Style]
) -> EnvironmentResults:
    """Select one experiment as printed, and EUCBV with the released width, under the paper's names."""
    number, results = experiment.number, evaluation.results

    def select(table: pl.DataFrame) -> pl.DataFrame:
        return paper_names(table, number, AS_PRINTED, RELEASED_WIDTH).filter(pl.col("policy") != UNIFORM_PLAY)

    return EnvironmentResults(
        name=f"Experiment {number}, as printed",
        file=f"experiment-{number}",
        palette=palette,
        summary=select(evaluation.summary),
        curve=select(evaluation.curves),
        finals=select(results.finals),
        pulls=select(results.pulls),
        events=select(results.events),
        arms=results.arms.filter(environment=paper_testbed(number).name),
        ranks={},
        comparison=None,
    )


def reference_lines(bounds: pl.DataFrame, experiment: PaperExperiment) -> pl.DataFrame:
    """Return the regret of uniform play, and the bound of Lai and Robbins where it is lower."""
    bandit = paper_testbed(experiment.number)
    horizon, rate = bandit.horizon or 1, float(bandit.gaps.mean())
    times = pl.DataFrame({"t": [horizon * step // 50 for step in range(1, 51)]})
    lines = [times.select(pl.lit(UNIFORM_PLAY).alias("label"), "t", mean=pl.col("t") * rate)]
    lower = bounds.filter(kind="lower bound", experiment=experiment.number)["value"].to_list()
    if lower and lower[0] is not None and lower[0] < rate * horizon:
        growth = pl.col("t").log() / pl.lit(horizon).log() * lower[0]
        lines.append(times.select(pl.lit("Lai and Robbins").alias("label"), "t", mean=growth))
    return pl.concat(lines)


def paper_names(table: pl.DataFrame, number: int, *readings: str) -> pl.DataFrame:
    """Select one experiment in some readings, with the paper's names of its policies."""
    rows = [
        (case.environment, case.our_policy, RELEASED_LABEL if case.reading == RELEASED_WIDTH else case.policy)
        for case in configurations(number)
        if case.reading in readings
    ]
    names = pl.DataFrame(rows, schema=["environment", "policy", "label"], orient="row")
    joined = names.join(table, on=["environment", "policy"], maintain_order="left_right")
    return joined.drop("policy").rename({"label": "policy"})

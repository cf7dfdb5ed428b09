"""The sections, figures and prose of the page."""

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
from lowregret.reproduction.claims import GAUSSIAN_NAMES
from lowregret.reproduction.evaluation import Evaluation, pivot_readings
from lowregret.reproduction.interpretations import AS_PLOTTED, AS_PRINTED, RELEASED_WIDTH, configurations
from lowregret.reproduction.plotted import RELEASED, paper_testbed
from lowregret.reproduction.stated import PAPER, UNIFORM_PLAY, PaperExperiment

TITLE = "Reproduction of the EUCBV paper"

INTRODUCTION = (
    "Mukherjee, Naveen, Sudarsanam and Ravindran, Efficient-UCBV: An Almost Optimal Algorithm using Variance "
    "Estimates (AAAI 2018), compare EUCBV with other policies on four testbeds and show 30 regret curves. "
    "This page repeats all experiments and compares the results with the published ones.",
    "Each experiment is read in three ways. As printed: Algorithm 1 and every policy named in the text, on "
    "the testbed as stated in the text. Released width: the same testbed, and EUCBV with the width, the "
    "integer psi and the first deadline of the code released with the paper. As plotted: for each published "
    "curve, what its released script computes, on the testbed of that script.",
    "Regret is pseudo-regret, the sum of the gaps of the pulled arms. The released files contain realised "
    "regret, which has the same mean and a larger variance. In each run all policies see the same rewards, "
    "so comparisons are paired. Statements about the released code come from reading it (GitHub "
    "Subhojyoti/EUCBV, commit 7f693c7, folder AAAI2018/codes). That the authors released scripts and result "
    "files makes this comparison possible. Whether the figures were made with exactly this commit is not "
    "known; where our points agree with theirs, it is likely.",
)

FIGURES = (
    "Lines: our means over the runs as plotted, with 95% intervals. Circles: points of the published curves.",
)

MATCHING = (
    "Every published point of a curve is compared with our mean. The published values are means of 100 runs, "
    "rounded to 0.01, and the spread of these runs was not released. The values are those of the released "
    "files, so they contain no error of reading a figure.",
)

READINGS = (
    "As plotted, experiment 1: the testbed is the stated one. EUCBV has the released width, MOSS is the "
    "anytime version, and KLUCB+ is KL-UCB. The scripts of MOSS, UCB1, OCUCB and TS as released are set up "
    "for other testbeds; for them the testbed is that of the text. For MOSS the version and for UCB-V the "
    "formula of the variance are inferred from the published regret.",
    "As plotted, experiments 2 to 4: the script of EUCBV sets all variances to 0 before the first pull, so "
    "its runs are deterministic. All other scripts take the stated variances for standard deviations. In "
    "experiment 2 the scripts of UCB1, MOSS, OCUCB, KLUCB-G+ and BU-G exchange the sizes of the two groups "
    "of suboptimal arms: 33 of mean 0.07 and 66 of mean 0.01, where the text has 66 and 33.",
    "As plotted, UCB-V, TS-G and UCB-Improved: the scripts of UCB-V add the squared rewards of all arms to "
    "those of the last one, those of TS-G sample with standard deviation 1/n in place of 1/sqrt(n), and that "
    "of UCB-Improved makes n_m more pulls of each arm in round m in place of n_m in total.",
    "The paper draws the variances of most arms of experiments 3 and 4 at random and does not print them, "
    "and the files with the drawn values were not released; here they are drawn once, with a fixed seed.",
)

NOTES = {
    1: (
        "The script of the published EUCBV curve has the released width: log(psi M eps) with M = 7 and psi = "
        "150 in place of the printed log(psi T eps). This makes its confidence intervals much shorter."
    ),
    2: (
        "The published EUCBV curve has the released width and no noise; simulated in this way, it agrees "
        "with every published point to 0.01. With the released width and the stated noise many runs "
        "eliminate the optimal arm; they form the long tail of the final regrets below."
    ),
    3: (
        "As in experiment 2, the published EUCBV curve has the released width and no noise, and our curve "
        "agrees with it to 0.01 under these conditions."
    ),
    4: (
        "As in experiments 2 and 3, the published EUCBV curve has the released width and no noise, and our "
        "curve agrees with it to 0.01 under these conditions."
    ),
}

THEORY = (
    "The bounds of the paper contain unstated constants (C_0, C_3), which are printed beside the values. A "
    "bound is vacuous if it exceeds T times the largest gap, which the regret of no policy exceeds. All "
    "bounds are vacuous in all four experiments, so the figures above show none of them. As printed, Theorem "
    "1 does not hold: two arms without noise refute it for large T. docs/theory.md derives both.",
)


RELEASED_LABEL = "EUCBV, released width"


def page_sections(evaluation: Evaluation) -> list[Section]:
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

"""What the EUCBV paper's page adds: verdicts on curves and groups of claims, regret by reading, theory."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import polars as pl
from lemmas import elimination_estimate, estimate_table, lemma_3_estimates

import lowregret as lr
from lowregret.analysis.equivalence import MATCHED, NOT_MATCHED, VERDICTS, Agreement, judge_agreement
from lowregret.analysis.summary import summarise
from lowregret.reporting.experiment_report import (
    EnvironmentResults,
    arms_left_picture,
    pulls_picture,
    regret_picture,
    runs_picture,
)
from lowregret.reporting.number_format import format_number
from lowregret.reporting.page_parts import Cell, Fold, Part, Section, Table, Text
from lowregret.reproductions.claims import VERDICT_COLUMNS, count_verdicts
from lowregret.reproductions.numbers import compare_numbers, our_policy, reason
from lowregret.reproductions.page import (
    Evaluation,
    More,
    format_with_error,
    palette,
    table_of_numbers,
    verdict_cell,
)
from lowregret.reproductions.published import Point
from lowregret.reproductions.sheet import Sheet
from lowregret.results import Results

PLOTTED, PRINTED, RELEASED_WIDTH = "as plotted", "as printed", "released width"
RELEASED = "EUCBV(width='released')"
RELEASED_LABEL = "EUCBV, released width"
UNIFORM_PLAY = "uniform play"
NEAR_UNIFORM = 10.0
"""A policy ends near uniform play if its regret differs by at most this percentage. The threshold is ours."""
LEMMA_3_DRAWS = 100_000
ALL_GROUPS = "All comparisons"
YES_NO = {True: Cell("yes"), False: Cell("no", "best")}
ONLY_OF_POINTS = ("value", "t", "sd", "reading_error", "low", "high", "beyond", "reach")
CURVES = (
    "Published and our numbers, of a curve at its last point. Within: the largest end of the 90% "
    "intervals of the difference, in percent. The intervals contain the errors of both numbers; that of "
    "the published one is by its standard deviation, or estimated from our runs. Matched: within "
    "{margin} at all points. Not matched: at some point the difference exceeds {margin} at a joint "
    "level of 95%. Published too imprecise: the published number cannot decide, whatever our runs are. "
    "The margin is ours. Others: the other policies in the same environment that this rule does not "
    "exclude; some of them match too. A match discriminates if all others are excluded. Chosen: the "
    "configuration was chosen for the number that it yields."
)
GROUPS = "Claims overlap, so each group counts its comparisons once, and so do the last lines over all."

GAUSSIAN = ("EUCBV", "MOSS", "OCUCB", "UCB-V", "TS-G", "BU-G")
WEAK = ("KLUCB-G+", "DMED", "UCB1", "UCB-Improved", "Median Elimination")
BERNOULLI = ("EUCBV", "MOSS", "OCUCB", "UCB-V", "KLUCB+", "DMED", "UCB1", "TS", "BU", "UCB-Improved")
POLICIES = {1: BERNOULLI, 2: (*GAUSSIAN, *WEAK), 3: (*GAUSSIAN, *WEAK), 4: GAUSSIAN}
"""The policies that the text names, by experiment, under their names in the paper."""

_NO_NOISE = (
    "{} the published EUCBV curve has the released width and no noise, and our curve agrees with it to 0.01 "
    "under these conditions."
)
NOTES = {
    1: "The script of the published EUCBV curve has the released width: log(psi M eps) with M = 7 and "
    "psi = 150 instead of the printed log(psi T eps). This makes its confidence intervals much shorter.",
    2: "The published EUCBV curve has the released width and no noise; simulated in this way, it agrees with "
    "every published point to 0.01. With the released width and the stated noise many runs eliminate the "
    "optimal "
    "arm; they form the long tail of the final regrets below.",
    3: _NO_NOISE.format("As in experiment 2,"),
    4: _NO_NOISE.format("As in experiments 2 and 3,"),
}
THEORY = (
    "The bounds of the paper contain unstated constants (C_0, C_3), which are printed beside the values. A "
    "bound is vacuous if it exceeds T times the largest gap, which the regret of no policy exceeds. All "
    "bounds are vacuous in all four experiments, so the figures above show none of them. As printed, "
    "Theorem 1 does not hold: two arms without noise refute it for large T. "
    "docs/explanation/theory.md derives both."
)


def more(evaluation: Evaluation) -> More:
    """Return what the page adds, and its tables."""
    evaluation.tables["curves"] = judge_curves(evaluation.sheet, evaluation.results)
    evaluation.tables["groups"] = count_groups(evaluation.sheet, evaluation.tables["comparisons"])
    summary = summarise(evaluation.results)
    readings = regret_by_reading(evaluation, summary)
    played = readings.filter(reading=PRINTED)["experiment"].unique(maintain_order=True).to_list()
    uniform = near_uniform_play(readings)
    bounds = pl.concat(numbered(n, lr.bounds(lr.paper(n))) for n in played)
    estimates = pl.concat(numbered(n, estimates_of(n, readings)) for n in played)
    sections = []
    for number in played:
        title = evaluation.sheet.titles[f"Figure {number}"]
        sections.append(
            Section(title, experiment_parts(evaluation, summary, readings, uniform, bounds, number))
        )
    theory = Section("Theory", [Text(THEORY), bounds_table(bounds), estimates_table(estimates)])
    tables = {"readings": readings, "uniform": uniform, "bounds": bounds, "estimates": estimates}
    curves, groups = evaluation.tables["curves"], evaluation.tables["groups"]
    margin = f"{evaluation.sheet.margin:g}%"
    near, counts = uniform_text(uniform), []
    words = [Text(curves_text(curves, margin))]
    if len(groups):
        words.append(Text(groups_text(evaluation.sheet, groups)))
        counts.append(groups_table(evaluation.sheet, groups))
    return More(
        summary=[headline(readings), *words, *near],
        numbers=[curves_table(curves, margin)],
        claims=[*near, *counts],
        sections=sections,
        last=[theory],
        tables=tables,
    )


def judge_curves(sheet: Sheet, results: Results) -> pl.DataFrame:
    """Judge every published curve that was run. A match discriminates if all other policies are excluded."""
    curves: dict[Any, list[tuple[Point, dict[str, Agreement]]]] = defaultdict(list)
    for point, agreements in compare_numbers(sheet, results):
        if our_policy(sheet, point) in agreements:
            curves[point.curve].append((point, agreements))
    rows = []
    for points in curves.values():
        first, last, ours = points[0][0], points[-1][0], our_policy(sheet, points[0][0])
        own = [agreements[ours] for _, agreements in points]
        verdicts = {
            policy: judge_agreement([agreements[policy] for _, agreements in points], sheet.margin)
            for policy in points[0][1]
        }
        verdict = verdicts.pop(ours)
        left = sorted(
            (p for p in verdicts if verdicts[p] != NOT_MATCHED), key=lambda p: verdicts[p] != MATCHED
        )
        names = [UNIFORM_PLAY if p == "RoundRobin" else p for p in left]
        which = [name + " (matches)" * (verdicts[p] == MATCHED) for name, p in zip(names, left, strict=True)]
        row = (
            first._asdict() | own[-1]._asdict() | {"ours": ours, "points": len(own), "published": last.value}
        )
        row |= {"within": max(each.within for each in own), "verdict": verdict, "others": len(verdicts)}
        row |= {"discriminates": not left if verdict == MATCHED else None, "others_not_excluded": len(left)}
        row |= {"others_matched": [*verdicts.values()].count(MATCHED), "which": ", ".join(which)}
        row["reason"] = reason(first, max(own, key=lambda each: each.beyond), verdict)
        rows.append({name: value for name, value in row.items() if name not in ONLY_OF_POINTS})
    return pl.DataFrame(rows, infer_schema_length=None).fill_nan(None)


def curves_text(curves: pl.DataFrame, margin: str) -> str:
    """Count the verdicts on the curves."""
    matched = curves.filter(verdict=MATCHED)
    alone, chosen = (matched.filter(**{key: True}).height for key in ("discriminates", "chosen"))
    words = (
        f"Of the {len(curves)} published curves {len(matched)} are matched as plotted, to {margin} at all "
    )
    words += f"published points; for {alone} of these all other policies that were run are excluded"
    words += f", and {chosen} {'has' if chosen == 1 else 'have'} a chosen configuration" * bool(chosen)
    counts = ", ".join(f"{curves.filter(verdict=verdict).height} {verdict}" for verdict in VERDICTS[1:])
    return f"{words}. {counts}. Levels are not adjusted over curves."


def curves_table(curves: pl.DataFrame, margin: str) -> Table:
    def others(row: dict[str, Any]) -> Cell:
        which = f": {row['which']}" * bool(row["which"])
        return Cell(f"{row['others_not_excluded']} of {row['others']}{which}", "long")

    columns = {
        "verdict": lambda row: verdict_cell(row["verdict"], " (chosen)" * row["chosen"]),
        "discriminates": lambda row: YES_NO.get(row["discriminates"], Cell("-")),
        "within %": lambda row: "-" if row["within"] is None else f"{row['within']:.1f}",
        "published": lambda row: f"{row['published']:,.10g}",
        "ours (se)": lambda row: format_with_error(row["mean"], row["se"]),
        "others not excluded": others,
    }
    return table_of_numbers(curves, columns, (0, 1, 2, 3, 7), CURVES.format(margin=margin))


def count_groups(sheet: Sheet, comparisons: pl.DataFrame) -> pl.DataFrame:
    """Count the verdicts of each group of claims, every comparison once, and of all together."""
    claims = dict(enumerate(sheet.claims, 1))
    regret = [i for i, claim in claims.items() if claim.quantity == "regret" and claim.kind != "similar"]
    names = dict.fromkeys(claim.group for claim in sheet.claims)
    groups = {name: [i for i in claims if claims[i].group == name] for name in names}
    groups |= {ALL_GROUPS: [*claims], f"{sheet.subject} against each other policy": regret}
    rows = []
    for group, numbers in groups.items():
        own = comparisons.filter(pl.col("claim").is_in(numbers))
        if numbers is regret:
            own = own.filter(better=sheet.subject)
        counts: dict[str, Any] = {"group": group, "claims": own["claim"].n_unique()}
        once = own.unique([name for name in own.columns if name != "claim"])
        for reading in sheet.readings:
            count = count_verdicts(once.filter(reading=reading.name))
            counts |= {
                f"{reading.column}_{name}": count[verdict] for name, verdict in VERDICT_COLUMNS.items()
            }
        rows += [counts] * bool(len(own))
    return pl.DataFrame(rows)


def groups_text(sheet: Sheet, groups: pl.DataFrame) -> str:
    """Count the comparisons behind all claims, and those of EUCBV with each other policy."""
    words = "The comparisons behind 25 claims, each counted once."
    for row in groups.to_dicts()[-2:]:
        parts = []
        for reading in sheet.readings:
            held, failed, unclear = (row[f"{reading.column}_{name}"] for name in VERDICT_COLUMNS)
            total = held + failed + unclear
            parts.append(
                f"{reading.name} {held} of {total} hold, {failed} do not hold, {unclear} inconclusive"
            )
        words += f" {row['group']}: {'; '.join(parts)}."
    return words


def groups_table(sheet: Sheet, groups: pl.DataFrame) -> Table:
    """Lay out how many comparisons of each group of claims hold."""
    rows = []
    for row in groups.to_dicts():
        counts = ([row[f"{reading.column}_{name}"] for name in VERDICT_COLUMNS] for reading in sheet.readings)
        rows.append([row["group"], *(f"{count[0]} of {sum(count)} hold" for count in counts)])
    return Table(["comparisons", *(each.column for each in sheet.readings)], rows, range(3), GROUPS)


def configurations(evaluation: Evaluation) -> pl.DataFrame:
    """Return which policy of ours plays where, for each policy of the paper in each reading."""
    names, rows = evaluation.sheet.names, []
    for number, policies in POLICIES.items():
        stated = f"paper-{number}"
        rows += [(number, name, PRINTED, stated, names[name]) for name in (*policies, UNIFORM_PLAY)]
        rows.append((number, "EUCBV", RELEASED_WIDTH, stated, RELEASED))
        for row in evaluation.tables["curves"].filter(place=f"Figure {number}").to_dicts():
            rows.append((number, row["policy"], PLOTTED, row["environment"], row["ours"]))
    return pl.DataFrame(rows, ["experiment", "policy", "reading", "environment", "our_policy"], orient="row")


def regret_by_reading(evaluation: Evaluation, summary: pl.DataFrame) -> pl.DataFrame:
    """Summarise the final regret of every configuration that was run, beside the published one."""
    final = {(point.place, point.policy): point.value for point in evaluation.sheet.published}
    planned = configurations(evaluation)
    published = [final.get((f"Figure {n}", p)) for n, p in planned.select("experiment", "policy").rows()]
    planned = planned.with_columns(published=pl.Series(published, dtype=pl.Float64))
    summary = summary.rename({"policy": "our_policy"})
    return planned.join(summary, on=["environment", "our_policy"], maintain_order="left").with_columns(
        pl.selectors.float().round(9),  # a sum of equal gaps differs from their product in the last bits
        seed=pl.lit(evaluation.results.seed, pl.UInt64),
    )


def near_uniform_play(readings: pl.DataFrame) -> pl.DataFrame:
    """Count the policies whose mean regret as printed is within 10% of that of uniform play."""
    printed = readings.filter(reading=PRINTED)
    uniform = printed.filter(policy=UNIFORM_PLAY).select("experiment", uniform_play="mean")
    joined = printed.filter(pl.col("policy") != UNIFORM_PLAY).join(
        uniform, on="experiment", maintain_order="left"
    )
    distance = 100.0 * (pl.col("mean") / pl.col("uniform_play") - 1.0).abs()
    counted = joined.group_by("experiment", "uniform_play", maintain_order=True).agg(
        policies=pl.len().cast(pl.Int64), near=(distance <= NEAR_UNIFORM).sum().cast(pl.Int64)
    )
    return counted.with_columns(most=2 * pl.col("near") > pl.col("policies"))


def uniform_text(uniform: pl.DataFrame) -> list[Text]:
    """Say in which experiments policies end near uniform play, if it was run."""
    if uniform.is_empty():
        return []
    counts = "; ".join(
        f"experiment {row['experiment']}: {row['near']} of {row['policies']}" for row in uniform.to_dicts()
    )
    words = f"Policies that end within {NEAR_UNIFORM:g}% of the regret of uniform play as printed: {counts}."
    most = [str(row["experiment"]) for row in uniform.to_dicts() if row["most"]]
    if most:
        words += f" In experiment{'s' * (len(most) > 1)} {' and '.join(most)} these are most policies:"
        words += " a verdict there is about small differences between policies that have learned little."
    return [Text(words)]


def headline(readings: pl.DataFrame) -> Table:
    """Lay out EUCBV's final regret in all readings, beside MOSS and uniform play."""
    columns = [
        ("EUCBV", PLOTTED),
        ("EUCBV", RELEASED_WIDTH),
        ("EUCBV", PRINTED),
        ("MOSS", PRINTED),
        (UNIFORM_PLAY, PRINTED),
    ]
    rows = []
    for number in readings["experiment"].unique(maintain_order=True).to_list():
        own = {(row["policy"], row["reading"]): row for row in readings.filter(experiment=number).to_dicts()}
        cells = [own.get(key) for key in columns]
        published = next((row["published"] for row in cells if row), None)
        regrets = ["-" if row is None else format_with_error(row["mean"], row["se"], False) for row in cells]
        regrets = [regret.removesuffix(".00") for regret in regrets]
        rows.append([str(number), "-" if published is None else f"{published:,.2f}", *regrets])
    caption = "Mean final regret of EUCBV (standard error), beside MOSS and uniform play. As plotted, "
    caption += "experiments 2 to 4 have no noise."
    heads = ["experiment", "published", PLOTTED, RELEASED_WIDTH, PRINTED, "MOSS as printed", UNIFORM_PLAY]
    return Table(heads, rows, caption=caption)


def experiment_parts(
    evaluation: Evaluation,
    summary: pl.DataFrame,
    readings: pl.DataFrame,
    uniform: pl.DataFrame,
    bounds: pl.DataFrame,
    number: int,
) -> list[Part]:
    """Show one experiment as printed: regret, its distribution, active arms, pulls, and all readings."""
    bandit, own = lr.paper(number), readings.filter(experiment=number)
    printed = printed_results(evaluation, summary, readings, number)
    runs, lines = printed.summary["runs"].to_numpy(), reference_lines(bounds, number)
    names = UNIFORM_PLAY
    if lines["label"].n_unique() > 1:
        names += ", and the constant of Lai and Robbins times log t, an asymptotic lower bound"
    more_runs = f" ({runs.max():,} of the released width)" if runs.max() > runs.min() else ""
    seed = evaluation.results.seed
    setting = f"{len(bandit)} arms, horizon {bandit.horizon:,}, {runs.min():,} runs{more_runs}, seed {seed}."
    folded: list[Part] = [pulls_picture(printed)]
    if len(printed.events):
        folded.insert(0, arms_left_picture(printed, bandit.horizon or 0))
    return [
        Text(setting, "facts"),
        readings_table(own),
        Text(NOTES[number]),
        eliminations_text(own),
        *uniform_text(uniform.filter(experiment=number)),
        regret_picture(printed, lines, f" Dotted: {names}."),
        runs_picture(printed),
        Fold("Active arms, and pulls per arm", folded),
    ]


def printed_results(
    evaluation: Evaluation, summary: pl.DataFrame, readings: pl.DataFrame, number: int
) -> EnvironmentResults:
    """Select one experiment as printed, and EUCBV with the released width, under the paper's names."""
    results, environment = evaluation.results, f"paper-{number}"
    label = pl.when(reading=RELEASED_WIDTH).then(pl.lit(RELEASED_LABEL)).otherwise("policy")
    played = readings.filter(
        pl.col("reading") != PLOTTED, pl.col("policy") != UNIFORM_PLAY, experiment=number
    )
    names = played.select("environment", label=label, policy="our_policy")

    def select(table: pl.DataFrame) -> pl.DataFrame:
        joined = names.join(table, on=["environment", "policy"], maintain_order="left_right")
        return joined.drop("policy").rename({"label": "policy"})

    return EnvironmentResults(
        name=f"Experiment {number}, as printed",
        file=f"experiment-{number}",
        palette=palette(evaluation.sheet, **{RELEASED_LABEL: RELEASED}),
        summary=select(summary),
        curve=select(evaluation.curves_over_time),
        finals=select(results.finals),
        pulls=select(results.pulls),
        events=select(results.events),
        arms=results.arms.filter(environment=environment),
        ranks={},
        comparison=None,
    )


def reference_lines(bounds: pl.DataFrame, number: int) -> pl.DataFrame:
    """Return the regret of uniform play, and the bound of Lai and Robbins where it is lower."""
    bandit = lr.paper(number)
    horizon, rate = bandit.horizon or 1, float(bandit.gaps.mean())
    times = pl.DataFrame({"t": [horizon * step // 50 for step in range(1, 51)]})
    lines = [times.select(pl.lit(UNIFORM_PLAY).alias("label"), "t", mean=pl.col("t") * rate)]
    lower = bounds.filter(kind="lower bound", experiment=number)["value"].to_list()
    if lower and lower[0] is not None and lower[0] < rate * horizon:
        growth = pl.col("t").log() / pl.lit(horizon).log() * lower[0]
        lines.append(times.select(pl.lit("Lai and Robbins").alias("label"), "t", mean=growth))
    return pl.concat(lines)


def readings_table(own: pl.DataFrame) -> Table:
    """Lay out the final regret of every policy of one experiment in all readings."""
    by_key = {(row["policy"], row["reading"]): row for row in own.to_dicts()}
    rows = []
    for policy in own["policy"].unique(maintain_order=True).to_list():
        cells = [by_key.get((policy, reading)) for reading in (PLOTTED, PRINTED, RELEASED_WIDTH)]
        published = next(row["published"] for row in cells if row)
        regrets = ["-" if row is None else format_with_error(row["mean"], row["se"]) for row in cells]
        lost = format_number(cells[1]["optimal_arm_eliminated"]) if cells[1] else "-"
        rows.append([policy, "-" if published is None else f"{published:,.2f}", *regrets, lost])
    heads = ["policy", "published", "as plotted (se)", "as printed (se)", "released width (se)"]
    caption = "Mean final regret (standard error). Eliminations are counted as printed."
    return Table([*heads, "optimal arm eliminated (runs)"], rows, caption=caption)


def eliminations_text(own: pl.DataFrame) -> Text:
    """Count the runs of one experiment in which EUCBV eliminated the optimal arm."""
    by_reading = {row["reading"]: row for row in own.filter(policy="EUCBV").to_dicts()}
    counts = [
        f"{by_reading[reading]['optimal_arm_eliminated'] or 0} of {by_reading[reading]['runs']} runs {how}"
        for reading, how in ((PRINTED, "as printed"), (RELEASED_WIDTH, "with the released width"))
        if reading in by_reading
    ]
    return Text(f"On the stated testbed EUCBV eliminated the optimal arm in {' and in '.join(counts)}.")


def estimates_of(number: int, readings: pl.DataFrame) -> pl.DataFrame:
    """Compare eliminations of the optimal arm as printed, and draws of Lemma 3, with their bounds."""
    bandit = lr.paper(number)
    rows = [
        elimination_estimate(bandit, bandit.horizon, int(row["optimal_arm_eliminated"] or 0), row["runs"])
        for row in readings.filter(experiment=number, reading=PRINTED, policy="EUCBV").to_dicts()
    ]
    return estimate_table([*rows, *lemma_3_estimates(bandit, bandit.horizon, LEMMA_3_DRAWS, seed=1)])


def numbered(number: int, table: pl.DataFrame) -> pl.DataFrame:
    """Add the number of the experiment in front."""
    return table.select(pl.lit(number).alias("experiment"), pl.all())


def bounds_table(bounds: pl.DataFrame) -> Table:
    """Lay out the bounds, without the orders of Table 1."""
    rows = [
        [
            str(number),
            name,
            f"{format_number(value)} {constants or ''}".strip(),
            kind,
            Cell(note or "", "long"),
        ]
        for number, name, kind, _, value, constants, note in bounds.iter_rows()
        if kind != "order without constant"
    ]
    return Table(["experiment", "statement", "value", "kind", "note"], rows, (1, 3, 4))


def estimates_table(estimates: pl.DataFrame) -> Table:
    """Lay out the estimated probabilities beside their bounds."""
    rows: list[Sequence[str | Cell]] = [
        [
            str(row["experiment"]),
            row["event"],
            format_number(row["gap"]),
            format_number(row["pulls"]),
            "-" if row["occurrences"] is None else f"{row['occurrences']:,} of {row['runs']:,}",
            "-"
            if row["probability"] is None
            else f"{row['probability']:.2g} ({row['low']:.2g} to {row['high']:.2g})",
            "-" if row["bound"] is None else f"{row['bound']:.2g}",
            Cell(row["note"] or "", "long"),
        ]
        for row in estimates.to_dicts()
    ]
    caption = (
        "Lemma 3: after this many pulls the mean of an arm's rewards exceeds its true mean by more than the "
        "width. The paper states no bound on the probability that the optimal arm is eliminated; the one "
        "here is the sum in its proof. Clopper-Pearson intervals."
    )
    heads = [
        "experiment",
        "event",
        "gap",
        "pulls",
        "runs with event",
        "probability (95% interval)",
        "bound",
        "note",
    ]
    return Table(heads, rows, (1, 7), caption)

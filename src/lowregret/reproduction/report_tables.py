"""The layout of the report's tables, which the page and the terminal share."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from lowregret.analysis.comparison import INCONCLUSIVE
from lowregret.reporting.number_format import shown
from lowregret.reporting.page_parts import Cell, Fold, Part, Section, Table, Text
from lowregret.reproduction.claims import CLAIMS
from lowregret.reproduction.evaluation import NEAR_UNIFORM, Evaluation, pivot_readings
from lowregret.reproduction.interpretations import AS_PLOTTED, AS_PRINTED, RELEASED_WIDTH
from lowregret.reproduction.matching import MARGIN, MATCHED, NOT_MATCHED
from lowregret.reproduction.stated import PAPER, UNIFORM_PLAY
from lowregret.reproduction.verdicts import ALL_GROUPS, EUCBV_ALONE, FAILS, HOLDS, NOT_SHOWN, READINGS

EMPHASIS = {HOLDS: "", INCONCLUSIVE: "quiet", NOT_SHOWN: "quiet", FAILS: "best"}
"""The kind of a cell by the verdict that it shows."""


def terminal_sections(evaluation: Evaluation) -> list[Section]:
    """Return all tables for the terminal: regret by experiment, published curves, claims."""
    pivoted = pivot_readings(evaluation.readings)
    sections = [
        Section(f"Experiment {experiment.number}: {experiment.title}", [readings_table(rows)])
        for experiment in PAPER
        if not (rows := pivoted.filter(experiment=experiment.number)).is_empty()
    ]
    matches, comparisons = evaluation.matches, evaluation.comparisons
    sections.append(Section("Published curves", [curves_table(matches), details_table(matches)]))
    if not evaluation.claims.is_empty():
        claims: list[Part] = [claims_table(evaluation), *uniform_text(evaluation.uniform)]
        claims.append(comparisons_table(comparisons))
        sections.append(Section("Claims of the paper", claims))
    return sections


def summary(evaluation: Evaluation) -> list[str]:
    """Count the verdicts on the curves, and on the comparisons behind the claims."""
    matches, claims, groups = evaluation.matches, evaluation.claims, evaluation.groups
    count = {
        verdict: matches.filter(verdict=verdict).height for verdict in (MATCHED, INCONCLUSIVE, NOT_MATCHED)
    }
    alone = matches.filter(verdict=MATCHED, discriminates=True).height
    chosen = matches.filter(verdict=MATCHED, chosen=True).height
    words = [
        f"Of the {matches.height} published curves {count[MATCHED]} are matched as plotted, to {MARGIN:g}% "
        f"at all published points; for {alone} of these all other policies that were run are excluded, and "
        f"{chosen} {'has' if chosen == 1 else 'have'} a configuration that was chosen for its regret. "
        f"{count[INCONCLUSIVE]} are inconclusive, {count[NOT_MATCHED]} not matched. Levels are not adjusted "
        "over curves."
    ]
    if claims.is_empty():
        return words
    counts = {row["group"]: row for row in groups.to_dicts()}
    text = f"The {claims.height} empirical claims overlap, so their comparisons are counted, each once. "
    text += _counted("All", counts[ALL_GROUPS], ("hold", "do not hold"))
    if EUCBV_ALONE in counts:
        regret = " Regret of EUCBV against that of another policy"
        text += _counted(regret, counts[EUCBV_ALONE], ("are lower", "higher"))
    return [*words, text]


def _counted(what: str, row: Mapping[str, Any], verbs: tuple[str, str]) -> str:
    """Count the verdicts on some comparisons in both readings."""
    judged = [
        f"{how} {row[f'{name}_holding']} of {_total(row, name)} {verbs[0]}, {row[f'{name}_failing']} "
        f"{verbs[1]}, {row[f'{name}_inconclusive']} inconclusive"
        for how, name in (("as printed", "printed"), ("with the released width", "released"))
        if _total(row, name)
    ]
    return f"{what}: {'; '.join(judged)}."


def _total(row: Mapping[str, Any], name: str) -> int:
    return sum(int(row[f"{name}_{kind}"]) for kind in ("holding", "failing", "inconclusive"))


def headline_table(readings: pl.DataFrame, decimals: bool = True) -> Table:
    """Lay out EUCBV's final regret in all readings, beside MOSS and uniform play."""
    heads = ["experiment", "published", AS_PLOTTED, RELEASED_WIDTH, AS_PRINTED, "MOSS as printed"]
    rows = []
    for number in readings["experiment"].unique(maintain_order=True).to_list():
        own = readings.filter(experiment=number).to_dicts()
        by_key = {(row["policy"], row["reading"]): row for row in own}
        cells = [by_key.get(("EUCBV", reading)) for reading in (AS_PLOTTED, RELEASED_WIDTH, AS_PRINTED)]
        cells += [by_key.get((policy, AS_PRINTED)) for policy in ("MOSS", UNIFORM_PLAY)]
        published = next((row["published"] for row in cells if row), None)
        regrets = ["-" if row is None else with_error(row["mean"], row["se"], decimals) for row in cells]
        rows.append([str(number), two_decimals(published), *regrets])
    caption = "Mean final regret of EUCBV (standard error), beside MOSS and uniform play. As plotted, "
    caption += "experiments 2 to 4 have no noise."
    return Table([*heads, UNIFORM_PLAY], rows, caption=caption)


def readings_table(pivoted: pl.DataFrame) -> Table:
    heads = ["policy", "published", "as plotted (se)", "as printed (se)", "released width (se)"]
    rows = [
        [
            row["policy"],
            two_decimals(row["published"]),
            *(with_error(row[name], row[f"{name}_se"]) for name in ("plotted", "printed", "released")),
            shown(row["optimal_arm_eliminated"]),
        ]
        for row in pivoted.to_dicts()
    ]
    caption = "Mean final regret (standard error). Eliminations are counted as printed."
    return Table([*heads, "optimal arm eliminated (runs)"], rows, caption=caption)


def eliminations_text(readings: pl.DataFrame) -> Text:
    """Count the runs of one experiment in which EUCBV eliminated the optimal arm."""
    by_reading = {row["reading"]: row for row in readings.filter(policy="EUCBV").to_dicts()}
    counts = [
        f"{by_reading[reading]['optimal_arm_eliminated'] or 0} of {by_reading[reading]['runs']} runs {how}"
        for reading, how in ((AS_PRINTED, "as printed"), (RELEASED_WIDTH, "with the released width"))
        if reading in by_reading
    ]
    return Text(f"On the stated testbed EUCBV eliminated the optimal arm in {' and in '.join(counts)}.")


def curves_table(matches: pl.DataFrame) -> Table:
    heads = ["exp.", "curve", "verdict", "discriminates", "within %", "published", "ours (se)"]
    rows = []
    for row in matches.to_dicts():
        others = f"{row['others_not_excluded']} of {row['others']}"
        verdict = f"{row['verdict']} (chosen)" if row["chosen"] else row["verdict"]
        rows.append(
            [
                str(row["experiment"]),
                row["policy"],
                Cell(verdict, {MATCHED: "", INCONCLUSIVE: "quiet"}.get(row["verdict"], "best")),
                {True: "yes", False: Cell("no", "best"), None: "-"}[row["discriminates"]],
                "-" if row["within"] is None else f"{row['within']:.1f}",
                two_decimals(row["published"]),
                with_error(row["mean"], row["se"]),
                Cell(f"{others}: {row['which']}" if row["which"] else others, "long"),
            ]
        )
    caption = (
        "Published and our regret at the horizon. Within: the largest end of the 90% intervals of the "
        "difference at all published points, in percent. The intervals contain the errors of both means; "
        "that of the published mean of 100 runs is estimated from our runs and the noise of realised regret. "
        f"A curve is matched if this is at most {MARGIN:g}%, and not matched if at some point the difference "
        f"exceeds {MARGIN:g}% at a joint level of 95%. The margin is ours. Others: the other policies on the "
        "same testbed that this rule does not exclude; some of them match the curve too. A match "
        "discriminates if all others are excluded. Chosen: the configuration was chosen for its regret. "
        "The levels are those of one curve and not adjusted for their number: if all 30 differed by just "
        f"{MARGIN:g}%, one or two would be expected to be matched."
    )
    return Table([*heads, "others not excluded"], rows, (1, 2, 3, 7), caption)


def details_table(matches: pl.DataFrame) -> Table:
    """Lay out what of each configuration is read, what is inferred, and why curves are not matched."""
    rows = []
    for row in matches.to_dicts():
        policy = f"{row['our_policy']} on {row['environment']}"
        words = (policy, *(row[name] or "-" for name in ("read", "inferred", "reason")))
        rows.append([str(row["experiment"]), row["policy"], *(Cell(text, "long") for text in words)])
    heads = ["exp.", "curve", "our policy", "read in the script", "inferred, not read", "why not matched"]
    caption = (
        "Configurations are taken from the scripts. Two of them, MOSS and UCB-V in experiment 1, were chosen "
        "between two versions for the regret that they yield, so a match would be no evidence. Policies "
        "whose names end in Script repeat what a script computes where no policy of the package does."
    )
    return Table(heads, rows, (1, 2, 3, 4, 5), caption)


def points_table(points: pl.DataFrame) -> Fold:
    rows = [
        [
            str(row["experiment"]),
            row["policy"],
            f"{row['t']:,}",
            with_error(row["published"], row["published_se"]),
            with_error(row["mean"], row["se"]),
            signed(row["percent"]),
            signed_interval(row["low"], row["high"]),
        ]
        for row in points.to_dicts()
    ]
    heads = ["experiment", "curve", "t", "published (se)", "ours (se)", "percent", "90% interval"]
    return Fold("Every published point", [Table(heads, rows, (1,))])


def uniform_text(uniform: pl.DataFrame) -> list[Text]:
    """Say in which experiments policies end near uniform play, if it was run."""
    if uniform.is_empty():
        return []
    counts = [
        f"experiment {row['experiment']}: {row['near']} of {row['policies']}" for row in uniform.to_dicts()
    ]
    words = (
        f"Policies that end within {NEAR_UNIFORM:g}% of the regret of uniform play as printed: "
        f"{'; '.join(counts)}."
    )
    most = [str(row["experiment"]) for row in uniform.to_dicts() if row["most"]]
    if most:
        words += (
            f" In experiment{'s' if len(most) > 1 else ''} {' and '.join(most)} these are most policies: "
            "a verdict there is about small differences between policies that have learned little."
        )
    return [Text(words)]


def claims_table(evaluation: Evaluation) -> Table:
    """Lay out the claims by group, with their verdicts in both readings and in the figures."""
    claims, groups = evaluation.claims, evaluation.groups
    near = set(evaluation.uniform.filter("most")["experiment"])
    rows: list[list[str | Cell]] = []
    for group in groups.to_dicts():
        counts = [f"{group[f'{name}_holding']} of {_total(group, name)} hold" for name in READINGS.values()]
        rows.append([Cell(group["group"], "best"), *(Cell(count, "best") for count in counts), "", ""])
        for row in claims.filter(group=group["group"]).to_dicts():
            claim = f"“{row['quote']}” ({row['place']})"
            if row["worse"]:
                relation = "similar to" if CLAIMS[row["claim"] - 1].kind == "similar" else "below"
                claim += f": {row['better']} {relation} {row['worse']}"
            claim += f". Judged by (ours): {row['criterion']}."
            short = [number for number in row["experiments"].split(", ") if int(number) in near]
            verdicts = [Cell(row[name], EMPHASIS[row[name]]) for name in (*READINGS.values(), "figures")]
            rows.append([Cell(claim, "long"), *verdicts, ", ".join(short)])
    caption = (
        "A claim holds if the 95% interval of the difference is below 0 in all its experiments, and does not "
        "hold if one interval is above 0. The paper states no criteria: they are ours. Claims overlap, so "
        "each group counts its comparisons once, and so do the last lines over all groups. In the "
        "figures: the verdict by the published curves at the horizon, without intervals. Near uniform play: "
        f"the experiments of the claim in which most policies end within {NEAR_UNIFORM:g}% of uniform play. "
        "The intervals are not adjusted for multiple comparisons."
    )
    heads = ["claim", *READINGS, "in the figures", "near uniform play"]
    return Table(heads, rows, range(5), caption)


def comparisons_table(comparisons: pl.DataFrame) -> Table:
    """Lay out every comparison once, in both readings."""
    keys = ["experiment", "better", "worse"]
    parts = {
        reading: {
            tuple(row[key] for key in keys): row
            for row in comparisons.filter(reading=reading).unique(keys, keep="first").to_dicts()
        }
        for reading in READINGS
    }
    rows = []
    for key in (
        comparisons.select(keys).unique(maintain_order=True).sort("experiment", maintain_order=True).rows()
    ):
        row: list[str | Cell] = [str(key[0]), *key[1:]]
        for reading in READINGS:
            comparison = parts[reading].get(key)
            if comparison is None:
                row += ["-", "-"]
            else:
                interval = signed_interval(comparison["low"], comparison["high"])
                share = "" if comparison["fragility"] is None else f", {comparison['fragility']:.1%}"
                verdict = Cell(comparison["verdict"] + share, EMPHASIS[comparison["verdict"]])
                row += [f"{signed(comparison['difference'])} ({interval})", verdict]
        rows.append(row)
    heads = ["experiment", "first", "second"]
    for reading in READINGS:
        heads += [f"{reading}: first minus second (95%)", f"verdict {reading}"]
    caption = (
        "Regrets, paired over the runs where both policies have equally many, else by the interval of "
        "Welch. The percentage after a verdict is the share of runs that would reverse it, if the "
        "difference in them were the largest possible one. Elimination: one half minus the fraction of "
        "suboptimal arms eliminated. Pulls: those of an arm of lower variance minus those of an arm of "
        "higher variance, at equal gaps."
    )
    return Table(heads, rows, (1, 2, 4, 6), caption)


def bounds_table(bounds: pl.DataFrame) -> Table:
    """Lay out the bounds, without the orders of Table 1."""
    rows = [
        [str(number), name, f"{shown(value)} {constants or ''}".strip(), kind, Cell(note or "", "long")]
        for number, name, kind, _, value, constants, note in bounds.iter_rows()
        if kind != "order without constant"
    ]
    return Table(["experiment", "statement", "value", "kind", "note"], rows, (1, 3, 4))


def estimates_table(estimates: pl.DataFrame) -> Table:
    heads = ["experiment", "event", "gap", "pulls", "runs with event", "probability (95% interval)", "bound"]
    rows = [
        [
            str(row["experiment"]),
            row["event"],
            shown(row["gap"]),
            shown(row["pulls"]),
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
    return Table([*heads, "note"], rows, (1, 7), caption)


def with_error(mean: float | None, error: float | None, decimals: bool = True) -> str:
    """Format a mean with its standard error; a mean without error to two decimals."""
    if mean is None:
        return "-"
    if error is not None and error < 1e-9:
        return two_decimals(mean)
    if decimals or error is None:
        return f"{shown(mean)} ({shown(error)})"
    return f"{mean:,.0f} ({error:,.0f})"


def two_decimals(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"


def signed(value: float | None) -> str:
    if value is None:
        return "-"
    digits = 1 if abs(value) >= 1 else 2
    return f"{round(value, digits) + 0.0:+,.{digits}f}"  # adding 0.0 turns -0.0 into 0.0


def signed_interval(low: float | None, high: float | None) -> str:
    return "-" if low is None else f"{signed(low)} to {signed(high)}"

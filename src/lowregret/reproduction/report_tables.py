"""The layout of the report's tables, which the page and the terminal share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from lowregret.reporting.number_format import shown
from lowregret.reporting.page_parts import Cell, Fold, Part, Section, Table, Text
from lowregret.reproduction.agreement import MATCHED, MAX_PERCENT, MAX_Z_SCORE, pivot_readings
from lowregret.reproduction.claims import CLAIMS
from lowregret.reproduction.evaluation import Evaluation
from lowregret.reproduction.readings import AS_PLOTTED, AS_PRINTED, RELEASED_WIDTH
from lowregret.reproduction.stated import PAPER, UNIFORM_PLAY
from lowregret.reproduction.verdicts import FAILS, HOLDS, INCONCLUSIVE

MAX_DIFFERENCES = 6
"""A claim with more comparisons than this shows their number in place of the differences."""


def terminal_sections(evaluation: Evaluation) -> list[Section]:
    """Return the tables for the terminal: regret by experiment, published curves, claims."""
    pivoted = pivot_readings(evaluation.readings)
    sections = [
        Section(f"Experiment {each.number}: {each.title}", [readings_table(rows)])
        for each in PAPER
        if not (rows := pivoted.filter(experiment=each.number)).is_empty()
    ]
    sections.append(Section("Published curves", [curves_table(evaluation.matches)]))
    if not evaluation.claims.is_empty():
        claims = claims_table(evaluation.claims, evaluation.comparisons)
        sections.append(Section("Claims of the paper, as printed", [claims]))
    return [*sections, Section("Summary", [summary_text(evaluation)])]


def summary_text(evaluation: Evaluation) -> Text:
    """Count matched curves and verdicts on claims."""
    matches, claims = evaluation.matches, evaluation.claims
    count = {verdict: claims.filter(verdict=verdict).height for verdict in (HOLDS, FAILS, INCONCLUSIVE)}
    return Text(
        f"{matches.filter(verdict=MATCHED).height} of the {matches.height} published curves of these "
        f"experiments are matched at the horizon as plotted. Of {claims.height} empirical claims, "
        f"{count[HOLDS]} hold as printed, {count[FAILS]} do not hold, and {count[INCONCLUSIVE]} are "
        "inconclusive."
    )


def headline_table(readings: pl.DataFrame) -> Table:
    """Lay out EUCBV's final regret in all readings, beside MOSS and uniform play."""
    heads = ["experiment", "published", AS_PLOTTED, RELEASED_WIDTH, AS_PRINTED, "MOSS as printed"]
    rows = []
    for number in readings["experiment"].unique(maintain_order=True).to_list():
        own = readings.filter(experiment=number).to_dicts()
        by_key = {(row["policy"], row["reading"]): row for row in own}
        cells = [by_key.get(("EUCBV", reading)) for reading in (AS_PLOTTED, RELEASED_WIDTH, AS_PRINTED)]
        cells += [by_key.get((policy, AS_PRINTED)) for policy in ("MOSS", UNIFORM_PLAY)]
        published = next((row["published"] for row in cells if row), None)
        regrets = ["-" if row is None else with_error(row["mean"], row["se"]) for row in cells]
        rows.append([str(number), two_decimals(published), *regrets])
    caption = "Mean final regret of EUCBV (standard error), with MOSS and uniform play for comparison."
    return Table([*heads, UNIFORM_PLAY], rows, caption=caption)


def readings_table(pivoted: pl.DataFrame) -> Table:
    """Lay out the final regrets of one experiment, as ``pivot_readings`` returns them."""
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
    """Lay out the published curves beside our configurations."""
    heads = ["experiment", "curve", "our policy", "published", "ours (se)", "z", "percent"]
    rows = []
    for row in matches.to_dicts():
        policy = "-" if row["our_policy"] is None else f"{row['our_policy']} on {row['environment']}"
        rows.append(
            [
                str(row["experiment"]),
                row["policy"],
                Cell(policy, "long"),
                two_decimals(row["published"]),
                with_error(row["mean"], row["se"]),
                signed(row["z_score"]),
                signed(row["percent"]),
                Cell(row["verdict"], "" if row["verdict"] == MATCHED else "best"),
            ]
        )
    caption = (
        "z: the difference divided by its standard error; that of the published mean is estimated from our "
        "runs and the noise of realised regret. A curve is matched if |z| is at most "
        f"{MAX_Z_SCORE:g} or the difference is at most {MAX_PERCENT:g}%. No configuration was chosen for the "
        "regret it yields."
    )
    return Table([*heads, "verdict"], rows, (1, 2, 7), caption)


def reasons_table(matches: pl.DataFrame) -> list[Part]:
    """Lay out why some published curves are not matched."""
    rows = [
        [str(row["experiment"]), row["policy"], row["verdict"], Cell(row["reason"], "long")]
        for row in matches.filter(pl.col("verdict") != MATCHED).to_dicts()
    ]
    return [Table(["experiment", "curve", "verdict", "reason"], rows, (1, 2, 3))] if rows else []


def points_table(points: pl.DataFrame) -> Fold:
    """Lay out every published point beside ours."""
    rows = [
        [str(number), policy, f"{t:,}", two_decimals(published), with_error(mean, se)]
        for number, policy, t, published, mean, se in points.iter_rows()
    ]
    table = Table(["experiment", "curve", "t", "published", "ours (se)"], rows, (1,))
    return Fold("Every published point", [table])


def claims_table(claims: pl.DataFrame, comparisons: pl.DataFrame) -> Table:
    """Lay out the claims with their verdicts."""
    emphasis = {HOLDS: "", INCONCLUSIVE: "quiet", FAILS: "best"}
    rows = []
    for row in claims.to_dicts():
        differences = format_differences(comparisons.filter(claim=row["claim"]).to_dicts())
        claim = f"“{row['quote']}” ({row['place']})"
        if row["worse"]:
            relation = "similar to" if CLAIMS[row["claim"] - 1].kind == "similar" else "below"
            claim += f": {row['better']} {relation} {row['worse']}"
        verdict = Cell(row["verdict"], emphasis[row["verdict"]])
        rows.append([Cell(claim, "long"), Cell(differences, "long"), verdict])
    caption = (
        "A claim holds if the 95% interval of the paired difference is below 0 in all its experiments, and "
        "does not hold if one interval is above 0. Regrets are similar if the interval lies within 10% of "
        "the second. The number before a colon is the experiment. The difference for elimination is one half "
        "minus the fraction of suboptimal arms eliminated; for variances, the pulls of a low-variance arm "
        "minus those of a high-variance arm. The intervals are not adjusted for multiple comparisons."
    )
    return Table(["claim", "paired difference (95% interval)", "as printed"], rows, range(3), caption)


def comparisons_table(comparisons: pl.DataFrame) -> Fold:
    """Lay out every paired comparison once."""
    heads = ["experiment", "first", "second", "difference", "95% interval", "verdict"]
    rows = [
        [str(number), better, worse, signed(difference), signed_interval(low, high), verdict]
        for number, better, worse, _, difference, low, high, verdict in (
            comparisons.drop("claim").unique(maintain_order=True).iter_rows()
        )
    ]
    return Fold("Every comparison", [Table(heads, rows, (1, 2, 5))])


def format_differences(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """Format the paired differences of a claim; if there are many, their number and the largest."""
    pairs = {(row["better"], row["worse"]) for row in comparisons}

    def formatted(row: Mapping[str, Any]) -> str:
        pair = f", {row['better']} minus {row['worse']}" if len(pairs) > 1 else ""
        interval = "" if row["low"] is None else f" ({signed_interval(row['low'], row['high'])})"
        return f"{row['experiment']}{pair}: {signed(row['difference'])}{interval}"

    if len(comparisons) <= MAX_DIFFERENCES:
        return "; ".join(map(formatted, comparisons))
    holding = sum(row["verdict"] == HOLDS for row in comparisons)
    largest = max(comparisons, key=lambda row: float(row["difference"]))
    return f"{holding} of {len(comparisons)} hold; largest difference: {formatted(largest)}"


def bounds_table(bounds: pl.DataFrame) -> Table:
    """Lay out the bounds, without the orders of Table 1."""
    rows = [
        [str(number), name, f"{shown(value)} {rest or ''}".strip(), kind, Cell(note or "", "long")]
        for number, name, kind, _, value, rest, note in bounds.iter_rows()
        if kind != "order without constant"
    ]
    return Table(["experiment", "statement", "value", "kind", "note"], rows, (1, 3, 4))


def estimates_table(estimates: pl.DataFrame) -> Table:
    """Lay out the estimated probabilities beside their bounds."""
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


def with_error(mean: float | None, error: float | None) -> str:
    """Format a mean with its standard error; a mean without error to two decimals."""
    if mean is None:
        return "-"
    return two_decimals(mean) if error is not None and error < 1e-9 else f"{shown(mean)} ({shown(error)})"


def two_decimals(value: float | None) -> str:
    """Format a value to two decimals."""
    return "-" if value is None else f"{value:,.2f}"


def signed(value: float | None) -> str:
    """Format a difference with its sign."""
    if value is None:
        return "-"
    digits = 1 if abs(value) >= 1 else 2
    return f"{round(value, digits) + 0.0:+,.{digits}f}"  # adding 0.0 turns -0.0 into 0.0


def signed_interval(low: float | None, high: float | None) -> str:
    """Format the interval of a difference."""
    return "-" if low is None else f"{signed(low)} to {signed(high)}"

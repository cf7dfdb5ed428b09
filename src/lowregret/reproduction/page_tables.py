"""The tables of the page on the EUCBV paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from lowregret.reproduction.claim_verdicts import FAILS, HOLDS, UNKNOWN
from lowregret.reproduction.curve_matches import MATCHED
from lowregret.reproduction.paper_experiments import AS_PLOTTED, AS_PRINTED, RELEASED_WIDTH
from lowregret.report.page_parts import Cell, Fold, Part, Table, Text
from lowregret.report.terminal_tables import shown

MOST_DIFFERENCES = 6
"""A claim with more comparisons than this shows how many hold in place of the differences."""


def headline(readings: pl.DataFrame, matches: pl.DataFrame, claims: pl.DataFrame) -> list[Part]:
    """Say what was found in one table and two sentences."""
    heads = ["experiment", "published", "as plotted", "released width", "as printed", "MOSS as printed"]
    heads += ["uniform play"]
    rows = []
    for number in readings["experiment"].unique(maintain_order=True).to_list():
        here = readings.filter(experiment=number).to_dicts()
        found = {(row["policy"], row["reading"]): row for row in here}
        cells = [found.get(("EUCBV", reading)) for reading in (AS_PLOTTED, RELEASED_WIDTH, AS_PRINTED)]
        cells += [found.get((policy, AS_PRINTED)) for policy in ("MOSS", "uniform play")]
        published = next((row["published"] for row in cells if row), None)
        rows.append([str(number), exactly(published), *map(regret, cells)])
    caption = "EUCBV's mean final regret (standard error), with MOSS and uniform play to measure it by."
    count = {verdict: claims.filter(verdict=verdict).height for verdict in (HOLDS, FAILS, UNKNOWN)}
    matched = matches.filter(verdict=MATCHED).height
    return [
        Table(heads, rows, caption=caption),
        Text(
            f"{matched} of the {matches.height} published curves played here are matched at the horizon "
            f"as plotted. Of {claims.height} empirical claims, {count[HOLDS]} hold as printed, "
            f"{count[FAILS]} do not, and of {count[UNKNOWN]} it cannot be told from these runs."
        ),
    ]


def readings_part(wide: pl.DataFrame) -> Table:
    """Lay out the readings of one experiment, as ``side_by_side`` gives them."""
    heads = ["policy", "published", "as plotted (se)", "as printed (se)", "released width (se)"]
    heads += ["optimal arm eliminated (runs)"]
    rows = [
        [
            row["policy"],
            exactly(row["published"]),
            *(with_error(row[name], row[f"{name}_se"]) for name in ("plotted", "printed", "released")),
            shown(row["optimal_arm_eliminated"]),
        ]
        for row in wide.to_dicts()
    ]
    return Table(heads, rows, caption="Mean final regret; eliminations are those as printed.")


def eliminations(readings: pl.DataFrame) -> Text:
    """Say in how many runs of one experiment EUCBV lost the optimal arm."""
    found = {row["reading"]: row for row in readings.filter(policy="EUCBV").to_dicts()}
    words = [
        f"{found[reading]['optimal_arm_eliminated'] or 0} of {found[reading]['runs']} runs {how}"
        for reading, how in ((AS_PRINTED, "as printed"), (RELEASED_WIDTH, "with the released width"))
        if reading in found
    ]
    return Text(f"On the stated testbed EUCBV eliminated the optimal arm in {' and in '.join(words)}.")


def curves_part(matches: pl.DataFrame) -> list[Part]:
    """Lay out the published curves with what plays for them, and why some are not matched."""
    heads = ["experiment", "curve", "what plays", "published", "ours (se)", "errors", "percent", "verdict"]
    rows, reasons = [], []
    for row in matches.to_dicts():
        plays = "-" if row["plays"] is None else f"{row['plays']} on {row['environment']}"
        ours = with_error(row["mean"], row["se"])
        gap = [signed(row["errors"]), signed(row["percent"])]
        verdict = Cell(row["verdict"], "" if row["verdict"] == MATCHED else "best")
        curve = [str(row["experiment"]), row["policy"]]
        rows.append([*curve, Cell(plays, "long"), exactly(row["published"]), ours, *gap, verdict])
        if row["verdict"] != MATCHED:
            reasons.append([*curve, row["verdict"], Cell(row["reason"], "long")])
    caption = (
        "Matched: within 3 standard errors of the difference, or within 5%. Errors: the difference in "
        "standard errors, that of the published mean taken from our runs and the noise of realised regret. "
        "No configuration was chosen for the regret it gives."
    )
    parts: list[Part] = [Table(heads, rows, (1, 2, 7), caption)]
    if reasons:
        parts.append(Table(["experiment", "curve", "verdict", "reason"], reasons, (1, 2, 3)))
    return parts


def points_part(points: pl.DataFrame) -> Fold:
    """Lay out every published point beside ours."""
    heads = ["experiment", "curve", "t", "published", "ours (se)"]
    rows = [
        [
            str(row["experiment"]),
            row["policy"],
            f"{row['t']:,}",
            exactly(row["published"]),
            with_error(row["mean"], row["se"]),
        ]
        for row in points.to_dicts()
    ]
    return Fold("Every published point", [Table(heads, rows, (1,))])


def claims_part(claims: pl.DataFrame, comparisons: pl.DataFrame) -> list[Part]:
    """Lay out the claims with their verdicts, and all comparisons behind them."""
    rows = []
    for row in claims.to_dicts():
        differences = difference_words(comparisons.filter(claim=row["claim"]).to_dicts())
        claim = f"“{row['quote']}” ({row['place']})"
        if row["worse"]:
            claim += f": {row['better']} below {row['worse']}"
        kind = "" if row["verdict"] == HOLDS else "quiet" if row["verdict"] == UNKNOWN else "best"
        rows.append([Cell(claim, "long"), Cell(differences, "long"), Cell(row["verdict"], kind)])
    caption = (
        "A claim holds if in every experiment it speaks of the 95% interval of the paired difference is "
        "below 0, and does not hold if one is above. Numbers before a colon are experiments. Elimination is "
        "measured by one half less the share of the worse arms that were dropped, variances by the pulls of "
        "a quiet arm less those of a loud one. The intervals are not adjusted for their number."
    )
    heads = ["claim", "paired difference (95% interval)", "as printed"]
    heads_all = ["experiment", "first", "second", "difference", "95% interval", "verdict"]
    each = [
        [
            str(row["experiment"]),
            row["better"],
            row["worse"],
            signed(row["difference"]),
            "-" if row["low"] is None else f"{signed(row['low'])} to {signed(row['high'])}",
            row["verdict"],
        ]
        for row in comparisons.drop("claim").unique(maintain_order=True).to_dicts()
    ]
    every = Fold("Every comparison", [Table(heads_all, each, (1, 2, 5))])
    return [Table(heads, rows, range(3), caption), every]


def difference_words(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """Write the paired differences behind a claim; of many, how many hold and the one furthest from it.

    Examples
    --------
    >>> from lowregret.reproduction.page_tables import difference_words
    >>> row = {"experiment": 1, "better": "A", "worse": "B", "difference": 5.0, "low": 4.0, "high": 6.0}
    >>> difference_words([row | {"verdict": "does not hold"}])
    '1: +5.0 (+4.0 to +6.0)'
    """
    pairs = {(row["better"], row["worse"]) for row in comparisons}

    def words(row: Mapping[str, Any]) -> str:
        who = f", {row['better']} less {row['worse']}" if len(pairs) > 1 else ""
        ends = "" if row["low"] is None else f" ({signed(row['low'])} to {signed(row['high'])})"
        return f"{row['experiment']}{who}: {signed(row['difference'])}{ends}"

    if len(comparisons) <= MOST_DIFFERENCES:
        return "; ".join(map(words, comparisons))
    holding = sum(row["verdict"] == HOLDS for row in comparisons)
    worst = max(comparisons, key=lambda row: float(row["difference"]))
    return f"{holding} of {len(comparisons)} hold; furthest from it, {words(worst)}"


def theory_part(bounds: pl.DataFrame) -> Table:
    """Lay out the bounds that are no mere orders."""
    heads = ["experiment", "statement", "value", "kind", "note"]
    rows = [
        [
            str(row["experiment"]),
            row["name"],
            f"{shown(row['value'])} {row['rest'] or ''}".strip(),
            row["kind"],
            Cell(row["note"] or "", "long"),
        ]
        for row in bounds.filter(pl.col("kind") != "order without constant").to_dicts()
    ]
    return Table(heads, rows, (1, 3, 4))


def lemmas_part(chances: pl.DataFrame) -> Table:
    """Lay out the probabilities that were seen, beside their bounds."""
    heads = ["experiment", "event", "gap", "pulls", "seen", "probability (95% interval)", "bound", "note"]
    rows = [
        [
            str(row["experiment"]),
            row["event"],
            shown(row["gap"]),
            shown(row["pulls"]),
            "-" if row["seen"] is None else f"{row['seen']:,} of {row['runs']:,}",
            "-"
            if row["probability"] is None
            else f"{row['probability']:.2g} ({row['low']:.2g} to {row['high']:.2g})",
            "-" if row["bound"] is None else f"{row['bound']:.2g}",
            Cell(row["note"] or "", "long"),
        ]
        for row in chances.to_dicts()
    ]
    caption = (
        "Lemma 3: after so many pulls the mean of an arm's rewards exceeds its true mean by more than the "
        "width. The paper states no bound on the loss of the optimal arm; the one here is the sum that its "
        "proof works with. Intervals of Clopper and Pearson."
    )
    return Table(heads, rows, (1, 7), caption)


def regret(row: Mapping[str, Any] | None) -> str:
    """Write a mean with its standard error."""
    return "-" if row is None else with_error(row["mean"], row["se"])


def with_error(mean: float | None, error: float | None) -> str:
    """Write a mean with its standard error, as far as they are known."""
    if mean is None:
        return "-"
    return exactly(mean) if error is not None and error < 1e-9 else f"{shown(mean)} ({shown(error)})"


def exactly(value: float | None) -> str:
    """Write a number that has no error to the hundredth."""
    return "-" if value is None else f"{value:,.2f}"


def signed(value: float | None) -> str:
    """Write a difference with its sign."""
    if value is None:
        return "-"
    digits = 1 if abs(value) >= 1 else 2
    return f"{round(value, digits) + 0.0:+,.{digits}f}"  # no minus before a 0

"""The page of the league, and its files."""

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from lowregret._common.terminal_text import wrapped
from lowregret._common.text import count
from lowregret.reporting.number_format import format_number, percent
from lowregret.reporting.page import write_page
from lowregret.reporting.page_parts import Cell, Fold, Part, Picture, Section, Table, Text, table_of
from lowregret.reporting.policy_styles import Style, styles
from lowregret.reporting.text_tables import text_table
from lowregret.suite.league import ALL, BINARY, GRADED, OUTSIDE, UNIT_REWARDS, League
from lowregret.suite.league_charts import MAX_LINES, overview_chart, profile_chart, relative_chart, wins_chart

SCOPES = {
    ALL: ("all", "Only policies that play on all testbeds are compared."),
    UNIT_REWARDS: ("unit", "Testbeds whose rewards lie in [0, 1], on which nearly every policy can play."),
    BINARY: ("binary", "Testbeds whose rewards are 0 or 1, such as conversions."),
    GRADED: ("graded", "Testbeds whose rewards lie in [0, 1] and are not only 0 and 1, such as ratings."),
    OUTSIDE: ("outside", "Testbeds whose rewards leave [0, 1], such as revenue."),
}
"""The scopes of the standings, each with a name for files and an explanation."""
TITLE = "The league: every policy on every kind of problem"


def write_files(league: League, folder: Path) -> list[Path]:
    """Write the page, its figures, and the tables as CSV files and as one JSON file; return the paths."""
    files = {f"{name}.csv": table.write_csv() for name, table in league.tables().items()}
    files["league.json"] = json.dumps(as_dict(league), indent=1, allow_nan=False) + "\n"
    return write_page(
        folder / "league.html",
        TITLE,
        introduction(league),
        page_sections(league),
        formats=("svg", "png"),
        files=files,
    )


def standings_text(league: League) -> str:
    """Return the standings over as many testbeds as there are, and which policies are not in them."""
    columns = {"rank": "rank", "to_best": "to lowest", "to_moss": "to MOSS"}
    first, *others = [scope for scope in SCOPES if not league.standings.filter(scope=scope).is_empty()]
    standings = league.standings.filter(scope=first)
    rows = [
        {"policy": row["policy"]} | {head: format_estimate(row, column) for column, head in columns.items()}
        for row in standings.to_dicts()
    ]
    words = "Mean rank, and regret divided by the lowest and by that of MOSS, with 95% intervals."
    lines = [f"Standings: {first}", text_table(rows, drop=["to lowest"]), wrapped(words)]
    absent = [name for name in league.policies["policy"] if name not in standings["policy"].to_list()]
    if absent:
        lines.append(
            wrapped(f"Not in this table, as they do not play on every testbed: {', '.join(absent)}.")
        )
    if others:
        lines.append(wrapped(f"`standings` and the page also have: {'; '.join(others)}."))
    return "\n".join(lines)


def as_dict(league: League) -> dict[str, object]:
    """Return the league as plain data."""
    tables = {name: table.to_dicts() for name, table in league.tables().items()}
    return {"size": league.size, "seed": league.seed, **tables}


def headline(league: League) -> str:
    """Return which policy has the best rank where nearly every policy can play; "" without standings."""
    scope = next((name for name in (UNIT_REWARDS, ALL) if len(league.standings.filter(scope=name))), None)
    if scope is None:
        return ""
    first, *others = league.standings.filter(scope=scope).sort("rank", maintain_order=True).to_dicts()
    sentence = f"{first['policy']} has the best mean rank, {first['rank']:.1f}, on "
    sentence += f"{count(first['testbeds'], 'testbed')}; "
    above = first["to_best"] - 1.0
    if above == 0.0:
        sentence += "its regret is the lowest on all of them."
    else:
        size = "less than 1%" if above < 0.01 else f"{above:.0%}"
        sentence += f"on average its regret is {size} above the lowest there."
    near = [row["policy"] for row in others if row["rank_low"] <= first["rank_high"]]
    if near:
        names = near[0] if len(near) == 1 else f"{near[0]} and {count(len(near) - 1, 'other')}"
        sentence += f" The interval of its rank meets that of {names}."
    own = league.policies.filter("own")["policy"].to_list()
    for place, row in enumerate(others, 2):
        if row["policy"] in own:
            sentence += f" {row['policy']} is number {place} of {len(others) + 1}, with {row['rank']:.1f}."
    return sentence


def introduction(league: League) -> list[str | Text]:
    """Return what came out, what was run, and how to read the numbers."""
    played = league.scores.filter(pl.col("runs") > 0)
    runs = played["runs"].to_list()
    sentence = headline(league)
    return [
        *([Text(sentence, "headline")] if sentence else []),
        f"{count(len(league.policies), 'policy', 'policies')} on {count(len(league.testbeds), 'testbed')}, "
        f"{min(runs, default=0):,} to {max(runs, default=0):,} runs, size {league.size}, seed {league.seed}. "
        "Slow policies have fewer runs. In a run all policies see the same rewards. A testbed counts "
        "as one, whatever the size of its regret: the standings are made of ranks and of ratios.",
    ]


def page_sections(league: League) -> list[Section]:
    """Return the sections of the page."""
    names = league.policies["policy"].to_list()
    palette = styles(names)
    sections = [
        Section(f"Standings: {scope}", standings_parts(league, scope, palette))
        for scope in SCOPES
        if len(league.standings.filter(scope=scope))
    ]
    order = policies_in_order(league)
    beds = league.testbeds.sort("group", maintain_order=True)["testbed"].to_list()
    overview = overview_chart(league.scores, order, beds, "Mean regret, relative to the lowest")
    caption = "An empty cell: the policy does not play there."
    matrix = wins_chart(league.wins, order, "Wins of the row's policy over the column's")
    how = "A win: a lower mean regret in these runs, by more than three standard errors of the paired "
    how += "difference. Rare failures are not excluded."
    sections += [
        Section(
            "All testbeds", [Picture({"": overview}, "Mean regret on every testbed", caption, "overview")]
        ),
        Section("Wins", [Picture({"": matrix}, "Win matrix", how, "wins")]),
    ]
    if len(league.worst_cases):
        sections.append(Section("Worst cases found", [worst_case_table(league)]))
    return [
        *sections,
        Section("Where a policy does not play", [absence_table(league)], folded=True),
        Section("Testbeds", [testbeds_table(league), *testbed_folds(league)], folded=True),
    ]


def policies_in_order(league: League) -> list[str]:
    """Return the policies by rank over [0, 1] testbeds, then those that are in no standings."""
    placed = league.standings.sort(pl.col("scope") == ALL, maintain_order=True)["policy"].to_list()
    return list(dict.fromkeys([*placed, *league.policies["policy"]]))


def standings_parts(league: League, scope: str, palette: Mapping[str, Style]) -> list[Part]:
    """Return the standings over the testbeds of a scope: table, relative regrets and profiles."""
    standings = league.standings.filter(scope=scope)
    order = standings["policy"].to_list()
    slug, words_of_scope = SCOPES[scope]
    column = (
        "to_moss" if "to_moss" in standings.columns and standings["to_moss"].null_count() == 0 else "to_best"
    )
    words = "regret divided by that of MOSS" if column == "to_moss" else "regret divided by the lowest"
    relative = relative_chart(standings, column, f"{words}, geometric mean", "Relative regret", palette)
    own = league.policies.filter("own")["policy"].to_list()
    shown_lines = [name for place, name in enumerate(order) if place < MAX_LINES or name in own]
    lines = profile_chart(league.profiles.filter(scope=scope), shown_lines, "Performance profiles", palette)
    return [
        Text(words_of_scope, "facts"),
        standings_table(league, scope),
        Picture({"": relative}, f"Relative regret, {scope}", "With 95% intervals.", f"relative-{slug}"),
        Picture({"": lines}, f"Performance profiles, {scope}",
                f"The {MAX_LINES} policies with the best ranks, and yours. At factor 1: the share of "
                "testbeds on which the policy is the best of all.", f"profiles-{slug}"),
    ]  # fmt: skip


def standings_table(league: League, scope: str) -> Table:
    """Return the ranks and relative regrets over the testbeds of a scope."""
    standings = league.standings.filter(scope=scope)
    cases = dict(league.worst_cases.select("policy", "ratio").iter_rows())
    family = dict(league.policies.select("policy", "family").iter_rows())
    rows = [
        {
            "policy": row["policy"],
            "rank": format_estimate(row, "rank"),
            "to lowest": format_estimate(row, "to_best"),
            "to MOSS": format_estimate(row, "to_moss"),
            **({"worst case": format_number(cases.get(row["policy"]))} if cases else {}),
            "covers best": format_coverage(row, "best"),
            "covers worst": format_coverage(row, "worst"),
            "family": Cell(family[row["policy"]] or "", "quiet"),
        }
        for row in standings.to_dicts()
    ]
    worst = "Worst case: regret / sqrt(K T) on the worst bandit that a search found. " if cases else ""
    caption = (
        f"{standings['testbeds'][0]} testbeds. Rank: the mean over the testbeds of the rank by mean regret. "
        "To lowest, to MOSS: the geometric mean of the mean regret divided by the lowest one and by that of "
        "MOSS. In brackets: 95% intervals over testbeds and runs (bootstrap), in which failures that no run "
        f"shows do not count. {worst}"
        "Covers best, covers worst: how often the ordinary 95% interval of the best and of the worst arm "
        "contains its mean after a run / with pulls that do not depend on the rewards. "
        "Family: the reward family whose likelihood or divergence the policy uses."
    )
    return table_of(rows, text_columns=(0, len(rows[0]) - 1), caption=caption)


def format_coverage(row: Mapping[str, float | None], arm: str) -> str:
    """Format how often intervals of an arm contain its mean, and how often with fixed pulls."""
    share, fixed = row[f"cover_{arm}"], row[f"fixed_{arm}"]
    return "-" if share is None or fixed is None else f"{share:.0%} / {fixed:.0%}"


def format_estimate(row: Mapping[str, float | None], column: str) -> str:
    """Format a number of the standings with its interval."""
    value, low, high = (row.get(f"{column}{end}") for end in ("", "_low", "_high"))
    return "-" if value is None else f"{value:.2f} ({low:.2f} to {high:.2f})"


def worst_case_table(league: League) -> Table:
    """Return the worst bandits that the search found."""
    rows = [
        {
            "policy": row["policy"],
            "regret / sqrt(K T)": f"{row['ratio']:.3g} ({row['se']:.2g})",
            "worst 5%": f"{row['worst05']:.3g}",
            "arms": str(row["arms"]),
            "largest mean": f"{row['mean']:.3g}",
            "near arms, gap": f"{row['near']} at {row['gap']:.2g}",
        }
        for row in league.worst_cases.to_dicts()
    ]
    caption = "Evaluated on runs that the search has not used. The true worst case is at least as bad."
    return table_of(rows, caption=caption)


def absence_table(league: League) -> Table:
    """Return which policies do not play, where, and why."""
    absent = league.scores.filter(runs=0).group_by("policy", "note", maintain_order=True).agg("testbed")
    rows = [[policy, note, Cell(", ".join(names), "long")] for policy, note, names in absent.iter_rows()]
    return Table(["policy", "reason", "testbeds"], rows, (0, 1, 2))


def testbeds_table(league: League) -> Table:
    """Return the testbeds with their sources."""
    rows = [
        {
            "testbed": row["testbed"],
            "kind": row["group"],
            "arms": f"{row['arms']:,}",
            "horizon": f"{row['horizon']:,}",
            "source or reason": Cell(row["reason"], "long"),
        }
        for row in league.testbeds.to_dicts()
    ]
    return table_of(rows, (0, 1, 4))


def testbed_folds(league: League) -> list[Part]:
    """Return one table for each testbed."""
    caption = (
        "Failures: the share of runs no better than uniform play. Bias: of the mean of the worst arm, in "
        "deviations of a reward. Spread: deviation of its pulls over their mean. Times: on this machine."
    )
    parts: list[Part] = []
    for (name,), scores in league.scores.group_by("testbed", maintain_order=True):
        rows = [
            {
                "policy": row["policy"],
                "mean (se)": format_number(row["mean"])
                + ("" if row["se"] is None else f" ({format_number(row['se'])})"),
                "worst 5%": format_number(row["worst05"]),
                "failures": "-" if row["failures"] is None else percent(row["failures"]),
                "covers best": format_coverage(row, "best"),
                "covers worst": format_coverage(row, "worst"),
                "bias": format_number(row["bias_worst"]),
                "spread": format_number(row["spread_worst"]),
                "ns per step": format_number(row["ns_per_step"]),
                "runs": f"{row['runs']:,}",
                "note": Cell(row["note"], "long"),
            }
            for row in scores.sort("mean", nulls_last=True, maintain_order=True).to_dicts()
        ]
        parts.append(Fold(str(name), [table_of(rows, (0, 10), caption)]))
    return parts

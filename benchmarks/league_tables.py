"""Print the tables of docs/evidence/league.md as Markdown, from the folder of a league.

    lowregret league --size quick --seed 1 --out FOLDER
    python benchmarks/league_tables.py FOLDER [FOLDER_OF_STANDARD]

The second folder, of a league of size standard or full, gives the column of worst cases. What MOSSV must
hold is printed by benchmarks/successor.py.
"""

import sys
from math import exp
from pathlib import Path
from typing import Any

import polars as pl

from lowregret.suite.league_testbeds import TESTBEDS


def interval(row: dict[str, Any], name: str) -> str:
    """Return an estimate with its 95% interval."""
    return f"{row[name]:.2f} ({row[name + '_low']:.2f} to {row[name + '_high']:.2f})"


def standings(table: pl.DataFrame, scope: str, worst: dict[str, float]) -> None:
    """Print the standings of a scope."""
    part = table.filter(scope=scope)
    print(f"\n{scope}, {part['testbeds'].max()} testbeds\n")
    print("| policy | rank | regret to MOSS |" + (" worst case |" if worst else ""))
    print("|---|---|---|" + ("---|" if worst else ""))
    for row in part.iter_rows(named=True):
        cells = [row["policy"], *(interval(row, name) for name in ("rank", "to_moss"))]
        if worst:
            cells.append(f"{worst[row['policy']]:.2f}" if row["policy"] in worst else "-")
        print(f"| {' | '.join(cells)} |")


def elsewhere(scores: pl.DataFrame, placed: set[str]) -> None:
    """Print the policies that play on some of the testbeds with rewards 0 and 1, beside others there."""
    binary = [name for name, bed in TESTBEDS.items() if bed.bandit().binary]
    means = scores.filter(pl.col("testbed").is_in(binary)).pivot("policy", index="testbed", values="mean")
    others = ("MOSSV", "KLMOSS", "ThompsonBeta")
    print("\nrewards 0 and 1, policies that play on some testbeds: regret to MOSS there\n")
    print(f"| policy | testbeds | its own | {' | '.join(others)} |\n|---|---|---|---|---|---|")
    for policy in sorted(set(means.columns[1:]) - placed):
        played = means.drop_nulls(policy)
        ratios = [exp((played[name] / played["MOSS"]).log().mean() or 0.0) for name in (policy, *others)]
        print(f"| {policy} | {len(played)} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |")


def compared(scores: pl.DataFrame, policy: str, other: str) -> None:
    """Print the ratios of two policies: geometric means over the testbeds, and the extremes of the mean."""
    both = scores.filter(policy=policy).join(scores.filter(policy=other), "testbed", suffix="_other")
    ratios = {name: both[name] / both[f"{name}_other"] for name in ("mean", "worst05")}
    means = ", ".join(f"{name} {exp(ratio.log().mean() or 0.0):.3f}" for name, ratio in ratios.items())
    print(f"\n{policy} to {other} on {len(both)} testbeds: {means}; the mean by testbed:")
    by_testbed = sorted(zip(ratios["mean"], both["testbed"], strict=True))
    print(", ".join(f"{testbed} {ratio:.2f}" for ratio, testbed in by_testbed[:3] + by_testbed[-3:]))


def stability(table: pl.DataFrame, scores: pl.DataFrame) -> None:
    """Print what the means are worth on the testbeds with rewards 0 and 1, the error that of covers worst."""
    binary = [name for name, bed in TESTBEDS.items() if bed.bandit().binary]
    variance = pl.col("cover_worst") * (1 - pl.col("cover_worst")) / pl.col("runs")
    part = scores.filter(pl.col("testbed").is_in(binary), pl.col("cover_worst").is_not_null())
    errors = part.group_by("policy").agg(error=variance.sum().sqrt() / pl.len())
    print("\nrewards 0 and 1, what means are worth\n")
    print("| policy | covers best | covers worst | error | bias of worst | spread of its pulls |")
    print("|---|---|---|---|---|---|")
    placed = table.filter(scope="rewards 0 and 1").join(errors, "policy")
    for row in placed.sort("cover_worst", descending=True).iter_rows(named=True):
        covers = (f"{row[f'cover_{arm}']:.1%} ({row[f'fixed_{arm}']:.1%})" for arm in ("best", "worst"))
        rest = f"{row['error']:.1%} | {row['bias_worst']:.2f} | {row['spread_worst']:.2f}"
        print(f"| {row['policy']} | {' | '.join(covers)} | {rest} |")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    table, scores = pl.read_csv(folder / "standings.csv"), pl.read_csv(folder / "scores.csv")
    worst = {}
    if len(sys.argv) > 2:
        cases = pl.read_csv(Path(sys.argv[2]) / "worst_cases.csv")
        worst = dict(zip(cases["policy"], cases["ratio"], strict=True))
    runs = scores.filter(pl.col("runs") > 0)["runs"]
    print(f"{scores['policy'].n_unique()} policies, {runs.min()} to {runs.max()} runs")
    for scope in table["scope"].unique(maintain_order=True):
        standings(table, scope, worst)
    elsewhere(scores.filter(pl.col("runs") > 0), set(table.filter(scope="rewards 0 and 1")["policy"]))
    compared(scores.filter(pl.col("runs") > 0), "MOSSV", "MOSSV(peers=0)")
    stability(table, scores.filter(pl.col("runs") > 0))
    left_out = scores.filter(pl.col("note").str.starts_with("a run would take")).group_by("policy").len()
    print("\nToo slow for some testbeds:", dict(left_out.sort("policy").iter_rows()))

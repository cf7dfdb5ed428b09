"""Print what MOSSV must hold in the league, and where it does not, as in docs/evidence/successor.md.

    python benchmarks/successor.py [SIZE]

SIZE is that of a league, standard by default, and gives the number of runs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterator, Mapping

import numpy as np
import polars as pl

import lowregret as lr
from lowregret.suite.league_testbeds import TESTBEDS
from lowregret.suite.participants import SIZES, planned_runs
from lowregret.suite.standings import WIN_ERRORS, Regrets, difference, resample

SUCCESSOR, ANYTIME = "MOSSV", "MOSSVAnytime"
RIVALS = ("MOSS", "EUCBV")
KL_MOSS = "KLMOSS"
TAIL_LIMIT, ANYTIME_LIMIT = 1.12, 1.25
HOLDS, FAILS, INCONCLUSIVE = "holds", "fails", "inconclusive"

SCHEMA = {
    **dict.fromkeys(("requirement", "half", "testbed", "rival"), pl.String),
    **dict.fromkeys(("value", "low", "high", "limit"), pl.Float64),
    "verdict": pl.String,
}


def checks(regrets: Regrets, halves: Mapping[str, str], family: Collection[str]) -> pl.DataFrame:
    """Check each requirement on every testbed, and the geometric means on each half.

    ``value`` is a ratio of regrets, that of MOSSV to the rival's (or of its anytime form to MOSSV's), with
    its 95% bootstrap interval. *mean*: the paired difference may exceed 0 by at most three standard errors.
    *worst 5%* and *anytime*: the ratio may not exceed the limit; the verdict is inconclusive where the
    interval contains the limit and the estimate exceeds it. *geometric mean*: over the testbeds of a half
    that both played on, against every other policy. Those that use the likelihood or the divergence of a
    reward family, as MOSSV itself does, are named in ``family``.
    """
    rows = [
        {"half": halves[name], "testbed": name, **row}
        for name, by_policy in regrets.items()
        if SUCCESSOR in by_policy
        for row in _on_testbed(by_policy)
    ]
    for half in dict.fromkeys(halves.values()):
        part = {bed: by_policy for bed, by_policy in regrets.items() if halves[bed] == half}
        rows += [{"half": half, "testbed": "", **row} for row in _geometric(part, family)]
    return pl.DataFrame(rows, schema=SCHEMA)


def _on_testbed(by_policy: Mapping[str, np.ndarray]) -> Iterator[dict[str, object]]:
    rng = np.random.default_rng(0)
    names = [name for name in (SUCCESSOR, ANYTIME, *RIVALS) if name in by_policy]
    means, tails = resample([by_policy[name] for name in names], rng)
    for rival in RIVALS:
        if rival not in by_policy:
            continue
        excess, error = difference(by_policy[SUCCESSOR], by_policy[rival])
        row = _ratio(means, names.index(SUCCESSOR), names.index(rival), 1.0)
        verdict = HOLDS if excess <= WIN_ERRORS * error else FAILS
        yield {"requirement": "mean", "rival": rival, **row, "verdict": verdict}
    if "MOSS" in by_policy:
        row = _ratio(tails, names.index(SUCCESSOR), names.index("MOSS"), TAIL_LIMIT)
        yield {"requirement": "worst 5%", "rival": "MOSS", **row}
    if ANYTIME in by_policy:
        row = _ratio(means, names.index(ANYTIME), names.index(SUCCESSOR), ANYTIME_LIMIT)
        yield {"requirement": "anytime", "rival": SUCCESSOR, **row}


def _ratio(values: np.ndarray, first: int, second: int, limit: float) -> dict[str, object]:
    ratios = values[:, first] / np.maximum(values[:, second], 1e-12)
    low, high = np.quantile(ratios[1:], [0.025, 0.975])
    verdict = HOLDS if ratios[0] <= limit else INCONCLUSIVE if low <= limit else FAILS
    return {
        "value": float(ratios[0]), "low": float(low), "high": float(high), "limit": limit, "verdict": verdict
    }  # fmt: skip


def _geometric(regrets: Regrets, family: Collection[str]) -> Iterator[dict[str, object]]:
    played = {bed: by_policy for bed, by_policy in regrets.items() if SUCCESSOR in by_policy}
    rng = np.random.default_rng(0)
    rivals = dict.fromkeys(name for by_policy in played.values() for name in by_policy)
    for rival in sorted(rivals, key=lambda name: name in family):  # those without a family first
        if rival in (SUCCESSOR, ANYTIME):
            continue
        parts = [
            np.log(np.maximum(resample([by_policy[SUCCESSOR], by_policy[rival]], rng).mean, 1e-12))
            for by_policy in played.values()
            if rival in by_policy
        ]
        logs = np.mean([part[:, 0] - part[:, 1] for part in parts], axis=0)
        row = _ratio(np.exp(np.stack([logs, np.zeros_like(logs)], axis=1)), 0, 1, 1.0)
        requirement = "geometric mean, family" if rival in family else "geometric mean"
        yield {"requirement": requirement, "rival": rival, **row}


def counted(table: pl.DataFrame) -> pl.DataFrame:
    """Count the verdicts by requirement, rival and half; geometric means are counted over the rivals."""
    geometric = pl.col("requirement").str.starts_with("geometric mean")
    return (
        table.with_columns(rival=pl.when(geometric).then(pl.lit("every policy")).otherwise("rival"))
        .group_by("requirement", "rival", "half", maintain_order=True)
        .agg(
            *(
                (pl.col("verdict") == verdict).sum().alias(verdict)
                for verdict in (HOLDS, INCONCLUSIVE, FAILS)
            ),
            worst=pl.col("value").max(),
            limit=pl.col("limit").first(),
        )
    )


def print_requirements(table: pl.DataFrame) -> None:
    """Print how often each requirement holds, and where it does not, as Markdown."""
    print("| requirement | rival | half | holds | inconclusive | fails | largest ratio |")
    print("|---|---|---|---|---|---|---|")
    for row in counted(table).iter_rows(named=True):
        names = ("requirement", "rival", "half", HOLDS, INCONCLUSIVE, FAILS)
        print(f"| {' | '.join(str(row[name]) for name in names)} | {row['worst']:.2f} |")
    print("\n| requirement | rival | half | testbed | ratio | verdict |\n|---|---|---|---|---|---|")
    for row in table.filter(pl.col("verdict") != HOLDS).iter_rows(named=True):
        ratio = f"{row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
        names = row["requirement"], row["rival"], row["half"], row["testbed"] or "all", ratio, row["verdict"]
        print(f"| {' | '.join(names)} |")


def main() -> None:
    size = SIZES[sys.argv[1] if len(sys.argv) > 1 else "standard"]
    regrets, fewest, most = {}, 10**9, 0
    for name, bed in TESTBEDS.items():
        bandit, runs = bed.bandit(), planned_runs(bed.horizon, size)
        low, high = bandit.support
        policies = [SUCCESSOR, ANYTIME, *RIVALS, *([KL_MOSS] if low >= 0 and high <= 1 else [])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # EUCBV: no guarantee for this horizon
            result = lr.simulate(policies, bandit, runs=runs, seed=1, grid=1, progress=False)
        regrets[name] = {policy: result.regret(policy) for policy in policies}
        fewest, most = min(fewest, runs), max(most, runs)
        print(f"{name}, {runs} runs:", *(f"{regrets[name][p].mean():.4g}" for p in policies), file=sys.stderr)
    print(f"{fewest:,} to {most:,} runs\n")
    print_requirements(checks(regrets, {name: bed.half for name, bed in TESTBEDS.items()}, [KL_MOSS]))


if __name__ == "__main__":
    main()

"""Play policies so often that rare failures show, and print how their regret is distributed.

    python benchmarks/tails.py [--runs N] [--engine NAME] [--policies NAME ...] [--seconds S]
        [--figure FILE.svg] [TESTBED ...]

A run fails if its regret is above that of uniform play. The table has the mean with its standard error, the
mean of the worst 5% of the runs, quantiles, and the failures in a million runs with their exact 95% limits.
With ``--engine cuda`` 10^7 runs of most policies take less than a minute. The testbed "all" stands for every
testbed of the league that has ten arms or more. The figure has the share of runs above each regret on the
first testbed, with its exact 95% limits; it alone needs polars.
"""

from __future__ import annotations

import argparse
import sys
import time
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from lowregret.engine.backends import run
from lowregret.engine.problem import Problem
from lowregret.policies import Policy
from lowregret.policies.policy_string import policy
from lowregret.suite.league_testbeds import TESTBEDS, testbed

if TYPE_CHECKING:
    import polars as pl

POLICIES = (
    "EUCBV",
    "EUCBV(width='released')",
    "MOSS",
    "MOSSV",
    "MOSSV(peers=0)",
    "MOSSV(caution=2, peers=0)",
    "KLUCBPlusPlus",
)
BEDS = ("paper-1", "half", "near-0", "best-high-variance")
BLOCK = 1_000_000
"""How many runs are played at a time: their pulls are in memory at once."""
QUANTILES = (0.5, 0.01, 1e-4, 1e-6)
"""The shares of runs with a regret above the numbers of the table."""
HEADER = (
    "testbed",
    "policy",
    "runs",
    "mean (se)",
    "worst 5%",
    "median",
    "1 in 100",
    "1 in 10^4",
    "1 in 10^6",
    "failures in 10^6",
)


def regrets(player: Policy, name: str, runs: int, engine: str, until: float) -> np.ndarray:
    """Return the regret of each run, of fewer runs where time is up."""
    bandit, parts = testbed(name).bandit(), []
    for first in range(0, runs, BLOCK):
        problem = Problem(
            player,
            bandit,
            bandit.horizon,
            seed=1,
            first_run=first,
            runs=min(BLOCK, runs - first),
            grid=np.array([bandit.horizon]),
        )
        parts.append(run(problem, engine).regret[:, -1])
        if time.monotonic() > until:
            break
    return np.sort(np.concatenate(parts))


def row(regret: np.ndarray, uniform: float) -> list[str]:
    """Return the numbers of one policy on one testbed."""
    runs = len(regret)
    failures = int((regret > uniform).sum())
    low, high = (1e6 * end for end in stats.binomtest(failures, runs).proportion_ci())
    quantiles = [
        f"{regret[min(ceil(runs * (1 - share)), runs - 1)]:.4g}" if runs * share >= 1 else "too few runs"
        for share in QUANTILES
    ]
    error = regret.std(ddof=1) / runs**0.5
    worst = regret[runs - ceil(0.05 * runs) :].mean()
    rate = f"{1e6 * failures / runs:.4g} ({low:.3g} to {high:.3g})"
    return [f"{runs:,}", f"{regret.mean():.5g} ({error:.2g})", f"{worst:.5g}", *quantiles, rate]


def survival(name: str, regret: np.ndarray) -> pl.DataFrame:
    """Return the share of runs with at least some regret, at 200 regrets, with its exact 95% limits."""
    import polars as pl

    runs = len(regret)
    above = np.unique(np.geomspace(1, runs, 200).astype(int))
    return pl.DataFrame(
        {
            "policy": name,
            "x": regret[runs - above],
            "mean": above / runs,
            "low": stats.beta.ppf(0.025, above, runs - above + 1),
            "high": np.nan_to_num(stats.beta.ppf(0.975, above + 1, runs - above), nan=1.0),
        }
    ).sort("x", "mean", descending=[False, True])


def draw(curves: list[pl.DataFrame], name: str, runs: int, path: str) -> None:
    """Draw the curves of one testbed on logarithmic axes."""
    import polars as pl

    from lowregret.reporting.line_chart import Axis, line_chart

    table = pl.concat(curves)
    low, high = float(table["x"].quantile(0.002) or 1.0), 1.1 * float(table["x"].max() or 1.0)  # type: ignore[arg-type]
    x = Axis("regret", low, high, log=True)
    y = Axis("share of runs with at least this regret", 0.5 / runs, 1.0, log=True)
    title = f"How regret is distributed on {name}, {runs:,} runs"
    line_chart(table, title, x, y, heading="format(datum.x, '.4~r')", unit="regret").save(path)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("testbeds", nargs="*", default=BEDS)
    parser.add_argument("--runs", type=lambda text: int(float(text)), default=100_000)
    parser.add_argument("--engine", default="compiled")
    parser.add_argument("--policies", nargs="+", default=POLICIES)
    parser.add_argument("--seconds", type=float, default=1e9, help="start no further block after this time")
    parser.add_argument("--figure", help="draw the first testbed")
    options = parser.parse_args()
    until = time.monotonic() + options.seconds
    names = options.testbeds
    if names == ["all"]:
        names = [name for name in TESTBEDS if len(testbed(name).bandit()) >= 10]
    curves: list[pl.DataFrame] = []
    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}")
    for name in names:
        bandit = testbed(name).bandit()
        uniform = bandit.horizon * float(bandit.means.max() - bandit.means.mean())
        for text in options.policies:
            if time.monotonic() > until:
                sys.exit("time is up: the rest was not played")
            regret = regrets(policy(text), name, options.runs, options.engine, until)
            print(f"| {name} | {text} | {' | '.join(row(regret, uniform))} |", flush=True)
            if options.figure and name == names[0]:
                curves.append(survival(text, regret))
    if options.figure:
        draw(curves, names[0], options.runs, options.figure)


if __name__ == "__main__":
    main()

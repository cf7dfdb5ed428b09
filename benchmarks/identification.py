"""Which policy names the wrong arm least often, at the budgets of Audibert, Bubeck and Munos (2010).

``python benchmarks/identification.py [runs]`` plays the seven problems of ``reproductions/audibert2010``,
500 times by default, and prints the share of wrong recommendations as a Markdown table, ordered by the mean
over the problems, as in docs/evidence/identification.md. ``UCBE`` is told a = 2 T / H of each problem, H the
sum of 1 / gap^2, which no user knows. A standard error of a share is at most 0.022 at 500 runs.
"""

import sys

import numpy as np

import lowregret as lr
from lowregret.reproductions.sheet import read_sheet

POLICIES = (
    *("SuccessiveRejects", "SequentialHalving", "SequentialHalving(reset=True)", "TopTwoThompson"),
    *("EBTC(delta=0.001, variance=0.25)", "LUCB(delta=0.001)", "MOSS", "MOSSV", "ThompsonBeta", "UCB1"),
    "RoundRobin",
)
KNOWING = "UCBE, a = 2 T / H"


def hardness(bandit: lr.Bandit) -> float:
    """Return the sum of 1 / gap^2 over all arms, with the smallest gap for the best one."""
    gaps = np.asarray(bandit.gaps)
    return float((1.0 / np.where(gaps > 0.0, gaps, gaps[gaps > 0.0].min()) ** 2).sum())


def errors(bandit: lr.Bandit, budget: int, runs: int) -> dict[str, float]:
    """Return the share of wrong recommendations after the budget, by policy."""
    told = lr.UCBE(a=2.0 * budget / hardness(bandit))
    result = lr.simulate([*POLICIES, told], bandit, budget, runs, 1, grid=1, record_recommendations=True)
    rows = result.identification().select("policy", "error").iter_rows()
    return {KNOWING if name == str(told) else name: error for name, error in rows}


def main(runs: int = 500) -> None:
    cases = read_sheet("audibert2010").files["problems"].resolved_environments[:7]
    table = [errors(case.bandit, case.horizon, runs) for case in cases]
    means = {policy: float(np.mean([row[policy] for row in table])) for policy in table[0]}
    names = [case.name.removesuffix(" of bad arms").removesuffix(" progression") for case in cases]
    print(f"| policy | mean | {' | '.join(names)} |\n|---|{'---|' * (len(cases) + 1)}")
    for policy in sorted(means, key=means.__getitem__):
        print(f"| {policy} | {means[policy]:.3f} | {' | '.join(f'{row[policy]:.3f}' for row in table)} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

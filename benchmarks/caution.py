"""Compare mean regret with the probability of a failure, as in docs/evidence/successor.md.

    python benchmarks/caution.py [RUNS [TESTBED ...]]

A run fails if its regret is above that of uniform play. Cells: mean regret, mean of the worst 5%, failures in
10,000 runs with their 95% interval.
"""

import sys

import numpy as np
from scipy import stats

import lowregret as lr
from lowregret.analysis.summary import tail_mean
from lowregret.suite.league_testbeds import testbed

TESTBEDS = (
    *("half", "near-0", "near-1", "spread", "two-arms"),
    *("best-low-variance", "best-high-variance", "beta", "paper-1"),
)
POLICIES = (
    lr.MOSS(),
    lr.KLMOSS(),
    lr.MOSSV(peers=0),
    lr.MOSSV(),
    lr.MOSSV(caution=0.5, peers=0),
    lr.MOSSV(caution=2, peers=0),
)


def cell(regret: np.ndarray, uniform: float) -> str:
    """Return the numbers of one policy on one testbed."""
    failures = int((regret > uniform).sum())
    low, high = (10_000 * end for end in stats.binomtest(failures, len(regret)).proportion_ci())
    rate = 10_000 * failures / len(regret)
    error = regret.std(ddof=1) / len(regret) ** 0.5
    return f"{regret.mean():.4g} ({error:.2g}), {tail_mean(regret):.4g}, {rate:.3g} ({low:.0f} to {high:.0f})"


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print(f"| testbed | {' | '.join(map(str, POLICIES))} |\n|---|{'---|' * len(POLICIES)}")
    for name in sys.argv[2:] or TESTBEDS:
        bandit = testbed(name).bandit()
        result = lr.simulate(POLICIES, bandit, runs=runs, seed=1, grid=1, threads=1, progress=False)
        uniform = bandit.horizon * (bandit.means.max() - bandit.means.mean())
        print(f"| {name} | {' | '.join(cell(result.regret(p), uniform) for p in POLICIES)} |", flush=True)


if __name__ == "__main__":
    main()

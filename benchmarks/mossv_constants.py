"""Compare constants of MOSSV on the development half of the league: a table of docs/successor.md.

python benchmarks/mossv_constants.py [STEPS]
"""

import sys

import numpy as np

import lowregret as lr
from lowregret.suite.league_testbeds import DEVELOPMENT, TESTBEDS

POLICIES = (
    lr.MOSSV(),
    lr.MOSSV(a=1.05, c=1.2),
    lr.MOSSV(a=1.5, c=1.4),
    *(lr.MOSSV(caution=caution) for caution in (0.25, 0.5, 1, 2)),
)


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    rows = []
    for name, bed in TESTBEDS.items():
        if bed.half == DEVELOPMENT:
            runs = min(2_000, max(20, steps // bed.horizon))
            result = lr.simulate(
                [lr.MOSS(), *POLICIES], bed.bandit(), runs=runs, seed=2, grid=1, progress=False
            )
            means = np.array([result.regret(policy).mean() for policy in (lr.MOSS(), *POLICIES)])
            rows.append(means[1:] / means[0])
            print(name, runs, rows[-1].round(3), file=sys.stderr)
    geometric = np.exp(np.log(rows).mean(axis=0))
    print(f"| {' | '.join(map(str, POLICIES))} |\n|{'---|' * len(POLICIES)}")
    print(f"| {' | '.join(f'{value:.3f}' for value in geometric)} |")


if __name__ == "__main__":
    main()

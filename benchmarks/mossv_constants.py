"""Compare constants of MOSSV on the development half of the league, as in docs/evidence/successor.md.

python benchmarks/mossv_constants.py [STEPS]

A testbed has STEPS / T runs, at least 20 and at most 100,000. Cells: geometric mean over the testbeds of the
mean regret divided by that of MOSS, with its standard error over the runs.
"""

import sys

import numpy as np

import lowregret as lr
from lowregret.suite.league_testbeds import DEVELOPMENT, TESTBEDS

POLICIES = (
    lr.MOSSV(peers=0),
    lr.MOSSV(a=1.05, c=1.2, peers=0),
    lr.MOSSV(a=1.5, c=1.4, peers=0),
    lr.MOSSV(a=2.1, c=2.4, peers=0),
    *(lr.MOSSV(caution=caution, peers=0) for caution in (0.25, 0.5, 1, 2)),
)


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    logs, errors = [], []
    for name, bed in TESTBEDS.items():
        if bed.half == DEVELOPMENT:
            runs = min(100_000, max(20, steps // bed.horizon))
            everyone = [lr.MOSS(), *POLICIES]
            result = lr.simulate(everyone, bed.bandit(), runs=runs, seed=2, grid=1, threads=1, progress=False)
            regrets = np.array([result.regret(policy) for policy in everyone])
            means = regrets.mean(axis=1)
            relative = regrets / means[:, None]
            logs.append(np.log(means[1:] / means[0]))
            errors.append((relative[1:] - relative[0]).std(axis=1, ddof=1) / runs**0.5)
            print(name, runs, np.exp(logs[-1]).round(3), file=sys.stderr, flush=True)
    geometric = np.exp(np.mean(logs, axis=0))
    spread = geometric * np.sqrt(np.square(errors).sum(axis=0)) / len(logs)
    print(f"| {' | '.join(map(str, POLICIES))} |\n|{'---|' * len(POLICIES)}")
    print(f"| {' | '.join(f'{m:.4f} ({e:.4f})' for m, e in zip(geometric, spread, strict=True))} |")


if __name__ == "__main__":
    main()

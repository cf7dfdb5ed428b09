"""Print what MOSSV's default costs and gains with two, three and four arms, on testbeds of its own.

    python benchmarks/few_arms.py [RUNS]

With two arms different values of ``caution`` are compared; the default acts as ``caution=1`` there.
A run fails if its regret is above that of uniform play. Seed 5, by default 20,000 runs.
"""

import sys

import numpy as np

import lowregret as lr
from lowregret.analysis.summary import tail_mean
from lowregret.engine.backends import run
from lowregret.engine.problem import Problem

TESTBEDS = {
    "0.30, 0.36": (lr.bernoulli([0.3, 0.36]), 8_000),
    "0.04, 0.05": (lr.bernoulli([0.04, 0.05]), 40_000),
    "0.20 twice, 0.25": (lr.bernoulli([0.2, 0.2, 0.25]), 12_000),
    "0.30 three times, 0.36": (lr.bernoulli([0.3, 0.3, 0.3, 0.36]), 16_000),
    "0.10 twice, 0.34, 0.40": (lr.bernoulli([0.1, 0.1, 0.34, 0.4]), 16_000),
    "0.02 three times, 0.03": (lr.bernoulli([0.02] * 3 + [0.03]), 60_000),
    "0.36 three times, 0.20": (lr.bernoulli([0.36] * 3 + [0.2]), 16_000),
}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    print("| arms | policy | mean (se) | worst 5% | failures in 10^6 |\n|---|---|---|---|---|")
    for name, (bandit, horizon) in TESTBEDS.items():
        uniform = horizon * float(bandit.means.max() - bandit.means.mean())
        cautions = (0.5, 1, 2) if len(bandit) == 2 else ()
        policies = [
            lr.MOSSV(peers=0),
            *(lr.MOSSV(caution=caution, peers=0) for caution in cautions),
            lr.MOSSV(),
        ]
        for policy in policies:
            problem = Problem(policy, bandit, horizon, 5, runs=runs, grid=np.array([horizon]))
            regret = run(problem).regret[:, -1]
            error, failed = regret.std(ddof=1) / runs**0.5, 1e6 * (regret > uniform).mean()
            cells = f"{regret.mean():.4g} ({error:.2g}) | {tail_mean(regret):.4g} | {failed:.0f}"
            print(f"| {name} | {policy} | {cells} |", flush=True)


if __name__ == "__main__":
    main()

"""Play the paper's four experiments with the successor MOSSV.

Mean regret of MOSSV, with and without a known horizon, beside EUCBV, MOSS and UCB-V. A second argument is
the number of runs: docs/evidence/successor.md has 40.
"""

import sys

import polars as pl

import lowregret as lr

POLICIES = [lr.UCBV(), lr.EUCBV(), lr.MOSS(), lr.MOSSVAnytime(), lr.MOSSV()]

if __name__ == "__main__":
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    experiment = lr.Experiment(
        name="the paper's experiments",
        environments=["paper-1", "paper-2", "paper-3", "paper-4"],
        policies=POLICIES,
        runs=runs,
        seed=1,
    )
    result = experiment.run()
    table = result.summary()
    for name in result.environments:
        with pl.Config(float_precision=1):
            print(name, table.filter(environment=name).select("policy", "mean", "se", "worst05"))
    if len(sys.argv) > 1:
        result.plot().save(sys.argv[1])

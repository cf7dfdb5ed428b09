"""Play 10,000 arms on one core.

The simulator evaluates only the arms that could be chosen, and still chooses the same arms as a scan of
all. The figure shows the time a step against the number of arms, with 100 steps for each arm.
"""

import sys
from time import perf_counter

import altair as alt
import polars as pl

import lowregret as lr


def nanoseconds(policy, arms):
    """Return the time a step, compilation excluded."""
    bandit = lr.bernoulli([0.07] * (arms - 1) + [0.10])
    lr.simulate(policy, bandit, horizon=2 * arms, runs=1)
    runs, horizon = max(200_000 // (100 * arms), 1), 100 * arms
    began = perf_counter()
    lr.simulate(policy, bandit, horizon=horizon, runs=runs, grid=1, threads=1)
    return 1e9 * (perf_counter() - began) / (runs * horizon)


if __name__ == "__main__":
    policies = [lr.MOSS(), lr.MOSSV(), lr.ThompsonGauss()]
    sizes = [10, 100, 1_000] + [10_000] * (len(sys.argv) > 1)
    rows = [(str(policy), arms, nanoseconds(policy, arms)) for policy in policies for arms in sizes]
    table = pl.DataFrame(rows, ["policy", "arms", "nanoseconds"], orient="row")
    if len(sys.argv) > 1:
        log = alt.Scale(type="log")
        line = (
            alt.Chart(table)
            .mark_line(point=True)
            .encode(
                alt.X("arms", scale=log),
                alt.Y("nanoseconds", title="nanoseconds a step", scale=log),
                color="policy",
            )
        )
        line.save(sys.argv[1])
    print(table.pivot("arms", index="policy").with_columns(pl.selectors.float().round(0)))

"""Simulate delayed rewards.

Clicks come after 20 steps or so. A visitor who has not clicked counts as 0 after 500 steps. The delay slows
every policy down at the start. Without a window, early clicks mislead as well: at first the means consist of
clicks alone.
"""

import sys

import altair as alt
import polars as pl

import lowregret as lr

if __name__ == "__main__":
    bandit = lr.bernoulli([0.02, 0.03, 0.04, 0.05, 0.10])
    delays = {
        "none": 0,
        "500 steps": 500,
        "clicks after 20, zeros after 500": lr.Delay.by_reward(positive=lr.Delay.geometric(20), other=500),
    }
    policies = [lr.EUCBV(), lr.MOSSV(), lr.ThompsonBeta()]
    tables = []
    for name, delay in delays.items():
        result = lr.simulate(policies, bandit, horizon=10_000, runs=100, seed=1, delay=delay)
        tables.append(result.summary().select(pl.lit(name).alias("delay"), "policy", "mean", "se", "worst05"))
    table = pl.concat(tables)
    print(table)
    if len(sys.argv) > 1:
        bars = (
            alt.Chart(table)
            .mark_bar()
            .encode(
                alt.X("mean", title="mean regret"),
                alt.Y("delay", sort=None, title=None),
                alt.Color("delay", legend=None),
            )
        )
        bars.properties(width=180).facet(alt.Facet("policy", title=None)).save(sys.argv[1])

"""Sweep a parameter, and see what a small mean costs in the tail.

The bound of UCB1 is proved for alpha = 2. A smaller alpha explores less: the mean regret falls, until some
runs miss the best arm and the regret of the worst 5% of the runs grows.
"""

import sys

import altair as alt
import polars as pl

import lowregret as lr

if __name__ == "__main__":
    alphas = [2.0**power for power in range(-6, 2)]
    policies = [lr.UCB1(alpha=alpha) for alpha in alphas]
    result = lr.simulate(policies, lr.bernoulli([0.4, 0.5]), horizon=10_000, runs=1_000, seed=1)
    table = result.summary().select(pl.Series("alpha", alphas), "mean", "se", "worst05")
    print(table)
    if len(sys.argv) > 1:
        long = table.unpivot(["mean", "worst05"], index="alpha", variable_name="regret")
        line = alt.Chart(long).mark_line(point=True)
        x = alt.X("alpha", scale=alt.Scale(type="log", base=2))
        line.encode(x, alt.Y("value", title="regret"), alt.Color("regret", title=None)).save(sys.argv[1])

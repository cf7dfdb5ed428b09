"""Look at the tail, not only at the mean.

The share of runs whose regret exceeds a value. A policy with a small mean may have a few runs in which it
never finds the best arm.
"""

import sys

import altair as alt
import polars as pl

import lowregret as lr

if __name__ == "__main__":
    policies = [lr.EpsilonGreedy(epsilon=0.05), lr.UCB1(alpha=0.2), lr.MOSS(), lr.MOSSV()]
    result = lr.simulate(policies, lr.bernoulli([0.45, 0.5]), horizon=10_000, runs=2_000, seed=1)
    print(result.summary().select("policy", "mean", "median", "p95", "worst05"))
    if len(sys.argv) > 1:
        runs = [
            pl.DataFrame({"regret": sorted(result.regret(str(policy)))}).with_columns(
                share=1 - pl.int_range(pl.len()) / pl.len(), policy=pl.lit(str(policy))
            )
            for policy in policies
        ]
        y = alt.Y("share", title="share of runs above", scale=alt.Scale(type="log"))
        every = pl.concat(each.gather_every(10) for each in runs)
        alt.Chart(every).mark_line().encode(x="regret", y=y, color=alt.Color("policy", title=None)).save(
            sys.argv[1]
        )

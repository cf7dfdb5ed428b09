"""Compare in pairs: the same rewards for every policy.

The n-th pull of an arm in run r has the same reward for every policy. The difference of two policies in a run
therefore varies less than the difference of two independent runs. On the dashed line both regrets are equal.
"""

import sys

import altair as alt
import numpy as np
import polars as pl

import lowregret as lr

if __name__ == "__main__":
    policies = [lr.KLUCB(), lr.KLUCBPlus()]
    result = lr.simulate(policies, lr.bernoulli([0.1, 0.2, 0.3]), horizon=5_000, runs=500, seed=1)
    print(result.compare("KLUCB"))
    first, second = (result.regret(str(policy)) for policy in policies)
    independent = np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / len(first))
    paired = (second - first).std(ddof=1) / np.sqrt(len(first))
    print(f"standard error of the difference: paired {paired:.2f}, independent {independent:.2f}")
    if len(sys.argv) > 1:
        base = alt.Chart(pl.DataFrame({"KLUCB": first, "KLUCBPlus": second}))
        x, y = alt.X("KLUCB", title="regret of KLUCB in a run"), alt.Y("KLUCBPlus", title="of KLUCBPlus")
        equal = base.mark_line(color="grey", strokeDash=[4, 4]).encode(x, alt.Y("KLUCB"))
        (equal + base.mark_point(opacity=0.4).encode(x, y)).save(sys.argv[1])

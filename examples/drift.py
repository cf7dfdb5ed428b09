"""See what a policy does when the best arm changes.

The last arm becomes the best one at step 5,001. A policy for constant means returns to it late, or never if
it has eliminated it. Policies made for means that change forget old rewards, or detect the change. A second
argument is the number of runs: ``python examples/drift.py docs/images/drift.svg 100`` draws the figure in
docs/how-to/drift.md.
"""

import sys

import polars as pl

import lowregret as lr

CHANGE, HORIZON = 5_001, 10_000
BANDIT = lr.piecewise_drift(lr.bernoulli([0.6, 0.5, 0.5, 0.4, 0.4]), {CHANGE: [0.6, 0.5, 0.5, 0.4, 0.8]})
POLICIES = [
    lr.EUCBV(),
    lr.MOSSV(),
    lr.DiscountedUCB(gamma=0.9975),
    lr.SlidingWindowUCB(tau=600),
    lr.DiscountedThompson(gamma=0.9975),
    lr.GLRKLUCB(every=10),
]

if __name__ == "__main__":
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    result = lr.simulate(POLICIES, BANDIT, HORIZON, runs=runs, seed=1, grid=100)
    before = result.curves().filter(t=CHANGE - 1).select("policy", before="mean")
    table = result.summary().join(before, on="policy").with_columns(after=pl.col("mean") - pl.col("before"))
    with pl.Config(float_precision=0, tbl_width_chars=120):
        print(table.select("policy", "before", "after", "mean", "se"))
    if len(sys.argv) > 1:
        title = f"Arm 4 becomes the best one at step {CHANGE:,}"
        result.plot(band="spread", title=title).save(sys.argv[1])

"""See what policies do with arms that wear out or improve with their own pulls, or are replaced by new ones.

Rotting arms pay less the more they are pulled, rising arms more, and arms that are replaced begin again. A
second argument is the number of runs: with ``docs/images/changing-arms.svg 100`` as arguments it draws the
figure in docs/how-to/drift.md.
"""

import sys

import polars as pl

import lowregret as lr

HORIZON = 10_000
EXPERIMENT = {
    "name": "arms that change",
    "environments": [
        {"name": "rotting", "environment": "bernoulli:0.9,0.6,0.5 | rotting: means=0.1,0.5,0.5; scale=1000"},
        {"name": "rising", "environment": "bernoulli:0.1,0.5,0.4 | rising: means=0.9,0.6,0.5; scale=1000"},
        {"name": "replaced", "environment": "bernoulli:uniform(0,1)*10 | replaced: rate=0.001"},
    ],
    "policies": ["ThompsonBeta", "UCB1", "SlidingWindowUCB(tau=600)", "DiscountedThompson(gamma=0.9975)"],
    "horizon": HORIZON,
    "seed": 1,
}

if __name__ == "__main__":
    result = lr.Experiment(runs=int(sys.argv[2]) if len(sys.argv) > 2 else 4, **EXPERIMENT).run()
    with pl.Config(float_precision=0, tbl_rows=12, fmt_str_lengths=40):
        print(result.summary().select("environment", "policy", "mean", "se"))
    if len(sys.argv) > 1:
        result.plot(band="spread").save(sys.argv[1])

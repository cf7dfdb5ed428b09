"""Compare MOSSV with MOSS on random bandits with rewards in [0, 1]: the last numbers of docs/successor.md.

python benchmarks/random_bandits.py [BANDITS [RUNS]]
"""

import sys

import numpy as np

import lowregret as lr
from lowregret.analysis.summary import tail_mean
from lowregret.suite.worst_case import _draw

if __name__ == "__main__":
    bandits = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    rng = np.random.default_rng(1)
    means, tails = [], []
    for seed in range(bandits):
        arms = int(rng.choice([2, 3, 5, 10, 30, 100]))
        horizon = int(arms * np.exp(rng.uniform(1, 6.5)))
        bandit = _draw(rng, arms, horizon).bandit()
        result = lr.simulate(["MOSSV", "MOSS"], bandit, horizon, runs, seed, grid=1)
        ours, other = result.regret("MOSSV"), result.regret("MOSS")
        means.append(ours.mean() / other.mean())
        tails.append(tail_mean(ours) / tail_mean(other))
    for name, ratios in (("mean regret", np.array(means)), ("worst 5%", np.array(tails))):
        geometric, above = np.exp(np.log(ratios).mean()), int((ratios > 1.05).sum())
        print(
            f"{name} to MOSS: geometric mean {geometric:.2f}, largest {ratios.max():.2f}, {above} above 1.05"
        )

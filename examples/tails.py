"""Look at the tail, not only at the mean.

The share of runs whose regret exceeds a value. A policy with a small mean may have a few runs in which it
never finds the best arm.
"""

import sys

import lowregret as lr

if __name__ == "__main__":
    policies = [lr.EpsilonGreedy(epsilon=0.05), lr.UCB1(alpha=0.2), lr.MOSS(), lr.MOSSV()]
    result = lr.simulate(policies, lr.bernoulli([0.45, 0.5]), horizon=10_000, runs=2_000, seed=1)
    print(result.summary(all=True).select("policy", "mean", "median", "p95", "worst05"))
    if len(sys.argv) > 1:
        result.plot_tail().save(sys.argv[1])

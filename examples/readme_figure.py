"""Draw the mean regret of four policies over time: the figure in README.md.

python examples/readme_figure.py [FILE.svg]
"""

import sys

import lowregret as lr

if __name__ == "__main__":
    bandit = lr.bernoulli([0.07] * 19 + [0.10])
    policies = [lr.UCB1(), lr.EUCBV(), lr.MOSS(), lr.ThompsonBeta()]
    result = lr.simulate(policies, bandit, horizon=60_000, runs=100, seed=1, grid=60)
    print(result.summary().select("policy", "mean", "se"))
    if len(sys.argv) > 1:
        chart = result.plot().properties(title="Nineteen arms of mean 0.07 and one of 0.10")
        chart.save(sys.argv[1])

"""Compare four policies on one bandit.

Nineteen arms of mean 0.07 and one of 0.10, 60,000 pulls. Lines are means over the runs with their 95%
intervals.
"""

import sys

import lowregret as lr

if __name__ == "__main__":
    bandit = lr.bernoulli([0.07] * 19 + [0.10])
    policies = [lr.UCB1(), lr.EUCBV(), lr.MOSS(), lr.MOSSV()]
    result = lr.simulate(policies, bandit, horizon=60_000, runs=100, seed=1)
    print(result)
    if len(sys.argv) > 1:
        result.plot(title="20 arms: 19 of mean 0.07, one of 0.10").save(sys.argv[1])

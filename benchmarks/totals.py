"""Time a step of LBSDA and LDSSDA with the totals of the rewards and without, on rewards of 0 and 1.

Both make the same choices, which is checked. Processor time on one thread, the least of three.

    python benchmarks/totals.py [--horizon 10000]
"""

from argparse import ArgumentParser
from time import process_time

import lowregret as lr
from lowregret.policies import subsampling

BANDITS = {
    "two arms, 0.45 and 0.55": lr.bernoulli([0.45, 0.55]),
    "ten arms, 0.01 to 0.1": lr.bernoulli([0.1, *[0.05] * 3, *[0.02] * 3, *[0.01] * 3]),
    "paper-1": lr.environment("paper-1"),
}
RUNS = 5


def added_up(rewards, start, n):
    """Return the mean of n rewards from a place on, which are added up as if there were no totals."""
    total = 0.0
    for k in range(start, start + n):
        total += rewards[k, 0]
    return total / n


def times_and_regrets(policy, horizon):
    """Return microseconds a step, and the regret of each run, for each bandit."""
    lr.simulate(policy, lr.bernoulli([0.2, 0.5]), 20, runs=1)
    found = []
    for bandit in BANDITS.values():
        seconds = []
        for _ in range(3):
            start = process_time()
            result = lr.simulate(policy, bandit, horizon, RUNS, grid=1, threads=1)
            seconds.append(process_time() - start)
        found.append((min(seconds) / RUNS / horizon * 1e6, result.regret(policy).tolist()))
    return found


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--horizon", type=int, default=10_000)
    horizon = parser.parse_args().horizon
    print(f"| policy, {horizon:,} steps | added up | totals | ratio |\n" + 4 * "|---" + "|")
    names = "LBSDA", "LDSSDA"
    with_totals = {name: times_and_regrets(name, horizon) for name in names}
    subsampling.block_mean = added_up
    for name in names:
        for bandit, new, old in zip(
            BANDITS, with_totals[name], times_and_regrets(name, horizon), strict=True
        ):
            assert new[1] == old[1]
            print(f"| {name}, {bandit} | {old[0]:.2f} µs | {new[0]:.2f} µs | {old[0] / new[0]:.1f} |")


if __name__ == "__main__":
    main()

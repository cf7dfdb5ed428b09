"""Time a step of policies that see all rewards against the same policies without their shortcuts.

The shortcuts are totals of the rewards, and for BESA draws that are decided by a bound as well. That
the choices are the same is checked. Processor time on one thread, the least of three.

    python benchmarks/all_rewards.py [--horizon 10000]
"""

from argparse import ArgumentParser
from math import exp, log
from time import process_time

import lowregret as lr
from lowregret.policies import subsampling

BANDITS = {
    "two arms, 0.1 and 0.9": lr.bernoulli([0.1, 0.9]),
    "two arms, 0.45 and 0.55": lr.bernoulli([0.45, 0.55]),
    "ten arms, 0.01 to 0.1": lr.bernoulli([0.1, *[0.05] * 3, *[0.02] * 3, *[0.01] * 3]),
    "paper-1": lr.environment("paper-1"),
}
POLICIES, RUNS = ("LBSDA", "LDSSDA", "BESA"), 5


def block_sum(rewards, start, n):
    """Return the sum of n rewards from a place on, which are added up."""
    total = 0.0
    for k in range(start, start + n):
        total += rewards[k, 0]
    return total


def subsample_sum(rewards, n, rng):
    """Return the sum of n of the rewards, drawn without replacement, with integers in algorithm S."""
    total, wanted, k = 0.0, n, 0
    while wanted > 0 and len(rewards) - k >= subsampling.SPARSE_RATIO * wanted:
        k += drawn_skip(wanted, len(rewards) - k, rng)
        total += rewards[k, 0]
        k += 1
        wanted -= 1
    while wanted > 0:
        size = len(rewards) - k
        if wanted == size or rng.uniform() * size < wanted:
            total += rewards[k, 0]
            wanted -= 1
        k += 1
    return total


def drawn_skip(n, size, rng):
    """Draw how many of ``size`` items come before the first one of a random set of n, by powers alone."""
    while True:
        x = size * (1.0 - exp(log(1.0 - rng.uniform()) / n))
        s = int(x)
        if s > size - n:
            continue
        limit = (1.0 - rng.uniform()) * size / (size - n + 1.0) * exp((n - 1.0) * log(1.0 - x / size))
        if limit <= exp((n - 1.0) * log(1.0 - s / (size - n + 1.0))):
            return s
        product = 1.0
        if n - 1 <= s:
            for j in range(1, n):
                product *= (size - s - j) / (size - j)
        else:
            product = size / (size - s)
            for j in range(s):
                product *= (size - n - j) / (size - j)
        if limit <= product:
            return s


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
    print(f"| policy, {horizon:,} steps | without | with | ratio |\n" + 4 * "|---" + "|", flush=True)
    fast = {name: times_and_regrets(name, horizon) for name in POLICIES}
    for function in (block_sum, subsample_sum, drawn_skip):
        setattr(subsampling, function.__name__, function)
    for name in POLICIES:
        plain = times_and_regrets(name, horizon)
        for bandit, (old, regret), (new, same) in zip(BANDITS, plain, fast[name], strict=True):
            assert regret == same, f"{name} makes other choices on {bandit}"
            print(f"| {name}, {bandit} | {old:.2f} µs | {new:.2f} µs | {old / new:.1f} |", flush=True)


if __name__ == "__main__":
    main()

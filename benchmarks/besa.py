"""Compare MOSSV with BESA on the testbeds of the league, as in docs/evidence/successor.md.

The package's BESA looks at all rewards at every step, which takes hours on some testbeds. This one draws the
successes among Bernoulli rewards from the hypergeometric distribution, and other sub-samples by a partial
shuffle. A testbed has at most ``--runs`` runs, or as many as take 100 million duels, but at least 20; MOSSV
and MOSS have at least 200. On the testbeds named after ``--normal``, sums of 100 rewards or more are drawn
from the normal distribution of their mean and variance; without it paper-2 to paper-4 take hours.

    python benchmarks/besa.py [--runs 300] [--testbeds NAME ...] [--normal NAME ...] [--seed 1]
"""

from argparse import ArgumentParser

import numpy as np
from numba import njit

import lowregret as lr
from lowregret.engine.kernels.rewards import reward
from lowregret.engine.kernels.state import lay_out, rows_of
from lowregret.environments import Bernoulli
from lowregret.suite.league_testbeds import TESTBEDS, testbed
from lowregret.suite.standings import resample

DUELS, LEAST, OTHERS, NORMAL_FROM = 100_000_000, 20, 200, 100
RATIOS = "MOSSV / BESA, mean | BESA / MOSS, mean | BESA / MOSS, worst 5% | MOSSV / MOSS, worst 5%"


@njit
def hypergeometric(successes, total, n, log_factorial):
    """Draw the number of successes among n of the rewards: add up probabilities from the mode outwards."""
    failures = total - successes
    low, high = max(0, n - failures), min(n, successes)
    first = last = drawn = mode = (n + 1) * (successes + 1) // (total + 2)
    log_p = log_factorial[successes] - log_factorial[mode] - log_factorial[successes - mode]
    log_p += log_factorial[failures] - log_factorial[n - mode] - log_factorial[failures - n + mode]
    log_p -= log_factorial[total] - log_factorial[n] - log_factorial[total - n]
    below = above = np.exp(log_p)
    left = np.random.random() - below
    while left > 0.0 and (first > low or last < high):
        if last < high and (first == low or last - mode <= mode - first):
            above *= (successes - last) * (n - last) / ((last + 1.0) * (failures - n + last + 1.0))
            drawn = last = last + 1
            left -= above
        else:
            below *= first * (failures - n + first) / ((successes - first + 1.0) * (n - first + 1.0))
            drawn = first = first - 1
            left -= below
    return drawn


@njit
def subsample_sum(n, pulls, sums, rewards, log_factorial, normal_from):
    """Return the sum of n of the rewards of an arm, drawn without replacement."""
    if n == pulls:
        return sums[0]
    if n >= normal_from:
        mean = sums[0] / pulls
        variance = max(sums[1] / pulls - mean * mean, 0.0) * n * (pulls - n) / (pulls - 1)
        return n * mean + np.sqrt(variance) * np.random.standard_normal()
    if len(log_factorial):
        return float(hypergeometric(int(sums[0]), pulls, n, log_factorial))
    few, drawn = min(n, pulls - n), 0.0
    for i in range(few):
        j = i + int(np.random.random() * (pulls - i))
        rewards[i], rewards[j] = rewards[j], rewards[i]
        drawn += rewards[i]
    return drawn if few == n else sums[0] - drawn


@njit
def regret(sources, data, horizon, seed, log_factorial, normal_from):
    """Play one run of BESA; with ``log_factorial`` rewards are Bernoulli, and successes are counted."""
    np.random.seed(seed)
    size, counted, levels = len(sources), len(log_factorial) > 0, int(np.ceil(np.log2(len(sources))))
    pulls, sums = np.zeros(size, np.int64), np.zeros((size, 2))  # sums of rewards and of squares
    rewards, order = np.empty((size, 0 if counted else horizon)), np.arange(size)
    for t in range(horizon):
        if t >= size:
            np.random.shuffle(order)
        for level in range(levels if t >= size else 0):  # part k begins at k * size // parts
            parts = 2 ** (levels - level)
            for k in range(1, parts, 2):
                first, second, end = (k - 1) * size // parts, k * size // parts, (k + 1) * size // parts
                if first < second < end:
                    a, b = order[first], order[second]
                    n = min(pulls[a], pulls[b])
                    x = subsample_sum(n, pulls[a], sums[a], rewards[a], log_factorial, normal_from)
                    y = subsample_sum(n, pulls[b], sums[b], rewards[b], log_factorial, normal_from)
                    if x < y or (x == y and pulls[a] > pulls[b]):
                        order[first], order[second] = b, a
        arm = order[0] if t >= size else t
        x = reward(sources[arm], data, pulls[arm] + 1)
        if counted:
            x = 1.0 if x == sources[arm]["c"] else 0.0
        else:
            rewards[arm, pulls[arm]] = x
        pulls[arm] += 1
        sums[arm, 0] += x
        sums[arm, 1] += x * x
    return (pulls * sources["gap"]).sum()


def regrets_of_besa(bandit, runs, seed, normal_from):
    """Return the regret of BESA at the horizon of the bandit in each run."""
    pairs = {(arm.failure, arm.success) if isinstance(arm, Bernoulli) else None for arm in bandit.arms}
    counts = np.arange(bandit.horizon + 1 if len(pairs) == 1 and None not in pairs else 0)
    log_factorial = np.cumsum(np.log(np.maximum(counts, 1)))
    found, sources, numbers = np.zeros(runs), rows_of(bandit), np.arange(len(bandit))
    for run, own in enumerate(np.random.SeedSequence(seed).generate_state(runs)):
        lay_out(rows_of(bandit), numbers, np.uint64(seed), run, sources)
        found[run] = regret(sources, bandit.data, bandit.horizon, own, log_factorial, normal_from)
    return found


def interval(logs):
    """Format a ratio with its 95% interval, from its logarithm and those of its bootstrap replicates."""
    low, high = np.exp(np.quantile(logs[1:], [0.025, 0.975]))
    return f"{np.exp(logs[0]):.3g} ({low:.2g} to {high:.2g})"


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--testbeds", nargs="+", default=list(TESTBEDS))
    parser.add_argument("--normal", nargs="+", default=[])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"| testbed | runs | {RATIOS} |\n" + 6 * "|---" + "|", flush=True)
    logs = {}
    for bed in map(testbed, options.testbeds):
        bandit, normal = bed.bandit(), bed.name in options.normal
        runs = min(options.runs, max(LEAST, DUELS // (bed.horizon * len(bandit))))
        besa = regrets_of_besa(bandit, runs, options.seed, NORMAL_FROM if normal else bed.horizon)
        result = lr.simulate(["MOSSV", "MOSS"], bandit, bed.horizon, max(runs, OTHERS), options.seed, grid=1)
        found = result.regret("MOSSV"), besa, result.regret("MOSS")
        means, tails = resample(found, np.random.default_rng(0))
        ratio = np.log(means[:, 0] / means[:, 1])
        logs.setdefault(bed.half, []).append(ratio)
        others = means[0, 1] / means[0, 2], tails[0, 1] / tails[0, 2], tails[0, 0] / tails[0, 2]
        numbers = " | ".join(f"{value:.2g}" for value in others)
        note = ", normal approximation" if normal else ""
        print(f"| {bed.name}{note} | {runs} | {interval(ratio)} | {numbers} |", flush=True)
    for half, ratios in logs.items():
        print(f"\n{half} half, {len(ratios)} testbeds: geometric mean {interval(np.mean(ratios, axis=0))}")


if __name__ == "__main__":
    main()

"""How often a verdict on two policies is false, and how often the intervals contain the true difference.

A simulation of 40,000 runs stands for the truth. Batches of 20 to 1,000 of its runs are drawn at random, and
each is analysed as an experiment of that size. A verdict is false if it has the wrong sign. The table is in
docs/analysis.md.

    python benchmarks/verdicts.py
"""

import warnings

import numpy as np
from scipy import stats

import lowregret as lr
from lowregret.analysis.comparison import fragility
from lowregret.analysis.intervals import bootstrap_intervals, bounded_intervals, share_limit

ENVIRONMENT, HORIZON = "bernoulli:0.5*9,0.7", 10_000
RELEASED = "EUCBV(width='released')"
PAIRS = {
    "fails, higher": (RELEASED, "UCBTuned"),
    "fails, lower": (RELEASED, "MOSS"),
    "benign, large": ("KLUCBGauss(plus=True)", "MOSS"),
    "benign, small": ("UCB1(alpha=0.5)", "OCUCB"),
}
"""Policy and baseline."""
REFERENCE = 40_000
SIZES = (20, 50, 100, 200, 500, 1000)
BATCHES = 1000
LEVEL = 0.95


def rates(differences: np.ndarray, largest: float, runs: int) -> list[str]:
    """Return the shares of false and right verdicts of three kinds, and the coverages of three intervals."""
    truth, random = differences.mean(), np.random.default_rng(runs)
    batches = differences[random.integers(len(differences), size=(runs, BATCHES))]
    test = stats.ttest_1samp(batches, 0.0)
    means = batches.mean(axis=0)
    bounds = [(-largest, largest)] * BATCHES
    intervals = {
        "student": np.array(test.confidence_interval(LEVEL)).T,
        "bootstrap": np.array([found or (np.nan, np.nan) for found in bootstrap_intervals(batches)]),
        "bounded": np.array(bounded_intervals(list(batches.T), bounds)),
    }
    significant = test.pvalue <= 1 - LEVEL
    firm = np.array([fragility(mean, largest) for mean in means]) >= share_limit(0, runs)
    excluded = (intervals["bounded"] > 0).all(axis=1) | (intervals["bounded"] < 0).all(axis=1)
    wrong, cells = means * truth < 0, []
    for found in (significant, significant & firm, excluded):
        cells.append(f"{(found & wrong).mean():.1%} / {(found & ~wrong).mean():.0%}")
    for low, high in (interval.T for interval in intervals.values()):
        cells.append(f"{((low <= truth) & (truth <= high)).mean():.0%}")
    return cells


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    policies = list(dict.fromkeys(policy for pair in PAIRS.values() for policy in pair))
    result = lr.simulate(policies, ENVIRONMENT, HORIZON, runs=REFERENCE, seed=12, grid=[HORIZON])
    largest = HORIZON * float(lr.environment(ENVIRONMENT).gaps.max())
    heads = [
        "pair",
        "runs",
        "verdict",
        "not fragile",
        "bounded excludes 0",
        "Student",
        "bootstrap",
        "bounded",
    ]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name, (policy, baseline) in PAIRS.items():
        differences = result.regret(policy) - result.regret(baseline)
        for runs in SIZES:
            print(f"| {name} | {runs:,} | {' | '.join(rates(differences, largest, runs))} |", flush=True)
    for name, (policy, baseline) in PAIRS.items():
        differences = result.regret(policy) - result.regret(baseline)
        error = differences.std() / REFERENCE**0.5
        print(f"{name}: {policy} less {baseline}: {differences.mean():.2f} ({error:.2f})")


if __name__ == "__main__":
    main()

"""How often a verdict on two policies is false, and how often the intervals contain the truth.

A simulation of 40,000 runs stands for the truth. Batches of 20 to 1,000 of its runs are drawn at random, and
each is analysed as an experiment of that size. A verdict is false if it has the wrong sign. The tables are in
docs/how-to/analysis.md.

    python benchmarks/verdicts.py
"""

import warnings

import numpy as np
from scipy import stats

import lowregret as lr
from lowregret.analysis.intervals import bounded_interval, bounded_p_value

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
BATCHES = 2000
LEVEL = 0.95
HEADS = (
    "pair",
    "runs",
    "verdict: false",
    "right",
    "t test: false",
    "right",
    "covers: interval",
    "Student",
)
"""The columns; the first interval is that of the verdict, from the largest possible regret."""


def batches_of(values: np.ndarray, runs: int) -> np.ndarray:
    """Return random batches, one in each column."""
    random = np.random.default_rng(runs)
    return values[random.integers(len(values), size=(runs, BATCHES))]


def coverage(intervals: np.ndarray, truth: float) -> str:
    """Return the share of intervals that contain the truth."""
    return f"{((intervals[:, 0] <= truth) & (truth <= intervals[:, 1])).mean():.0%}"


def rates(differences: np.ndarray, largest: float, runs: int) -> list[str]:
    """Return the shares of false and right verdicts of two kinds, and the coverages of two intervals."""
    truth, batches = differences.mean(), batches_of(differences, runs)
    test = stats.ttest_1samp(batches, 0.0)
    bounded = np.array([bounded_p_value(batch, largest) for batch in batches.T])
    wrong, cells = batches.mean(axis=0) * truth < 0, []
    for significant in (bounded <= 1 - LEVEL, test.pvalue <= 1 - LEVEL):
        cells += [f"{(significant & wrong).mean():.1%}", f"{(significant & ~wrong).mean():.0%}"]
    return [
        *cells,
        coverage(np.array([bounded_interval(batch, -largest, largest) for batch in batches.T]), truth),
        coverage(np.array(test.confidence_interval(LEVEL)).T, truth),
    ]


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    policies = list(dict.fromkeys(policy for pair in PAIRS.values() for policy in pair))
    result = lr.simulate(policies, ENVIRONMENT, HORIZON, runs=REFERENCE, seed=12, grid=[HORIZON])
    largest = HORIZON * float(lr.environment(ENVIRONMENT).gaps.max())
    print(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}")
    for name, (policy, baseline) in PAIRS.items():
        differences = result.regret(policy) - result.regret(baseline)
        for runs in SIZES:
            print(f"| {name} | {runs:,} | {' | '.join(rates(differences, largest, runs))} |", flush=True)
    for name, (policy, baseline) in PAIRS.items():
        differences = result.regret(policy) - result.regret(baseline)
        error = differences.std() / REFERENCE**0.5
        print(f"{name}: {policy} less {baseline}: {differences.mean():.2f} ({error:.2f})")
    print(f"\nsummary of {RELEASED}: its 95% intervals contain the mean\n")
    print("| runs | interval | Student |\n|---|---|---|")
    regrets = result.regret(RELEASED)
    for runs in SIZES:
        batches = batches_of(regrets, runs)
        student = np.array(stats.ttest_1samp(batches, 0.0).confidence_interval(LEVEL)).T
        bounded = np.array([bounded_interval(batch, 0.0, largest) for batch in batches.T])
        print(f"| {runs:,} | {coverage(bounded, regrets.mean())} | {coverage(student, regrets.mean())} |")


if __name__ == "__main__":
    main()

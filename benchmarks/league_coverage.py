"""How often the intervals of the league's standings contain the truth, in leagues whose truth is known.

A population of testbeds: the regret of each of ten policies is a factor times a gamma variable, the factors
differ by testbed, and a policy fails in a share of its runs, up to 4%, with twenty times the regret. A league
has 40 testbeds of the population; the truth is the mean over 20,000 of them, from exact means. The tails of
a policy that fails rarely are not estimated by few runs: `standings` does not rank them.

    python benchmarks/league_coverage.py
"""

import numpy as np
from scipy.stats import rankdata

from lowregret.suite.standings import standings

POLICIES = ["MOSS", *(f"policy {number}" for number in range(1, 10))]
LEVELS = np.linspace(0.0, 0.9, 10)
"""The logarithm of the regret of each policy, on average over the testbeds."""
FAILURES = np.array([0.0, 0.04, 0.0, 0.01, 0.0, 0.02, 0.0, 0.005, 0.03, 0.0])
SPREAD, SHAPE, EXCESS = 0.4, 8.0, 20.0
TESTBEDS, LEAGUES, POPULATION = 40, 60, 20_000
RUNS = (10, 20, 50, 200)


def factors(rng: np.random.Generator, testbeds: int) -> np.ndarray:
    """Draw the mean regret without a failure, by testbed and policy."""
    return np.exp(rng.normal(LEVELS, SPREAD, (testbeds, len(POLICIES))))


def truth(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return what the standings estimate, over the whole population."""
    logs = np.log(factors(rng, POPULATION) * (1.0 + FAILURES * (EXCESS - 1.0)))
    return {
        "rank": rankdata(logs, axis=1).mean(axis=0),
        "to_best": np.exp((logs - logs.min(axis=1, keepdims=True)).mean(axis=0)),
        "to_moss": np.exp((logs - logs[:, :1]).mean(axis=0)),
    }


def covered(
    rng: np.random.Generator, runs: int, known: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Play a league, and return for each statistic which intervals contain the truth."""
    regrets = {}
    for number, means in enumerate(factors(rng, TESTBEDS)):
        values = rng.gamma(SHAPE, means / SHAPE, (runs, len(POLICIES)))
        values *= np.where(rng.random(values.shape) < FAILURES, EXCESS, 1.0)
        regrets[str(number)] = dict(zip(POLICIES, values.T, strict=True))
    table = standings(regrets, POLICIES, seed)
    order = [POLICIES.index(name) for name in table["policy"]]
    found = {}
    for name, values in known.items():
        inside = (table[f"{name}_low"].to_numpy() <= values[order]) & (
            values[order] <= table[f"{name}_high"].to_numpy()
        )
        found[name] = inside[np.argsort(order)]
    return found


def main() -> None:
    """Print the coverages: the mean over the policies, and in brackets the least of a policy."""
    rng = np.random.default_rng(1)
    known = truth(rng)
    print(f"| runs | {' | '.join(known)} |\n|{'---|' * (len(known) + 1)}")
    for runs in RUNS:
        leagues = [covered(rng, runs, known, seed) for seed in range(LEAGUES)]
        cells = []
        for name in known:
            shares = np.mean([league[name] for league in leagues], axis=0)
            least = np.delete(shares, 0).min() if name == "to_moss" else shares.min()
            cells.append(f"{shares.mean():.0%} ({least:.0%})")
        print(f"| {runs} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

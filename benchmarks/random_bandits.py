"""Compare MOSSV with MOSS and EUCBV on random bandits, as in docs/evidence/successor.md.

python benchmarks/random_bandits.py [BANDITS [RUNS [SEED]]]
"""

import sys
import warnings
from itertools import pairwise

import numpy as np

import lowregret as lr
from lowregret.analysis.summary import tail_mean
from lowregret.suite.standings import WIN_ERRORS, difference
from lowregret.suite.worst_case import _draw

RANGES = (0, 10, 30, 150, 1_000)
"""The pulls an arm at which the table is cut."""
TAIL_LIMIT = 1.12


def main() -> None:
    bandits = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    warnings.simplefilter("ignore")  # EUCBV: no guarantee for this horizon
    rng = np.random.default_rng(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    policies = ("MOSSV", "MOSS", "EUCBV")
    rows = []
    for seed in range(bandits):
        arms = int(rng.choice([2, 3, 5, 10, 30, 100]))
        horizon = int(arms * np.exp(rng.uniform(1, 6.5)))
        bandit = _draw(rng, arms, horizon).bandit()
        result = lr.simulate(policies, bandit, horizon, runs, seed, grid=1, progress=False)
        ours, moss, eucbv = map(result.regret, policies)
        row = [arms, horizon / arms, tail_mean(ours) / tail_mean(moss)]
        for rival in (moss, eucbv):
            excess, error = difference(ours, rival)
            row += [ours.mean() / rival.mean(), excess > WIN_ERRORS * error]
        rows.append(row)
    print("above: by three standard errors; few arms: two or three")
    print("| pulls an arm | bandits | to MOSS | above | to EUCBV | above | worst 5% to MOSS | above 1.12 |")
    print("|---|---|---|---|---|---|---|---|")
    arms, pulls, tails, *means = map(np.array, zip(*rows, strict=True))
    for low, high in [*pairwise(RANGES), (RANGES[0], RANGES[-1])]:
        part = (low <= pulls) & (pulls < high)
        if not part.any():
            continue
        cells = [f"{low} to {high}", str(part.sum())]
        for ratios, above in (means[:2], means[2:]):
            cells += [ratio(ratios[part]), str(above[part].sum())]
        long = part & (tails > TAIL_LIMIT)
        few = (long & (arms <= 3)).sum()
        cells += [ratio(tails[part]), f"{long.sum()}, few arms {few}"]
        print("|", " | ".join(cells), "|")


def ratio(values) -> str:
    """Show the geometric mean and the largest of some ratios."""
    return f"{np.exp(np.log(values).mean()):.2f}, at most {values.max():.2f}"


if __name__ == "__main__":
    main()

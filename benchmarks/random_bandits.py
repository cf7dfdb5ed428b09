"""Compare MOSSV with MOSS and EUCBV on random bandits with rewards in [0, 1], as in docs/successor.md.

python benchmarks/random_bandits.py [BANDITS [RUNS]]
"""

import sys
import warnings

import numpy as np

import lowregret as lr
from lowregret.analysis.summary import tail_mean
from lowregret.suite.standings import WIN_ERRORS, difference
from lowregret.suite.worst_case import _draw

OURS, RIVALS = "MOSSV", ("MOSS", "EUCBV")
SHORT = 150
"""Horizons of fewer pulls an arm are counted apart."""
TAIL_LIMIT = 1.12


def main() -> None:
    bandits = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    warnings.simplefilter("ignore")  # EUCBV: no guarantee for this horizon
    rng = np.random.default_rng(1)
    rows = []
    for seed in range(bandits):
        arms = int(rng.choice([2, 3, 5, 10, 30, 100]))
        horizon = int(arms * np.exp(rng.uniform(1, 6.5)))
        bandit = _draw(rng, arms, horizon).bandit()
        result = lr.simulate([OURS, *RIVALS], bandit, horizon, runs, seed, grid=1, progress=False)
        ours = result.regret(OURS)
        row = [arms, horizon / arms, tail_mean(ours) / tail_mean(result.regret("MOSS"))]
        for rival in map(result.regret, RIVALS):
            excess, error = difference(ours, rival)
            row += [ours.mean() / rival.mean(), excess > WIN_ERRORS * error]
        rows.append(row)
    arms, pulls, tails, *means = map(np.array, zip(*rows, strict=True))
    for rival, ratios, above in zip(RIVALS, means[::2], means[1::2], strict=True):
        short = above & (pulls < SHORT)
        print(
            f"mean regret to {rival}: geometric mean {np.exp(np.log(ratios).mean()):.2f}, largest "
            f"{ratios.max():.2f}; above it by three standard errors on {above.sum()} of {bandits}, "
            f"{short.sum()} of these with fewer than {SHORT} pulls an arm"
        )
    long = tails > TAIL_LIMIT
    print(
        f"worst 5% to MOSS: geometric mean {np.exp(np.log(tails).mean()):.2f}, largest {tails.max():.2f}; "
        f"above {TAIL_LIMIT} on {long.sum()}, {(long & (arms <= 3)).sum()} of these with two or three arms"
    )


if __name__ == "__main__":
    main()

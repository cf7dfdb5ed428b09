"""Compare MOSSV with MOSS and EUCBV on random bandits with rewards in [0, 1], as in docs/successor.md.

python benchmarks/random_bandits.py [BANDITS [RUNS [SEED]]]

`LowerLevel` is MOSSV with K' = 2 K below 12.5 pulls an arm, which was tried and not taken.
"""

import sys
import warnings
from itertools import pairwise

import numpy as np

import lowregret as lr
from lowregret.analysis.summary import tail_mean
from lowregret.policies.mossv import _upper_bound
from lowregret.suite.standings import WIN_ERRORS, difference
from lowregret.suite.worst_case import _draw

RANGES = (0, 10, 30, 150, 1_000)
"""The pulls an arm at which the table is cut."""
TAIL_LIMIT = 1.12


class LowerLevel(lr.Policy):
    """MOSSV with a lower level for short horizons."""

    index_trend = "constant"
    family = "Bernoulli"
    needs = ("horizon", "bounded rewards")

    def score(self, arm, clock):
        """Return the upper confidence bound of an arm."""
        pulls = clock.horizon / clock.arms
        pulls /= min(max(max(clock.arms, 100) / (4.0 * pulls), 1.0), 2.0)
        return _upper_bound(arm, pulls, 1.2, 1.4, 0.0)


def main() -> None:
    bandits = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    warnings.simplefilter("ignore")  # EUCBV: no guarantee for this horizon
    rng = np.random.default_rng(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    policies = [lr.MOSSV(), LowerLevel(), lr.MOSS(), lr.EUCBV()]
    rows = []
    for seed in range(bandits):
        arms = int(rng.choice([2, 3, 5, 10, 30, 100]))
        horizon = int(arms * np.exp(rng.uniform(1, 6.5)))
        bandit = _draw(rng, arms, horizon).bandit()
        result = lr.simulate(policies, bandit, horizon, runs, seed, grid=1, progress=False)
        *own, moss, eucbv = [result.regret(str(policy).removesuffix("()")) for policy in policies]
        for name, ours in zip(("MOSSV", "LowerLevel"), own, strict=True):
            row = [name, arms, horizon / arms, tail_mean(ours) / tail_mean(moss)]
            for rival in (moss, eucbv):
                excess, error = difference(ours, rival)
                row += [ours.mean() / rival.mean(), excess > WIN_ERRORS * error]
            rows.append(row)
    print("above: by three standard errors; few arms: two or three")
    print("| pulls an arm | bandits | to MOSS | above | to EUCBV | above | worst 5% to MOSS | above 1.12 |")
    print("|---|---|---|---|---|---|---|---|")
    for name in ("MOSSV", "LowerLevel"):
        own = [row[1:] for row in rows if row[0] == name]
        arms, pulls, tails, *means = map(np.array, zip(*own, strict=True))
        for low, high in [*pairwise(RANGES), (RANGES[0], RANGES[-1])]:
            part = (low <= pulls) & (pulls < high)
            if not part.any():
                continue
            cells = [f"{name}, {low} to {high}", str(part.sum())]
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

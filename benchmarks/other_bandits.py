"""Compare MOSSV with MOSS and EUCBV on random bandits of other kinds than random_bandits.py draws.

python benchmarks/other_bandits.py [BANDITS [RUNS [SEED [MOST_ARMS]]]]

Rewards in [0, 1], 2 to MOST_ARMS arms, 100 to 5,000 pulls an arm, at most 50,000 steps. Kinds: two values
other than 0 and 1, truncated normals, beta with zeros, one better arm, one very bad arm, gaps that halve, and
a best arm of rewards 0 and 1 beside constant arms. "above": the mean of MOSSV is higher by three standard
errors. docs/evidence/successor.md has the table.
"""

import sys
import warnings

import numpy as np
from random_bandits import TAIL_LIMIT, ratio
from scipy import stats

import lowregret as lr
from lowregret.analysis.summary import tail_mean
from lowregret.suite.standings import WIN_ERRORS, difference

KINDS = (
    "two values",
    "truncated normal",
    "zero-inflated",
    "one better",
    "one bad",
    "halving gaps",
    "beside constants",
)
QUANTILES = (np.arange(400) + 0.5) / 400


def means_of(kind: str, arms: int, horizon: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the means, the best first; most gaps are near sqrt(K / T)."""
    gaps = np.sqrt(arms / horizon) * np.exp(rng.uniform(-0.5, 2.5, arms))
    if kind == "one better":
        gaps[:] = gaps[0]
    elif kind == "one bad":
        gaps[:] = gaps[0]
        gaps[-1] = 0.9
    elif kind == "halving gaps":
        gaps = 0.8 * 0.5 ** np.minimum(np.arange(arms), 12)
    gaps[0] = 0.0
    best = rng.uniform(0.1, 0.95)
    return np.clip(best - gaps, 0.002, 1.0)


def bandit_of(kind: str, means: np.ndarray, rng: np.random.Generator) -> lr.Bandit:
    """Return arms of these means, or for some kinds means near them."""
    if kind == "beside constants":
        return lr.bernoulli(means[:1]) + lr.empirical([[mean, mean] for mean in means[1:]])
    if kind == "truncated normal":
        spread = np.exp(rng.uniform(np.log(0.01), np.log(0.5)))
        return lr.empirical(
            [stats.truncnorm.ppf(QUANTILES, -m / spread, (1 - m) / spread, m, spread) for m in means]
        )
    if kind == "zero-inflated":
        a, b = np.exp(rng.uniform(0.0, 3.0, 2))
        values = stats.beta.ppf(QUANTILES, a, b) * means[0]
        return lr.empirical([np.where(rng.permutation(QUANTILES) < m / means[0], values, 0.0) for m in means])
    form = "two values" if kind == "two values" else rng.choice(["bernoulli", "two values", "beta"])
    if form == "bernoulli":
        return lr.bernoulli(means)
    if form == "beta":
        size = np.exp(rng.uniform(0.0, 4.0))
        return lr.beta(means * size, (1.0 - means) * size)
    low, high = rng.uniform(0.0, means.min()), rng.uniform(means.max(), 1.0)
    shares = np.clip((means - low) / (high - low), 0.0025, 0.9975)
    return lr.empirical([np.where(share > QUANTILES, high, low) for share in shares])


def main() -> None:
    bandits, runs, seed, most = (
        int(a) for a in (*sys.argv[1:], *("70", "400", "1", "200")[len(sys.argv) - 1 :])
    )
    warnings.simplefilter("ignore")  # EUCBV: no guarantee for this horizon
    rng, rows = np.random.default_rng(seed), []
    policies = ("MOSSV", "MOSS", "EUCBV", "MOSSVAnytime")
    for number in range(bandits):
        kind, horizon = KINDS[number % len(KINDS)], 10**9
        while horizon > 50_000:
            arms = int(np.exp(rng.uniform(np.log(2), np.log(most + 1))))
            horizon = int(arms * np.exp(rng.uniform(np.log(100), np.log(5_000))))
        bandit = bandit_of(kind, means_of(kind, arms, horizon, rng), rng)
        result = lr.simulate(policies, bandit, horizon, runs, number, grid=1, threads=1, progress=False)
        ours, moss, eucbv, anytime = map(result.regret, policies)
        if moss.mean() == 0.0:
            continue  # equal means
        row = [kind, tail_mean(ours) / tail_mean(moss), anytime.mean() / ours.mean()]
        for rival in (moss, eucbv):
            excess, error = difference(ours, rival)
            row += [ours.mean() / rival.mean(), excess > WIN_ERRORS * error]
        rows.append(row)
        gap = np.sort(bandit.gaps[bandit.gaps > 1e-12])[0] * np.sqrt(horizon / arms)
        shown = " ".join(f"{value:.2f}" for value in row[1:])
        print(
            f"{kind}: K {arms}, T / K {horizon / arms:.0f}, least gap {gap:.2f}: {shown}",
            file=sys.stderr,
            flush=True,
        )
    print("| kind | bandits | to MOSS | above | to EUCBV | above | worst 5% to MOSS | above 1.12 | anytime |")
    print("|---|---|---|---|---|---|---|---|---|")
    for kind in (*KINDS, "all"):
        part = [row[1:] for row in rows if kind in (row[0], "all")]
        if part:
            tails, anytime, to_moss, above_moss, to_eucbv, above_eucbv = map(
                np.array, zip(*part, strict=True)
            )
            cells = [kind, len(part), ratio(to_moss), above_moss.sum(), ratio(to_eucbv), above_eucbv.sum()]
            cells += [ratio(tails), (tails > TAIL_LIMIT).sum(), ratio(anytime)]
            print("|", " | ".join(map(str, cells)), "|")


if __name__ == "__main__":
    main()

"""Discounted-klUCB with counts in an array of integers, as in DiscountedUCB.py of SMPyBandits.

There discounted_pulls has dtype=int. So n <- int(gamma^(1 + steps since the last pull) n + 1) stays 1, and
the sum of discounted rewards is taken for the mean. The index of a mean above 1 is (mean + 1) / 2 there
(bisection between the mean and 1), and the first arm with a run of successes is played for ever.
"""

import sys

import numpy as np

sys.path.insert(0, ".")
from plain import PB, K, T, upper


def play(pb, N=200, gamma=0.992929, integer=True, seed=0):
    rng = np.random.default_rng(seed)
    n = np.zeros((N, K), int if integer else float)
    s = np.zeros((N, K))
    gap = np.zeros((N, K))
    regret = np.zeros(N)
    rows = np.arange(N)
    for t in range(1, T + 1):
        mu = np.array(PB[pb][(t - 1) // 1000])
        with np.errstate(divide="ignore", invalid="ignore"):
            m = s / n
            level = np.log(np.maximum(n.sum(1, keepdims=True), 1)) / n
            index = np.where(n < 1, np.inf, np.where(m >= 1, (m + 1) / 2, upper(np.clip(m, 0, 1), level)))
        a = (index + 1e-9 * rng.random((N, K))).argmax(1)
        r = rng.random(N) < mu[a]
        regret += mu.max() - mu[a]
        f = gamma ** (1 + gap[rows, a])
        n[rows, a] = f * n[rows, a] + 1
        s[rows, a] = f * s[rows, a] + r
        gap += 1
        gap[rows, a] = 0
    return round(regret.mean()), round(regret.std(ddof=1)), round(regret.std(ddof=1) / N**0.5, 1)


for pb, published in ((1, "1456 +- 214"), (2, "1442 +- 440")):
    print(
        "Pb",
        pb,
        "published",
        published,
        "| integer counts: mean, sd, se",
        play(pb),
        "| real counts, same stale updates",
        play(pb, integer=False),
        flush=True,
    )

"""DTS, klUCB, Discounted-klUCB and the oracle without lowregret: NumPy, 200 runs at once. python plain.py"""

import numpy as np

PB = {
    1: [[0.3, 0.5, 0.9], [0.3, 0.2, 0.9], [0.3, 0.2, 0.1], [0.7, 0.2, 0.1], [0.7, 0.5, 0.1]],
    2: [[0.4, 0.5, 0.9], [0.5, 0.4, 0.7], [0.6, 0.3, 0.5], [0.7, 0.2, 0.3], [0.8, 0.1, 0.1]],
}
T, K, N = 5000, 3, 200


def upper(p, level):  # largest q >= p with kl(p, q) <= level
    lo, hi = p.copy(), np.ones_like(p)
    for _ in range(30):
        q = (lo + hi) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            kl = np.where(p > 0, p * np.log(p / q), 0) + np.where(
                p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0
            )
        ok = kl <= level
        lo, hi = np.where(ok, q, lo), np.where(ok, hi, q)
    return lo


def play(pb, kind, gamma=1.0, seed=0):
    rng = np.random.default_rng(seed)
    s, n = np.zeros((N, K)), np.zeros((N, K))
    regret = np.zeros(N)
    rows = np.arange(N)
    start = 0
    for t in range(1, T + 1):
        mu = np.array(PB[pb][(t - 1) // 1000])
        if t > 1 and (t - 1) % 1000 == 0:
            if kind == "oracle":
                s[:], n[:], start = 0, 0, t - 1
            if kind == "oracle arm":
                c = np.array(PB[pb][(t - 1) // 1000 - 1]) != mu
                s[:, c], n[:, c] = 0, 0
        if kind == "ts":
            index = rng.beta(1 + s, 1 + n - s)
        else:
            total = n.sum(1, keepdims=True) if kind == "d-klucb" else np.full((N, 1), t - start)
            with np.errstate(divide="ignore", invalid="ignore"):
                index = np.where(
                    n > 1e-9, upper(np.clip(s / n, 0, 1), np.log(np.maximum(total, 1)) / n), np.inf
                )
        index = index + 1e-9 * rng.random((N, K))
        a = index.argmax(1)
        r = rng.random(N) < mu[a]
        regret += mu.max() - mu[a]
        s *= gamma
        n *= gamma
        s[rows, a] += r
        n[rows, a] += 1
    return round(regret.mean(), 1), round(regret.std(ddof=1) / N**0.5, 1)


for pb in (1, 2) if __name__ == "__main__" else ():
    for kind, gamma in (
        ("ts", 1),
        ("ts", 0.95),
        ("ts", 0.99),
        ("klucb", 1),
        ("d-klucb", 0.992929),
        ("oracle", 1),
        ("oracle arm", 1),
    ):
        print("Pb", pb, kind, gamma, *play(pb, kind, gamma), flush=True)

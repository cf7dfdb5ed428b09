"""GLR-klUCB, M-klUCB and Exp3.S without lowregret: plain Python, one run at a time. python restarts.py"""

from math import e, exp, inf, log, sqrt
from random import Random

CHANGES = {1: [1001, 2001, 3001, 4001], 2: [1001, 2001, 3001, 4001], 4: [2501, 3126, 3751, 4376]}
MEANS = {
    1: [(0.3, 0.5, 0.9), (0.3, 0.2, 0.9), (0.3, 0.2, 0.1), (0.7, 0.2, 0.1), (0.7, 0.5, 0.1)],
    2: [(0.4, 0.5, 0.9), (0.5, 0.4, 0.7), (0.6, 0.3, 0.5), (0.7, 0.2, 0.3), (0.8, 0.1, 0.1)],
    4: [(0.1, 0.5, 0.9), (0.3, 0.4, 0.1), (0.5, 0.3, 0.2), (0.7, 0.4, 0.3), (0.1, 0.5, 0.2)],
}
T, K, RUNS = 5000, 3, 100


def kl(p, q):
    first = p * log(p / q) if p > 0 else 0.0
    return first + ((1 - p) * log((1 - p) / (1 - q)) if p < 1 else 0.0)


def upper(p, level):
    low, high = p, 1.0
    for _ in range(25):
        q = (low + high) / 2
        low, high = (q, high) if kl(p, min(q, 1 - 1e-15)) <= level else (low, q)
    return low


def glr_alarm(x, delta):
    """Test whether the rewards of an arm have a change, at every tenth reward and tenth split."""
    n, ones = len(x), sum(x)
    if n % 10 or not 0 < ones < n:
        return False
    before = 0
    for s in range(10, n, 10):
        before += sum(x[s - 10 : s])
        after = ones - before
        value = s * kl(before / s, ones / n) + (n - s) * kl(after / (n - s), ones / n)
        if value >= log(3 * n**1.5 / delta):
            return True
    return False


def half_alarm(x, w=150, b=39.3236):
    return len(x) >= w and abs(sum(x[-w // 2 :]) - sum(x[-w : -w // 2])) > b


def play_klucb(problem, seed, explore, alarm, local=False):
    """Play klUCB with forced pulls in a share of the steps, restarted at an alarm."""
    random, x, start, origin, regret = Random(seed), [[] for _ in range(K)], [0] * K, 0, 0.0
    for t in range(1, T + 1):
        means = MEANS[problem][sum(t >= change for change in CHANGES[problem])]
        turn = (t - origin) % int(K / explore) - 1
        scores = [
            upper(sum(x[i]) / len(x[i]), log(max(t - start[i], 1)) / len(x[i])) if x[i] else inf
            for i in range(K)
        ]
        arm = turn if 0 <= turn < K else max(range(K), key=lambda i: (scores[i], random.random()))
        regret += max(means) - means[arm]
        x[arm].append(int(random.random() < means[arm]))
        if alarm(x[arm]):
            for i in [arm] if local else range(K):
                x[i], start[i] = [], t
            origin = origin if local else t
    return regret


def play_exp3s(problem, seed, gamma=0.119917, share=1 / T):
    random, weights, regret = Random(seed), [1.0] * K, 0.0
    for t in range(1, T + 1):
        means, total = MEANS[problem][sum(t >= change for change in CHANGES[problem])], sum(weights)
        p = [(1 - gamma) * w / total + gamma / K for w in weights]
        arm = random.choices(range(K), p)[0]
        regret += max(means) - means[arm]
        gains = [(random.random() < means[i]) / p[i] if i == arm else 0.0 for i in range(K)]
        weights = [
            (w * exp(gamma * g / K) + e * share * total / K) / total
            for w, g in zip(weights, gains, strict=True)
        ]
    return regret


POLICIES = {
    "GLR-klUCB (Local)": lambda p, s: play_klucb(
        p, s, 0.004127, lambda x: glr_alarm(x, 0.007071), local=True
    ),
    "GLR-klUCB (Global)": lambda p, s: play_klucb(p, s, 0.007149, lambda x: glr_alarm(x, 0.004082)),
    "M-klUCB": lambda p, s: play_klucb(p, s, 0.372112, half_alarm),
    "Exp3.S": play_exp3s,
}

for problem in (1, 2, 4) if __name__ == "__main__" else ():
    for name, play in POLICIES.items():
        regrets = [play(problem, seed) for seed in range(RUNS)]
        mean = sum(regrets) / RUNS
        error = sqrt(sum((regret - mean) ** 2 for regret in regrets) / (RUNS - 1) / RUNS)
        print(f"problem {problem}, {name}: {mean:.0f} ({error:.0f})", flush=True)

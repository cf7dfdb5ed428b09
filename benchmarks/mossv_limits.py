"""Measure MOSSV where its theorem says nothing or little, as in docs/evidence/successor.md.

python benchmarks/mossv_limits.py [RUNS [WORD]]

Only the testbeds whose names contain WORD are played.
"""

import sys

import lowregret as lr
from lowregret.analysis.summary import tail_mean

UNBOUNDED = (
    "poisson:1*9,1.3",
    "poisson:0.6*4,0.8",
    "poisson:0.8*9,1.2",
    "poisson:0.2*9,0.4",
    "poisson:2*4,2.5",
    "poisson:3*9,4",
    "exponential:1*9,1.5",
    "exponential:0.5*9,0.8",
    "exponential:0.3*9,1",
    "gaussian:mean=1*9,1.2;variance=0.25",
    "gaussian:mean=0.8*9,1;variance=0.04",
    "gaussian:mean=0.9*4,1.1;variance=0.1",
    "gaussian:mean=0.5,0.6,0.7,0.8,0.9,1,1.1;variance=0.09",
    "gaussian:mean=0.5*9,0.6;variance=0.25",
    "uniform:low=0*9,0.2;high=2*9,2.2",
    "uniform:low=0.5*9,0.6;high=1.5*9,1.6",
)
BOUNDED = {
    "50 arms with two values, T = 5,000": (lr.empirical([[0.45, 0.55]] * 49 + [[0.47, 0.57]]), 5_000),
    "Bernoulli 0.9, 0.88, T = 2,000": (lr.bernoulli([0.9, 0.88]), 2_000),
    "K = 2, T = 200: Bernoulli 0.7, 0.3": (lr.bernoulli([0.7, 0.3]), 200),
    "K = 5, T = 100: Bernoulli 0.33, 0.6": (lr.bernoulli([0.33] * 4 + [0.6]), 100),
    "K = 2, T = 150: beta 0.15, 0.6": (lr.beta([4.5, 18], [25.5, 12]), 150),
    "K = 100, T = 40,000: Bernoulli 0.38, 0.49": (lr.bernoulli([0.38] * 99 + [0.49]), 40_000),
}
CONSTANT = {
    f"Bernoulli {mean + gap:.4g} beside {mean}, gap {share:g}": (
        lr.bernoulli([mean + gap]) + lr.empirical([[mean, mean]]),
        8_000,
    )
    for mean in (0.01, 0.1, 0.5)
    for share in (0.1, 0.3, 1, 3)
    for gap in [share * (2 * mean * (1 - mean) / 8_000) ** 0.5]
}
"""A best arm of rewards 0 and 1 beside a constant one; the gap is in units of sqrt(K / T) deviations."""
POLICIES = ("MOSSV", "MOSSVAnytime", "MOSS", "EUCBV")


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print("| testbed | MOSSV | to MOSS (error) | worst 5% to MOSS | to EUCBV | anytime to MOSSV | worst 5% |")
    print("|---|---|---|---|---|---|---|")
    beds = {text: (lr.environment(text), 10_000) for text in UNBOUNDED} | BOUNDED | CONSTANT
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    for name, (bandit, horizon) in beds.items():
        if word not in name:
            continue
        result = lr.simulate(POLICIES, bandit, horizon, runs=runs, seed=1, grid=1, progress=False)
        ours, anytime, moss, eucbv = map(result.regret, POLICIES)
        error = ours.std(ddof=1) / runs**0.5
        ratios = (
            ours.mean() / moss.mean(),
            tail_mean(ours) / tail_mean(moss),
            ours.mean() / eucbv.mean(),
            anytime.mean() / ours.mean(),
            tail_mean(anytime) / tail_mean(ours),
        )
        paired = (ours / ours.mean() - moss / moss.mean()).std(ddof=1) / runs**0.5 * ratios[0]
        first, *shown = (f"{ratio:.2f}" for ratio in ratios)
        cells = (name, f"{ours.mean():.3g} ({error:.2g})", f"{first} ({paired:.2g})", *shown)
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

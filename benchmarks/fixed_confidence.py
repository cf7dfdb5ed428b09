"""Errors and stopping times of policies with a fixed confidence, beside the lower bound on any policy's.

``python benchmarks/fixed_confidence.py [runs] [delta]`` plays each policy on bandits on which it stops soon,
10,000 times by default. Each must be wrong with probability delta at most: the script fails if the lower end
of a 95% interval is above it, or if a run has not stopped at the horizon.
"""

import sys

import lowregret as lr

BERNOULLI = (lr.LUCB, lr.KLLUCB, lr.TrackAndStop, lr.TopTwoStopping)
BEDS = {
    "bernoulli:0.8,0.5,0.4,0.3": BERNOULLI,
    "bernoulli:0.3,0.05*4": BERNOULLI,
    "gaussian:mean=1,0,0,-1;variance=1": (lr.EBTC,),
    "gaussian:mean=0.5,0;variance=0.25": (lr.EBTC,),
}
HORIZON = 20_000


def main(runs: int = 10_000, delta: float = 0.1) -> None:
    wrong = []
    print(f"{runs:,} runs, delta = {delta:g}")
    for bed, kinds in BEDS.items():
        bandit = lr.environment(bed)
        bound = lr.sample_complexity(bandit, delta)
        print(f"{bed}: no policy needs fewer than {bound:.0f} pulls in the mean")
        for kind in kinds:
            parameters = {"variance": float(bandit.variances[0])} if kind is lr.EBTC else {}
            policy = kind(delta=delta, **parameters)
            result = lr.simulate(
                policy, bandit, HORIZON, runs, grid=1, record_recommendations=True, clip=True
            )
            row = result.identification().row(0, named=True)
            print(
                f"  {policy!s:42} wrong in {row['error']:.4f} "
                f"({row['error_low']:.4f} to {row['error_high']:.4f}), "
                f"{row['stopping_time']:.0f} pulls (se {row['stopping_time_se']:.1f}, "
                f"{row['stopping_time'] / bound:.1f} times the bound)",
                flush=True,
            )
            if row["error_low"] > delta or row["stopped"] < 1.0:
                wrong.append(f"{policy} on {bed}")
    if wrong:
        raise SystemExit(f"wrong too often, or not stopped: {', '.join(wrong)}")


if __name__ == "__main__":
    numbers = sys.argv[1:]
    main(*[int(numbers[0])] if numbers else [], **{"delta": float(numbers[1])} if len(numbers) > 1 else {})

"""Print what refutes statements of the EUCBV paper, as in theory.md and paper.md of docs/explanation.

1. Theorem 1 against the first 300,000 steps of EUCBV on two arms, without noise and with rewards r +- 0.02.
2. The order sqrt(K T) of the abstract: arms without noise, the gap f sqrt(K / T) with the largest regret.
3. UCB-V of experiment 1 with the variance of the script as released, (S - S / n)^2 / n.

    python benchmarks/paper_statements.py [--quick]
"""

from math import log, sqrt

from common import Sheet, arguments, say, show

import lowregret as lr
from lowregret.reproductions.sheet import paper_function, read_sheet
from lowregret.theory.formulas import C_0

first_steps = paper_function("eucbv", "counterexample:first_steps")

HORIZONS = (10**12, 10**13, 10**14, 10**16, 10**20)
SEEDS = range(1, 11)
FACTORS = [step / 8 for step in range(4, 25)]
LARGER_C_0 = 8_328


def theorem_1(d: float) -> Sheet:
    """Compare the regret of the first steps with the bound on that of the whole run."""
    rows = []
    for horizon in HORIZONS:
        runs = [first_steps(horizon, d=d, seed=seed) for seed in (SEEDS if d else (1,))]
        low, high = min(runs, key=lambda run: run.pulls), max(runs, key=lambda run: run.pulls)
        pulls = f"{low.pulls:,}" + (f" to {high.pulls:,}" if d else "")
        larger = low.bound + (LARGER_C_0 - C_0) * 2**4 / horizon**0.25
        rows.append((f"{horizon:.0e}", pulls, f"{low.regret:.1f}", f"{low.bound:.1f}", f"{larger:.1f}"))
    title = f"Theorem 1: two arms, gap 0.1, rewards r +- {d:g}; first 300,000 steps, runs: {len(runs)}"
    heads = ("T", "pulls of the worse arm", "regret, at least", f"bound, C_0 = {C_0:,}")
    return Sheet(title, (*heads, f"bound, C_0 = {LARGER_C_0:,}"), rows)


def worst_gap(policy: str, arms: int, horizon: int) -> tuple[float, float]:
    """Return the largest regret / sqrt(K T) over gaps f sqrt(K / T) without noise, and this f."""
    found = []
    for f in FACTORS:
        bandit = lr.gaussian([0.5 + f * sqrt(arms / horizon)] + [0.5] * (arms - 1), 0.0)
        regret = lr.simulate(policy, bandit, horizon, runs=1, grid=1, progress=False).regret(policy)[0]
        found.append((float(regret) / sqrt(arms * horizon), f))
    return max(found)


def growth(last: int) -> Sheet:
    """Show how the largest regret grows with the horizon."""
    rows = []
    for arms in (2, 10):
        for exponent in range(3, last + 1):
            horizon = 10**exponent
            (largest, f), (moss, _) = (worst_gap(name, arms, horizon) for name in ("EUCBV", "MOSS"))
            by_log = f"{largest / sqrt(log(horizon)):.3f}"
            rows.append((str(arms), f"1e{exponent}", f"{largest:.3f}", f"{f:g}", by_log, f"{moss:.3f}"))
    heads = ("K", "T", "EUCBV: regret / sqrt(K T)", "at f", "divided by sqrt(log T)", "MOSS")
    return Sheet("Arms without noise, the worst gap f sqrt(K / T); one run each, which is exact", heads, rows)


class ReleasedUCBV(lr.Policy):
    """The index of ucbV.py as released: it has no second moment."""

    index_trend = "increasing"
    index_depends_on = ("pulls", "mean")

    def score(self, arm: lr.Arm, clock: lr.Clock) -> float:
        """Return m + sqrt(2 v log(t + 1) / n) + log(t + 1) / n, with v = (S - S / n)^2 / n."""
        level = log(clock.t + 1.0)
        return arm.mean * (1.0 + (1.0 - 1.0 / arm.pulls) * sqrt(2.0 * level)) + level / arm.pulls


def first_experiment() -> Sheet:
    """Compare the released script of UCB-V in experiment 1 with the published curve."""
    points = [point for point in read_sheet().published if point.curve[::2] == ("Figure 1", "UCB-V")]
    times = [point.t for point in points]
    result = lr.simulate(ReleasedUCBV(), "paper-1", runs=100, seed=1, grid=times, progress=False)
    ours = {t: f"{mean:.1f} ({se:.1f})" for t, mean, se in result.curves().select("t", "mean", "se").rows()}
    rows = [(f"{point.t:,}", f"{point.value:.2f}", ours[point.t]) for point in points]
    heads = ("t", "published", "mean (standard error)")
    return Sheet("UCB-V in experiment 1 with the formula of ucbV.py, 100 runs, seed 1", heads, rows)


def main() -> None:
    """Print the tables."""
    options = arguments(__doc__.splitlines()[0])
    show([theorem_1(0.0), theorem_1(0.02), growth(6 if options.quick else 8), first_experiment()])
    say("Corollary 1 is for the gap sqrt(K log K / T). No policy can lose more than T times this gap,")
    say(f"sqrt(K T log K), and that is at most 80 sqrt(K T) for log K <= {80**2:,}.")


if __name__ == "__main__":
    main()

"""How the time a step grows with the number of arms K and with the horizon T, on one thread.

Bernoulli arms as in the paper's first testbed: all of mean 0.07 but one of 0.10. Against K the horizon is
100 K; against T there are 20 arms. Regret is recorded at the horizon alone, so that a short run is not all
recording.

    python benchmarks/growth.py [--quick]
"""

import warnings
from typing import Any

from common import (
    Claim,
    Report,
    Sheet,
    arguments,
    claim_sheet,
    in_turn,
    ours,
    samples,
    say,
    show,
    shown,
    write,
)

import lowregret as lr

POLICIES = ("EUCBV", "UCB1", "ThompsonGauss")
ARMS = (2, 10, 20, 100, 1_000, 10_000)
HORIZONS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
MOST_SAMPLED = 1_000
"""A policy that samples is not asked to play more arms than this."""
STEPS = 2_000_000
"""At least about so many steps make one measurement, so that it is long enough to time."""


def time(policy: lr.Policy, arms: int, horizon: int, quick: bool) -> float:
    """Give the nanoseconds a step, the least of several measurements."""
    bandit = lr.bernoulli([0.07] * (arms - 1) + [0.10])
    runs = max((STEPS // 10 if quick else STEPS) // horizon, 1)
    repeats, budget = (2, 1.0) if quick else (7, 10.0)
    return min(in_turn([lambda: ours(policy, bandit, horizon, runs, grid=1)], repeats, budget, least=2)[0])


def benchmark(quick: bool) -> Report:
    """Measure both curves of every policy."""
    warnings.filterwarnings("ignore", message="EUCBV: the paper's guarantee")  # 100 K is short for many arms
    numbers: dict[str, dict[str, dict[int, float]]] = {"arms": {}, "horizon": {}}
    for name in POLICIES:
        say(f"measuring {name}")
        policy = getattr(lr, name)()
        lr.simulate(policy, "bernoulli:0.1,0.2", 100, 1)  # compiles
        sampled = samples(policy)
        sizes = [arms for arms in ARMS if not sampled or arms <= MOST_SAMPLED]
        horizons = HORIZONS[:4] if quick else HORIZONS
        numbers["arms"][name] = {arms: time(policy, arms, 100 * arms, quick) for arms in sizes}
        numbers["horizon"][name] = {horizon: time(policy, 20, horizon, quick) for horizon in horizons}
    sheets = [
        _sheet("Nanoseconds a step against the number of arms K, T = 100 K", "K =", numbers["arms"]),
        _sheet("Nanoseconds a step against the horizon T, K = 20", "T =", numbers["horizon"]),
    ]
    eucbv, thompson = numbers["arms"]["EUCBV"], numbers["arms"]["ThompsonGauss"]
    claims = [
        Claim("EUCBV at K = 10,000 against K = 20: times a step", eucbv[10_000] / eucbv[20], 3.0),
        Claim(
            "ThompsonGauss at K = 1,000 against K = 100, for one that need not draw every arm: times a step",
            thompson[1_000] / thompson[100],
            3.0,
        ),
    ]
    return Report(sheets, claims, numbers)


def _sheet(title: str, letter: str, curves: dict[str, dict[int, float]]) -> Sheet:
    places: Any = sorted({place for curve in curves.values() for place in curve})
    rows = [(name, *(shown(curve.get(place)) for place in places)) for name, curve in curves.items()]
    return Sheet(title, ("policy", *(f"{letter} {place:,}" for place in places)), rows)


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    report = benchmark(options.quick)
    show([*report.sheets, claim_sheet(report.claims)])
    write("growth", report.numbers)


if __name__ == "__main__":
    main()

"""How the time a step grows with the number of arms K and with the horizon T, on one thread.

Bernoulli arms as in the paper's first testbed: all of mean 0.07 but one of 0.10. Against K the horizon is
100 K; against T there are 20 arms. Regret is recorded at the horizon alone, so that a short run is not all
recording. Thompson sampling is measured by thompson.py.

    python benchmarks/growth.py [--quick] [POLICY ...]
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
    say,
    show,
    shown,
    write,
)

import lowregret as lr

LIMITS = (
    (3.0, 10_000, 20, ("EUCBV",)),
    (5.0, 10_000, 20, ("UCB1", "KLUCBGauss", "MOSSAnytime")),
    (5.0, 1_000, 20, ("UCBTuned", "UCBV", "BayesUCBGauss", "OCUCB", "IMED", "KLUCB")),
)
"""How many times a step may cost at one number of arms what it costs at another, for which policies."""
OTHERS = ("DMED",)
"""Policies without such a limit."""
ARMS = (2, 10, 20, 100, 1_000, 10_000)
HORIZONS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
MOST_EVALUATED = 1_000
"""A policy of which all arms are evaluated at every step is not asked to play more arms than this."""
STEPS = 2_000_000
"""At least about so many steps make one measurement, so that it is long enough to time."""


def time(policy: lr.Policy, arms: int, horizon: int, quick: bool) -> float:
    """Return the nanoseconds a step, the least of several measurements."""
    bandit = lr.bernoulli([0.07] * (arms - 1) + [0.10])
    runs = max((STEPS // 10 if quick else STEPS) // horizon, 1)
    repeats, budget = (2, 1.0) if quick else (7, 10.0)
    return min(in_turn([lambda: ours(policy, bandit, horizon, runs, grid=1)], repeats, budget, least=2)[0])


def benchmark(quick: bool, wanted: list[str] | None = None) -> Report:
    """Measure both curves of every policy, or of those that are wanted."""
    warnings.filterwarnings("ignore", message="EUCBV: the paper's guarantee")  # 100 K is short for many arms
    numbers: dict[str, dict[str, dict[int, float]]] = {"arms": {}, "horizon": {}}
    for name in (*(name for *_, names in LIMITS for name in names), *OTHERS):
        if wanted and name not in wanted:
            continue
        say(f"measuring {name}")
        policy = getattr(lr, name)()
        lr.simulate(policy, "bernoulli:0.1,0.2", 100, 1)  # compiles
        sizes = [arms for arms in ARMS if name not in OTHERS or arms <= MOST_EVALUATED]
        horizons = HORIZONS[:4] if quick else HORIZONS
        numbers["arms"][name] = {arms: time(policy, arms, 100 * arms, quick) for arms in sizes}
        numbers["horizon"][name] = {horizon: time(policy, 20, horizon, quick) for horizon in horizons}
    sheets = [
        _sheet("Nanoseconds a step against the number of arms K, T = 100 K", "K =", numbers["arms"]),
        _sheet("Nanoseconds a step against the horizon T, K = 20", "T =", numbers["horizon"]),
    ]
    claims = []
    for limit, many, few, names in LIMITS:
        for name in filter(numbers["arms"].get, names):
            curve = numbers["arms"][name]
            text = f"{name} at K = {many:,} against K = {few}: times a step"
            claims.append(Claim(text, curve[many] / curve[few], limit))
    return Report(sheets, claims, numbers)


def _sheet(title: str, letter: str, curves: dict[str, dict[int, float]]) -> Sheet:
    places: Any = sorted({place for curve in curves.values() for place in curve})
    rows = [(name, *(shown(curve.get(place)) for place in places)) for name, curve in curves.items()]
    return Sheet(title, ("policy", *(f"{letter} {place:,}" for place in places)), rows)


def main() -> None:
    options = arguments(__doc__.splitlines()[0], names="POLICY")
    report = benchmark(options.quick, options.names)
    show([*report.sheets, claim_sheet(report.claims)])
    write("growth", report.numbers)


if __name__ == "__main__":
    main()

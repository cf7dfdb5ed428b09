"""What a step costs where rewards are delayed, against the plain scan of the same policy.

The plain scan scores every arm at every step, as the simulator does with delayed rewards. Both are measured
in turn, many times, on one thread; a row gives the least time of the processor of each and their ratio.

    python benchmarks/delayed_steps.py [--quick] [POLICY ...]
"""

from time import process_time

from common import (
    SEED,
    Claim,
    Report,
    Sheet,
    arguments,
    claim_sheet,
    in_turn,
    samples,
    say,
    show,
    shown,
    write,
)
from floor import rescan_of

import lowregret as lr

POLICIES = ("UCB1", "MOSS", "UCBV", "KLUCB", "IMED", "EUCBV", "ThompsonBeta")
BANDITS = {
    "5 arms": lr.bernoulli([0.1, 0.2, 0.3, 0.4, 0.5]),
    "20 arms": lr.bernoulli([0.07] * 19 + [0.1]),
}
DELAYS = ("500", "geometric(mean=500)")
HORIZON, RUNS, LIMIT = 20_000, 4, 2.0


def step_time(policy: lr.Policy, bandit: lr.Bandit, delay: str = "0") -> float:
    """Return the nanoseconds of the processor for a step, which a busy machine disturbs little."""
    began = process_time()
    lr.simulate(policy, bandit, HORIZON, RUNS, SEED, threads=1, grid=1, delay=delay)
    return 1e9 * (process_time() - began) / (RUNS * HORIZON)


def benchmark(quick: bool, wanted: list[str] | None = None) -> Report:
    """Measure all policies, or those that are wanted."""
    rows, claims, numbers = [], [], []
    for name in wanted or POLICIES:
        say(f"measuring {name}")
        policy = getattr(lr, name)()
        scanned = policy if samples(policy) else rescan_of(policy)
        for label, bandit in BANDITS.items():
            measures = [lambda p=scanned, b=bandit: step_time(p, b)]
            for delay in DELAYS:
                measures.append(lambda p=policy, b=bandit, d=delay: step_time(p, b, d))
            for measure in measures:
                measure()  # compiles
            scan, *late = map(min, in_turn(measures, 3 if quick else 12, 4.0))
            for delay, found in zip(DELAYS, late, strict=True):
                ratio = found / scan
                text = f"{name}, {label}, delay {delay}: times the plain scan"
                claims.append(Claim(text, ratio, LIMIT))
                rows.append((name, label, delay, shown(scan), shown(found), shown(ratio)))
                numbers.append({"policy": name, "bandit": label, "delay": delay, "scan": scan, "late": found})
    columns = "policy", "bandit", "delay", "plain scan", "late", "ratio"
    return Report([Sheet("Nanoseconds a step on one thread", columns, rows)], claims, numbers)


def main() -> None:
    options = arguments(__doc__.splitlines()[0], names="POLICY")
    report = benchmark(options.quick, options.names)
    show([*report.sheets, claim_sheet([claim for claim in report.claims if not claim.holds])])
    write("delayed_steps", report.numbers)


if __name__ == "__main__":
    main()

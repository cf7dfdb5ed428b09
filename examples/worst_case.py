"""Search the worst bandits of some policies at growing horizons: the table in docs/successor.md.

python examples/worst_case.py [RUNS [HORIZON ...]]
"""

import sys

import lowregret as lr

POLICIES = [lr.EUCBV(), lr.MOSS(), lr.MOSSV(), lr.MOSSV(anytime=True)]

if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    horizons = [int(each) for each in sys.argv[2:]] or [1_000]
    for horizon in horizons:
        for policy in POLICIES:
            found = lr.worst_case(policy, horizon=horizon, runs=runs)
            print(f"T = {horizon:,}: {found}; worst 5% {found.worst05:.2f}", flush=True)

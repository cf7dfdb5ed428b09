"""Search for the bandit on which a policy has the largest regret.

The search varies the number of arms, gaps and variances so that regret over sqrt(K T) is largest, and
evaluates what it found on new seeds. Further arguments are the number of runs and horizons: ``python
examples/worst_case.py worst.svg 400 1000 10000`` prints what docs/evidence/successor.md states.
"""

import sys

import altair as alt

import lowregret as lr

POLICIES = [lr.EUCBV(), lr.MOSS(), lr.MOSSV(), lr.MOSSVAnytime()]

if __name__ == "__main__":
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    horizons = [int(each) for each in sys.argv[3:]] or [1_000]
    rows = []
    for horizon in horizons:
        for policy in POLICIES:
            found = lr.worst_case(policy, horizon=horizon, runs=runs)
            print(f"T = {horizon:,}: {found}; worst 5% {found.worst05:.2f}", flush=True)
            rows.append({"policy": str(policy), "horizon": f"T = {horizon:,}", "ratio": found.ratio})
    if len(sys.argv) > 1:
        bars = alt.Chart(alt.InlineData(values=rows)).mark_bar()
        ratio = alt.X("ratio:Q", title="regret over sqrt(K T) on the worst bandit found")
        bars = bars.encode(ratio, alt.Y("policy:N", sort=None, title=None))
        (bars.facet(row="horizon:N") if len(horizons) > 1 else bars).save(sys.argv[1])

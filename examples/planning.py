"""Plan an experiment before the first visitor.

Four options, a base rate of 10%, 1,000 visitors a day for ten days, outcomes known a day later. The unknown
rates are drawn anew in every run. The fixed split is an A/B test with equal shares.
"""

import sys

import altair as alt

import lowregret as lr

if __name__ == "__main__":
    plan = lr.plan(
        options=4,
        rate=0.1,
        lift=0.2,
        visitors=1_000,
        days=10,
        delay_days=1,
        policies=["MOSSV", "IMED", "EUCBV"],
    )
    print(plan.table.select("policy", "loss", "p95", "best_leads", "days_to_80"))
    print(f"Use {plan.recommended}: {plan.reason}")
    if len(sys.argv) > 1:
        bars = alt.Chart(plan.table).mark_bar()
        bars.encode(
            alt.X("loss", title="expected loss, conversions"), alt.Y("policy", sort="x", title=None)
        ).save(sys.argv[1])

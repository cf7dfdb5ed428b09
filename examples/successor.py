"""Play the paper's four experiments with the successor MOSSV.

Mean regret of MOSSV, with and without a known horizon, beside EUCBV, MOSS and UCB-V. A second argument is
the number of runs: ``python examples/successor.py docs/successor.svg 40`` draws the figure in
docs/successor.md.
"""

import sys

import altair as alt
import polars as pl

import lowregret as lr

POLICIES = [lr.UCBV(), lr.EUCBV(), lr.MOSS(), lr.MOSSVAnytime(), lr.MOSSV()]


def panel(number: int, result: lr.Results) -> alt.Chart:
    """Draw mean regret over time."""
    return (
        alt.Chart(result.curves(), title=f"Experiment {number}")
        .mark_line()
        .encode(
            alt.X("t", title="step"),
            alt.Y("mean", title="mean regret"),
            alt.Color("policy", sort=[str(policy) for policy in POLICIES], title=None),
        )
        .properties(width=300, height=200)
    )


if __name__ == "__main__":
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    panels = []
    for number in (1, 2, 3, 4):
        result = lr.simulate(POLICIES, lr.paper(number), runs=runs, seed=1, grid=50)
        with pl.Config(float_precision=1):
            print(f"paper-{number}", result.summary().select("policy", "mean", "se", "worst05"))
        panels.append(panel(number, result))
    if len(sys.argv) > 1:
        alt.vconcat(panels[0] | panels[1], panels[2] | panels[3]).save(sys.argv[1])

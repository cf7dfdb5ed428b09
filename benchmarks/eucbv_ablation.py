"""Take EUCBV apart, to see whether estimating variances and eliminating arms pay.

    python benchmarks/eucbv_ablation.py [RUNS [FIGURE.svg]]

Plays EUCBV with one part changed at a time, in both widths, on the paper's four experiments: RUNS runs of
each, by default 40, seed 1. Cells: mean regret with its standard error, then the mean of the worst 5% of the
runs.
"""

import sys
from math import inf, sqrt

import numpy as np
import polars as pl

import lowregret as lr
from lowregret.analysis.summary import tail_mean
from lowregret.policies import Arm, Arms, Clock
from lowregret.policies.annotations import NonNegative
from lowregret.policies.eucbv import Round


class Part(lr.EUCBV):
    """EUCBV with its parts as parameters; the defaults are EUCBV itself."""

    constant: float = -1.0  # takes the place of every estimated variance, if not negative
    plus: NonNegative = 2.0  # what is added to the variance
    eliminate: bool = True

    def radius(self, arm: Arm, round: Round) -> float:
        variance = arm.variance if self.constant < 0.0 else self.constant
        return sqrt(self.rho * round.width / (4.0 * arm.pulls) * (variance + self.plus))

    def lower_bound(self, arm: Arm, clock: Clock, round: Round) -> float:
        return arm.mean - self.radius(arm, round) if self.eliminate else -inf

    def next_round(self, arms: Arms, clock: Clock, round: Round) -> Round:
        return self.after(round, clock.t, arms.count_active())


PARTS = {
    "as it is": {},
    "every variance 0": {"constant": 0.0},
    "every variance 1/4": {"constant": 0.25},
    "without the + 2": {"plus": 0.0},
    "without elimination": {"eliminate": False},
}
WIDTHS = ("paper", "released")
EXPERIMENTS = (1, 2, 3, 4)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print(f"| EUCBV | {' | '.join(f'experiment {number}' for number in EXPERIMENTS)} |")
    print(f"|{'---|' * (len(EXPERIMENTS) + 1)}")
    rows = []
    for width in WIDTHS:
        for name, parts in PARTS.items():
            policy, cells = Part(width=width, **parts), []
            for number in EXPERIMENTS:
                result = lr.simulate(policy, lr.paper(number), runs=runs, seed=1, grid=1, progress=False)
                regret = result.regret(policy)
                mean, error = float(regret.mean()), float(regret.std(ddof=1) / np.sqrt(runs))
                cells.append(f"{mean:,.0f} ({error:,.0f}), {tail_mean(regret):,.0f}")
                rows.append({"width": width, "part": name, "experiment": number, "mean": mean, "se": error})
            print(f"| {width} width, {name} | {' | '.join(cells)} |", flush=True)
    if len(sys.argv) > 2:
        draw(pl.DataFrame(rows), sys.argv[2])


def draw(rows: pl.DataFrame, path: str) -> None:
    """Draw the means with two standard errors, a panel for each experiment."""
    import altair as alt

    from lowregret.reporting.chart_style import FONT, inline_data
    from lowregret.reporting.policy_styles import BLUE, VERMILION

    colour = alt.Color(
        "width:N",
        scale=alt.Scale(domain=list(WIDTHS), range=[BLUE, VERMILION]),
        legend=alt.Legend(title="width", orient="top"),
    )
    panels = []
    for number in EXPERIMENTS:
        table = rows.filter(experiment=number).with_columns(
            low=pl.col("mean") - 2 * pl.col("se"), high=pl.col("mean") + 2 * pl.col("se")
        )
        base = alt.Chart(inline_data(table), title=f"Experiment {number}").properties(width=250, height=150)
        labels = alt.Axis(ticks=False, labelLimit=200)
        y = alt.Y("part:N", sort=list(PARTS), title=None, axis=labels)
        x = alt.X("mean:Q", title="mean regret", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5))
        panels.append(
            base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", y=y, color=colour)
            + base.mark_circle(size=90, opacity=1).encode(x=x, y=y, color=colour)
        )
    figure = alt.concat(*panels, columns=2)
    figure.configure(font=FONT).configure_view(stroke=None).save(path)


if __name__ == "__main__":
    main()

"""Draw the rounds and the confidence intervals of one run of EUCBV: the picture in docs/paper.md.

python examples/eucbv_rounds.py [FILE.svg]
"""

import sys

import altair as alt
import polars as pl

import lowregret as lr
from lowregret.engine.reference import new_game, step
from lowregret.report.chart_style import save

MEANS, HORIZON, SEED, RUN = (0.4, 0.6, 0.9), 20_000, 4, 3


def play():
    """Play one run; give the interval of every arm that is left over time, and the end of every round."""
    bandit = lr.bernoulli(MEANS)
    game = new_game(lr.EUCBV(), bandit, HORIZON, SEED, RUN)
    intervals, rounds, seen = [], [], 9.0
    while game.t < HORIZON:
        number, left = game.round.number, len(game.active())
        step(game, bandit.data)
        turned = game.round.number > number
        if turned:
            rounds.append({"t": game.t, "round": f"N_{number}"})
        if game.t > 1.03 * seen or turned or len(game.active()) < left:
            seen = game.t
            for place in game.active():
                arm = game.arms.at(place)
                width = game.policy.radius(arm, game.round)
                row = {"t": game.t, "arm": f"arm of mean {MEANS[arm.number]}", "mean": arm.mean}
                intervals.append(row | {"low": arm.mean - width, "high": arm.mean + width})
    return pl.DataFrame(intervals), pl.DataFrame(rounds)


def draw(intervals, rounds):
    """Draw the intervals as bands and the ends of rounds as lines."""
    look = alt.Scale(range=["#0072B2", "#009E73", "#D55E00"])
    colour = alt.Color("arm:N", scale=look, legend=alt.Legend(title=None, orient="top", symbolType="square"))
    time = alt.X("t:Q", title="time step t", scale=alt.Scale(type="log", domain=[10, HORIZON], nice=False))
    time = time.axis(values=[10, 100, 1_000, 10_000], format=",d")
    reward = alt.Scale(domain=[0, 1.4])
    base = alt.Chart(alt.InlineData(values=intervals.to_dicts()))
    ends = alt.Chart(alt.InlineData(values=rounds.filter(pl.col("t") > 10).to_dicts()))
    layers = [
        ends.mark_rule(color="#999999", strokeDash=[3, 3]).encode(x=time),
        ends.mark_text(align="left", dx=3, fontSize=11, color="#5F5F5F").encode(
            x=time, y=alt.value(8), text="round:N"
        ),
        base.mark_area(opacity=0.3, clip=True, interpolate="step-after").encode(
            x=time, y=alt.Y("low:Q", title="reward", scale=reward), y2="high:Q", color=colour
        ),
        base.mark_line(clip=True).encode(x=time, y=alt.Y("mean:Q", scale=reward), color=colour),
    ]
    chart = alt.layer(*layers).properties(width=640, height=320)
    return chart.configure_view(stroke=None).configure_axis(grid=False)


if __name__ == "__main__":
    intervals, rounds = play()
    last = intervals.group_by("arm", maintain_order=True).agg(pl.col("t").max(), pl.col("low", "high").last())
    print(last.rename({"t": "in play until"}))
    if len(sys.argv) > 1:
        save(draw(intervals, rounds), sys.argv[1])

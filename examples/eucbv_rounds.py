"""Draw the rounds and the confidence intervals of EUCBV.

One run with three arms, one panel for each: the thick line is the mean, the thin lines are the ends of the
confidence interval, and dashed lines the ends of the rounds. The grey line is the lower end of the best arm:
an arm is eliminated when its upper end falls below it. This is the figure in docs/explanation/paper.md.
"""

import sys

import altair as alt
import numpy as np
import polars as pl

import lowregret as lr

MEANS, HORIZON, SEED = (0.4, 0.6, 0.9), 20_000, 726
# The first seed whose run eliminates both arms after the last round, each on a pull of the best arm.


def simulate(seed):
    """Simulate one run of EUCBV; return the rewards of every arm and the trace."""
    rewards = np.random.default_rng(seed).random((len(MEANS), HORIZON)) < np.array(MEANS)[:, None]
    return rewards, lr.trace(lr.EUCBV(), rewards.astype(float), HORIZON)


def intervals_and_rounds(rewards, trace):
    """Return the interval of every active arm over time, and the end of every round."""
    pulls = np.cumsum(trace.arm == np.arange(len(MEANS))[:, None], axis=1)
    active, intervals, rounds, drawn = set(range(len(MEANS))), [], [], 9.0
    for t in range(len(MEANS), HORIZON + 1):
        n, number, ended = pulls[:, t - 1], trace.round[t - 1], trace.round[t - 1] > trace.round[t - 2]
        if ended:
            rounds.append({"t": t, "round": f"N_{number - 1}"})
        if t <= 1.03 * drawn and not ended and trace.active[t - 1] == len(active):
            continue
        drawn = t
        mean = np.array([row[:count].mean() for row, count in zip(rewards, n, strict=True)])
        width = np.log((HORIZON / len(MEANS)) ** 2 * 0.5**number)  # log(psi T eps_m)
        radius = np.sqrt(0.5 * (mean * (1 - mean) + 2) * width / (4 * n))
        while len(active) > trace.active[t - 1]:
            active.remove(min(active, key=lambda arm: mean[arm] + radius[arm]))
        for arm in sorted(active):
            row = {"t": t, "arm": f"arm of mean {MEANS[arm]}", "mean": mean[arm]}
            intervals.append(row | {"low": mean[arm] - radius[arm], "high": mean[arm] + radius[arm]})
    return pl.DataFrame(intervals), pl.DataFrame(rounds)


def draw(intervals, rounds):
    """Draw one panel for each arm, with its interval and the ends of the rounds."""
    time = alt.X("t:Q", title="time step t", scale=alt.Scale(type="log", domain=[10, HORIZON], nice=False))
    time = time.axis(values=[10, 100, 1_000, 10_000], format=",d", grid=False)
    reward = alt.Scale(domain=[0, 1.2])
    best = intervals.filter(arm=f"arm of mean {max(MEANS)}")
    panels = []
    for place, (mean, colour) in enumerate(zip(MEANS, ["#0072B2", "#009E73", "#D55E00"], strict=True)):
        arm = f"arm of mean {mean}"
        until = intervals.filter(arm=arm)["t"].max()
        title = arm if mean == max(MEANS) else f"{arm}, eliminated near step {until:,}"
        base = alt.Chart(intervals.filter(arm=arm))
        ends = alt.Chart(rounds.filter(pl.col("t") > 10))
        step = {"clip": True, "interpolate": "step-after"}
        layers = [
            ends.mark_rule(color="#999999", strokeDash=[3, 3]).encode(time),
            alt.Chart(best)
            .mark_line(color="#B0B0B0", strokeWidth=1, **step)
            .encode(time, alt.Y("low:Q", scale=reward)),
            base.mark_line(color=colour, strokeWidth=1, **step).encode(time, alt.Y("low:Q")),
            base.mark_line(color=colour, strokeWidth=1, **step).encode(time, alt.Y("high:Q")),
            base.mark_line(color=colour, strokeWidth=2.5, **step).encode(
                time, alt.Y("mean:Q", title="reward")
            ),
        ]
        if place == 0:
            names = ends.mark_text(align="left", dx=3, fontSize=12, color="#5F5F5F")
            layers.append(names.encode(time, y=alt.value(8), text="round:N").properties(name="labels-rounds"))
        panels.append(alt.layer(*layers).properties(width=640, height=130, title=title))
    return alt.vconcat(*panels)


if __name__ == "__main__":
    intervals, rounds = intervals_and_rounds(*simulate(SEED))
    last = intervals.group_by("arm", maintain_order=True).agg(pl.col("t").max(), pl.col("low", "high").last())
    print(last.rename({"t": "active until"}))
    left = [simulate(seed)[1].active[-1] for seed in range(2_000)]
    for eliminated in range(len(MEANS)):
        print(f"{left.count(len(MEANS) - eliminated):,} of {len(left):,} runs eliminate {eliminated} arms")
    if len(sys.argv) > 1:
        draw(intervals, rounds).save(sys.argv[1])

"""Draw the pictures that explain an idea, in the style of the package's charts.

    python tools/docs_pictures.py [NAME ...]

Each function that is named after a picture draws ``docs/images/NAME.svg``; without names, all are drawn. The
other figures of the docs are those of scripts in examples/, which the pages name.
"""

import sys
from collections.abc import Callable
from math import log, sqrt
from pathlib import Path
from random import Random
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from diagrams import ask_and_tell, decision_tree, one_file_or_a_server
from draw import drawn, narrow_file, narrow_form, smaller
from draw import save as save_both
from scipy.stats import beta, norm

import lowregret as lr
from lowregret.reporting.chart_style import CONFIG, GREY, INK
from lowregret.reporting.policy_styles import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION

IMAGES = Path(__file__).parents[1] / "docs" / "images"
BUTTONS = {"A": 0.04, "B": 0.05, "C": 0.07}
"""The three buttons of the docs, and the part of the visitors who sign up."""
COLOURS = alt.Scale(domain=list(BUTTONS), range=[ORANGE, SKY, BLUE])
VISITORS = 10_000


def save(chart: Any, name: str) -> None:
    """Write a chart with the fonts and colours of the package."""
    spec = chart.properties(background="white", padding=10).to_dict()
    spec["config"] = {**CONFIG, "header": {"labelFontSize": 14, "titleFontSize": 14, "labelColor": INK}}
    path = IMAGES / f"{name}.svg"
    path.write_text(smaller(drawn(spec)) + "\n", encoding="utf-8")
    narrow_file(path).write_text(smaller(narrow_form(spec)) + "\n", encoding="utf-8")


def axis(title: str | None, **options: Any) -> alt.Axis:
    """Return an axis with few round numbers."""
    return alt.Axis(title=title, tickCount=4, **options)


def visitors_axis() -> alt.Axis:
    """Return the axis of the visitors, in thousands but for zero."""
    return axis("visitors so far", labelExpr="datum.value ? format(datum.value, '~s') : '0'")


def labels(table: pl.DataFrame, x: str, y: str, text: str, **options: Any) -> alt.Chart:
    """Write a text at the points of a table."""
    mark = {"align": "left", "dx": 6, "fontSize": 13, "color": INK, **options}
    return alt.Chart(table).mark_text(**mark).encode(x=f"{x}:Q", y=f"{y}:Q", text=f"{text}:N")


def traffic() -> None:
    """Draw the share of each button in the traffic: an A/B test beside a bandit."""
    runs, step = 60, 250
    bandit = lr.bernoulli(list(BUTTONS.values()))
    shares = np.zeros((VISITORS // step, len(BUTTONS)))
    for run in range(runs):
        arms = lr.trace("ThompsonBeta", bandit, VISITORS, seed=1, run=run).arm
        for arm in range(len(BUTTONS)):
            shares[:, arm] += (arms == arm).reshape(-1, step).mean(axis=1) / runs
    rows, plans = [], ("A/B test, then the winner", "bandit")
    for block in range(VISITORS // step):
        visitor = block * step
        test = visitor < VISITORS // 2
        for arm, button in enumerate(BUTTONS):
            part = 1 / 3 if test else float(button == "C")
            rows += [
                {"plan": plans[0], "visitor": visitor, "button": button, "share": part},
                {"plan": plans[1], "visitor": visitor, "button": button, "share": shares[block, arm]},
            ]
    texts = {
        plans[0]: [
            (300, 0.83, "A: 4% sign up"),
            (300, 0.5, "B: 5%"),
            (300, 0.17, "C: 7%"),
            (5_300, 0.5, "C only"),
        ],
        plans[1]: [(300, 0.95, "A"), (300, 0.72, "B"), (4_000, 0.4, "C, ever more often")],
    }
    charts = []
    for plan in plans:
        table = pl.DataFrame([row for row in rows if row["plan"] == plan])
        area = (
            alt.Chart(table)
            .mark_area(interpolate="step-after")
            .encode(
                x=alt.X("visitor:Q", axis=visitors_axis(), scale=alt.Scale(nice=False)),
                y=alt.Y(
                    "share:Q", axis=axis("share of visitors", format="%"), scale=alt.Scale(domain=[0, 1])
                ),
                color=alt.Color("button:N", scale=COLOURS, legend=None),
                order=alt.Order("button:N", sort="descending"),
            )
        )
        names = pl.DataFrame(texts[plan], schema=["visitor", "share", "text"], orient="row")
        colour = alt.condition("datum.text[0] === 'C'", alt.value("white"), alt.value("black"))
        text = (
            alt.Chart(names)
            .mark_text(align="left", fontSize=13)
            .encode(x="visitor:Q", y="share:Q", text="text:N", color=colour)
        )
        charts.append(alt.layer(area, text).properties(width=310, height=240, title=plan))
    save(alt.hconcat(*charts, spacing=30), "traffic")


def sign_ups_lost() -> None:
    """Draw regret as the sign-ups that were lost, of an A/B test and of a bandit."""
    bandit = lr.bernoulli(list(BUTTONS.values()))
    result = lr.simulate("ThompsonBeta", bandit, VISITORS, runs=200, seed=1, grid=50)
    outcome = result["ThompsonBeta"]
    times = np.concatenate([[0], outcome.grid])
    loss = np.concatenate([[0], outcome.regret.mean(axis=0)])
    per_visitor = bandit.gaps.mean()
    test = np.minimum(times, VISITORS / 2) * per_visitor
    rows = [
        {"visitor": int(t), "lost": float(value), "plan": plan}
        for plan, values in (
            ("A/B test, then the winner", test),
            ("bandit", loss),
            ("equal split", times * per_visitor),
        )
        for t, value in zip(times, values, strict=True)
    ]
    table = pl.DataFrame(rows)
    colours = alt.Scale(
        domain=["equal split", "A/B test, then the winner", "bandit"], range=[GREY, VERMILION, BLUE]
    )
    lines = (
        alt.Chart(table)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("visitor:Q", axis=visitors_axis(), scale=alt.Scale(domain=[0, VISITORS])),
            y=alt.Y("lost:Q", axis=axis("sign-ups lost so far (regret)")),
            color=alt.Color("plan:N", scale=colours, legend=None),
        )
    )
    ends = table.filter(visitor=VISITORS)
    save(
        alt.layer(lines, labels(ends, "visitor", "lost", "plan")).properties(width=480, height=280),
        "sign-ups-lost",
    )


def first_simulation() -> None:
    """Draw the regret of the four policies of the first tutorial."""
    policies = ["RoundRobin", "EpsilonGreedy", "UCB1", "ThompsonBeta"]
    result = lr.simulate(policies, lr.bernoulli(list(BUTTONS.values())), VISITORS, runs=200, seed=1)
    save_both(result.plot(title="Sign-ups lost, three buttons"), IMAGES / "first-simulation.svg")


def bad_runs() -> None:
    """Draw how often four policies lose much, the picture of docs/how-to/analysis.md."""
    policies = ["EpsilonGreedy", "UCB1", "ThompsonBeta", "MOSSV"]
    result = lr.simulate(policies, lr.bernoulli(list(BUTTONS.values())), VISITORS, runs=200, seed=1)
    save_both(result.plot_tail().properties(title="Sign-ups lost in a run"), IMAGES / "bad-runs.svg")


def regret() -> None:
    """Draw the regret of the four policies of the README."""
    policies = ["RoundRobin", "UCB1", "ThompsonBeta", "MOSSV"]
    result = lr.simulate(policies, lr.bernoulli(list(BUTTONS.values())), VISITORS, seed=1)
    save_both(result.plot(title=""), IMAGES / "regret.svg")


class Mine(lr.Policy):
    """The policy of docs/how-to/policies.md."""

    width: float = 1.0

    def score(self, arm: lr.Arm, clock: lr.Clock) -> float:
        """Return the mean plus width * sqrt(log(t) / n)."""
        return arm.mean + self.width * sqrt(log(clock.t) / arm.pulls)


def own_policy() -> None:
    """Draw the regret of a policy of one's own."""
    policies = [Mine(), Mine(width=0.5), "MOSSV"]
    result = lr.simulate(policies, lr.bernoulli(list(BUTTONS.values())), VISITORS, runs=50, seed=1)
    save_both(result.plot(title=""), IMAGES / "own-policy.svg")


def _ucb_run() -> tuple[np.ndarray, np.ndarray, tuple[float, ...]]:
    means = (0.3, 0.5, 0.7)
    path = lr.trace("UCB1", lr.bernoulli(means), horizon=2_000, seed=2)
    return path.arm, path.reward, means


def confidence_bounds() -> None:
    """Draw the intervals of three arms after 20, 200 and 2,000 pulls of UCB1."""
    arms, rewards, means = _ucb_run()
    rows = []
    for t in (20, 200, 2_000):
        for arm, mean in enumerate(means):
            seen = rewards[:t][arms[:t] == arm]
            width = float(np.sqrt(2 * np.log(t) / len(seen)))
            rows.append(
                {
                    "time": f"after {t:,} pulls",
                    "arm": "ABC"[arm],
                    "mean": float(seen.mean()),
                    "truth": mean,
                    "low": max(float(seen.mean()) - width, -0.6),
                    "high": float(seen.mean()) + width,
                    "pulls": f"{len(seen):,} pulls",
                }
            )
    charts = []
    for t in (20, 200, 2_000):
        table = pl.DataFrame([row for row in rows if row["time"] == f"after {t:,} pulls"])
        best = table.sort("high")["arm"][-1]
        base = alt.Chart(table.with_columns(next=pl.col("arm") == best)).encode(
            x=alt.X("arm:N", axis=alt.Axis(title=None, labelAngle=0, labelFontSize=14))
        )
        y = alt.Y("low:Q", scale=alt.Scale(domain=[-0.6, 2.3]), axis=axis("reward"))
        colour = alt.condition("datum.next", alt.value(VERMILION), alt.value(BLUE))
        bar = base.mark_rule(strokeWidth=5, opacity=0.55).encode(y=y, y2="high:Q", color=colour)
        tip = base.mark_point(shape="triangle-up", filled=True, size=110, opacity=1).encode(
            y="high:Q", color=colour
        )
        mean = base.mark_point(filled=True, size=90, opacity=1, color=INK).encode(y="mean:Q")
        true = base.mark_tick(thickness=2.5, size=30, color=GREEN).encode(y="truth:Q")
        count = base.mark_text(dy=-14, fontSize=12, color=GREY).encode(y="high:Q", text="pulls:N")
        charts.append(
            alt.layer(bar, tip, mean, true, count).properties(
                width=190, height=280, title=f"after {t:,} pulls"
            )
        )
    save(alt.hconcat(*charts, spacing=16), "confidence-bounds")


def posteriors() -> None:
    """Draw what Thompson sampling believes of three buttons after 30, 300 and 3,000 visitors."""
    path = lr.trace("ThompsonBeta", lr.bernoulli(list(BUTTONS.values())), horizon=3_000, seed=4)
    x = np.linspace(0, 0.2, 201)
    charts = []
    for t in (30, 300, 3_000):
        rows = []
        for arm, button in enumerate(BUTTONS):
            seen = path.reward[:t][path.arm[:t] == arm]
            density = beta(1 + seen.sum(), 1 + len(seen) - seen.sum()).pdf(x)
            name = f"{button}: {len(seen):,}"
            rows += [
                {"rate": float(r), "density": float(d), "button": button, "name": name}
                for r, d in zip(x, density, strict=True)
            ]
        table = pl.DataFrame(rows)
        encoding: dict[str, Any] = {
            "x": alt.X("rate:Q", axis=axis("sign-up rate", format="%")),
            "y": alt.Y(
                "density:Q",
                stack=None,
                axis=alt.Axis(title=None, labels=False, grid=False),
                scale=alt.Scale(domain=[0, 1.12 * max(row["density"] for row in rows)], nice=False),
            ),
            "color": alt.Color("button:N", scale=COLOURS, legend=None),
        }
        area = alt.Chart(table).mark_area(opacity=0.25, interpolate="monotone").encode(**encoding)
        line = alt.Chart(table).mark_line(strokeWidth=2.5).encode(**encoding)
        tops = table.sort("density").group_by("button", maintain_order=True).last()
        sides = {"A": 8, "B": -8, "C": 0}  # the tops of two buttons may lie on one another
        text = alt.layer(
            *(
                alt.Chart(tops.filter(button=button))
                .mark_text(dx=side if t > 30 else 8, dy=-9, fontSize=13, color=INK)
                .encode(x="rate:Q", y="density:Q", text="button:N")
                for button, side in sides.items()
            )
        )
        charts.append(
            alt.layer(area, line, text).properties(width=195, height=200, title=f"after {t:,} visitors")
        )
    save(alt.hconcat(*charts, spacing=16), "posteriors")


def lazy() -> None:
    """Draw the indices of four arms over sixty steps, of which one at a time changes much."""
    means = (0.2, 0.35, 0.5, 0.8)
    path = lr.trace("UCB1", lr.bernoulli(means), horizon=400, seed=3)
    rows = []
    first, last = 300, 360
    for t in range(first, last + 1):
        for arm in range(len(means)):
            seen = path.reward[: t - 1][path.arm[: t - 1] == arm]
            index = float(seen.mean() + np.sqrt(2 * np.log(t - 1) / len(seen)))
            rows.append({"t": t, "arm": "ABCD"[arm], "index": index, "pulled": bool(path.arm[t - 1] == arm)})
    table = pl.DataFrame(rows)
    colours = alt.Scale(domain=list("ABCD"), range=[ORANGE, SKY, GREEN, BLUE])
    base = alt.Chart(table).encode(
        x=alt.X("t:Q", axis=axis("step"), scale=alt.Scale(domain=[first, last], nice=False)),
        y=alt.Y("index:Q", axis=axis("index"), scale=alt.Scale(zero=False)),
        color=alt.Color("arm:N", scale=colours, legend=None),
    )
    line = base.mark_line(strokeWidth=2.5, interpolate="step-after")
    dots = base.transform_filter("datum.pulled").mark_point(filled=True, size=55, opacity=1)
    ends = table.filter(t=last).with_columns(text=pl.lit("arm ") + pl.col("arm"))
    save(alt.layer(line, dots, labels(ends, "t", "index", "text")).properties(width=560, height=260), "lazy")


def always_valid() -> None:
    """Draw an ordinary 95% interval, looked at after every reward, beside one that holds at all times."""
    rate, length = 0.1, 2_000
    for seed in range(200):
        rewards = np.random.default_rng(seed).random(length) < rate
        n = np.arange(1, length + 1)
        mean = rewards.cumsum() / n
        width = 1.96 * np.sqrt(np.maximum(mean * (1 - mean), 1e-9) / n)
        missed = ((mean - width > rate) | (mean + width < rate)) & (n > 150)
        if missed.sum() > 60 and not missed[-200:].any():
            break
    looks = [*range(60, 200, 20), *range(200, length + 1, 40)]
    agent = lr.Agent("ThompsonBeta", ["A"], seed=1)
    rows, told = [], 0
    for t in looks:
        while told < t:
            agent.tell(agent.ask(), float(rewards[told]))
            told += 1
        low, high = agent.summary().select("low", "high").row(0)
        i = t - 1
        rows += [
            {
                "t": t,
                "kind": "ordinary 95% interval",
                "low": mean[i] - width[i],
                "high": mean[i] + width[i],
                "mean": mean[i],
            },
            {"t": t, "kind": "lowregret's interval", "low": low, "high": high, "mean": mean[i]},
        ]
    table = pl.DataFrame(rows).with_columns(miss=(pl.col("low") > rate) | (pl.col("high") < rate))
    charts = []
    for kind, colour in (("ordinary 95% interval", VERMILION), ("lowregret's interval", BLUE)):
        part = alt.Chart(table.filter(kind=kind)).encode(
            x=alt.X(
                "t:Q",
                axis=axis("rewards so far", format=",d"),
                scale=alt.Scale(domain=[0, length], nice=False),
            )
        )
        y = alt.Y("low:Q", axis=axis("sign-up rate", format="%"), scale=alt.Scale(domain=[0, 0.25]))
        band = part.mark_area(opacity=0.3, color=colour, clip=True).encode(y=y, y2="high:Q")
        line = part.mark_line(color=colour, strokeWidth=2).encode(y="mean:Q")
        miss = (
            part.transform_filter("datum.miss")
            .mark_point(shape="cross", filled=True, size=60, color=INK, opacity=1)
            .encode(y=alt.datum(0.015))
        )
        truth = (
            alt.Chart(pl.DataFrame({"y": [rate]}))
            .mark_rule(strokeDash=[5, 3], strokeWidth=1.5)
            .encode(y="y:Q")
        )
        charts.append(alt.layer(band, line, truth, miss).properties(width=310, height=230, title=kind))
    save(alt.hconcat(*charts, spacing=24), "always-valid")


def rewards() -> None:
    """Draw what rewards look like in the families of environments."""
    x = np.linspace(-0.5, 3, 281)
    shapes = {
        "Bernoulli: a click or none": None,
        "Gaussian: a measurement": norm(1, 0.45).pdf(x),
        "beta: a rating in [0, 1]": np.where(
            (x > 0) & (x < 1), beta(5, 2.5).pdf(np.clip(x, 0.001, 0.999)), 0
        ),
        "revenue: mostly nothing": None,
    }
    charts = []
    for (title, density), colour in zip(shapes.items(), (BLUE, GREEN, PURPLE, VERMILION), strict=True):
        size = {
            "width": 150,
            "height": 130,
            "title": alt.TitleParams(title, fontSize=13, fontWeight="normal"),
        }
        hidden = alt.Axis(title=None, labels=False, ticks=False, grid=False)
        if density is None:
            if "click" in title:
                table = pl.DataFrame({"x": [0.0, 1.0], "y": [0.9, 0.1]})
            else:
                sale = np.linspace(0.6, 3, 40)
                table = pl.DataFrame(
                    {"x": [0.0, *sale], "y": [0.95, *(0.11 * np.exp(-((np.log(sale / 1.3)) ** 2) / 0.3))]}
                )
            mark = alt.Chart(table).mark_bar(size=3 if len(table) > 2 else 14, color=colour)
        else:
            table = pl.DataFrame({"x": x, "y": density})
            mark = alt.Chart(table).mark_area(opacity=0.5, line={"color": colour}, color=colour)
        x_axis = alt.X(
            "x:Q",
            scale=alt.Scale(domain=[-0.5, 3]),
            axis=alt.Axis(title="reward", values=[0, 1, 2, 3], grid=False),
        )
        charts.append(mark.encode(x=x_axis, y=alt.Y("y:Q", axis=hidden)).properties(**size))
    save(alt.hconcat(*charts, spacing=12), "rewards")


def pairing() -> None:
    """Draw the regret of two policies in the same runs: luck moves both."""
    policies = ["UCBTuned", "KLUCB"]
    result = lr.simulate(policies, "bernoulli:0.07*19,0.10", horizon=20_000, runs=150, seed=1)
    one, other = (result[name].regret[:, -1] for name in policies)
    table = pl.DataFrame({"one": one, "other": other})
    low, high = float(min(one.min(), other.min())), float(max(one.max(), other.max()))
    scale = alt.Scale(domain=[low, high], nice=True, zero=False)
    dots = (
        alt.Chart(table)
        .mark_point(filled=True, size=40, opacity=0.6, color=BLUE)
        .encode(
            x=alt.X("one:Q", scale=scale, axis=axis(f"regret of {policies[0]} in a run")),
            y=alt.Y("other:Q", scale=scale, axis=axis(f"regret of {policies[1]} in the same run")),
        )
    )
    line = (
        alt.Chart(pl.DataFrame({"one": [low, high], "other": [low, high]}))
        .mark_line(color=GREY, strokeDash=[5, 3])
        .encode(x="one:Q", y="other:Q")
    )
    text = pl.DataFrame(
        {"x": [low + 0.86 * (high - low)], "y": [low + 0.94 * (high - low)], "text": ["equal"]}
    )
    save(
        alt.layer(line, dots, labels(text, "x", "y", "text", color=GREY, align="right")).properties(
            width=360, height=320
        ),
        "pairing",
    )


def good_days() -> None:
    """Draw sign-up rates by day, with weekends on which all buttons do better."""
    rng = np.random.default_rng(5)
    days = np.arange(1, 15)
    factor = np.where((days % 7 == 6) | (days % 7 == 0), 1.6, 1.0)
    rows = [
        {"day": int(day), "button": button, "rate": float(rng.binomial(3_000, rate * f) / 3_000)}
        for button, rate in (("A", 0.05), ("B", 0.06))
        for day, f in zip(days, factor, strict=True)
    ]
    table = pl.DataFrame(rows)
    colours = alt.Scale(domain=["A", "B"], range=[ORANGE, BLUE])
    base = alt.Chart(table).encode(
        x=alt.X(
            "day:Q", axis=alt.Axis(title="day", values=list(range(1, 15))), scale=alt.Scale(domain=[1, 14])
        ),
        y=alt.Y("rate:Q", axis=axis("sign-up rate", format="%"), scale=alt.Scale(domain=[0, 0.12])),
        color=alt.Color("button:N", scale=colours, legend=None),
    )
    weekend = pl.DataFrame({"a": [5.5, 12.5], "b": [7.5, 14.0], "name": ["weekend", "weekend"]})
    shade = alt.Chart(weekend).mark_rect(color="#EFEFEF").encode(x="a:Q", x2="b:Q")
    ends = table.filter(day=14).with_columns(text=pl.lit("button ") + pl.col("button"))
    line = base.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=40, filled=True))
    save(
        alt.layer(shade, line, labels(ends, "day", "rate", "text")).properties(width=520, height=240),
        "good-days",
    )


def agent() -> None:
    """Draw the chart of the agent of docs/live/quickstart.md."""
    random, served = (
        Random(2),
        lr.Agent("MOSSV", list(BUTTONS), horizon=VISITORS, seed=1, matures_after=500, default_reward=0),
    )
    for _ in range(100):
        choices = [served.ask() for _ in range(100)]
        served.tell_many([(choice, 1) for choice in choices if random.random() < BUTTONS[choice.arm]])
    save_both(served.plot(), IMAGES / "agent.svg")


def replay() -> None:
    """Draw what three policies would have earned on a log, and what they do earn."""
    random, rates = Random(1), {"A": 0.2, "B": 0.3, "C": 0.6}
    arms, rewards = [], []
    for _ in range(3_000):  # the log of docs/how-to/replay.md
        arms.append(random.choice(list(rates)))
        rewards.append(float(random.random() < rates[arms[-1]]))
    log = pl.DataFrame({"arm": arms, "reward": rewards})
    policies = ["EUCBV", "UCB1(alpha=1)", "RoundRobin"]
    found = lr.replay(log, policies, seed=1).summary().filter(method="replay")
    played = lr.simulate(policies, lr.bernoulli(list(rates.values())), 1_000, runs=100, seed=1)
    truth = [0.6 - float(played[name].regret[:, -1].mean()) / 1_000 for name in found["policy"]]
    table = found.select("policy", "mean", "low", "high").with_columns(truth=pl.Series(truth))
    y = alt.Y("policy:N", axis=alt.Axis(title=None, labelFontSize=14), sort=policies)
    base = alt.Chart(table).encode(y=y)
    x = alt.X("low:Q", axis=axis("mean reward"), scale=alt.Scale(domain=[0.3, 0.7]))
    bar = base.mark_rule(strokeWidth=4, opacity=0.5, color=BLUE).encode(x=x, x2="high:Q")
    dot = base.mark_point(filled=True, size=90, opacity=1, color=BLUE).encode(x="mean:Q")
    tick = base.mark_tick(thickness=3, size=26, color=GREEN).encode(x="truth:Q")
    save(alt.layer(bar, dot, tick).properties(width=420, height=130), "replay")


def identification() -> None:
    """Draw the share of wrong recommendations of docs/how-to/identification.md."""
    policies = ["SuccessiveRejects", "SequentialHalving", "UCBE(a=40)", "MOSS", "RoundRobin"]
    bandit = lr.bernoulli([0.5] + [0.45] * 9 + [0.4] * 10)
    result = lr.simulate(policies, bandit, 20_000, runs=500, seed=1, record_recommendations=True)
    title = "20 arms: the share of 500 runs with a wrong recommendation"
    save_both(result.plot_identification(title=title), IMAGES / "identification.svg")


PICTURES: dict[str, Callable[[], None]] = {
    "traffic": traffic,
    "sign-ups-lost": sign_ups_lost,
    "first-simulation": first_simulation,
    "bad-runs": bad_runs,
    "regret": regret,
    "own-policy": own_policy,
    "confidence-bounds": confidence_bounds,
    "posteriors": posteriors,
    "lazy": lazy,
    "always-valid": always_valid,
    "rewards": rewards,
    "pairing": pairing,
    "good-days": good_days,
    "agent": agent,
    "replay": replay,
    "identification": identification,
    "decision-tree": decision_tree,
    "ask-and-tell": ask_and_tell,
    "one-file-or-a-server": one_file_or_a_server,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        PICTURES[name]()
        print(f"docs/images/{name}.svg")

"""Serve decisions from a SQLite file.

Every ask and tell is durable before it returns. Clicks come early; a visitor who has not clicked after 50
further decisions counts as 0 (``matures_after``, ``default_reward``).
"""

import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import altair as alt
import polars as pl

import lowregret as lr

RATES = {"A": 0.04, "B": 0.05, "C": 0.12}

if __name__ == "__main__":
    chance, chosen = random.Random(1), []
    with TemporaryDirectory() as folder:
        store = str(Path(folder) / "choices.db")
        agent = lr.open_agent(
            store, lr.MOSSVAnytime(), list(RATES), seed=1, matures_after=50, default_reward=0
        )
        for visitor in range(1_500):
            choice = agent.ask(request=f"visitor {visitor}")
            chosen.append(choice.arm)
            if chance.random() < RATES[choice.arm]:
                agent.tell(choice, 1)
        print(agent.summary())
        agent.close()
    if len(sys.argv) > 1:
        shares = pl.DataFrame({"decision": range(1_500), "arm": chosen}).with_columns(
            pl.col("decision") // 100 * 100
        )
        area = (
            alt.Chart(shares)
            .mark_bar()
            .encode(
                alt.X("decision:O", title="decision", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
                alt.Y("count()", stack="normalize", title="share of the decisions"),
                alt.Color("arm"),
            )
        )
        area.save(sys.argv[1])

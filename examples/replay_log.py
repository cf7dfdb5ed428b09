"""Evaluate policies on a log.

A live agent with a minimum share for every arm logs the propensity of each decision. What would other
policies have earned? ``examples/open_bandit.py`` does the same with the Open Bandit Dataset.
"""

import random
import sys

import altair as alt

import lowregret as lr

RATES = {"A": 0.10, "B": 0.15, "C": 0.25}


def log_of_an_agent(decisions):
    """Return the log of an agent that plays Thompson sampling."""
    chance = random.Random(1)
    agent = lr.Agent(lr.ThompsonBeta(), list(RATES), seed=1, minimum_share=0.1)
    rows = {"arm": [], "reward": [], "propensity": []}
    for _ in range(decisions):
        choice = agent.ask()
        reward = float(chance.random() < RATES[choice.arm])
        agent.tell(choice, reward)
        for column, value in zip(rows, (choice.arm, reward, choice.propensity), strict=True):
            rows[column].append(value)
    return rows


if __name__ == "__main__":
    result = lr.replay(log_of_an_agent(2_000), [lr.RoundRobin()], seed=1)
    arms = result.arms().filter(method="SNIPS").select("arm", "matched", "mean", "low", "high")
    print(arms)
    if len(sys.argv) > 1:
        base = alt.Chart(arms).encode(y="arm")
        bars = base.mark_rule().encode(alt.X("low", title="mean reward, 95% interval"), x2="high")
        (bars + base.mark_point(filled=True, size=60).encode(x="mean")).save(sys.argv[1])

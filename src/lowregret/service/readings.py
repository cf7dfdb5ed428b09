"""What the service answers about an agent, computed from its state."""

from __future__ import annotations

from typing import Any

from lowregret.online.agent import Agent
from lowregret.online.agent_state import AgentState
from lowregret.online.arm_summary import regret_bound, summary_table


def overview(agent: Agent, name: str) -> dict[str, Any]:
    """Return the state of an agent in a few numbers."""
    with agent._transactions.reading() as state:
        return _overview(state, name)


def summary(agent: Agent, name: str) -> dict[str, Any]:
    """Return an agent, its settings and its arms."""
    with agent._transactions.reading() as state:
        table = summary_table(state).to_dicts()
        return {
            **_overview(state, name),
            "settings": state.settings.described(),
            "table": table,
            "loss": {**estimated_loss(table), "regret_bound": regret_bound(state)},
        }


def arm_names(agent: Agent) -> dict[str, Any]:
    """Return the arms that are not retired."""
    return {"arms": list(agent.arms)}


def position(agent: Agent) -> int:
    """Return how many events the log of an agent has."""
    with agent._transactions.reading():
        return agent._transactions.position


def measured(agent: Agent) -> dict[str, float | None]:
    """Return the metrics of an agent; see ``metrics.AGENT_METRICS``."""
    with agent._transactions.reading() as state:
        model = state.models[0]
        return {
            "decisions": state.asked,
            "rewards": int(model["told"]),
            "pending": len(state.pending) - len(state.early),
            "conflicts": state.conflicts,
            "discarded": int(model["discarded"]),
            "arms": len(state.arms),
            "loss": estimated_loss(summary_table(state).to_dicts())["against_best"],
            "bound": regret_bound(state),
        }


def estimated_loss(table: list[dict[str, Any]]) -> dict[str, float | None]:
    """Estimate how much reward was lost so far, from the means of the arms.

    Against the best arm: what its mean would have earned more. Against an equal split: what the mean over the
    arms would have earned more, negative where the agent earned more. Retired arms and those without a
    reward are no rivals, but their pulls count.
    """
    known = [row for row in table if row["mean"] is not None]
    rivals = [row["mean"] for row in known if row["state"] != "retired"]
    if not rivals:
        return {"against_best": None, "against_equal_split": None}
    pulls, earned = sum(row["pulls"] for row in known), sum(row["pulls"] * row["mean"] for row in known)
    return {
        "against_best": max(rivals) * pulls - earned,
        "against_equal_split": sum(rivals) / len(rivals) * pulls - earned,
    }


def _overview(state: AgentState, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "policy": str(state.settings.policy),
        "arms": len(state.arms),
        "pulls": state.time,
        "pending": len(state.pending) - len(state.early),
        "conflicts": state.conflicts,
        "status": state.status,
    }

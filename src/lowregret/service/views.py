"""The JSON that describes an agent, computed from its state."""

from typing import Any

from lowregret.online.agent import Agent, horizon_notes
from lowregret.online.agent_state import AgentState
from lowregret.online.arm_summary import gain_over_control, regret_bound, summary_table
from lowregret.online.period_rewards import period_means, period_rewards, variation_notes


def overview(agent: Agent) -> dict[str, Any]:
    with agent.transactions.reading() as state:
        return _overview(agent, state)


def summary(agent: Agent) -> dict[str, Any]:
    with agent.transactions.reading() as state:
        table, rewards = summary_table(state).to_dicts(), period_rewards(state)
        return {
            **_overview(agent, state),
            "settings": state.settings.to_dict(),
            "table": table,
            "loss": {"against_best": estimated_loss(table), "regret_bound": regret_bound(state)},
            "gain_over_control": gain_over_control(state),
            "periods": period_means(state, rewards),
            "notes": (*horizon_notes(state), *variation_notes(state, rewards)),
        }


def position(agent: Agent) -> int:
    with agent.transactions.reading():
        return agent.transactions.position


def metrics(agent: Agent) -> dict[str, float | None]:
    """Return the metrics of an agent; see ``prometheus.AGENT_METRICS``."""
    with agent.transactions.reading() as state:
        model = state.models[0]
        return {
            "decisions": state.asked,
            "rewards": int(model["told"] - model["defaulted"]),
            "defaults": int(model["defaulted"]),
            "pending": len(state.pending) - len(state.early),
            "conflicts": state.conflicts,
            "discarded": int(model["discarded"]),
            "arms": len(state.arms),
            "loss": estimated_loss(summary_table(state).to_dicts()),
            "bound": regret_bound(state),
        }


def estimated_loss(table: list[dict[str, Any]]) -> float | None:
    """Estimate how much more the best mean would have earned so far."""
    means = [(row.get("adjusted", row["mean"]), row) for row in table if row["mean"] is not None]
    best = max((mean for mean, row in means if row["state"] != "retired"), default=None)
    return None if best is None else float(sum(row["pulls"] * (best - mean) for mean, row in means))


def _overview(agent: Agent, state: AgentState) -> dict[str, Any]:
    return {
        "name": agent.name,
        "policy": str(state.settings.policy),
        "arms": len(state.arms),
        "pulls": state.time,
        "pending": len(state.pending) - len(state.early),
        "conflicts": state.conflicts,
        "status": state.status,
    }

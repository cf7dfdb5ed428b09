"""An agent in the shadow of those who decide: how often it would have agreed, and what it would have earned.

Its log is replayed. Before each decision of others, it chooses, having learned from all before. The reward of
a decision in which both agree, weighted by the inverse of the probability with which the others chose their
arm, is one of the agent's own choices: ``snips`` of ``offline.estimators``. A decision without a propensity
has weight 1, which is right if all its arms were equally likely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lowregret.engine.kernels.rng import POLICY_STREAM, stream
from lowregret.offline.estimators import snips
from lowregret.online.agent import Agent
from lowregret.online.agent_state import AgentState
from lowregret.online.decisions import OBSERVED, Event
from lowregret.online.event_replay import replay, withdrawn_in
from lowregret.online.retention import check_history
from lowregret.online.snapshot import state_at
from lowregret.online.stores import all_events, retry_if_changed
from lowregret.online.transactions import prepare

if TYPE_CHECKING:
    from lowregret.online.stores import Store


def shadow_report(agent: Agent, store: Store, stop: int) -> dict[str, Any]:
    """Return the comparison over the events of a log up to a position."""
    check_history(store)
    return retry_if_changed(lambda: _report(agent, store, stop))


def _report(agent: Agent, store: Store, stop: int) -> dict[str, Any]:
    settings, token = agent.transactions.state.settings, agent.transactions.state.token
    state, start = state_at(store.first_snapshot(), settings, token)
    prepare(state, stop - start)
    withdrawn = withdrawn_in(all_events(store, start))
    agreed: dict[int, tuple[bool, float | None]] = {}
    rows: list[tuple[bool, float, float]] = []
    missing = 0
    for event in all_events(store, start, stop):
        number = event.decision or 0
        if event.kind == "asked" and (event.key or "").startswith(OBSERVED) and number not in withdrawn:
            agreed[number] = _choice(state, event) == event.arm, event.propensity
        elif event.kind == "told" and event.reward is not None and number in agreed:
            same, propensity = agreed.pop(number)
            missing += propensity is None
            rows.append((same, event.reward, propensity or 1.0))
        replay(state, (event,), withdrawn)
    same, reward, propensity = np.array(rows or np.zeros((0, 3)), np.float64).T
    estimate = snips(same / propensity, reward)
    low, high = estimate.interval or (None, None)
    return {
        "observed": len(rows),
        "agreed": int(same.sum()),
        "earned": float(reward.mean()) if rows else None,
        "would_have_earned": estimate.mean,
        "se": estimate.se,
        "low": low,
        "high": high,
        "without_propensity": missing,
    }


def _choice(state: AgentState, event: Event) -> str:
    """Return what the agent would have chosen before an event, with random numbers of this decision alone."""
    before, number = state.save(), event.decision or 0
    state.models[0]["key"] = stream(state.settings.seed, number, POLICY_STREAM)
    try:
        return str(state.choose(number, None, 0.0).arm)
    finally:
        state.restore(before)

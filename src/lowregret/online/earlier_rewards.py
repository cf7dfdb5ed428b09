"""Rewards from before an agent: those of a log or of another agent, as rows or as a prior."""

import os
from datetime import timedelta
from hashlib import sha256
from math import sqrt
from pathlib import Path
from typing import TypeAlias

from lowregret._common.log_tables import LogSource, arms_of, propensities_of, read_table, rewards_of
from lowregret._common.validation import number, short_repr
from lowregret.engine.prior import MAX_WEIGHT
from lowregret.errors import InputError
from lowregret.online.agent import Agent
from lowregret.online.agent_settings import Settings, valid_observation
from lowregret.online.calls import observe
from lowregret.policies.views import mean_of, variance_of

Source: TypeAlias = "LogSource | os.PathLike[str] | Agent"
"""A store, a file or table of rewards, or an agent."""
SUFFIXES = (".csv", ".parquet")
MAX_ROWS = 500
"""How many rows are observed in one transaction."""


def prior_from(source: Source, weight: float, settings: Settings, name: str | None) -> dict[str, list[float]]:
    """Return the prior that earlier rewards are worth, each of them ``weight`` pulls."""
    share = number("open_agent", "weight", weight)
    if not 0.0 < share <= 1.0:
        raise InputError(f"weight must be above 0 and at most 1, got {short_repr(weight)}")
    prior, control = {}, settings.control[0] if settings.control else None
    for arm, (count, mean, deviation) in _statistics(source, name).items():
        pulls = min(round(share * count), MAX_WEIGHT)
        if pulls and arm in settings.arms and arm != control:
            prior[arm] = [mean, pulls, *([deviation] if settings.reward_range is None else [])]
    if not prior:
        raise InputError(f"start_from: no arm of the new agent has rewards in {short_repr(source)}")
    return prior


def observe_log(agent: Agent, file: Path) -> tuple[int, int]:
    """Let an agent observe the rows of a log; return how many were new, and how many there are.

    A row without a request gets one from the log up to it, so that a log that has grown can be imported
    again.
    """
    if isinstance(agent.transactions.state.settings.period, timedelta):
        raise InputError(
            "rows of a log have no time, and means of this agent are adjusted for times: use observe"
        )
    name, table = read_table(file)
    rewards, propensities = rewards_of(name, table), propensities_of(name, table)
    requests = table["request"].cast(str) if "request" in table.columns else [None] * len(rewards)
    digest, rows = sha256(), []
    for row, (arm, request) in enumerate(zip(arms_of(name, table), requests, strict=True)):
        decision = arm, float(rewards[row]), None if propensities is None else float(propensities[row])
        digest.update(repr(decision).encode())
        rows.append(valid_observation(*decision, request or f"import {digest.hexdigest()[:32]}"))
    starts = range(0, len(rows), MAX_ROWS)
    return sum(len(agent.transactions.execute(observe, rows[i : i + MAX_ROWS])) for i in starts), len(rows)


def _statistics(source: Source, name: str | None) -> dict[str, tuple[int, float, float]]:
    """Return the number, the mean and the standard deviation of the rewards of each arm, in their units."""
    if isinstance(source, Agent):
        return _of_agent(source)
    if isinstance(source, str | os.PathLike) and Path(source).suffix.lower() not in SUFFIXES:
        from lowregret.online.open_agent import open_or_create
        from lowregret.online.stores import TIMEOUT
        from lowregret.online.stores.locations import agent_names

        known = name if name in agent_names(source) else None
        with open_or_create(source, None, known, TIMEOUT, read_only=True) as agent:
            return _of_agent(agent)
    log, table = read_table(Path(source) if isinstance(source, os.PathLike) else source)
    arms, rewards, statistics = arms_of(log, table).to_numpy(), rewards_of(log, table), {}
    for arm in dict.fromkeys(arms):
        values = rewards[arms == arm]
        statistics[str(arm)] = len(values), float(values.mean()), float(values.std())
    return statistics


def _of_agent(agent: Agent) -> dict[str, tuple[int, float, float]]:
    from lowregret.online.arm_totals import all_sums

    with agent.transactions.reading() as state:
        settings, statistics = state.settings, {}
        scale = settings.unscaled(1.0) - settings.unscaled(0.0)
        names, _, all_arms = all_sums(state)
        for arm, sums in zip(names, all_arms, strict=True):
            mean = mean_of(sums.n, sums.origin, sums.total)
            variance = variance_of(sums.n, sums.total, sums.squares)
            statistics[arm] = sums.n, settings.unscaled(mean), sqrt(variance) * scale
    return statistics

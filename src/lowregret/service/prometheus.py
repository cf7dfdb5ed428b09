"""Metrics of the service and of its agents, in the text format of Prometheus."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKET_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
STATUSES = range(100, 600)
"""All that HTTP has, so that none is forgotten."""
MAX_ROUTES, ROUTE_COUNTS = 32, len(STATUSES) + len(BUCKET_SECONDS) + 2
WORKER_COUNTS = MAX_ROUTES * ROUTE_COUNTS
"""How many numbers a worker counts: the answers of each route by status, by bucket, and their seconds."""


class Metrics:
    """The answers of a service, and how long they took; each worker adds to its own part of the counts."""

    def __init__(self, routes: Iterable[str], shared: Any = None, worker: int = 0) -> None:
        self._routes = {route: place for place, route in enumerate(dict.fromkeys(routes))}
        self._counts = memoryview(shared or bytearray(8 * WORKER_COUNTS)).cast("B").cast("d")
        self._start = worker * WORKER_COUNTS

    def observe(self, route: str, status: int, seconds: float) -> None:
        counts, start = self._counts, self._start + self._routes[route] * ROUTE_COUNTS
        counts[start + STATUSES.index(status)] += 1
        counts[start + len(STATUSES) + bisect_left(BUCKET_SECONDS, seconds)] += 1
        counts[start + ROUTE_COUNTS - 1] += seconds

    def lines(self) -> Iterable[str]:
        table = np.asarray(self._counts).reshape(-1, MAX_ROUTES, ROUTE_COUNTS).sum(0)
        routes = [(route, table[place]) for route, place in sorted(self._routes.items())]
        name, seconds = "lowregret_requests_total", "lowregret_request_seconds"
        yield from _metadata(name, "counter", "Answers by route and status.")
        for route, counts in routes:
            for status, times in zip(STATUSES, counts, strict=False):
                if times:
                    yield _line(name, {"route": route, "status": str(status)}, int(times))
        yield from _metadata(seconds, "histogram", "Time until the answer, by route.")
        for route, counts in routes:
            totals = [int(total) for total in counts[len(STATUSES) : -1].cumsum()]
            if totals[-1]:
                for bound, total in zip((*map(str, BUCKET_SECONDS), "+Inf"), totals, strict=True):
                    yield _line(f"{seconds}_bucket", {"route": route, "le": bound}, total)
                yield _line(f"{seconds}_sum", {"route": route}, float(counts[-1]))
                yield _line(f"{seconds}_count", {"route": route}, totals[-1])


AGENT_METRICS = {
    "decisions": ("lowregret_decisions_total", "counter", "Decisions made."),
    "rewards": ("lowregret_rewards_total", "counter", "Rewards that were reported and count."),
    "defaults": ("lowregret_defaults_total", "counter", "Decisions that count as the default reward."),
    "pending": ("lowregret_pending", "gauge", "Decisions whose reward is not known."),
    "conflicts": ("lowregret_conflicts_total", "counter", "Rewards rejected because they contradict others."),
    "discarded": ("lowregret_discarded_total", "counter", "Decisions discarded or expired without reward."),
    "arms": ("lowregret_arms", "gauge", "Arms that are not retired."),
    "loss": ("lowregret_estimated_loss", "gauge", "Estimated loss of reward so far against the best arm."),
    "bound": ("lowregret_regret_bound", "gauge", "Upper 95% bound of the regret if means do not change."),
}
"""Metrics of an agent, which all processes agree on."""


def agent_lines(agents: Mapping[str, Mapping[str, float | None]], total: int) -> Iterable[str]:
    """Yield the metrics of agents by name, and the number of all agents."""
    yield from _metadata("lowregret_agents", "gauge", "Agents in the store.")
    yield f"lowregret_agents {total}"
    for key, (metric, kind, words) in AGENT_METRICS.items():
        yield from _metadata(metric, kind, words)
        for agent, values in agents.items():
            if (value := values[key]) is not None:
                yield _line(metric, {"agent": agent}, value)


def _metadata(name: str, kind: str, words: str) -> Iterable[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{inner}}} {value:g}" if isinstance(value, float) else f"{name}{{{inner}}} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

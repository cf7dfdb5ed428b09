"""Metrics of a process in the text format of Prometheus."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper ends of the classes of latencies, in seconds."""


class Metrics:
    """What a process has answered, and how long it took."""

    def __init__(self) -> None:
        self._statuses: Counter[tuple[str, int]] = Counter()
        self._classes: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._statuses[route, status] += 1
        self._classes[route][bisect_left(BOUNDS, seconds)] += 1
        self._seconds[route] += seconds

    def lines(self) -> Iterable[str]:
        """Yield the metrics of the process."""
        worker = {"worker": str(os.getpid())}
        yield from _head("lowregret_requests_total", "counter", "Answers by route and status.")
        for (route, status), times in sorted(self._statuses.items()):
            yield _line("lowregret_requests_total", {"route": route, "status": str(status), **worker}, times)
        name = "lowregret_request_seconds"
        yield from _head(name, "histogram", "Time until the answer, by route.")
        for route, classes in sorted(self._classes.items()):
            total = 0
            for bound, times in zip((*map(str, BOUNDS), "+Inf"), classes, strict=True):
                total += times
                yield _line(f"{name}_bucket", {"route": route, "le": bound, **worker}, total)
            yield _line(f"{name}_sum", {"route": route, **worker}, self._seconds[route])
            yield _line(f"{name}_count", {"route": route, **worker}, total)


AGENT_METRICS = {
    "decisions": ("lowregret_decisions_total", "counter", "Decisions made."),
    "rewards": ("lowregret_rewards_total", "counter", "Rewards that count."),
    "pending": ("lowregret_pending", "gauge", "Decisions whose reward is not known."),
    "conflicts": ("lowregret_conflicts_total", "counter", "Rewards rejected because they contradict others."),
    "discarded": ("lowregret_discarded_total", "counter", "Decisions discarded or expired without reward."),
    "arms": ("lowregret_arms", "gauge", "Arms that are not retired."),
    "loss": ("lowregret_estimated_loss", "gauge", "Estimated loss of reward so far against the best arm."),
    "bound": (
        "lowregret_regret_bound",
        "gauge",
        "Regret so far, at most: a 95% bound that holds at all times.",
    ),
}
"""Metrics of an agent, which all processes agree on."""


def agent_lines(agents: Mapping[str, Mapping[str, float | None]]) -> Iterable[str]:
    """Yield the metrics of agents, given by name."""
    for key, (metric, kind, words) in AGENT_METRICS.items():
        yield from _head(metric, kind, words)
        for agent, values in agents.items():
            if (value := values[key]) is not None:
                yield _line(metric, {"agent": agent}, value)


def _head(name: str, kind: str, words: str) -> Iterable[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{shown}}} {value:g}" if isinstance(value, float) else f"{name}{{{shown}}} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

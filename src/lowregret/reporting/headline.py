"""The sentence with which a report begins: which policy has the lowest regret, and how certain that is."""

from collections import Counter
from math import sqrt
from typing import NamedTuple

import polars as pl

from lowregret._common.text import count
from lowregret.analysis.comparison import HIGHER, INCONCLUSIVE, differences, holm, paired, verdict
from lowregret.analysis.intervals import bounded_p_value
from lowregret.analysis.power import ALPHA, runs_needed
from lowregret.analysis.tables import Tables, largest_regrets

MAX_NAMED = 3
"""A sentence names at most so many policies or environments."""


UNSEEN = "rare failures are not excluded"
"""Why a difference that is clear in the runs is not certain: a larger regret may come in others."""


class Rival(NamedTuple):
    """How a policy compares with the leader of an environment: the policy of the lowest mean regret."""

    environment: str
    policy: str
    verdict: str
    runs: int
    runs_needed: int | None


def headline(tables: Tables) -> str:
    """Return which policy leads and how certain that is; "" where there is nothing to compare.

    Examples
    --------
    >>> result = lr.simulate(["MOSSV", "RoundRobin"], "bernoulli:0.1,0.9", horizon=2_000, runs=20)
    >>> from lowregret.reporting.headline import headline
    >>> headline(result)
    'MOSSV has the lowest regret. Its difference from RoundRobin is significant at 5%.'
    """
    means = tables.finals.group_by("environment", "policy", maintain_order=True).agg(
        pl.col("regret").mean(), runs=pl.len()
    )
    lowest = means.sort("regret", maintain_order=True).group_by("environment", maintain_order=True).first()
    leaders = dict(lowest.select("environment", "policy").iter_rows())
    rivals = _rivals(tables, leaders)
    return f"{_leader_words(leaders)}. {_certainty(rivals)}." if rivals else ""


def _leader_words(leaders: dict[str, str]) -> str:
    counts = Counter(leaders.values()).most_common()
    (first, most), total = counts[0], len(leaders)
    if len(counts) == 1:
        where = {1: "", 2: " in both environments"}.get(total, f" in all {total} environments")
        return f"{first} has the lowest regret{where}"
    others = [f"{policy} in {number}" for policy, number in counts[1 : MAX_NAMED + 1]]
    if len(counts) > MAX_NAMED + 1:
        others[MAX_NAMED - 1 :] = [
            f"{count(len(counts) - MAX_NAMED, 'other policy', 'other policies')} in the rest"
        ]
    return f"{first} has the lowest regret in {most} of {total} environments, {_listed(others)}"


def _certainty(rivals: list[Rival]) -> str:
    open_rivals = [rival for rival in rivals if rival.verdict != HIGHER]
    if not open_rivals:
        if len(rivals) == 1:
            return f"Its difference from {rivals[0].policy} is significant at 5%"
        return "Its differences from all others are significant at 5%"
    runs = max(rival.runs for rival in open_rivals)
    needed = [rival.runs_needed for rival in open_rivals if rival.runs_needed is not None]
    close = list(dict.fromkeys(rival.policy for rival in open_rivals if rival.verdict == INCONCLUSIVE))
    reason = f"{_listed(close)} {'is' if len(close) == 1 else 'are'} too close" if close else UNSEEN
    if len(needed) < len(open_rivals):
        return f"Not certain: {reason} with {count(runs, 'run')}"
    return f"Not certain yet: {reason} with {count(runs, 'run')}; about {max(needed):,} are needed"


def _rivals(tables: Tables, leaders: dict[str, str]) -> list[Rival]:
    """Compare the leader of each environment with every other policy there, as ``compare`` does."""
    largest, samples = largest_regrets(tables), []
    for (environment,), part in tables.finals.group_by("environment", maintain_order=True):
        leader = leaders[str(environment)]
        wide = part.pivot("policy", index="run", values="regret")
        for policy in wide.columns[1:]:
            both = wide.select("run", leader, *([] if policy == leader else [policy])).drop_nulls()
            if policy != leader and len(both):
                samples.append((str(environment), policy, differences(both[policy], both[leader])))
    tests = [paired(sample) for *_, sample in samples]
    p_holm = holm([test.p_value for test in tests])
    p_bounded = holm([bounded_p_value(sample, largest[name]) for name, _, sample in samples])
    rivals = []
    for (environment, policy, sample), test, own, bounded in zip(
        samples, tests, p_holm, p_bounded, strict=True
    ):
        needed = None
        if test.se is not None:
            spread, level = test.se * sqrt(len(sample)), ALPHA / len(samples)
            needed = runs_needed(test.difference, spread, level, largest=largest[environment])
        rivals.append(Rival(environment, policy, verdict(test.difference, bounded, own), len(sample), needed))
    return rivals


def _listed(names: list[str]) -> str:
    """Join names by commas and "and"; of many only the first."""
    if len(names) > MAX_NAMED:
        names = [*names[: MAX_NAMED - 1], f"{len(names) - MAX_NAMED + 1} others"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))

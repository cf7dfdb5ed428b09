"""The sentence with which a report begins: which policy has the lowest regret, and how certain that is."""

from collections import Counter

import polars as pl

from lowregret._common.text import count
from lowregret.analysis.columns import KEYS
from lowregret.analysis.comparison import HIGHER, INCONCLUSIVE, compare_with
from lowregret.analysis.power import LEVEL
from lowregret.analysis.tables import Tables

MAX_LISTED = 3
"""A sentence names at most so many policies or environments."""


UNSEEN = "rare failures are not excluded"
"""Why a difference that is clear in the runs is not certain: a larger regret may come in others."""


def headline(tables: Tables) -> str:
    """Return which policy leads and how certain that is; "" where there is nothing to compare.

    Examples
    --------
    >>> result = lr.simulate(["MOSSV", "RoundRobin"], "bernoulli:0.1,0.9", horizon=2_000, runs=20)
    >>> from lowregret.reporting.headline import headline
    >>> headline(result)
    'MOSSV has the lowest regret. Its difference from RoundRobin is significant at 5%.'
    """
    means = tables.finals.group_by(KEYS, maintain_order=True).agg(pl.col("regret").mean())
    lowest = means.sort("regret", maintain_order=True).group_by("environment", maintain_order=True).first()
    leaders = dict(lowest.select(KEYS).iter_rows())
    rivals = compare_with(tables, leaders)
    return "" if rivals.is_empty() else f"{_leader_words(leaders)}. {_certainty(rivals)}."


def _leader_words(leaders: dict[str, str]) -> str:
    counts = Counter(leaders.values()).most_common()
    (first, most), total = counts[0], len(leaders)
    if len(counts) == 1:
        where = {1: "", 2: " in both environments"}.get(total, f" in all {total} environments")
        return f"{first} has the lowest regret{where}"
    others = [f"{policy} in {number}" for policy, number in counts[1 : MAX_LISTED + 1]]
    if len(counts) > MAX_LISTED + 1:
        others[MAX_LISTED - 1 :] = [
            f"{count(len(counts) - MAX_LISTED, 'other policy', 'other policies')} in the rest"
        ]
    return f"{first} has the lowest regret in {most} of {total} environments, {_listed(others)}"


def _certainty(rivals: pl.DataFrame) -> str:
    """Say how certain it is that the leaders are, from the comparisons of all others with them."""
    uncertain = rivals.filter(pl.col("verdict") != HIGHER)
    if uncertain.is_empty():
        if len(rivals) == 1:
            return f"Its difference from {rivals['policy'][0]} is significant at {LEVEL}"
        return f"Its differences from all others are significant at {LEVEL}"
    runs, needed = count(max(uncertain["runs"]), "run"), uncertain["runs_needed"]
    close = uncertain.filter(verdict=INCONCLUSIVE)["policy"].unique(maintain_order=True).to_list()
    reason = f"{_listed(close)} {'is' if len(close) == 1 else 'are'} too close" if close else UNSEEN
    if needed.null_count():
        return f"Not certain: {reason} with {runs}"
    return f"Not certain yet: {reason} with {runs}; about {max(needed):,} are needed"


def _listed(names: list[str]) -> str:
    """Join names by commas and "and"; of many only the first."""
    if len(names) > MAX_LISTED:
        names = [*names[: MAX_LISTED - 1], f"{len(names) - MAX_LISTED + 1} others"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))

"""The tables that analysis and report stand on: what a finished experiment left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

COLUMNS = {
    "finals": ("environment", "policy", "run", "regret"),
    "curves": ("environment", "policy", "run", "t", "regret"),
    "pulls": ("environment", "policy", "run", "arm", "pulls"),
    "events": ("environment", "policy", "run", "t", "arm", "event"),
    "arms": ("environment", "arm", "mean", "variance", "gap", "optimal"),
}
"""The tables and their columns. Run r of every policy in one environment saw the same rewards."""


class Tables(Protocol):
    """Anything with a name, a seed and the five tables: a store's results, or `Frames`."""

    @property
    def name(self) -> str:
        """What the experiment is called."""

    @property
    def seed(self) -> int | None:
        """What the rewards were drawn from, where that is known."""

    @property
    def finals(self) -> pl.DataFrame:
        """The final regret of every run."""

    @property
    def curves(self) -> pl.DataFrame:
        """The regret of every run at the recorded times."""

    @property
    def pulls(self) -> pl.DataFrame:
        """The pulls of every arm in every run."""

    @property
    def events(self) -> pl.DataFrame:
        """Which arm was eliminated in which run, and when."""

    @property
    def arms(self) -> pl.DataFrame:
        """The arms of every environment."""


@dataclass(frozen=True)
class Frames:
    """The five tables, held in memory.

    Examples
    --------
    >>> import lowregret as lr
    >>> frames = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.5", horizon=50, runs=3).tables()
    >>> frames.name, frames.finals.columns
    ('bernoulli:0.1,0.5', ['environment', 'policy', 'run', 'regret'])
    """

    name: str
    seed: int | None
    finals: pl.DataFrame
    curves: pl.DataFrame
    pulls: pl.DataFrame
    events: pl.DataFrame
    arms: pl.DataFrame


def join(name: str, parts: Sequence[Tables]) -> Frames:
    """Put the environments of several experiments into one.

    Examples
    --------
    >>> import lowregret as lr
    >>> from lowregret.results.tables import join
    >>> texts = ("bernoulli:0,1", "paper-1")
    >>> parts = [lr.simulate("RoundRobin", text, horizon=20, runs=2).tables() for text in texts]
    >>> join("two", parts).arms["environment"].unique(maintain_order=True).to_list()
    ['bernoulli:0,1', 'paper-1']
    """
    seeds = {part.seed for part in parts}
    tables = {key: pl.concat([getattr(part, key) for part in parts]) for key in COLUMNS}
    return Frames(name, seeds.pop() if len(seeds) == 1 else None, **tables)

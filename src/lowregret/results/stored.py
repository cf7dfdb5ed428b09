"""The results of an experiment, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from lowregret._common.durable_files import checksum
from lowregret.errors import InputError
from lowregret.experiments.store import ResultStore
from lowregret.results.layout import TABLES


@dataclass(frozen=True)
class Description:
    """What an experiment was: its name, seed, number of runs, horizon by environment, and policies."""

    name: str
    seed: int
    runs: int
    clip: bool
    horizons: dict[str, int]
    policies: tuple[str, ...]

    @property
    def environments(self) -> tuple[str, ...]:
        """The names of the environments."""
        return tuple(self.horizons)


@dataclass(frozen=True)
class Results:
    """The tables of an experiment, each read when it is first asked for.

    Attributes
    ----------
    experiment : Description
        Name, seed, runs, horizons and policies.
    tables : mapping of str to LazyFrame
        The tables before they are read, for what does not fit into memory.

    Examples
    --------
    >>> import lowregret as lr
    >>> results = lr.Experiment(environments="bernoulli:0.1,0.9", policies="MOSS", horizon=50, runs=4).run()
    >>> results.finals.columns
    ['environment', 'policy', 'run', 'regret']
    >>> results.experiment.horizons
    {'bernoulli:0.1,0.9': 50}
    """

    experiment: Description
    tables: Mapping[str, pl.LazyFrame]

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return self.experiment.name

    @property
    def seed(self) -> int:
        """What the rewards were drawn from."""
        return self.experiment.seed

    @cached_property
    def finals(self) -> pl.DataFrame:
        """Regret at the horizon: environment, policy, run, regret."""
        return self.tables["finals"].collect()

    @cached_property
    def curves(self) -> pl.DataFrame:
        """Regret at the recorded times: environment, policy, run, t, regret."""
        return self.tables["curves"].collect()

    @cached_property
    def pulls(self) -> pl.DataFrame:
        """Pulls at the horizon: environment, policy, run, arm, pulls."""
        return self.tables["pulls"].collect()

    @cached_property
    def events(self) -> pl.DataFrame:
        """What happened in a run: environment, policy, run, t, arm, event ("eliminated")."""
        return self.tables["events"].collect()

    @cached_property
    def arms(self) -> pl.DataFrame:
        """The arms: environment, arm, mean, variance, gap, optimal."""
        return self.tables["arms"].collect()


def open_results(folder: str | Path) -> Results:
    """Open the results in the folder of a finished experiment.

    Parameters
    ----------
    folder : str or path
        What ``lowregret run`` or ``Experiment.run`` wrote to.

    Examples
    --------
    >>> import tempfile
    >>> import lowregret as lr
    >>> experiment = lr.Experiment(environments="bernoulli:0.1,0.9", policies="MOSS", horizon=50, runs=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = experiment.run(folder)
    ...     lr.open_results(folder).finals.equals(results.finals)
    True
    """
    place = Path(folder)
    store = ResultStore(place)
    known = store.published()
    if not known:
        state = "is not finished: run it again to go on" if store.entries else "holds no results"
        raise InputError(f"{str(place)!r} {state}")
    for name in TABLES:
        if not (place / f"{name}.parquet").is_file():
            raise InputError(f"{name}.parquet is not in {str(place)!r}: run it again to have it written")
    return Results(describe(known), _Published(store, known.get("sha256", {})))


class _Published(Mapping[str, pl.LazyFrame]):
    """The tables of a folder, each held against its checksum whenever it is asked for.

    So results never turn into those of another run that wrote to the same folder since.
    """

    def __init__(self, store: ResultStore, sha256: Mapping[str, str]) -> None:
        self._store = store
        self._sha256 = sha256

    def __getitem__(self, name: str) -> pl.LazyFrame:
        path = self._store.folder / f"{name}.parquet"
        known = self._sha256[name]
        if checksum(path) == known:
            return pl.scan_parquet(path, glob=False)
        if self._store.published().get("sha256", {}).get(name) == known:
            raise InputError(f"{str(path)!r} is damaged: run the experiment again to have it written anew")
        raise InputError(f"{str(path)!r} was replaced since these results were opened: open them again")

    def __iter__(self) -> Iterator[str]:
        return iter(self._sha256)

    def __len__(self) -> int:
        return len(self._sha256)


def describe(known: Mapping[str, Any]) -> Description:
    """Read a description from plain data."""
    names = ("name", "seed", "runs", "clip", "horizons")
    return Description(**{name: known[name] for name in names}, policies=tuple(known["policies"]))

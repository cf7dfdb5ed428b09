"""The tables of results, and the runs of one policy as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from lowregret._common.text import unknown
from lowregret.analysis.tables import COLUMNS, Floats, Runs
from lowregret.errors import InputError
from lowregret.results.described_results import DescribedResults
from lowregret.results.table_runs import TableRuns

if TYPE_CHECKING:
    from lowregret.policies import Policy

KEYS = ("environment", "policy")


class TabulatedResults(DescribedResults):
    """The part of `Results` that reads tables; each is read or made when it is first used."""

    load_table: Callable[[str], pl.LazyFrame]
    outcomes: Mapping[tuple[str, str], Runs]
    _slices: dict[str, dict[tuple[str, str], tuple[int, int]]]

    def scan(self, table: str) -> pl.LazyFrame:
        """Return a table as a LazyFrame, for results that do not fit into memory.

        Parameters
        ----------
        table : {"finals", "paths", "pulls", "events", "arms"}
            The name of the table.

        Returns
        -------
        polars.LazyFrame
            The table, with the parameters of a sweep as columns.

        Examples
        --------
        >>> import polars as pl
        >>> import lowregret as lr
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> result.scan("pulls").filter(policy="RoundRobin").select(pl.col("pulls").max()).collect().item()
        25
        """
        stored = "curves" if table == "paths" else table
        if stored not in COLUMNS or table == "curves":
            raise InputError(f"no table {table!r}: use finals, paths, pulls, events or arms")
        found = self.load_table(stored)
        if table == "finals" and "reward" in found.collect_schema().names():
            from lowregret.results.metrics import add_realised_regret

            found = add_realised_regret(found, self.arms, self.horizons)
        return self._with_parameters(found)

    @cached_property
    def finals(self) -> pl.DataFrame:
        """Regret at the horizon: environment, policy, run, regret.

        With recorded rewards also ``reward``, their sum, and ``realised_regret``: the horizon times the best
        mean, less that sum. Its mean is that of ``regret``, and its variance is larger.
        """
        return self.scan("finals").collect()

    @cached_property
    def paths(self) -> pl.DataFrame:
        """Regret of every run at the recorded times: environment, policy, run, t, regret."""
        return self.scan("paths").collect()

    @cached_property
    def pulls(self) -> pl.DataFrame:
        """Pulls at the horizon: environment, policy, run, arm, pulls."""
        return self.scan("pulls").collect()

    @cached_property
    def events(self) -> pl.DataFrame:
        """Events of a run: environment, policy, run, t, arm, event ("eliminated")."""
        return self.scan("events").collect()

    @cached_property
    def arms(self) -> pl.DataFrame:
        """The arms: environment, arm, mean, variance, gap, optimal."""
        return self.scan("arms").collect()

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Every environment and policy that have runs, in the order of the results.

        Examples
        --------
        >>> import lowregret as lr
        >>> lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4).pairs[0]
        ('bernoulli:0.1,0.9', 'MOSS')
        """
        return self.finals.select(KEYS).unique(maintain_order=True).rows()

    def outcome(self, policy: Policy | str, environment: str | None = None) -> Runs:
        """Return the runs of a policy as arrays: ``grid``, ``regret``, ``pulls`` and ``eliminated``.

        Parameters
        ----------
        policy : Policy or str
            The policy.
        environment : str, optional
            The environment; needed where the results have several.

        Returns
        -------
        Runs
            The arrays; row r of each is run r.

        Examples
        --------
        >>> import lowregret as lr
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> result.outcome("RoundRobin").pulls[0]
        array([25, 25])
        """
        pair = self._environment(environment), str(policy)
        if pair not in self.outcomes and pair not in self.pairs:
            names = [policy for environment, policy in self.pairs if environment == pair[0]]
            known = f"environment {pair[0]!r} has {', '.join(names)}"
            raise InputError(unknown("policy", pair[1], names, known))
        return self.outcomes.get(pair) or TableRuns(self, *pair)

    def __getitem__(self, policy: Policy | str) -> Runs:
        """Return the runs of a policy as arrays, of results with one environment."""
        return self.outcome(policy)

    def regret(self, policy: Policy | str, environment: str | None = None) -> Floats:
        """Return the final regret of every run of a policy.

        Parameters
        ----------
        policy : Policy or str
            The policy.
        environment : str, optional
            The environment; needed where the results have several.

        Returns
        -------
        array of float
            One number per run.
        """
        self.outcome(policy, environment)  # refuses what is not there
        part = self.finals.filter(environment=self._environment(environment), policy=str(policy))
        return part["regret"].to_numpy()

    def slice(self, table: str, environment: str, policy: str) -> pl.DataFrame:
        """Return the rows of an environment and a policy, without copying them.

        Parameters
        ----------
        table : {"finals", "paths", "pulls", "events"}
            The name of the table.
        environment, policy : str
            The names of the environment and of the policy.

        Returns
        -------
        polars.DataFrame
            The rows, none where the pair has no runs.

        Examples
        --------
        >>> import lowregret as lr
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> result.slice("finals", "bernoulli:0.1,0.9", "RoundRobin").height
        4
        """
        found: pl.DataFrame = getattr(self, table)
        if table not in self._slices:
            rows = found.select(KEYS).with_row_index("first")
            rows = rows.group_by(KEYS).agg(pl.col("first").min(), pl.len())
            self._slices[table] = {(e, p): (first, count) for e, p, first, count in rows.iter_rows()}
        return found.slice(*self._slices[table].get((environment, policy), (0, 0)))

    def _with_parameters(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Add the parameters of a sweep after the names of environment and policy.

        A parameter that is called as a property of an arm, such as gap, is not added to the table of arms.
        """
        columns = table.collect_schema().names()
        keys = [key for key in columns if key in (*KEYS, "baseline")]
        added = []
        for key, values in self.description.parameter_tables.items():
            new = [name for name in values.columns if name not in columns]
            if key in columns and new:
                table = table.join(values.select(key, *new).lazy(), on=key, how="left", maintain_order="left")
                added += new
        rest = [column for column in columns if column not in keys]
        return table.select(*keys, *added, *rest) if added else table

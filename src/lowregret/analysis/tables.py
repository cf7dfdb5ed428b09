"""The recorded data of results: what they are about, five tables, and the runs of one policy as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats, Integers
from lowregret._common.forks import check_threads
from lowregret._common.other_names import RUNS, answers
from lowregret._common.text import unknown_name_message
from lowregret._common.validation import short_repr
from lowregret.analysis.columns import KEYS, TABLE_COLUMNS
from lowregret.analysis.description import Description
from lowregret.analysis.runs import Runs
from lowregret.errors import InputError

if TYPE_CHECKING:
    from lowregret.analysis.metrics import Metric
    from lowregret.policies import Policy


class Tables:
    """What was recorded of the runs of policies on environments; `lowregret.Results` analyses it.

    ``load_table`` returns one of the tables finals, curves, pulls, events and arms; a table is read or made
    when it is first used. ``outcomes`` are the arrays of every environment and policy in memory.

    Examples
    --------
    >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
    >>> result.name, result.seed, result.runs, result.horizon
    ('bernoulli:0.1,0.9', 0, 4, 50)
    >>> result.policies, result.environments, result.horizons
    (('MOSS', 'RoundRobin'), ('bernoulli:0.1,0.9',), {'bernoulli:0.1,0.9': 50})
    >>> result.notes, result.parameters, result.delay_notes, result.drifting, result.planned_runs
    ({}, {}, {}, (), None)
    >>> result.pairs[0]
    ('bernoulli:0.1,0.9', 'MOSS')
    >>> len(result), [policy for policy in result], "MOSS" in result
    (2, ['MOSS', 'RoundRobin'], True)
    >>> result.keys()
    ('MOSS', 'RoundRobin')
    >>> result.outcome("RoundRobin").pulls[0]
    array([25, 25])
    >>> result.slice("finals", *result.pairs[0]).height
    4
    >>> result.scan("pulls").filter(policy="RoundRobin").collect()["pulls"].max()
    25
    """

    def __init__(
        self,
        description: Description,
        load_table: Callable[[str], pl.LazyFrame],
        outcomes: Mapping[tuple[str, str], Runs] | None = None,
    ) -> None:
        self.description = description
        self.name = description.name
        """The name of the experiment."""
        self.seed = description.seed
        """The seed of the rewards; None where parts of the results have different seeds."""
        self.runs = description.runs
        """The number of runs of each policy."""
        self.horizons = description.horizons
        """The horizon of every environment."""
        self.policies = description.policies
        """The names of the policies."""
        self.drifting = description.drifting
        """The names of the environments whose means change."""
        self.delay_notes = description.delay_notes
        """The delay and the batches in words, by environment, where rewards are delayed."""
        self.notes = description.notes
        """By policy: how rewards were changed for it, and whether its source assumes other rewards."""
        self.planned_runs = description.planned_runs
        """The number of runs of all policies in all environments of an unfinished experiment, else None."""
        self.load_table = load_table
        self.outcomes = outcomes or {}
        self.metrics: tuple[Metric, ...] = ()
        self.original_names: dict[str, str] = {}
        """The policies by their labels, where they have some."""
        self._slices: dict[str, dict[tuple[str, str], tuple[int, int]]] = {}

    @property
    def horizon(self) -> int:
        """The horizon, of results with one environment."""
        return self.horizons[self._environment(None)]

    @property
    def environments(self) -> tuple[str, ...]:
        """The names of the environments."""
        return tuple(self.horizons)

    @property
    def parameters(self) -> dict[str, pl.DataFrame]:
        """The parameters of a sweep: a table with a column each, by ``"environment"`` and by ``"policy"``."""
        return self.description.parameter_tables

    def scan(self, table: str) -> pl.LazyFrame:
        """Return a table as a LazyFrame, with the parameters of a sweep, for results larger than memory.

        Parameters
        ----------
        table : {"finals", "paths", "pulls", "events", "arms"}
            The name of the table.
        """
        check_threads(table)
        stored = "curves" if table == "paths" else table
        if stored not in TABLE_COLUMNS or table == "curves":
            raise InputError(f"no table {table!r}: use finals, paths, pulls, events or arms")
        frame = self.load_table(stored)
        if table == "finals" and "reward" in frame.collect_schema().names():
            from lowregret.analysis.metrics import add_realised_regret

            frame = add_realised_regret(frame, self.arms, self.horizons)
        return self._with_parameters(frame)

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
        """Every environment and policy that have runs, in the order of the results."""
        return self.finals.select(KEYS).unique(maintain_order=True).rows()

    def outcome(self, policy: Policy | str, environment: str | None = None) -> Runs:
        """Return the runs of a policy as arrays; ``result["UCB1"]`` is short for it.

        Row r of each array is run r: ``regret`` has a column for each time of ``grid``, ``pulls``,
        ``eliminated`` (when; 0 for never) and ``rewards`` (their sum) a column for each arm. ``rewards`` is
        None where it was not recorded, ``eliminated`` for a policy that eliminates no arms.

        Parameters
        ----------
        policy, environment : Policy or str, str
            The policy; the environment, which is needed where the results have several.

        Examples
        --------
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> runs = result["RoundRobin"]
        >>> runs.grid.shape, runs.regret.shape, runs.pulls.shape, runs.rewards
        ((50,), (4, 50), (4, 2), None)
        >>> runs.regret.mean(axis=0)[-1].round(6).item()  # the mean regret at the horizon
        20.0
        """
        pair = self._environment(environment), str(policy)
        if pair not in self.outcomes and pair not in self.pairs:
            names = [policy for environment, policy in self.pairs if environment == pair[0]]
            available = f"environment {pair[0]!r} has {', '.join(names)}"
            raise InputError(unknown_name_message("policy", pair[1], names, available))
        return self.outcomes.get(pair) or TableRuns(self, *pair)

    def __getitem__(self, policy: Policy | str) -> Runs:
        """Return the runs of a policy as arrays, of results with one environment."""
        if isinstance(policy, int | float | tuple | slice | type):
            first = self.policies[0]
            shown = policy.__name__ if isinstance(policy, type) else repr(policy)
            raise InputError(f"results are indexed by a policy, such as result[{first!r}], got {shown}")
        return self.outcome(policy)

    def keys(self) -> tuple[str, ...]:
        """Return the names of the policies, so that ``dict(result)`` has the runs of each."""
        return self.policies

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the policies."""
        return iter(self.policies)

    def __len__(self) -> int:
        """Return the number of policies."""
        return len(self.policies)

    def __contains__(self, policy: object) -> bool:
        """Return whether the results have a policy, given as a policy or as its name."""
        return str(policy) in self.policies

    def regret(self, policy: Policy | str, environment: str | None = None) -> Floats:
        """Return the final regret of every run of a policy.

        Parameters
        ----------
        policy, environment : Policy or str, str
            The policy; the environment, which is needed where the results have several.
        """
        check_threads("regret")
        self.outcome(policy, environment)  # raises for an unknown policy or environment
        part = self.finals.filter(environment=self._environment(environment), policy=str(policy))
        return part["regret"].to_numpy()

    def slice(self, table: str, environment: str, policy: str) -> pl.DataFrame:
        """Return the rows of an environment and a policy, if there are any, without copying them.

        Parameters
        ----------
        table : {"finals", "paths", "pulls", "events"}
            The name of the table.
        environment, policy : str
            The names of the environment and of the policy.
        """
        check_threads(table)
        frame: pl.DataFrame = getattr(self, table)
        if table not in self._slices:
            rows = frame.select(KEYS).with_row_index("first")
            rows = rows.group_by(KEYS).agg(pl.col("first").min(), pl.len())
            self._slices[table] = {(e, p): (first, count) for e, p, first, count in rows.iter_rows()}
        return frame.slice(*self._slices[table].get((environment, policy), (0, 0)))

    def _environment(self, name: str | None) -> str:
        """Return a name of an environment; None stands for the only one."""
        if name is None and len(self.environments) == 1:
            return self.environments[0]
        available = f"these results have {', '.join(self.environments)}"
        if name is None:
            raise InputError(f"name the environment: {available}")
        if not isinstance(name, str):
            raise InputError(f"the environment must be a name, got {short_repr(name)}: pass axes as ax=...")
        if name not in self.environments:
            raise InputError(unknown_name_message("environment", name, self.environments, available))
        return name

    def _with_parameters(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Add the parameters of a sweep after the names of environment and policy."""
        check_threads("results")
        columns = table.collect_schema().names()
        keys = [key for key in columns if key in (*KEYS, "baseline")]
        added = []
        for key, values in self.description.parameter_tables.items():
            new = [name for name in values.columns if name not in columns]
            if key in columns and new:
                table = table.join(values.select(key, *new).lazy(), on=key, how="left", maintain_order="left")
                added += new
        others = [column for column in columns if column not in keys]
        return table.select(*keys, *added, *others) if added else table


def largest_regrets(tables: Tables) -> dict[str, float]:
    """Return a bound on the regret of a run, by environment: the horizon times the largest gap.

    Where means change, gaps are averages over time, and the bound is the horizon times their sum. Results of
    earlier versions do not say where; there means change if gaps are not those of the means.
    """
    gap, mean = pl.col("gap"), pl.col("mean")
    stationary = ((mean.max() - mean - gap).abs() <= 1e-9 * (1.0 + mean.abs().max())).all()
    recorded = pl.col("environment").first().is_in(list(tables.drifting))
    bound = pl.when(stationary & ~recorded).then(gap.max()).otherwise(gap.sum())
    bounds = tables.arms.group_by("environment").agg(bound.alias("bound")).iter_rows()
    gaps = dict(bounds) | tables.description.largest_gaps
    return {name: tables.horizons[name] * gap for name, gap in gaps.items()}


@answers("an outcome", RUNS)
class TableRuns:
    """The runs of one policy in one environment, from the tables; an array is made when first used."""

    seconds: float | None = None
    threads: int | None = None

    def __init__(self, tables: Tables, environment: str, policy: str) -> None:
        self._tables = tables
        self._pair = environment, policy

    def __repr__(self) -> str:
        environment, policy = self._pair
        return f"TableRuns({policy} in {environment!r})"

    @cached_property
    def grid(self) -> Integers:
        part = self._tables.slice("paths", *self._pair)
        return part["t"].unique().sort().to_numpy()

    @cached_property
    def regret(self) -> Floats:
        part = self._tables.slice("paths", *self._pair)
        if len(part) != part["run"].n_unique() * len(self.grid):
            environment, policy = self._pair
            raise InputError(f"the paths of {policy} on {environment} must have every run at every time")
        return part["regret"].to_numpy().reshape(-1, len(self.grid))

    @cached_property
    def pulls(self) -> Integers:
        part = self._tables.slice("pulls", *self._pair)
        return part["pulls"].to_numpy().reshape(part["run"].n_unique(), -1)

    @cached_property
    def eliminated(self) -> Integers | None:
        part = self._tables.slice("events", *self._pair)
        eliminating = self._tables.description.eliminating
        if part.is_empty() if eliminating is None else self._pair[1] not in eliminating:
            return None
        times = np.zeros_like(self.pulls)
        runs = self._tables.slice("pulls", *self._pair)["run"].unique().sort().to_numpy()
        rows = np.searchsorted(runs, part["run"].to_numpy())
        times[rows, part["arm"].to_numpy()] = part["t"].to_numpy()
        return times

    @cached_property
    def rewards(self) -> Floats | None:
        part = self._tables.slice("pulls", *self._pair)
        if "reward" not in part.columns:
            return None
        return part["reward"].to_numpy().reshape(self.pulls.shape)

    @cached_property
    def loss(self) -> Floats | None:
        part = self._tables.slice("paths", *self._pair)
        return part["loss"].to_numpy().reshape(-1, len(self.grid)) if "loss" in part.columns else None

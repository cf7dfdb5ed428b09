"""The results of a simulation, an experiment or a reproduction.

==========  ==================================================  ============================================
table       columns                                             one row for
==========  ==================================================  ============================================
finals      environment, policy, run, regret                    every run: the regret at the horizon
paths       environment, policy, run, t, regret                 every run and recorded time
pulls       environment, policy, run, arm, pulls                every run and arm
events      environment, policy, run, t, arm, event             every arm that was eliminated
arms        environment, arm, mean, variance, gap, optimal      every arm of every environment
==========  ==================================================  ============================================

Rows follow the order of the experiment: environments, policies, runs, then times or arms. The parameters of a
sweep are columns after ``environment`` and ``policy``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from lowregret._common.text import count
from lowregret._common.validation import plain_text
from lowregret.analysis.summary import SUMMARY, TAIL_COLUMNS
from lowregret.analysis.tables import COLUMNS, Floats, Runs
from lowregret.errors import InputError
from lowregret.results.description import Description
from lowregret.results.table_runs import TableRuns

if TYPE_CHECKING:
    from pathlib import Path

    import altair

    from lowregret.policies import Policy
    from lowregret.results.metrics import Metric

KEYS = ("environment", "policy")


class Results:
    """The runs of policies on environments: tables, summaries, comparisons, figures and a report.

    `simulate`, `Experiment.run` and `open_results` return it. A table is read or made when it is first used.

    Parameters
    ----------
    description : Description
        Name, seed, number of runs, horizons, policies and parameters of a sweep.
    load_table : callable
        Returns one of the tables finals, curves, pulls, events and arms as a LazyFrame.
    outcomes : mapping of (str, str) to Runs, optional
        The arrays of every environment and policy, where they are in memory.

    Attributes
    ----------
    description, load_table, outcomes
        As given.

    Examples
    --------
    >>> import lowregret as lr
    >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
    >>> result
    Results('bernoulli:0.1,0.9': 2 policies, 1 environment, horizon 50, 4 runs, seed 0)
    >>> result.finals.columns
    ['environment', 'policy', 'run', 'regret']
    >>> result["MOSS"].pulls.shape
    (4, 2)
    >>> result.compare("RoundRobin").select("policy", "verdict").row(0)
    ('MOSS', 'inconclusive')
    """

    def __init__(
        self,
        description: Description,
        load_table: Callable[[str], pl.LazyFrame],
        outcomes: Mapping[tuple[str, str], Runs] | None = None,
    ) -> None:
        self.description = description
        self.load_table = load_table
        self.outcomes = outcomes or {}
        self.metrics: tuple[Metric, ...] = ()
        self._slices: dict[str, dict[tuple[str, str], tuple[int, int]]] = {}

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return self.description.name

    @property
    def seed(self) -> int | None:
        """The seed of the rewards; None where parts of the results have different seeds."""
        return self.description.seed

    @property
    def runs(self) -> int:
        """The number of runs of each policy."""
        return self.description.runs

    @property
    def horizons(self) -> dict[str, int]:
        """The horizon of every environment."""
        return self.description.horizons

    @property
    def lateness(self) -> Mapping[str, str]:
        """The delay and the batches in words, by environment, where rewards are late."""
        return self.description.lateness

    @property
    def drifting(self) -> tuple[str, ...]:
        """The names of the environments whose means change."""
        return self.description.drifting

    @property
    def environments(self) -> tuple[str, ...]:
        """The names of the environments."""
        return tuple(self.horizons)

    @property
    def policies(self) -> tuple[str, ...]:
        """The names of the policies."""
        return self.description.policies

    @property
    def notes(self) -> dict[str, str]:
        """By policy: how rewards were changed for it, and whether its source assumes other rewards."""
        return self.description.notes

    @property
    def parameters(self) -> dict[str, pl.DataFrame]:
        """The parameters of a sweep: a table with a column each, by ``"environment"`` and by ``"policy"``."""
        return self.description.parameter_tables

    @property
    def planned_runs(self) -> int | None:
        """The number of runs of all policies in all environments of an unfinished experiment, else None."""
        return self.description.planned_runs

    @property
    def horizon(self) -> int:
        """The horizon, of results with one environment."""
        return self.horizons[self._environment(None)]

    def scan(self, table: str) -> pl.LazyFrame:
        """Return a table as a LazyFrame, for results that do not fit into memory.

        Parameters
        ----------
        table : {"finals", "paths", "pulls", "events", "arms"}
            The name of the table.
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
        """Every environment and policy that have runs, in the order of the results."""
        return self.finals.select(KEYS).unique(maintain_order=True).rows()

    def summary(self) -> pl.DataFrame:
        """Summarize the final regret of every policy in every environment.

        Returns
        -------
        polars.DataFrame
            One row per environment and policy. ``mean``, its standard error ``se`` and Student's 95% interval
            ``low`` to ``high`` (null below two runs); ``median``, ``p05``, ``p25``, ``p75``, ``p95``;
            ``worst05``, the mean of the worst 5% of the runs, with its 95% interval ``worst05_low`` to
            ``worst05_high``, and the ``worst`` run. ``best_arm_pulls`` is the share of pulls of an optimal
            arm. ``best_arm_found`` is the share of runs in which an optimal arm was pulled most; where arms
            tie for that the run counts in part. ``optimal_arm_eliminated`` is the number of runs in which no
            optimal arm was left, ``failures`` their share and ``failures_high`` its upper 95% limit, about 3
            / runs where there was none; null for a policy that eliminates no arms. With recorded rewards
            also the means of ``reward`` and ``realised_regret``; ``metric.NAME`` and ``metric.NAME se`` for
            the metrics of `with_metrics`.
        """
        from lowregret.analysis.summary import summarise

        return self._with_parameters(summarise(self).lazy()).collect()

    def add_metrics(self, summary: pl.DataFrame) -> pl.DataFrame:
        """Add the means of recorded rewards, and of metrics of one's own, to a summary."""
        from lowregret.results.metrics import add_metrics

        return add_metrics(summary, self, self.metrics)

    def with_metrics(self, *metrics: Metric) -> Results:
        """Return these results with metrics of one's own, which `summary` and reports then show."""
        found = Results(self.description, self.load_table, self.outcomes)
        found.metrics = (*self.metrics, *metrics)
        return found

    def exceedance(self, regret: float) -> pl.DataFrame:
        """Estimate the probability that the final regret of a policy exceeds a value.

        Parameters
        ----------
        regret : float
            The value.

        Returns
        -------
        polars.DataFrame
            One row per environment and policy: the ``share`` of the ``runs`` with a larger regret, and the
            95% interval ``low`` to ``high`` of that probability (Clopper and Pearson 1934).
        """
        from lowregret.analysis.summary import exceedance

        return self._with_parameters(exceedance(self, regret).lazy()).collect()

    def curves(self) -> pl.DataFrame:
        """Return the regret over time: mean, standard error, interval and quantiles at each recorded time."""
        from lowregret.analysis.summary import summarise_curves

        return self._with_parameters(summarise_curves(self).lazy()).collect()

    def compare(
        self, baseline: Policy | str | Results | None = None, seed: int = 0, *, metric: Metric | None = None
    ) -> pl.DataFrame:
        """Compare the final regrets of policies in pairs; see `lowregret.compare`.

        Parameters
        ----------
        baseline : Policy, str or Results, optional
            The policy that every other one is compared with; every pair is compared if not given. With other
            results, every policy is compared with itself in those.
        seed : int, default 0
            The seed of the bootstrap's resamples.
        metric : Metric, optional
            A metric to compare in place of the regret.
        """
        from lowregret.analysis.comparison import compare
        from lowregret.results.metrics import compare_metrics, compare_with

        if isinstance(baseline, Results):
            return compare_with(self, baseline, seed, metric)
        name = None if baseline is None else str(baseline)
        found = compare(self, name, seed) if metric is None else compare_metrics(self, name, seed, metric)
        return self._with_parameters(found.lazy()).collect()

    def plot(self, environment: str | None = None, *, against: str | None = None) -> altair.LayerChart:
        """Draw the mean regret over time, or the final regret against a parameter of a sweep.

        Parameters
        ----------
        environment : str, optional
            The environment; needed where the results have several, unless the parameter is one of
            environments.
        against : str, optional
            The parameter. There is one line per policy; where other parameters of the environments differ,
            one per policy and combination of these.

        Returns
        -------
        altair.LayerChart
            Over time the bands go from the 5% to the 95% quantile of the runs; against a parameter they are
            95% intervals of the mean.
        """
        from lowregret.reporting.curve_charts import regret_chart
        from lowregret.reporting.sweep_charts import plot_against

        if against is None:
            name = self._environment(environment)
            return regret_chart(self.curves().filter(environment=name), name)
        if against in self.parameters.get("policy", pl.DataFrame()).columns:
            environment = self._environment(environment)
        return plot_against(self.summary(), self.parameters, against, environment or self.name)

    def report(
        self,
        folder: str | Path,
        baseline: Policy | str | None = None,
        *,
        figures: str = "svg",
        progress: Callable[[str, int, int], None] | None = None,
    ) -> list[Path]:
        """Write a page ``report.html`` and its figures to a folder; see `lowregret.report`.

        Parameters
        ----------
        folder : str or path
            The folder.
        baseline : Policy or str, optional
            The policy that the others are compared with.
        figures : {"none", "svg", "all"}, default "svg"
            Which figures to write as files: none, SVG, or SVG, PNG and PDF.
        progress : callable, optional
            Called with what is being made, how much of it is done, and of how much.
        """
        from lowregret.reporting.experiment_report import write_report

        for name in (self.name, *self.environments, *self.policies):
            plain_text("report", "every name", name)
        chosen = None if baseline is None else str(baseline)
        return write_report(self, folder, chosen, figures=figures, progress=progress)

    def outcome(self, policy: Policy | str, environment: str | None = None) -> Runs:
        """Return the runs of a policy as arrays: ``grid``, ``regret``, ``pulls`` and ``eliminated``.

        Parameters
        ----------
        policy : Policy or str
            The policy.
        environment : str, optional
            The environment; needed where the results have several.
        """
        pair = self._environment(environment), str(policy)
        if pair not in self.outcomes and pair not in self.pairs:
            found = ", ".join(policy for environment, policy in self.pairs if environment == pair[0])
            raise InputError(f"no policy {pair[1]!r} in environment {pair[0]!r}: it has {found}")
        return self.outcomes.get(pair) or TableRuns(self, *pair)

    def __getitem__(self, policy: Policy | str) -> Runs:
        """Return the runs of a policy as arrays, of results with one environment."""
        return self.outcome(policy)

    def regret(self, policy: Policy | str, environment: str | None = None) -> Floats:
        """Return the final regret of every run of a policy."""
        self.outcome(policy, environment)  # refuses what is not there
        part = self.finals.filter(environment=self._environment(environment), policy=str(policy))
        return part["regret"].to_numpy()

    def to_dict(self) -> dict[str, Any]:
        """Return results with one environment as plain data, as ``lowregret simulate --json`` prints it."""
        environment, curves = self._environment(None), self.curves()
        return {
            "environment": environment,
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
            "delay": self.description.delays.get(environment, "0"),
            "batch": self.description.batches.get(environment, 1),
            "policies": [self._policy_dict(row, curves) for row in self.summary().to_dicts()],
        }

    def _policy_dict(self, row: dict[str, Any], curves: pl.DataFrame) -> dict[str, Any]:
        policy = row["policy"]
        curve, outcome = curves.filter(policy=policy), self[policy]
        return {
            "policy": policy,
            "note": self.notes.get(policy, ""),
            "regret": {key: row[key] for key in ("mean", "se", "median", "p05", "p95", *TAIL_COLUMNS)},
            "curve": {"t": curve["t"].to_list(), "mean": curve["mean"].to_list()},
            **{key: row[key] for key in ("optimal_arm_eliminated", "failures", "failures_high")},
            "steps": row["runs"] * self.horizon,
            "seconds": outcome.seconds,
            "threads": outcome.threads,
        }

    def slice(self, table: str, environment: str, policy: str) -> pl.DataFrame:
        """Return the rows of an environment and a policy, without copying them."""
        found: pl.DataFrame = getattr(self, table)
        if table not in self._slices:
            rows = found.select(KEYS).with_row_index("first")
            rows = rows.group_by(KEYS).agg(pl.col("first").min(), pl.len())
            self._slices[table] = {(e, p): (first, count) for e, p, first, count in rows.iter_rows()}
        return found.slice(*self._slices[table].get((environment, policy), (0, 0)))

    def _environment(self, given: str | None) -> str:
        if given is None and len(self.environments) == 1:
            return self.environments[0]
        if given in self.environments:
            return str(given)
        what = "name the environment" if given is None else f"no environment {given!r}"
        raise InputError(f"{what}: these results have {', '.join(self.environments)}")

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

    def __repr__(self) -> str:
        horizons = sorted(set(self.horizons.values()))
        times = f"{horizons[0]:,}" + (f" to {horizons[-1]:,}" if len(horizons) > 1 else "")
        parts = [
            count(len(self.policies), "policy", "policies"),
            count(len(self.environments), "environment"),
            f"horizon {times}",
            count(self.runs, "run"),
            *([] if self.seed is None else [f"seed {self.seed}"]),
        ]
        if self.planned_runs is not None:
            parts.append(f"unfinished: {len(self.finals):,} of {self.planned_runs:,} runs of all pairs")
        return f"Results({self.name!r}: {', '.join(parts)})"

    def _repr_html_(self) -> str:
        table = self.summary()
        parameters = [name for name in table.columns if name not in SUMMARY]
        keys = KEYS if len(self.environments) > 1 else ("policy",)
        shown = ("runs", "mean", "se", "low", "high", "median", "p05", "p95", *TAIL_COLUMNS)
        chosen = table.select(*keys, *parameters, *shown)
        with pl.Config(tbl_rows=40, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True):
            return f"<p>{escape(repr(self))}</p>{chosen._repr_html_()}"

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
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from lowregret._common.text import count
from lowregret._common.validation import plain_text
from lowregret.analysis.summary import SUMMARY, TAIL_COLUMNS
from lowregret.analysis.tables import Runs
from lowregret.results.description import Description
from lowregret.results.tabulated_results import KEYS, TabulatedResults

if TYPE_CHECKING:
    from pathlib import Path

    import altair

    from lowregret.policies import Policy
    from lowregret.results.metrics import Metric


class Results(TabulatedResults):
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

    Examples
    --------
    >>> import lowregret as lr
    >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
    >>> result
    Results('bernoulli:0.1,0.9': 2 policies, 1 environment, horizon 50, 4 runs, seed 0)
    >>> result.finals.columns
    ['environment', 'policy', 'run', 'regret']
    >>> result.paths.height, result.pulls.height, result.events.height, result.arms.height
    (400, 16, 0, 2)
    >>> result["MOSS"].pulls.shape
    (4, 2)
    >>> result.regret("RoundRobin").round(6)
    array([20., 20., 20., 20.])
    >>> result.summary().select("policy", "runs", "median").rows()[1]
    ('RoundRobin', 4, 20.0)
    >>> result.compare("RoundRobin").select("policy", "verdict").row(0)
    ('MOSS', 'inconclusive')
    >>> result.exceedance(19.5)["share"].to_list()
    [0.0, 1.0]
    >>> result.curves().filter(policy="RoundRobin", t=10)["mean"].item()
    4.0
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
        """Add the means of recorded rewards, and of metrics of one's own, to a summary.

        Parameters
        ----------
        summary : polars.DataFrame
            One row per environment and policy.

        Returns
        -------
        polars.DataFrame
            The summary with further columns.

        Examples
        --------
        >>> import lowregret as lr
        >>> result = lr.simulate("MOSS", "bernoulli:0,1", horizon=50, runs=4)
        >>> least = lr.Metric("least pulls", lambda pulls, rewards: pulls.min(axis=1))
        >>> table = result.finals.select("environment", "policy").unique()
        >>> result.with_metrics(least).add_metrics(table).columns
        ['environment', 'policy', 'metric.least pulls', 'metric.least pulls se']
        """
        from lowregret.results.metrics import add_metrics

        return add_metrics(summary, self, self.metrics)

    def with_metrics(self, *metrics: Metric) -> Results:
        """Return these results with metrics of one's own, which `summary` and reports then show.

        Parameters
        ----------
        *metrics : Metric
            The metrics.

        Returns
        -------
        Results
            The same results.

        Examples
        --------
        >>> import lowregret as lr
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0,1", horizon=50, runs=4)
        >>> least = lr.Metric("least pulls", lambda pulls, rewards: pulls.min(axis=1))
        >>> result.with_metrics(least).summary()["metric.least pulls"].to_list()
        [3.0, 25.0]
        """
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
        """Return the regret over time.

        Returns
        -------
        polars.DataFrame
            One row per environment, policy and recorded time ``t``: mean, standard error, 95% interval and
            quantiles.
        """
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

        Returns
        -------
        polars.DataFrame
            One row per comparison.
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

        Examples
        --------
        >>> import lowregret as lr
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> chart = result.plot()  # chart.save("regret.svg") writes it
        >>> type(chart).__name__
        'LayerChart'
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

        Returns
        -------
        list of Path
            The files, the page first.

        Examples
        --------
        >>> import tempfile
        >>> import lowregret as lr
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in result.report(folder, figures="none")]
        ['report.html']
        """
        from lowregret.reporting.experiment_report import write_report

        for name in (self.name, *self.environments, *self.policies):
            plain_text("report", "every name", name)
        chosen = None if baseline is None else str(baseline)
        return write_report(self, folder, chosen, figures=figures, progress=progress)

    def to_dict(self) -> dict[str, Any]:
        """Return results with one environment as plain data, as ``lowregret simulate --json`` prints it.

        Returns
        -------
        dict
            What JSON can hold.

        Examples
        --------
        >>> import lowregret as lr
        >>> data = lr.simulate("RoundRobin", "bernoulli:0.1,0.9", horizon=50, runs=4).to_dict()
        >>> data["runs"], data["policies"][0]["regret"]["median"]
        (4, 20.0)
        """
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

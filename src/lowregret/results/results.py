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

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from lowregret._common.progress import Report, reporting
from lowregret._common.text import count
from lowregret._common.validation import plain_text
from lowregret.analysis.columns import KEYS, REGRET, SUMMARY, TAIL_COLUMNS
from lowregret.analysis.tables import Tables

if TYPE_CHECKING:
    from pathlib import Path

    import altair

    from lowregret.analysis.metrics import Metric
    from lowregret.policies import Policy


class Results(Tables):
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
    >>> result.tail(19.5)["share"].to_list()
    [0.0, 1.0]
    >>> result.curves().filter(policy="RoundRobin", t=10)["mean"].item()
    4.0
    >>> result.to_dict()["policies"][1]["regret"]["median"]
    20.0
    """

    def summary(self) -> pl.DataFrame:
        """Summarize the final regret of every policy in every environment.

        Returns
        -------
        polars.DataFrame
            One row per environment and policy. ``mean``, its standard error ``se`` and two 95% intervals:
            ``low`` to ``high`` allows for failures that no run shows; Student's ``student_low`` to
            ``student_high``, null below two runs, does not, and is too narrow where failures are rare.
            ``median``, ``p05``, ``p25``, ``p75``, ``p95``;
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

    def with_metrics(self, *metrics: Metric) -> Results:
        """Return these results with user-defined metrics, which `summary` and reports then show.

        Parameters
        ----------
        *metrics : Metric
            The metrics.

        Examples
        --------
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0,1", horizon=50, runs=4)
        >>> least = lr.Metric("least pulls", lambda pulls, rewards: pulls.min(axis=1))
        >>> result.with_metrics(least).summary()["metric.least pulls"].to_list()
        [3.0, 25.0]
        """
        results = Results(self.description, self.load_table, self.outcomes)
        results.metrics = (*self.metrics, *metrics)
        return results

    def tail(self, regret: float | Sequence[float] | None = None) -> pl.DataFrame:
        """Estimate the probability that the final regret of a policy exceeds values.

        Parameters
        ----------
        regret : float or sequence of float, optional
            The values; by default values from the least to the largest regret of the runs, more of them where
            the probability is small.

        Returns
        -------
        polars.DataFrame
            One row per environment, policy and value ``regret``: the ``share`` of the ``runs`` with a larger
            regret, and the 95% interval ``low`` to ``high`` of that probability (Clopper and Pearson 1934).
            Where no run exceeds the value, ``high`` is about 3.7 / runs.
        """
        from lowregret.analysis.summary import tail

        return self._with_parameters(tail(self, regret).lazy()).collect()

    def plot_tail(self, environment: str | None = None) -> altair.LayerChart:
        """Draw how often the final regret is large, on logarithmic axes.

        Parameters
        ----------
        environment : str, optional
            The environment; needed where the results have several.

        Returns
        -------
        altair.LayerChart
            One line per policy: the share of the runs with at least so much regret.

        Examples
        --------
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> chart = result.plot_tail()  # chart.save("tail.pdf") writes it
        """
        from lowregret.reporting.row_charts import tail_chart

        name = self._environment(environment)
        return tail_chart(self.finals.filter(environment=name), name, log_regret=True)

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
        """Compare the final regrets of policies in pairs.

        Run r of two policies saw the same rewards, so the test is on the difference of their regrets in each
        run. Only runs that both policies have count. All comparisons of a call are one family for Holm's
        correction.

        Parameters
        ----------
        baseline : Policy, str or Results, optional
            The policy that every other one is compared with; every pair is compared if not given. With other
            results of the same seed, every policy is compared with itself in those.
        seed : int, default 0
            The seed of the bootstrap's resamples.
        metric : Metric, optional
            A metric to compare in place of the regret; the verdicts are then "better in these runs"
            and "worse in these runs", and what follows from the largest possible regret is null.

        Returns
        -------
        polars.DataFrame
            One row per comparison. ``difference`` is the policy's mean regret less the baseline's, with its
            standard error ``se`` and 95% intervals: ``low`` to ``high``, which allows for unseen runs at the
            largest possible regret, the horizon times the largest gap; Student's; and the bootstrap's.
            ``wins`` is the share of runs with the lower regret; a tie is half a win. ``p_bounded`` is the
            adjusted p-value of the first interval, ``p_value`` that of the two-sided paired t test, and
            ``p_holm`` the adjusted one of this. ``verdict`` is "lower regret" or "higher regret" where
            ``p_bounded`` is at most 0.05. Else it is "lower in these runs" or "higher in these runs" where
            ``p_holm`` is: rare failures that no run shows are then not excluded. Else it is "inconclusive".
            ``runs_needed`` is about the number of runs for a verdict with probability 0.8, at the strictest
            level of Holm's method, if the difference and the standard deviation in these runs are the true
            ones.
        """
        from lowregret.analysis.comparison import compare

        if isinstance(baseline, Results):
            return compare(self, baseline, seed, metric)
        name = None if baseline is None else str(baseline)
        return self._with_parameters(compare(self, name, seed, metric).lazy()).collect()

    def plot(
        self,
        environment: str | None = None,
        *,
        against: str | None = None,
        width: float | None = None,
        height: float | None = None,
        band: str = "interval",
        title: str | None = None,
    ) -> altair.LayerChart:
        """Draw the mean regret over time, or the mean final regret against a parameter of a sweep.

        Parameters
        ----------
        environment : str, optional
            The environment; needed where the results have several, unless the parameter is one of
            environments.
        against : str, optional
            The parameter. There is one line per policy; where other parameters of the environments differ,
            one per policy and combination of these.
        width, height : float, optional
            The size of the whole figure in points, such as a width of 240 for a column of a paper. Text has
            8 points at this width, and more in a wider figure. By default the plot has 640 by 380 points,
            with axes and labels around it.
        band : {"interval", "spread", "none"}, default "interval"
            What lies around a line: the 95% interval of the mean (Student), the range from the 5% to the 95%
            quantile of the runs, or nothing.
        title : str, optional
            The title; "" draws none. By default the name of the environment, or of the results.

        Returns
        -------
        altair.LayerChart
            Its ``save`` writes .svg, .pdf, .png or .html. A notebook shows it without a network.

        Examples
        --------
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> chart = result.plot(width=240, title="")  # chart.save("regret.pdf") writes it
        >>> type(chart).__name__
        'Figure'
        """
        from lowregret.reporting.chart_style import fitted
        from lowregret.reporting.curve_charts import regret_chart
        from lowregret.reporting.sweep_charts import plot_against, sweep_tables

        if against is None or against in self.parameters.get("policy", pl.DataFrame()).columns:
            environment = self._environment(environment)
        name = environment or self.name
        words = name if title is None else plain_text("plot", "title", title)
        if against is None:
            curve = self.curves().filter(environment=name)
            return fitted(lambda size: regret_chart(curve, words, band=band, plot=size), width, height)
        tables = sweep_tables(self.summary(), self.parameters, against, band)
        return fitted(lambda size: plot_against(tables, against, name, words, size), width, height)

    def report(
        self,
        folder: str | Path,
        baseline: Policy | str | None = None,
        *,
        figures: str = "svg",
        band: str = "interval",
        progress: bool | Report = True,
    ) -> list[Path]:
        """Write a page ``report.html`` with figures, tables and verdicts to a folder.

        Parameters
        ----------
        folder : str or path
            The folder; the figures go to ``figures`` in it.
        baseline : Policy or str, optional
            The policy that the others are compared with; by default the first of those in most environments.
        figures : {"none", "svg", "all"}, default "svg"
            Which figures to write as files: none, SVG, or SVG, PNG and PDF. The page has them all.
        band : {"interval", "spread", "none"}, default "interval"
            The bands of lines of regret, as in `plot`.
        progress : bool or callable, default True
            Whether to say on standard error what is done, or a function that is called with a `Progress`.

        Returns
        -------
        list of Path
            The files, the page first.

        Examples
        --------
        >>> import tempfile
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in result.report(folder, figures="none")]
        ['report.html']
        """
        from lowregret.reporting.experiment_report import write_report

        for name in (self.name, *self.environments, *self.policies):
            plain_text("report", "every name", name)
        chosen = None if baseline is None else str(baseline)
        with reporting(progress) as report:
            return write_report(self, folder, chosen, figures=figures, band=band, report=report)

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
            "engine": self.description.backend,
            "policies": [self._policy_dict(row, curves) for row in self.summary().to_dicts()],
        }

    def _policy_dict(self, row: dict[str, Any], curves: pl.DataFrame) -> dict[str, Any]:
        policy = row["policy"]
        curve, outcome = curves.filter(policy=policy), self[policy]
        return {
            "policy": policy,
            "note": self.notes.get(policy, ""),
            "regret": {key: row[key] for key in REGRET if key not in ("p25", "p75")},
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
            *([] if self.description.backend == "compiled" else [f"engine {self.description.backend}"]),
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

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

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from lowregret._common.extras import import_extra
from lowregret._common.forks import check_threads
from lowregret._common.other_names import RESULTS, answers
from lowregret._common.progress import Report, reporting
from lowregret._common.text import count
from lowregret._common.user_calls import user_call
from lowregret._common.validation import plain_text
from lowregret.analysis.columns import COMPARISON, READ_FIRST, REGRET, SUMMARY
from lowregret.analysis.tables import Tables
from lowregret.errors import InputError

if TYPE_CHECKING:
    import altair
    import pandas

    from lowregret.analysis.metrics import Metric
    from lowregret.policies import Policy
    from lowregret.results.comparison_table import Comparison


@answers("a result", RESULTS)
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
    >>> print(result)
    policy      mean  se  median   95%  worst 5%
    ────────────────────────────────────────────
    MOSS         2.4   0     2.4   2.4       2.4
    RoundRobin  20.0   0    20.0  20.0      20.0
    <BLANKLINE>
    bernoulli:0.1,0.9, horizon 50, 4 runs, seed 0
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

    @user_call
    def summary(self, *, all: bool = False) -> pl.DataFrame:
        """Summarize the final regret of every policy in every environment.

        Parameters
        ----------
        all : bool, default False
            Return all columns, not only those that people read first.

        Returns
        -------
        polars.DataFrame
            One row per environment and policy, with the number of ``runs``, the ``mean``, its standard error
            ``se``, the ``median`` and ``worst05``, the mean of the worst 5% of the runs. The parameters of a
            sweep are columns after ``policy``. With recorded rewards also the means of ``reward`` and
            ``realised_regret``; ``metric.NAME`` and ``metric.NAME se`` for the metrics of `with_metrics`.

            All columns are these and two 95% intervals of the mean: ``low`` to ``high`` allows for failures
            that no run shows (its coverage is conjectured; see docs/how-to/analysis.md); Student's
            ``student_low`` to ``student_high``, null below two runs, does not, and is too narrow where
            failures are rare. ``p05``, ``p25``, ``p75``, ``p95``; the 95% interval ``worst05_low`` to
            ``worst05_high`` of ``worst05``, and the ``worst`` run. ``best_arm_pulls`` is the share of pulls
            of an optimal arm. ``best_arm_found`` is the share of runs in which an optimal arm was pulled
            most; where arms tie for that the run counts in part. ``optimal_arm_eliminated`` is the number of
            runs in which no optimal arm was left, ``failures`` their share and ``failures_high`` its upper
            95% limit, about 3 / runs where there was none; null for a policy that eliminates no arms.

        Examples
        --------
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> result.summary().columns
        ['environment', 'policy', 'runs', 'mean', 'se', 'median', 'worst05']
        >>> result.summary(all=True).select("policy", "p05", "p95").row(1)
        ('RoundRobin', 20.0, 20.0)
        """
        from lowregret.analysis.summary import summarise

        table = self._with_parameters(summarise(self).lazy()).collect()
        return (
            table
            if all
            else table.select(name for name in table.columns if name in READ_FIRST or name not in SUMMARY)
        )

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
        results.original_names = self.original_names
        return results

    @user_call
    def with_labels(self, labels: Mapping[str, str]) -> Results:
        """Return these results with other names for policies, in tables, figures and reports.

        Parameters
        ----------
        labels : dict of str to str
            Labels by policy; a policy keeps its colour, and one without a label its name.

        Examples
        --------
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> list(result.with_labels({"MOSS": "MOSS (ours)"}))
        ['MOSS (ours)', 'RoundRobin']
        """
        from lowregret.results.derived import label_policies

        return label_policies(self, labels)

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

    @user_call
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
        check_threads("plot_tail")
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

    def identification(self, *, by_time: bool = False) -> pl.DataFrame:
        """Summarise what policies recommend, where that was recorded by ``record_recommendations=True``.

        Parameters
        ----------
        by_time : bool, default False
            Return a row for each recorded time, not one for the last.

        Returns
        -------
        polars.DataFrame
            One row per environment and policy, and with ``by_time`` per time ``t``. ``error`` is the share of
            the ``runs`` in which the recommended arm is not the best, with its 95% interval ``error_low`` to
            ``error_high`` (Clopper and Pearson 1934). ``loss`` is the mean of what it loses per pull, the
            simple regret, with its standard error. For a policy with a threshold, ``error`` is the share of
            runs in which it takes an arm for on the wrong side, and ``loss`` the mean number of such arms.
            ``stopped`` is the share of the runs in which one arm was left: the policy stopped, or had
            eliminated all others. ``stopping_time`` is the mean time of that in these runs, with its standard
            error and its 95% quantile.

        Examples
        --------
        >>> result = lr.simulate(
        ...     "SuccessiveRejects", "bernoulli:0.4,0.5", 200, runs=100, record_recommendations=True
        ... )
        >>> result.identification().select("runs", "error", "stopped").row(0)
        (100, 0.04, 1.0)
        """
        from lowregret.analysis.identification import identification

        return self._with_parameters(identification(self, by_time).lazy()).collect()

    @user_call
    def plot_identification(
        self, environment: str | None = None, *, title: str | None = None
    ) -> altair.LayerChart:
        """Draw the share of the runs with a wrong recommendation over time, on a logarithmic axis.

        Parameters
        ----------
        environment : str, optional
            The environment; needed where the results have several.
        title : str, optional
            The title; by default the name of the environment.

        Returns
        -------
        altair.LayerChart
            One line per policy, with its 95% interval. A line ends below where no run was wrong.

        Examples
        --------
        >>> result = lr.simulate(
        ...     ["SuccessiveRejects", "UCBE"], "bernoulli:0.4,0.5", 200, 100, record_recommendations=True
        ... )
        >>> chart = result.plot_identification()  # chart.save("error.pdf") writes it
        """
        from lowregret.reporting.curve_charts import error_chart

        name = self._environment(environment)
        curve = self.identification(by_time=True).filter(environment=name)
        return error_chart(curve, name if title is None else plain_text("plot", "title", title))

    @user_call
    def compare(
        self,
        baseline: Policy | str | Results | None = None,
        *,
        metric: Metric | None = None,
        all: bool = False,
    ) -> Comparison:
        """Compare the final regrets of policies in pairs.

        Run r of two policies saw the same rewards, so the test is on the difference of their regrets in each
        run. Only runs that both policies have count. All comparisons of a call are one family for Holm's
        correction.

        Parameters
        ----------
        baseline : Policy, str or Results, optional
            The policy that every other one is compared with; every pair is compared if not given. With other
            results of the same seed, every policy is compared with itself in those.
        metric : Metric, optional
            A metric to compare instead of the regret; the verdicts are then "better in these runs" and "worse
            in these runs", the interval is Student's, and what follows from the largest possible regret is
            null.
        all : bool, default False
            Return all columns, not only those that people read first.

        Returns
        -------
        Comparison
            A polars.DataFrame with one row per comparison; ``print`` shows a sentence for each.
            ``difference`` is the policy's mean regret less the baseline's, with the 95% interval ``low`` to
            ``high``, which allows for unseen runs at the largest possible regret, the horizon times the
            largest gap (its coverage is conjectured; see docs/how-to/analysis.md). ``verdict`` is "lower
            regret" or "higher regret" where the adjusted p-value of this interval, ``p_bounded``, is at most
            0.05. Else it is "lower in these runs" or "higher in these runs" where ``p_holm``, the adjusted
            p-value of the paired t test, is at most 0.05: rare failures that no run shows are then not
            excluded. Else it is "inconclusive".

            All columns are these, both adjusted p-values, and the number of ``runs``; the standard error
            ``se``; Student's interval; ``wins``, the share of runs with the lower
            regret, where a tie is half a win; ``p_value`` of the two-sided paired t test; and
            ``runs_needed``, about the number of runs for a verdict with probability 0.8, at the strictest
            level of Holm's method, if the difference and the standard deviation in these runs are the true
            ones.
        """
        from lowregret.analysis.comparison import compare
        from lowregret.results.comparison_table import Comparison

        if isinstance(baseline, Results):
            return Comparison.of(compare(self, baseline, metric), [], all)
        name = None if baseline is None else str(baseline)
        table = self._with_parameters(compare(self, name, metric).lazy()).collect()
        return Comparison.of(table, [name for name in table.columns if name not in COMPARISON], all)

    @user_call
    def plot(
        self,
        environment: str | None = None,
        *,
        against: str | None = None,
        width: float | None = None,
        height: float | None = None,
        band: str = "interval",
        title: str | None = None,
        labels: Mapping[str, str] | None = None,
        ax: Any = None,
    ) -> altair.LayerChart | altair.ConcatChart | Any:
        """Draw the mean regret over time, or the mean final regret against a parameter of a sweep.

        Parameters
        ----------
        environment : str, optional
            The environment. By default each has a panel of its own, side by side; against the parameter of a
            policy, it is needed where the results have several.
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
        labels : dict of str to str, optional
            Other names for policies, such as ``{"MOSS": "MOSS (ours)"}``; the colour stays the policy's.
        ax : matplotlib axes, optional
            Draw into these axes: lines, bands, names in a legend, in the same colours. No altair is needed.

        Returns
        -------
        altair.LayerChart or matplotlib axes
            The ``save`` of a chart writes .svg, .pdf, .png or .html. A notebook shows it without a network;
            in a script ``show`` opens it in the browser. With ``ax`` the axes.

        Examples
        --------
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> chart = result.plot(width=240, title="")  # chart.save("regret.pdf") writes it
        >>> type(chart).__name__
        'Figure'
        """
        check_threads("plot")
        if labels is not None:
            return self.with_labels(labels).plot(
                environment, against=against, width=width, height=height, band=band, title=title, ax=ax
            )
        from lowregret.reporting.policy_styles import styles

        if ax is not None:
            if (against, width, height) != (None, None, None):
                raise InputError("plot: with ax leave out against, width and height: the axes have a size")
            from lowregret.reporting.matplotlib_chart import draw_regret

            name = self._environment(environment)
            curve, words = self.curves().filter(environment=name), "" if title is None else title
            palette = styles(curve["policy"].to_list(), self.original_names)
            return draw_regret(ax, curve, words, band=band, palette=palette)
        from lowregret.reporting.chart_style import fit_chart
        from lowregret.reporting.curve_charts import regret_chart
        from lowregret.reporting.panels import regret_panels
        from lowregret.reporting.sweep_charts import plot_against, sweep_tables

        if environment is None and against is None and len(self.environments) > 1:
            if any(option is not None for option in (width, height, title)):
                raise InputError("plot: name an environment to set the width, the height or the title")
            curves = self.curves()
            return regret_panels({name: curves.filter(environment=name) for name in self.environments}, band)
        if against is None or against in self.parameters.get("policy", pl.DataFrame()).columns:
            environment = self._environment(environment)
        name = environment or self.name
        words = name if title is None else plain_text("plot", "title", title)
        if against is None:
            curve = self.curves().filter(environment=name)
            palette = styles(curve["policy"].to_list(), self.original_names)
            return fit_chart(
                lambda size: regret_chart(curve, words, band=band, palette=palette, plot=size), width, height
            )
        tables = sweep_tables(self.summary(all=True), self.parameters, against, band)
        return fit_chart(lambda size: plot_against(tables, against, name, words, size), width, height)

    @user_call
    def report(
        self,
        folder: str | Path,
        baseline: Policy | str | None = None,
        *,
        figures: str = "svg",
        band: str = "interval",
        labels: Mapping[str, str] | None = None,
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
        labels : dict of str to str, optional
            Other names for policies, such as ``{"MOSS": "MOSS (ours)"}``.
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
        check_threads("report")
        if labels is not None:
            chosen = None if baseline is None else labels.get(str(baseline), str(baseline))
            return self.with_labels(labels).report(
                folder, chosen, figures=figures, band=band, progress=progress
            )
        from lowregret.reporting.experiment_report import write_report

        for name in (self.name, *self.environments, *self.policies):
            plain_text("report", "every name", name)
        chosen = None if baseline is None else str(baseline)
        with reporting(progress) as report:
            return write_report(self, folder, chosen, figures=figures, band=band, report=report)

    @user_call
    def save(self, folder: str | Path) -> None:
        """Write the tables to a folder, which `open_results` opens.

        User-defined metrics are functions, and are not saved.

        Parameters
        ----------
        folder : str or path
            The folder; results that were saved there before are replaced.

        Raises
        ------
        InputError
            If the folder holds other results, such as an experiment's, or these are unfinished.
        StoreError
            If the folder cannot be written to.

        Examples
        --------
        >>> import tempfile
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.save(folder)
        ...     lr.open_results(folder).summary().equals(result.summary())
        True
        """
        from lowregret.results.saving import save

        save(self, Path(folder))

    @user_call
    def to_pandas(self, table: str = "summary") -> pandas.DataFrame:
        """Return a table for pandas; it needs the extra ``pandas``.

        Parameters
        ----------
        table : {"summary", "curves", "finals", "paths", "pulls", "events", "arms"}, default "summary"
            Which table: all columns of `summary`, the curves, or one of the recorded tables.

        Examples
        --------
        >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
        >>> result.to_pandas().set_index("policy").loc["RoundRobin", "mean"].round(6).item()
        20.0
        """
        for module in ("pandas", "pyarrow"):
            import_extra("pandas", module)
        methods = {"summary": lambda: self.summary(all=True), "curves": self.curves}
        frame = methods[table]() if table in methods else self.scan(table).collect()
        return frame.to_pandas()

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
            "policies": [self._policy_dict(row, curves) for row in self.summary(all=True).to_dicts()],
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
            *([f"engine {engine}"] if (engine := self.description.other_engine) else []),
        ]
        if self.planned_runs is not None:
            parts.append(f"unfinished: {len(self.finals):,} of {self.planned_runs:,} runs of all pairs")
        return f"Results({self.name!r}: {', '.join(parts)})"

    def __str__(self) -> str:
        """Return a table of the final regrets, what was run, and the notes on policies."""
        from lowregret.reporting.regret_text import results_text

        return results_text(self)

    def _repr_html_(self) -> str:
        """Return the summary as a table with rounded numbers, for notebooks."""
        from lowregret.reporting.html_tables import html_table

        table = self.summary()
        repeated = ["runs", *([] if len(self.environments) > 1 else ["environment"])]
        return f"<p>{escape(repr(self))}</p>{html_table(table.drop(repeated))}"

"""``compare`` and ``report``: the functions of results that come first in most uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from lowregret.policies import Policy
    from lowregret.results.metrics import Metric
    from lowregret.results.results import Results


def compare(
    results: Results,
    baseline: Policy | str | Results | None = None,
    seed: int = 0,
    *,
    metric: Metric | None = None,
) -> pl.DataFrame:
    """Compare the final regrets of policies in pairs.

    Run r of two policies saw the same rewards, so the test is on the difference of their regrets in each
    run. Only runs that both policies have count. All comparisons of a call are one family for Holm's
    correction.

    Parameters
    ----------
    results : Results
        The results.
    baseline : Policy, str or Results, optional
        The policy that every other one is compared with; every pair is compared if not given. With other
        results of the same seed, every policy is compared with itself in those.
    seed : int, default 0
        The seed of the bootstrap's resamples.
    metric : Metric, optional
        A metric to compare in place of the regret; the verdicts are then "better" and "worse", and what
        follows from the largest possible regret is null.

    Returns
    -------
    polars.DataFrame
        One row per comparison. ``difference`` is the policy's mean regret less the baseline's, with its
        standard error ``se`` and 95% intervals: Student's ``low`` to ``high``, the bootstrap's, and
        ``bounded_low`` to ``bounded_high``, which allows for unseen runs at the largest possible regret.
        ``wins`` is the share of runs with the lower regret; a tie is half a win. ``p_value`` is that of the
        two-sided paired t test and ``p_holm`` the adjusted one. ``verdict`` is "lower regret" or "higher
        regret" where ``p_holm`` is at most 0.05, else "inconclusive". ``fragility`` is the share of runs at
        the largest possible regret, the horizon times the largest gap, that would reverse the difference;
        ``fragile`` says that this many runs cannot exclude such a share, which is about 3 / runs. Both are
        null for an inconclusive comparison. ``runs_needed`` is the number of runs with which the test detects
        a difference of this size with probability 0.8, at the strictest level of Holm's method, if the
        difference and the standard deviation in these runs are the true ones.

    Examples
    --------
    >>> import lowregret as lr
    >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=100, runs=10)
    >>> lr.compare(result, baseline="RoundRobin").select("policy", "runs", "verdict").row(0)
    ('MOSS', 10, 'lower regret')
    """
    return results.compare(baseline, seed, metric=metric)


def report(
    results: Results, folder: str | Path, baseline: Policy | str | None = None, *, figures: str = "svg"
) -> list[Path]:
    """Write a page ``report.html`` with figures, tables and verdicts to a folder.

    Parameters
    ----------
    results : Results
        The results.
    folder : str or Path
        The folder; the figures go to ``figures`` in it.
    baseline : Policy or str, optional
        The policy that the others are compared with; by default the first of those in most environments.
    figures : {"none", "svg", "all"}, default "svg"
        Which figures to write as files: none, SVG, or SVG, PNG and PDF. The page has them all in any case.

    Returns
    -------
    list of Path
        The files, the page first.

    Examples
    --------
    >>> import tempfile
    >>> import lowregret as lr
    >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.5", horizon=100, runs=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lr.report(result, folder)[0].name
    'report.html'
    """
    return results.report(folder, baseline, figures=figures)

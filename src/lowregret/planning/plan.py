"""``plan``: from a few numbers to the expected loss of each policy, and a recommendation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lowregret._common.text import count
from lowregret.analysis.summary import tail_mean
from lowregret.engine import cpu
from lowregret.engine.state import Floats, Integers, rows_of
from lowregret.environments import Delay
from lowregret.experiments.policy_loading import load_policy
from lowregret.planning.assumptions import Assumptions, Simulated, assumptions, means_of
from lowregret.planning.fixed_split import FixedSplit, best_observed, fixed_split
from lowregret.planning.recommendation import Recommendation, recommend
from lowregret.policies import Policy, clock_at
from lowregret.policies.inputs import clips, policies_of

SPLIT = "fixed split"
"""The name of the fixed split beside those of the policies."""
MOST_TRAFFIC = 0.8
FOR_RATES = ("ThompsonBeta", "IMED", "EUCBV", "MOSSV", "MOSS", "UCB1", "EpsilonGreedy")
FOR_MEANS = ("ThompsonNormal", "ThompsonGauss", "KLUCBGauss", "BayesUCBGauss", "EpsilonGreedy")
"""The policies that are compared: those that a step of some 100 ns and the kind of reward suit."""


@dataclass(frozen=True)
class Played:
    """The runs of one policy; a column of ``loss`` and ``share`` is a day.

    ``loss`` is what was lost up to the end of the day, ``share`` the share of the day's visitors that saw the
    best option. ``leads`` says whether it was seen most on the last day, ``good`` whether the option that was
    is worse by less than the lift; ``day`` is the first one with 80% for the best option, 0 for none.
    """

    loss: Floats
    share: Floats
    leads: Integers
    good: Integers
    day: Integers


@dataclass(frozen=True, repr=False)
class Plan:
    """The result of `plan`.

    Attributes
    ----------
    table : polars.DataFrame
        One row per policy and one for the fixed split, the smallest loss first: ``loss`` (expected), its
        standard error ``se``, ``p95`` (the 95% quantile) and ``worst05`` (the mean of the worst 5%);
        ``loss_share`` (the loss divided by what the best option would earn); ``best_leads`` and
        ``good_leads`` (the probability that the best option, or one that is worse by less than the lift, has
        most of the traffic of the last day; for the fixed split, that it has the largest observed mean);
        ``days_to_80`` (the median of the days until the best option has 80% of the traffic, null if fewer
        than half of the runs get there) and ``reach_80`` (the share of runs that do).
    power, days_needed : float
        The power of the fixed split: the probability that a two-sided test of one option against the control
        finds a difference of the lift; and the days for a power of 80%.
    recommended, reason : str
        The policy to use, or "fixed split", and why.
    code : str
        The code that opens the recommended agent.
    assumptions : list of str
        What was assumed.
    given, simulated : Assumptions, Simulated
        The numbers that were given, and the traffic that was simulated.
    played : dict of str to Played
        The runs of every policy.

    Examples
    --------
    >>> import lowregret as lr
    >>> found = lr.plan(options=2, rate=0.2, lift=0.5, visitors=100, days=5, policies="UCB1", runs=10)
    >>> found.table["policy"].sort().to_list()
    ['UCB1', 'fixed split']
    >>> found.to_dict()["power"] == found.power
    True
    """

    table: pl.DataFrame
    power: float
    days_needed: float
    recommended: str
    reason: str
    code: str
    assumptions: list[str]
    given: Assumptions
    simulated: Simulated
    played: dict[str, Played] = field(repr=False)

    def __repr__(self) -> str:
        given = self.given
        with pl.Config(
            tbl_rows=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, float_precision=3,
            tbl_width_chars=140, tbl_cols=-1,
        ):  # fmt: skip
            shown = str(self.table)
        return "\n".join(
            [
                f"Plan: {given.options} options, {given.total:,} visitors in {count(given.days, 'day')}, "
                f"lift {given.lift:.3g}; losses in {given.unit}",
                shown,
                f"Fixed split: power {self.power:.0%}; {self.days_needed:.1f} days for 80%",
                f"Use {self.recommended}: {self.reason}",
                self.code,
                "Assumed:",
                *(f"- {sentence}" for sentence in self.assumptions),
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, as ``lowregret plan --json`` prints it.

        Returns
        -------
        dict
            What JSON can hold.
        """
        return {
            "recommended": self.recommended,
            "reason": self.reason,
            "code": self.code,
            "power": self.power,
            "days_needed": self.days_needed,
            "unit": self.given.unit,
            "policies": self.table.to_dicts(),
            "assumptions": self.assumptions,
            "simulated": self.simulated._asdict(),
        }

    def report(self, folder: str | Path) -> list[Path]:
        """Write the page ``plan.html`` with charts, and the table as CSV, to a folder.

        Parameters
        ----------
        folder : str or path
            The folder.

        Returns
        -------
        list of Path
            The files.

        Examples
        --------
        >>> import tempfile
        >>> import lowregret as lr
        >>> found = lr.plan(options=2, rate=0.2, lift=0.5, visitors=100, days=5, policies="UCB1", runs=10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.report(folder)[0].name
        'plan.html'
        """
        from lowregret.planning.plan_page import write_files

        return write_files(self, Path(folder))


def plan(
    *,
    options: int,
    rate: float | None = None,
    mean: float | None = None,
    sd: float | None = None,
    lift: float,
    visitors: int,
    days: int,
    delay_days: float = 0.0,
    spread: float | None = None,
    policies: Policy | str | Iterable[Policy | str] | None = None,
    runs: int = 100,
    alpha: float = 0.05,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> Plan:
    """Compare policies and a fixed split on the traffic that an experiment will have.

    The rates of the options are not known, so each run draws them from a prior around the given one. The
    rewards of a run are late, as they will be. It takes less than a minute on two cores: large traffic is
    scaled, which the plan says.

    Parameters
    ----------
    options : int
        The number of options, the present one included.
    rate : float, optional
        The expected conversion rate, between 0 and 1.
    mean, sd : float, optional
        In place of a rate: mean and standard deviation of the reward of a visitor, such as revenue.
    lift : float
        The smallest relative difference that matters: 0.1 for 5.5% against 5%.
    visitors, days : int
        Visitors a day, and the number of days.
    delay_days : float, default 0
        After how many days the reward of a visitor is known.
    spread : float, optional
        Standard deviation of the rates or means of the options, divided by their mean; by default the lift.
    policies : Policy or str, or several, optional
        The policies to compare; by default those that suit the kind of reward.
    runs : int, default 100
        The number of runs, each with options of its own; fewer if the traffic is huge.
    alpha : float, default 0.05
        The level of the two-sided test of the fixed split, which is divided by the number of comparisons with
        the control.
    seed : int, default 0
        The seed.
    threads : int, optional
        The number of threads; by default one per core.
    progress : callable, optional
        Called as ``progress(policy, runs)`` when a policy starts (0 runs) and when runs finish.

    Returns
    -------
    Plan
        The table, the recommendation and its reason, and the code to start with.

    Raises
    ------
    InputError
        If a number is not allowed; if neither a rate nor a mean and an sd is given; if there are fewer
        visitors than options; or if a policy is unknown.

    Examples
    --------
    >>> import lowregret as lr
    >>> found = lr.plan(
    ...     options=3, rate=0.2, lift=0.3, visitors=200, days=10, policies=["ThompsonBeta", "UCB1"], runs=50
    ... )
    >>> found.recommended
    'ThompsonBeta'
    """
    given = assumptions(options, rate, mean, sd, lift, visitors, days, delay_days, spread, alpha, runs, seed)
    chosen = policies_of("plan", _suitable(given) if policies is None else policies, load_policy)
    simulated = given.simulated(len(chosen))
    for policy in chosen.values():
        policy.validate_problem(clock_at(0, simulated.decisions, given.options, 0.0))
        clips(policy, given.draw(0, simulated).support, "the plan", False)
    split = fixed_split(given)
    played = {SPLIT: _split_played(given, simulated, split)}
    for name, policy in chosen.items():
        report = partial(progress, name) if progress else None
        if report:
            report(0)
        played[name] = _play(policy, given, simulated, threads, report)
    table = _table(given, simulated, played)
    advice: Recommendation = recommend(
        given, split, chosen, {name: each.loss[:, -1] for name, each in played.items()}, SPLIT
    )
    return Plan(
        table, split.power, split.days_needed, *advice, given.in_words(simulated), given, simulated, played
    )


def _suitable(given: Assumptions) -> list[str]:
    """Return the policies that suit the kind of reward; those that need its variance are given it."""
    if given.sd is None:
        return list(FOR_RATES)
    known = f"(variance={given.sd**2!r})"
    return [name + known * name.endswith("Gauss") for name in FOR_MEANS]


def _play(
    policy: Policy,
    given: Assumptions,
    simulated: Simulated,
    threads: int | None,
    progress: Callable[[int], None] | None,
) -> Played:
    """Play all runs of a policy, each on options of its own; run r has the same rewards for every policy."""
    found = _empty(simulated.runs, given.days)
    halt, delay = np.zeros(1, np.int64), Delay.constant(simulated.delay)

    def block(start: int, stop: int) -> int:
        for run in range(start, stop):
            if halt[0]:
                break
            bandit = given.draw(run, simulated)
            path = cpu.trace(
                policy, rows_of(bandit, policy), bandit.data, simulated.decisions, given.seed, run, True,
                delay=delay,
            )  # fmt: skip
            _record(found, run, path.arm, means_of(bandit), given, simulated)
        return stop - start

    cpu.share_out(block, simulated.runs, simulated.decisions, threads, halt, progress)
    return found


def _empty(runs: int, days: int) -> Played:
    shape = runs, days
    leads, good, day = np.zeros((3, runs), np.int64)
    return Played(np.zeros(shape), np.zeros(shape), leads, good, day)


def _record(
    found: Played, run: int, arms: Integers, means: Floats, given: Assumptions, simulated: Simulated
) -> None:
    """Add up a run by days; losses become those of the real traffic."""
    size, total = len(means), len(arms)
    day = np.arange(total) * given.days // total
    seen = np.bincount(day * size + arms, minlength=given.days * size).reshape(given.days, size)
    best, factor = int(means.argmax()), given.total / (total * sqrt(simulated.scale))
    found.loss[run] = np.cumsum(seen @ (means[best] - means)) * factor
    found.share[run] = seen[:, best] / np.maximum(seen.sum(axis=1), 1)
    _judge(found, run, int(seen[-1].argmax()), means, given, simulated)
    there = np.flatnonzero(found.share[run] >= MOST_TRAFFIC)
    found.day[run] = there[0] + 1 if len(there) else 0


def _judge(
    found: Played, run: int, first: int, means: Floats, given: Assumptions, simulated: Simulated
) -> None:
    """Record whether the option that came first is the best, or not worse by the lift."""
    enough = given.difference * sqrt(simulated.scale)
    found.leads[run] = first == means.argmax()
    found.good[run] = means.max() - means[first] < enough


def _split_played(given: Assumptions, simulated: Simulated, split: FixedSplit) -> Played:
    """Return the runs of an equal split; its losses need no simulation."""
    found = _empty(simulated.runs, given.days)
    for run in range(simulated.runs):
        means = means_of(given.draw(run, simulated))
        worse = (means.max() - means).mean() / sqrt(simulated.scale)
        found.loss[run] = worse * given.visitors * np.arange(1, given.days + 1)
        found.share[run] = 1.0 / given.options
        each = int(split.each / simulated.scale)
        first = best_observed(given, means, each, np.random.default_rng([given.seed, run, 3]))
        _judge(found, run, first, means, given, simulated)
    return found


def _table(given: Assumptions, simulated: Simulated, played: dict[str, Played]) -> pl.DataFrame:
    """Return one row per policy, the smallest loss first."""
    best = [means_of(given.draw(run, simulated)).max() for run in range(simulated.runs)]
    earned = given.value + (float(np.mean(best)) - given.value) / sqrt(simulated.scale)
    rows = []
    for name, runs in played.items():
        loss, reached = runs.loss[:, -1], runs.day > 0
        days = np.where(reached, runs.day, np.inf)
        median = float(np.median(days))
        rows.append(
            {
                "policy": name,
                "loss": float(loss.mean()),
                "se": float(loss.std(ddof=1) / sqrt(len(loss))),
                "p95": float(np.quantile(loss, 0.95)),
                "worst05": tail_mean(loss),
                "loss_share": float(loss.mean() / (earned * given.total)),
                "best_leads": float(runs.leads.mean()),
                "good_leads": float(runs.good.mean()),
                "days_to_80": median if np.isfinite(median) else None,
                "reach_80": float(reached.mean()),
            }
        )
    schema = {"days_to_80": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=schema).sort("loss", maintain_order=True)

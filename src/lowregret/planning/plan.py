"""``plan``: from a few numbers to the expected loss of each policy, and a recommendation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from json import dumps
from math import sqrt
from pathlib import Path
from shlex import quote
from textwrap import indent
from typing import Any

import numpy as np
import polars as pl

from lowregret._common.progress import Report, counter, reporting
from lowregret._common.terminal_text import wrapped
from lowregret._common.text import count
from lowregret._common.user_calls import user_call
from lowregret._common.validation import integer
from lowregret.analysis.summary import tail_mean
from lowregret.engine.backends import run as run_engine
from lowregret.engine.backends.threads import run_in_threads
from lowregret.engine.encoding import encode
from lowregret.engine.prior import MAX_WEIGHT, ArmPrior
from lowregret.engine.problem import PATH, Control, Problem
from lowregret.engine.trace import redraw
from lowregret.environments import Bandit, Delay
from lowregret.errors import InputError
from lowregret.planning.fixed_split import fixed_split
from lowregret.planning.policy_runs import (
    PolicyRuns,
    baselines,
    empty_runs,
    first_verdict,
    record_run,
    totals_by_day,
)
from lowregret.planning.prior_value import PRIOR_ASSUMPTION, PRIORS, describe_prior, prior_of, prior_table
from lowregret.planning.recommendation import DATABASE, Recommendation, recommend
from lowregret.planning.scenario import Scenario, Simulated, make_scenario
from lowregret.planning.visitor_rewards import Conversions, Sales
from lowregret.policies import POLICIES, Policy, clock_at
from lowregret.policies.inputs import clips, policies_of
from lowregret.reporting.number_format import format_number

PLAN_COLUMNS = (
    "In brackets: the standard error of the mean. 95%: what 95% of the runs stay below. Worst 5%: the "
    "mean of the worst 5% of the runs. Of all: the loss divided by what the best option would earn. Best "
    "leads: the share of runs in which the best option has most of the last day's traffic, or, for the "
    "fixed split, the largest observed mean; good leads: the same for options that are worse by less "
    "than the lift. Verdict: the share of runs in which a verdict that holds whenever one looks names "
    "the best option by the last day. Days to 80%: the median of the first day on which the best option "
    "has 80% of the traffic; a dash if fewer than half of the runs get there."
)
"""What the columns of the table mean."""
FOR_RATES = ("ThompsonBeta", "IMED", "EUCBV", "MOSSV", "MOSS", "UCB1", "EpsilonGreedy")
FOR_MEANS = ("ThompsonGauss", "KLUCBGauss", "BayesUCBGauss", "EpsilonGreedy")
FOR_SALES = ("MOSSV", "ThompsonGauss", "BayesUCBGauss", "EpsilonGreedy")
"""The policies that are compared: those that a step of some 100 ns and the kind of reward suit."""


@dataclass(frozen=True, repr=False)
class Plan:
    """The result of `plan`.

    Attributes
    ----------
    table : polars.DataFrame
        One row per policy, one for the fixed split and one for keeping the present option (the first), the
        smallest loss first: ``loss`` (expected), its standard error ``se``, ``p95`` (the 95% quantile) and
        ``worst05`` (the mean of the worst 5%); ``loss_share`` (the loss divided by what the best option would
        earn) and ``won`` (what the policy is expected to earn); ``best_leads`` and ``good_leads`` (the
        probability that the best option, or one that is worse by less than the lift, has most of the traffic
        of the last day; for the fixed split, that it has the largest observed mean); ``days_to_80`` (the
        median of the days until the best option has 80% of the traffic, null if fewer than half of the runs
        get there), ``reach_80`` (the share of runs that do) and
        ``verdict`` (the share of runs in which ``Agent.verdict`` names the best option by the last day, with
        ``alpha`` as the error).
    power, days_needed : float
        The power of the fixed split: the probability that a two-sided test of one option against the control
        finds a difference of the lift; and the days for a power of 80%.
    recommended, reason : str
        The policy to use, "fixed split", or "present option" where the visitors are too few; and why.
    code : str
        The code that opens the recommended agent; "" where no experiment is recommended.
    request : dict, optional
        The JSON of ``POST /v1/agents`` that creates this agent in a service; None where no experiment is
        recommended, or a policy of your own.
    command : str
        The command ``lowregret agent create`` that creates this agent; "" where ``request`` is None.
    assumptions : list of str
        What was assumed.
    scenario, simulated : Scenario, Simulated
        The numbers that were given, and the traffic that was simulated.
    played : dict of str to PolicyRuns
        The runs of every policy.
    prior : polars.DataFrame, optional
        What the prior ``saves`` the best policy, with the standard error ``se`` of the paired difference, if
        it is right, and if the one of the best option is too low by one and by three of its standard errors.

    Examples
    --------
    >>> import tempfile
    >>> plan = lr.plan(options=2, rate=0.2, lift=0.5, visitors=100, days=5, policies="UCB1", runs=10)
    >>> plan.table["policy"].sort().to_list()
    ['UCB1', 'fixed split', 'present option']
    >>> plan.command.split("{")[0], plan.to_dict()["power"] == plan.power
    ("lowregret agent create experiment.db '", True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan.report(folder)[0].name
    'plan.html'
    """

    table: pl.DataFrame
    power: float
    days_needed: float
    recommended: str
    reason: str
    code: str
    request: dict[str, Any] | None
    assumptions: list[str]
    scenario: Scenario
    simulated: Simulated
    played: dict[str, PolicyRuns] = field(repr=False)
    prior: pl.DataFrame | None = None

    def __repr__(self) -> str:
        scenario = self.scenario
        traffic = f"{scenario.options} options, {scenario.total:,} visitors in {count(scenario.days, 'day')}"
        return f"Plan({traffic}, lift {scenario.lift_in_percent()}: use {self.recommended})"

    def __str__(self) -> str:
        """Return the table of losses, the recommendation and the code to start with."""
        return plan_text(self)

    @property
    def command(self) -> str:
        """The command that creates the recommended agent."""
        request = quote(dumps(self.request))
        return f"lowregret agent create {DATABASE} {request}" if self.request else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, as ``lowregret plan --json`` prints it."""
        return {
            "recommended": self.recommended,
            "reason": self.reason,
            "code": self.code,
            "command": self.command,
            "request": self.request,
            "power": self.power,
            "days_needed": self.days_needed,
            "unit": self.scenario.unit,
            "policies": self.table.to_dicts(),
            "assumptions": self.assumptions,
            "simulated": self.simulated._asdict(),
            "prior": None if self.prior is None else self.prior.to_dicts(),
        }

    def report(self, folder: str | Path) -> list[Path]:
        """Write the page ``plan.html`` with charts, and the table as CSV, to a folder.

        Parameters
        ----------
        folder : str or path

        Returns
        -------
        list of Path
        """
        from lowregret.planning.plan_page import write_files

        return write_files(self, Path(folder))


def plan_lines(plan: Plan, explain: bool | None = True) -> list[str]:
    """Return the power of the fixed split, the recommendation, its code and the assumptions, in lines.

    With ``explain`` they have all assumptions, else the last one and what has the others: the option of the
    command line, or the attribute where ``explain`` is None.
    """
    lines = [f"Note: {plan.scenario.large_lift()}"] if plan.scenario.large_lift() else []
    lines.append(f"Fixed split: power {plan.power:.0%}, {plan.days_needed:,.1f} days for a power of 80%")
    lines.append(f"Use {plan.recommended}: {plan.reason}")
    lines += describe_prior(plan.prior, plan.scenario.unit)
    for words, snippet in starting_code(plan):
        lines += ["", words, "", indent(snippet, "    ")]
    assumed = ["Assumed:", *(f"- {sentence}" for sentence in plan.assumptions)]
    remedy = "`assumptions` has" if explain is None else "--explain prints"
    short = [f"{plan.assumptions[-1]} {remedy} what was assumed."]
    return [*lines, "", *(assumed if explain else short)]


def starting_code(plan: Plan) -> list[tuple[str, str]]:
    """Return the snippets that create the recommended agent, each with a line before it."""
    snippets = {
        "In Python:": plan.code,
        "Or by a command, whose JSON POST /v1/agents takes too:": plan.command,
    }
    return [(words, snippet) for words, snippet in snippets.items() if snippet]


def plan_text(plan: Plan, explain: bool | None = None) -> str:
    """Return the table of losses, the recommendation and its code.

    ``explain`` is the option of the command line; without it the text names no options.
    """
    from lowregret.reporting.text_tables import text_table

    rows = text_rows(plan)
    drop = ["good leads", "of all", "95%", "best leads"]
    lines = [text_table(rows, right=[*rows[0]][1:], drop=drop)]
    if explain:
        lines += [wrapped(PLAN_COLUMNS), ""]
    for line in plan_lines(plan, explain):
        code = line.startswith(" ")
        lines.append(line if code else wrapped(line, plan.table["policy"], "  " * line.startswith("-")))
    return "\n".join(lines)


def text_rows(plan: Plan) -> list[dict[str, str]]:
    return [
        {
            "policy": row["policy"],
            f"{plan.scenario.unit} lost": f"{format_number(row['loss'])} ({format_number(row['se'])})",
            "95%": format_number(row["p95"]),
            "worst 5%": format_number(row["worst05"]),
            "of all": f"{row['loss_share']:.2%}",
            "best leads": f"{row['best_leads']:.0%}",
            "good leads": f"{row['good_leads']:.0%}",
            "verdict": f"{row['verdict']:.0%}",
            "days to 80%": "-" if row["days_to_80"] is None else f"{row['days_to_80']:.0f}",
        }
        for row in plan.table.to_dicts()
    ]


@user_call
def plan(
    *,
    options: int,
    rate: float | None = None,
    mean: float | None = None,
    sd: float | None = None,
    sale: float | None = None,
    sale_sd: float | None = None,
    lift: float,
    visitors: int,
    days: int,
    delay_days: float = 0.0,
    spread: float | None = None,
    rhythm: str | None = None,
    policies: Policy | str | Iterable[Policy | str] | None = None,
    runs: int = 100,
    alpha: float = 0.05,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Report = True,
    prior: int | None = None,
) -> Plan:
    """Compare policies and a fixed split on the traffic that an experiment will have.

    The rates of the options are not known, so each run draws them from a prior around the given one. The
    rewards of a run are delayed, as they will be. It takes less than a minute on two cores: large traffic is
    scaled, which the plan says.

    Parameters
    ----------
    options : int
        The number of options, the present one included.
    rate : float, optional
        The expected conversion rate, between 0 and 1.
    mean, sd : float, optional
        Instead of a rate: mean and standard deviation of the reward of a visitor, such as the minutes spent.
        Rewards are normal, so this is not for revenue, where most visitors bring nothing.
    sale, sale_sd : float, optional
        With a rate, for revenue: mean and standard deviation of a sale. The others bring 0.
    lift : float
        The smallest relative difference that matters: 0.1 for 5.5% against 5%.
    visitors, days : int
        Visitors a day, and the number of days.
    delay_days : float, default 0
        After how many days the reward of a visitor is known.
    spread : float, optional
        Standard deviation of the rates or means of the options, divided by their mean; by default the lift.
    rhythm : str, optional
        Days on which all options do better or worse: ``"weekend=1.3"``, ``"trend=0.5,1.5"``, ``"5=3"`` for
        three times as much on day 5, ``"file=factors.csv"``, or several of them separated by ``;``.
    policies : Policy or str, or several, optional
        The policies to compare; by default those that suit the kind of reward.
    runs : int, default 100
        The number of runs, each with options of its own; fewer if the traffic is huge.
    alpha : float, default 0.05
        The level of the two-sided test of the fixed split, which is divided by the number of comparisons with
        the control; and the error of verdicts.
    seed : int, default 0
        The seed.
    threads : int, optional
        The number of threads; by default one per core.
    progress : bool or callable, default True
        Whether to say on standard error what is done, or a function that is called with a `Progress`.
    prior : int, optional
        The weight in pulls of what is known of each option beforehand: the plan then also says what such a
        prior gains if it is right, and costs if it is wrong.

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
    >>> plan = lr.plan(
    ...     options=3, rate=0.2, lift=0.3, visitors=200, days=10, policies=["ThompsonBeta", "UCB1"], runs=50
    ... )
    >>> plan.recommended
    'ThompsonBeta'
    """
    scenario = make_scenario(
        options=options,
        rate=rate,
        mean=mean,
        sd=sd,
        sale=sale,
        sale_sd=sale_sd,
        lift=lift,
        visitors=visitors,
        days=days,
        delay_days=delay_days,
        spread=spread,
        alpha=alpha,
        runs=runs,
        seed=seed,
        pattern=rhythm,
    )
    chosen = policies_of("plan", _suitable(scenario) if policies is None else policies)
    weight = None if prior is None else integer("plan", "prior", prior, MAX_WEIGHT)
    if weight is not None and not any(policy.takes_prior for policy in chosen.values()):
        raise InputError(f"plan: none of {', '.join(chosen)} can use a prior: leave it out, or add a policy")
    simulated = scenario.simulated(len(chosen) + (0 if weight is None else len(PRIORS)))
    for policy in chosen.values():
        policy.validate_problem(clock_at(0, simulated.decisions, scenario.options, 0.0))
        support = scenario.on_days(scenario.draw(0, simulated)).support
        clips(policy, support, "the plan", scenario.cap_of(policy) is not None)
    split = fixed_split(scenario)
    played = baselines(scenario, simulated, split)
    with reporting(progress) as report:
        parts = len(chosen) + (0 if weight is None else len(PRIORS))
        advance = counter(report, parts * simulated.runs, "runs")
        for name, policy in chosen.items():
            advance(name, 0)
            played[name] = _play_policy(policy, scenario, simulated, threads, partial(advance, name))
        table, prior_effects = _loss_table(scenario, simulated, played), None
        if weight is not None:
            best = next(name for name in table["policy"] if name in chosen and chosen[name].takes_prior)
            share, losses = max(round(weight / simulated.scale), 1), {}
            for name, errors in PRIORS.items():
                assumed = partial(prior_of, errors, share)
                game = chosen[best], scenario, simulated, threads, partial(advance, best)
                losses[name] = _play_policy(*game, assumed).loss[:, -1]
            prior_effects = prior_table(best, played[best].loss[:, -1], losses)
    advice: Recommendation = recommend(scenario, split, chosen, played)
    words = scenario.describe(simulated)
    if weight is not None:
        words.insert(0, PRIOR_ASSUMPTION.format(weight=f"{weight:,}"))
    return Plan(
        table, split.power, split.days_needed, *advice, words, scenario, simulated, played, prior_effects
    )


def _suitable(scenario: Scenario) -> list[str]:
    """Return the policies that suit the kind of reward; those that need its variance are given it."""
    rewards = scenario.rewards
    if isinstance(rewards, Conversions):
        return list(FOR_RATES)
    names = FOR_SALES if isinstance(rewards, Sales) else FOR_MEANS
    variance = f"(variance={float(f'{rewards.sd() ** 2:.4g}')!r})"
    return [name + variance * hasattr(POLICIES[name], "variance") for name in names]


def _play_policy(
    policy: Policy,
    scenario: Scenario,
    simulated: Simulated,
    threads: int | None,
    progress: Callable[[int], None],
    prior: Callable[[Bandit], dict[int, ArmPrior]] = lambda _: {},
) -> PolicyRuns:
    """Play all runs of a policy, each on options of its own; run r has the same rewards for every policy."""
    played = empty_runs(simulated.runs, scenario.days)
    control, delay = Control(threads, progress), Delay.constant(simulated.delay)
    cap = scenario.cap_of(policy)
    bounded = cap is not None or isinstance(scenario.rewards, Conversions)

    def block(start: int, stop: int) -> int:
        for run in range(start, stop):
            bandit = scenario.draw(run, simulated)
            visible = bandit if cap is None else bandit.scaled(0.0, cap)
            problem = Problem(
                policy,
                scenario.on_days(visible),
                simulated.decisions,
                scenario.seed,
                first_run=run,
                delay=delay,
                clip=cap is not None,
                record=frozenset({PATH}),
                prior=prior(visible),
            )
            path = run_engine(problem, control=Control(threads=1, halt=control.halt)).records[PATH]
            arms = path[0, :, 0].copy()
            record_run(played, run, arms, bandit.means, scenario, simulated)
            rewards, _ = redraw(problem, encode(problem), arms)
            rewards = rewards if cap is None else np.minimum(rewards, 1.0)
            totals = totals_by_day(arms, rewards, scenario.options, scenario, simulated)
            played.verdict[run] = first_verdict(totals, scenario.alpha, bounded)
        return stop - start

    run_in_threads(block, simulated.runs, simulated.decisions, control)
    return played


def _loss_table(scenario: Scenario, simulated: Simulated, played: dict[str, PolicyRuns]) -> pl.DataFrame:
    best = [scenario.draw(run, simulated).means.max() for run in range(simulated.runs)]
    earned = scenario.value + (float(np.mean(best)) - scenario.value) / sqrt(simulated.scale)
    most = float(earned * scenario.total * scenario.day_factors.mean())
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
                "loss_share": float(loss.mean()) / most,
                "best_leads": float(runs.leads.mean()),
                "good_leads": float(runs.good.mean()),
                "days_to_80": median if np.isfinite(median) else None,
                "reach_80": float(reached.mean()),
                "verdict": float((runs.verdict > 0).mean()),
                "won": most - float(loss.mean()),
            }
        )
    schema = {"days_to_80": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=schema).sort("loss", maintain_order=True)

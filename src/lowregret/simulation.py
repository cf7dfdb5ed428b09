"""``simulate`` and ``trace``: policies on a bandit, and one run step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from lowregret._common.arrays import Floats, Integers
from lowregret._common.progress import Report, counter, reporting
from lowregret._common.user_calls import user_call
from lowregret._common.validation import MAX_HORIZON, integer, recording_times, seed_of
from lowregret.engine.backends import BACKENDS, Engine, validate_backend, validate_problem
from lowregret.engine.backends import run as run_engine
from lowregret.engine.bridge.precompile import precompiled
from lowregret.engine.prior import describe, numbered_priors
from lowregret.engine.problem import Control, Outcome, Problem, RewardTable, Ties, records_asked_by
from lowregret.engine.trace import Trace
from lowregret.engine.trace import trace as trace_run
from lowregret.environments import Bandit, Delay, DriftingBandit, environment
from lowregret.environments.delays import delay_of
from lowregret.errors import InputError
from lowregret.policies import POLICIES, Policy, clock_at
from lowregret.policies.inputs import clips, policies_of, policy_of, reward_note, validate_period

if TYPE_CHECKING:
    from lowregret.results import Results

LOG_GRID_POINTS = 200


@user_call
def simulate(
    policies: Policy | str | Iterable[Policy | str],
    bandit: Bandit | str,
    horizon: int | None = None,
    runs: int = 100,
    seed: int = 0,
    *,
    grid: int | Sequence[int] | Literal["log"] = 200,
    clip: bool = False,
    threads: int | None = None,
    progress: bool | Report = True,
    engine: Engine = "compiled",
    record_rewards: bool = False,
    record_recommendations: bool = False,
    delay: int | str | Delay = 0,
    batch: int = 1,
    prior: Mapping[int, Sequence[float]] | None = None,
    period: int | None = None,
    shuffle: bool = True,
    ties: Ties = "pending",
) -> Results:
    """Simulate policies on a bandit.

    The n-th pull of an arm in run r has the same reward for every policy, so that policies can be
    compared in pairs. A run depends only on the seed and its number: not on the number of threads, nor on
    the number of runs.

    Parameters
    ----------
    policies : Policy or str, or several
        Policies or their names, such as ``"UCB1(alpha=1)"``, or ``"module:Class"`` for your own in this
        folder or on the path.
    bandit : Bandit or str
        A bandit, or a string such as ``"paper-1"`` or ``"bernoulli:0.1,0.2"``.
    horizon : int, optional
        The number of pulls in a run; by default the horizon of the bandit.
    runs : int, default 100
        The number of independent runs.
    seed : int, default 0
        The seed of rewards and policies, from 0 to 2^64 - 1.
    grid : int, sequence of int or "log", default 200
        The number of evenly spaced times at which the regret is recorded, or the times; "log" for 200 times
        that grow by a constant factor.
    clip : bool, default False
        Clip the rewards that policies see to [0, 1], for policies that require it; otherwise such a policy
        is an error where rewards may lie outside. Regret is always computed for the bandit as given.
    threads : int, optional
        The number of threads; by default one per core.
    progress : bool or callable, default True
        Whether to say on standard error what is done, or a function that is called with a `Progress`.
    engine : {"compiled", "reference", "cuda"}, default "compiled"
        The engine. "reference" is plain Python and returns the same: it is slow, compiles nothing of the
        policy, and stops at breakpoints. "cuda" plays on an NVIDIA GPU, for very many runs.
    record_rewards : bool, default False
        Record the sum of the rewards of every arm, for realised regret and metrics of one's own. Every
        reward is drawn a second time.
    record_recommendations : bool, default False
        Record which arm each policy recommends at the times of the grid, for ``result.identification()``. All
        arms are then evaluated at every step.
    delay : int, str or Delay, default 0
        How many decisions later a reward is known: a number, or a distribution such as
        ``lr.Delay.geometric(mean=50)`` or its string. With d, the reward of decision t is known before
        decision t + d + 1. Pending pulls count as they do for a live agent.
    batch : int, default 1
        The number of decisions made at once. Rewards become known between batches only, in the order of
        their decisions.
    prior : dict of int to (float, int), optional
        What policies know of arms before the first pull, as for ``Agent``: by the number of the arm a mean
        and a weight, and a standard deviation where rewards may lie outside [0, 1].
    period : int, optional
        The number of decisions of a period, such as a day. Policies then see means that are adjusted
        for good and bad periods of all arms; see `docs/explanation/calendar.md`.
    shuffle : bool, default True
        Give the arms a random order in each run. A tie goes to the first arm in this order, so that none is
        favoured. False keeps the order of the bandit, as some papers do.
    ties : {"pending", "first"}, default "pending"
        To which arm a tie goes while rewards are pending: the one with the fewest pending pulls, or the
        first.

    Returns
    -------
    Results
        Regret, pulls and eliminations of every policy.

    Raises
    ------
    InputError
        If a policy, the bandit or another argument is invalid; if a policy needs rewards in [0, 1] and others
        are possible; if a policy cannot be compiled, or returns a score that is not a number; if the engine
        cannot play a policy, or there is no GPU for it.

    Examples
    --------
    >>> bandit = lr.bernoulli([0.07] * 19 + [0.10])
    >>> result = lr.simulate([lr.EUCBV(), lr.RoundRobin()], bandit, horizon=2_000, runs=10, seed=1)
    >>> result.regret("RoundRobin").mean().round(6).item()
    57.0
    >>> result["EUCBV"].pulls.shape
    (10, 20)
    """
    _check_order("simulate", policies, bandit)
    bandit = environment(bandit)
    horizon = _horizon("simulate", horizon, bandit)
    validate_backend("simulate", engine)
    runs = integer("simulate", "runs", runs)
    seed = seed_of(seed)
    threads = None if threads is None else integer("simulate", "threads", threads)
    times = _grid_times(grid, horizon)
    delays, batch = delay_of(delay), integer("simulate", "batch", batch, MAX_HORIZON)
    period = None if period is None else integer("simulate", "period", period, MAX_HORIZON)
    if not isinstance(shuffle, bool) or ties not in get_args(Ties):
        raise InputError(
            f"simulate: shuffle is True or False and ties 'pending' or 'first', got {shuffle!r} and {ties!r}"
        )
    chosen = policies_of("simulate", policies)
    asked = SimpleNamespace(record_rewards=record_rewards, record_recommendations=record_recommendations)
    record = frozenset(records_asked_by(asked))
    problems = {}
    for name, policy in chosen.items():
        policy.validate_problem(clock_at(0, horizon, len(bandit), 0.0))
        clipped = clips(policy, bandit.support, repr(bandit.name), clip)
        priors = numbered_priors(policy, prior, len(bandit), clipped or _within_unit(bandit.support))
        if period is not None:
            support = (0.0, 1.0) if clipped else bandit.support
            validate_period(policy, support, repr(bandit.name), bool(priors))
        problem = Problem(
            policy,
            bandit,
            horizon,
            seed,
            runs=runs,
            grid=times,
            clip=clipped,
            delay=delays,
            batch=batch,
            record=record,
            prior=priors,
            period=period,
            shuffle=shuffle,
            ties=ties,
        )
        validate_problem(problem, engine)
        problems[name] = problem
    outcomes, notes = {}, {}
    with reporting(progress) as report:
        advance = counter(report, len(chosen) * runs, "runs")
        compiled = list(problems.values()) if BACKENDS[engine].precompiles else []
        with precompiled(compiled, when_idle=_import_results) as elsewhere:
            for place, (name, problem) in enumerate(problems.items()):
                advance(name, 0)
                elsewhere(place)
                outcomes[name] = run_engine(problem, engine, Control(threads, partial(advance, name)))
                words = reward_note(problem.policy, bandit.support, problem.clip, bandit.binary, period)
                notes[name] = "; ".join(note for note in (words, describe(problem.prior)) if note)
    return results_of(bandit, horizon, seed, clip, outcomes, notes, str(delays), batch, engine)


def _import_results() -> None:
    """Import what results need; ``import lowregret`` and live agents do without it."""
    import lowregret.results
    import lowregret.results.run_tables  # noqa: F401


def results_of(
    bandit: Bandit,
    horizon: int,
    seed: int,
    clip: bool,
    outcomes: Mapping[str, Outcome],
    notes: Mapping[str, str],
    delay: str = "0",
    batch: int = 1,
    engine: Engine = "compiled",
) -> Results:
    """Return the outcomes of several policies on one bandit as results."""
    from lowregret.analysis.description import Description, varying_parameters
    from lowregret.results import Results
    from lowregret.results.run_tables import outcome_table

    description = Description(
        name=bandit.name,
        seed=seed,
        runs=max(len(outcome.regret) for outcome in outcomes.values()),
        horizons={bandit.name: horizon},
        policies=tuple(outcomes),
        clip=clip,
        notes={policy: text for policy, text in notes.items() if text},
        eliminating=tuple(policy for policy, outcome in outcomes.items() if outcome.eliminated is not None),
        policy_parameters=varying_parameters({name: outcome.policy for name, outcome in outcomes.items()}),
        delays={bandit.name: delay} if delay != "0" else {},
        batches={bandit.name: batch} if batch != 1 else {},
        drifting=(bandit.name,) if isinstance(bandit, DriftingBandit) else (),
        largest_gaps={} if bandit.largest_gap is None else {bandit.name: bandit.largest_gap},
        backend=engine,
    )
    pairs = {(bandit.name, policy): outcome for policy, outcome in outcomes.items()}
    return Results(description, partial(outcome_table, bandit, horizon, outcomes), pairs)


@user_call
def trace(
    policy: Policy | str,
    bandit: Bandit | str | Sequence[Sequence[float]] | Floats,
    horizon: int | None = None,
    seed: int = 0,
    *,
    run: int = 0,
    clip: bool = False,
    engine: Engine = "compiled",
    delay: int | str | Delay = 0,
    batch: int = 1,
    prior: Mapping[int, Sequence[float]] | None = None,
    period: int | None = None,
) -> Trace:
    """Play one run of a policy and record every step.

    Parameters
    ----------
    policy : Policy or str
        The policy, its name, or ``"module:Class"``.
    bandit : Bandit, str, or sequence of sequences of float
        A bandit or its string, on which the run is the one of `simulate`; or a table of rewards with a row
        for each arm. Entry n of a row is the reward of the arm's n-th pull. Arms of a table keep their order,
        and a tie goes to the first.
    horizon : int, optional
        The number of steps; by default the horizon of the bandit, or the number of rewards in the table.
    seed : int, default 0
        The seed, as for `simulate`. On a table it is the seed of the policy's own draws.
    run : int, default 0
        The number of the run.
    clip : bool, default False
        Clip the rewards that the policy sees to [0, 1], if it requires that.
    engine : {"compiled", "reference", "cuda"}, default "compiled"
        The engine, as for `simulate`. The reference is plain Python, for debugging.
    delay : int, str or Delay, default 0
        How many decisions later a reward is known, as for `simulate`.
    batch : int, default 1
        The number of decisions made at once, as for `simulate`.
    prior : dict of int to (float, int), optional
        What the policy knows of arms before the first pull, as for `simulate`.
    period : int, optional
        The number of decisions of a period, as for `simulate`.

    Returns
    -------
    Trace
        ``arm`` and ``reward`` of every step, for a policy that eliminates arms the ``round`` and the
        number of ``active`` arms after it, and where rewards are delayed the ``delay`` of each.

    Raises
    ------
    InputError
        As for `simulate`; also if a row of a table has fewer rewards than pulls.

    Examples
    --------
    >>> lr.trace(lr.RoundRobin(), [[1, 0, 1], [0, 0]], horizon=5).arm.tolist()
    [0, 1, 0, 1, 0]
    >>> path = lr.trace("EUCBV", "bernoulli:0.2,0.8", horizon=1_000, seed=1)
    >>> path.arm.shape, path.reward.sum().item() > 600
    ((1000,), True)
    """
    _check_order("trace", policy, bandit)
    policy, seed, run = policy_of(policy), seed_of(seed), integer("trace", "run", run, least=0)
    validate_backend("trace", engine)
    batch = integer("trace", "batch", batch, MAX_HORIZON)
    arms: Bandit | RewardTable
    if isinstance(bandit, Bandit | str):
        arms = environment(bandit)
        horizon, support, name = _horizon("trace", horizon, arms), arms.support, repr(arms.name)
    else:
        arms, name = RewardTable(_reward_rows(bandit)), "the table"
        lengths = sum(map(len, arms.rewards))
        horizon = integer("trace", "horizon", lengths if horizon is None else horizon, MAX_HORIZON)
        support = (
            min(row.min(initial=0.0) for row in arms.rewards),
            max(row.max(initial=0.0) for row in arms.rewards),
        )
    clip = clips(policy, support, name, clip)
    priors = numbered_priors(policy, prior, len(arms), clip or _within_unit(support))
    if period is not None:
        period = integer("trace", "period", period, MAX_HORIZON)
        validate_period(policy, (0.0, 1.0) if clip else support, name, bool(priors))
    problem = Problem(
        policy,
        arms,
        horizon,
        seed,
        first_run=run,
        clip=clip,
        delay=delay_of(delay),
        batch=batch,
        prior=priors,
        period=period,
    )
    validate_problem(problem, engine)
    return trace_run(problem, engine)


def _check_order(owner: str, policies: object, bandit: object) -> None:
    """Refuse a bandit in the place of the policies, and policies in the place of the bandit."""
    entries = bandit if isinstance(bandit, list | tuple) else [bandit]
    swapped = [
        isinstance(entry, Policy)
        or (isinstance(entry, type) and issubclass(entry, Policy))
        or (isinstance(entry, str) and entry.partition("(")[0] in POLICIES)
        for entry in entries
    ]
    if isinstance(policies, Bandit) or any(swapped):
        raise InputError(f"{owner}: policies come first, then the bandit: write {owner}(policies, bandit)")
    if isinstance(policies, Mapping):
        advice = "name them in plots and tables by labels={'MOSS': 'mine'}"
        raise InputError(f"{owner}: policies must be a list, without names of your own: {advice}")


def _within_unit(support: tuple[float, float]) -> bool:
    return support[0] >= 0.0 and support[1] <= 1.0


def _horizon(owner: str, horizon: int | None, bandit: Bandit) -> int:
    if horizon is None:
        horizon = bandit.horizon
    if horizon is None:
        raise InputError(f"{owner}: give a horizon, since {bandit.name!r} has none of its own")
    return integer(owner, "horizon", horizon, MAX_HORIZON)


def _grid_times(grid: int | Sequence[int] | str, horizon: int) -> Integers:
    """Return the times at which the regret is recorded, the horizon always among them."""
    if isinstance(grid, str):
        if grid != "log":
            raise InputError(f"simulate: grid must be an integer, a list of times or 'log', got {grid!r}")
        return np.array(recording_times(horizon, LOG_GRID_POINTS, "log"), np.int64)
    if isinstance(grid, int | np.integer):
        return np.array(recording_times(horizon, integer("simulate", "grid", grid)), np.int64)
    if not isinstance(grid, Iterable):
        raise InputError(f"simulate: grid must be an integer or a list of times, got {grid!r}")
    times = sorted({integer("simulate", "a time of the grid", time, horizon) for time in grid} | {horizon})
    return np.array(times, np.int64)


def _reward_rows(rewards: Sequence[Sequence[float]] | Floats) -> tuple[Floats, ...]:
    """Check a table of rewards: finite numbers, at least one arm and one reward."""
    if isinstance(rewards, str) or not hasattr(rewards, "__len__") or len(rewards) == 0:
        raise InputError("trace: rewards must be one row of numbers per arm, for at least one arm")
    rows = []
    for arm, row in enumerate(rewards):
        try:
            values = np.asarray(row, np.float64)
        except (TypeError, ValueError):
            values = np.array(np.nan)
        if values.ndim != 1 or not np.isfinite(values).all():
            raise InputError(
                f"trace: the rewards of arm {arm} must be a row of finite numbers, got {row!r:.80}"
            )
        rows.append(values)
    return tuple(rows)

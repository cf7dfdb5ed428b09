"""The front door: ``simulate`` and ``trace``, and what they return."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lowregret._common.validation import LONGEST, recording_times, seed_of, whole
from lowregret.analysis.summary import curve_table, run_table, summary_table
from lowregret.engine import reference
from lowregret.engine.cpu import Outcome, Trace, trace_of
from lowregret.engine.cpu import simulate as simulate_runs
from lowregret.engine.cpu import trace as trace_run
from lowregret.engine.rewards import GIVEN
from lowregret.engine.state import Floats, Integers, rows_of_table
from lowregret.environments import Bandit, Bernoulli, environment
from lowregret.errors import InputError
from lowregret.policies import Policy, clock_at
from lowregret.policies.inputs import clips, policies_of, policy_of

if TYPE_CHECKING:
    import altair
    import polars

    from lowregret.results.tables import Frames


@dataclass(frozen=True)
class Result:
    """What a simulation gave, by policy; a policy is named as printed, or given itself.

    Attributes
    ----------
    bandit : Bandit
        The environment.
    horizon, runs, seed : int
        The size of the simulation and its seed.
    outcomes : dict of str to Outcome
        The raw arrays of every policy.
    notes : dict of str to str
        What was done to the rewards before a policy saw them; empty where nothing was.
    """

    bandit: Bandit
    horizon: int
    runs: int
    seed: int
    outcomes: dict[str, Outcome]
    notes: dict[str, str]

    def __getitem__(self, policy: Policy | str) -> Outcome:
        """Give the raw arrays of one policy."""
        if str(policy) not in self.outcomes:
            raise InputError(f"no policy {str(policy)!r} in this result: it has {', '.join(self.outcomes)}")
        return self.outcomes[str(policy)]

    def regret(self, policy: Policy | str) -> Floats:
        """Give the final pseudo-regret of every run."""
        return self[policy].regret[:, -1]

    def pulls(self, policy: Policy | str) -> Integers:
        """Give the number of pulls, one row per run and one column per arm."""
        return self[policy].pulls

    def eliminated(self, policy: Policy | str) -> Integers | None:
        """Give when each arm was dropped (0 for never), or None for a policy that drops none."""
        return self[policy].eliminated

    def optimal_arm_eliminated(self, policy: Policy | str) -> int | None:
        """Count the runs in which no optimal arm was left at the end."""
        times = self[policy].eliminated
        return None if times is None else int((times[:, self.bandit.optimal] > 0).all(axis=1).sum())

    def curve(self, policy: Policy | str | None = None) -> polars.DataFrame:
        """Give the regret over time: mean, standard error, median and quantiles at each grid time."""
        chosen = self.outcomes if policy is None else {str(policy): self[policy]}
        return curve_table({name: (outcome.grid, outcome.regret) for name, outcome in chosen.items()})

    def to_polars(self) -> polars.DataFrame:
        """Give the regret of every policy and run at each grid time, one row each."""
        return run_table({name: (o.grid, o.regret) for name, o in self.outcomes.items()})

    def tables(self) -> Frames:
        """Give the result as the tables that analysis and report work on."""
        from lowregret.results.from_simulation import frames

        return frames(self.bandit, self.seed, self.outcomes)

    def summary(self) -> polars.DataFrame:
        """Give a table of the final regrets: mean, standard error, median, quantiles, time per step."""
        table = summary_table({name: self.regret(name) for name in self.outcomes})
        steps = self.runs * self.horizon
        return table.with_columns(
            optimal_arm_eliminated=_column([self.optimal_arm_eliminated(n) for n in self.outcomes], int),
            ns_per_step=_column([1e9 * o.seconds / steps for o in self.outcomes.values()], float),
        )

    def plot(self) -> altair.LayerChart:
        """Draw the mean regret over time, with bands from the 5% to the 95% quantile."""
        from lowregret.report.curve_charts import regret_chart

        return regret_chart(self.curve(), self.bandit.name)

    def to_dict(self) -> dict[str, Any]:
        """Give the result as plain data, as ``lowregret simulate --json`` prints it."""
        return {
            "environment": self.bandit.name,
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
            "policies": [self._policy_dict(name) for name in self.outcomes],
        }

    def _policy_dict(self, name: str) -> dict[str, Any]:
        outcome = self.outcomes[name]
        row = self.summary().filter(policy=name).to_dicts()[0]
        return {
            "policy": name,
            "note": self.notes[name],
            "regret": {key: row[key] for key in ("mean", "se", "median", "p05", "p95")},
            "curve": {"t": outcome.grid.tolist(), "mean": outcome.regret.mean(axis=0).tolist()},
            "optimal_arm_eliminated": self.optimal_arm_eliminated(name),
            "steps": self.runs * self.horizon,
            "seconds": outcome.seconds,
            "threads": outcome.threads,
        }


def simulate(
    policies: Policy | str | Iterable[Policy | str],
    bandit: Bandit | str,
    horizon: int | None = None,
    runs: int = 100,
    seed: int = 0,
    *,
    grid: int | Sequence[int] = 200,
    clip: bool = False,
    threads: int | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> Result:
    """Simulate policies on a bandit.

    The n-th pull of an arm in run r gives the same reward to every policy, so that policies can be
    compared in pairs. A run depends on the seed and its number alone: not on threads, nor on how
    many runs there are.

    Parameters
    ----------
    policies : Policy or str, or several
        What to simulate: policies or their names, such as ``"UCB1(alpha=1)"``.
    bandit : Bandit or str
        What to play on: a bandit, or a text such as ``"paper-1"`` or ``"bernoulli:0.1,0.2"``.
    horizon : int, optional
        The number of pulls in a run; the bandit's own if it has one.
    runs : int, default 100
        The number of independent runs.
    seed : int, default 0
        From 0 to 2^64 - 1.
    grid : int or sequence of int, default 200
        At how many evenly spaced times to record the regret, or at which.
    clip : bool, default False
        Let policies that need rewards in [0, 1] see them clipped to it; else such a policy is refused where
        rewards may lie outside. Regret is always that of the bandit as it is.
    threads : int, optional
        How many threads share the runs; one per core if not given.
    progress : callable, optional
        Called as ``progress(policy, runs)`` when a policy starts (0 runs) and as its runs finish.

    Returns
    -------
    Result
        Regret, pulls and eliminations of every policy.

    Examples
    --------
    >>> import lowregret as lr
    >>> bandit = lr.bernoulli([0.07] * 19 + [0.10])
    >>> result = lr.simulate([lr.EUCBV(), lr.RoundRobin()], bandit, horizon=2_000, runs=10, seed=1)
    >>> result.regret("RoundRobin").mean().round(6).item()
    57.0
    >>> result.pulls(lr.EUCBV()).shape
    (10, 20)
    """
    bandit = environment(bandit)
    if horizon is None:
        horizon = bandit.horizon
    if horizon is None:
        raise InputError(f"simulate: give a horizon, since {bandit.name!r} has none of its own")
    horizon = whole("simulate", "horizon", horizon, LONGEST)
    runs = whole("simulate", "runs", runs)
    seed = seed_of(seed)
    threads = None if threads is None else whole("simulate", "threads", threads)
    times = _grid(grid, horizon)
    chosen = policies_of("simulate", policies)
    clipped = {}
    for name, policy in chosen.items():
        policy.validate_problem(clock_at(0, horizon, len(bandit), 0.0))
        clipped[name] = clips(policy, bandit.support, repr(bandit.name), clip)
    outcomes, notes = {}, {}
    for name, policy in chosen.items():
        report = partial(progress, name) if progress else None
        if report:
            report(0)
        outcomes[name] = simulate_runs(
            policy, bandit, horizon, runs, seed, times, threads, report, clipped[name]
        )
        notes[name] = _note(policy, bandit, clipped[name])
    return Result(bandit, horizon, runs, seed, outcomes, notes)


def trace(
    policy: Policy | str,
    rewards: Sequence[Sequence[float]] | Floats,
    horizon: int | None = None,
    seed: int = 0,
    *,
    clip: bool = False,
    engine: Literal["compiled", "reference"] = "compiled",
) -> Trace:
    """Play one run of a policy on given rewards and record every step.

    Arms keep the given order, and a tie goes to the first of them.

    Parameters
    ----------
    policy : Policy or str
        The policy.
    rewards : sequence of sequences of float
        One row per arm, which may differ in length; entry n is the reward of the arm's n-th pull.
    horizon : int, optional
        The number of steps; as many as there are rewards if not given.
    seed : int, default 0
        The seed of the policy's own draws, if it has any.
    clip : bool, default False
        Let policies that need rewards in [0, 1] see them clipped to it.
    engine : {"compiled", "reference"}, default "compiled"
        Which engine plays; both give the same.

    Returns
    -------
    Trace
        ``arm`` of every step, and for a policy that drops arms the ``round`` and the number of ``active``
        arms after it.

    Examples
    --------
    >>> import lowregret as lr
    >>> lr.trace(lr.RoundRobin(), [[1, 0, 1], [0, 0]], horizon=5).arm.tolist()
    [0, 1, 0, 1, 0]
    """
    policy, seed = policy_of(policy), seed_of(seed)
    rows, data = rows_of_table(_rewards(rewards), GIVEN, policy)
    clip = clips(policy, (data.min(initial=0.0), data.max(initial=0.0)), "the table", clip)
    horizon = whole("trace", "horizon", len(data) if horizon is None else horizon, LONGEST)
    if engine == "compiled":
        return trace_run(policy, rows, data, horizon, seed, clip=clip)
    if engine == "reference":
        played = reference.play(policy, rows, data, horizon, reference.policy_rng(seed, 0), clip)
        return trace_of(policy, *played[:3])
    raise InputError(f"trace: engine must be 'compiled' or 'reference', got {engine!r}")


def _note(policy: Policy, bandit: Bandit, clips: bool) -> str:
    """Say what was done to the rewards before a policy saw them."""
    notes = ["rewards clipped to [0, 1]"] if clips else []
    coins = all(
        isinstance(arm, Bernoulli) and {arm.failure, arm.success} <= {0.0, 1.0} for arm in bandit.arms
    )
    if policy.overrides("transform_reward") and not coins:
        notes.append("a reward between 0 and 1 counted as a success with that probability")
    return "; ".join(notes)


def _grid(grid: int | Sequence[int], horizon: int) -> Integers:
    """Give the times at which the regret is recorded, the horizon always among them."""
    if isinstance(grid, int | np.integer):
        return np.array(recording_times(horizon, whole("simulate", "grid", grid)), np.int64)
    if not isinstance(grid, Iterable):
        raise InputError(f"simulate: grid must be a whole number or a list of times, got {grid!r}")
    times = sorted({whole("simulate", "a time of the grid", time, horizon) for time in grid} | {horizon})
    return np.array(times, np.int64)


def _rewards(rewards: Sequence[Sequence[float]] | Floats) -> list[Floats]:
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
    return rows


def _column(values: list[Any], kind: type[int] | type[float]) -> polars.Series:
    import polars

    return polars.Series(values, dtype=polars.Int64 if kind is int else polars.Float64)

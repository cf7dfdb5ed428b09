"""``replay``: estimate the mean reward of policies from a log of another policy."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
import polars as pl

from lowregret._common.arrays import Floats, Integers
from lowregret._common.forks import check_threads
from lowregret._common.log_tables import LogSource
from lowregret._common.progress import Report, counter, reporting
from lowregret._common.terminal_text import notes_lines, wrapped
from lowregret._common.text import count, unknown_name_message
from lowregret._common.user_calls import user_call
from lowregret._common.validation import MAX_HORIZON, integer, seed_of, short_repr
from lowregret.engine.backends import log_replay as engine
from lowregret.engine.kernels.log_replay import LogArrays
from lowregret.engine.problem import Control
from lowregret.errors import InputError
from lowregret.offline.estimators import Estimate, doubly_robust, ips, snips
from lowregret.offline.log import Log, read_log
from lowregret.policies import Policy, clock_at
from lowregret.policies.inputs import clips, policies_of, reward_note

LOG_RESAMPLES = 200
"""The number of resamples of the log for a standard error, which then has an error of about 5%."""

MIN_MATCHES = 30
"""The fewest matched rows for a standard error; with fewer it is unreliable for rare rewards."""

ESTIMATE = {"policy": str, "method": str, "matched": int} | dict.fromkeys(
    ("mean", "se", "low", "high"), float
)


@dataclass(frozen=True, repr=False)
class Replay:
    """The estimates of a replay, by policy; index it with a policy or its name.

    Attributes
    ----------
    log : Log
        The log as it was read; ``log.arms`` names the arms in the order of their numbers.
    horizon, seed : int
        The number of matched rows after which a replay ended at the latest, and the seed.
    estimates : dict of str to dict of str to Estimate
        The estimates of every policy, by method.
    events : dict of str to array
        The rows of the log that matched, in their order.
    resampled : dict of str to array
        The mean reward in each resample of the log, nan where nothing matched. Resample b is the same for
        every policy, so that policies can be compared in pairs.
    notes : dict of str to str
        How rewards were changed for a policy, and whether its source assumes others; empty where neither.

    Examples
    --------
    >>> log = {"arm": ["a", "b", "c"] * 200, "reward": [0, 1, 0] * 200}
    >>> result = lr.replay(log, lr.FixedArm(1), resamples=0)
    >>> result
    Replay('the log': 1 policy, 600 rows, horizon 200, seed 0)
    >>> result.summary().select("method", "mean").rows()[:3]
    [('replay', 1.0), ('IPS', 1.0), ('SNIPS', 1.0)]
    >>> result.arms().filter(method="SNIPS").select("arm", "mean").rows()
    [('a', 0.0), ('b', 1.0), ('c', 0.0)]
    >>> result.to_dict()["rows"]
    600
    """

    log: Log
    horizon: int
    seed: int
    estimates: dict[str, dict[str, Estimate]]
    events: dict[str, Integers]
    resampled: dict[str, Floats]
    notes: dict[str, str]

    def __repr__(self) -> str:
        sizes = count(len(self.estimates), "policy", "policies"), count(len(self.log.arm), "row")
        return f"Replay({self.log.name!r}: {', '.join(sizes)}, horizon {self.horizon:,}, seed {self.seed})"

    def __str__(self) -> str:
        """Return the table of the estimates, what was replayed, and the notes on policies."""
        from lowregret.reporting.text_tables import replay_table

        log = self.log
        kind = "with propensities" if log.has_propensities else "assumed uniform"
        size = f"{len(log.arm):,} rows, {len(log.arms):,} arms, {kind}"
        words = f"{log.name}: {size}, horizon {self.horizon:,}, seed {self.seed}"
        lines = [replay_table(self.summary()), wrapped(words)]
        if not log.used.all():
            rows = count(int((~log.used).sum()), "row")
            lines.append(wrapped(f"{rows} of propensity 1 not used: no other arm could be chosen"))
        return "\n".join([*lines, *notes_lines(self.notes)])

    def __getitem__(self, policy: Policy | str) -> dict[str, Estimate]:
        """Return the estimates of one policy, by method."""
        if str(policy) not in self.estimates:
            has = f"this replay has {', '.join(self.estimates)}"
            raise InputError(unknown_name_message("policy", str(policy), self.estimates, has))
        return self.estimates[str(policy)]

    def summary(self) -> pl.DataFrame:
        """Return the estimates as a table.

        Returns
        -------
        polars.DataFrame
            The columns are policy, method, matched rows, mean reward, standard error and 95% interval.
        """
        rows = [
            {"policy": name, "method": method, **_row(estimate)}
            for name, methods in self.estimates.items()
            for method, estimate in methods.items()
        ]
        return pl.DataFrame(rows, schema=ESTIMATE)

    def arms(self) -> pl.DataFrame:
        """Estimate the mean reward of every arm by IPS, SNIPS and DR.

        Returns
        -------
        polars.DataFrame
            The columns are the number and the name of the arm, and those of ``summary``.
        """
        rows = []
        for number, arm in enumerate(self.log.arms):
            shares = np.zeros(len(self.log.arms))
            shares[number] = 1.0
            for method, estimate in by_propensity(self.log, shares).items():
                rows.append({"number": number, "arm": arm, "method": method, **_row(estimate)})
        schema = {"number": int, "arm": str} | {name: ESTIMATE[name] for name in list(ESTIMATE)[1:]}
        return pl.DataFrame(rows, schema=schema)

    def to_dict(self) -> dict[str, Any]:
        """Return the replay as plain data, as ``lowregret replay --json`` prints it."""
        return {
            "log": self.log.name,
            "rows": len(self.log.arm),
            "arms": list(self.log.arms),
            "propensity": self.log.has_propensities,
            "rows_not_used": int((~self.log.used).sum()),
            "horizon": self.horizon,
            "seed": self.seed,
            "estimates": self.summary().to_dicts(),
            "notes": {name: note for name, note in self.notes.items() if note},
        }


@user_call
def replay(
    log: LogSource,
    policies: Policy | str | Iterable[Policy | str],
    horizon: int | None = None,
    seed: int = 0,
    *,
    resamples: int = LOG_RESAMPLES,
    clip: bool = False,
    threads: int | None = None,
    progress: bool | Report = True,
) -> Replay:
    """Estimate the mean reward of policies from a log of another policy.

    Every policy is replayed on the log (Li, Chu, Langford and Wang 2011). It chooses an arm, and rows of
    other arms are skipped until one has that arm. This row matches: the policy observes its reward, learns
    from it and chooses again. If the arms of the log were chosen uniformly at random, the matched rows are
    distributed as in live play, so their mean is unbiased. If the log has a column ``propensity``, the
    probability p with which the arm of the row was chosen, a row is accepted only with probability c / p, c
    the smallest p of the log: the accepted rows are those of a uniform log.

    For a policy that does not learn and keeps its arms (RoundRobin, FixedArm) there are also the estimates by
    inverse propensity, ``IPS``, ``SNIPS`` and ``DR``, which use every row of its arms.

    Rows of propensity 1 are not used, since no other arm could be chosen in them. If there are no others, the
    log is refused. There is a warning if the mean of 1{arm = a} / p is not about 1 for every arm a.

    Parameters
    ----------
    log : path, polars.DataFrame or mapping
        A .csv or .parquet file, or a table, with columns ``arm`` (strings or numbers), ``reward`` and, if the
        arms were not chosen uniformly, ``propensity``; one row per pull, in their order.
    policies : Policy or str, or several
        The policies to evaluate, or their names, such as ``"UCB1(alpha=1)"``.
    horizon : int, optional
        The number of matched rows after which a replay ends, and the horizon of the policies that need one.
        By default the expected number of matches: c times the number of rows, rows / K for a uniform log.
    seed : int, default 0
        Determines the resamples, the accepted rows, how ties are broken, and the random numbers of policies.
    resamples : int, default 200
        The number of resamples of the log for the standard error, which needs at least 30 matches; 0 for no
        standard error.
    clip : bool, default False
        Whether to clip rewards to [0, 1] for policies that need that; otherwise such a policy is an error if
        a reward lies outside. The mean reward is always that of the unclipped log.
    threads : int, optional
        The number of threads; one per core by default.
    progress : bool or callable, default True
        Whether to say on standard error what is done, or a function that is called with a `Progress`.

    Returns
    -------
    Replay
        Estimates of the mean reward with 95% intervals, ``summary()`` as a table.

    Raises
    ------
    InputError
        If the log cannot be read, lacks a column or has a value that is not allowed; if all its propensities
        are 1; if a policy is unknown, or needs rewards in [0, 1] and the log has others.

    Examples
    --------
    >>> log = {"arm": ["a", "b", "c"] * 200, "reward": [0, 1, 0] * 200}
    >>> result = lr.replay(log, [lr.UCB1(), lr.FixedArm(1)], seed=1)
    >>> result.horizon
    200
    >>> result["FixedArm(arm=1)"]["SNIPS"]
    Estimate(matched=200, mean=1.0, se=0.0)
    """
    check_threads("replay")
    read, seed = read_log(log), seed_of(seed)
    resamples = integer("replay", "resamples", resamples, least=0)
    threads = None if threads is None else integer("replay", "threads", threads)
    size, chosen = len(read.arms), policies_of("replay", policies)
    if horizon is None:
        horizon = max(round(read.least * int(read.used.sum())), 1)
    horizon = integer("replay", "horizon", horizon, MAX_HORIZON)
    clipped = {}
    for name, policy in chosen.items():
        policy.validate_problem(clock_at(0, horizon, size, 0.0))
        clipped[name] = clips(policy, read.support, read.name, clip)
    _warn_of(read)
    binary = not bool(((read.reward > 0) & (read.reward < 1)).any())
    log_arrays = LogArrays(read.arm, read.reward, np.where(read.used, read.least / read.propensity, 0.0))
    estimates, events, resampled, notes = {}, {}, {}, {}
    with reporting(progress) as report:
        advance = counter(report, len(chosen) * (resamples + 1), "replays")
        for name, policy in chosen.items():
            advance(name, 0)
            control = Control(threads, partial(advance, name))
            replayed = engine.replay(
                policy, log_arrays, size, horizon, resamples, seed, clipped[name], control
            )
            with np.errstate(invalid="ignore"):
                resampled[name] = replayed.total[1:] / replayed.matched[1:]
            events[name] = replayed.events
            estimate = _replay_estimate(read, replayed.events, resampled[name])
            estimates[name] = {"replay": estimate} | _fixed(policy, read)
            notes[name] = reward_note(policy, read.support, clipped[name], binary)
    return Replay(read, horizon, seed, estimates, events, resampled, notes)


def _replay_estimate(log: Log, events: Integers, resampled: Floats) -> Estimate:
    """Return the mean of the matched rewards; its error is that of the resamples in which a row matched."""
    means, matched = resampled[np.isfinite(resampled)], len(events)
    mean = float(log.reward[events].mean()) if matched else None
    reliable = matched >= MIN_MATCHES and len(means) > 1
    return Estimate(matched, mean, float(means.std(ddof=1)) if reliable else None)


def _fixed(policy: Policy, log: Log) -> dict[str, Estimate]:
    """Estimate a policy by inverse propensity if its shares are known beforehand."""
    changes = policy.overrides("next_round") or policy.overrides("lower_bound")
    if policy.learns or not policy.round_robin or changes:
        return {}
    plays = np.array([policy.initially_active(number) for number in range(len(log.arms))])
    return by_propensity(log, plays / plays.sum())


def by_propensity(log: Log, shares: Floats) -> dict[str, Estimate]:
    """Estimate the mean reward of a fixed share of each arm, by method."""
    arm, propensity, reward = log.arm[log.used], log.propensity[log.used], log.reward[log.used]
    weight = shares[arm] / propensity
    with np.errstate(over="ignore", invalid="ignore"):
        estimates = {
            "IPS": ips(weight, reward),
            "SNIPS": snips(weight, reward),
            "DR": doubly_robust(shares, arm, propensity, reward),
        }
    return {method: _without_overflow(estimate) for method, estimate in estimates.items()}


def _without_overflow(estimate: Estimate) -> Estimate:
    """Return an estimate without the numbers that are too large for a float."""
    matched, *numbers = estimate
    return Estimate(matched, *(None if x is None or not isfinite(x) else x for x in numbers))


def _row(estimate: Estimate) -> dict[str, Any]:
    low, high = estimate.interval or (None, None)
    return {**estimate._asdict(), "low": low, "high": high}


def _warn_of(log: Log) -> None:
    """Warn of a log whose propensities are doubtful, or which has none and is not uniform."""
    arm = log.doubtful() if log.has_propensities else None
    if arm is not None:
        name, mean = short_repr(log.arms[arm]), log.inverse_means()[arm]
        warnings.warn(
            f"replay: the mean of 1{{arm = {name}}} / propensity in {log.name} is {mean:.3g}, not about 1: "
            f"propensities are wrong, or {name} could hardly be chosen in many rows; estimates are biased; "
            "log with each row the probability that its arm had when it was chosen",
            stacklevel=3,
        )
    if log.has_propensities or not log.uneven():
        return
    counts = log.counts()
    most, least = counts.argmax(), counts.argmin()
    warnings.warn(
        f"replay: the arms of {log.name} were not chosen uniformly: {counts[most]} rows have "
        f"{short_repr(log.arms[most])}, {counts[least]} have {short_repr(log.arms[least])}; without a column "
        "propensity its estimates may be biased",
        stacklevel=3,
    )

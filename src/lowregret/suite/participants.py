"""Which policies play on a testbed, with which parameters, and how many runs."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from lowregret._common.durable_files import as_store_error, read_json, write_atomically
from lowregret.engine.backends import Engine, unsupported_reason
from lowregret.engine.problem import Problem
from lowregret.engine.start import first_round
from lowregret.environments import Bandit
from lowregret.errors import InputError
from lowregret.experiments.forecast import StepTime, measure_step
from lowregret.experiments.spec import Experiment
from lowregret.policies import POLICIES, Policy
from lowregret.policies.base import fields_of
from lowregret.policies.inputs import clips, reward_note
from lowregret.suite.league_testbeds import Testbed, common_variance

DIVISORS = (1, 2, 5, 10, 20, 50, 100)
MIN_LEAGUE_RUNS = 4
MAX_EXCESS = 3.0
"""A policy that takes this many times its share of the time even with the fewest runs is left out."""


class LeagueSize(NamedTuple):
    """How much is simulated: steps and CPU seconds for a policy on a testbed, and limits on the runs."""

    steps: int
    seconds: float
    min_runs: int
    max_runs: int


SIZES = {
    "quick": LeagueSize(4_000_000, 0.4, 20, 200),
    "standard": LeagueSize(20_000_000, 8.0, 100, 2_000),
    "full": LeagueSize(200_000_000, 60.0, 1_000, 20_000),
}


class Participant(NamedTuple):
    """A policy that takes part: its name in tables, the policy, and what an experiment loads it from.

    ``own`` says that a user added it.
    """

    name: str
    policy: Policy
    loaded_from: Policy | str
    own: bool = False


class PlannedRuns(NamedTuple):
    """A policy on a testbed; ``runs`` is 0 and ``note`` says why where it does not play.

    ``loaded_from`` is what the experiment loads, and ``label`` the name of the policy in its results.
    """

    participant: Participant
    loaded_from: Policy | str | None
    label: str
    runs: int
    note: str


def participants(
    own: Iterable[Policy | str] = (), policies: Iterable[Policy | str] | None = None
) -> list[Participant]:
    """Return the policies that take part: those given, or all of the package that learn, and a user's own."""
    if policies is None:
        policies = [
            name
            for name, kind in POLICIES.items()
            if kind.learns
            and not kind.identifies
            and all(hasattr(kind, field.name) for field in fields_of(kind))
        ]
    players = [*map(_participant, policies), *(_participant(policy)._replace(own=True) for policy in own)]
    for name, times in Counter(player.name for player in players).items():
        if times > 1:
            raise InputError(f"league: two policies are called {name}: rename yours, or leave it out")
    return players


def _participant(policy: Policy | str) -> Participant:
    experiment = Experiment(environments="bernoulli:0.5,0.6", policies=[policy], horizon=100_000)
    loaded = experiment.resolved_policies[0].policy
    return Participant(str(loaded), loaded, policy)


def assignments(
    bed: Testbed, players: Sequence[Participant], size: LeagueSize, costs: Costs, engine: Engine = "compiled"
) -> list[PlannedRuns]:
    """Return how every policy plays on a testbed with an engine."""
    bandit, horizon, runs, assigned = bed.bandit(), bed.horizon, planned_runs(bed.horizon, size), []
    for player in players:
        loaded_from, policy, note = policy_for(player, bandit, horizon)
        reason = unsupported_reason(Problem(policy, bandit, horizon), engine) if policy is not None else note
        if policy is None or reason:
            assigned.append(PlannedRuns(player, None, "", 0, reason))
            continue
        seconds = horizon * costs.of(player, policy, bandit, horizon)
        allowed = affordable_runs(runs, seconds, size.seconds)
        reason = note if allowed else f"a run would take {seconds:.2g} s"
        assigned.append(PlannedRuns(player, loaded_from, str(policy), allowed, reason))
    return assigned


def policy_for(
    player: Participant, bandit: Bandit, horizon: int
) -> tuple[Policy | str | None, Policy | None, str]:
    """Return what an experiment loads, the policy, and a note; the policy is None where it cannot play.

    A policy that needs the variance is given it where all arms are Gaussian with the same one.
    """
    loaded_from, policy = player.loaded_from, player.policy
    if "known variance" in policy.needs:
        variance = common_variance(bandit)
        if variance is None or not any(field.name == "variance" for field in fields_of(policy)):
            return None, None, "needs a known variance"
        loaded_from = policy = replace(policy, variance=variance)  # type: ignore[type-var]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            clips(policy, bandit.support, "", clip=False)
        except InputError:
            return None, None, "needs rewards in [0, 1]"
        try:
            first_round(policy, len(bandit), horizon)
        except InputError as error:
            return None, None, str(error)
    notes = [reward_note(policy, bandit.support, clipped=False, binary=bandit.binary)]
    notes += [str(warning.message) for warning in caught]
    return loaded_from, policy, "; ".join(note for note in notes if note)


def planned_runs(horizon: int, size: LeagueSize) -> int:
    """Return the number of runs on a testbed: about as many as its steps allow, as 1, 2 or 5 times 10^k."""
    limit = min(max(size.steps // horizon, size.min_runs), size.max_runs)
    power = int(10 ** (len(str(limit)) - 1))
    return max(size.min_runs, *(factor * power for factor in (1, 2, 5) if factor * power <= limit))


def affordable_runs(runs: int, seconds: float, share: float) -> int:
    """Return how many of the runs, of so many seconds each, a policy may take; 0 where it is too slow."""
    for divisor in DIVISORS:
        fewer = max(runs // divisor, min(MIN_LEAGUE_RUNS, runs))
        if fewer * seconds <= share:
            return fewer
    return fewer if fewer * seconds <= MAX_EXCESS * share else 0


class Costs:
    """CPU seconds of a step by policy and number of arms, measured once and kept in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.measured: dict[str, StepTime] = {}
        with suppress(ValueError, TypeError):  # not ours: measured again
            self.measured = {
                name: StepTime(float(a), int(b), float(c)) for name, (a, b, c) in read_json(path).items()
            }

    def of(self, player: Participant, policy: Policy, bandit: Bandit, horizon: int) -> float:
        """Return the mean seconds of a step in a run of so many steps."""
        name = _cost_key(player, len(bandit))
        if name not in self.measured:
            self.measured[name] = measure_step(Problem(policy, bandit, horizon))
        return self.measured[name].seconds_at(horizon)

    def known(self, player: Participant, arms: int) -> float:
        """Return the seconds of a step with so many arms, 0 where none was measured."""
        key = _cost_key(player, arms)
        return self.measured[key].seconds if key in self.measured else 0.0

    def save(self) -> None:
        """Write the file."""
        with as_store_error(self.path.parent):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, (json.dumps(self.measured, indent=1) + "\n").encode())


def _cost_key(player: Participant, arms: int) -> str:
    return f"{player.name}, {arms} arms"


def group_by_runs(assigned: Iterable[PlannedRuns]) -> Mapping[int, list[PlannedRuns]]:
    """Group the assignments with runs by their number of runs, the fewest first: these are the slow ones."""
    groups: dict[int, list[PlannedRuns]] = {}
    for assignment in sorted(assigned, key=lambda assignment: assignment.runs):
        if assignment.runs:
            groups.setdefault(assignment.runs, []).append(assignment)
    return groups

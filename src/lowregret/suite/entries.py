"""Which policies play on a testbed, with which parameters, and how many runs."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from lowregret._common.durable_files import as_store_error, write_atomically
from lowregret.engine.cpu import simulate
from lowregret.engine.state import first_round
from lowregret.environments import Bandit
from lowregret.errors import InputError
from lowregret.experiments.spec import Experiment
from lowregret.policies import POLICIES, Policy
from lowregret.policies.base import fields_of
from lowregret.policies.inputs import clips, reward_note
from lowregret.suite.testbeds import common_variance

VARIANTS = ("MOSSV(anytime=True)",)
"""Policies with other parameters than the defaults that take part as well."""

FAMILY_MODULES = ("bayesucb", "change_detection", "divergence", "expts", "klucb", "thompson")
"""The modules of policies that are derived from the likelihood of a reward family."""
FAMILY_POLICIES = ("DiscountedThompson", "UCBNormal")
"""Such policies in other modules."""

TRIALS = (1_500, 5_000, 15_000, 50_000)
"""About how many steps are simulated to measure the time of a step."""
LONG_TRIAL = 0.1
"""After a measurement of so many seconds no longer one is made."""
DIVISORS = (1, 2, 5, 10, 20, 50, 100)
LEAST_RUNS = 4
PATIENCE = 3.0
"""A policy that takes this many times its share of the time even with the fewest runs is left out."""


class Size(NamedTuple):
    """How much is simulated: steps and CPU seconds for a policy on a testbed, and limits on the runs."""

    steps: int
    seconds: float
    least: int
    most: int


SIZES = {
    "quick": Size(4_000_000, 0.4, 20, 200),
    "standard": Size(20_000_000, 8.0, 100, 2_000),
    "full": Size(200_000_000, 60.0, 1_000, 20_000),
}
"""The sizes of the league."""


class Entrant(NamedTuple):
    """A policy that takes part: its name in tables, the policy, and what an experiment loads it from.

    ``own`` says that a user added it.
    """

    name: str
    policy: Policy
    entry: Any
    own: bool = False

    @property
    def knows_family(self) -> bool:
        """Whether the policy is derived from the likelihood of a reward family."""
        module = type(self.policy).__module__.rpartition(".")[2]
        named = module in FAMILY_MODULES or type(self.policy).__name__ in FAMILY_POLICIES
        return named or "known variance" in self.policy.needs


class Entry(NamedTuple):
    """A policy on a testbed; ``runs`` is 0 and ``note`` says why where it does not play."""

    entrant: Entrant
    entry: Any
    played: str
    runs: int
    note: str


def entrants(
    own: Iterable[Policy | str] = (), policies: Iterable[Policy | str] | None = None
) -> list[Entrant]:
    """Return the policies that take part: those given, or all of the package that learn, and a user's own."""
    names = [
        name
        for name, kind in POLICIES.items()
        if kind.learns and all(hasattr(kind, field.name) for field in fields_of(kind))
    ]
    given: list[Policy | str] = [*names, *VARIANTS] if policies is None else list(policies)
    found = [_entrant(each) for each in given] + [_entrant(each)._replace(own=True) for each in own]
    for entrant in found:
        if sum(each.name == entrant.name for each in found) > 1:
            raise InputError(f"league: two policies are called {entrant.name}: rename yours, or leave it out")
    return found


def _entrant(given: Policy | str) -> Entrant:
    experiment = Experiment(environments="bernoulli:0.5,0.6", policies=[given], horizon=100_000)
    policy = experiment.players[0].policy
    return Entrant(str(policy), policy, given)


def entries(
    bandit: Bandit, horizon: int, runs: int, entrants: Sequence[Entrant], size: Size, costs: Costs
) -> list[Entry]:
    """Return how every policy plays on a bandit."""
    found = []
    for entrant in entrants:
        entry, policy, note = suited(entrant, bandit, horizon)
        if policy is None:
            found.append(Entry(entrant, None, "", 0, note))
            continue
        allowed = affordable(runs, horizon * costs.of(entrant, policy, bandit, horizon), size.seconds)
        reason = (
            note
            if allowed
            else f"a run would take {horizon * costs.of(entrant, policy, bandit, horizon):.2g} s"
        )
        found.append(Entry(entrant, entry, str(policy), allowed, reason))
    return found


def suited(entrant: Entrant, bandit: Bandit, horizon: int) -> tuple[Any, Policy | None, str]:
    """Return what an experiment loads, the policy, and a note; the policy is None where it cannot play.

    A policy that needs the variance is given it where all arms are Gaussian with the same one.
    """
    entry, policy = entrant.entry, entrant.policy
    if "known variance" in policy.needs:
        variance = common_variance(bandit)
        if variance is None or not any(field.name == "variance" for field in fields_of(policy)):
            return None, None, "needs a known variance"
        entry = policy = replace(policy, variance=variance)  # type: ignore[type-var]
    with warnings.catch_warnings(record=True) as said:
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
    notes += [str(warning.message) for warning in said]
    return entry, policy, "; ".join(note for note in notes if note)


def planned_runs(horizon: int, size: Size) -> int:
    """Return the number of runs on a testbed: about as many as its steps allow, as 1, 2 or 5 times 10^k."""
    most = min(max(size.steps // horizon, size.least), size.most)
    power = int(10 ** (len(str(most)) - 1))
    return max(size.least, *(factor * power for factor in (1, 2, 5) if factor * power <= most))


def affordable(runs: int, seconds: float, share: float) -> int:
    """Return how many of the runs, of so many seconds each, a policy may take; 0 where it is too slow."""
    for divisor in DIVISORS:
        fewer = max(runs // divisor, min(LEAST_RUNS, runs))
        if fewer * seconds <= share:
            return fewer
    return fewer if fewer * seconds <= PATIENCE * share else 0


class Costs:
    """CPU seconds of a step by policy and number of arms, measured once and kept in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, tuple[float, int, float]] = {}
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            self.known = {str(name): (float(a), int(b), float(c)) for name, (a, b, c) in known.items()}
        except (OSError, ValueError, AttributeError, TypeError):  # not there, or not ours: measured again
            pass

    def of(self, entrant: Entrant, policy: Policy, bandit: Bandit, horizon: int) -> float:
        """Return the mean seconds of a step in a run of so many steps."""
        name = f"{entrant.name}, {len(bandit)} arms"
        if name not in self.known:
            self.known[name] = _measured(policy, bandit, horizon)
        seconds, steps, growth = self.known[name]
        return float(seconds * max(horizon / steps, 1.0) ** growth)

    def save(self) -> None:
        """Write the file."""
        with as_store_error(self.path.parent):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, (json.dumps(self.known, indent=1) + "\n").encode())


def _measured(policy: Policy, bandit: Bandit, horizon: int) -> tuple[float, int, float]:
    """Measure the seconds of a step after the policy is compiled, in longer and longer runs.

    Return the last measurement, the length of its runs, and the exponent with which the time of a step grows,
    as it does for a policy that looks at all past rewards. Other work on the machine adds to the time on the
    clock, and the start of a simulation to the time of the CPU, so the smaller is nearer to the truth.
    """
    few = min(horizon, 2 * len(bandit))
    lengths = sorted({min(horizon, max(trial, few)) for trial in (few, *TRIALS)})
    found: list[tuple[float, int]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulate(policy, bandit, few, 1, 0, np.array([few]), threads=1)  # compiles
        for steps in lengths:
            runs = max(TRIALS[-1] // steps, 1) if steps == horizon else 1
            start = process_time()
            outcome = simulate(policy, bandit, steps, runs, 0, np.array([steps]), threads=1)
            seconds = min(process_time() - start, outcome.seconds)
            found.append((seconds / (steps * runs), steps))
            if seconds > LONG_TRIAL:
                break
    growth = 0.0
    if len(found) > 2:  # the first is too short to show how the time grows
        (before, short), (after, long) = found[-2:]
        growth = min(max(log(max(after, 1e-12) / max(before, 1e-12)) / log(long / short), 0.0), 1.0)
    return *found[-1], growth


def by_runs(entries: Iterable[Entry]) -> Mapping[int, list[Entry]]:
    """Group the entries that play by their number of runs, the fewest first: these are the slow ones."""
    groups: dict[int, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.runs):
        if entry.runs:
            groups.setdefault(entry.runs, []).append(entry)
    return groups

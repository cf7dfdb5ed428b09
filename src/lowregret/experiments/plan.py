"""Cut an experiment into shards, each named by a hash of all that determines its result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from importlib.metadata import version
from itertools import groupby
from typing import Any, TypeAlias

from lowregret.engine.identity import ENGINE as ENGINE_MODULES
from lowregret.engine.identity import module_identity
from lowregret.environments import FAMILIES, Bandit, Delay, DriftingBandit, Family, Sampled
from lowregret.environments.drift import Drift
from lowregret.errors import InputError
from lowregret.experiments.cases import Case, Player
from lowregret.experiments.policy_loading import Reference
from lowregret.experiments.spec import Experiment
from lowregret.policies.base import fields_of
from lowregret.policies.inputs import clips

Group: TypeAlias = tuple[str, tuple[Any, ...], int]
"""Equal arms: the family, its parameters, and how many there are."""


@dataclass(frozen=True)
class ArmGroups:
    """An environment as plain data: groups of equal arms, and a hash of them that stands for all.

    Two are equal if their hashes are. So a worker that was given 20 MB of rewards finds the bandit that it
    made of them before without looking at each.
    """

    sha256: str
    groups: tuple[Group, ...] = field(compare=False, repr=False)
    drift: Drift | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        """How many arms there are."""
        return sum(count for *_, count in self.groups)

    @cached_property
    def numbers(self) -> int:
        """How many numbers describe them."""
        values = (value for _, parameters, _ in self.groups for value in parameters)
        return sum(len(value) if isinstance(value, tuple) else 1 for value in values)


SHARD_STEPS = 20_000_000
"""About how many steps a shard has: a second or so."""

SHARD_NUMBERS = 4_000_000
"""How many numbers the result of a shard holds at most, so that memory stays small."""

FORMAT = 2
"""The layout of a shard's file; a change here gives every shard another name."""


def engine_identity() -> str:
    """Hash what determines results besides the experiment and its policies: the engine and its compiler.

    It is the code that counts, not the text: an edit of a comment leaves stored results as they are.
    """
    parts = FORMAT, version("numba"), module_identity(*ENGINE_MODULES, "lowregret.environments")
    return hashlib.sha256(repr(parts).encode()).hexdigest()


ENGINE = engine_identity()
"""The identity of the engine as it was when this process loaded it."""


@dataclass(frozen=True)
class Shard:
    """A block of runs of one policy on one environment: plain data, and small.

    ``name`` is the hash of all that determines the result; ``policy.file`` is not part of that.
    ``environment`` is the hash of the environment's arms, which may be large, so the plan keeps them once for
    all shards; ``arms`` is their number. ``first`` is the number of the first run, ``times`` is when the
    regret is recorded, and ``engine`` is the identity of the engine.
    """

    name: str
    environment: str
    arms: int
    policy: Reference
    parameters: tuple[tuple[str, Any], ...]
    horizon: int
    first: int
    runs: int
    seed: int
    times: tuple[int, ...]
    clip: bool
    engine: str
    record_rewards: bool = False
    delay: Delay | None = None
    batch: int = 1

    @property
    def steps(self) -> int:
        """How many steps its runs have together."""
        return self.horizon * self.runs


@dataclass(frozen=True)
class Pair:
    """A policy on an environment, by their names, with its shards in the order of runs."""

    environment: str
    policy: str
    shards: tuple[Shard, ...]


@dataclass(frozen=True)
class Plan:
    """All the shards of an experiment, and the environments that they play on by their hashes."""

    experiment: Experiment
    environments: dict[str, ArmGroups]
    pairs: tuple[Pair, ...]

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        """Every shard once, the first runs of all pairs first, so that the time left is judged well."""
        found = {shard.name: shard for pair in self.pairs for shard in pair.shards}
        return tuple(sorted(found.values(), key=lambda shard: shard.first))

    @cached_property
    def name(self) -> str:
        """The hash of what the published tables hold."""
        pairs = [[p.environment, p.policy, *(shard.name for shard in p.shards)] for p in self.pairs]
        return _hash([self.experiment.name, self.experiment.seed, self.experiment.clip, pairs])


def make_plan(experiment: Experiment, shard_steps: int = SHARD_STEPS) -> Plan:
    """Cut an experiment into shards of about so many steps; no result depends on how."""
    pairs = []
    environments: dict[str, ArmGroups] = {}
    for case in experiment.cases:
        arms = group(case.bandit)
        environments[arms.sha256] = arms
        for player in experiment.players_on(case):
            clip = clips(player.policy, case.bandit.support, repr(case.name), experiment.clip)
            blocks = _blocks(case, experiment.runs, shard_steps)
            shards = tuple(_shard(experiment, case, player, arms, clip, *block) for block in blocks)
            pairs.append(Pair(case.name, player.name, shards))
    return Plan(experiment, environments, tuple(pairs))


def _blocks(case: Case, runs: int, shard_steps: int) -> Iterator[tuple[int, int]]:
    """Yield the first run and the number of runs of every block.

    Their size does not depend on the number of runs, so that more runs leave the earlier blocks as they are.
    """
    numbers = len(case.times) + 2 * len(case.bandit)
    most = max(min(shard_steps // case.horizon, SHARD_NUMBERS // numbers), 1)
    size = 1 << (most.bit_length() - 1)
    for first in range(0, runs, size):
        yield first, min(size, runs - first)


def _shard(
    experiment: Experiment,
    case: Case,
    player: Player,
    arms: ArmGroups,
    clip: bool,
    first: int,
    runs: int,
) -> Shard:
    parameters = _parameters(player)
    reference = player.reference
    parts: list[Any] = [
        ENGINE,
        arms.sha256,
        [reference.name, reference.identity],
        parameters,
        [case.horizon, first, runs, experiment.seed, clip],
        case.times,
    ]
    if experiment.record_rewards:
        parts.append("rewards")
    delay = None if case.delay.is_zero else case.delay
    if delay or case.batch > 1:
        parts.append(["late", delay and [delay.positive, delay.other], case.batch])
    return Shard(
        _hash(parts),
        arms.sha256,
        len(arms),
        reference,
        parameters,
        case.horizon,
        first,
        runs,
        experiment.seed,
        case.times,
        clip,
        ENGINE,
        experiment.record_rewards,
        delay,
        case.batch,
    )


def _parameters(player: Player) -> tuple[tuple[str, Any], ...]:
    policy = player.policy
    found = []
    for each in fields_of(policy):
        value = getattr(policy, each.name)
        if value is not None and not isinstance(value, bool | int | float | str):
            kind = type(policy).__name__
            raise InputError(
                f"{kind}: {each.name} must be a number, a string or None in an experiment, got {value!r}"
            )
        found.append((each.name, value))
    return tuple(found)


def group(bandit: Bandit) -> ArmGroups:
    """Write the arms of a bandit as plain data."""
    if any(isinstance(arm, Sampled) for arm in bandit.arms):
        raise InputError(
            f"{bandit.name!r}: a distribution of one's own cannot be stored in an experiment: use simulate"
        )
    groups = tuple(
        (type(arm).__name__, tuple(getattr(arm, each.name) for each in fields(arm)), len(list(equal)))
        for arm, equal in groupby(bandit.arms)
    )
    if isinstance(bandit, DriftingBandit):
        drift = bandit.drift
        return ArmGroups(_hash([groups, [drift.kind, drift.times, drift.rows, drift.period]]), groups, drift)
    return ArmGroups(_hash(groups), groups)


@lru_cache(maxsize=16)
def ungroup(given: ArmGroups) -> Bandit:
    """Make the bandit that plain data describes."""
    arms: list[Family] = []
    for family, parameters, count in given.groups:
        arms += [FAMILIES[family.lower()].family(*parameters)] * count
    if given.drift is not None:
        return DriftingBandit(tuple(arms), "shard", drift=given.drift)
    return Bandit(tuple(arms), "shard")


def _hash(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()

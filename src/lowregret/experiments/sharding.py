"""Cut an experiment into shards, each named by a hash of all that determines its result."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np

from lowregret.engine.backends import BACKENDS, Engine
from lowregret.engine.bridge.identity import KERNELS, module_identity
from lowregret.engine.problem import records_asked_by
from lowregret.environments import (
    FAMILIES,
    Bandit,
    DriftingBandit,
    Family,
    RandomBandit,
    Sampled,
    random_bandit,
)
from lowregret.environments.drift import Drift
from lowregret.errors import InputError
from lowregret.experiments.policy_loading import Reference, load_code, refer_to
from lowregret.experiments.resolve import ResolvedEnvironment, ResolvedPolicy
from lowregret.experiments.spec import Experiment
from lowregret.policies.base import fields_of
from lowregret.policies.inputs import clips

Group: TypeAlias = tuple[str, tuple[Any, ...], int]
"""Equal arms: the family, its parameters, and how many there are."""


@dataclass(frozen=True)
class ArmGroups:
    """An environment as plain data: groups of equal arms, and a hash of them, by which two are compared."""

    sha256: str
    groups: tuple[Group, ...] = field(compare=False, repr=False)
    drift: Drift | None = field(default=None, compare=False, repr=False)
    random: str | None = field(default=None, compare=False, repr=False)  # of arms drawn in each run

    def __len__(self) -> int:
        return sum(count for *_, count in self.groups)

    @cached_property
    def numbers(self) -> int:
        values = (value for _, parameters, _ in self.groups for value in parameters)
        return sum(len(value) if isinstance(value, tuple) else 1 for value in values)


SHARD_STEPS = 20_000_000
"""About how many steps a shard has: a second or so."""

SHARD_NUMBERS = 4_000_000
"""How many numbers the result of a shard holds at most, so that memory stays small."""

SHARD_FORMAT = 2
"""The layout of a shard's file; a change here gives every shard another name."""


ENGINE = hashlib.sha256(repr((SHARD_FORMAT, module_identity(*KERNELS))).encode()).hexdigest()
"""The identity of the kernels as they were when this process loaded them.

It is their code that counts, not the text: an edit of a comment, of an error message or of anything outside
the kernels leaves stored results as they are.
"""


@dataclass(frozen=True)
class Shard:
    """A block of runs of one policy on one environment: plain data, and small.

    ``name`` is the hash of all that determines the result. ``environment`` is the hash of the arms, which the
    plan keeps once for all shards, ``arms`` their number, and ``engine`` the identity of the kernels.
    ``settings`` are what its `Problem` has besides policy and bandit.
    """

    name: str
    environment: str
    arms: int
    policy: Reference
    parameters: tuple[tuple[str, Any], ...]
    engine: str
    backend: Engine
    settings: dict[str, Any] = field(compare=False, repr=False)

    @property
    def first(self) -> int:
        """The number of its first run."""
        return int(self.settings["first_run"])

    @property
    def runs(self) -> int:
        """How many runs it has."""
        return int(self.settings["runs"])

    @property
    def steps(self) -> int:
        """How many steps its runs have together."""
        return int(self.settings["horizon"]) * self.runs


@dataclass(frozen=True)
class ShardedPair:
    """A policy on an environment, by their names, with its shards in the order of runs."""

    environment: str
    policy: str
    shards: tuple[Shard, ...]


@dataclass(frozen=True)
class ShardPlan:
    """All the shards of an experiment, and the environments that they play on by their hashes."""

    experiment: Experiment
    environments: dict[str, ArmGroups]
    pairs: tuple[ShardedPair, ...]

    @cached_property
    def shards(self) -> tuple[Shard, ...]:
        """Every shard once, the first runs of all pairs first, so that the time left is judged well."""
        shards = {shard.name: shard for pair in self.pairs for shard in pair.shards}
        return tuple(sorted(shards.values(), key=lambda shard: shard.first))

    @cached_property
    def name(self) -> str:
        """The hash of what the published tables hold."""
        pairs = [[p.environment, p.policy, *(shard.name for shard in p.shards)] for p in self.pairs]
        return _hash([self.experiment.name, self.experiment.seed, self.experiment.clip, pairs])


def make_shard_plan(experiment: Experiment, shard_steps: int = SHARD_STEPS) -> ShardPlan:
    """Cut an experiment into shards of about so many steps; no result depends on how."""
    pairs = []
    environments: dict[str, ArmGroups] = {}
    for case in experiment.resolved_environments:
        arms = arm_groups(case.bandit)
        environments[arms.sha256] = arms
        for player in experiment.policies_on(case):
            clip = clips(player.policy, case.bandit.support, repr(case.name), experiment.clip)
            steps = shard_steps * BACKENDS[experiment.engine].shard_factor
            blocks = _blocks(case, player.runs or experiment.runs, steps)
            shards = tuple(_shard(experiment, case, player, arms, clip, *block) for block in blocks)
            pairs.append(ShardedPair(case.name, player.name, shards))
    return ShardPlan(experiment, environments, tuple(pairs))


def _blocks(case: ResolvedEnvironment, runs: int, shard_steps: int) -> Iterator[tuple[int, int]]:
    """Yield the first run and the number of runs of every block."""
    numbers = len(case.times) + 2 * len(case.bandit)
    most = max(min(shard_steps // case.horizon, SHARD_NUMBERS // numbers), 1)
    size = 1 << (most.bit_length() - 1)
    for first in range(0, runs, size):
        yield first, min(size, runs - first)


def _shard(
    experiment: Experiment,
    case: ResolvedEnvironment,
    player: ResolvedPolicy,
    arms: ArmGroups,
    clip: bool,
    first: int,
    runs: int,
) -> Shard:
    parameters = _plain_parameters(player)
    parts: list[Any] = [
        ENGINE,
        arms.sha256,
        [player.reference.name, player.reference.identity],
        parameters,
        [case.horizon, first, runs, experiment.seed, clip],
        case.times,
    ]
    record = records_asked_by(experiment)
    parts.extend(record)
    delay = None if case.delay.is_zero else case.delay
    if delay or case.batch > 1:
        parts.append(["delayed", delay and [delay.positive.encoding, delay.other.encoding], case.batch])
    if experiment.period is not None:
        parts.append(["period", experiment.period])
    if not experiment.shuffle or experiment.ties != "pending":
        parts.append(["order", experiment.shuffle, experiment.ties])
    if (backend := BACKENDS[experiment.engine]).on_gpu:  # the others return the same
        parts.append([experiment.engine, module_identity(backend.module)])
    settings = {
        "horizon": case.horizon,
        "seed": experiment.seed,
        "first_run": first,
        "runs": runs,
        "grid": case.grid,
        "clip": clip,
        "delay": delay,
        "batch": case.batch,
        "record": frozenset(record),
        "period": experiment.period,
        "shuffle": experiment.shuffle,
        "ties": experiment.ties,
    }
    name, policy = _hash(parts), player.reference
    return Shard(name, arms.sha256, len(arms), policy, parameters, ENGINE, experiment.engine, settings)


def _plain_parameters(player: ResolvedPolicy) -> tuple[tuple[str, Any], ...]:
    policy = player.policy
    parameters = []
    for parameter in fields_of(policy):
        value = getattr(policy, parameter.name)
        if value is not None and not isinstance(value, bool | int | float | str):
            kind = type(policy).__name__
            raise InputError(
                f"{kind}: {parameter.name} must be a number, a string or None in an experiment, got {value!r}"
            )
        parameters.append((parameter.name, value))
    return tuple(parameters)


def arm_groups(bandit: Bandit) -> ArmGroups:
    """Write the arms of a bandit as plain data."""
    samplers = {id(arm.sample): arm.sample for arm in bandit.arms if isinstance(arm, Sampled)}
    references = {key: refer_to(sample) for key, sample in samplers.items()}
    groups = []
    for arm, equal in groupby(bandit.arms):
        values = (getattr(arm, entry.name) for entry in fields(arm))
        parameters = tuple(references.get(id(value), value) for value in values)
        groups.append((type(arm).__name__, parameters, len(list(equal))))
    code = [references[id(arm.sample)].identity for arm in bandit.arms if isinstance(arm, Sampled)]
    drift = bandit.drift if isinstance(bandit, DriftingBandit) else None
    random = bandit.name if isinstance(bandit, RandomBandit) else None
    return ArmGroups(_arms_hash(bandit, code), tuple(groups), drift, random)


def _arms_hash(bandit: Bandit, code: list[str | None]) -> str:
    """Hash the arms as kernels see them, whatever their families are called, and the code of samplers."""
    arrays = [bandit.kinds, bandit.encodings, bandit.gaps, bandit.data]
    if isinstance(bandit, DriftingBandit):
        drift = bandit.drift
        numbers, times = np.array([drift.kind, drift.period], np.float64), np.array(drift.times, np.int64)
        arrays += [numbers, times, drift.table, bandit.means]
    if isinstance(bandit, RandomBandit):
        return hashlib.sha256(repr((bandit.family, bandit.priors)).encode()).hexdigest()
    digest = hashlib.sha256(repr(code).encode() if code else b"")
    for array in arrays:
        digest.update(f"{array.dtype.str} {array.shape};".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


@lru_cache(maxsize=16)
def bandit_of(arms_data: ArmGroups) -> Bandit:
    """Make the bandit that plain data describes."""
    if arms_data.random is not None:
        return random_bandit(arms_data.random)
    arms: list[Family] = []
    for family, parameters, count in arms_data.groups:
        make = Sampled if family == Sampled.__name__ else FAMILIES[family.lower()].family
        values = (load_code(value) if isinstance(value, Reference) else value for value in parameters)
        arms += [make(*values)] * count
    if arms_data.drift is not None:
        return DriftingBandit(tuple(arms), "shard", drift=arms_data.drift)
    return Bandit(tuple(arms), "shard")


def _hash(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()

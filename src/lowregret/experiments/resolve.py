"""The environments and policies of an experiment, one for every combination of its grids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lowregret._common.arrays import Integers
from lowregret._common.spec_errors import Key, SpecError, unknown_key
from lowregret._common.table_files import read_table
from lowregret._common.text import count, unknown_name_message
from lowregret._common.validation import MAX_HORIZON, plain_text, recording_times, short_repr
from lowregret.engine.start import first_round
from lowregret.environments import FAMILIES, Bandit, Delay, empirical, environment, random_bandit
from lowregret.environments.constructors import rescaled
from lowregret.environments.delays import delay_of
from lowregret.environments.environment_string import from_table, with_drift
from lowregret.errors import InputError
from lowregret.experiments.policy_loading import Reference, load_bandit, read_reference, refer_to
from lowregret.experiments.templates import Scalar, combinations, fill_template, names_in
from lowregret.policies import Policy
from lowregret.policies.base import fields_of, label_of
from lowregret.policies.inputs import clips, validate_period

if TYPE_CHECKING:
    from lowregret.experiments.spec import EnvironmentEntry, Experiment, PolicyEntry

MAX_PAIRS = 100_000

OWN = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")
"""``module:name``, a bandit of a module; the parameters of a family begin with a digit or have a ``=``."""
SOURCES = ("environment", "random", "rewards", "family", "arms")
"""Keys of which an environment has exactly one."""


@dataclass(frozen=True)
class ResolvedEnvironment:
    """An environment of an experiment: name, bandit, horizon, recording times, delay, values of its grid."""

    name: str
    entry_name: str
    bandit: Bandit
    horizon: int
    times: tuple[int, ...]
    delay: Delay
    batch: int
    parameters: dict[str, Scalar] = field(default_factory=dict)

    @cached_property
    def grid(self) -> Integers:
        """The recording times as engines take them."""
        return np.array(self.times, np.int64)


@dataclass(frozen=True)
class ResolvedPolicy:
    """A policy of an experiment: its name, its class, its entry, where it plays (everywhere if empty)."""

    name: str
    policy: Policy
    reference: Reference
    entry: int
    environments: tuple[str, ...] = ()
    runs: int | None = None  # None for those of the experiment

    def plays_on(self, case: ResolvedEnvironment) -> bool:
        """Return whether the policy plays on an environment."""
        return not self.environments or bool({case.name, case.entry_name} & set(self.environments))


def resolve_environments(experiment: Experiment) -> tuple[ResolvedEnvironment, ...]:
    """Return the environments; reject invalid ones and equal names."""
    _check_size(experiment)
    by_name: dict[str, ResolvedEnvironment] = {}
    for position, entry in enumerate(experiment.environments):
        path: tuple[Key, ...] = ("environments", position)
        for case in _cases(experiment, entry, path):
            if case.name in by_name:
                raise SpecError(
                    path, f"two environments have the name {case.name!r}: give each a name of its own"
                )
            by_name[case.name] = case
    return tuple(by_name.values())


def resolve_policies(experiment: Experiment) -> tuple[ResolvedPolicy, ...]:
    """Return the policies; reject unknown ones and equal names."""
    by_name: dict[str, ResolvedPolicy] = {}
    unnamed: list[Policy] = []
    for position, entry in enumerate(experiment.policies):
        for player in _players(entry, position, experiment.folder):
            if player.name in by_name or (entry.name is None and player.policy in unnamed):
                raise SpecError(("policies", position), f"{player.policy} is given twice: give one a name")
            by_name[player.name] = player
            if entry.name is None:
                unnamed.append(player.policy)
    return tuple(by_name.values())


def check_pairs(
    environments: Sequence[ResolvedEnvironment],
    policies: Sequence[ResolvedPolicy],
    *,
    clip: bool,
    period: int | None,
) -> None:
    """Reject a policy that cannot play one of its environments, and an environment without policies."""
    names = {name for case in environments for name in (case.name, case.entry_name)}
    for player in policies:
        for name in player.environments:
            if name not in names:
                path = ("policies", player.entry, "environments")
                raise SpecError(path, unknown_name_message("environment", name, sorted(names)))
    for case in environments:
        playing = [policy for policy in policies if policy.plays_on(case)]
        if not playing:
            raise SpecError(("policies",), f"no policy plays on {case.name!r}: add one, or remove it")
        for player in playing:
            try:
                first_round(player.policy, len(case.bandit), case.horizon)
                support, name = case.bandit.support, repr(case.name)
                clipped = clips(player.policy, support, name, clip)
                if period is not None:
                    validate_period(player.policy, (0.0, 1.0) if clipped else support, name, prior=False)
            except InputError as error:
                problem = str(error) if repr(case.name) in str(error) else f"on {case.name!r}: {error}"
                raise SpecError(("policies", player.entry), problem) from None


def _check_size(experiment: Experiment) -> None:
    """Reject grids with too many combinations before making them."""
    environments, policies = (
        sum(prod(map(len, entry.grid.values())) for entry in entries)
        for entries in (experiment.environments, experiment.policies)
    )
    if environments * policies > MAX_PAIRS:
        raise SpecError(
            ("environments",),
            f"{count(environments, 'environment')} and {count(policies, 'policy', 'policies')} are "
            f"{environments * policies:,} combinations, and at most {MAX_PAIRS:,} are allowed",
        )


def _cases(
    experiment: Experiment, entry: EnvironmentEntry, path: tuple[Key, ...]
) -> Iterator[ResolvedEnvironment]:
    _check_source(entry, path)
    _check_grid(entry, path)
    grid = experiment.grid
    for values in combinations(entry.grid):
        bandit = _bandit(entry, values, path, experiment.folder)
        horizon = _integer(entry, "horizon", values, path) or experiment.horizon or bandit.horizon
        if horizon is None:
            raise SpecError(path, f"give a horizon, since {bandit.name!r} has none of its own")
        name = _name(entry, values, path) or bandit.name
        with _at((*path, "name")):
            plain_text("an environment", "name", name)
        entry_name = entry.name or (entry.environment if isinstance(entry.environment, str) else name)
        times = recording_times(horizon, grid.points, grid.scale)
        if grid.times is not None:
            times = tuple(sorted({time for time in grid.times if time <= horizon} | {horizon}))
        delay, batch = _delay(experiment, entry, values, path), _integer(entry, "batch", values, path)
        yield ResolvedEnvironment(
            name, entry_name, bandit, horizon, times, delay, batch or experiment.batch, dict(values)
        )


def _check_source(entry: EnvironmentEntry, path: tuple[Key, ...]) -> None:
    keys = [key for key in SOURCES if getattr(entry, key) is not None]
    if len(keys) != 1:
        listed = " and ".join(keys) or "none of them"
        raise SpecError(path, f"give one of {', '.join(SOURCES)}, got {listed}")
    if entry.random is not None and entry.scale is not None:
        raise SpecError((*path, "scale"), "does not go with random, whose arms are drawn in each run")
    for key in entry.model_extra or {}:
        if entry.family is None:
            raise SpecError((*path, key), f"goes with family, not with {keys[0]}")


def _check_grid(entry: EnvironmentEntry, path: tuple[Key, ...]) -> None:
    """Reject a grid with a name that nothing uses."""
    values = entry.environment, entry.random, entry.horizon, entry.delay, entry.batch
    texts = [value for value in values if isinstance(value, str)]
    with _at((*path, "environment")):
        used = set().union(*map(names_in, texts))
    for name in entry.grid:
        if name not in used:
            raise SpecError(
                (*path, "grid", name), f"is not used: write {{{name}}} where its values belong in environment"
            )


def _bandit(
    entry: EnvironmentEntry, values: Mapping[str, Scalar], path: tuple[Key, ...], folder: Path
) -> Bandit:
    key = next(key for key in SOURCES if getattr(entry, key) is not None)
    with _at((*path, key)):
        if isinstance(entry.environment, Bandit):
            bandit = entry.environment
        elif entry.environment is not None:
            text = fill_template(entry.environment, values)
            if OWN.fullmatch(text) and text.partition(":")[0] not in FAMILIES:
                bandit = load_bandit(text, folder)
            else:
                bandit = environment(str(folder / text) if text.endswith(".toml") else text)
        elif entry.random is not None:
            bandit = random_bandit(fill_template(entry.random, values))
        elif entry.rewards is not None:
            bandit = replace(empirical(_columns(folder / entry.rewards)), name=Path(entry.rewards).stem)
        else:
            table = {key: getattr(entry, key), **(entry.model_extra or {})}
            bandit = replace(from_table(table, "arms"), name=entry.family or "arms")
    if entry.drift is not None:
        with _at((*path, "drift")):
            bandit = with_drift(bandit, entry.drift, folder)
    with _at((*path, "scale")):
        return rescaled(bandit, entry.scale)


def _columns(file: Path) -> list[Any]:
    """Read the rewards of a file, one column per arm, without missing values."""
    import polars as pl

    columns = []
    for column in read_table(file, "rewards").iter_columns():
        values = column.drop_nulls().cast(pl.Float64).to_numpy()
        if not len(values) or not np.isfinite(values).all():
            raise InputError(
                f"column {column.name!r} of {file.name!r} must hold at least one number, all finite"
            )
        columns.append(values)
    if not columns:
        raise InputError(f"{file.name!r} has no columns: give one per arm")
    return columns


def _integer(
    entry: EnvironmentEntry, key: str, values: Mapping[str, Scalar], path: tuple[Key, ...]
) -> int | None:
    """Return the horizon or the batch of an entry, with the values of a grid put in."""
    value: int | str | None = getattr(entry, key)
    if not isinstance(value, str):
        return value
    with _at((*path, key)):
        text = fill_template(value, values)
        if not text.isascii() or not text.isdigit() or len(text) > 16 or not 1 <= int(text) <= MAX_HORIZON:
            raise InputError(f"must be an integer from 1 to 2^53, got {short_repr(text)}")
    return int(text)


def _delay(
    experiment: Experiment, entry: EnvironmentEntry, values: Mapping[str, Scalar], path: tuple[Key, ...]
) -> Delay:
    delay = experiment.delay if entry.delay is None else entry.delay
    with _at(("delay",) if entry.delay is None else (*path, "delay")):
        text = fill_template(delay, values) if isinstance(delay, str) and entry.delay is not None else delay
        try:
            return delay_of(text, experiment.folder)
        except InputError as error:  # of which the path names the key
            raise InputError(str(error).removeprefix("delay: ")) from None


def _name(
    entry: EnvironmentEntry | PolicyEntry, values: Mapping[str, Scalar], path: tuple[Key, ...]
) -> str | None:
    if entry.name is None:
        return None
    with _at((*path, "name")):
        if not values or names_in(entry.name):
            return fill_template(entry.name, values)
    listed = ", ".join(f"{name}={value}" for name, value in values.items())
    return f"{entry.name} ({listed})"


def _players(entry: PolicyEntry, position: int, folder: Path) -> Iterator[ResolvedPolicy]:
    path: tuple[Key, ...] = ("policies", position)
    kind, base, reference = _policy_class(entry, (*path, "policy"), folder)
    allowed = [field.name for field in fields_of(kind)]
    places = {"policy": base if isinstance(entry.policy, str) else {}}
    for place, parameters in (("parameters", entry.parameters), ("grid", entry.grid)):
        for name in parameters:
            if name not in allowed:
                problem = unknown_key(name, allowed) if allowed else f"{kind.__name__} takes no parameters"
                raise SpecError((*path, place), problem)
            for other, names in places.items():
                if name in names:
                    raise SpecError((*path, place, name), f"is in {other} as well: give it once")
        places[place] = parameters
    for values in combinations(entry.grid):
        parameters = {**base, **entry.parameters, **values}
        missing = [name for name in allowed if name not in parameters and not hasattr(kind, name)]
        if missing:
            raise SpecError(
                (*path, "parameters", missing[0]), f"is missing: {kind.__name__} has no default for it"
            )
        with _at(path):
            policy = kind(**parameters)
        name = _name(entry, values, path) or (label_of(policy, entry.grid) if entry.grid else str(policy))
        with _at((*path, "name")):
            plain_text("a policy", "name", name)
        yield ResolvedPolicy(name, policy, reference, position, tuple(entry.environments), entry.runs)


def _policy_class(
    entry: PolicyEntry, path: tuple[Key, ...], folder: Path
) -> tuple[type[Policy], dict[str, Any], Reference]:
    """Return the class of an entry, the parameters it already has, and the reference of the class."""
    with _at(path):
        if isinstance(entry.policy, str):
            return read_reference(entry.policy, folder)
        kind = type(entry.policy)
        base = {field.name: getattr(entry.policy, field.name) for field in fields_of(kind)}
        return kind, base, refer_to(kind)


@contextmanager
def _at(path: tuple[Key, ...]) -> Iterator[None]:
    """Add the path of keys to an `InputError` without one."""
    try:
        yield
    except SpecError:
        raise
    except InputError as error:
        raise SpecError(path, str(error)) from None

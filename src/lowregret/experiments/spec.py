"""An experiment as a TOML file or an object: environments, policies, horizon and number of runs.

Everything is validated before anything runs. Relative paths start at the folder of the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from lowregret._common.other_names import EXPERIMENT, answers
from lowregret._common.progress import Report
from lowregret._common.spec_errors import SpecError, first_error, line_of, unknown_key
from lowregret._common.terminal_text import wrapped
from lowregret._common.text import count
from lowregret._common.validation import MAX_HORIZON, MAX_SEED, plain_text, short_repr, whole
from lowregret.engine.backends import Engine
from lowregret.engine.problem import Ties
from lowregret.environments import FAMILIES, Bandit, Delay
from lowregret.environments.delays import DELAY_ADVICE
from lowregret.errors import InputError
from lowregret.experiments.resolve import (
    ResolvedEnvironment,
    ResolvedPolicy,
    check_pairs,
    resolve_environments,
    resolve_policies,
)
from lowregret.policies import Policy

if TYPE_CHECKING:
    from lowregret.results import Results


MAX_NAMES = 20
"""How many environments or policies are listed where an experiment is printed."""


def _kind(kinds: Any, words: str) -> Callable[[Any], Any]:
    """Return a validator that accepts values of some kinds, which the words describe."""

    def check(value: Any) -> Any:
        if isinstance(value, type) and issubclass(value, Policy):
            raise InputError(f"{value.__name__} is a class: write {value.__name__}()")
        if isinstance(value, kinds):
            return value
        raise InputError(f"must be {words}, got {short_repr(value)}")

    return check


def _integer_or(kinds: Any, least: int, words: str) -> Callable[[Any], Any]:
    """Return a validator that accepts None, an integer such as 10 or 1e1, or a value of other kinds."""

    def check(value: Any) -> Any:
        value = whole(value)
        if value is None or isinstance(value, kinds):
            return value
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_HORIZON:
            return value
        raise InputError(f"must be {words}, got {short_repr(value)}")

    return check


IntegerField = Annotated[StrictInt, BeforeValidator(whole)]
_scalar = _kind(bool | int | float | str, "a number, a string or true or false")
_environment = _kind(str | Bandit, "a string such as 'paper-1', or a Bandit")
_policy = _kind(str | Policy, "a string such as 'EUCBV', or a Policy")
_horizon = _integer_or(str, 1, "an integer from 1 to 2^53, or a string such as '{100*K}'")
_delay = _integer_or(str | Delay, 0, DELAY_ADVICE)

ScalarField = Annotated[
    Any, AfterValidator(_scalar), WithJsonSchema({"type": ["number", "string", "boolean"]})
]
DelayField = Annotated[Any, AfterValidator(_delay), WithJsonSchema({"type": ["integer", "string"]})]
HorizonField = Annotated[Any, AfterValidator(_horizon), WithJsonSchema({"type": ["integer", "string"]})]
EnvironmentField = Annotated[Any, AfterValidator(_environment), WithJsonSchema({"type": "string"})]
PolicyField = Annotated[Any, AfterValidator(_policy), WithJsonSchema({"type": "string"})]
NameField = Annotated[str, AfterValidator(partial(plain_text, "an experiment", "name"))]
GridValues = Annotated[list[ScalarField], Field(min_length=1)]


def _entries(key: str, kinds: tuple[type, ...]) -> Callable[[Any], Any]:
    """Return a validator that accepts a string or object for an entry, and one entry for a list of one."""

    def spread(entries: Any) -> Any:
        if isinstance(entries, (str, Mapping, Part, *kinds)):
            entries = [entries]
        if not isinstance(entries, Iterable):
            return entries
        return [entry if isinstance(entry, Mapping | Part) else {key: entry} for entry in entries]

    return spread


def _family_parameters() -> dict[str, list[str]]:
    """Return the parameters of the reward families, each with the families that take it."""
    families: dict[str, list[str]] = {}
    for family, entry in FAMILIES.items():
        for name in entry.parameters.values():
            families.setdefault(name, []).append(family)
    return families


def _add_family_parameters(schema: dict[str, Any]) -> None:
    """Add the parameters of the reward families to the JSON schema of an environment."""
    numbers = {"type": "array", "items": {"type": "number"}}
    for name, families in _family_parameters().items():
        data = FAMILIES[families[0]].takes_data
        kinds = {"type": "array", "items": numbers} if data else {"anyOf": [{"type": "number"}, numbers]}
        schema["properties"][name] = {**kinds, "description": f"Of {', '.join(families)}."}
    schema["additionalProperties"] = False


class Part(BaseModel):
    """A table of an experiment: known keys only, without conversion of types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class RecordingGrid(Part):
    """When the regret is recorded."""

    points: int = Field(default=200, ge=1, le=100_000)
    """Number of times."""
    scale: Literal["linear", "log"] = "linear"
    """Evenly spaced, or by a constant factor."""
    times: list[Annotated[int, Field(ge=1, le=MAX_HORIZON)]] | None = Field(default=None, min_length=1)
    """The times themselves; those up to the horizon count, and the horizon is added."""


def _recording_grid(grid: Any) -> Any:
    """Accept the scale alone, or a list of times, for a table."""
    if isinstance(grid, list | tuple):
        return {"times": list(grid)}
    return {"scale": grid} if isinstance(grid, str) else grid


class EnvironmentEntry(Part):
    """One environment, or one for every combination of the values of a grid.

    Besides these fields it takes the parameters of the registered reward families.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra=_add_family_parameters)

    name: str | None = None
    """Name in tables and figures; may hold {names} of the grid."""
    environment: EnvironmentField = None
    """paper-1 to paper-4, a family as bernoulli:0.5*{K-1},{0.5+gap}, a TOML file, or your own module:name."""
    random: str | None = None
    """Arms drawn anew in each run: a family with priors, as bernoulli:uniform(0,1)*10."""
    rewards: str | None = None
    """A CSV or Parquet file of rewards, one column per arm."""
    family: str | None = None
    """A family of rewards, with its parameters beside it."""
    arms: list[dict[str, Any]] | None = None
    """A table per arm, as in an environment file."""
    drift: dict[str, Any] | None = None
    """How means change: kind and its arguments, as in an environment file."""
    scale: list[float] | None = None
    """[low, high]: the rewards that are scaled to 0 and 1."""
    horizon: HorizonField = None
    """Pulls in a run, if not as in the experiment; a string may use {names} of the grid."""
    delay: DelayField = None
    """Delay of rewards, if not as in the experiment; a string may use {names} of the grid."""
    batch: HorizonField = None
    """Decisions at once, if not as in the experiment; a string may use {names} of the grid."""
    grid: dict[str, GridValues] = {}
    """Values for the {names} in environment, horizon, delay, batch and name."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the family, by their names for many arms."""
        return self.model_extra or {}

    @model_validator(mode="after")
    def _check_parameters(self) -> Self:
        for key, value in self.parameters.items():
            if isinstance(value, Bandit):
                raise InputError(
                    f"write a list of bandits instead of names and bandits, or {{'name': {key!r}, "
                    "'environment': bandit} for each"
                )
            if key not in _family_parameters():
                raise InputError(unknown_key(key, [*type(self).model_fields, *_family_parameters()]))
        return self


class PolicyEntry(Part):
    """One policy, or one for every combination of the values of a grid."""

    policy: PolicyField
    """A name such as EUCBV or UCB1(alpha=1), or module:Class for your own."""
    parameters: dict[str, ScalarField] = {}
    """Parameters of the policy."""
    grid: dict[str, GridValues] = {}
    """Several values of parameters."""
    environments: list[str] = []
    """Names of the environments that it plays on, if not on all."""
    name: str | None = None
    """Name in tables and figures, if not its own; may hold {names} of the grid."""
    runs: int | None = Field(default=None, ge=1, le=2**31)
    """Number of runs, if not as in the experiment."""


@answers("an experiment", EXPERIMENT)
class Experiment(Part):
    """An experiment: policies, environments, horizon, number of runs and seed.

    Parameters
    ----------
    environments : list
        Strings, bandits, or tables with the keys of `EnvironmentEntry`.
    policies : list
        Strings, policies, or tables with the keys of `PolicyEntry`.
    name : str, default "experiment"
        Name in reports.
    horizon : int, optional
        Pulls in a run; by default that of the environment.
    runs, seed : int, defaults 100 and 0
        Number of independent runs, and seed of the rewards.
    clip : bool, default False
        Clip rewards to [0, 1] for policies that need that.
    record_rewards, record_recommendations : bool, default False
        Record the sum of the rewards of every arm, or what policies recommend, as `simulate` does.
    delay : int, str or Delay, default 0
        How many decisions later a reward is known, as for `simulate`.
    batch : int, default 1
        Number of decisions made at once, as for `simulate`.
    period : int, optional
        Number of decisions of a period for which means are adjusted, as for `simulate`.
    shuffle, ties : bool, default True, and {"pending", "first"}, default "pending"
        The order of the arms in a run and to which of them a tie goes, as for `simulate`.
    engine : {"compiled", "reference", "cuda"}, default "compiled"
        The engine of every worker, as for `simulate`.
    grid : table, list of int or {"linear", "log"}, default 200 points, linear
        Number (``points``) and spacing (``scale``) of the times at which the regret is recorded, the spacing
        alone, or the times.
    folder : path, default "."
        Folder at which relative paths start.

    Raises
    ------
    InputError
        If a value is invalid, or a policy cannot play in an environment. It names the key, the value and
        what is allowed.

    Examples
    --------
    >>> import lowregret as lr
    >>> experiment = lr.Experiment(
    ...     environments=[{"environment": "bernoulli:0.5*{K-1},0.6", "grid": {"K": [2, 5]}}],
    ...     policies=[lr.MOSS(), {"policy": "UCB1", "grid": {"alpha": [1, 2]}}],
    ...     horizon=200,
    ...     runs=10,
    ... )
    >>> [case.name for case in experiment.resolved_environments]
    ['bernoulli:0.5*1,0.6', 'bernoulli:0.5*4,0.6']
    >>> [player.name for player in experiment.resolved_policies]
    ['MOSS', 'UCB1(alpha=1)', 'UCB1(alpha=2)']
    >>> len(experiment.policies_on(experiment.resolved_environments[0]))
    3
    >>> experiment.run().finals.height
    60
    >>> experiment.model_copy(update={"runs": 20}).runs
    20
    """

    name: NameField = Field(default="experiment", min_length=1, description="Name in reports.")
    horizon: IntegerField | None = Field(default=None, ge=1, le=MAX_HORIZON, description="Pulls in a run.")
    runs: IntegerField = Field(default=100, ge=1, le=2**31, description="Number of independent runs.")
    seed: int = Field(default=0, ge=0, le=MAX_SEED, description="Seed of the rewards.")
    clip: bool = Field(default=False, description="Clip rewards to [0, 1] for the policies that need that.")
    record_rewards: bool = False
    """Record the sum of the rewards of every arm in every run."""
    record_recommendations: bool = False
    """Record which arm each policy recommends, by time."""
    delay: DelayField = 0
    """How many decisions later a reward is known: a number, or geometric(mean=50) or similar."""
    batch: IntegerField = Field(
        default=1, ge=1, le=MAX_HORIZON, description="Number of decisions made at once."
    )
    period: IntegerField | None = Field(
        default=None, ge=1, le=MAX_HORIZON, description="Number of decisions of a period, such as a day."
    )
    shuffle: bool = Field(default=True, description="Whether arms get a random order in each run.")
    ties: Ties = "pending"
    """Whether a tie goes to the arm with the fewest pending pulls, or to the first."""
    engine: Engine = "compiled"
    """The engine of every worker."""
    grid: Annotated[
        RecordingGrid,
        BeforeValidator(
            _recording_grid, json_schema_input_type=RecordingGrid | Literal["linear", "log"] | list[int]
        ),
    ] = Field(default_factory=RecordingGrid, description="When the regret is recorded.")
    environments: Annotated[
        list[EnvironmentEntry],
        BeforeValidator(
            _entries("environment", (Bandit,)), json_schema_input_type=list[EnvironmentEntry | str]
        ),
    ] = Field(min_length=1, description="Environments.")
    policies: Annotated[
        list[PolicyEntry],
        BeforeValidator(_entries("policy", (Policy, type)), json_schema_input_type=list[PolicyEntry | str]),
    ] = Field(min_length=1, description="Policies.")
    folder: Annotated[Path, WithJsonSchema({})] = Field(default=Path(), exclude=True)

    def __init__(self, *args: object, **fields: Any) -> None:
        """Validate everything; an `InputError` names the key, the value and what is allowed."""
        if args:
            raise InputError("Experiment: name its parts, or read a file by lr.Experiment.from_toml(path)")
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise first_error(error, type(self)) from None
        check_pairs(self.resolved_environments, self.resolved_policies, clip=self.clip, period=self.period)

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Read an experiment from a file.

        Parameters
        ----------
        path : str or path
            A TOML file; ``lowregret new`` writes one to start from.

        Returns
        -------
        Experiment
            The experiment; relative paths in it start at the folder of the file.

        Raises
        ------
        InputError
            If the file cannot be read or a value is not allowed; it names the line.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import lowregret as lr
        >>> lines = ['environments = "paper-1"', 'policies = ["EUCBV", "MOSS"]', "runs = 20"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "first.toml"
        ...     with open(file, "w") as text:
        ...         print(*lines, sep=chr(10), file=text)
        ...     lr.Experiment.from_toml(file).runs
        20
        """
        file = Path(path)
        try:
            text = file.read_text(encoding="utf-8-sig")
            table = tomllib.loads(text)
        except OSError as error:
            raise InputError(f"cannot read {str(file)!r}: {error.strerror or error}") from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"{file.name} is not valid TOML: {error}") from None
        try:
            if "folder" in table:
                raise SpecError((), "unknown key 'folder', relative paths start where the file is")
            return cls(**{"name": file.stem, **table, "folder": file.parent})
        except SpecError as error:
            line = line_of(text, error.path)
            where = f"{file.name}, line {line}" if line else file.name
            raise SpecError((), f"{where}: {error}") from None

    @cached_property
    def resolved_environments(self) -> tuple[ResolvedEnvironment, ...]:
        """The environments, one for every combination of a grid."""
        return resolve_environments(self)

    @cached_property
    def resolved_policies(self) -> tuple[ResolvedPolicy, ...]:
        """The policies, one for every combination of a grid."""
        return resolve_policies(self)

    def policies_on(self, case: ResolvedEnvironment) -> tuple[ResolvedPolicy, ...]:
        """Return the policies that play on an environment.

        Parameters
        ----------
        case : ResolvedEnvironment
            One of ``resolved_environments``.
        """
        return tuple(player for player in self.resolved_policies if player.plays_on(case))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return the experiment with some fields changed and validated again.

        Parameters
        ----------
        update : mapping, optional
            The fields to change, with their values.
        deep : bool, default False
            Not used; an experiment is immutable.
        """
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**{**fields, **(update or {})})

    def __repr__(self) -> str:
        sizes = (
            count(len(self.resolved_policies), "policy", "policies"),
            count(len(self.resolved_environments), "environment"),
        )
        return f"Experiment({self.name!r}: {', '.join(sizes)}, {count(self.runs, 'run')}, seed {self.seed})"

    def __str__(self) -> str:
        """Return the environments with their horizons, the policies, and the number of runs."""
        lines = [f"{self.name}: {count(self.runs, 'run')}, seed {self.seed}"]
        for title, names in (
            (
                "environments",
                [f"{case.name} (horizon {case.horizon:,})" for case in self.resolved_environments],
            ),
            ("policies", [player.name for player in self.resolved_policies]),
        ):
            more = [f"and {len(names) - MAX_NAMES:,} more"] if len(names) > MAX_NAMES else []
            lines.append(wrapped(f"{title}: {', '.join([*names[:MAX_NAMES], *more])}", names, "  "))
        return "\n".join(lines)

    def run(
        self,
        out: str | Path | None = None,
        *,
        executor: Executor | Callable[[], Executor] | None = None,
        threads: int | None = None,
        progress: bool | Report = True,
    ) -> Results:
        """Compute the missing shards and return the results.

        Parameters
        ----------
        out : str or path, optional
            Folder of the results, which a later run continues; by default they stay in memory.
        executor : concurrent.futures.Executor, or a callable that makes one, optional
            Where the work is done; by default in threads of this process. An executor with a method
            ``workers()`` is given shards for as many workers, any other for one per core.
        threads : int, optional
            Number of threads where no executor is given; by default one per core.
        progress : bool or callable, default True
            Whether to say on standard error what is done, or a function that is called with a `Progress`.

        Returns
        -------
        Results
            The results of all runs.

        Raises
        ------
        InputError
            If an argument is invalid.
        LowRegretError
            If some shards could not be computed; all others are stored.
        StoreError
            If the folder cannot be used: not writable, full, in use by another process, or with a file of
            another kind that has the name of a table.
        """
        from lowregret.experiments.run import run

        return run(self, out, executor=executor, threads=threads, progress=progress)

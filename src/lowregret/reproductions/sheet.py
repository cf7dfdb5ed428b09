"""A paper as a folder: ``reproduction.toml``, experiment files, ``published.csv``, its own policies."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from lowregret._common.spec_errors import first_error, line_of
from lowregret._common.text import unknown_name_message
from lowregret.errors import InputError
from lowregret.experiments.spec import Experiment, Part
from lowregret.policies.loading import file_of, load_object
from lowregret.reproductions.published import Point, read_published
from lowregret.reproductions.quantities import check_quantity

MAIN = "reproduction.toml"


class Claim(Part):
    """A claim of a paper, judged by differences of means; the criterion is ours."""

    quote: str
    place: str = ""
    group: str = ""  # what it is about: claims overlap, and in a group every comparison counts once
    kind: Literal["lower", "higher", "similar", "most", "ranks"] = "lower"
    """Each policy is below, above or near each of ``than``, or below most; or each is below the next."""
    policies: list[str] = Field(default=[])  # by default the policy of the paper
    than: list[str | float] = Field(default=[])  # policies, or a number
    environments: list[str] = Field(default=[])
    """By default those of the sheet; ``name *`` stands for all that begin so."""
    quantity: str = "regret"
    margin: float = 10.0  # for similar quantities the largest difference, in percent of the second
    criterion: str = ""
    sides: list[str] = Field(default=[])  # other names of the two sides in tables


class Reading(Part):
    """A reading of the paper in which claims are judged, with policies of its own for some names."""

    name: str = ""
    column: str = "verdict"
    names: dict[str, str] = Field(default={})


class Sheet(Part):
    """What ``reproduction.toml`` says about a paper."""

    title: str
    short: str = ""  # the title of the page, if not the paper's
    authors: str
    venue: str
    url: str = ""
    code: str = ""
    runs: int = Field(ge=1)  # the number of runs behind a published number, where its row has no other
    our_runs: int | None = Field(default=None, ge=1)
    """The number of runs of the experiment files, where it is another one."""
    margin: float = Field(default=5.0, gt=0)
    """The margin of equivalence, in percent of a published number. It is ours."""
    regret: Literal["pseudo", "realised"] = "pseudo"
    """Realised regret was published if it has the noise of the rewards."""
    reading: str = "as published"  # the reading that computes the published numbers
    joint: Literal["place", "curve"] = "place"
    """Which numbers share a level of 5%: those of a table or figure, or those of a curve."""
    text: dict[str, list[str]] = Field(default={})
    """Paragraphs of the page: introduction, figures, configurations, numbers."""
    titles: dict[str, str] = Field(default={})  # titles of figures, by their places
    environments: dict[str, str] = Field(default={})
    """The environments of claims, each with the place that shows them."""
    names: dict[str, str | list[str]] = Field(default={})
    """Our policy by its name in the paper; of several the first that played in an environment."""
    versions: dict[str, str] = Field(default={})
    """Another name of a policy, where another version of it played."""
    subject: str = ""  # the policy of the paper
    readings: list[Reading] = Field(default=[Reading()], min_length=1)
    claims: list[Claim] = Field(default=[])
    more: str = ""
    """``module:function`` of the sheet, which makes further sections and tables of an evaluation."""
    folder: Path = Field(default=Path(), exclude=True)

    @model_validator(mode="after")
    def _name_policies(self) -> Self:
        for claim in self.claims:
            claim.policies.extend([] if claim.policies else [self.subject])
        return self

    @cached_property
    def files(self) -> dict[str, Experiment]:
        """The experiment files, by their names without ``.toml``."""
        paths = sorted(path for path in self.folder.glob("*.toml") if path.name != MAIN)
        return {path.stem: Experiment.from_toml(path) for path in paths}

    @cached_property
    def published(self) -> list[Point]:
        return read_published(self.folder / "published.csv", self.runs)

    @cached_property
    def times(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """The recorded times by environment and policy; each pair is in one file alone."""
        times: dict[tuple[str, str], tuple[int, ...]] = {}
        for name, file in self.files.items():
            for case in file.resolved_environments:
                for player in file.policies_on(case):
                    if (case.name, player.name) in times:
                        raise InputError(f"{name}.toml: another file has {player.name} on {case.name!r} too")
                    times[case.name, player.name] = case.times
        return times

    @cached_property
    def places(self) -> list[str]:
        """The environments of the experiment files."""
        return [*dict.fromkeys(name for name, _ in self.times)]

    @property
    def base_runs(self) -> int:
        """The number of runs that the experiment files stand for, which ``runs`` of `planned` replaces."""
        return self.our_runs or self.runs

    def planned(self, runs: int | None = None, seed: int | None = None) -> dict[str, Experiment]:
        """Return the experiments, with another seed, or scaled to ``runs`` instead of those of the files."""
        changes: dict[str, Any] = {} if seed is None else {"seed": seed}
        planned = {}
        for name, file in self.files.items():
            if runs is not None:  # two are the least that have a standard error
                changes["runs"] = max(file.runs * runs // self.base_runs, min(runs, 2))
            planned[name] = file.model_copy(update=changes) if changes else file
        return planned

    def members(self, environment: str) -> list[str]:
        """Return the environments that a name stands for."""
        start = environment.removesuffix("*")
        return [n for n in self.places if n == environment or (start != environment and n.startswith(start))]

    def ours(self, name: str, environment: str, names: Mapping[str, str] | None = None) -> tuple[str, str]:
        """Return the paper's name of a policy in an environment, and our policy; "" where none plays."""
        first = next(iter(self.members(environment)), "")
        for label in filter(None, (name, self.versions.get(name))):
            options = (names or {}).get(label) or self.names.get(label, label)
            for option in [options] if isinstance(options, str) else options:
                if (first, option) in self.times:
                    return label, option
        return name, ""

    def function(self, text: str) -> Callable[..., Any]:
        """Return the function of the sheet that ``module:function`` names."""
        return _load_function(self.folder, text)

    def validate_names(self) -> None:
        """Reject quantities, environments, policies and times that no experiment file has."""
        for claim in self.claims:
            self._check_environments(claim.environments, f"claim {claim.quote!r}")
            self._check_quantity(claim.quantity, claim.environments or self.environments or self.places)
            for name in (*claim.policies, *(side for side in claim.than if isinstance(side, str))):
                if not any(self.ours(name, place)[1] for place in claim.environments or self.places):
                    raise InputError(f"claim {claim.quote!r}: no experiment file has a policy {name!r}")
        for point in self.published:
            self._check_environments([point.environment], point.place)
            self._check_quantity(point.quantity, [point.environment])
            ours = point.ours or self.ours(point.policy, point.environment)[1]
            first = self.members(point.environment)[0]
            if (first, ours) not in self.times:
                known = [policy for name, policy in self.times if name == first]
                raise InputError(
                    f"{point.place}: {unknown_name_message('policy', ours or point.policy, known)}"
                )
            times, t = self.times[first, ours], point.t
            if t is not None and t not in times:
                nearest = min(times, key=lambda time: abs(time - t))
                raise InputError(f"{point.place}: t = {t} is not recorded, and {nearest} is: change a grid")

    def _check_quantity(self, quantity: str, environments: Iterable[str]) -> None:
        members = {member for name in environments for member in self.members(name)}
        cases = (case for file in self.files.values() for case in file.resolved_environments)
        arms = min((len(case.bandit) for case in cases if case.name in members), default=0)
        check_quantity(quantity, arms, self.function)

    def _check_environments(self, wanted: Iterable[str], place: str) -> None:
        for name in wanted:
            if not self.members(name):
                raise InputError(f"{place}: {unknown_name_message('environment', name, self.places)}")


def read_sheet(name: str | Path = "eucbv") -> Sheet:
    """Read and validate the folder of a paper: a path, or the name of one that comes with the package."""
    folder = next((path for path in (Path(name), home() / name) if (path / MAIN).is_file()), None)
    if folder is None:
        raise InputError(
            f"{unknown_name_message('paper', str(name), sheet_names())}; or give a folder with {MAIN}"
        )
    text = (folder / MAIN).read_text(encoding="utf-8")
    try:
        sheet = Sheet(**tomllib.loads(text), folder=folder.resolve())
        sheet.validate_names()
    except ValidationError as invalid:
        error = first_error(invalid, Sheet)
        line = line_of(text, error.path)
        where = f"{folder / MAIN}, line {line}" if line else folder / MAIN
        raise InputError(f"{where}: {error}") from None
    except (tomllib.TOMLDecodeError, InputError) as problem:
        raise InputError(f"{folder}: {problem}") from None
    return sheet


def paper_function(paper: str, text: str) -> Callable[..., Any]:
    """Return a function of a paper that comes with the package, without reading the paper."""
    return _load_function(home() / paper, text)


def _load_function(folder: Path, text: str) -> Callable[..., Any]:
    module, _, name = text.partition(":")
    function: Callable[..., Any] | None = load_object(module, name, file_of(text, folder))
    if not callable(function):
        raise InputError(f"{text}: {module}.py has no function {name!r}")
    return function


def home() -> Path:
    """Return the folder of the papers: inside the package in a wheel, else at the root of the repository."""
    packaged = Path(__file__).parent / "papers"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "reproductions"


def sheet_names() -> list[str]:
    return sorted(path.parent.name for path in home().glob(f"*/{MAIN}"))

"""What results are about: names, seed, horizons, runs and the parameters of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowregret._common.text import unknown
from lowregret.errors import InputError
from lowregret.results.description import Description

if TYPE_CHECKING:
    import polars as pl


class DescribedResults:
    """The part of `Results` that is known before any table is read.

    Examples
    --------
    >>> import lowregret as lr
    >>> result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", horizon=50, runs=4)
    >>> result.name, result.seed, result.runs, result.horizon
    ('bernoulli:0.1,0.9', 0, 4, 50)
    >>> result.policies, result.environments, result.horizons
    (('MOSS', 'RoundRobin'), ('bernoulli:0.1,0.9',), {'bernoulli:0.1,0.9': 50})
    >>> result.notes, result.parameters, result.lateness, result.drifting, result.planned_runs
    ({}, {}, {}, (), None)
    """

    description: Description

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return self.description.name

    @property
    def seed(self) -> int | None:
        """The seed of the rewards; None where parts of the results have different seeds."""
        return self.description.seed

    @property
    def runs(self) -> int:
        """The number of runs of each policy."""
        return self.description.runs

    @property
    def horizons(self) -> dict[str, int]:
        """The horizon of every environment."""
        return self.description.horizons

    @property
    def lateness(self) -> Mapping[str, str]:
        """The delay and the batches in words, by environment, where rewards are late."""
        return self.description.lateness

    @property
    def drifting(self) -> tuple[str, ...]:
        """The names of the environments whose means change."""
        return self.description.drifting

    @property
    def environments(self) -> tuple[str, ...]:
        """The names of the environments."""
        return tuple(self.horizons)

    @property
    def policies(self) -> tuple[str, ...]:
        """The names of the policies."""
        return self.description.policies

    @property
    def notes(self) -> dict[str, str]:
        """By policy: how rewards were changed for it, and whether its source assumes other rewards."""
        return self.description.notes

    @property
    def parameters(self) -> dict[str, pl.DataFrame]:
        """The parameters of a sweep: a table with a column each, by ``"environment"`` and by ``"policy"``."""
        return self.description.parameter_tables

    @property
    def planned_runs(self) -> int | None:
        """The number of runs of all policies in all environments of an unfinished experiment, else None."""
        return self.description.planned_runs

    @property
    def horizon(self) -> int:
        """The horizon, of results with one environment."""
        return self.horizons[self._environment(None)]

    def _environment(self, given: str | None) -> str:
        if given is None and len(self.environments) == 1:
            return self.environments[0]
        if given in self.environments:
            return str(given)
        known = f"these results have {', '.join(self.environments)}"
        if given is None:
            raise InputError(f"name the environment: {known}")
        raise InputError(unknown("environment", given, self.environments, known))

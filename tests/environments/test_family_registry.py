"""The registry: every family is complete, and a new entry is enough for strings, files and experiments."""

from dataclasses import dataclass, fields
from math import inf
from pathlib import Path
from typing import Any, ClassVar

import jsonschema
import numpy as np
import pytest

import lowregret as lr
from lowregret.environments import FAMILIES, Family, FamilyEntry, entry_of, families
from lowregret.experiments.sharding import arm_groups, bandit_of


@dataclass(frozen=True)
class TwoPoint:
    """One of two rewards with equal probability, drawn by the sampler of Bernoulli arms."""

    kind: ClassVar[int] = families.BERNOULLI
    left: float
    right: float

    @property
    def mean(self) -> float:
        return (self.left + self.right) / 2

    @property
    def variance(self) -> float:
        return (self.right - self.left) ** 2 / 4

    @property
    def support(self) -> tuple[float, float]:
        return self.left, self.right

    @property
    def encoding(self) -> tuple[float, float, float, float]:
        return 0.5, self.left, self.right, 0.0

    def scaled(self, low: float, high: float) -> "TwoPoint":
        return TwoPoint((self.left - low) / (high - low), (self.right - low) / (high - low))


@pytest.fixture(autouse=True)
def two_point(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = FamilyEntry(
        TwoPoint,
        {"left": "lefts", "right": "rights"},
        lambda arm, random, shape: random.choice([arm.left, arm.right], shape),
        lambda arm, mean: 2.0,
    )
    monkeypatch.setitem(FAMILIES, "twopoint", entry)


EXPECTED = (TwoPoint(0.0, 0.5), TwoPoint(0.0, 1.0))


def test_a_new_family_has_a_string_form() -> None:
    bandit = lr.environment("twopoint:left=0;right=0.5,1")
    assert bandit.arms == EXPECTED
    with pytest.raises(lr.InputError, match="^twopoint: right is missing, give left and right$"):
        lr.environment("twopoint:left=0")


@pytest.mark.parametrize(
    "text",
    [
        'family = "twopoint"\nlefts = 0\nrights = [0.5, 1]',
        "".join(f'[[arms]]\nfamily = "twopoint"\nleft = 0\nright = {right}\n' for right in (0.5, 1)),
    ],
)
def test_a_new_family_has_a_toml_form(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    assert lr.environment(tmp_path / "mine.toml").arms == EXPECTED


def test_a_new_family_stands_in_an_experiment() -> None:
    given: dict[str, Any] = {"family": "twopoint", "lefts": 0, "rights": [0.5, 1]}
    experiment = lr.Experiment(environments=given, policies="UCB1", horizon=50, runs=2)
    assert experiment.resolved_environments[0].bandit.arms == EXPECTED
    assert bandit_of(arm_groups(experiment.resolved_environments[0].bandit)).arms == EXPECTED
    assert experiment.run().finals.height == 2
    jsonschema.validate({"environments": [given], "policies": ["UCB1"]}, lr.Experiment.model_json_schema())
    with pytest.raises(lr.InputError, match=r"environments\[0\]: unknown key 'leftz', did you mean 'lefts'"):
        lr.Experiment(environments={"family": "twopoint", "leftz": 0}, policies="UCB1", horizon=50)


def test_a_new_family_has_a_lower_bound() -> None:
    lines = lr.bounds("twopoint:left=0;right=0.5,1", 1_000)
    value = lines.filter(name="Lai and Robbins")["value"].item()
    assert value == pytest.approx(np.log(1_000) * 0.25 / 2.0)


@pytest.mark.parametrize("arm", [*EXPECTED, lr.bernoulli(0.3).arms[0], lr.gaussian(1, 4).arms[0]], ids=repr)
def test_samples_have_the_moments_of_the_arm(arm: Family) -> None:
    rewards = entry_of(arm).sample(arm, np.random.default_rng(1), (400, 100))
    assert rewards.shape == (400, 100)
    assert rewards.mean() == pytest.approx(arm.mean, abs=6 * (arm.variance / rewards.size) ** 0.5)
    assert rewards.var() == pytest.approx(arm.variance, rel=0.05)


def test_every_entry_is_named_after_its_class_and_its_fields() -> None:
    for name, entry in FAMILIES.items():
        assert entry.family.__name__.lower() == name
        names = [field.name for field in fields(entry.family)]
        assert list(entry.parameters) == names[: len(entry.parameters)]


def test_a_constant_has_no_neighbours_in_most_families() -> None:
    constants = [
        families.Bernoulli(0.5, 1, 1),
        families.Gaussian(1, 0),
        families.Uniform(1, 1),
    ]
    assert [entry_of(arm).divergence(arm, 2.0) for arm in constants] == [inf] * 3
    assert entry_of(families.Poisson(0)).divergence(families.Poisson(0), 2.0) == 2.0

"""Recorded quantities: a row of RECORDS is all that one needs, on every engine."""

import io
from dataclasses import replace
from inspect import signature
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import lowregret as lr
from lowregret import simulation
from lowregret.engine.backends import run
from lowregret.engine.problem import RECORDS, Problem, Record, records_asked_by
from lowregret.experiments.sharding import make_shard_plan
from lowregret.experiments.worker import work
from lowregret.simulation import results_of

BANDIT = lr.bernoulli([0.3, 0.6, 0.5])


def switches_of(problem: Problem, path: np.ndarray) -> np.ndarray:
    """Count how often each arm was pulled after another one."""
    arms = path[:, 0]
    return np.bincount(arms[1:][np.diff(arms) != 0], minlength=len(problem.bandit))


@pytest.fixture
def switches(monkeypatch):
    monkeypatch.setitem(RECORDS, "switches", Record(np.int64, "arm", "switches", switches_of))


@pytest.mark.parametrize("record", [{"switches"}, {"switches", "rewards"}, {"switches", "path"}])
@pytest.mark.parametrize("engine", ["compiled", "reference", "cuda"])
def test_a_quantity_of_the_path_is_recorded_on_every_engine(switches, engine, record):
    outcome = run(Problem(lr.MOSS(), BANDIT, 60, 3, runs=4, record=frozenset(record)), engine)
    plain = run(Problem(lr.MOSS(), BANDIT, 60, 3, runs=4, record=frozenset({"path", "rewards"})), "reference")
    assert set(outcome.records) == record
    wanted = [switches_of(Problem(lr.MOSS(), BANDIT, 60), path) for path in plain.records["path"]]
    assert outcome.records["switches"].tolist() == np.array(wanted).tolist()
    if "rewards" in record:
        assert outcome.records["rewards"] == pytest.approx(plain.records["rewards"])


def test_what_users_ask_for_is_what_there_is_to_record(monkeypatch):
    """Help and types need each keyword where it is taken: in `simulate`, and in an experiment."""
    asked = {record.asked_by or f"record_{name}" for name, record in RECORDS.items()} - {"record_path"}
    for taken in (signature(lr.simulate).parameters, lr.Experiment.model_fields):
        assert {name for name in taken if name.startswith("record_")} == asked
    problems = []
    monkeypatch.setattr(simulation, "run_engine", lambda problem, *_: problems.append(problem) or 1 / 0)
    for keyword in sorted(asked):
        with pytest.raises(ZeroDivisionError):
            lr.simulate("MOSS", BANDIT, 10, 1, engine="reference", **{keyword: True})
        assert problems[-1].record == set(records_asked_by(SimpleNamespace(**{keyword: True}))) != set()


def test_it_has_a_column_in_results_and_in_the_files_of_experiments(switches):
    problem = Problem(lr.MOSS(), BANDIT, 60, 3, runs=4, record=frozenset({"switches"}), grid=np.array([60]))
    outcome = run(problem, "reference")
    results = results_of(BANDIT, 60, 3, False, {"MOSS": outcome}, {"MOSS": ""}, "0", 1, "reference")
    assert results.pulls["switches"].to_list() == outcome.records["switches"].ravel().tolist()
    experiment = lr.Experiment(
        environments="bernoulli:0.3,0.6,0.5", policies="MOSS", horizon=60, runs=4, seed=3, engine="reference"
    )
    plan = make_shard_plan(experiment)
    shard = plan.shards[0]
    shard = replace(shard, settings={**shard.settings, "record": frozenset({"switches"})})
    stored = pl.read_parquet(io.BytesIO(work(shard, plan.environments[shard.environment]).data))
    assert np.array(stored["switches"].to_list()).tolist() == outcome.records["switches"].tolist()

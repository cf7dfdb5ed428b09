"""The tables: their schema, their order, and that they say what the simulator says."""

from math import sqrt
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lowregret as lr

DATA = Path(__file__).parents[1] / "data"
WHO = {"environment": pl.String, "policy": pl.String, "K": pl.Int64, "run": pl.Int64}
SCHEMAS = {
    "finals": {**WHO, "regret": pl.Float64},
    "paths": {**WHO, "t": pl.Int64, "regret": pl.Float64},
    "pulls": {**WHO, "arm": pl.Int64, "pulls": pl.Int64},
    "events": {**WHO, "t": pl.Int64, "arm": pl.Int64, "event": pl.String},
    "arms": {
        "environment": pl.String,
        "K": pl.Int64,
        "arm": pl.Int64,
        "mean": pl.Float64,
        "variance": pl.Float64,
        "gap": pl.Float64,
        "optimal": pl.Boolean,
    },
}


@pytest.mark.parametrize("table", SCHEMAS)
def test_schema_in_memory_and_on_disk(small, truth, tmp_path: Path, table: str) -> None:
    small.run(tmp_path)
    assert dict(getattr(truth, table).schema) == SCHEMAS[table]
    file = "curves" if table == "paths" else table
    assert dict(pl.read_parquet_schema(tmp_path / f"{file}.parquet")) == {
        name: kind for name, kind in SCHEMAS[table].items() if name != "K"
    }


def test_the_tables_hold_what_simulate_gives(small, truth) -> None:
    for case in small.resolved_environments:
        known = lr.simulate(["EUCBV", "MOSS"], case.bandit, case.horizon, runs=30, seed=5, grid=20)
        for policy in ("EUCBV", "MOSS"):
            here = {"environment": case.name, "policy": policy}
            outcome = known[policy]
            assert truth.finals.filter(**here)["regret"].to_list() == outcome.regret[:, -1].tolist()
            assert truth.paths.filter(**here)["regret"].to_list() == outcome.regret.ravel().tolist()
            assert truth.paths.filter(**here, run=0)["t"].to_list() == outcome.grid.tolist()
            assert truth.pulls.filter(**here)["pulls"].to_list() == outcome.pulls.ravel().tolist()
            events = truth.events.filter(**here)
            if outcome.eliminated is None:
                assert events.is_empty()
            else:
                times = np.zeros_like(outcome.eliminated)
                times[events["run"].to_numpy(), events["arm"].to_numpy()] = events["t"].to_numpy()
                assert times.tolist() == outcome.eliminated.tolist()
                assert not events.is_empty()
        arms = truth.arms.filter(environment=case.name)
        assert arms["gap"].to_list() == case.bandit.gaps.tolist()
        assert arms["optimal"].to_list() == case.bandit.optimal.tolist()


def test_rows_follow_the_order_of_the_experiment(small, truth) -> None:
    pairs = truth.finals.select("environment", "policy").unique(maintain_order=True).rows()
    assert pairs == [
        (case.name, player.name) for case in small.resolved_environments for player in small.resolved_policies
    ]


def test_the_description(truth) -> None:
    known = truth.description
    assert (known.name, known.seed, known.runs, known.policies) == ("experiment", 5, 30, ("EUCBV", "MOSS"))
    assert truth.environments == ("coins (K=2)", "coins (K=4)", "bell", "coins again")


def test_a_folder_without_results(small, tmp_path: Path) -> None:
    with pytest.raises(lr.InputError, match="holds no results: pass the folder of an experiment"):
        lr.open_results(tmp_path)
    small.run(tmp_path)
    (tmp_path / "curves.parquet").unlink()
    with pytest.raises(lr.StoreError, match=r"curves.parquet is not in"):
        lr.open_results(tmp_path)
    small.run(tmp_path)
    described = tmp_path / "experiment.json"
    described.write_text(described.read_text().replace('"sha256"', '"sha"'))
    with pytest.raises(lr.StoreError, match=r"has no checksum of finals.parquet"):
        lr.open_results(tmp_path)
    described.unlink()
    (tmp_path / "plan.json").unlink()  # which earlier versions did not write
    with pytest.raises(lr.InputError, match="is not finished"):
        lr.open_results(tmp_path)


def test_results_never_turn_into_those_of_another_run(small, truth, tmp_path: Path) -> None:
    ours = small.run(tmp_path)
    assert ours.arms.equals(truth.arms)
    with pytest.warns(UserWarning, match="had the seed 5, now 6: they stay there but are not shown any more"):
        small.model_copy(update={"seed": 6}).run(tmp_path)
    with pytest.raises(
        lr.StoreError, match=r"finals.parquet' was replaced since .* were opened: open them again$"
    ):
        ours.finals  # noqa: B018  # it is read here
    assert ours.arms.equals(truth.arms)  # what was read stays


def test_a_damaged_table_is_not_believed(small, tmp_path: Path) -> None:
    small.run(tmp_path)
    table = tmp_path / "finals.parquet"
    data = bytearray(table.read_bytes())
    data[len(data) // 2] ^= 1
    table.write_bytes(data)
    results = lr.open_results(tmp_path)
    with pytest.raises(lr.StoreError, match=r"finals.parquet' is damaged: run the experiment again"):
        results.finals  # noqa: B018  # it is read here
    assert small.run(tmp_path).finals.height == 240


class UCB1(lr.Policy):
    """m + sqrt(alpha log(t) / n): what UCB1 was when tests/data/experiment-1 was written."""

    alpha: float = 2.0

    def score(self, arm, clock):
        return arm.mean + sqrt(self.alpha * clock.log_t / arm.pulls)


def test_a_folder_of_the_first_version_still_opens() -> None:
    """tests/data/experiment-1 was written before a description had parameters and notes."""
    old = lr.open_results(DATA / "experiment-1")
    new = lr.Experiment(
        name="old",
        environments=[{"environment": "bernoulli:0.5*{K-1},0.9", "grid": {"K": [2, 3]}, "name": "coins"}],
        policies=["EUCBV", UCB1(alpha=1.0), UCB1()],
        horizon=60,
        runs=3,
        seed=5,
        grid={"points": 3},
    ).run()
    assert (old.name, old.seed, old.runs, old.policies) == (new.name, new.seed, new.runs, new.policies)
    for table in ("finals", "paths", "pulls", "events", "arms"):
        assert getattr(old, table).equals(getattr(new, table).drop("K", "alpha", strict=False))
    ours, theirs = old.summary(all=True), new.summary(all=True).drop("K", "alpha")
    lost = ("optimal_arm_eliminated", "failures", "failures_high")
    assert ours.drop(lost).equals(theirs.drop(lost))
    assert old.compare("EUCBV", all=True)["difference"].equals(new.compare("EUCBV", all=True)["difference"])

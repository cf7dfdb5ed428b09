"""Results travel: pickles, copies, worker processes, folders and pandas."""

import copy
import json
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import lowregret as lr
from lowregret.errors import InputError, StoreError

TWO = ["MOSS", "RoundRobin"]


def played(seed: int = 0) -> lr.Results:
    return lr.simulate(
        TWO, "bernoulli:0.1,0.9", horizon=60, runs=6, seed=seed, engine="reference", progress=False
    )


@pytest.fixture(scope="module")
def result() -> lr.Results:
    return played()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_is_the_same(result, copied) -> None:
    repr(lr.bernoulli([0.1, 0.9])), result.summary()  # what is cached travels as well
    other = copied(result)
    assert other.summary(all=True).equals(result.summary(all=True)) and str(other) == str(result)
    assert (other["MOSS"].regret == result["MOSS"].regret).all()
    assert copied(result.compare("MOSS", all=True)).equals(result.compare("MOSS", all=True))


def test_a_result_comes_back_from_a_spawned_worker(result) -> None:
    options = {"engine": "reference", "progress": False}
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        other = pool.submit(lr.simulate, TWO, "bernoulli:0.1,0.9", 60, 6, 3, **options).result()
    assert other.finals.equals(played(3).finals)


PROGRAM = """
import json, os, signal, sys
import lowregret as lr

options = {"engine": "reference", "progress": False}
result = lr.simulate(["MOSS", "RoundRobin"], "bernoulli:0.1,0.9", 60, 6, **options)
result.summary(), result.paths, result.curves()  # polars has threads now
log = {"arm": ["a", "b", "c"] * 200, "reward": [0, 1, 0] * 200}
experiment = lr.Experiment(environments="bernoulli:0.1,0.9", policies=["MOSS"], horizon=30, runs=4)
calls = {
    "summary": result.summary,
    "compare": lambda: result.compare("MOSS"),
    "curves": result.curves,
    "paths": lambda: result.scan("paths").collect(),
    "tail": result.tail,
    "regret": lambda: result.regret("MOSS"),
    "print": lambda: str(result),
    "to_dict": result.to_dict,
    "plot": result.plot,
    "save": lambda: result.save("nowhere"),
    "run": lambda: experiment.run(progress=False),
    "replay": lambda: lr.replay(log, lr.FixedArm(1), resamples=0, progress=False),
    "array": lambda: result["MOSS"].regret.shape,
    "simulate": lambda: lr.simulate(["MOSS"], "bernoulli:0.1,0.9", 60, 6, **options),
}
for name, call in calls.items():
    child = os.fork()
    if not child:
        signal.alarm(40)
        try:
            text = str(call()) if name == "print" else repr(call())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        print(json.dumps([name, text]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks are the default there alone")
def test_a_forked_child_refuses_what_would_hang() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=250)
    answers = dict(json.loads(line) for line in done.stdout.splitlines())
    assert answers.pop("array") == "(6, 60)"
    assert answers.pop("simulate").startswith("Results(")
    assert len(answers) == 12, (sorted(answers), done.stderr)
    for name, text in answers.items():
        assert text.startswith("InputError: ") and "'spawn'" in text and "all cores" in text, (name, text)


def test_save_and_open(result, tmp_path) -> None:
    folder = tmp_path / "deep" / "r"
    result.save(folder)
    opened = lr.open_results(folder)
    assert opened.description == result.description and repr(opened) == repr(result)
    assert opened.summary(all=True).equals(result.summary(all=True))
    assert opened.paths.equals(result.paths) and opened.compare().equals(result.compare())
    assert (opened["MOSS"].pulls == result["MOSS"].pulls).all()
    opened.save(folder)  # onto itself
    assert lr.open_results(folder).finals.equals(result.finals)
    experiment = lr.Experiment(environments="bernoulli:0.1,0.9", policies=["MOSS"], horizon=30, runs=4)
    with pytest.raises(StoreError, match="holds results that were saved"):
        experiment.run(folder, progress=False)
    assert lr.open_results(folder).finals.equals(result.finals)


def test_save_replaces_nothing_else(result, tmp_path) -> None:
    experiment = lr.Experiment(
        environments="bernoulli:0.1,0.9", policies="RoundRobin", horizon=30, runs=4, engine="reference"
    )
    experiment.run(tmp_path / "e", progress=False)
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "arms.parquet").touch()
    (tmp_path / "file").touch()
    for name in ("e", "p"):
        with pytest.raises(InputError, match="holds other results: use another folder"):
            result.save(tmp_path / name)
    with pytest.raises(InputError, match="is not a folder"):
        result.save(tmp_path / "file")


def test_pandas(result) -> None:
    pytest.importorskip("pandas")
    assert result.to_pandas()["mean"].tolist() == result.summary()["mean"].to_list()
    assert len(result.to_pandas("paths")) == len(result.paths)
    with pytest.raises(InputError, match="no table 'path'"):
        result.to_pandas("path")

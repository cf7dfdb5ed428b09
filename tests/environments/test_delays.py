"""Delays as objects and as strings."""

from inspect import signature
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.main import get_command

import lowregret as lr
from lowregret.cli import app
from lowregret.environments.delays import DELAY_EXAMPLES, DISTRIBUTIONS, delay_of

SIMULATE = Path(__file__).parents[2] / "docs" / "how-to" / "simulate.md"


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("0", lr.Delay.constant(0)),
        (" 50 ", lr.Delay.constant(50)),
        ("1e3", lr.Delay.constant(1_000)),
        ("constant(1e3, lost=0.5)", lr.Delay.constant(1_000, lost=0.5)),
        ("geometric(mean=50)", lr.Delay.geometric(50)),
        ("geometric(2.5, lost=0.01)", lr.Delay.geometric(2.5, lost=0.01)),
        ("lognormal(median=50, sigma=1)", lr.Delay.lognormal(50, 1)),
        ("empirical([1, 2, 2])", lr.Delay.empirical(np.array([1, 2, 2]))),
        ("by_reward(positive=20, other=1000)", lr.Delay.by_reward(20, 1_000)),
        (
            "by_reward(positive=geometric(mean=20), other=constant(1000, lost=1))",
            lr.Delay.by_reward("geometric(20)", lr.Delay.constant(1_000, lost=1)),
        ),
    ],
)
def test_a_string_describes_a_delay(text, delay):
    assert delay_of(text) == delay
    assert delay_of(str(delay)) == delay
    assert hash(delay_of(text)) == hash(delay)


def test_zero_is_known_as_such():
    assert delay_of("0").is_zero and delay_of(0).is_zero and lr.Delay.by_reward(0, 0).is_zero
    assert not lr.Delay.constant(0, lost=0.1).is_zero


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_values_of_a_file(tmp_path, suffix):
    table = pl.DataFrame({"delay": [3, 5, 5]})
    path = tmp_path / f"delays.{suffix}"
    (table.write_csv if suffix == "csv" else table.write_parquet)(path)
    assert lr.Delay.empirical(path) == lr.Delay.empirical([3, 5, 5])
    assert delay_of(f"empirical('delays.{suffix}')", tmp_path) == lr.Delay.empirical([3, 5, 5])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (-1, "delay: constant must be an integer of at least 0, got -1"),
        ("-1", "delay: constant must be an integer of at least 0, got -1"),
        (1.5, "delay: must be an integer of at least 0, or a string such as 'geometric(mean=50)', got 1.5"),
        (
            "often",
            "delay: must be an integer of at least 0, or a string such as 'geometric(mean=50)', got 'often'",
        ),
        (True, "delay: must be an integer of at least 0, or a string such as 'geometric(mean=50)', got True"),
        ("geometric(mean=-3)", "delay: the mean of geometric must be from 0 to 2^53, got -3"),
        ("geometric(50, lost=1.5)", "delay: a probability lost must lie in [0, 1], got 1.5"),
        ("geometric()", "delay: write it as in geometric(mean=50), got 'geometric()'"),
        ("geometric(rate=2)", "delay: write it as in geometric(mean=50), got 'geometric(rate=2)'"),
        ("geometrc(50)", "unknown delay 'geometrc': did you mean 'geometric'?"),
        ("lognormal(5, 50)", "delay: the sigma of lognormal must be from 0 to 20, got 50"),
        ("empirical([])", "delay: empirical needs at least one value, got []"),
        ("empirical([1, -1])", "delay: a value of empirical must be from 0 to 2^53, got -1"),
        ("empirical(open('x'))", "delay: arguments must be plain values in \"empirical(open('x'))\""),
        (
            "by_reward(positive=by_reward(1, 2), other=3)",
            "delay: by_reward takes delays that do not depend on the reward themselves",
        ),
    ],
)
def test_bad_input_gets_one_sentence(given, message):
    with pytest.raises(lr.InputError) as error:
        lr.simulate("UCB1", "bernoulli:0.1,0.2", 10, delay=given)
    assert str(error.value) == message


def test_bad_files(tmp_path):
    with pytest.raises(lr.InputError, match="cannot read .*none.csv': No such file"):
        lr.Delay.empirical(tmp_path / "none.csv")
    (tmp_path / "two.csv").write_text("a,b\n1,2\n")
    with pytest.raises(lr.InputError, match="'two.csv' must have one column, of numbers"):
        lr.Delay.empirical(tmp_path / "two.csv")
    with pytest.raises(lr.InputError, match="must be .csv or .parquet, got 'x.txt'"):
        lr.Delay.empirical(tmp_path / "x.txt")


def test_a_batch_is_a_positive_integer():
    for batch in (0, 1.5, True):
        with pytest.raises(lr.InputError, match="simulate: batch must be an integer of at least 1"):
            lr.simulate("UCB1", "bernoulli:0.1,0.2", 10, batch=batch)


def test_a_delay_that_needs_too_much_memory():
    with pytest.raises(lr.InputError, match="pending rewards do not fit into memory"):
        lr.simulate("UCB1", "bernoulli:0.1,0.2", 2**40, 1, delay=2**39, grid=1)


@pytest.mark.parametrize("name", DELAY_EXAMPLES)
def test_each_form_is_explained_where_users_look_for_it(name):
    """The help of commands must not import the engine, so it cannot be made from the registry."""
    example = DELAY_EXAMPLES[name]
    rows = [row for row in SIMULATE.read_text("utf-8").splitlines() if row.startswith("| `")]
    assert sum(f"`{example}`" in row for row in rows) == 1
    option = next(option for option in get_command(app).commands["simulate"].params if option.name == "delay")
    assert example in option.help


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_each_distribution_has_a_class_method_and_a_sampler_of_its_own(name):
    distribution, method = DISTRIBUTIONS[name], getattr(lr.Delay, name)
    assert list(signature(method).parameters) == list(signature(distribution).parameters)
    assert [other.name for other in DISTRIBUTIONS.values() if other.kind == distribution.kind] == [name]

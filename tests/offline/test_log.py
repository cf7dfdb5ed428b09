"""Logs as they are read: files and tables, names of arms, and what is refused."""

import numpy as np
import polars as pl
import pytest

import lowregret as lr
from lowregret.offline.log import read_log

GOOD = {"arm": ["b", "a", "b"], "reward": [1.0, 0.0, 0.5], "propensity": [0.5, 0.25, 1.0]}


def test_a_file_gives_what_a_table_gives(tmp_path):
    table = pl.DataFrame(GOOD).with_columns(other=pl.lit("ignored"))
    table.write_csv(tmp_path / "log.csv")
    table.write_csv(tmp_path / "LOG.CSV")
    table.write_parquet(tmp_path / "log.parquet")
    for given in (GOOD, table, tmp_path / "log.csv", tmp_path / "LOG.CSV", str(tmp_path / "log.parquet")):
        log = read_log(given)
        assert log.arms == ("a", "b")
        assert log.arm.tolist() == [1, 0, 1]
        assert log.reward.tolist() == GOOD["reward"]
        assert log.propensity.tolist() == GOOD["propensity"]
        assert log.given


@pytest.mark.parametrize(
    ("arms", "names"),
    [
        ([10, 9, 10], ("9", "10")),
        (["10", "9", "10"], ("9", "10")),
        (["10", "9", "x"], ("10", "9", "x")),
        ([2.5, -1.0, 2.5], ("-1.0", "2.5")),
        ([True, False, True], ("false", "true")),
    ],
)
def test_arms_are_sorted_as_numbers_if_all_are(arms, names):
    log = read_log({"arm": arms, "reward": [0, 1, 1]})
    assert log.arms == names
    assert [log.arms[number] for number in log.arm] == [str(arm).lower() for arm in arms]


def test_a_csv_keeps_the_names_of_arms(tmp_path):
    (tmp_path / "log.csv").write_text("arm,reward\n01,1\n1,0\n,1\n")
    with pytest.raises(lr.InputError, match="row 3 of log.csv has no arm"):
        read_log(tmp_path / "log.csv")
    (tmp_path / "log.csv").write_text("arm,reward\n01,1\n1,0\n")
    assert read_log(tmp_path / "log.csv").arms == ("01", "1")


def test_without_propensities_a_log_is_taken_as_uniform():
    log = read_log({"arm": ["a", "b", "c", "a"], "reward": [0, 1, 0, 1]})
    assert log.propensity.tolist() == [1 / 3] * 4
    assert not log.given


def test_uneven_counts_are_noticed_and_chance_is_not():
    """A uniform log is called uneven once in some million, so none of 200 may be."""
    draws = np.random.default_rng(4)
    for size in (1, 2, 5, 80):
        for _ in range(50):
            arms = draws.integers(0, size, 1000)
            assert not read_log({"arm": arms, "reward": np.zeros(1000)}).uneven()
    uneven = draws.choice(3, 1000, p=[0.5, 0.25, 0.25])
    assert read_log({"arm": uneven, "reward": np.zeros(1000)}).uneven()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"reward": None}, "the log has no column 'reward': it has arm, propensity"),
        ({"arm": None}, "the log has no column 'arm': it has reward, propensity"),
        ({"reward": [1, "much", 0]}, "the reward in row 2 of the log must be a finite number .* got 'much'"),
        ({"reward": [1.0, 0.0, float("nan")]}, "the reward in row 3 .* got nan"),
        ({"reward": [float("inf"), 0.0, 0.0]}, "the reward in row 1 .* got inf"),
        ({"reward": [0.0, None, 0.0]}, "the reward in row 2 .* got None"),
        ({"reward": [[1], [2], [3]]}, "the reward in row 1 "),
        ({"propensity": [0.5, 0.0, 0.5]}, "the propensity in row 2 .* above 0 and at most 1, got 0.0"),
        ({"propensity": [0.5, 0.5, 1.5]}, "the propensity in row 3 .* got 1.5"),
        ({"propensity": [0.5, 0.5, float("nan")]}, "the propensity in row 3 .* got nan"),
        ({"propensity": ["p", "q", "r"]}, "the propensity in row 1 .* got 'p'"),
        ({"arm": ["a", None, "b"]}, "row 2 of the log has no arm"),
        ({"arm": [[1], [2], [3]]}, "the arms of the log must be strings or numbers"),
        ({"arm": ["a"]}, "the log is no table"),
        ({"arm": [], "reward": [], "propensity": []}, "the log is empty: give at least one row"),
    ],
)
def test_bad_tables_are_refused(change, sentence):
    given = {name: values for name, values in (GOOD | change).items() if values is not None}
    with pytest.raises(lr.InputError, match=sentence) as caught:
        read_log(given)
    assert "\n" not in str(caught.value)


def test_bad_files_are_refused(tmp_path):
    for name, text, sentence in (
        ("log.txt", "arm,reward\na,1\n", r"a log must be a .csv or .parquet file, got .*log.txt"),
        ("gone.csv", None, "there is no file .*gone.csv"),
        ("empty.csv", "", "empty.csv is empty"),
        ("header.csv", "arm,reward\n", "header.csv is empty"),
        ("ragged.csv", "arm,reward\na,1\nb,1,2,3\n", "cannot read .*ragged.csv"),
        ("words.csv", "arm,reward\na,1\nb,two\n", "the reward in row 2 of words.csv .* got 'two'"),
        ("other.csv", "item,click\na,1\n", "other.csv has no column 'arm': it has item, click"),
        ("no.parquet", "text", "cannot read .*no.parquet"),
    ):
        if text is not None:
            (tmp_path / name).write_text(text)
        with pytest.raises(lr.InputError, match=sentence) as caught:
            read_log(tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(lr.InputError, match="a log must be a file, a polars table or a mapping"):
        read_log(7)

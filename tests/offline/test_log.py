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
        assert log.has_propensities


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
    assert not log.has_propensities and log.used.all()


def test_rows_in_which_no_other_arm_could_be_chosen_are_not_used():
    log = read_log(GOOD)
    assert log.used.tolist() == [True, True, False]
    assert log.least == 0.25
    assert read_log({"arm": ["a"] * 3, "reward": [1, 0, 1], "propensity": [1, 1, 1]}).used.all()
    with pytest.raises(
        lr.InputError, match="every row of the log has propensity 1, .* minimum_share"
    ) as caught:
        read_log({"arm": ["a", "b"], "reward": [1, 0], "propensity": [1.0, 1.0]})
    assert "\n" not in str(caught.value)


def logged(draws, rows, chances, states=None):
    """Make a log by these probabilities, which may state others; the arms of half the rows are permuted."""
    chances = np.where(draws.random(rows)[:, None] < 0.5, [chances], [chances[::-1]])
    arm = (draws.random(rows)[:, None] > chances.cumsum(axis=1)).sum(axis=1)
    stated = chances[np.arange(rows), arm] if states is None else np.asarray(states)[arm]
    return read_log({"arm": arm, "reward": np.zeros(rows), "propensity": stated})


def test_correct_propensities_are_hardly_ever_doubtful():
    """Called doubtful once in 1,000 at most, so 7 of 1,000 times less than once in 10,000."""
    draws, doubtful = np.random.default_rng(7), 0
    for number in range(1000):
        chances = ([0.5, 0.5], [0.9, 0.08, 0.02], [0.25] * 4)[number % 3]
        log = logged(draws, 500, chances)
        doubtful += log.doubtful() is not None
        assert log.inverse_means().sum() == pytest.approx(np.mean(1 / log.propensity))
    assert doubtful < 7


def test_wrong_propensities_are_noticed():
    draws = np.random.default_rng(8)
    assert logged(draws, 500, [0.45, 0.1, 0.45], [1 / 3] * 3).doubtful() == 1
    assert logged(draws, 500, [0.4, 0.2, 0.4], [0.9, 0.9, 0.9]).doubtful() is not None
    assert logged(draws, 2000, [0.45, 0.1, 0.45], [0.45, 0.05, 0.45]).doubtful() == 1
    never = {"arm": [0, 1] * 250, "reward": [0] * 500, "propensity": [0.5] * 499 + [0.4]}
    assert read_log(never).doubtful() is None
    assert read_log(never | {"arm": [0, 0] * 249 + [0, 1]}).doubtful() is not None


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
        ({"propensity": [0.5, 0.0, 0.5]}, "the propensity in row 2 .* from 1e-100 to 1, got 0.0"),
        ({"propensity": [0.5, 0.5, 5e-324]}, "the propensity in row 3 .* got 5e-324"),
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

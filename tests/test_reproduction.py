"""Playing the paper's experiments and writing them up."""

from pathlib import Path

import pytest

from lowregret.errors import InputError
from lowregret.experiments.paper import PAPER
from lowregret.reproduction import Finding, play, prepare, write


@pytest.fixture(scope="module")
def finding() -> Finding:
    return play(PAPER[0], runs=2)


def test_the_table_has_published_regrets_beside_ours(finding: Finding) -> None:
    table = finding.table()
    assert table["policy"].to_list() == list(PAPER[0].policies)
    assert table["published"].to_list() == [273.56, 273.56, 1613.49, 624.16, None]


def test_progress_is_told_for_every_policy() -> None:
    told: list[tuple[str, int]] = []
    play(PAPER[0], runs=2, progress=lambda policy, runs: told.append((policy, runs)))
    assert [policy for policy, runs in told if runs == 0] == list(PAPER[0].policies)


def test_the_same_seed_gives_the_same_numbers(finding: Finding, tmp_path: Path) -> None:
    for name, each in (("one", finding), ("two", play(PAPER[0], runs=2))):
        prepare(tmp_path / name, 2)
        write(tmp_path / name, [each])
    assert (tmp_path / "one/results.csv").read_bytes() == (tmp_path / "two/results.csv").read_bytes()


def test_preparing_leaves_no_files(tmp_path: Path) -> None:
    prepare(tmp_path / "new", 1)
    assert [path.name for path in (tmp_path / "new").rglob("*")] == ["figures"]


def test_a_folder_that_went_away_is_told_in_one_sentence(finding: Finding, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^reproduce: cannot write to '.*gone': "):
        write(tmp_path / "gone", [finding])

"""A small paper from its folder to the page and the last line."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from lowregret._common.progress import Progress
from lowregret.cli import app
from lowregret.errors import StoreError
from lowregret.reproductions.page import runs_for_half
from lowregret.reproductions.reproduce import reproduce, write_files
from lowregret.reproductions.sheet import read_sheet


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["reproduce", *arguments], prog_name="lowregret")


def test_numbers_claims_page_and_the_last_line(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = call(str(small), "--out", str(out), "--figures", "all")
    assert result.exit_code == 0, result.output
    rows = pl.read_csv(out / "numbers.csv").to_dicts()
    numbers = {(row["place"], row["policy"], row["quantity"]): row for row in rows}
    assert len(rows) == 7 and {key: row["verdict"] for key, row in numbers.items()} == {
        ("Figure 1", "Ours", "mean"): "matched",
        ("Table 1", "Ours", "pulls:0"): "matched",
        ("Table 1", "Ours", "mean"): "not matched",
        ("Table 1", "Index", "q99"): "inconclusive",
        ("Table 1", "Index", "mean"): "published too imprecise",
    }
    assert numbers["Table 1", "Ours", "mean"]["reason"] == "a misprint"
    assert numbers["Table 1", "Index", "q99"]["reason"] == "our runs are too few for an interval"
    claims = pl.read_csv(out / "claims.csv")
    assert claims["verdict"].to_list() == ["holds", "holds", "does not hold"]
    last = result.stdout.splitlines()[-2:]
    words = (
        "7 numbers: 4 matched, 1 not matched, 1 inconclusive, 1 published too imprecise; 2 of 3 claims hold"
    )
    assert " ".join(last).endswith(words)
    page = (out / "report.html").read_text()
    assert "Reproduction of A small paper" in page and "a misprint" in page and "Two arms" in page
    assert {path.suffix for path in (out / "figures").iterdir()} == {".svg", ".png", ".pdf"}
    everything = json.loads((out / "reproduction.json").read_text())
    assert everything["claims"] == claims.to_dicts()
    verbose = call(str(small), "--out", str(out), "--verbose").stdout
    assert "Published numbers" in verbose and "Index is better" in verbose and "Circles" in verbose


def test_a_verdict_that_is_the_opposite_of_the_expected_one_gives_exit_code_1(
    small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    call(str(small), "--out", str(out), "--figures", "none")
    expected = (out / "verdicts.csv").read_text()
    (small / "expected.csv").write_text(expected)
    assert call(str(small), "--out", str(out), "--figures", "none").exit_code == 0
    (small / "expected.csv").write_text(expected.replace(",not matched", ",matched"))
    result = call(str(small), "--out", str(out), "--figures", "none")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].endswith("mean: not matched, expected matched")
    (small / "expected.csv").write_text(expected.replace(",not matched", ",inconclusive"))
    assert call(str(small), "--out", str(out), "--figures", "none").exit_code == 0  # not the opposite
    (small / "expected.csv").write_text(expected.replace("quantity", "quantty", 1))
    result = call(str(small), "--out", str(out), "--figures", "none")
    assert result.exit_code == 2 and "has no column 'quantity': copy the verdicts.csv" in result.stderr


def test_stored_results_are_reused_and_progress_grows(small: Path, tmp_path: Path) -> None:
    sheet, shares, states = read_sheet(small), [], []

    def show(now: Progress) -> None:
        shares.append(now.share)
        states.append(now.what)

    first, _ = reproduce(sheet, tmp_path / "out", progress=show)
    assert shares == sorted(shares) and (shares[0], shares[-1]) == (0.0, 1.0)
    assert list(dict.fromkeys(states)) == ["small", "drawing charts", "writing figures"]
    shards = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("shards/*")}
    again, _ = reproduce(sheet, tmp_path / "out", figures="none")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("shards/*")} == shards
    assert again.results.finals.equals(first.results.finals)
    assert all(table.equals(again.tables[name]) for name, table in first.tables.items())


def test_a_quick_look_says_what_it_cannot_decide_and_how_many_runs_can(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = call(str(small), "--runs", "1", "--figures", "none", "--out", str(out))
    sentence = "1 run can decide nothing here. With --runs 100, about half of the rest can be decided."
    assert sentence in " ".join(result.stdout.split())
    assert sentence in (out / "report.html").read_text().partition("<h2")[0]
    numbers = pl.read_csv(out / "numbers.csv")
    assert set(numbers["verdict"]) == {"inconclusive"}
    assert set(numbers["reason"]) == {"our runs are too few for an interval"}


def test_the_runs_that_can_decide_are_in_the_units_of_the_option(small: Path, tmp_path: Path) -> None:
    """Half of the open numbers need 30 times our runs, which are 4 where the sheet says 50."""
    evaluation, _ = reproduce(read_sheet(small), tmp_path / "out", figures="none")
    numbers = evaluation.tables["numbers"].with_columns(verdict=pl.lit("inconclusive"), needed=120)
    evaluation.tables |= {"numbers": numbers, "comparisons": evaluation.tables["comparisons"].clear()}
    evaluation.runs = 50
    assert runs_for_half(evaluation) == 1500
    evaluation.tables["numbers"] = numbers.with_columns(needed=None)
    assert runs_for_half(evaluation) == 100  # not known: as many as published


def test_a_quick_look_that_contradicts_is_no_failure(small: Path, tmp_path: Path) -> None:
    arguments = [str(small), "--figures", "none", "--out", str(tmp_path / "out")]
    call(*arguments)
    expected = (tmp_path / "out" / "verdicts.csv").read_text()
    (small / "expected.csv").write_text(expected.replace(",not matched", ",matched"))
    quick = call(*arguments, "--runs", "50")
    assert quick.exit_code == 0 and "not matched, expected matched" in quick.stderr
    assert call(*arguments).exit_code == 1


def test_a_paper_without_numbers_has_its_claims_judged(small: Path, tmp_path: Path) -> None:
    (small / "published.csv").unlink()
    result = call(str(small), "--out", str(tmp_path / "out"), "--figures", "none")
    assert result.exit_code == 0 and result.stdout.splitlines()[-1] == "2 of 3 claims hold"
    assert pl.read_csv(tmp_path / "out" / "verdicts.csv")["verdict"].to_list()[:2] == ["holds", "holds"]


def test_bad_input_is_refused_before_the_folder_is_created(small: Path, tmp_path: Path) -> None:
    for arguments, value in ((["--runs", "0"], "got 0"), (["--seed", "-1"], "got -1")):
        result = call(str(small), *arguments, "--out", str(tmp_path / "new"))
        assert result.exit_code == 2 and value in result.stderr
    assert call("nothing").exit_code == 2
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_made_is_a_store_error(small: Path, tmp_path: Path) -> None:
    evaluation, _ = reproduce(read_sheet(small), tmp_path / "out", figures="none")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"^cannot write to '.*folder': "):
        write_files(tmp_path / "file" / "folder", evaluation)


def test_the_list_of_papers() -> None:
    listed = call("--list").stdout
    assert "eucbv: Mukherjee" in listed and "baudry2020: Baudry" in listed

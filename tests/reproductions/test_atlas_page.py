"""The table of docs/evidence/atlas.md is that of the verdicts that the sheets expect."""

from pathlib import Path

import polars as pl

from lowregret.reproductions.sheet import read_sheet, sheet_names

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "atlas.md"
VERDICTS = ("matched", "not matched", "inconclusive", "published too imprecise")


def row_of(name: str) -> str:
    """Return the row of a paper: its numbers, verdicts, claims and runs."""
    sheet = read_sheet(name)
    table = pl.read_csv(sheet.folder / "expected.csv", infer_schema_length=None)
    numbers = table.filter(~pl.col("quantity").str.starts_with("claim"))
    assert len(numbers) == len(sheet.published)
    counts = [len(numbers), *(numbers.filter(verdict=verdict).height for verdict in VERDICTS)]
    claims = []
    for reading in sheet.readings:
        quantity = f"claim, {reading.name}" if reading.name else "claim"
        own = table.filter(quantity=quantity)
        claims.append(f"{own.filter(verdict='holds').height} of {len(own)} {reading.name}".strip())
    files = [file.runs for file in sheet.files.values()]
    runs = sorted(set(numbers["runs"].to_list() if len(numbers) else files))
    ours = f"{runs[0]:,} to {runs[-1]:,}" if len(runs) > 1 else f"{runs[0]:,}"
    published = f" ({sheet.runs:,})" if len(numbers) else ""
    return f"| {name} | {' | '.join(map(str, counts))} | {', '.join(claims)} | {ours}{published} |"


def test_every_paper_has_its_row() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    listed = [row for row in rows if row.split()[1] in sheet_names()]
    assert listed == [row_of(name) for name in sheet_names()]


def test_at_least_250_numbers_are_judged() -> None:
    assert sum(len(read_sheet(name).published) for name in sheet_names()) >= 250

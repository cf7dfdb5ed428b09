"""Run the experiments of a paper, judge its numbers and claims, and write the report."""

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from lowregret._common.progress import Progress, Report, ignore, reporting
from lowregret.analysis.equivalence import MATCHED, NOT_MATCHED
from lowregret.errors import InputError
from lowregret.experiments.run import run_all
from lowregret.experiments.spec import Experiment
from lowregret.reporting.page import FIGURE_FORMATS, write_page
from lowregret.reporting.page_parts import Text
from lowregret.reproductions.claims import FAILS, HOLDS, compare_claims, judge_claims
from lowregret.reproductions.numbers import judge_numbers
from lowregret.reproductions.page import Evaluation, outcome, page_sections
from lowregret.reproductions.sheet import Sheet
from lowregret.results import Results, join

VERDICT_KEYS = ("place", "environment", "policy", "t", "quantity")
FIGURES_SHARE = 0.06
"""The share of evaluation and figures in the whole work, where all runs are to be made."""


def reproduce(
    sheet: Sheet,
    folder: Path,
    runs: int | None = None,
    seed: int | None = None,
    figures: str = "svg",
    progress: bool | Report = False,
) -> tuple[Evaluation, list[Path]]:
    """Simulate what a sheet plans, judge its numbers and claims, and write the report to a folder."""
    with reporting(progress) as report:
        runs_share = 0.0  # if no run is missing, the figures are all the work
        phases: list[str] = []  # charts of the page, then files of figures

        def advance(now: Progress) -> None:
            nonlocal runs_share
            runs_share = 1.0 - FIGURES_SHARE if now.total else 0.0
            report(now._replace(what=sheet.folder.name, share=runs_share * now.share))

        def advance_page(now: Progress) -> None:
            phases.extend([now.what] * (now.what not in phases))
            page_share = (len(phases) - 1 + now.share) / (2 if FIGURE_FORMATS[figures] else 1)
            report(now._replace(share=runs_share + (1.0 - runs_share) * page_share))

        results = run_experiments(sheet.title, sheet.planned(runs, seed), folder, advance)
        evaluation = evaluate(sheet, results, runs)
        return evaluation, write_files(folder, evaluation, figures, advance_page)


def run_experiments(
    title: str, planned: Mapping[str, Experiment], folder: Path, report: Report = ignore
) -> Results:
    """Simulate experiments from one queue; results that are stored in the folder are reused."""
    folders = {folder / "results" / name: each for name, each in planned.items()}
    results = join(title, run_all(folders, report))
    results.outcomes = {pair: results.outcome(pair[1], pair[0]) for pair in results.pairs}  # read once
    return results


def evaluate(sheet: Sheet, results: Results, runs: int | None = None) -> Evaluation:
    """Judge the numbers and the claims of a paper by results of its experiments."""
    comparisons = compare_claims(sheet, results)
    tables = {"numbers": judge_numbers(sheet, results), "claims": judge_claims(sheet, comparisons)}
    tables["comparisons"] = comparisons
    evaluation = Evaluation(sheet, results, runs or sheet.base_runs, results.curves(), tables)
    if sheet.more:
        evaluation.more = sheet.function(sheet.more)(evaluation)
        tables |= evaluation.more.tables
    return evaluation


def write_files(
    folder: Path, evaluation: Evaluation, figures: str = "svg", report: Report = ignore
) -> list[Path]:
    """Write the page, its figures, and the tables as CSV files and as one JSON file; return their paths."""
    sheet, tables = evaluation.sheet, evaluation.tables | {"verdicts": verdict_rows(evaluation)}
    files = {f"{name}.csv": table.write_csv() for name, table in tables.items() if table.width}
    data = {name: table.to_dicts() for name, table in evaluation.tables.items()}
    files["reproduction.json"] = json.dumps(data, indent=1, allow_nan=False) + "\n"
    source = f"{sheet.authors}, {sheet.title} ({sheet.venue}). {' '.join((sheet.url, sheet.code)).strip()}"
    introduction = [Text(outcome(evaluation), "headline"), source, *sheet.text.get("introduction", ())]
    path, sections = folder / "report.html", page_sections(evaluation)
    title = f"Reproduction of {sheet.short or sheet.title}"
    formats = FIGURE_FORMATS[figures]
    return write_page(path, title, introduction, sections, formats=formats, files=files, report=report)


def verdict_rows(evaluation: Evaluation) -> pl.DataFrame:
    """Return the verdicts on numbers and claims as one table, which ``expected.csv`` repeats."""
    numbers, claims = evaluation.tables["numbers"], evaluation.tables["claims"]
    known = (*VERDICT_KEYS, "ours", "published", "runs", "mean", "se", "percent", "verdict")
    parts = [numbers.select(known)] if len(numbers) else []
    for reading in evaluation.sheet.readings if len(claims) else ():
        quantity = pl.lit(f"claim, {reading.name}" if reading.name else "claim").alias("quantity")
        parts.append(claims.select("place", "quote", "worse", quantity, verdict=reading.column))
    return pl.concat(parts, how="diagonal") if parts else pl.DataFrame()


def contradictions(sheet: Sheet, verdicts: pl.DataFrame) -> list[str]:
    """Return where a verdict is the opposite of the one in the sheet's ``expected.csv``."""
    path = sheet.folder / "expected.csv"
    if not path.exists() or verdicts.is_empty():
        return []
    opposite = {MATCHED: NOT_MATCHED, NOT_MATCHED: MATCHED, HOLDS: FAILS, FAILS: HOLDS}
    keys = [name for name in (*VERDICT_KEYS, "quote", "worse") if name in verdicts.columns]
    text = verdicts.with_columns(pl.col(keys).cast(pl.String).fill_null(""))
    expected = pl.read_csv(path, infer_schema=False)
    if missing := {*keys, "verdict"} - set(expected.columns):
        raise InputError(f"{path} has no column {min(missing)!r}: copy the verdicts.csv of a full run")
    expected = expected.with_columns(pl.col(keys).fill_null(""))
    both = text.join(expected.select(*keys, expected="verdict"), on=keys)
    return [
        f"{' '.join(filter(None, (row[key] for key in keys)))}: {row['verdict']}, expected {row['expected']}"
        for row in both.to_dicts()
        if opposite.get(row["expected"]) == row["verdict"]
    ]

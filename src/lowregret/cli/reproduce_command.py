"""``lowregret reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lowregret.cli.printing import console


def reproduce(
    experiment: Annotated[
        int | None, typer.Option(help="Experiment of the paper: 1, 2, 3 or 4.", show_default="all")
    ] = None,
    runs: Annotated[int, typer.Option(help="Number of independent runs.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of rewards and policies.")] = 1,
    out: Annotated[
        Path, typer.Option(help="Folder for the report and the results of the runs, which are reused.")
    ] = Path("reproduction"),
) -> None:
    """Simulate the EUCBV paper's experiments in three readings; compare with its figures and claims.

    As printed: the policies and testbeds of the text. Released width: EUCBV with the width of the released
    code. As plotted: the policy and the testbed of the released script behind each published curve.
    """
    from lowregret.cli.progress import shard_bar
    from lowregret.cli.terminal_tables import text_table
    from lowregret.reporting.page_parts import Cell, Table, Text
    from lowregret.reproduction.evaluation import evaluate
    from lowregret.reproduction.report_tables import terminal_sections
    from lowregret.reproduction.reproduce import run_experiments, write_files

    evaluation = evaluate(run_experiments(out, experiment, runs, seed, shard_bar))
    terminal = console()
    for section in terminal_sections(evaluation):
        terminal.print(section.title, style="bold")
        for part in section.parts:
            if isinstance(part, Table):
                rows = [[cell.words if isinstance(cell, Cell) else cell for cell in row] for row in part.rows]
                terminal.print(text_table([dict(zip(part.heads, row, strict=True)) for row in rows]))
                terminal.print(part.caption + "\n")
            elif isinstance(part, Text):
                terminal.print(part.words + "\n")
    page, *files = write_files(out, evaluation)
    print(f"wrote the page {page}")
    for path in files:
        if path.parent == out:
            print(f"wrote {path}")
    print(f"wrote {sum(path.parent != out for path in files)} figures to {out / 'figures'}")

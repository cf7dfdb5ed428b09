"""``lowregret reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lowregret.cli.printing import console


def reproduce(
    experiment: Annotated[int | None, typer.Option(help="1, 2, 3 or 4.", show_default="all")] = None,
    runs: Annotated[int, typer.Option(help="How many independent runs.")] = 100,
    seed: Annotated[int, typer.Option(help="What the rewards are drawn from.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for the page, the figures and the numbers.")] = Path(
        "reproduction"
    ),
) -> None:
    """Play the EUCBV paper's experiments and write them up."""
    from lowregret.experiments.paper import chosen
    from lowregret.report.progress import progress_bar
    from lowregret.report.tables import regret_table
    from lowregret.reproduction import play, prepare, write

    experiments = chosen(experiment)
    prepare(out, runs)
    findings = []
    for each in experiments:
        with progress_bar(runs, f"experiment {each.number}: ") as progress:
            finding = play(each, runs, seed, progress)
        findings.append(finding)
        console().print(regret_table(finding.table(), finding.title))
        console().print(f"{finding.facts}\n", soft_wrap=True)
    print("Published: the last point of the paper's figure; report.html says why it may differ.\n")
    for path in write(out, findings):
        print(f"wrote {path}")

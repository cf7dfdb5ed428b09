"""Every policy of every paper plays, so that a sheet cannot rot.

Run as a script, this file records the regrets anew: ``python tests/reproductions/test_plays.py``.
"""

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import lowregret as lr
from lowregret.cli import app
from lowregret.reproductions.sheet import read_sheet, sheet_names

RECORDED = Path(__file__).parents[1] / "data" / "sheet_plays.csv"
STEPS = 25
QUICK = ("audibert2009", "audibert2010", "auer2002", "fan_glynn2021", "garivier2011", "wolf2025")
"""The papers that take less than a minute of one core at all their runs."""


def plays(name: str) -> list[tuple[str, str, str, float]]:
    """Play some steps of every policy in the first environment that it plays in, by the reference."""
    rows = []
    for file in read_sheet(name).files.values():
        for player in file.resolved_policies:
            case = next(case for case in file.resolved_environments if player.plays_on(case))
            result = lr.simulate(
                *(player.policy, case.bandit, len(case.bandit) + STEPS, 1, 1),
                clip=file.clip,
                batch=min(case.batch, 5),
                engine="reference",
                progress=False,
            )
            rows.append((name, case.name, player.name, round(float(result.finals["regret"][0]), 9)))
    return rows


@pytest.mark.parametrize("name", sheet_names())
@pytest.mark.filterwarnings("ignore")
def test_every_policy_plays_as_recorded(name: str) -> None:
    recorded = pl.read_csv(RECORDED, schema_overrides={"regret": pl.Float64}).filter(paper=name)
    assert plays(name) == recorded.rows()


@pytest.mark.heavy
@pytest.mark.parametrize("name", QUICK)
def test_no_verdict_is_the_opposite_of_the_recorded_one(name: str, tmp_path: Path) -> None:
    arguments = ["reproduce", name, "--out", str(tmp_path), "--figures", "none"]
    result = CliRunner().invoke(app, arguments, prog_name="lowregret")
    assert result.exit_code == 0, result.output


if __name__ == "__main__":
    rows = [row for name in sheet_names() for row in plays(name)]
    pl.DataFrame(rows, ["paper", "environment", "policy", "regret"], orient="row").write_csv(RECORDED)

"""Tables for the terminal."""

import polars as pl
import pytest
from rich.console import Console

from lowregret.cli.terminal_tables import regret_table
from lowregret.reporting.number_format import shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (11307.83, "11,307.8"),
        (10.0, "10.0"),
        (9.994, "9.99"),
        (0.00012345, "0.000123"),
        (4.6e-14, "0"),
        (0.0, "0"),
        (-12.34, "-12.3"),
        (1234, "1,234"),
        (0, "0"),
        (None, "-"),
    ],
)
def test_numbers_are_short(value: float | None, text: str) -> None:
    assert shown(value) == text


def test_a_table_shows_every_number_and_a_dash_for_none() -> None:
    summary = pl.DataFrame(
        {
            "policy": ["EUCBV(width='released')", "MOSS"],
            "mean": [274.96, 724.61],
            "optimal_arm_eliminated": [3, None],
            "failures_high": [0.0761, None],
            "published": [273.56, None],
        }
    )
    console = Console(width=200)
    with console.capture() as capture:
        console.print(regret_table(summary, "Heading"))
    lines = [line.split() for line in capture.get().splitlines()]
    assert ["Heading"] in lines
    assert ["EUCBV(width='released')", "275.0", "3", "(≤", "7.6%)", "273.6"] in lines
    assert ["MOSS", "724.6", "-", "-"] in lines

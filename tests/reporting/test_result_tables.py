"""The tables of the page."""

from analysis_data import frames_of

from lowregret.analysis.comparison import compare
from lowregret.analysis.ranks import average_ranks
from lowregret.analysis.summary import summarise
from lowregret.reporting.experiment_report import overview_table, summary_table, verdict_table
from lowregret.reporting.number_format import format_interval, p_value
from lowregret.reporting.page_parts import Cell

FRAMES = frames_of(
    {
        "e": {
            "EUCBV": [10.0, 12.0, 11.0, 14.0],
            "MOSS": [20.0, 25.0, 24.0, 21.0],
            "UCB1": [9.0, 13.0, 11.5, 14.0],
        },
        "f": {"EUCBV": [5.0, 6.0, 7.0, 8.0], "MOSS": [4.0, 6.0, 7.0, 8.0]},
    }
)


def test_numbers_are_sorted_and_complete() -> None:
    summary = summarise(FRAMES).filter(environment="e")
    table = summary_table(summary, {"EUCBV": "1.50"})
    assert [row[0] for row in table.rows] == ["EUCBV", "UCB1", "MOSS"]
    assert all(len(row) == len(table.heads) for row in table.rows)
    assert table.rows[0][1:] == [
        "11.8",
        "4.61 to 16.8",
        "11.5",
        "10.2 to 13.7",
        "14.0 (12.2 to 20.0)",
        "1.50",
        "54.5%",
        "100.0%",
        "0 (≤ 53%)",
    ]
    assert table.rows[2][6] == table.rows[2][9] == "-"


def test_one_run_excludes_little() -> None:
    table = summary_table(summarise(frames_of({"e": {"A": [3.0]}})), {})
    assert table.rows[0][1:3] == ["3", "0.071 to 19.6"]


def test_verdicts_hold_both_intervals() -> None:
    comparison = compare(FRAMES, "MOSS").filter(environment="e")
    table = verdict_table(comparison)
    first = table.rows[0]
    assert len(first) == len(table.heads)
    assert first[1:3] == [Cell("lower in these runs", ""), "-10.8"]
    assert first[6:8] == ["100%", "-15.3 to -6.18"]
    assert "Against MOSS" in table.caption


def test_the_overview_has_one_column_per_environment() -> None:
    table = overview_table(summarise(FRAMES), average_ranks(FRAMES), compare(FRAMES, "MOSS"))
    assert table.heads == ["policy", "mean rank", "e", "f"]
    assert table.rows == [
        ["EUCBV", "1.31 (0.06)", Cell("11.8", "best", "▽"), Cell("6.5", "", "≈")],
        ["MOSS", "1.69 (0.06)", Cell("22.5", "", " "), Cell("6.25", "best", " ")],
        ["UCB1", "-", Cell("11.9", "", "▽"), Cell("-", "", " ")],
    ]


def test_small_words() -> None:
    assert format_interval(None, 1.0) == "-"
    assert format_interval(1.0, 20.0) == "1 to 20.0"
    assert (p_value(1.0), p_value(0.0001), p_value(0.00001)) == ("1", "0.0001", "< 0.0001")

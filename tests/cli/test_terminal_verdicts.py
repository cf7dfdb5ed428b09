"""The verdicts in plain lines."""

import pytest
from analysis_data import frames_of

from lowregret.analysis.comparison import compare
from lowregret.cli.terminal_verdicts import EXPLANATION, SHORT, print_verdicts


@pytest.fixture
def lines(monkeypatch, capsys):
    def printed(explain: bool = False, **policies: list[float]) -> list[str]:
        monkeypatch.setenv("COLUMNS", "1000")
        print_verdicts(compare(frames_of({"e": policies}), "B"), explain)
        return capsys.readouterr().out.splitlines()

    return printed


def test_each_kind_of_verdict(lines) -> None:
    steps = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    found = lines(
        B=steps,
        Lower=[step - 3 + 0.1 * place for place, step in enumerate(steps)],
        Higher=[step + 30 - 0.1 * place for place, step in enumerate(steps)],
        Same=steps,
        Noisy=[2.0, 1.0, 5.0, 2.0, 9.0, 3.0],
    )
    assert found == [
        "e",
        "  Lower has lower regret than B: by 2.75, 95% interval 2.55 to 2.95, p < 0.0001 "
        "(6 runs; fragile, reversed by 12%)",
        "  Higher has higher regret than B: by 29.8, 95% interval 29.6 to 29.9, p < 0.0001 "
        "(6 runs; reversed by 60%)",
        "  Same against B is inconclusive: difference 0, 95% interval 0 to 0, p 1 (6 runs)",
        "  Noisy against B is inconclusive: difference 0.167, 95% interval -2.6 to 2.94, p 1 "
        "(6 runs; 2,800 needed)",
        SHORT,
    ]
    assert lines(B=steps, Same=steps, explain=True)[-1] == EXPLANATION


def test_one_run(lines) -> None:
    assert lines(B=[1.0], A=[3.0])[1] == "  A against B is inconclusive: difference 2 (1 run)"

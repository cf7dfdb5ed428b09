"""The verdicts in plain lines."""

import pytest
from analysis_data import frames_of

from lowregret.analysis.comparison import compare
from lowregret.reporting.comparison_text import EXPLANATION, command_text


@pytest.fixture
def lines(monkeypatch):
    def printed(explain: bool = False, **policies: list[float]) -> list[str]:
        monkeypatch.setenv("COLUMNS", "1000")
        return command_text(compare(frames_of({"e": policies}), "B"), explain, verbose=False).splitlines()

    return printed


def test_each_kind_of_verdict(lines) -> None:
    steps = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    found = lines(
        B=steps,
        Lower=[step - 3 + 0.1 * place for place, step in enumerate(steps)],
        Higher=[step + 17 - 0.1 * place for place, step in enumerate(steps)],
        Same=steps,
        Noisy=[2.0, 1.0, 5.0, 2.0, 9.0, 3.0],
    )
    assert found == [
        "e",
        "  Lower has lower regret than B in these runs; rare failures are not excluded: by 2.75, "
        "95% interval -7.74 to 10.7 (6 runs; 44 needed)",
        "  Higher has higher regret than B in these runs; rare failures are not excluded: by 16.8, "
        "95% interval -0.199 to 18.3 (6 runs; 12 needed)",
        "  Same against B is inconclusive: difference 0, 95% interval -9.22 to 9.22 (6 runs)",
        "  Noisy against B is inconclusive: difference 0.167, 95% interval -9.21 to 9.4 "
        "(6 runs; 3,929 needed)",
        "Paired differences of the final regret (5%, Holm); --explain says more.",
    ]
    assert lines(B=steps, Same=steps, explain=True)[-1] == EXPLANATION
    more = lines(B=[1.0, 2.0] * 10, Lower=[1.0, 2.0] * 10, Higher=[16.0, 18.0] * 10)
    assert (
        more[2]
        == "  Higher has higher regret than B: by 15.5, p < 0.0001, 95% interval 9.5 to 16.3 (20 runs)"
    )


def test_one_run(lines) -> None:
    assert lines(B=[1.0], A=[3.0])[1] == "  A against B is inconclusive: difference 2 (1 run)"

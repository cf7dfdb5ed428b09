"""The progress bar: on a terminal only, and what it says there."""

import io
import sys

import pytest

from lowregret.cli.progress import progress_bar, shard_bar
from lowregret.experiments.run import Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_nothing_is_drawn_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(10) as progress:
        assert progress is None
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_it_tells_policy_state_and_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with progress_bar(10) as progress:
        assert progress is not None
        progress("EUCBV(width='released')", 0)
        drawn_until = _after_refresh(terminal, 0, "compiling")
        progress("EUCBV(width='released')", 4)
        drawn_until = _after_refresh(terminal, drawn_until, "4/10 runs")
        progress("MOSS", 0)
        _after_refresh(terminal, drawn_until, "MOSS")
    assert "EUCBV(width='released')" in terminal.getvalue()
    assert capsys.readouterr().out == ""


def _after_refresh(terminal: Terminal, start: int, words: str) -> int:
    """Wait until the bar has drawn these words after a place in the stream; give the place behind them."""
    from time import monotonic, sleep

    end = monotonic() + 120
    while words not in terminal.getvalue()[start:]:
        assert monotonic() < end, f"{words!r} was not drawn"
        sleep(0.02)
    return len(terminal.getvalue())


def test_the_bar_of_shards_tells_shards_and_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with shard_bar("mine") as progress:
        assert progress is not None
        progress(Progress(0, 10, 0, 1000, 0, 0))
        drawn_until = _after_refresh(terminal, 0, "compiling")
        progress(Progress(4, 10, 400, 1000, 0, 0))
        drawn_until = _after_refresh(terminal, drawn_until, "4/10 shards")
        _after_refresh(terminal, drawn_until, "M steps/s")
    assert "mine" in terminal.getvalue()


def test_lines_of_progress_for_a_log(monkeypatch, capsys) -> None:
    from lowregret.cli import progress
    from lowregret.experiments.run import Progress

    now = iter([0.0, 1.0, 5.0, 11.0, 12.0, 40.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(now))
    with progress.shard_bar("mine") as advance:
        for done in range(5):
            advance(Progress(done, 4, done * 10**6, 4 * 10**6, 2, 0))
    assert capsys.readouterr().err.splitlines() == [
        "lowregret: 4 of 6 shards, 0.182 M steps/s, about 0:00:11 left",
    ]

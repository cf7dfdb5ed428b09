"""Progress: a bar on a terminal, lines elsewhere, and one meaning of ``progress`` for all calls."""

import inspect
import io
import math
import sys

import pytest

import lowregret as lr
from lowregret._common import progress
from lowregret._common.progress import Progress, compiling, counter, reporting
from lowregret.cli.progress import progress_bar

BANDIT = "bernoulli:0.1,0.9"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Lines are written, by a clock that stands until it is set."""
    now = [0.0]
    monkeypatch.delenv(progress.LINES_SWITCH)
    monkeypatch.setattr(progress, "clock", lambda: now[0])
    monkeypatch.setattr(progress, "_last_line", -math.inf)
    return now


def test_every_call_takes_progress_in_the_same_way() -> None:
    calls = [lr.simulate, lr.replay, lr.plan, lr.league, lr.worst_case, lr.Experiment.run, lr.Results.report]
    assert {str(inspect.signature(call).parameters["progress"]) for call in calls} == {
        "progress: 'bool | Report' = True"
    }


def test_a_line_after_two_seconds_and_then_every_ten(seconds, capsys) -> None:
    with reporting(True) as report:
        advance = counter(report, 40, "runs")
        for seconds[0] in (0.0, 1.9, 2.0, 3.0, 11.9, 12.0, 21.0, 23.0, 40.0):
            advance("MOSS" if seconds[0] < 12 else "UCB1", 4)
        advance("UCB1", 4)
    assert capsys.readouterr() == (
        "",
        "lowregret: MOSS: 12 of 40 runs, about 0:00:05 left\n"
        "lowregret: UCB1: 24 of 40 runs, about 0:00:08 left\n"
        "lowregret: UCB1: 32 of 40 runs, about 0:00:06 left\n"
        "lowregret: UCB1: 36 of 40 runs, about 0:00:04 left\n",
    )


def test_a_call_of_the_library_shows_a_bar_on_a_terminal(seconds, monkeypatch) -> None:
    """Without lines beneath one another; it is gone afterwards, and a program that logs has none."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with reporting(True) as report:
        advance = counter(report, 40, "runs")
        for seconds[0] in (0.0, 1.9):
            advance("MOSS", 4)
        assert sys.stderr.getvalue() == ""
        for seconds[0] in (2.0, 3.0):
            advance("MOSS", 4)
    text = sys.stderr.getvalue()
    assert "MOSS: 12 of 40 runs" in text and "MOSS: 16 of 40 runs" in text and "about 0:00:04 left" in text
    assert "lowregret:" not in text and text.endswith("\x1b[2K")  # the line is cleared


def test_a_program_that_logs_has_the_lines_in_its_log(seconds, capsys, caplog) -> None:
    with caplog.at_level("INFO", logger="lowregret"), reporting(True) as report:
        advance = counter(report, 40, "runs")
        for seconds[0] in (0.0, 2.0):
            advance("MOSS", 10)
    assert caplog.messages == ["MOSS: 20 of 40 runs, about 0:00:02 left"] and capsys.readouterr().err == ""
    assert caplog.records[0].name == "lowregret"


def test_a_compilation_is_told_at_once_and_in_later_lines(seconds, capsys) -> None:
    with reporting(True) as report:
        report(Progress("mine", 2, 4, "shards", 0.5, steps=1_000, already_done=3))
        with compiling("EUCBV"):
            seconds[0] = 10.0
            progress.tick()
        seconds[0] = 20.0
        report(Progress("mine", 3, 4, "shards", 0.8, steps=40_000_000, already_done=3))
    assert capsys.readouterr().err.splitlines() == [
        "lowregret: compiling EUCBV, which takes some seconds the first time",
        "lowregret: compiling EUCBV: 5 of 7 shards, about 0:00:10 left",
        "lowregret: mine: 6 of 7 shards, 2 M steps/s, about 0:00:05 left",
    ]


def test_who_says_nothing(seconds, capsys, monkeypatch) -> None:
    def work(argument) -> None:
        with reporting(argument) as report, compiling("MOSS"):
            seconds[0] += 100.0
            report(Progress("MOSS", 1, 2, "runs", 0.5))
            progress.tick()

    work(False)
    work(lambda now: None)
    with reporting(False):
        work(True)  # only the outermost call decides
    monkeypatch.setenv(progress.LINES_SWITCH, "0")
    work(True)
    assert capsys.readouterr() == ("", "")
    monkeypatch.delenv(progress.LINES_SWITCH)
    work(True)  # nothing is left behind
    assert "compiling MOSS" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: lr.simulate("MOSS", BANDIT, 60, 4), "MOSS: 0 of 4 runs"),
        (lambda: lr.replay({"arm": [0, 1] * 9, "reward": [0, 1] * 9}, "MOSS", resamples=5), "MOSS: 0 of 6"),
        (lambda: lr.worst_case("MOSS", horizon=60, arms=2, starts=2, runs=20), "worst case of MOSS: 1 of"),
        (
            lambda: lr.plan(options=2, rate=0.2, lift=0.5, visitors=20, days=2, policies="MOSS", runs=2),
            "MOSS: 0 of 2 runs",
        ),
        (
            lambda: lr.Experiment(
                name="mine", environments=BANDIT, policies="MOSS", horizon=60, runs=4
            ).run(),
            "mine: 0 of 1 shards",
        ),
    ],
    ids=["simulate", "replay", "worst_case", "plan", "Experiment.run"],
)
def test_every_long_call_says_what_it_does(call, told: str, monkeypatch, capsys) -> None:
    monkeypatch.delenv(progress.LINES_SWITCH)
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(progress, "LINE_SECONDS", -math.inf)
    call()
    lines = [line for line in capsys.readouterr().err.splitlines() if "some seconds" not in line]
    assert lines[0].startswith(f"lowregret: {told}")


def test_a_league_says_what_it_does(monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.delenv(progress.LINES_SWITCH)
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(progress, "LINE_SECONDS", -math.inf)
    lr.league(testbeds=["short"], policies=["MOSS", "UCB1"], out=tmp_path)
    told = capsys.readouterr().err
    assert told.startswith("lowregret: measuring the time of a step: 0 of 1 testbeds\n")
    assert "lowregret: short, testbed 1 of 1: 0 of 2 shards\n" in told


def test_without_a_terminal_the_call_writes_lines() -> None:
    with progress_bar() as argument:
        assert argument is True


def test_the_bar_tells_what_a_line_tells(monkeypatch, capsys) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with progress_bar("reading") as report:
        drawn_until = _after_refresh(terminal, 0, "reading")
        report(Progress("EUCBV(width='released')", 4, 10, "runs", 0.4))
        drawn_until = _after_refresh(terminal, drawn_until, "EUCBV(width='released'): 4 of 10 runs")
        with compiling("MOSS"):
            drawn_until = _after_refresh(terminal, drawn_until, "compiling MOSS: 4 of 10 runs")
        report(Progress("mine", 4, 10, "shards", 0.4, steps=1000, already_done=2))
        drawn_until = _after_refresh(terminal, drawn_until, "mine: 6 of 12 shards")
        _after_refresh(terminal, drawn_until, "M steps/s")
    assert capsys.readouterr().out == ""


def _after_refresh(terminal: Terminal, start: int, words: str) -> int:
    """Wait until the bar has drawn these words after a place in the stream; give the place behind them."""
    from time import monotonic, sleep

    end = monotonic() + 120
    while words not in terminal.getvalue()[start:]:
        assert monotonic() < end, f"{words!r} was not drawn"
        sleep(0.02)
    return len(terminal.getvalue())


def test_a_worker_that_ends_after_its_call_leaves_no_reporter():
    """As a thread does whose experiment was stopped."""
    call, worker = reporting(False), reporting(False)
    call.__enter__()
    worker.__enter__()
    call.__exit__(None, None, None)
    worker.__exit__(None, None, None)
    with reporting(True) as report:
        assert isinstance(report, progress.Lines)

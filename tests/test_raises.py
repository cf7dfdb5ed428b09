"""The sections Raises of the public names: they name errors that exist, and those that really are raised."""

import builtins
import inspect
import re

import pytest
from test_docstrings import NAMED, SECTION

import lowregret as lr
from lowregret import errors

FIRST = (
    "simulate",
    "trace",
    "Experiment",
    "Experiment.from_toml",
    "Experiment.run",
    "open_results",
    "open_agent",
    "Agent",
    "Agent.ask",
    "Agent.tell",
    "Agent.tell_many",
    "plan",
    "league",
    "worst_case",
    "replay",
    "connect",
)
"""What a user calls first."""


def named_errors(name):
    """Return the errors that the docstring of a public name lists."""
    sections = dict(SECTION.findall(inspect.getdoc(NAMED[name][0]) or ""))
    lines = re.findall(r"^(\S.*)$", sections.get("Raises", ""), re.MULTILINE)
    return [error.strip() for line in lines for error in line.split(",")]


def test_errors_exist():
    for name in NAMED:
        for error in named_errors(name):
            kind = getattr(errors, error, None) or getattr(builtins, error, None)
            assert isinstance(kind, type) and issubclass(kind, Exception), f"{name}: {error}"
            assert hasattr(lr, error) or hasattr(builtins, error), f"{name}: {error}"


def test_first_calls_name_their_errors():
    silent = [name for name in FIRST if not named_errors(name)]
    assert not silent, f"no section Raises: {', '.join(silent)}"


@pytest.fixture
def told():
    """An agent with one decision whose reward is 1."""
    agent = lr.Agent(lr.UCB1(), ["red", "green"])
    agent.tell(agent.ask(request="visit"), 1)
    return agent


@pytest.fixture
def decision(told):
    return told.ask(request="visit")


@pytest.fixture
def stored(tmp_path):
    """The file of an agent of UCB1."""
    path = tmp_path / "choices.db"
    lr.open_agent(path, lr.UCB1(), ["red", "green"]).close()
    return path


@pytest.fixture
def blocked(tmp_path):
    """A path where a folder cannot be made."""
    file = tmp_path / "file"
    file.touch()
    return file / "folder"


TWO = "bernoulli:0.1,0.2"
SMALL = {"environments": TWO, "policies": "UCB1", "horizon": 10, "runs": 2}
CASES = {
    "simulate": [
        ("InputError", lambda _: lr.simulate("unknown", "paper-1")),
        ("InputError", lambda _: lr.simulate("UCB1", TWO)),
        ("InputError", lambda _: lr.simulate("KLUCB", lr.gaussian([0, 1], 1), 10)),
    ],
    "trace": [("InputError", lambda _: lr.trace("UCB1", [[1], [0]], horizon=10, engine="reference"))],
    "Experiment": [("InputError", lambda _: lr.Experiment(**{**SMALL, "runs": 0}))],
    "Experiment.from_toml": [("InputError", lambda _: lr.Experiment.from_toml("missing.toml"))],
    "Experiment.run": [
        ("InputError", lambda _: lr.Experiment(**SMALL).run(threads=0)),
        ("StoreError", lambda get: lr.Experiment(**SMALL).run(get("blocked"))),
    ],
    "open_results": [("InputError", lambda _: lr.open_results("missing"))],
    "open_agent": [
        ("InputError", lambda get: lr.open_agent(get("stored"), lr.MOSS(), ["red", "green"])),
        ("InputError", lambda get: lr.open_agent(get("stored"), name="other")),
        ("StoreError", lambda get: lr.open_agent(get("blocked"))),
    ],
    "Agent": [("InputError", lambda _: lr.Agent("UCB1", []))],
    "Agent.ask": [
        ("InputError", lambda get: get("told").ask(only=["blue"])),
        ("InputError", lambda get: get("told").ask(0)),
        ("InputError", lambda get: get("told").ask(request="")),
        ("ConflictError", lambda get: get("told").ask(2, request="visit")),
        ("ConflictError", lambda get: (get("told").pause(), get("told").ask())),
        ("StoreError", lambda get: lr.open_agent(get("stored"), read_only=True).ask()),
    ],
    "Agent.tell": [
        ("InputError", lambda get: get("told").tell(get("told").ask(), 2)),
        ("InputError", lambda get: (get("told").close(), get("told").tell("5f-1", 1))),
        ("ConflictError", lambda get: get("told").tell(get("decision"), 0)),
        ("UnknownDecisionError", lambda get: get("told").tell("5f-1", 1)),
        ("StoreError", lambda get: lr.open_agent(get("stored"), read_only=True).tell("5f-1", 1)),
    ],
    "Agent.tell_many": [("InputError", lambda get: get("told").tell_many([1]))],
    "plan": [
        ("InputError", lambda _: lr.plan(options=1, rate=0.1, lift=0.1, visitors=10, days=1)),
        ("InputError", lambda _: lr.plan(options=2, lift=0.1, visitors=10, days=1)),
    ],
    "league": [
        ("InputError", lambda _: lr.league("huge")),
        (
            "StoreError",
            lambda get: lr.league(testbeds=["short"], policies=["RoundRobin"], out=get("blocked")),
        ),
    ],
    "worst_case": [("InputError", lambda _: lr.worst_case("unknown"))],
    "replay": [
        ("InputError", lambda _: lr.replay("missing.csv", "UCB1")),
        ("InputError", lambda _: lr.replay({"arm": [0, 1], "reward": [1, 0], "propensity": [1, 1]}, "UCB1")),
        ("InputError", lambda _: lr.replay({"arm": [0, 1], "reward": [1, 5]}, "KLUCB")),
    ],
    "connect": [
        ("InputError", lambda _: lr.connect("ftp://127.0.0.1")),
        ("StoreError", lambda _: lr.connect("http://127.0.0.1:1", "UCB1", ["red"], timeout=0.1)),
    ],
}
"""Calls with the error that each raises."""


@pytest.mark.parametrize(
    ("name", "error", "call"),
    [(name, error, call) for name, cases in CASES.items() for error, call in cases],
)
def test_an_error_is_raised_and_named(name, error, call, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lr.LowRegretError) as raised:
        call(request.getfixturevalue)
    assert error in [kind.__name__ for kind in type(raised.value).__mro__]
    assert error in named_errors(name)

"""What an agent is made with and told: nonsense is refused in one sentence, and changes nothing."""

import json
from dataclasses import MISSING, fields
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import lowregret as lr
from lowregret.online.agent_settings import OPTIONAL, Options, Settings
from lowregret.service.models import NewAgent

GOOD = {"policy": lr.UCB1(), "arms": ["a", "b"]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"policy": "UCB9"}, "unknown policy 'UCB9'"),
        ({"policy": None}, "a policy must be a Policy or its name, got None"),
        ({"policy": lr.UCB1}, r"write UCB1\(\)"),
        ({"arms": "ab"}, "arms must be a list of names, got 'ab'"),
        ({"arms": 3}, "arms must be a list of names, got 3"),
        ({"arms": {"a"}}, "arms must be a list of names, got {.a.}"),
        ({"arms": []}, "arms must be 1 to 1,000,000 names, got 0"),
        ({"arms": ["a", 1]}, "the name of an arm must be a string, got 1"),
        ({"arms": ["a", "\ud800"]}, "UTF-8"),
        ({"arms": ["a", "b", "a"]}, "different names, got 'a' twice"),
        ({"horizon": 0}, "horizon must be an integer of at least 1, got 0"),
        ({"horizon": "long"}, "horizon must be an integer of at least 1, got 'long'"),
        ({"seed": -1}, "seed must be an integer from 0"),
        (
            {"reward_range": (1, 1)},
            r"reward_range must be two finite numbers, low and high, or None, got \(1, 1\)",
        ),
        ({"reward_range": (0, float("inf"))}, "reward_range must be"),
        ({"reward_range": "wide"}, "reward_range must be"),
        ({"reward_range": "01"}, "reward_range must be"),
        ({"reward_range": ("0", "1")}, "reward_range must be"),
        ({"reward_range": (False, True)}, "reward_range must be"),
        ({"reward_range": (0, 10**400)}, "reward_range must be"),
        ({"outside": "ignore"}, "outside must be 'refuse' or 'clip', got 'ignore'"),
        ({"policy": lr.FixedArm(2)}, "FixedArm: arm must be below the number of arms"),
        (
            {"policy": lr.IMED(), "reward_range": None},
            r"IMED needs rewards in \[0, 1\]: pass the reward_range",
        ),
    ],
)
def test_bad_settings(changed, message):
    with pytest.raises(lr.InputError, match=message):
        lr.Agent(**{**GOOD, **changed})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda agent, choice: agent.tell(choice, float("nan")),
            "a reward must be a finite number .*, got nan",
        ),
        (
            lambda agent, choice: agent.tell(choice, float("inf")),
            "a reward must be a finite number .*, got inf",
        ),
        (lambda agent, choice: agent.tell(choice, "1"), "a reward must be a finite number, got '1'"),
        (lambda agent, choice: agent.tell(choice, None), "tell: pass the reward as well"),
        (lambda agent, choice: agent.tell(choice, 10**400), "a reward must be a finite number"),
        (lambda agent, choice: agent.tell(choice, 2), r"reward 2.0 lies outside \[0, 1\]"),
        (
            lambda agent, choice: agent.tell("nobody-1", 1),
            "unknown decision 'nobody-1': this agent did not make it",
        ),
        (lambda agent, choice: agent.tell(choice.id + "0", 1), "unknown decision"),
        (lambda agent, choice: agent.tell(choice.id.replace("-", "-0"), 1), "unknown decision"),
        (lambda agent, choice: agent.tell(lr.Agent(lr.UCB1(), ["a"]).ask(), 1), "unknown decision"),
        (lambda agent, choice: agent.tell(17, 1), "a decision must be a Decision or its id, got 17"),
        (lambda agent, choice: agent.tell(choice._replace(id=5), 1), "a Decision or its id, got 5"),
        (lambda agent, choice: agent.forget(choice._replace(id=[])), r"a Decision or its id, got \[\]"),
        (
            lambda agent, choice: agent.tell_many([choice]),
            "tell_many takes pairs of a decision and its reward",
        ),
        (lambda agent, choice: agent.tell_many(3), "tell_many takes pairs of a decision and its reward"),
        (lambda agent, choice: agent.forget("nobody-1"), "unknown decision"),
        (lambda agent, choice: agent.ask(0), "ask: n must be an integer of at least 1, got 0"),
        (
            lambda agent, choice: agent.ask("visit 7"),
            "ask: n must be an integer, got 'visit 7': a request is passed",
        ),
        (lambda agent, choice: agent.ask(only=["c"]), "unknown arm 'c': the arms are"),
        (lambda agent, choice: agent.ask(only=[]), "only must name at least one arm"),
        (lambda agent, choice: agent.ask(only="a"), "only must be a list of arm names, got 'a'"),
        (lambda agent, choice: agent.ask(request=7), "a request must be a string, got 7"),
        (
            lambda agent, choice: agent.ask(request="\ud800"),
            "a request must be a string that UTF-8 can encode",
        ),
        (lambda agent, choice: agent.add_arm(None), "the name of an arm must be a string, got None"),
        (lambda agent, choice: agent.retire_arm("c"), "unknown arm 'c'"),
        (lambda agent, choice: agent.retire_arm(["a"]), "unknown arm"),
    ],
)
def test_bad_calls_change_nothing(call, message):
    agent = lr.Agent(**GOOD)
    choice = agent.ask()
    state = agent.to_json()
    kind = lr.UnknownDecisionError if message.startswith("unknown decision") else lr.InputError
    with pytest.raises(kind, match=message) as caught:
        call(agent, choice)
    assert "\n" not in str(caught.value)
    assert agent.to_json() == state


def test_what_was_added_or_retired_stays_so_when_it_is_again():
    agent = lr.Agent(**GOOD)
    agent.add_arm("c", value={"size": 1})
    agent.retire_arm("b")
    state = agent.to_json()
    agent.add_arm("a"), agent.add_arm("c"), agent.add_arm("c", value={"size": 1}), agent.retire_arm("b")
    with pytest.raises(lr.ConflictError, match="arm 'c' exists already: its value cannot be changed"):
        agent.add_arm("c", value={"size": 2})
    assert agent.to_json() == state


def test_the_last_arm_stays_and_a_retired_one_stays_away():
    agent = lr.Agent(**GOOD)
    agent.retire_arm("a")
    for call, message in (
        (lambda: agent.retire_arm("b"), "arm 'b' is the last one: add another arm before retiring it"),
        (lambda: agent.ask(only=["a"]), "arm 'a' is retired"),
        (lambda: agent.add_arm("a"), "arm 'a' was retired: give the new arm another name"),
    ):
        with pytest.raises(lr.InputError, match=message):
            call()


@pytest.mark.parametrize("reward", [True, 1, np.float32(1), np.int64(1), np.float64(1.0), np.bool_(True)])
def test_any_kind_of_number_will_do(reward):
    agent = lr.Agent(**GOOD)
    choice = agent.ask()
    if isinstance(reward, np.bool_):
        with pytest.raises(lr.InputError, match="a reward must be a finite number"):
            agent.tell(choice, reward)
    else:
        agent.tell(choice, reward)
        assert agent.summary().filter(arm=choice.arm)["mean"].item() == 1.0


class Broken(lr.Policy):
    """A score that fails once rewards are there."""

    def score(self, arm, clock):
        return float("nan") if clock.t > 5 else arm.mean


class Drops(lr.Policy):
    """A policy that drops all its arms."""

    def first_round(self, clock):
        return lr.EUCBV().first_round(clock)

    def score(self, arm, clock, round):
        return arm.mean

    def next_round(self, arms, clock, round):
        for i in range(clock.arms):
            arms.eliminate(i)
        return round


class TooSure(lr.Policy):
    """A lower bound above its own score."""

    def score(self, arm, clock):
        return arm.mean

    def lower_bound(self, arm, clock, round):
        return arm.mean + 0.5


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (Broken(), "a score must be a number"),
        (Drops(), "eliminated every arm"),
        (TooSure(), "eliminated every arm"),
    ],
)
def test_a_policy_that_fails_changes_nothing(policy, message):
    agent = lr.Agent(policy, ["a", "b"], horizon=1_000)
    for _ in range(1_000):
        state = agent.to_json()
        try:
            choice = agent.ask()
            state = agent.to_json()
            agent.tell(choice, 1)
        except lr.InputError as error:
            failed = str(error)
            break
    assert message in failed
    assert agent.to_json() == state


POSITIONAL = ["policy", "arms", "horizon", "seed", "reward_range"]
NAMES = [field.name for field in fields(Settings)]
DEFAULTS = {field.name: field.default for field in fields(Settings) if field.default is not MISSING}


def bare(kind: Any) -> Any:
    """Return a type without the limits that ``Annotated`` adds."""
    if get_origin(kind) is None or kind is None:
        return kind
    if hasattr(kind, "__metadata__"):
        return bare(get_args(kind)[0])
    return str([bare(part) for part in get_args(kind)])


def test_options_are_the_settings_that_need_a_name():
    hints, options = get_type_hints(Settings, include_extras=True), get_type_hints(Options)
    assert [*POSITIONAL, *options] == NAMES
    for name, kind in options.items():
        assert bare(kind) == bare(hints[name])


def test_json_has_the_settings_and_their_defaults():
    assert list(json.loads(lr.Agent(**GOOD).to_json())["made_with"]) == [
        name for name in NAMES if name not in OPTIONAL
    ]
    assert set(NewAgent.model_fields) == {*NAMES, "name"}
    for name, default in DEFAULTS.items():
        assert NewAgent.model_fields[name].default == default


@pytest.mark.parametrize("create", [lr.Agent, lambda *a, **k: lr.open_agent("no.db", *a, **k)])
def test_a_misspelt_argument_is_corrected(create, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, advice in (
        ("minimal_share", r"did you mean 'minimum_share'\?$"),
        ("clok", r"did you mean 'clock'\?$"),
        ("x", "it takes .*horizon, .*control, log_propensities, .*prior"),
    ):
        with pytest.raises(lr.InputError, match=f"^unknown argument '{name}': {advice}"):
            create("UCB1", ["a", "b"], **{name: 0.1})


def test_a_policy_of_ones_own_is_named_by_its_module(tmp_path, monkeypatch):
    """Named as module:Class, or passed as an object of the module itself: the same agent."""
    code = (
        "import lowregret as lr\n\nclass Last(lr.Policy):\n    at: float = 0.0\n\n"
        "    def score(self, arm, clock):\n        return arm.number + self.at\n"
    )
    (tmp_path / "own_agents.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    agent = lr.Agent("own_agents:Last(at=1)", ["a", "b"])
    assert json.loads(agent.to_json())["made_with"]["policy"] == {
        "class": "own_agents:Last",
        "parameters": {"at": 1.0},
    }
    with lr.open_agent("a.db", "own_agents:Last(at=1)", ["a", "b"]) as agent:
        agent.tell_many((choice, 1) for choice in agent.ask(3))
    (tmp_path / "own_agents.py").write_text(code + "# edited\n")
    with lr.open_agent("a.db", "own_agents:Last(at=1)") as agent:
        assert (agent.time, str(agent.policy)) == (3, "Last(at=1)")
    monkeypatch.syspath_prepend(tmp_path)
    import own_agents

    with lr.open_agent("a.db", own_agents.Last(at=1), ["a", "b"]) as agent:
        assert agent.time == 3
    with pytest.raises(lr.InputError, match=r"this agent uses own_agents:Last\(at=1.0\), not Last"):
        lr.open_agent("a.db", "own_agents:Last")
    with pytest.raises(lr.InputError, match="which is not part of lowregret: pass it"):
        lr.open_agent("a.db")
    with pytest.raises(lr.InputError, match="a service creates its own policies alone"):
        lr.connect("http://127.0.0.1:1", "own_agents:Last", ["a"], timeout=0.1)

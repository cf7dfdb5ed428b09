"""What newcomers write first, also those who know other libraries: each answer is one sentence."""

import copy
import pickle
import traceback

import pytest

import lowregret as lr
from lowregret.errors import InputError

PLAY = {"horizon": 20, "runs": 2, "engine": "reference", "progress": False}


def said(call, kind=InputError) -> str:
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_swapped_arguments():
    order = "simulate: policies come first, then the bandit: write simulate(policies, bandit)"
    bandit = lr.bernoulli([0.1, 0.2])
    assert said(lambda: lr.simulate(bandit, lr.UCB1(), **PLAY)) == order
    assert said(lambda: lr.simulate(bandit, "UCB1", **PLAY)) == order
    assert said(lambda: lr.simulate("paper-1", lr.UCB1, **PLAY)) == order
    assert said(lambda: lr.simulate("paper-1", [lr.UCB1()], **PLAY)) == order
    assert said(lambda: lr.trace(bandit, lr.UCB1(), 20)).startswith("trace: policies come first")


def test_a_list_of_means_for_a_bandit():
    assert said(lambda: lr.simulate("UCB1", [0.1, 0.2], **PLAY)).endswith("write lr.bernoulli([0.1, 0.2])")
    assert said(lambda: lr.simulate("UCB1", (3, 4), **PLAY)).endswith(
        "write lr.gaussian([3, 4], variances=1)"
    )
    assert "use paper-1" in said(lambda: lr.simulate("UCB1", 7, **PLAY))
    assert said(lambda: lr.Bandit([0.1, 0.2])).endswith("use a function such as lr.bernoulli([0.1, 0.2])")


def test_policies_in_the_wrong_form():
    order = "simulate: policies come first, then the bandit: write simulate(policies, bandit)"
    assert said(lambda: lr.simulate("bernoulli:0.1,0.2", "UCB1", **PLAY)) == order
    named = said(lambda: lr.simulate({"mine": lr.UCB1()}, "bernoulli:0.1,0.2", **PLAY))
    assert named.startswith("simulate: policies must be a list") and "labels=" in named


def test_calls_of_other_libraries():
    agent = lr.Agent("UCB1", ["A", "B"])
    ours = {"predict": "ask()", "update": "tell(decision, reward)", "best_arm": "verdict()"}
    for call, advice in ours.items():
        text = said(lambda call=call: getattr(agent, call), AttributeError)
        assert text == f"an agent has no attribute {call!r}: use agent.{advice}"
    assert said(lambda: agent.dance, AttributeError) == "an agent has no attribute 'dance'"
    assert said(lambda: agent.verdikt, AttributeError).endswith(": did you mean 'verdict'?")
    assert not hasattr(agent, "_repr_png_")


RESULT = "lr.simulate(['UCB1', 'MOSS'], 'bernoulli:0.1,0.2', **PLAY)"


@pytest.mark.parametrize(
    ("attempt", "answer"),
    [
        (f"{RESULT}.to_csv", "a result has no attribute 'to_csv': use result.summary().write_csv("),
        (f"{RESULT}.head", "use result.summary()"),
        (f"{RESULT}.best_policy", "use result.summary().sort('mean')"),
        (f"{RESULT}.polices", "did you mean 'policies'?"),
        (f"{RESULT}['UCB1'].times", "an outcome has no attribute 'times': use outcome.grid"),
        (f"{RESULT}['UCB1'].meen", "an outcome has no attribute 'meen'"),
        ("lr.bernoulli([0.1, 0.2]).pull", "a bandit has no attribute 'pull': use bandit.sample(arm, n)"),
        ("lr.bernoulli([0.1, 0.2]).n_arms", "use len(bandit)"),
        ("lr.UCB1().select_arm", "a policy has no attribute 'select_arm': use lr.Agent(policy, ['A', 'B'])"),
        ("lr.UCB1().alpa", "did you mean 'alpha'?"),
        ("lr.Agent('UCB1', ['A', 'B']).choose_arm", "use agent.ask()"),
        ("lr.Agent('UCB1', ['A', 'B']).horizon", "use json.loads(agent.to_json())['made_with']"),
        ("lr.Agent('UCB1', ['A', 'B']).ask().name", "a decision has no attribute 'name': use decision.arm"),
        (
            "lr.Agent('UCB1', ['A', 'B']).verdict().winner",
            "a verdict has no attribute 'winner': use verdict.arm",
        ),
        (
            "lr.trace('UCB1', 'paper-1', 5, engine='reference').actions",
            "a trace has no attribute 'actions': use ",
        ),
        ("lr.Experiment(environments='paper-1', policies='UCB1').fit", "use experiment.run()"),
        (f"{RESULT}.plot().savefig", "a chart has no attribute 'savefig': use chart.save('chart.svg')"),
        ("lr.MOSSv", "did you mean 'MOSSV'?"),
        ("lr.list_policies", "use dir(lr.policies)"),
        ("lr.policies.UCB", "module 'lowregret.policies' has no attribute 'UCB': use lr.UCB1"),
    ],
)
def test_attributes_of_other_libraries(attempt, answer):
    assert answer in said(lambda: eval(attempt), AttributeError)


@pytest.mark.parametrize(
    ("attempt", "answer"),
    [
        (f"{RESULT}.plot(axes=1)", "plot: unknown argument 'axes': use ax"),
        (f"{RESULT}.plot(logx=True)", "use result.plot(ax=ax) and ax.set_xscale('log')"),
        (f"{RESULT}.compare('UCB1', 'MOSS')", "compare: name the arguments after baseline"),
        ("lr.simulate('UCB1', 'paper-1', labels={})", "use result.plot(labels=...)"),
        (
            "lr.gaussian([1, 2], std=1)",
            "gaussian: unknown argument 'std': use the variances, squares of these",
        ),
        ("lr.bernoulli(means=[0.1, 0.2])", "bernoulli: unknown argument 'means': use probabilities"),
        ("lr.Agent('UCB1', ['A', 'B']).ask(user='x')", "ask: unknown argument 'user': use request"),
        ("lr.Agent('UCB1', ['A', 'B']).ask(context={})", "contextual bandits are not here"),
        ("lr.Agent('UCB1', ['A', 'B']).tell_many([], [])", "tell_many takes rewards alone"),
    ],
)
def test_arguments_of_methods(attempt, answer):
    assert answer in said(lambda: eval(attempt), TypeError)


@pytest.mark.parametrize(
    ("attempt", "answer"),
    [
        (f"{RESULT}[lr.UCB1]", "results are indexed by a policy, such as result['UCB1'], got UCB1"),
        (f"{RESULT}.plot(object())", "pass axes as ax=..."),
        (f"{RESULT}.save('regret.png')", "a figure is result.plot().save('regret.svg')"),
        (f"{RESULT}.save('table.csv')", "one table is result.summary().write_csv('summary.csv')"),
        ("lr.simulate('TS', 'paper-1')", "unknown policy 'TS': use lr.ThompsonBeta"),
        ("lr.simulate('Thompson Sampling', 'paper-1')", "use lr.ThompsonBeta"),
        ("lr.simulate('UCB1,MOSS', 'paper-1')", "write a list, with a string for each policy"),
        ("lr.simulate('UCB1', {'A': 0.1, 'B': 0.2})", "write lr.bernoulli([0.1, 0.2])"),
        ("lr.simulate('UCB1', [[0, 1], [1, 0]])", "a table of rewards is for lr.trace"),
        ("lr.simulate(lambda arms: 0, 'paper-1')", "write its score(self, arm, clock)"),
        ("lr.bernoulli('0.1,0.2')", "probabilities must be numbers, one per arm, got '0.1,0.2'"),
        ("lr.ThompsonBeta(1, 1)", "ThompsonBeta: too many parameters: it takes none"),
        ("lr.UCB1(1, 2)", "UCB1: too many parameters: it takes alpha"),
        ("lr.Agent(['A', 'B'], 'UCB1')", "the policy comes before the arms"),
        ("lr.open_agent(lr.UCB1(), ['A', 'B'])", "open_agent: the file comes first"),
        ("lr.open_agent('a.db', 'UCB1', options=['A', 'B'])", "unknown argument 'options': use arms"),
        ("lr.open_agent('a.db', 'UCB1', ['A', 'B'], T=9)", "unknown argument 'T': use horizon"),
        ("lr.Agent('UCB1', ['A', 'B'], matures_after='1h')", "write timedelta(hours=1) for an hour"),
        ("lr.Experiment('mine.toml')", "read a file by lr.Experiment.from_toml(path)"),
        ("lr.Experiment(environments='paper-1', policies='UCB1', random_state=3)", "did you mean 'seed'?"),
        ("lr.league(['UCB1'])", "name the policies, as in lr.league(policies=['UCB1'])"),
    ],
)
def test_values_in_the_wrong_form(attempt, answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert answer in said(lambda: eval(attempt))
    assert not any(tmp_path.iterdir())


def test_a_folder_for_the_file_of_an_agent(tmp_path):
    text = said(lambda: lr.open_agent(tmp_path, "UCB1", ["A", "B"]), lr.StoreError)
    assert text.endswith("it is a folder: name a file in it")


def test_names_of_other_libraries_are_answered_where_they_are_imported():
    def imports(line: str) -> str:
        return said(lambda: exec(line), ImportError)

    assert imports("from lowregret import ThompsonSampling").endswith(
        "use lr.ThompsonBeta for rewards 0 and 1, lr.ThompsonNormal for others"
    )
    assert imports("from lowregret.policies import Ucb1").endswith("did you mean 'UCB1'?")
    assert "cannot import name 'dance'" in imports("from lowregret import dance")
    exec("from lowregret import simulation")  # a module, although other libraries call ours so


def test_an_interpreter_adds_no_guess_of_its_own():
    """Python would offer CCB for UCB, which it finds in the module."""
    with pytest.raises(AttributeError) as caught:
        lr.UCB  # noqa: B018
    assert caught.value.obj is None


def test_agents_stay_where_they_are():
    agent = lr.Agent("UCB1", ["A", "B"])
    for call in (pickle.dumps, copy.deepcopy):
        assert "open it in each process by lr.open_agent(path)" in said(
            lambda call=call: call(agent), TypeError
        )
    decision = agent.ask()
    assert pickle.loads(pickle.dumps(decision)) == decision


def test_calls_of_an_agent_of_a_service():
    agent = lr.connect("http://127.0.0.1:9", name="buttons")
    text = said(lambda: agent.ask(user="x"), TypeError)
    assert text == "ask: unknown argument 'user': use request"
    assert said(lambda: agent.choose, AttributeError).endswith("use agent.ask()")
    agent.close()
    assert said(agent.ask) == "this agent is closed: open it again"


def test_a_verdict_is_true_where_something_is_claimed():
    agent = lr.Agent("RoundRobin", ["A", "B"])
    assert not agent.verdict()
    for choice in agent.ask(200):
        agent.tell(choice, choice.arm == "A")
    assert agent.verdict() and agent.verdict().claim == "best"


def test_a_dictionary_of_results():
    result = lr.simulate(["UCB1", "MOSS"], "bernoulli:0.1,0.2", **PLAY)
    assert dict(result)["MOSS"].pulls.shape == (2, 2)


def test_arguments_by_their_place():
    one_list = "bernoulli takes one list: write bernoulli([0.1, 0.2])"
    assert said(lambda: lr.bernoulli(0.1, 0.2), TypeError) == one_list
    by_name = "simulate: name the arguments after seed, such as grid=..."
    assert said(lambda: lr.simulate("UCB1", "bernoulli:0.1,0.2", 20, 2, 0, 9), TypeError) == by_name
    assert said(lambda: lr.plan([0.1, 0.2]), TypeError) == "plan: name the arguments, such as options=..."


def test_a_file_for_the_folder_of_a_report(tmp_path):
    result = lr.simulate("RoundRobin", "bernoulli:0.1,0.2", **PLAY)
    text = said(lambda: result.report(tmp_path / "mine.html", figures="none", progress=False))
    assert text == "report writes a folder: pass 'mine' instead of 'mine.html'" and not any(
        tmp_path.iterdir()
    )


def test_names_of_other_libraries_in_strings():
    text = said(lambda: lr.simulate("ThompsonSampling", "bernoulli:0.1,0.2", **PLAY))
    assert text.endswith("use lr.ThompsonBeta for rewards 0 and 1, lr.ThompsonNormal for others")
    assert "use the method of a result" in said(lambda: lr.plot, AttributeError)


def test_a_parameter_without_an_annotation():
    class Wide(lr.Policy):
        width = 1.0

        def score(self, arm, clock):
            return arm.mean + self.width / arm.pulls

    assert said(lambda: Wide(width=2)).endswith("annotate it in the class, as in width: float = 1.0")
    assert "it takes none" in said(lambda: Wide(depth=2))


def test_a_number_in_the_place_of_the_clock():
    class Late(lr.Policy):
        def score(self, arm, t):
            return arm.mean + 1.0 / t

    text = said(lambda: lr.simulate(Late(), "bernoulli:0.1,0.2", **PLAY))
    assert "t would be the clock" in text and "use clock.t" in text

    class Short(lr.Policy):
        def score(self, arm, c):
            return arm.mean + 1.0 / c.t

    assert len(lr.simulate(Short(), "bernoulli:0.1,0.2", **PLAY)) == 1  # any other name will do


def test_an_arm_told_in_place_of_a_decision():
    agent = lr.Agent(lr.UCB1(), ["A", "B"])
    choice = agent.ask()
    text = said(lambda: agent.tell("A", 1), lr.UnknownDecisionError)
    assert text == "'A' is an arm, not a decision: pass the decision that ask() returned, or its id"
    assert said(lambda: agent.tell(choice)) == "tell: pass the reward as well, as in tell(decision, 1)"
    assert agent.tell(choice, 1)


def test_integers_as_on_the_command_line():
    result = lr.simulate("UCB1", "bernoulli:0.1,0.2", **{**PLAY, "horizon": 2e1, "runs": 2.0})
    assert result.horizon == 20 and result.runs == 2
    one = lr.Experiment(environments="bernoulli:0.1,0.2", policies="UCB1", horizon=1e3, runs=1e1)
    assert (one.horizon, one.runs) == (1000, 10) and isinstance(one.horizon, int)
    assert "must be an integer of at least 1, got 1.5" in said(
        lambda: lr.simulate("UCB1", "bernoulli:0.1,0.2", **{**PLAY, "horizon": 1.5})
    )


def test_no_seed():
    text = said(lambda: lr.simulate("UCB1", "bernoulli:0.1,0.2", seed=None, **PLAY))
    assert "leave it out for seed 0" in text


def test_environments_by_names():
    bandit = lr.bernoulli([0.1, 0.2])
    text = said(lambda: lr.Experiment(environments={"mine": bandit}, policies="UCB1", horizon=20))
    assert "write a list of bandits" in text and "{'name': 'mine', 'environment': bandit}" in text
    entry = {"name": "mine", "environment": bandit}
    assert (
        lr.Experiment(environments=[entry], policies="UCB1", horizon=20).resolved_environments[0].name
        == "mine"
    )


def test_a_new_option_at_the_next_deploy(tmp_path):
    path = tmp_path / "a.db"
    lr.open_agent(path, lr.UCB1(), ["A", "B"], seed=1, horizon=50, minimum_share=0.1).close()
    text = said(lambda: lr.open_agent(path, lr.UCB1(), ["A", "B", "C"], seed=1))
    assert "agent.add_arm('C')" in text
    assert "agent.retire_arm('B')" in said(lambda: lr.open_agent(path, lr.UCB1(), ["A"]))
    with lr.open_agent(path, lr.UCB1(), ["A", "B"]) as agent:  # what is left out is as it was stored
        settings = agent.transactions.state.settings
        assert (settings.seed, settings.horizon, settings.minimum_share) == (1, 50, 0.1)
    assert "was created with seed 1, got 0" in said(lambda: lr.open_agent(path, "UCB1", ["A", "B"], seed=0))
    assert "minimum_share 0.1, got 0.2" in said(
        lambda: lr.open_agent(path, "UCB1", ["A", "B"], minimum_share=0.2)
    )
    assert "with horizon 50, got 60" in said(lambda: lr.open_agent(path, "UCB1", ["A", "B"], 60))


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("UCB", "lr.UCB1"),
        ("ThompsonSampling", "lr.ThompsonBeta for rewards 0 and 1, lr.ThompsonNormal"),
        ("EpsGreedy", "lr.EpsilonGreedy"),
        ("BernoulliBandit", "lr.bernoulli("),
        ("LinUCB", "contextual bandits are not here"),
    ],
)
def test_classes_of_other_libraries(name, ours):
    assert f"{name!r}: use " in said(lambda: getattr(lr, name), AttributeError)
    assert ours in said(lambda: getattr(lr, name), AttributeError)
    assert not hasattr(lr, name)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("n_runs", "runs"),
        ("random_state", "seed"),
        ("n_jobs", "threads"),
        ("T", "horizon"),
    ],
)
def test_arguments_of_other_libraries(theirs, ours):
    text = said(lambda: lr.simulate("UCB1", "bernoulli:0.1,0.2", **{theirs: 3}), TypeError)
    assert text == f"simulate: unknown argument {theirs!r}: use {ours}"
    near = said(lambda: lr.simulate("UCB1", "bernoulli:0.1,0.2", horzon=3), TypeError)
    assert near == "simulate: unknown argument 'horzon': did you mean 'horizon'?"
    assert "it takes policies, bandit" in said(lambda: lr.simulate("UCB1", "paper-1", zzzz=3), TypeError)
    assert "missing" in said(lambda: lr.simulate("UCB1"), TypeError)


def test_a_type_error_of_a_policy_stays_as_it_is():
    class Odd(lr.Policy):
        def score(self, arm, clock):
            return len(arm.mean)

    with pytest.raises(Exception, match="float"):
        lr.simulate(Odd(), "bernoulli:0.1,0.2", **PLAY)


def test_our_own_frames_stay_out_of_a_traceback(monkeypatch):
    def frames() -> int:
        with pytest.raises(InputError) as caught:
            lr.simulate("UCB1", "bernoulli:0.1,1.2", **PLAY)
        return len(traceback.extract_tb(caught.value.__traceback__))

    assert frames() == 2  # the line of the user, and simulate
    monkeypatch.setenv("LOWREGRET_TRACEBACK", "1")
    assert frames() > 4


def test_a_long_table_of_ratings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "long.csv").write_text("user,arm,rating\n1,A,3\n2,B,4\n")
    (tmp_path / "wide.csv").write_text("A,B\n2,4\n5,3\n")
    long = {"environments": [{"rewards": "long.csv"}], "policies": "UCB1", "horizon": 20, "runs": 2}
    text = said(lambda: lr.Experiment(**long))
    assert "one column per arm is wanted" in text and "lowregret replay" in text
    wide = lr.Experiment(**{**long, "environments": [{"rewards": "wide.csv"}], "engine": "reference"})
    note = wide.run(progress=False).notes["UCB1"]
    assert "they lie in [2, 5]: scale = [2, 5] maps them to [0, 1]" in note


def test_policies_and_environments_are_doors():
    assert lr.policies.UCB1 is lr.UCB1 and "UCB1" in dir(lr.policies) and "base" not in dir(lr.policies)
    assert lr.environments.bernoulli is lr.bernoulli and "drift" not in dir(lr.environments)
    assert (lr.__doc__ or "").splitlines()[2] == "Where to start:"

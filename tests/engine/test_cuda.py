"""Kernels for GPUs in Numba's simulator, against the reference, pull by pull."""

import inspect
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from helpers import POLICIES as FORMS
from typer.testing import CliRunner

import lowregret as lr
from lowregret import policies
from lowregret._common import progress
from lowregret.cli import app
from lowregret.engine.backends import cuda, run
from lowregret.engine.backends.cuda import device, play, table
from lowregret.engine.backends.cuda.layout import constants_of
from lowregret.engine.backends.threads import Stopped
from lowregret.engine.encoding import encode
from lowregret.engine.kernels.modes import UNSUPPORTED_ON_GPU, unsupported_on_gpu
from lowregret.engine.problem import Control, Problem, RewardTable
from lowregret.errors import InputError
from lowregret.suite import league_testbeds
from lowregret.suite.participants import SIZES, Costs, assignments, participants

UNPLAYABLE = {
    "all rewards of an arm": (
        "BESA",
        "EmpiricalIMED",
        "EmpiricalKLUCB",
        "GLRKLUCB",
        "LBSDA",
        "LDSSDA",
        "NPTS",
        "SlidingWindowUCB",
    ),
    "lists and duels": ("DMED",),
    "second samples": ("TopTwoStopping", "TopTwoThompson", "TopTwoThompsonGauss"),
    "choose or stop": ("EBTC", "KLLUCB", "LUCB", "TrackAndStop"),
}
REFUSED = [name for names in UNPLAYABLE.values() for name in names]
CLASSES = [kind for kind in vars(policies).values() if isinstance(kind, type) and issubclass(kind, lr.Policy)]
OURS = [kind() for kind in CLASSES if kind.__name__ not in ("Policy", "FixedArm", *REFUSED)]
PLAYED = [*OURS, lr.FixedArm(1), lr.EUCBV(width="released"), lr.UCB1(alpha=1.0)]
TWO_ARMS = lr.bernoulli([0.4, 0.6])


def problem(policy, bandit, horizon=120, runs=2, **settings):
    grid = np.arange(10, horizon + 1, 10)
    return Problem(policy, bandit, horizon, 3, 1, runs, grid, record=frozenset({"path"}), **settings)


def assert_same_runs(played):
    plain, other = run(played, "reference"), run(played, "cuda")
    assert other.records["path"].tolist() == plain.records["path"].tolist()
    assert other.pulls.tolist() == plain.pulls.tolist()
    np.testing.assert_allclose(other.regret, plain.regret, rtol=1e-12, atol=1e-12)
    assert (other.eliminated is None) == (plain.eliminated is None)
    if other.eliminated is not None:
        assert other.eliminated.tolist() == plain.eliminated.tolist()


@pytest.mark.parametrize("policy", PLAYED, ids=str)
def test_every_policy_makes_the_choices_of_the_reference(policy):
    assert_same_runs(problem(policy, lr.bernoulli([0.3, 0.5, 0.45, 0.6])))


@pytest.mark.parametrize("policy", FORMS, ids=str)
def test_every_form_of_a_policy_makes_the_choices_of_the_reference(policy):
    assert_same_runs(problem(policy, lr.gaussian([0.2, 0.5, 0.4, 0.6], 0.3)))


@pytest.mark.parametrize(
    "bandit",
    [
        lr.Bandit((*lr.bernoulli([0.4]).arms, *lr.beta([2], [3]).arms, *lr.uniform([0], [1]).arms), "mixed"),
        lr.exponential([0.4, 0.7, 0.2]),
        lr.poisson([0.4, 0.7, 1.2]),
        lr.lognormal([0.0, 0.2, -0.2], 0.5),
        lr.revenue([0.3, 0.4, 0.5], 1.0, 2.0),
        lr.bernoulli([0.2, 0.5]).scaled(-1, 2),
        lr.linear_drift(lr.bernoulli([0.2, 0.5]), [0.5, 0.2], 100),
        lr.piecewise_drift(lr.gaussian([0.4, 0.5], 0.1), {50: [0.9, 0.1]}),
        RewardTable((np.linspace(0, 1, 120), np.linspace(1, 0, 120))),
    ],
    ids=lambda bandit: getattr(bandit, "name", "table"),
)
def test_rewards_of_every_kind(bandit):
    for policy in (lr.MOSS(), lr.UCBV()):
        assert_same_runs(problem(policy, bandit))


@pytest.mark.parametrize(
    ("policy", "arms", "place"),
    [
        (lr.MOSS(), 20, "shared_table"),
        (lr.MOSS(), 40, "shared_table"),
        (lr.KLUCB(), 40, "shared_table"),
        (lr.UCBV(), 100, "split_table"),
        (lr.MOSS(), 300, "global_table"),
    ],
    ids=str,
)
def test_many_arms(policy, arms, place):
    """Arms are compared in groups, and lie where there is room for them."""
    bandit = (
        lr.bernoulli(np.linspace(0.2, 0.8, arms)) if policy == lr.MOSS() else lr.gaussian([0.1] * arms, 0.2)
    )
    played = problem(policy, bandit if policy != lr.KLUCB() else lr.bernoulli([0.2] * arms), arms + 80, 1)
    assert constants_of(played, encode(played))[table.new_table] is getattr(table, place)
    assert_same_runs(played)


def test_clipped_and_recorded_rewards():
    played = Problem(lr.MOSS(), lr.gaussian([0.3, 0.6], 1.0), 80, 5, 0, 2, np.array([80]), clip=True)
    assert run(played, "cuda").pulls.tolist() == run(played, "reference").pulls.tolist()
    assert_same_runs(problem(lr.UCB1(), TWO_ARMS, clip=True))
    one, other = (
        lr.simulate("MOSS", TWO_ARMS, 60, 2, engine=engine, record_rewards=True)
        for engine in ("reference", "cuda")
    )
    assert other.finals.equals(one.finals) and other.pulls.equals(one.pulls)


def test_chunks_of_runs_and_progress(monkeypatch):
    monkeypatch.setattr(cuda, "CHUNK_RUNS", 2)
    monkeypatch.setattr(cuda, "STREAMS", 2)
    played, calls = problem(lr.MOSS(), TWO_ARMS, 40, 7), []
    outcome = run(played, "cuda", Control(progress=calls.append))
    assert outcome.pulls.tolist() == run(played, "reference").pulls.tolist()
    assert calls == [2, 2, 2, 1]


def test_a_halt_stops_the_runs():
    control = Control()
    control.halt[0] = 1
    with pytest.raises(Stopped):
        run(problem(lr.MOSS(), TWO_ARMS), "cuda", control)


@pytest.mark.parametrize(("reason", "name"), [(r, n) for r, names in UNPLAYABLE.items() for n in names])
def test_what_a_gpu_cannot_play_is_refused_before_any_run(reason, name):
    calls = []
    with pytest.raises(InputError, match=rf'{name}.*: engine="cuda" cannot play it, since .*{reason}'):
        lr.simulate(["MOSS", name], TWO_ARMS, 50, 1, engine="cuda", progress=lambda *call: calls.append(call))
    assert calls == []


def test_delays_batches_and_own_samplers_are_refused():
    for settings in ({"delay": 3}, {"batch": 2}):
        with pytest.raises(InputError, match="delayed rewards and batches"):
            lr.simulate("MOSS", TWO_ARMS, 50, 1, engine="cuda", **settings)
    own = lr.Bandit((lr.Sampled(lambda rng: rng.uniform(), 0.5, 1 / 12),) * 2, "own")
    with pytest.raises(InputError, match="a sampler of your own"):
        lr.simulate("MOSS", own, 50, 1, engine="cuda")


def test_a_score_that_is_not_a_number_and_rewards_that_run_out():
    class Undefined(lr.Policy):
        def score(self, arm, clock):
            return arm.mean * (float("nan") if arm.pulls > 5 else 1.0)

    for engine in ("reference", "cuda"):
        with pytest.raises(InputError, match="Undefined: a score must be a number, got nan"):
            run(problem(Undefined(), TWO_ARMS), engine)
        with pytest.raises(InputError, match="ran out"):
            lr.trace(lr.RoundRobin(), [[1.0, 0.0], [0.5]], horizon=5, engine=engine)


class AsksBeyond(lr.Policy):
    """Ask for a place beyond the arms when the first round ends, or where scores see all arms."""

    place: int = 2
    late: bool = False

    def first_round(self, clock):
        return FirstRound(1, 20)

    def score(self, arm, clock, round):
        return arm.mean

    def next_round(self, arms, clock, round):
        place = self.place if not self.late or arms.at(0).pulls > 30 else 0
        if arms.at(place).mean < 0.0:
            arms.eliminate(place)
        return FirstRound(round.number + 1, clock.t + 20)


class FirstRound(NamedTuple):
    number: int
    until: int


class SeesBeyond(lr.Policy):
    uses_arms = True

    def score(self, arm, clock):
        return arm.mean + arm.arms.at(clock.arms).mean


class EliminatesBeyond(AsksBeyond):
    def next_round(self, arms, clock, round):
        arms.eliminate(-3)
        return FirstRound(round.number + 1, clock.t + 20)


@pytest.mark.parametrize(
    ("policy", "place"),
    [(AsksBeyond(), 2), (AsksBeyond(place=99, late=True), 99), (EliminatesBeyond(), -3), (SeesBeyond(), 2)],
    ids=str,
)
def test_a_place_beyond_the_arms_is_found_on_the_device(policy, place):
    with pytest.raises(InputError, match=f"no arm is in place {place}: use range"):
        run(problem(policy, TWO_ARMS), "cuda")


def test_a_negative_place_among_the_arms_counts_from_the_last():
    assert_same_runs(problem(AsksBeyond(place=-2), TWO_ARMS))
    assert not constants_of(problem(lr.EUCBV(), TWO_ARMS), encode(problem(lr.EUCBV(), TWO_ARMS)))["CHECKED"]


class Resets(AsksBeyond):
    """Forget the rewards of one arm after each round."""

    eliminates_permanently = False

    def next_round(self, arms, clock, round):
        arms.reset(round.number % clock.arms)
        return FirstRound(round.number + 1, clock.t + 20)


class ResetsForGood(Resets):
    """Forget rewards, with eliminations that are for good."""

    eliminates_permanently = True


class AsksAll(AsksBeyond):
    """Call every method of ``arms``, some of them on what the same call has changed."""

    eliminates_permanently = False

    def next_round(self, arms, clock, round):
        alone = arms.count_active() == 1
        for i in range(clock.arms):
            mean, known = arms.at(i).mean, arms.at(i).pulls - arms.pending(i)
            if alone and arms.is_eliminated(i):
                arms.reactivate(i)
                arms.reset(i)
                arms.set_memory(i, None)
            elif known > 0 and arms.active(i) and mean < 0.7 and arms.count_active() > 1:
                arms.eliminate(i)
        gone = 0
        for i in range(clock.arms):
            gone += arms.is_eliminated(i)
        return FirstRound(round.number + 1, clock.t + 7 + 3 * gone)


class SeesBest(AsksBeyond):
    """End rounds by the best mean, which is the one before the reward."""

    uses_best = True

    def next_round(self, arms, clock, round):
        return FirstRound(round.number + 1, clock.t + 1 + int(1e6 * clock.best) % 7)


class BoundedBelow(lr.Policy):
    """Eliminate by lower bounds, with an index that moves with time."""

    def score(self, arm, clock):
        return arm.mean + 0.5 / arm.pulls + 0.01 / clock.t

    def lower_bound(self, arm, clock, round):
        return arm.mean - 1.0 / arm.pulls


class BeginsWithTwo(lr.Policy):
    def initially_active(self, number):
        return number != 1

    def score(self, arm, clock):
        return arm.mean + 1.0 / arm.pulls


class EliminatesAll(AsksBeyond):
    def next_round(self, arms, clock, round):
        for i in range(clock.arms):
            arms.eliminate(i)
        return round


class EliminatesOne(AsksBeyond):
    def next_round(self, arms, clock, round):
        arms.eliminate(0)
        return FirstRound(round.number + 1, clock.t + 20)


class TurnsUndefined(lr.Policy):
    index_trend = "increasing"

    def score(self, arm, clock):
        return arm.mean + (float("nan") if clock.t > 30 else 1.0)


@pytest.mark.parametrize(
    "bandit",
    [lr.bernoulli([0.3, 0.9, 0.6]), lr.gaussian([0.2, 0.9, 0.5], 0.1)],
    ids=lambda bandit: bandit.name,
)
@pytest.mark.parametrize(
    "policy",
    [
        Resets(),
        ResetsForGood(),
        lr.SequentialHalving(reset=True),
        AsksAll(),
        SeesBest(),
        BoundedBelow(),
        BeginsWithTwo(),
    ],
    ids=str,
)
def test_what_none_of_our_policies_does(policy, bandit):
    assert_same_runs(problem(policy, bandit))


def test_arms_on_a_gpu_have_what_arms_have():
    """Every method is there, with the same parameters, and ``AsksAll`` calls each."""
    methods = {name: member for name, member in vars(lr.Arms).items() if inspect.isfunction(member)}
    own = {name for name in methods if not name.startswith("_")}
    assert {"at", "is_eliminated", "set_memory"} <= own <= set(AsksAll.next_round.__code__.co_names)
    for name in own:
        on_gpu = getattr(table.DeviceArms, name)
        assert list(inspect.signature(on_gpu).parameters) == list(inspect.signature(methods[name]).parameters)


def test_an_arm_counts_as_eliminated_at_once():
    for engine in ("reference", "compiled", "cuda"):
        outcome = run(problem(AsksAll(), lr.bernoulli([0.1, 0.9]), 40, 1), engine)
        rounds = np.flatnonzero(np.diff(outcome.records["path"][0, :, 1])) + 2
        assert rounds.tolist()[:2] == [20, 30], engine  # 7 steps, and 3 for the arm that has just gone


@pytest.mark.parametrize("policy", [lr.OCUCB(), lr.BayesUCBGauss()], ids=str)
def test_scores_as_close_as_rounding_are_compared_one_by_one(policy):
    assert_same_runs(problem(policy, lr.gaussian([1e12, 1e12 + 0.1, 1e12 + 0.2], 0.3)))


def test_a_mistake_ends_a_run_with_the_sentence_of_the_reference():
    given = RewardTable((np.ones(120), np.ones(40)))
    for policy, bandit in (
        (EliminatesAll(), TWO_ARMS),
        (TurnsUndefined(), TWO_ARMS),
        (EliminatesOne(), given),
    ):
        sentences = []
        for engine in ("reference", "cuda"):
            with pytest.raises(InputError) as refused:
                run(problem(policy, bandit), engine)
            sentences.append(str(refused.value))
        assert sentences[0] == sentences[1]


def test_a_small_launch_prints_no_warning():
    class Kernel:
        def __getitem__(self, launch):
            warnings.warn("Grid size 1 will likely result in GPU under-utilization", stacklevel=1)
            return launch

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert device.configured(Kernel(), 1, 64) == (1, 64)


def test_progress_says_which_engine_compiles(monkeypatch, capsys):
    monkeypatch.setattr(cuda, "_launched", set())
    monkeypatch.setattr(progress, "_last_line", float("-inf"))
    monkeypatch.setenv("LOWREGRET_PROGRESS", "1")
    for _ in range(2):
        run(problem(lr.MOSS(), TWO_ARMS, 20), "cuda")
    assert capsys.readouterr().err == (
        "lowregret: compiling MOSS for the GPU, which takes some seconds the first time\n"
    )


def test_the_page_lists_what_a_gpu_cannot_play():
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "gpu.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    reasons = [reason for _, reason in UNSUPPORTED_ON_GPU]
    assert [
        line.split(" | ")[1].strip(" |") for line in rows if line.split(" | ")[1].strip(" |") in reasons
    ] == reasons


def test_what_is_written_a_second_time_for_a_gpu_is_listed():
    """The list of ``cuda`` has every function that has the name of one of the kernels."""
    folder = Path(cuda.__file__).parents[2]
    files = [*folder.glob("kernels/*.py"), *folder.glob("bridge/*.py")]
    names = {name for file in files for name in re.findall(r"^def (\w+)", file.read_text(), re.MULTILINE)}
    second = {name for part in (play, table) for name in vars(part) if is_own(part, name)} & names
    listed = set(re.findall(r"``(\w+)``", str(cuda.__doc__)))
    assert second - {"play", "start"} <= listed
    assert {"observe", "finish", "eliminate_dominated"} <= second


def is_own(module, name):
    return getattr(getattr(module, name), "__module__", None) == module.__name__


def test_results_say_their_engine():
    result = lr.simulate("MOSS", TWO_ARMS, 50, 2, engine="cuda")
    assert "engine cuda" in repr(result)
    assert result.to_dict()["engine"] == "cuda"
    assert "engine" not in repr(lr.simulate("MOSS", TWO_ARMS, 50, 2))


def test_experiments_have_an_engine(tmp_path):
    experiment = lr.Experiment(
        environments="bernoulli:0.4,0.6", policies="MOSS", horizon=50, runs=2, engine="cuda"
    )
    stored = experiment.run(tmp_path / "results")
    plain = lr.simulate("MOSS", "bernoulli:0.4,0.6", 50, 2, engine="reference")
    assert stored.finals.equals(plain.finals)
    assert lr.open_results(tmp_path / "results").description.backend == "cuda"


def test_a_league_notes_what_the_gpu_cannot_play(tmp_path):
    players, costs = participants(policies=["MOSS", "BESA"]), Costs(tmp_path / "costs.json")
    moss, besa = assignments(league_testbeds.testbed("short"), players, SIZES["quick"], costs, "cuda")
    assert moss.runs > 0
    assert (besa.runs, besa.note) == (0, unsupported_on_gpu(problem(lr.BESA(), TWO_ARMS)))
    assert "memory of a thread" in besa.note
    assert assignments(league_testbeds.testbed("short"), players, SIZES["quick"], costs)[1].runs > 0


def test_a_command_overrides_the_engine_of_a_file(tmp_path):
    file = tmp_path / "spec.toml"
    file.write_text('environments = "bernoulli:0.4,0.6"\npolicies = "MOSS"\nhorizon = 50\nruns = 2\n')
    assert CliRunner().invoke(app, ["run", str(file), "--engine", "cuda"]).exit_code == 0
    assert lr.open_results(tmp_path / "spec").description.backend == "cuda"
    refused = CliRunner().invoke(app, ["run", str(file), "--engine", "abacus"])
    assert refused.exit_code == 2
    assert "run: engine must be 'compiled', 'reference' or 'cuda', got 'abacus'" in refused.output


WITHOUT_GPU = """
import lowregret as lr
try:
    lr.simulate("MOSS", "bernoulli:0.4,0.6", 50, 1, engine="cuda")
except lr.InputError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("", 'engine="cuda" needs an NVIDIA GPU and its driver, and none was found: use engine="compiled"'),
        (
            "import sys; sys.modules['numba.cuda'] = None",
            'engine="cuda" needs numba-cuda: run pip install "lowregret[cuda]", or use engine="compiled"',
        ),
    ],
)
def test_one_sentence_where_there_is_no_gpu(before, message):
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "0"}
    done = subprocess.run(
        [sys.executable, "-c", f"{before}\n{WITHOUT_GPU}"], env=environment, capture_output=True, text=True
    )
    assert (done.stdout.strip(), done.stderr) == (message, "")


FIELDS = """
from collections import namedtuple
from numba import typeof
from numba.cuda.descriptor import cuda_target
from lowregret.engine.backends.cuda import device
for name in ("reset", "beta"):
    device._declare(name)
context = cuda_target.typing_context
context.refresh()
kind = typeof(namedtuple("Parameters", ["beta", "other"])(0.5, 1))
print(context.resolve_getattr(kind, "beta"), "BoundFunction" in str(context.resolve_getattr(kind, "reset")))
"""


def test_a_parameter_may_have_the_name_of_what_arms_and_random_numbers_can_do():
    """The simulator finds attributes as Python does; the types of a GPU's code need no GPU."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "0"}
    done = subprocess.run([sys.executable, "-c", FIELDS], env=environment, capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (["float64", "True"], "")


def test_nothing_of_cuda_is_imported_on_the_way():
    script = (
        "import sys, lowregret as lr; lr.simulate('MOSS', 'bernoulli:0.4,0.6', 50, 1, engine='reference');"
        "print([name for name in sys.modules if name.startswith('lowregret.engine.backends.cuda')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
